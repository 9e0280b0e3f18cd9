"""The training of a judge: its cost before, and its figures after."""

from __future__ import annotations

from rich.table import Table

from autoj.training.judge.estimate import Estimated
from autoj.training.judge.train import Report

_GIB = 1 << 30


def plan_table(estimated: Estimated) -> Table:
    """Updates, tokens, weights, memory and time of a training."""
    table = Table(title="Training plan", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("updates", f"{estimated.n_steps:,}")
    table.add_row("samples", f"{estimated.n_samples:,}")
    table.add_row("tokens", f"{estimated.n_tokens:,}")
    table.add_row("weights", f"{estimated.n_weights:,}")
    table.add_row("of them trained", f"{estimated.n_trained:,}")
    table.add_row("memory, at most about", f"{estimated.memory_bytes / _GIB:.1f} GiB")
    table.add_row("free memory", f"{estimated.available_bytes / _GIB:.1f} GiB")
    if estimated.tokens_per_second is not None and estimated.hours is not None:
        table.add_row("speed here", f"{estimated.tokens_per_second:,.0f} tokens/s")
        table.add_row("time here", _duration(estimated.hours))
    return table


def _duration(hours: float) -> str:
    return f"{hours:.1f} h" if hours >= 2 else f"{hours * 60:.0f} min"


def report_lines(report: Report) -> list[str]:
    """Updates, figures and folder of a trained judge; empty if it was trained before."""
    if report.n_steps is None:
        return []
    figures = ", ".join(f"{name} {value:.4g}" for name, value in sorted(report.best.items()))
    return [
        f"{report.n_steps:,} updates" + (f"; {figures}" if figures else ""),
        f"the judge is in {report.folder}: autoj judge … --judge {report.folder}",
    ]
