"""Published verdicts: each layout's winners in the case's frame, failures counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj.datasets.published_verdicts import (
    VERDICT_FORMATS,
    PublishedVerdict,
    VerdictRow,
    read_verdicts,
    verdict_format_of,
)
from autoj.errors import DataError, UnknownComponent
from autoj.records import Winner
from autoj.verdicts.resolve import RULES

PAIR = {
    "question_id": 81,
    "model_1": "m1",
    "model_2": "m2",
    "g1_winner": "model_1",
    "g2_winner": "model_1",
    "judge": ["gpt-4", "pair-v2"],
    "turn": 2,
}
RATING = {"question_id": 81, "model": "m1", "judge": ["gpt-4", "single-v1"], "turn": 1, "score": 9}
VOTE = {
    "question_id": 81,
    "model_a": "m1",
    "model_b": "m2",
    "winner": "model_b",
    "judge": "expert_1",
    "conversation_a": [{"role": "user", "content": "Why?"}],
    "conversation_b": [{"role": "user", "content": "Why?"}],
    "turn": 2,
}
ARENA = {
    "question_id": "q1",
    "model": "m1",
    "judge": "gpt-4",
    "games": [{"score": "B>>A"}, {"score": "A>B"}],
}
ANNOTATION = {
    "instruction": "Why?",
    "output_1": "Because.",
    "output_2": "So.",
    "generator_1": "base",
    "generator_2": "m1",
    "annotator": "judge-1",
    "preference": 2.0,
}
RESULT = {"idx": 3, "pandalm_result": 2, "pandalm_reason": "It is shorter."}
GOOD: dict[str, dict[str, Any]] = {
    "mt-bench-judgments": PAIR,
    "mt-bench-ratings": RATING,
    "mt-bench-votes": VOTE,
    "arena-hard-judgments": ARENA,
    "alpaca-eval-annotations": ANNOTATION,
    "pandalm-results": RESULT,
}


def written(folder: Path, *rows: Any, name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def one(folder: Path, row: dict[str, Any]) -> PublishedVerdict:
    (found,) = read_verdicts(written(folder, row))
    assert isinstance(found.item, PublishedVerdict)
    return found.item


@pytest.mark.parametrize("name", VERDICT_FORMATS)
def test_each_layout_is_recognised_and_is_no_other(tmp_path: Path, name: str) -> None:
    row = GOOD[name]
    assert [other for other, form in VERDICT_FORMATS.items() if form.matches(row)] == [name]
    assert verdict_format_of(row) == name
    path = written(tmp_path, row, row)
    rows = list(read_verdicts(path))
    assert rows == list(read_verdicts(path, name))
    assert [found.line for found in rows] == [1, 2]
    whole = tmp_path / "rows.json"
    whole.write_text(json.dumps([row, row], indent=1), encoding="utf-8")
    assert list(read_verdicts(whole)) == rows


@pytest.mark.parametrize("name", VERDICT_FORMATS)
def test_rules_are_named_as_ours_are(tmp_path: Path, name: str) -> None:
    found = one(tmp_path, GOOD[name])
    assert found.verdict.rule is None or found.verdict.rule in RULES
    assert found.cluster


@pytest.mark.parametrize("name", VERDICT_FORMATS)
def test_the_subject_is_the_model_whose_win_rate_the_tool_reports(
    tmp_path: Path, name: str
) -> None:
    with_a_baseline = {"arena-hard-judgments", "alpaca-eval-annotations"}
    found = one(tmp_path, GOOD[name])
    assert found.subject == ("b" if name in with_a_baseline else "a")
    if name in with_a_baseline:
        assert found.models["ab".index(found.subject)] == "m1"


@pytest.mark.parametrize(
    ("games", "winner", "consistent", "rule", "n_failed"),
    [
        (("model_1", "model_1"), "a", True, "agreed", 0),
        (("model_2", "model_2"), "b", True, "agreed", 0),
        (("tie", "tie"), "tie", True, "agreed", 0),
        (("model_1", "model_2"), "tie", False, "tie", 0),
        (("tie", "model_2"), "tie", False, "tie", 0),
        (("error", "model_2"), None, None, "incomplete", 1),
        (("error", "error"), None, None, "incomplete", 2),
    ],
)
def test_mt_bench_games_name_models_in_both_orders(
    tmp_path: Path,
    games: tuple[str, str],
    winner: Winner | None,
    consistent: bool | None,
    rule: str,
    n_failed: int,
) -> None:
    found = one(tmp_path, {**PAIR, "g1_winner": games[0], "g2_winner": games[1]})
    verdict = found.verdict
    assert (verdict.winner, verdict.consistent, verdict.rule) == (winner, consistent, rule)
    assert verdict.n_failed == n_failed
    names = {"model_1": "a", "model_2": "b", "tie": "tie", "error": None}
    assert verdict.winners == tuple(names[game] for game in games)
    assert (found.models, found.turn, found.question_id) == (("m1", "m2"), 2, "81")
    assert verdict.judge == "gpt-4 pair-v2"


def test_a_rating_of_mt_bench_that_failed_is_no_rating(tmp_path: Path) -> None:
    assert one(tmp_path, RATING).verdict.ratings == (9.0,)
    failed = one(tmp_path, {**RATING, "score": -1})
    assert failed.verdict.ratings == (None,)
    assert failed.verdict.n_failed == 1
    assert failed.models == ("m1",)


def test_votes_of_each_turn_are_read(tmp_path: Path) -> None:
    found = one(tmp_path, VOTE)
    assert (found.verdict.winner, found.turn, found.query) == ("b", 2, "Why?")
    both = one(tmp_path, {**VOTE, "winner": "tie (inconsistent)"})
    assert (both.verdict.winner, both.verdict.consistent) == ("tie", False)
    assert both.verdict.rule == "tie"


@pytest.mark.parametrize(
    ("scores", "winners", "strengths", "winner"),
    [
        # The first game shows the baseline first, the second the model: both prefer the model.
        (("B>>A", "A>B"), ("b", "b"), (2, 1), "b"),
        (("A>B", "B>>A"), ("a", "a"), (1, 2), "a"),
        (("A=B", "A=B"), ("tie", "tie"), (0, 0), "tie"),
        (("A>B", "A>B"), ("a", "b"), (1, 1), None),
        ((None, "A>B"), (None, "b"), (None, 1), None),
    ],
)
def test_arena_hard_names_places_on_the_page(
    tmp_path: Path,
    scores: tuple[str | None, str],
    winners: tuple[Winner | None, Winner],
    strengths: tuple[int | None, int],
    winner: Winner | None,
) -> None:
    found = one(tmp_path, {**ARENA, "games": [{"score": score} for score in scores]})
    assert found.verdict.winners == winners
    assert found.strengths == strengths
    assert found.verdict.winner == winner
    assert found.verdict.n_failed == winners.count(None)
    assert found.models == (None, "m1")


def test_a_later_layout_of_arena_hard_names_the_baseline(tmp_path: Path) -> None:
    row = {**ARENA, "uid": "u1", "baseline": "base", "games": [None, {"score": "A>B"}]}
    del row["question_id"]
    found = one(tmp_path, row)
    assert (found.models, found.question_id) == (("base", "m1"), "u1")
    assert (found.verdict.winners, found.verdict.rule) == ((None, "b"), "incomplete")


def test_alpaca_eval_prefers_outputs_and_may_say_by_how_much(tmp_path: Path) -> None:
    found = one(tmp_path, ANNOTATION)
    assert (found.verdict.winner, found.verdict.rule) == ("b", "one order")
    assert found.models == ("base", "m1")
    assert (found.query, found.cluster) == ("Why?", "why")
    graded = one(tmp_path, {**ANNOTATION, "preference": 1.25}).verdict
    assert (graded.winner, graded.probabilities) == ("a", (0.75, 0.25, 0.0))
    failed = one(tmp_path, {**ANNOTATION, "preference": None}).verdict
    assert (failed.winner, failed.winners, failed.n_failed) == (None, (None,), 1)


def test_results_of_pandalm_and_of_gpt_differ_in_their_codes(tmp_path: Path) -> None:
    assert one(tmp_path, RESULT).verdict.winner == "b"
    garbage = one(tmp_path, {"idx": 4, "gpt_result": "garbage"}).verdict
    assert (garbage.winner, garbage.n_failed, garbage.judge) == (None, 1, "gpt-3.5-turbo")
    # The id is that of the test set's case.
    assert garbage.case_id == "pandalm-4"


BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("mt-bench-judgments", {"g1_winner": "A"}, "g1_winner", "found 'A'"),
    ("mt-bench-judgments", {"turn": "1"}, "turn", "a number from 1"),
    ("mt-bench-judgments", {"turn": 0}, "turn", "found 0"),
    ("mt-bench-judgments", {"judge": []}, "judge", "expected a name"),
    ("mt-bench-judgments", {"judge": 5}, "judge", "expected a name"),
    ("mt-bench-judgments", {"question_id": None}, "question_id", "a number or a string"),
    ("mt-bench-ratings", {"score": 11}, "score", "from 1 to 10, or -1 (failed)"),
    ("mt-bench-ratings", {"score": None}, "score", "found None"),
    ("mt-bench-votes", {"winner": "m1"}, "winner", "found 'm1'"),
    ("arena-hard-judgments", {"games": []}, "games", "expected two games"),
    ("arena-hard-judgments", {"games": ["A>B", "B>A"]}, "games[0]", "expected an object"),
    (
        "arena-hard-judgments",
        {"games": [{"score": "A=B"}, {"score": "A"}]},
        "games[1].score",
        "found 'A'",
    ),
    ("alpaca-eval-annotations", {"preference": 3}, "preference", "found 3"),
    ("alpaca-eval-annotations", {"instruction": 5}, "instruction", "expected a string"),
    ("pandalm-results", {"pandalm_result": 3}, "pandalm_result", "found 3"),
]


@pytest.mark.parametrize(("name", "change", "field", "said"), BAD)
def test_a_bad_row_is_told_with_its_place_and_the_others_are_read(
    tmp_path: Path, name: str, change: dict[str, Any], field: str, said: str
) -> None:
    path = written(tmp_path, GOOD[name], {**GOOD[name], **change}, GOOD[name])
    first, (line, error), last = read_verdicts(path)
    assert isinstance(first.item, PublishedVerdict)
    assert isinstance(last.item, PublishedVerdict)
    assert line == 2
    assert isinstance(error, DataError)
    assert (error.path, error.line, error.field) == (path, 2, field)
    assert said in error.reason


def test_bad_rows_of_each_layout_are_tested() -> None:
    assert {name for name, *_ in BAD} == set(GOOD) == set(VERDICT_FORMATS)


def test_a_row_that_misses_a_field_is_told(tmp_path: Path) -> None:
    bare = {name: value for name, value in PAIR.items() if name != "g2_winner"}
    _, row = read_verdicts(written(tmp_path, PAIR, bare))
    assert isinstance(row, VerdictRow)
    assert isinstance(row.item, DataError)
    assert row.item.field == "g2_winner"


def test_files_of_no_known_layout_list_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="fit no known format of verdicts") as told:
        list(read_verdicts(written(tmp_path, {"query": "q"})))
    for name in VERDICT_FORMATS:
        assert name in str(told.value.hint)
    with pytest.raises(DataError, match="is empty"):
        list(read_verdicts(written(tmp_path, name="empty.jsonl")))
    with pytest.raises(UnknownComponent, match="no format of verdicts 'arena'"):
        list(read_verdicts(written(tmp_path, ARENA), "arena"))
