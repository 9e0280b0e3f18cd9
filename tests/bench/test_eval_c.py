"""Eval-C: frames, what is unscored, the release's files, and the published figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from autoj.bench.eval_c.evaluate import evaluate, read_set, voted
from autoj.bench.eval_c.files import Vote, read_critiques, read_votes, write_votes
from autoj.bench.eval_c.published import OVERALL, published_against, published_eval_c
from autoj.bench.eval_c.run import compared, comparison_cases, critiques_of_run, votes_of_run
from autoj.datasets import open_cases
from autoj.errors import DataError, SpecMismatch
from autoj.jsonl import write_records
from autoj.protocols import load_protocol
from autoj.records import Failure, Request
from autoj.runs import RunFolder, judge_run, make_spec, open_run

from ..scripted import CARD, Killed, Recorder
from .critics import (
    FIRST,
    N_CASES,
    SECOND,
    SHARP,
    always_first,
    by_sharpness,
    compare,
    critics,
    feedback,
    load_set,
    write_critiques,
    write_set,
)

TABLE_15 = load_protocol("critique-comparison")
GROUP_SIZES = {
    "Summarization": 12,
    "Exam Questions": 12,
    "Code": 20,
    "Rewriting": 20,
    "Creative Writing": 36,
    "Functional Writing": 40,
    "General Communication": 48,
    "NLP Tasks": 44,
    OVERALL: 232,
}


@pytest.fixture
def set_path(tmp_path) -> Path:
    return write_set(tmp_path / "set.jsonl")


def values(result) -> dict[str, float | None]:
    return {estimate.name: estimate.value for estimate in result.estimates}


@pytest.mark.parametrize("orders", ["shuffled", "both"])
def test_who_is_better_wins_wherever_the_page_shows_it(tmp_path, set_path, orders):
    result = evaluate(compare(tmp_path / "run", set_path, orders=orders, seed=3)[0])
    found = values(result)
    assert found["win"] == len(SHARP) / N_CASES
    assert found["tie"] == 1 / N_CASES
    assert found["lose"] == (N_CASES - len(SHARP) - 1) / N_CASES
    assert found["win rate"] == (len(SHARP) + 0.5) / N_CASES
    assert found.get("consistency") == (1.0 if orders == "both" else None)
    assert result.judge == "mine"
    assert result.details["against"] == "other"
    assert result.details["judged_by"] == "script"
    groups = {name: estimates[0] for name, estimates in result.parts["group"].items()}
    assert list(groups) == ["Summarization", "General Communication"]
    assert groups["Summarization"].value == sum(n % 2 == 0 for n in SHARP) / 4
    assert set(result.parts["scenario"]) == {"post_summarization", "planning"}


def test_shuffled_orders_follow_from_the_stored_seed(tmp_path, set_path):
    def exchanged(name: str, seed: int) -> list[bool]:
        folder = tmp_path / name
        comparison, _ = compare(folder, set_path, always_first, seed=seed)
        votes = votes_of_run(RunFolder.existing(folder), comparison.cases)
        # A judge that takes what stands first tells the order by its winners.
        winners = [verdict.winner for verdict in comparison.verdicts]
        assert winners == ["b" if vote.exchanged else "a" for vote in votes]
        assert f"seed {seed}" in " ".join(comparison.notes)
        return [vote.exchanged for vote in votes]

    first = exchanged("one", 1)
    assert first == exchanged("again", 1)
    assert first != exchanged("other", 2)
    assert len(set(first)) == 2


def test_ratings_are_taken_off_unless_they_are_kept(tmp_path, set_path):
    bare, judge = compare(tmp_path / "bare", set_path)
    assert not any("[[" in text for asked in judge.asked for text in feedback(asked).values())
    assert f"{N_CASES} critiques of mine and 0 critiques of other" in " ".join(bare.notes)
    kept, judge = compare(tmp_path / "kept", set_path, keep_ratings=True)
    shown = {text for asked in judge.asked for text in feedback(asked).values()}
    assert set(FIRST) <= shown
    assert "with their ratings" in " ".join(kept.notes)


def test_a_case_without_a_critique_is_unscored_and_never_a_loss(tmp_path, set_path):
    # The first critic has nothing for case 0, only a rating for case 1; the other none for case 3.
    first = (None, "Rating: [[4]]", *FIRST[2:])
    second = (*SECOND[:3], None, *SECOND[4:])
    comparison, judge = compare(tmp_path / "run", set_path, pair=critics(first, second))
    assert len(judge.asked) == N_CASES - 3
    result = evaluate(comparison)
    win, _, lose, *_ = result.estimates
    assert (win.n, win.n_unscored) == (N_CASES - 3, 3)
    assert win.value == 3 / 5
    assert win.bounds == (3 / 8, 6 / 8)
    assert lose.value == 1 / 5
    assert result.n_cases == N_CASES
    notes = " ".join(result.notes)
    assert "without a critique by mine: 2;" in notes
    assert "without a critique by other: 1;" in notes


def test_critics_without_any_common_case_are_an_error(set_path):
    nothing = critics(first=(None,) * N_CASES)
    with pytest.raises(DataError, match="'mine' has none for 8 of 8, 'other' none for 0"):
        comparison_cases(load_set(set_path), *nothing, path=set_path)


def test_orders_that_disagree_are_a_tie_or_unscored(tmp_path, set_path):
    tied, judge = compare(
        tmp_path / "tie", set_path, always_first, orders="both", on_conflict="tie"
    )
    assert len(judge.asked) == 2 * N_CASES
    found = values(evaluate(tied))
    assert (found["tie"], found["consistency"]) == (1.0, 0.0)
    left, _ = compare(
        tmp_path / "open", set_path, always_first, orders="both", on_conflict="unresolved"
    )
    result = evaluate(left)
    win = result.estimates[0]
    assert win.value is None
    assert win.reason == "no case could be scored"
    assert win.n_unscored == N_CASES
    assert values(result)["consistency"] == 0.0


def no_answer_to_some(request: Request) -> str | Failure:
    if request.case_id == "line-1":
        return "I cannot say."
    if request.case_id == "line-2":
        return Failure(key=request.key, error="Refused", message="no", retryable=False, attempts=1)
    return by_sharpness(request)


def test_unreadable_and_failed_judgments_are_counted_and_unscored(tmp_path, set_path):
    result = evaluate(compare(tmp_path / "run", set_path, no_answer_to_some)[0])
    assert (result.details["n_unreadable"], result.details["n_failed"]) == (1, 1)
    win = result.estimates[0]
    assert (win.n, win.n_unscored) == (N_CASES - 2, 2)
    assert win.value == (len(SHARP) - 2) / (N_CASES - 2)


@pytest.mark.parametrize("n_answered", range(N_CASES + 1))
def test_a_killed_comparison_ends_as_one_that_was_not(tmp_path, set_path, n_answered):
    whole, _ = compare(tmp_path / "whole", set_path)
    folder = tmp_path / "killed"
    if n_answered < N_CASES:
        with pytest.raises(Killed):
            compare(folder, set_path, dies_after=n_answered)
        with pytest.raises(DataError, match="of the set's cases are not judged in it"):
            compared(RunFolder.existing(folder), load_set(set_path))
    resumed, judge = compare(folder, set_path)
    assert len(judge.asked) == (N_CASES - n_answered if n_answered < N_CASES else N_CASES)
    assert evaluate(replace(resumed, source="")) == evaluate(replace(whole, source=""))
    for name in ("verdicts.jsonl", "plan.jsonl", "cases.jsonl"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        {"keep_ratings": True},
        {"seed": 5},
        {"limit": 4},
        {"pair": critics(first=("sharper", *FIRST[1:]))},
        {"pair": critics(second=(None, *SECOND[1:]))},
    ],
)
def test_a_changed_input_is_not_gone_on_with(tmp_path, set_path, change):
    compare(tmp_path / "run", set_path)
    with pytest.raises(SpecMismatch):
        compare(tmp_path / "run", set_path, **change)


def test_a_changed_rating_is_no_part_of_what_is_compared(tmp_path, set_path):
    compare(tmp_path / "run", set_path)
    changed = critics(first=(FIRST[0].replace("[[1]]", "[[2]]"), *FIRST[1:]))
    _, judge = compare(tmp_path / "run", set_path, pair=changed)
    assert judge.asked == []


def test_a_run_of_another_set_is_refused(tmp_path, set_path):
    compare(tmp_path / "run", set_path)
    rows = [orjson.loads(line) for line in set_path.read_bytes().splitlines()]
    rows[2]["response"] = "Another answer."
    other = tmp_path / "other.jsonl"
    write_records(other, rows)
    with pytest.raises(
        DataError, match="1 of its cases have other texts than in the set \\('line-3'\\)"
    ):
        compared(RunFolder.existing(tmp_path / "run"), load_set(other))
    write_records(other, rows[3:])
    with pytest.raises(DataError, match="of its cases are not in the set"):
        compared(RunFolder.existing(tmp_path / "run"), load_set(other))


def test_a_run_that_compares_no_critics_is_refused(tmp_path, cases):
    spec = make_spec("judge", CARD)
    with open_run(tmp_path / "pairs", spec, cases) as folder:
        judge_run(folder, spec, Recorder())
    with pytest.raises(DataError, match="is not a comparison of two critics"):
        compared(RunFolder.existing(tmp_path / "pairs"), [])


def test_the_first_cases_alone_can_be_compared(tmp_path, set_path):
    comparison, judge = compare(tmp_path / "run", set_path, limit=3)
    assert len(judge.asked) == len(comparison.cases) == 3
    assert values(evaluate(comparison))["win"] == 1.0
    assert "first 3 cases only" in " ".join(comparison.notes)


def test_how_far_length_alone_would_go_is_said(tmp_path, set_path):
    pair = critics(second=("x", *[text * 9 for text in SECOND[1:]]))
    comparison, _ = compare(tmp_path / "run", set_path, pair=pair)
    assert "The longer critique is mine's in 12.5% of the compared cases." in comparison.notes


def test_a_judge_writes_the_critiques(tmp_path, set_path):
    def critic(request: Request) -> str:
        if request.case_id == "line-2":
            return "A critique that forgets to rate."
        if request.case_id == "line-3":
            return "Rating: [[5]]\n\nIt rates first."
        return f"It is thin.\n\nRating: [[{2 if request.case_id == 'line-1' else 7}]]"

    data, spec = open_cases(set_path), make_spec("rate", CARD, protocol="single")
    with open_run(tmp_path / "critic", spec, data) as folder:
        judge_run(folder, spec, Recorder(critic))
        found = critiques_of_run(folder, read_set(data))
        with pytest.raises(DataError, match="is not a run of this set"):
            critiques_of_run(folder, read_set(data)[:3])
    assert found.critic == "script"
    assert found.texts[0] == "It is thin.\n\nRating: [[2]]"
    assert found.texts.count(None) == 1
    assert found.texts[1] is None
    assert found.texts[2] == "Rating: [[5]]\n\nIt rates first."
    assert found.n_failed == 0


def test_a_judge_that_only_rates_writes_its_critiques_afterwards(tmp_path, set_path):
    def critic(request: Request) -> str | tuple[float, ...]:
        return "Thin." if request.choices is None else (-9.0, -9.0, -0.01, *[-9.0] * 7)

    data = open_cases(set_path)
    spec = make_spec("rate", CARD, protocol="single-verdict", critique=True)
    with open_run(tmp_path / "critic", spec, data) as folder:
        judge_run(folder, spec, Recorder(critic))
        found = critiques_of_run(folder, read_set(data))
    assert set(found.texts) == {"Thin.\n\nRating: [[3]]"}


# The release's files.


def test_votes_read_back_as_the_run_that_wrote_them(tmp_path, set_path):
    comparison, _ = compare(tmp_path / "run", set_path, no_answer_to_some)
    votes = votes_of_run(RunFolder.existing(tmp_path / "run"), comparison.cases)
    path = tmp_path / "judge-x-Eval_my-critic_vs_other.jsonl"
    write_votes(path, votes)
    assert read_votes(path, comparison.cases) == votes
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert rows[0]["output"] == "I cannot say."
    assert rows[1]["output"] == "Failed!"
    assert {type(row["meta"]["exchange"]) for row in rows} == {bool}
    back = voted(path, comparison.cases, TABLE_15)
    assert (back.judged_by, back.critic, back.against) == ("judge-x", "my-critic", "other")
    assert [verdict.winner for verdict in back.verdicts] == [
        verdict.winner for verdict in comparison.verdicts
    ]
    again, result = evaluate(back), evaluate(comparison)
    assert (again.estimates, again.parts) == (result.estimates, result.parts)
    assert (again.details["n_unreadable"], again.details["n_failed"]) == (1, 1)
    write_votes(tmp_path / "again.jsonl", read_votes(path, comparison.cases))
    assert (tmp_path / "again.jsonl").read_bytes() == path.read_bytes()


def test_a_case_that_was_not_compared_has_a_vote_without_text(tmp_path, set_path):
    pair = critics(first=(None, *FIRST[1:]))
    comparison, _ = compare(tmp_path / "run", set_path, pair=pair)
    votes = votes_of_run(RunFolder.existing(tmp_path / "run"), comparison.cases)
    assert votes[0] == Vote(text=None, exchanged=False)
    assert None not in [vote.text for vote in votes[1:]]


def test_votes_that_nobody_can_read_give_no_figure_and_a_reason(tmp_path, set_path):
    path = tmp_path / "votes.jsonl"
    write_votes(path, [Vote(text="Hmm.", exchanged=False)] * N_CASES)
    result = evaluate(voted(path, load_set(set_path), TABLE_15))
    assert result.details["n_unreadable"] == N_CASES
    assert {estimate.value for estimate in result.estimates} == {None}
    assert {estimate.reason for estimate in result.estimates} == {"no case could be scored"}


VOTE = {"output": "A: Feedback 1 is significantly better.", "meta": {"exchange": False}}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([VOTE] * 7, "has 7 rows, but the set has 8 cases"),
        ([VOTE] * 9, "has 9 rows, but the set has 8 cases"),
        ([], "has 0 rows"),
        ([{"output": "A: Feedback 1"}] + [VOTE] * 7, r":1:meta\.exchange: is missing"),
        ([VOTE] * 3 + [{**VOTE, "meta": {}}] + [VOTE] * 4, r":4:meta\.exchange: is missing"),
        ([{**VOTE, "meta": {"exchange": 1}}] + [VOTE] * 7, "meta.exchange: is 1; expected true"),
        ([{"meta": {"exchange": True}}] + [VOTE] * 7, ":1:output: is missing"),
        ([{**VOTE, "output": 0}] + [VOTE] * 7, ":1:output: expected a string, found int"),
    ],
)
def test_bad_votes_say_what_is_wrong_and_where(tmp_path, set_path, rows, said):
    path = tmp_path / "votes.jsonl"
    write_records(path, rows)
    with pytest.raises(DataError, match=said):
        read_votes(path, load_set(set_path))


def test_critiques_are_read_from_both_of_the_releases_layouts(tmp_path, set_path):
    cases = load_set(set_path)
    inside = read_critiques(set_path, cases)
    assert (inside.critic, inside.texts) == ("mine", FIRST)
    path = write_critiques(tmp_path / "theirs.jsonl", (None, "Failed!", "  ", *SECOND[3:]))
    apart = read_critiques(path, cases)
    assert apart.critic == "theirs"
    assert apart.texts == (None, None, None, *SECOND[3:])
    assert read_critiques(path, cases, "them").critic == "them"
    copy = write_critiques(tmp_path / "copy.jsonl", FIRST)
    assert read_critiques(copy, cases).sha256 == inside.sha256 != apart.sha256


@pytest.mark.parametrize(
    ("change", "critic", "said"),
    [
        ({}, "nobody", "has no critic 'nobody'; there are: 'mine'"),
        ({"critiques": {"x": "a", "y": "b"}}, None, "has several critics: 'x', 'y'"),
        ({"critiques": "good"}, None, ":1:critiques: expected an object"),
        ({"critiques": {"mine": 3}}, None, r":1:critiques\.mine: expected a string, found int"),
        ({"prompt": "Another question?"}, None, "is about another query or response than case"),
    ],
)
def test_bad_critiques_in_a_set_say_what_is_wrong(tmp_path, set_path, change, critic, said):
    rows = [orjson.loads(line) for line in set_path.read_bytes().splitlines()]
    path = tmp_path / "bad.jsonl"
    write_records(path, [{**rows[0], **change}, *rows[1:]])
    with pytest.raises(DataError, match=said):
        read_critiques(path, load_set(set_path), critic)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"output": "x"}] * 3, "has 3 rows, but the set has 8 cases"),
        ([{"text": "x"}] * 8, "has no critiques: its fields are 'text'"),
        ([{"output": "x"}] * 7 + [{"text": "x"}], ":8:output: is missing"),
        ([{"output": ["x"]}] * 8, ":1:output: expected a string, found list"),
    ],
)
def test_bad_files_of_critiques_say_what_is_wrong(tmp_path, set_path, rows, said):
    path = tmp_path / "bad.jsonl"
    write_records(path, rows)
    with pytest.raises(DataError, match=said):
        read_critiques(path, load_set(set_path))


def test_a_set_must_hold_single_responses(pairs_file):
    with pytest.raises(DataError, match="has 2 responses; a critique is of one"):
        read_set(open_cases(pairs_file))


# What was published.


def test_published_votes_add_up_to_the_groups_cases():
    rows = published_eval_c()
    counted = [row for row in rows if row.unit == "cases"]
    assert len(counted) == 2 * 6 * len(GROUP_SIZES)
    for row in counted:
        assert row.win + row.tie + row.lose == GROUP_SIZES[row.group], row
    totals: Counter[tuple[str, str, str]] = Counter()
    overall: Counter[tuple[str, str, str]] = Counter()
    for row in counted:
        for name in ("win", "tie", "lose"):
            target = overall if row.group == OVERALL else totals
            target[row.against, row.judged_by, name] += int(getattr(row, name))
    assert totals == overall
    leaderboard = [row for row in rows if row.unit == "percent"]
    assert len(leaderboard) == 9
    for row in leaderboard:
        assert row.win + row.tie + row.lose == pytest.approx(100)
        assert row.against == "ChatGPT"
    assert all(row.source.startswith(("paper, Table 22", "README")) for row in rows)


def test_published_figures_are_those_of_the_paper():
    def shares(against: str, judge: str, group: str = OVERALL) -> tuple[float, ...]:
        (row,) = [
            row
            for row in published_against(against)
            if (row.judged_by, row.group, row.unit) == (judge, group, "cases")
        ]
        return tuple(round(share * 100, 1) for share in row.shares)

    assert shares("chatgpt", "gpt-4") == (73.7, 2.2, 24.1)
    assert shares("ChatGPT", "human") == (50.4, 31.0, 18.5)
    assert shares("GPT-4", "human", "NLP Tasks") == (18.2, 25.0, 56.8)
    assert {row.against for row in published_eval_c()} == {
        "SelFee", "Vicuna", "L2Chat", "ChatGPT", "WizardLM", "GPT-4",
    }  # fmt: skip
    sources = {row.source for row in published_against("selfee") if row.group == OVERALL}
    assert sources == {"paper, Table 22, Fig. 3a", "paper, Table 22, Fig. 3b"}


def test_the_releases_votes_give_the_published_figures(data_folder):
    cases = load_set(data_folder / "autoj" / "testdata_critique.jsonl")
    path = data_folder / "autoj" / "outputs" / "gpt-4-Eval_auto-j_vs_chatgpt.jsonl"
    comparison = voted(path, cases, TABLE_15)
    result = evaluate(comparison)
    assert round(values(result)["win"] * 100, 2) == 73.71
    assert [round(estimates[0].value * 100, 2) for estimates in result.parts["group"].values()] == [
        100.0,
        83.33,
        80.0,
        70.0,
        72.22,
        55.0,
        75.0,
        79.55,
    ]
    published = {
        row.group: (row.win, row.tie, row.lose)
        for row in published_against(comparison.against)
        if row.unit == "cases" and row.judged_by == comparison.judged_by
    }
    for group, estimates in result.parts["group"].items():
        n = GROUP_SIZES[group]
        assert tuple(round(each.value * n) for each in estimates[:3]) == published[group]
    assert result.details["n_unreadable"] == result.details["n_failed"] == 0


def test_the_releases_critiques_can_be_compared(data_folder):
    folder = data_folder / "autoj"
    path = folder / "testdata_critique.jsonl"
    cases = load_set(path)
    first = read_critiques(path, cases)
    second = read_critiques(folder / "reference_chatgpt_critique.jsonl", cases, "ChatGPT")
    pairs = comparison_cases(cases, first, second, path=path)
    made = [row.case for row in pairs.read()]
    assert len(made) == 232
    assert orjson.loads(pairs.derivation)["n_ratings_removed"][0] == 231
    assert not any("Rating: [[" in text for case in made for text in case.critiques)
