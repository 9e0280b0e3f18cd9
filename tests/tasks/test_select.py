"""Picks of single cases, as a library user gets them, are those of a run."""

from __future__ import annotations

import math
import re

import pytest

from autoj import Judge, Response
from autoj.errors import ConfigError, DataError
from autoj.records import Request
from autoj.tasks.selection_folder import make_select_spec

from ..scripted import CARD, Recorder

QUALITY = re.compile(r"quality (\d+)")


def by_quality(request: Request) -> str | tuple[float, ...]:
    """Knows what each response is worth from its own words."""
    found = [int(number) for number in QUALITY.findall(request.messages[-1].content)]
    if len(found) == 2 and request.choices is not None:
        return (0.1 * found[0], 0.1 * found[1], -1.0)
    if request.choices is not None:
        return tuple(-abs(rating - found[0]) * 3.0 for rating in range(1, 11))
    return f"Rating: [[{found[0]}]]" if found[0] else "I cannot say."


def test_select_rates_each_response_and_picks_the_highest():
    judge = Judge(Recorder(by_quality))
    verdict = judge.select("Why?", ["quality 3", "quality 8", "quality 5"])
    assert verdict.selected == 1
    assert verdict.ratings == pytest.approx((3, 8, 5), abs=0.2)
    assert verdict.critiques == (None, None, None)


def test_equal_ratings_go_to_the_likelier_response():
    judge = Judge(Recorder(by_quality))
    likely = [Response(text=f"quality 4 {text}", logprob=p) for text, p in (("x", -3), ("y", -1))]
    verdict = judge.select("Why?", likely, protocol="single")
    assert verdict.ratings == (4.0, 4.0)
    assert verdict.selected == 1


def test_what_could_not_be_read_is_not_picked():
    judge = Judge(Recorder(by_quality))
    verdict = judge.select("Why?", ["quality 0", "quality 2"], protocol="single")
    assert (verdict.ratings, verdict.selected) == ((None, 2.0), 1)
    nothing = judge.select("Why?", ["quality 0"], protocol="single")
    assert (nothing.ratings, nothing.selected, nothing.n_unreadable) == ((None,), None, 1)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_select_by_pairs_asks_each_match_in_both_orders(n):
    recorder = Recorder(by_quality)
    order = [(number * 3) % n for number in range(n)]
    texts = [f"quality {number}" for number in order]
    assert math.gcd(3, n) == 1
    verdict = Judge(recorder).select("Why?", texts, by="pairs")
    assert verdict.selected == order.index(n - 1)
    assert len(recorder.asked) == 2 * (n - 1)
    assert len({request.key for request in recorder.asked}) == len(recorder.asked)


def test_select_refuses_what_it_cannot_do():
    judge = Judge(Recorder(by_quality))
    with pytest.raises(DataError, match="there are no responses"):
        judge.select("Why?", [])
    with pytest.raises(DataError, match="the query is empty"):
        judge.select(" ", ["x"])
    with pytest.raises(ConfigError, match="needs one that judges a pair"):
        make_select_spec(CARD, "pairs", protocol="single")
    with pytest.raises(ConfigError, match="needs one that judges a response"):
        make_select_spec(CARD, "ratings", protocol="pairwise")
