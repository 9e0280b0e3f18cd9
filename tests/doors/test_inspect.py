"""Inspect: the scorer that it finds by its entry point, and scores that it reads from a file."""

from __future__ import annotations

import math
from importlib.metadata import entry_points
from typing import Any

import pytest

from autoj.reports.exports import export_run

from ..reports.test_inspect_export import ANSWERS, rated_run


@pytest.fixture
def inspect_ai(monkeypatch, tmp_path):
    tool = pytest.importorskip("inspect_ai", reason="Inspect is not installed")
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    return tool


def evaluated(inspect_ai: Any, scorer: Any, answers: dict[str, str] = ANSWERS) -> Any:
    """The log of an evaluation whose model gives these answers."""
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.solver import generate

    samples = [
        Sample(id=name, input=f"Say {text}.", target="bad") for name, text in answers.items()
    ]

    def answer(messages: Any, *_: Any) -> Any:
        text = messages[-1].text.removeprefix("Say ").removesuffix(".")
        return ModelOutput.from_content("mockllm", text)

    task = inspect_ai.Task(dataset=samples, solver=generate(), scorer=scorer)
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = inspect_ai.eval(task, model=model, display="none", fail_on_error=False)
    assert log.status == "success", log.error
    return log


@pytest.mark.filterwarnings("ignore")
def test_samples_are_rated_and_failures_are_unscored(inspect_ai, judge):
    from autoj.doors.inspect import rating

    log = evaluated(inspect_ai, rating(protocol="single"))
    scores = {its.id: next(iter(its.scores.values())) for its in log.samples}
    assert (scores["one"].value, scores["four"].value) == (3.0, 1.0)
    for name, told in (("two", "requests failed"), ("three", "could not be read")):
        assert math.isnan(scores[name].value), "Inspect marks a score as unscored by NaN"
        assert scores[name].reason == "grader_failed"
        assert told in scores[name].explanation
    (result,) = log.results.scores
    assert result.metrics["mean"].value == 2.0, "of the two that have a score"
    assert (result.scored_samples, result.unscored_samples) == (2, 2)


@pytest.mark.filterwarnings("ignore")
def test_inspect_finds_the_scorer_by_its_name_where_autoj_is_installed(inspect_ai, judge):
    if not [its for its in entry_points(group="inspect_ai") if its.name == "autoj"]:
        pytest.skip("autoj is on the path and not installed, so it has no entry point")
    from inspect_ai._util.registry import registry_lookup

    assert registry_lookup("scorer", "autoj/rating") is not None


@pytest.mark.filterwarnings("ignore")
def test_inspect_reads_the_exported_scores(inspect_ai, tmp_path):
    from inspect_ai.scorer import mean, precomputed_scores

    out = tmp_path / "scores.jsonl"
    export_run(rated_run(tmp_path / "run"), "inspect", out)
    log = evaluated(inspect_ai, precomputed_scores(str(out), metrics=[mean()]))
    (result,) = log.results.scores
    assert result.metrics["mean"].value == 2.0
    scored = {its.id for its in log.samples if its.scores}
    assert scored == {"one", "four"}
