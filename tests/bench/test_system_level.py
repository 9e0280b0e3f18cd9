"""Ranks, correlations and their intervals; sampled and excluded queries; what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from autoj.bench.system_level.evaluate import evaluate_ratings, evaluate_table, length_result
from autoj.bench.system_level.model_table import (
    TABLE_23,
    ModelRow,
    ranked,
    read_models,
    reference_digest,
)
from autoj.bench.system_level.query_ratings import QueryRatings, collect, precision
from autoj.errors import DataError
from autoj.metrics.result import Result, read_result, save_result
from autoj.records import Case, Response

from .models import judged

SOURCE = Path("table.jsonl")


def model(
    key: str, rating: float | None = None, reference: float | None = None, title: str | None = None
) -> ModelRow:
    return ModelRow(
        key=key,
        title=title or key,
        rating=rating,
        reference=reference,
        mean_length=None,
        rated_by="rating",
    )


TABLE = [
    model("a", 5.0, 90.0),
    model("b", 6.0, 80.0),
    model("c", 4.0, 70.0),
    model("d", 4.0, 60.0),
    model("e", 2.0, 50.0),
]


def drawn(n_queries: int, spread: float = 1.0, seed: int = 0) -> np.ndarray[Any, Any]:
    """Ratings of five models: their own level, a query's level, and noise."""
    source = np.random.default_rng(seed)
    levels = np.array([5.0, 6.0, 4.0, 4.2, 2.0])
    queries = source.normal(0, 1, (n_queries, 1))
    return levels + queries + source.normal(0, spread, (n_queries, 5))


def test_ranks_and_their_differences_by_hand() -> None:
    found = ranked({row.key: row.rating or 0 for row in TABLE}, TABLE)
    assert [(one.model, one.reference_rank, one.rank, one.delta) for one in found] == [
        ("a", 1, 2, 1),
        ("b", 2, 1, -1),
        ("c", 3, 3, 0),
        # Equal ratings share the better place.
        ("d", 4, 3, -1),
        ("e", 5, 5, 0),
    ]


def test_the_coefficients_are_those_of_scipy() -> None:
    result = evaluate_table(TABLE, TABLE, judge="j", source=SOURCE)
    x, y = [row.rating for row in TABLE], [row.reference for row in TABLE]
    expected = {
        "spearman": stats.spearmanr(x, y).statistic,
        "pearson": stats.pearsonr(x, y).statistic,
        "kendall": stats.kendalltau(x, y).statistic,
    }
    assert {found.name: found.value for found in result.estimates} == pytest.approx(expected)
    assert result.details["p_values"]["kendall"] == pytest.approx(stats.kendalltau(x, y).pvalue)
    assert not any("over queries" in found.name for found in result.estimates)
    # What was published is of other models.
    assert not result.details["published"]


def test_a_reference_is_its_models_and_their_scores() -> None:
    def told(table: list[ModelRow], **ratings: float) -> str:
        return reference_digest(
            ranked(ratings or {row.key: row.rating or 0 for row in table}, table)
        )

    assert told(TABLE).startswith("5 models, digest ")
    assert told(TABLE) == told(TABLE[::-1]) == told(TABLE, a=1, b=2, c=3, d=4, e=5)
    others = (TABLE[:4], [*TABLE[:4], model("e", 2.0, 51.0)], [*TABLE[:4], model("f", 2.0, 50.0)])
    assert len({told(TABLE), *map(told, others)}) == 4


def test_models_that_lack_one_of_the_two_are_left_out_named_and_counted() -> None:
    reference = [*TABLE[:4], model("lonely", None, 10.0), model("silent")]
    result = evaluate_table(TABLE, reference, judge="j", source=SOURCE)
    assert result.details["not_in_reference"] == ["e"]
    assert result.details["not_rated"] == ["lonely"]
    spearman = result.estimate("spearman")
    assert spearman is not None
    assert (spearman.n, spearman.n_unscored) == (4, 2)
    assert any("without a reference and were left out: e" in note for note in result.notes)
    assert any("without a rating and were left out: lonely" in note for note in result.notes)


@pytest.mark.parametrize("n_models", [0, 1, 2])
def test_fewer_than_three_models_have_no_correlation(n_models: int) -> None:
    result = evaluate_table(TABLE[:n_models] or TABLE, TABLE[:n_models], judge="j", source=SOURCE)
    for estimate in result.estimates:
        assert estimate.value is None
        assert estimate.reason == (
            f"a correlation needs at least 3 models with a rating and a reference, found {n_models}"
        )


