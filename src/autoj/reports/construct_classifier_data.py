"""A classifier's data: what was made, and the classifier beside others on the test file."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.scenario_classifier.measure import SetMeasurement
from autoj.construct.classifier_data.estimate import QUERY_TOKENS
from autoj.construct.classifier_data.pipeline import ClassifierData
from autoj.construct.estimate import CHARACTERS_PER_TOKEN, ConstructEstimate
from autoj.reports import render
from autoj.reports.bench_scenario_classifier import sets_view
from autoj.reports.construct import construction_view, teacher_facts
from autoj.reports.text import visible_text


def classifier_data_record(
    done: ClassifierData, measured: Sequence[SetMeasurement]
) -> dict[str, Any]:
    """The stages, the files and the figures as plain values."""
    return {
        "construction": str(done.construction.path),
        "stages": [asdict(summary) for summary in done.construction.summaries],
        "train": str(done.train),
        "test": str(done.test),
        "classifier": str(done.classifier),
        "sets": [each.as_json() for each in measured],
    }


def classifier_data_view(
    done: ClassifierData, measured: Sequence[SetMeasurement]
) -> RenderableType:
    """The stages, the files, and the figures of the new classifier and of others.

    Args:
        done: the finished data.
        measured: on the whole test file, and on its real queries.
    """
    rows = next(one.notes["rows"] for one in done.construction.summaries if one.name == "split")
    files = [(path.name, path) for path in (done.train, done.test, done.test_reviewed)]
    return Group(
        construction_view(done.construction),
        Text(),
        render.facts([(str(path), f"{rows[name]:,} queries") for name, path in files]),
        visible_text(f"autoj classify QUERIES --classifier {done.classifier}"),
        Text(),
        sets_view(measured, all_scenarios=False),
    )


def classifier_data_estimate_view(found: ConstructEstimate) -> RenderableType:
    """The cost of the seed queries, with the assumptions behind it."""
    if not found.teachers:
        return Text("the recipe names no teacher: this costs nothing")
    said = [
        "The least is what is asked if every query is of use, the most if none is.",
        f"Assumed: {CHARACTERS_PER_TOKEN} characters a token, {QUERY_TOKENS} tokens a query.",
        f"The other stages ask nobody: {', '.join(found.not_estimated)}.",
    ]
    return Group(*map(teacher_facts, found.teachers), Text(), *map(Text, said))
