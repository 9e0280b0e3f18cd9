"""Inspect: the scorer that it finds by its entry point, and scores that it reads from a file."""

from __future__ import annotations

import math
from importlib.metadata import entry_points
from typing import Any

import pytest

from autoj import Judge
from autoj.reports.exports import export_run

from ..reports.test_inspect_export import ANSWERS, rated_run
from ..rewards.test_trl import Counting
from . import example


@pytest.fixture
def inspect_ai(monkeypatch, tmp_path):
    tool = pytest.importorskip("inspect_ai", reason="Inspect is not installed")
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    return tool


def evaluated(inspect_ai: Any, task: Any, answers: dict[str, str] = ANSWERS) -> Any:
    """The log of an evaluation; a solver answers, since Inspect counts a model's tokens online."""
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    @solver
    def answering() -> Any:
        async def solve(state: Any, _: Any) -> Any:
            state.output = ModelOutput.from_content("mockllm", answers[str(state.sample_id)])
            return state

        return solve

    (log,) = inspect_ai.eval(
        task, solver=answering(), model="mockllm/model", display="none", fail_on_error=False
    )
    assert log.status == "success", log.error
    return log


def task_of(inspect_ai: Any, scorer: Any) -> Any:
    from inspect_ai.dataset import Sample

    samples = [Sample(id=name, input=f"{name}?", target="bad") for name in ANSWERS]
    return inspect_ai.Task(dataset=samples, scorer=scorer)


@pytest.mark.filterwarnings("ignore")
def test_samples_are_rated_and_failures_are_unscored(inspect_ai, judge):
    from autoj.doors.inspect import rating

    log = evaluated(inspect_ai, task_of(inspect_ai, rating(protocol="single")))
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
    log = evaluated(inspect_ai, task_of(inspect_ai, precomputed_scores(str(out), metrics=[mean()])))
    (result,) = log.results.scores
    assert result.metrics["mean"].value == 2.0
    scored = {its.id for its in log.samples if its.scores}
    assert scored == {"one", "four"}


@pytest.mark.filterwarnings("ignore")
def test_the_example_is_a_task(inspect_ai, judge, monkeypatch):
    # The judge of the other tests writes ratings, and this one the card's first protocol scores.
    monkeypatch.setattr("autoj.rewards.single._loaded", lambda name: Judge(Counting(uniform)))
    module = example("inspect_task")
    answers = dict.fromkeys(module.QUESTIONS, "An answer.")
    log = evaluated(inspect_ai, module.questions(), answers)
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(5.5)
    assert {its.id: its.input for its in log.samples} == module.QUESTIONS


def uniform(request: Any) -> tuple[float, ...]:
    """Each choice is as likely as any other."""
    return (-1.0,) * len(request.choices)