def test_equal_ratings_have_no_correlation() -> None:
    flat = [model(row.key, 5.0, row.reference) for row in TABLE]
    for result in (
        evaluate_table(flat, flat, judge="j", source=SOURCE),
        evaluate_ratings(
            collect(judged(np.full((4, 5), 5.0), "abcde"), SOURCE), TABLE, judge="j", source="run"
        ),
    ):
        for estimate in result.estimates:
            assert estimate.value is None
            assert estimate.reason == "one of the two scores is the same everywhere"


def test_measured_ratings_get_two_intervals_and_each_model_its_mean() -> None:
    ratings = drawn(40)
    result = evaluate_ratings(
        collect(judged(ratings, "abcde"), SOURCE), TABLE, judge="j", source="run x"
    )
    means = ratings.mean(axis=0)
    references = [row.reference for row in TABLE]
    pearson, over = result.estimate("pearson"), result.estimate("pearson over queries")
    assert pearson is not None
    assert over is not None
    assert pearson.value == pytest.approx(stats.pearsonr(means, references).statistic)
    # Less the noise of 40 queries, it is a little higher.
    assert over.value is not None
    assert pearson.value < over.value < pearson.value + 0.02
    assert (pearson.n, pearson.n_clusters) == (5, 5)
    assert (over.n, over.n_clusters) == (5, 40)
    assert over.low is not None
    assert over.high is not None
    assert over.low < over.value < over.high
    (mean,) = result.parts["model"]["b"]
    assert (mean.name, mean.value) == ("mean rating", pytest.approx(means[1]))
    assert (mean.n, mean.n_clusters) == (40, 40)
    assert result.n_cases == 200


def test_more_queries_narrow_the_interval_over_queries_and_not_that_over_models() -> None:
    few, many = (
        evaluate_ratings(
            collect(judged(drawn(n, spread=3.0), "abcde"), SOURCE), TABLE, judge="j", source="x"
        )
        for n in (25, 400)
    )

    def width(result: Result, name: str) -> float:
        estimate = result.estimate(name)
        assert estimate is not None
        assert estimate.value is not None
        assert estimate.low is not None
        # Upwards both may end at 1.
        return estimate.value - estimate.low

    assert width(many, "pearson over queries") < 0.5 * width(few, "pearson over queries")
    assert width(many, "pearson") > 0.5 * width(few, "pearson")


def test_means_that_differ_by_noise_alone_have_no_corrected_correlation() -> None:
    ratings = np.random.default_rng(3).normal(5, 2, (6, 5))
    ratings += 2.0 - (ratings.mean(axis=0) - ratings.mean()) * 0.9
    found = collect(judged(ratings, "abcde"), SOURCE)
    result = evaluate_ratings(found, TABLE, judge="j", source="x")
    plain, over = result.estimate("pearson"), result.estimate("pearson over queries")
    assert plain is not None
    assert plain.value is not None
    assert over is not None
    assert over.value is None
    assert over.reason is not None
    assert "no larger than the noise" in over.reason


def test_a_sampled_set_says_what_all_of_it_would_give() -> None:
    found = collect(judged(drawn(30), "abcde", n_set=120), SOURCE)
    names = [one.name for one in evaluate_ratings(found, TABLE, judge="j", source="x").estimates]
    assert [name for name in names if "on all" in name] == [
        "spearman on all queries", "pearson on all queries", "kendall on all queries",
    ]  # fmt: skip
    whole = collect(judged(drawn(30), "abcde", n_set=30), SOURCE)
    result = evaluate_ratings(whole, TABLE, judge="j", source="x")
    assert not any("on all" in one.name for one in result.estimates)
    assert not result.notes


