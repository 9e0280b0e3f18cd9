"""Several judges' verdicts to a jury's, and who may sit in one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.datasets.base import Cases, ReadRow
from autoj.errors import ConfigError, DataError
from autoj.records import Calibration, Case, JudgeCard, Response, Verdict
from autoj.tasks.jurors import choose_method, make_jurors, pairs_alone
from autoj.verdicts.jury import JURY_RULES, as_vote, jury_rating, jury_verdict

from ..scripted import CARD

A, B, T = (0.6, 0.3, 0.1), (0.2, 0.7, 0.1), (0.3, 0.3, 0.4)
SCALAR = JudgeCard(
    name="reward", title="r", backend="scalar", model="r", wrapper="none", protocols=("scalar",)
)


def said(winner, probabilities=None, **fields) -> Verdict:
    return Verdict(case_id="c", judge="j", winner=winner, probabilities=probabilities, **fields)


@pytest.mark.parametrize(
    ("votes", "winner", "rule"),
    [
        (("a", "a", "b"), "a", "majority"),
        (("tie", "tie", "b"), "tie", "majority"),
        (("a", "a", None), "a", "majority"),
        (("a", "b"), None, "no majority"),
        (("a", "tie"), None, "no majority"),
        (("a", "b", "tie"), None, "no majority"),
        (("a", "a", "b", "tie"), None, "no majority"),
        (("a", "b", None), None, "no majority"),
        (("a", None, None), None, "too few votes"),
        (("a", None), None, "too few votes"),
        ((None, None, None), None, "too few votes"),
    ],
)
def test_a_majority_is_more_than_half_of_the_votes(votes, winner, rule):
    verdict = jury_verdict([said(vote) for vote in votes], "majority")
    assert (verdict.winner, verdict.rule, verdict.probabilities) == (winner, rule, None)
    assert [its.winner for its in verdict.judges] == list(votes)
    assert rule in JURY_RULES


def test_a_split_is_decided_by_probabilities_where_each_vote_has_them():
    split = jury_verdict([said("a", A), said("b", B)], "majority")
    assert (split.winner, split.rule) == ("b", "split, mean")
    assert split.probabilities == pytest.approx((0.4, 0.5, 0.1))
    unknown = jury_verdict([said("a", A), said("b")], "majority")
    assert (unknown.winner, unknown.rule, unknown.probabilities) == (None, "no majority", None)
    # One far-off judge moves the mean and not the majority.
    outvoted = jury_verdict([said("a", A), said("a", A), said("b", (0.0, 1.0, 0.0))], "majority")
    assert (outvoted.winner, outvoted.rule) == ("a", "majority")


def test_the_mean_is_of_those_that_vote_and_needs_all_their_probabilities():
    strong = (0.0, 1.0, 0.0)
    verdict = jury_verdict([said("a", A), said("a", A), said("b", strong)], "mean")
    assert (verdict.winner, verdict.rule) == ("b", "mean")
    assert verdict.probabilities == pytest.approx((0.4, 0.6 - 0.1 / 1.5, 0.1 / 1.5))
    # Probabilities of a judge without a verdict are no vote.
    silent = jury_verdict([said("a", A), said("a", A), said(None, strong)], "mean")
    assert (silent.winner, silent.probabilities) == ("a", pytest.approx(A))
    mixed = jury_verdict([said("a", A), said("b"), said("b", B)], "mean")
    assert (mixed.winner, mixed.rule) == ("b", "majority")
    assert jury_verdict([said("tie", T)], "mean").winner == "tie"


def test_what_was_lost_is_added_up():
    verdict = jury_verdict(
        [said("a", n_unreadable=1), said("a", n_failed=2), said("a", n_truncated=3)], "majority"
    )
    assert (verdict.n_unreadable, verdict.n_failed, verdict.n_truncated) == (1, 2, 3)


SHARES = st.tuples(*[st.floats(0.001, 1)] * 3).map(
    lambda parts: tuple(part / sum(parts) for part in parts)
)
EXCHANGED = {"a": "b", "b": "a", "tie": "tie", None: None}


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "tie", None]), st.none() | SHARES),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["majority", "mean"]),
)
def test_exchanging_the_responses_exchanges_the_verdict(votes, method):
    there = jury_verdict([said(winner, shares) for winner, shares in votes], method)
    back = jury_verdict(
        [
            said(EXCHANGED[winner], shares and (shares[1], shares[0], shares[2]))
            for winner, shares in votes
        ],
        method,
    )
    assert back.winner == EXCHANGED[there.winner]
    assert back.rule == there.rule
    if there.probabilities is not None:
        a, b, tie = there.probabilities
        assert back.probabilities == (b, a, tie)


def test_a_judge_that_only_rates_votes_for_the_higher_rating():
    for ratings, winner in (((-3.0, -4.0), "a"), ((0.1, 0.2), "b"), ((5.0, 5.0), "tie")):
        vote = as_vote(said(None, ratings=ratings))
        assert (vote.winner, vote.rule) == (winner, "ratings")
    lost = said(None, ratings=(5.0, None), rule="incomplete")
    assert as_vote(lost) is lost
    compared = said("a", ratings=(1.0, 2.0))
    assert as_vote(compared) is compared


def test_a_rating_is_the_mean_where_more_than_half_could_be_read():
    verdicts = [
        said(None, ratings=(4.0, None, 1.0)),
        said(None, ratings=(6.0, None, None)),
        said(None, ratings=(8.0, 9.0, 2.0)),
        said(None, ratings=()),
    ]
    verdict = jury_rating(verdicts)
    assert verdict.ratings == (6.0, None, None)
    assert verdict.rule == "too few ratings"
    assert jury_rating(verdicts[:1] + verdicts[2:3]).ratings == (6.0, None, 1.5)


def seats_of(*cards: JudgeCard, task="judge", **settings):
    return make_jurors(task, [(card.name, card) for card in cards], **settings)


def named(name: str, **fields) -> JudgeCard:
    return replace(CARD, name=name, model=name, **fields)


def test_one_judge_under_two_names_is_named_twice():
    with pytest.raises(ConfigError, match="one judge twice: 'script'"):
        seats_of(CARD, CARD)
    alias = replace(CARD, name="alias", title="another title")
    with pytest.raises(ConfigError, match="'script' and 'alias'"):
        seats_of(CARD, alias)
    assert len(seats_of(CARD, replace(CARD, name="other", revision="2"))) == 2
    trained = [replace(CARD, name=name, model="./model", folder=f"runs/{name}") for name in "xy"]
    assert len(seats_of(*trained)) == 2
    with pytest.raises(ConfigError, match="'x' and 'z'"):
        seats_of(trained[0], replace(trained[0], name="z", folder="runs/../runs/x"))


def test_names_that_would_be_one_folder_get_two():
    jurors = seats_of(named("x/y"), named("x y"), named("x-y"), named("Q"), named("q"))
    folders = [juror.folder for juror in jurors]
    assert len({folder.lower() for folder in folders}) == 5
    assert folders[2] != folders[0]
    assert all(folder.count("/") == 1 for folder in folders)
    assert [juror.name for juror in jurors] == ["x/y", "x y", "x-y", "Q", "q"]
    (plain, _) = seats_of(named("plain"), named("n" * 300))
    assert plain.folder == "judges/plain"
    assert max(len(juror.folder) for juror in seats_of(named("plain"), named("n" * 300))) < 110


def test_two_cards_of_one_name_are_called_as_they_were_given():
    one, other = named("judge"), replace(named("judge"), model="other")
    jurors = make_jurors("judge", [("runs/x", one), ("runs/y", other)])
    assert [juror.name for juror in jurors] == ["runs/x", "runs/y"]
    assert len({juror.folder for juror in jurors}) == 2


def test_reward_models_vote_on_pairs_and_do_not_rate():
    compares, scores = seats_of(CARD, SCALAR, protocol="pairwise", orders="one")
    assert (compares.spec.task, compares.spec.protocol) == ("judge", "pairwise")
    assert compares.spec.orders == "one"
    assert (scores.spec.task, scores.spec.protocol) == ("rate", "scalar")
    with pytest.raises(ConfigError, match="'reward' gives scores without a fixed scale") as raised:
        seats_of(CARD, SCALAR, task="rate")
    assert "votes on pairs" in str(raised.value)


def test_the_mean_is_the_default_where_each_judge_gives_probabilities():
    both = seats_of(named("one"), named("two"))
    assert choose_method(both, None) == "mean"
    assert choose_method(both, "majority") == "majority"
    writes = seats_of(named("one"), named("two", protocols=("pairwise",)))
    assert choose_method(writes, None) == "majority"
    with pytest.raises(ConfigError, match="judge 'two' gives none with protocol 'pairwise'"):
        choose_method(writes, "mean")
    assert choose_method(seats_of(named("one"), SCALAR), None) == "majority"
    by_rating = {"protocols": ("pairwise-by-rating",)}
    assert choose_method(seats_of(named("one"), named("two", **by_rating)), None) == "majority"
    fitted = {"pairwise-by-rating": Calibration(temperature=1.0, tie=0.1)}
    calibrated = named("two", **by_rating, calibration=fitted)
    assert choose_method(seats_of(named("one"), calibrated), None) == "mean"


def test_rows_that_are_no_pairs_are_bad_for_judges_that_rate(tmp_path):
    texts = [Response(text=text) for text in "xyz"]
    rows = [
        ReadRow(n, Case(id=f"{n}", query="q", cluster="q", responses=tuple(texts[:n])))
        for n in (1, 2, 3)
    ]
    kept = [
        row.case
        for row in pairs_alone(
            Cases(format="f", paths=(tmp_path / "p.jsonl",), read=lambda: iter(rows))
        ).read()
    ]
    assert [isinstance(case, DataError) for case in kept] == [True, False, True]
    assert "has 3 responses; expected two" in str(kept[2])
