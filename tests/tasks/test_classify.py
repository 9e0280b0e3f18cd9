"""Queries to scenarios: by a classifier, lazily, and by a judge through the ledger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autoj.datasets import open_queries
from autoj.errors import ConfigError, DataError
from autoj.jsonl import whole_lines, write_records
from autoj.records import Failure, Request
from autoj.runs import RunCounts, judge_run, open_run
from autoj.tasks.classify import classified_run, classify_cases, make_classify_spec

from ..classifiers import WordClassifier
from ..scripted import CARD, Killed, Recorder

ASKING = replace(CARD, protocols=("scenario",))
QUERIES = ["Plan a trip.", "Hello.", "Write code.", "Sing."]


@pytest.fixture
def queries(tmp_path: Path):
    path = tmp_path / "queries.txt"
    path.write_text("\n".join(QUERIES), encoding="utf-8")
    return open_queries(path)


def answer(request: Request) -> str | Failure:
    query = request.messages[-1].content
    if "Sing" in query:
        return Failure(key=request.key, error="E", message="no", retryable=True, attempts=1)
    return "Planning." if "Plan" in query else "default" if "Hello" in query else "I will not."


def run(folder: Path, queries, backend: Recorder) -> RunCounts:
    spec = make_classify_spec(ASKING)
    with open_run(folder, spec, queries) as opened:
        return judge_run(opened, spec, backend)


def test_a_classifier_is_asked_lazily_and_its_rows_say_how_sure_it_is(queries) -> None:
    classifier = WordClassifier()
    rows = classify_cases(queries, classifier, top=2)
    assert classifier.asked == []
    found = [row for _, row in rows]
    assert [row.scenario for row in found] == [
        "planning", "chitchat", "code_generation", "chitchat",
    ]  # fmt: skip
    first = found[0]
    assert (first.id, first.group, first.probability) == ("line-1", "General Communication", 0.9)
    assert first.alternatives == (("others", 0.05),)
    assert (first.classifier, first.digest) == ("fast", "sha256:1")


def test_classes_that_the_taxonomy_lacks_have_no_group(queries) -> None:
    found = [row for _, row in classify_cases(queries, WordClassifier(hello="rejecting"))]
    assert (found[1].scenario, found[1].group) == ("rejecting", None)


def test_bad_rows_are_told_or_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_records(path, [{"query": "Plan."}, {"query": " "}, {"query": "Hi."}])
    with pytest.raises(DataError, match=r"rows.jsonl:2:query: the query is empty"):
        list(classify_cases(open_queries(path), WordClassifier()))
    bad_rows: list[DataError] = []
    rows = list(classify_cases(open_queries(path), WordClassifier(), bad_rows=bad_rows))
    assert (len(rows), len(bad_rows)) == (2, 1)


def test_a_judge_names_scenarios_and_what_it_did_not_name_is_none(tmp_path, queries) -> None:
    backend = Recorder(answer, card=ASKING)
    run(tmp_path / "run", queries, backend)
    spec = make_classify_spec(ASKING)
    with open_run(tmp_path / "run", spec, queries) as folder:
        rows = [row for _, row in classified_run(folder, spec)]
        verdicts = list(folder.verdicts())
    assert [(row.scenario, row.state) for row in rows] == [
        ("planning", "named"),
        ("others", "named"),
        (None, "unreadable"),
        (None, "failed"),
    ]
    assert "I will not" in (rows[2].reason or "")
    assert [verdict.scenario for verdict in verdicts] == ["planning", "others", None, None]
    assert [(v.n_unreadable, v.n_failed) for v in verdicts] == [(0, 0), (0, 0), (1, 0), (0, 1)]
    assert all(request.decoding.max_tokens == 30 for request in backend.asked)
    assert {row.probability for row in rows} == {None}


@pytest.mark.parametrize("n_asked", [0, 1, 2, 3])
def test_a_killed_run_goes_on_and_asks_nothing_twice(tmp_path, queries, n_asked: int) -> None:
    whole, killed, rest = (
        Recorder(answer, card=ASKING, dies_after=dies) for dies in (None, n_asked, None)
    )
    run(tmp_path / "whole", queries, whole)
    with pytest.raises(Killed):
        run(tmp_path / "run", queries, killed)
    run(tmp_path / "run", queries, rest)
    assert len(killed.asked) + len(rest.asked) == len(QUERIES)
    for name in ("ledger.jsonl", "verdicts.jsonl"):
        one, other = (sorted(whole_lines(tmp_path / at / name)) for at in ("whole", "run"))
        assert one == other


def test_a_judge_is_asked_as_its_card_says_else_as_the_paper_does() -> None:
    assert make_classify_spec(CARD).protocol == "scenario"
    menu = replace(CARD, protocols=("pairwise", "scenario-menu"))
    assert make_classify_spec(menu).protocol == "scenario-menu"
    assert make_classify_spec(menu, "scenario").protocol == "scenario"
    with pytest.raises(ConfigError, match="judges a pair"):
        make_classify_spec(CARD, "pairwise")