def test_precision_is_the_spread_over_queries() -> None:
    ratings = drawn(30)
    found = collect(judged(ratings, "abcde", n_set=120), SOURCE)
    known = precision(found, range(5))
    assert known is not None
    errors = ratings.std(axis=0, ddof=1) / np.sqrt(30)
    assert known.of_mean == pytest.approx(np.median(errors))
    # Four times as many queries halve a standard error.
    assert known.of_mean_on_all == pytest.approx(known.of_mean / 2)
    pairs = [(one, other) for one in range(5) for other in range(one + 1, 5)]
    of_pairs = [
        (ratings[:, one] - ratings[:, other]).std(ddof=1) / np.sqrt(30) for one, other in pairs
    ]
    assert known.of_difference == pytest.approx(np.median(of_pairs))
    apart = [
        stats.ttest_rel(ratings[:, one], ratings[:, other]).pvalue < 0.05 for one, other in pairs
    ]
    assert (known.n_pairs, known.n_pairs_apart) == (10, sum(apart))
    assert 0 < known.n_pairs_apart < 10
    result = evaluate_ratings(found, TABLE, judge="j", source="x")
    assert result.details["precision"] == known
    assert any("The noise of 30 queries" in note for note in result.notes)


def test_one_query_gives_correlations_over_models_alone() -> None:
    found = collect(judged(drawn(1), "abcde"), SOURCE)
    result = evaluate_ratings(found, TABLE, judge="j", source="x")
    kendall, over = result.estimate("kendall"), result.estimate("kendall over queries")
    assert kendall is not None
    assert kendall.value is not None
    assert over is not None
    assert (over.value, over.reason) == (None, "one query cannot show the noise of the means")
    assert result.details["precision"] is None


def test_unreadable_ratings_are_left_out_of_a_models_mean_and_counted() -> None:
    ratings = drawn(10)
    ratings[:3, 0] = np.nan
    ratings[:, 4] = np.nan
    found = collect(judged(ratings, "abcde"), SOURCE)
    assert found.n_unreadable == 13
    result = evaluate_ratings(found, TABLE, judge="j", source="x")
    (mean,) = result.parts["model"]["a"]
    assert mean.value == pytest.approx(np.nanmean(ratings[:, 0]))
    assert (mean.n, mean.n_unscored) == (7, 3)
    # A model of which nothing could be read has no place in the ranking.
    assert result.details["not_rated"] == ["e"]
    assert [one.model for one in result.details["models"]] == ["a", "b", "c", "d"]
    pearson = result.estimate("pearson over queries")
    assert pearson is not None
    assert pearson.low is not None


def test_cases_that_are_no_models_outputs_are_refused() -> None:
    ((case, verdict),) = judged(np.array([[5.0]]), "a")
    nobody = Case(id="x", query="q", cluster="q", responses=(Response(text="y"),))
    with pytest.raises(DataError, match=r"not a run on models' outputs: case 'x'"):
        collect([(case, verdict), (nobody, verdict)], SOURCE)
    with pytest.raises(DataError, match="has no judged cases"):
        collect([], SOURCE)


def test_lengths_alone_are_a_judge(tmp_path: Path) -> None:
    found: QueryRatings = collect(judged(drawn(3), "abcde"), SOURCE)
    result = length_result(dict(zip(found.models, found.mean_lengths, strict=True)), TABLE)
    assert result.judge == "longest"
    expected = stats.spearmanr([len("x" * (ord(n) % 7 + 1)) for n in "abcde"], [5, 4, 3, 2, 1])
    spearman = result.estimate("spearman")
    assert spearman is not None
    assert spearman.value == pytest.approx(expected.statistic)
    save_result(tmp_path / "system-level.json", result)
    assert read_result(tmp_path / "system-level.json").estimates == result.estimates


def test_the_papers_table_gives_its_ranks_and_not_quite_its_text(data_folder: Path) -> None:
    path = data_folder / "system_level" / "table23_index.jsonl"
    table = read_models(path)
    result = evaluate_table(table, table, judge="autoj", source=path)
    shown = {found.name: f"{found.value:.3f}" for found in result.estimates}
    assert shown == {"spearman": "0.980", "pearson": "0.981", "kendall": "0.882"}
    places = {
        one.title: (one.reference_rank, one.rank, one.delta) for one in result.details["models"]
    }
    assert len(places) == 53
    assert result.details["reference"] == TABLE_23
    published = {row["is_computed"]: row["figures"] for row in result.details["published"]}
    assert published[False] == {"spearman": "0.97", "pearson": "0.96"}
    assert published[True] == shown
    assert places["OpenChat V3.1 13B"] == (4, 8, 4)
    assert places["LLaMA2 Chat 13B"] == (17, 10, -7)
    assert places["WizardLM 13B"] == (25, 32, 7)
    assert places["Baichuan-13B-Chat"] == (53, 53, 0)
