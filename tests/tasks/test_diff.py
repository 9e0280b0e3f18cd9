"""Two runs on the same cases: matched by id and content, and figures that can be done by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.runs import judge_run, make_spec, open_run
from autoj.tasks.diff import diff_runs

from ..scripted import CARD, Recorder

FROZEN = Path(__file__).parents[1] / "frozen" / "v0_1"


def rows(n: int, **its) -> list[dict]:
    return [
        {"id": f"c{at}", "query": f"Q{at}?", "responses": [f"x{at}", f"y{at}"], "label": "a"} | its
        for at in range(n)
    ]


def judge(folder: Path, rows: list[dict], winners: str) -> Path:
    """A run whose judge names these winners, by the cases' numbers: a, b or t."""
    folder.parent.mkdir(exist_ok=True, parents=True)
    write_records(folder.with_suffix(".jsonl"), rows)
    spec = make_spec("judge", CARD, protocol="pairwise-verdict", orders="one")

    def answer(request) -> tuple[float, ...]:
        (winner,) = (winners[int(request.case_id[1:])],)
        return tuple(0.0 if name == winner else -5.0 for name in "abt")

    with open_run(folder, spec, open_cases(folder.with_suffix(".jsonl"))) as opened:
        judge_run(opened, spec, Recorder(answer))
    return folder


def test_figures_by_hand(tmp_path):
    one = judge(tmp_path / "one", rows(6), "aaabbt")
    other = judge(tmp_path / "other", rows(6), "aabbat")
    diff = diff_runs(one, other)
    same, kappa = diff.estimates
    assert (diff.n_both, diff.n_alone, diff.n_changed) == (6, (0, 0), 0)
    assert same.value == pytest.approx(4 / 6)
    # Chance: a 3/6 * 3/6 + b 2/6 * 2/6 + t 1/6 * 1/6 = 14/36.
    assert kappa.value == pytest.approx((4 / 6 - 14 / 36) / (1 - 14 / 36))
    assert diff.winners == ({"a": 3, "b": 2, "tie": 1}, {"a": 3, "b": 2, "tie": 1})
    assert [(case.case_id, case.one, case.other) for case in diff.differing] == [
        ("c2", "a", "b"), ("c4", "b", "a"),
    ]  # fmt: skip
    labelled = diff.labelled
    assert labelled is not None
    assert (labelled.both, labelled.neither) == (2, 2)
    assert (labelled.one_alone, labelled.other_alone) == (1, 1)
    assert labelled.one.value == labelled.other.value == 0.5
    assert labelled.difference.estimate.value == 0


def test_the_other_way_round_gives_the_same_agreement(tmp_path):
    one = judge(tmp_path / "one", rows(6), "aaabbt")
    other = judge(tmp_path / "other", rows(6), "abbbat")
    there, back = diff_runs(one, other), diff_runs(other, one)
    for mine, its in zip(there.estimates, back.estimates, strict=True):
        assert mine.value == pytest.approx(its.value)
    assert there.labelled is not None
    assert back.labelled is not None
    assert there.labelled.difference.estimate.value == -back.labelled.difference.estimate.value
    assert there.settings == back.settings == ()


def test_cases_of_one_run_alone_are_counted(tmp_path):
    one = judge(tmp_path / "one", rows(5), "aaaaa")
    other = judge(tmp_path / "other", rows(8)[2:], "bbbbbbbb")
    diff = diff_runs(one, other)
    assert (diff.n_both, diff.n_alone) == (3, (2, 3))


def test_the_same_id_with_other_texts_is_not_compared(tmp_path):
    changed = rows(4)
    changed[1]["responses"] = ["y1", "x1"]
    changed[2]["query"] = "Another?"
    one = judge(tmp_path / "one", rows(4), "aaaa")
    diff = diff_runs(one, judge(tmp_path / "other", changed, "aaaa"))
    assert (diff.n_both, diff.n_changed, diff.n_alone) == (2, 2, (0, 0))


