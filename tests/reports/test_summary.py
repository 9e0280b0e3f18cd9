"""A run in figures: counts of verdicts, and the estimates that its settings allow."""

from __future__ import annotations

from autoj.records import Case, Response, Verdict, Winner
from autoj.reports.summary import summarise
from autoj.runs import RunSpec, make_spec

from ..scripted import CARD

PAIRS = make_spec("judge", CARD)


def judged(
    number: int, winner: Winner | None, label: Winner | None = None, **its
) -> tuple[Case, Verdict]:
    case = Case(
        id=str(number), query="q", cluster=str(number), label=label, scenario="planning",
        responses=(Response(text="x"), Response(text="y")),
    )  # fmt: skip
    verdict = Verdict(
        case_id=str(number), judge="j", winner=winner,
        **{"winners": (winner, winner), "consistent": winner is not None} | its,
    )  # fmt: skip
    return case, verdict


def names(spec: RunSpec, *found: tuple[Case, Verdict]) -> list[str]:
    return [estimate.name for estimate in summarise(found, spec, len(found)).estimates]


def test_counts_are_of_all_that_was_judged():
    found = [
        judged(1, "a"), judged(2, "tie"), judged(3, None, n_unreadable=1, n_truncated=2),
        judged(4, None, n_failed=2),
    ]  # fmt: skip
    summary = summarise(found, PAIRS, 9)
    assert summary.winners == {"a": 1, "tie": 1, "unknown": 2}
    assert (summary.n_cases, summary.n_judged) == (9, 4)
    assert (summary.n_unreadable, summary.n_failed, summary.n_truncated) == (1, 2, 2)


def test_nothing_judged_is_no_error():
    summary = summarise([], PAIRS, 0)
    assert summary.winners == {}
    assert [estimate.value for estimate in summary.estimates] == [None, None]


def test_labels_add_accuracy_and_some_labels_a_corrected_win_rate():
    assert names(PAIRS, judged(1, "a")) == ["win rate", "consistency"]
    assert names(PAIRS, judged(1, "a", "a")) == ["win rate", "consistency", "accuracy", "agreement"]
    assert "win rate, corrected by the labels" in names(PAIRS, judged(1, "a", "a"), judged(2, "b"))
    one_order = make_spec("judge", CARD, orders="given")
    assert names(one_order, judged(1, "a", "a")) == ["win rate", "accuracy"]


def test_draws_have_their_share_and_their_deviation():
    split = judged(1, None, winners=("a", None), vote_shares=(0.75, 0.5))
    summary = summarise([split, judged(2, "a", vote_shares=(1.0, 1.0))], PAIRS, 2)
    assert summary.n_split == 1
    assert summary.vote_share == (0.75 + 1.0 + 1.0) / 3
    assert summary.rating_sd is None


def test_parts_are_by_scenario_or_group():
    found = [judged(1, "a"), judged(2, "b")]
    assert set(summarise(found, PAIRS, 2, "scenario").parts) == {"planning"}
    assert set(summarise(found, PAIRS, 2, "group").parts) == {"General Communication"}
    assert summarise(found, PAIRS, 2).parts == {}
