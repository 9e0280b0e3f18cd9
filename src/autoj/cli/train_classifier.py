"""`autoj train classifier`: train the embedded scenario classifier by a recipe."""

from pathlib import Path
from typing import Literal

from autoj.cli import _console
from autoj.cli._progress import watching
from autoj.errors import ConfigError
from autoj.reports.train import classifier_plan_view, classifier_report_view
from autoj.training.classifier.job import read_classifier_job
from autoj.training.classifier.train import train_classifier


def run_classifier_training(
    recipe: Path,
    data: list[Path] | None,
    out: Path | None,
    tier: Literal["fast", "best"] | None,
    show_plan: bool,
) -> None:
    """Train, or with `show_plan` only say on what.

    Args:
        recipe: `classifier` for ours, or a file.
        data: files of queries with scenarios; None takes the seed queries of the package alone.
        out: the classifier's folder.
        tier: another tier than the recipe's.
        show_plan: whether to stop after the plan.

    Raises:
        ConfigError: there is no `out`.
        DataError: the recipe or a data file is wrong.
    """
    if not show_plan and out is None:
        raise ConfigError(
            "give --out: the folder of the classifier", hint="Or --plan, to look ahead."
        )
    job = read_classifier_job(recipe, data or (), tier)
    _console.print_result(classifier_plan_view(job))
    if out is None or show_plan:
        return
    with watching() as watch:
        report = train_classifier(job.recipe, job.queries, out, watch)
    _console.print_result(classifier_report_view(report))
    _console.print_message(f"the classifier is in {report.folder}: --classifier {report.folder}")