def test_other_data_is_refused_even_where_ids_are_the_same(tmp_path):
    one = judge(tmp_path / "one", rows(3), "aaa")
    other = judge(tmp_path / "other", rows(3, query="Other?"), "aaa")
    with pytest.raises(DataError, match="3 have the same id and other texts"):
        diff_runs(one, other)


def test_runs_without_labels_have_no_accuracy(tmp_path):
    unlabelled = [row | {"label": None} for row in rows(3)]
    one = judge(tmp_path / "one", unlabelled, "aab")
    diff = diff_runs(one, judge(tmp_path / "other", unlabelled, "abb"))
    assert diff.labelled is None
    assert diff.n_differing == 1


def test_a_jury_and_a_run_of_one_judge_are_compared(tmp_path):
    shutil.copytree(FROZEN, tmp_path / "runs")
    diff = diff_runs(tmp_path / "runs" / "judged", tmp_path / "runs" / "jury")
    assert diff.judges == ("verdict", "jury of 3")
    assert (diff.n_both, diff.n_differing) == (7, 1)
    assert diff.settings == ()


def test_settings_that_differ_are_named(tmp_path):
    shutil.copytree(FROZEN, tmp_path / "runs")
    diff = diff_runs(tmp_path / "runs" / "judged", tmp_path / "runs" / "critiqued")
    assert ("protocol", "pairwise-verdict", "pairwise") in diff.settings


def test_ratings_are_compared_response_by_response(tmp_path):
    shutil.copytree(FROZEN, tmp_path / "runs")
    one, other = tmp_path / "runs" / "rated", tmp_path / "other"
    shutil.copytree(one, other)
    ledger = other / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace("[[1]]", "[[9]]"))
    diff = diff_runs(one, other)
    apart = [(case.case_id, case.response, case.one, case.other) for case in diff.differing]
    assert ("one", 0, 1.0, 9.0) in apart
    assert {estimate.name for estimate in diff.estimates} == {"pearson", "spearman", "mean rating"}
    assert diff.mean_difference is not None
    assert diff.mean_difference.estimate.value < 0
    assert diff_runs(one, one).n_differing == 0


def test_what_cannot_be_compared_is_refused(tmp_path):
    shutil.copytree(FROZEN, tmp_path / "runs")
    runs = tmp_path / "runs"
    with pytest.raises(ConfigError, match="winners of pairs, the other ratings"):
        diff_runs(runs / "judged", runs / "rated")
    for name, kind in (("met", "select"), ("classified", "classify")):
        with pytest.raises(ConfigError, match=f"is a run of autoj {kind}"):
            diff_runs(runs / "judged", runs / name)
    with pytest.raises(DataError, match="not a run folder"):
        diff_runs(runs / "judged", runs / "exports")
    (runs / "stopped" / "ledger.jsonl").write_bytes(b"")
    for one, other in (("judged", "stopped"), ("stopped", "judged")):
        with pytest.raises(DataError, match="stopped: has no verdicts yet"):
            diff_runs(runs / one, runs / other)


def test_another_reading_of_the_same_answers_is_told(tmp_path):
    text = """---
name: mine
kind: pairwise
answer:
  choices: {" 1": 1, " 2": 2}
  prefix: "Best:"
---
<!-- user -->
{query} {response_1} {response_2}
"""
    write_records(tmp_path / "pairs.jsonl", rows(2))
    prompt, found = tmp_path / "mine.md", []
    for name, content in (
        ("one", text),
        ("other", text.replace('1": 1, " 2": 2', '1": 2, " 2": 1')),
    ):
        prompt.write_text(content)
        spec = make_spec("judge", CARD, protocol=str(prompt))
        with open_run(tmp_path / name, spec, open_cases(tmp_path / "pairs.jsonl")) as opened:
            judge_run(opened, spec, Recorder(lambda _: (0.0, -5.0)))
        found.append(tmp_path / name)
    assert [name for name, _, _ in diff_runs(*found).settings] == ["prompt.text"]
    assert diff_runs(found[0], found[0]).settings == ()
