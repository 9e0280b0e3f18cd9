"""lm-evaluation-harness: one batch for a task, and "N/A" where nothing has a score."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from autoj import Judge
from autoj.doors.lm_eval import TaskJudge
from autoj.errors import DataError, Unavailable

from ..rewards.test_trl import Counting, by_length
from . import EXAMPLES

TEXTS = ["good good", "broken", "odd", "fair", "good"]


def items_of(metric: TaskJudge, texts: list[str] = TEXTS) -> list[Any]:
    return [metric.process_results({"question": "Why?"}, [text])["autoj"] for text in texts]


def test_all_generations_are_one_batch_that_three_metrics_share():
    backend = Counting(by_length)
    metric = TaskJudge(Judge(backend), protocol="single")
    items = items_of(metric)
    assert metric.mean(items) == pytest.approx(2.0), "of 3, 1 and 2"
    # The items of another process come as lists.
    assert metric.stderr([list(item) for item in items]) == pytest.approx(1 / 3**0.5)
    assert metric.unscored(items) == pytest.approx(0.4)
    assert backend.batches == [5]
    assert metric.mean(items_of(metric, ["good"])) == 2.0
    assert backend.batches == [5, 1]


def test_a_reference_is_a_field_of_the_document():
    metric = TaskJudge(Judge(Counting(by_length)), by="reference", protocol="pairwise")
    found = metric.process_results({"question": "Why?", "answer": "So."}, [["good"]])
    assert found["autoj"] == ("Why?", "good", "So.")
    with pytest.raises(DataError, match="no reference response"):
        metric.process_results({"question": "Why?"}, ["good"])
    with pytest.raises(DataError, match="the query is empty"):
        metric.process_results({"text": "Why?"}, ["good"])


def test_where_nothing_has_a_score_there_is_no_figure(caplog):
    metric = TaskJudge(Judge(Counting(by_length)), protocol="single")
    items = items_of(metric, ["broken", "odd"])
    assert (metric.mean(items), metric.stderr(items), metric.unscored(items)) == ("N/A", "N/A", 1)
    assert "2 of 2 generations have no score" in caplog.text


def test_an_engine_that_breaks_down_does_not_take_the_generations_with_it(caplog):
    class Down(Counting):
        def complete(self, requests, on_text=None):
            raise Unavailable("the server is gone")

    metric = TaskJudge(Judge(Down(by_length)), protocol="single")
    assert metric.mean(items_of(metric)) == "N/A"
    assert "the server is gone" in caplog.text


@pytest.mark.filterwarnings("ignore")
def test_the_folder_is_a_task_of_the_harness(judge, tmp_path, monkeypatch):
    lm_eval = pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed")
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "tasks"
    shutil.copytree(EXAMPLES / "lm_eval", folder)
    rows = "".join(json.dumps({"question": f"Number {n}?"}) + "\n" for n in range(len(TEXTS)))
    (folder / "questions.jsonl").write_text(rows)
    task = (folder / "autoj_questions.yaml").read_text()
    (folder / "autoj_questions.yaml").write_text(
        task.replace("examples/doors/lm_eval/questions.jsonl", str(folder / "questions.jsonl"))
    )
    module = (folder / "autoj_judge.py").read_text()
    (folder / "autoj_judge.py").write_text(
        module.replace('query="question"', 'query="question", protocol="single"')
    )

    class Saying(LM):
        """Answers with the text of the number that it is asked for."""

        def generate_until(self, requests, **_):
            return [TEXTS[int(its.args[0].strip("Number ?"))] for its in requests]

        def loglikelihood(self, requests, **_):
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    found = lm_eval.simple_evaluate(
        model=Saying(),
        tasks=["autoj_questions"],
        task_manager=TaskManager(include_path=str(folder)),
        log_samples=True,
    )
    figures = found["results"]["autoj_questions"]
    assert figures["autoj,none"] == pytest.approx(2.0)
    assert figures["autoj_stderr,none"] == pytest.approx(1 / 3**0.5)
    assert figures["autoj_unscored,none"] == pytest.approx(0.4)
    assert judge.backend.batches == [5]
