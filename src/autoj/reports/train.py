"""The training of a judge: its cost before, and its figures after."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table

from autoj.reports import render
from autoj.training.judge.estimate import Estimated
from autoj.training.judge.sampling import Extent
from autoj.training.judge.train import Report

_GIB = 1 << 30


def plan_view(estimated: Estimated) -> Group:
    """Updates, tokens, weights, memory and time of a training, and what they are estimated from."""
    table = Table(title="Training plan", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    extent = estimated.extent
    about = "" if extent.n_drawn is None else "about "
    table.add_row("updates", f"{about}{estimated.n_steps:,}")
    table.add_row("samples", f"{about}{extent.n_samples:,}")
    table.add_row("tokens", f"{about}{extent.n_tokens:,}{_interval(extent)}")
    table.add_row("weights", f"{estimated.n_weights:,}")
    table.add_row("of them trained", f"{estimated.n_trained:,}")
    table.add_row("memory, at most about", f"{estimated.memory_bytes / _GIB:.1f} GiB")
    table.add_row("free memory", f"{estimated.available_bytes / _GIB:.1f} GiB")
    if estimated.tokens_per_second is not None and estimated.hours is not None:
        table.add_row("speed here", f"about {estimated.tokens_per_second:,.0f} tokens/s")
        table.add_row("time here", f"about {_duration(estimated.hours)}")
    return Group(table, *render.notes(_sources(estimated)))


def _interval(extent: Extent) -> str:
    if extent.tokens_low is None or extent.tokens_high is None:
        return ""
    return f" [{extent.tokens_low:,}, {extent.tokens_high:,}]"


def _sources(estimated: Estimated) -> list[str]:
    """The samples and the micro-batch that the figures are estimated from."""
    extent, said = estimated.extent, []
    if extent.n_drawn is not None:
        said.append(
            f"Tokens are estimated from {extent.n_drawn:,} samples drawn at random"
            + ("; the interval is at 95 %." if extent.tokens_low is not None else ".")
        )
    if extent.n_too_long:
        share = f"{extent.n_too_long:,} of " + f"{extent.n_drawn or extent.n_samples:,}"
        said.append(f"{share} samples are longer than max_tokens and will be left out.")
    if estimated.tokens_per_second is not None:
        said.append("The speed is that of one micro-batch of middle length, timed now.")
    return said


def _duration(hours: float) -> str:
    if hours >= 2:
        return f"{hours:.1f} h"
    minutes = hours * 60
    return f"{minutes:.0f} min" if minutes >= 2 else f"{minutes * 60:.0f} s"


def report_lines(report: Report) -> list[str]:
    """Updates, figures and folder of a trained judge; empty if it was trained before."""
    if report.n_steps is None:
        return []
    figures = ", ".join(f"{name} {value:.4g}" for name, value in sorted(report.best.items()))
    return [
        f"{report.n_steps:,} updates" + (f"; {figures}" if figures else ""),
        f"the judge is in {report.folder}: autoj judge … --judge {report.folder}",
    ]
