"""The training of a scenario classifier, before and after."""

from __future__ import annotations

from collections import Counter

from rich.table import Table

from autoj.training.classifier.job import ClassifierJob
from autoj.training.classifier.train import ClassifierReport


def classifier_plan_table(job: ClassifierJob) -> Table:
    """The recipe and the queries of a training."""
    recipe, queries = job.recipe, job.queries
    counts = Counter(queries.scenarios)
    rarest, n_rarest = min(counts.items(), key=lambda item: item[1])
    table = Table(title="Training plan", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("tier", recipe.tier)
    table.add_row("queries", f"{len(queries.queries):,}")
    table.add_row("scenarios", f"{len(counts)}")
    table.add_row("queries of the rarest", f"{n_rarest} ({rarest})")
    table.add_row("features", ", ".join(recipe.features))
    return table


def classifier_report_table(report: ClassifierReport) -> Table:
    """The figures on held-out queries, and the size of the classifier."""
    table = Table(title=f"On {report.n_held_out:,} held-out queries", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("queries", f"{report.n_queries:,}")
    table.add_row("without near-duplicates", f"{report.n_clusters:,}")
    for name in ("accuracy", "macro_f1", "top_3"):
        table.add_row(name.replace("_", " "), f"{report.figures[name] * 100:.1f} %")
    table.add_row("mean probability", f"{report.figures['mean_probability'] * 100:.1f} %")
    table.add_row("log loss", f"{report.figures['log_loss']:.3f}")
    table.add_row("size", f"{report.n_bytes / 1e6:.1f} MB")
    return table
