"""The threshold of unsure verdicts: chosen by hand-made levels, held out, refused."""

from __future__ import annotations

import numpy as np
import pytest

from autoj.calibration.sureness import N_SURE, fit_sureness
from autoj.errors import ConfigError

QUERIES = [f"query {number}" for number in range(400)]


def levels(*shares_right: float, n: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """`n` pairs at each of the levels 0.9, 0.8, … with these shares right, spread evenly."""
    confidence = np.repeat([0.9 - 0.1 * step for step in range(len(shares_right))], n)
    right = np.concatenate([np.arange(n) % 10 < 10 * share for share in shares_right])
    return confidence, right.astype(float)


def test_the_lowest_level_that_reaches_the_rate_is_taken() -> None:
    # At or above 0.9: 100 %; 0.8: 95 %; 0.7: 83.3 %; 0.6: 75 %.
    confidence, right = levels(1.0, 0.9, 0.6, 0.5)
    for wanted, below in ((0.96, 0.9), (0.85, 0.8), (0.8, 0.7), (0.75, 0.6)):
        found = fit_sureness(confidence, right, QUERIES, wanted)
        assert found.below == pytest.approx(below, abs=1e-5)
        assert (found.sure == (confidence >= below - 1e-5)).all()
        assert right[found.sure].mean() >= wanted


def test_a_pair_is_held_out_with_all_pairs_of_its_query() -> None:
    # One query has all the right verdicts at 0.9: without it, no threshold is left for its pairs.
    confidence, right = levels(1.0, 0.5, 0.5, 0.5)
    queries = ["the same"] * 100 + QUERIES[100:]
    found = fit_sureness(confidence, right, queries, 0.9)
    assert found.sure.sum() == 100
    assert not found.held_out.any()
    apart = fit_sureness(confidence, right, QUERIES, 0.9)
    assert (apart.held_out == apart.sure).all()


def test_what_no_threshold_reaches_is_refused_with_the_best() -> None:
    confidence, right = levels(0.7, 0.6, 0.5, 0.5)
    with pytest.raises(ConfigError, match=r"with 100 sure pairs, reaches 70\.0 %"):
        fit_sureness(confidence, right, QUERIES, 0.85)


def test_a_few_lucky_pairs_are_no_threshold() -> None:
    confidence, right = levels(0.6, 0.6, 0.6, 0.6)
    confidence[: N_SURE - 1], right[: N_SURE - 1] = 0.99, 1.0
    with pytest.raises(ConfigError, match="no confidence reaches 99 %"):
        fit_sureness(confidence, right, QUERIES, 0.99)


@pytest.mark.parametrize("wanted", [0.0, 1.0, 1.5, float("nan")])
def test_a_rate_that_is_no_share_is_refused(wanted: float) -> None:
    with pytest.raises(ConfigError, match="expected one between 0 and 1"):
        fit_sureness(*levels(1.0, 0.5, 0.5, 0.5), QUERIES, wanted)


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(ConfigError, match="at least 200 pairs"):
        fit_sureness(*levels(1.0, n=100), QUERIES[:100], 0.8)
