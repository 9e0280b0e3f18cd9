"""Correlations in all draws at once, and what is left of one without the noise of its queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from autoj.bench.system_level.query_noise import coefficient_draws, without_noise
from autoj.bench.system_level.query_ratings import collect
from autoj.records import Estimate

from .models import judged

SOURCE = Path("run")


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_all_draws_at_once_are_what_scipy_gives_one_by_one(coefficient: Any) -> None:
    source = np.random.default_rng(1)
    means = source.integers(0, 5, (30, 6)).astype(float)
    means[0], means[1, 2] = 3.0, np.nan
    reference = np.array([1.0, 2.0, 2.0, 4.0, 5.0, 6.0])
    function = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall": stats.kendalltau,
    }[coefficient]
    found = coefficient_draws(means, reference, coefficient)
    # A draw of equal means, or one that lacks a model, gives none.
    assert np.isnan(found[:2]).all()
    expected = [function(row, reference).statistic for row in means[2:]]
    assert found[2:] == pytest.approx(expected)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_the_noise_of_few_queries_is_taken_out_and_the_interval_holds_the_truth(
    coefficient: Any,
) -> None:
    source = np.random.default_rng(5)
    reference = source.normal(0, 1, 40)
    levels = reference + source.normal(0, 0.4, 40)
    truth = float(coefficient_draws(levels[None], reference, coefficient)[0])
    names = [chr(0x4E00 + number) for number in range(40)]
    plain, corrected, held, reach = [], [], 0, np.zeros(2)
    for _ in range(15):
        ratings = levels + source.normal(0, 1, (20, 1)) + source.normal(0, 2, (20, 40))
        found = collect(judged(ratings, "".join(names), n_set=40), SOURCE)
        value = float(coefficient_draws(ratings.mean(axis=0)[None], reference, coefficient)[0])
        estimate = Estimate(name=coefficient, value=value, n=40, n_clusters=40)
        columns = range(40)
        any_queries, all_queries = (
            without_noise("x", estimate, found, columns, reference, coefficient, share)
            for share in (1.0, 0.5)
        )
        assert any_queries.value is not None
        assert any_queries.low is not None
        assert any_queries.high is not None
        assert all_queries.value is not None
        assert all_queries.low is not None
        plain.append(value)
        corrected.append(any_queries.value)
        held += any_queries.low <= truth <= any_queries.high
        # All 40 queries have some noise of their own: the value is lower, and surer.
        assert value < all_queries.value <= any_queries.value
        reach += any_queries.value - any_queries.low, all_queries.value - all_queries.low
    assert abs(np.mean(corrected) - truth) < 0.03
    assert np.mean(plain) < truth - 0.04
    assert held >= 13
    assert reach[0] > reach[1]
