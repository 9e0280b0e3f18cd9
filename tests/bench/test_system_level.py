"""Ranks, correlations and their intervals; sampled and excluded queries; what is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from autoj.bench.base import Result, read_result, save_result
from autoj.bench.model_outputs import open_outputs, output_files, read_queries
from autoj.bench.model_table import ModelRow, read_models
from autoj.bench.query_noise import coefficient_draws, without_noise
from autoj.bench.query_ratings import QueryRatings, collect, precision
from autoj.bench.system_level import evaluate_ratings, evaluate_table, length_result, ranked
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.records import Case, Estimate, Response, Verdict, normalise_query

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


def judged(ratings: np.ndarray[Any, Any], names: str, n_set: int = 0) -> list[tuple[Case, Verdict]]:
    """Cases of one response each: `[n_queries, n_models]` ratings; not a number is unreadable."""
    found = []
    for number, row in enumerate(ratings):
        for name, rating in zip(names, row, strict=True):
            query = f"Question {number}?"
            case = Case(
                id=f"{name}/{number}",
                query=query,
                cluster=normalise_query(query),
                responses=(Response(text="x" * (ord(name) % 7 + 1), model=name),),
                meta={"n_set_queries": n_set} if n_set else {},
            )
            is_known = bool(np.isfinite(rating))
            verdict = Verdict(
                case_id=case.id,
                judge="j",
                ratings=(float(rating) if is_known else None,),
                n_unreadable=int(not is_known),
            )
            found.append((case, verdict))
    return found


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
    published = {row["source"]: row["figures"] for row in result.details["published"]}
    assert {"spearman": "0.97", "pearson": "0.96"} in published.values()


def test_models_that_lack_one_of_the_two_are_left_out_named_and_counted() -> None:
    reference = [*TABLE[:4], model("lonely", None, 10.0), model("silent")]
    result = evaluate_table(TABLE, reference, judge="j", source=SOURCE)
    assert result.details["not_in_reference"] == ["e"]
    assert result.details["not_rated"] == ["lonely"]
    spearman = result.estimate("spearman")
    assert spearman is not None
    assert (spearman.n, spearman.n_unscored) == (4, 2)
    assert any("without a reference and left out: e" in note for note in result.notes)
    assert any("without a rating and left out: lonely" in note for note in result.notes)


@pytest.mark.parametrize("n_models", [0, 1, 2])
def test_fewer_than_three_models_have_no_correlation(n_models: int) -> None:
    result = evaluate_table(TABLE[:n_models] or TABLE, TABLE[:n_models], judge="j", source=SOURCE)
    for estimate in result.estimates:
        assert estimate.value is None
        assert estimate.reason == (
            f"a correlation needs 3 models or more with a rating and a reference, found {n_models}"
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
    plain, corrected, held, narrower = [], [], 0, 0
    for _ in range(25):
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
        assert all_queries.high is not None
        plain.append(value)
        corrected.append(any_queries.value)
        held += any_queries.low <= truth <= any_queries.high
        # All 40 queries have some noise of their own: the value is lower, and surer.
        assert value < all_queries.value <= any_queries.value
        narrower += all_queries.high - all_queries.low < any_queries.high - any_queries.low
    assert abs(np.mean(corrected) - truth) < 0.02
    assert np.mean(plain) < truth - 0.04
    assert held >= 22
    assert narrower == 25


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
    assert "no more than the noise" in over.reason


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
    assert (over.value, over.reason) == (None, "one query does not say how noisy the means are")
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
    with pytest.raises(DataError, match=r"no run over models' outputs: case 'x'"):
        collect([(case, verdict), (nobody, verdict)], SOURCE)
    with pytest.raises(DataError, match="no cases that are judged"):
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


def test_a_table_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"

    def table(*rows: object) -> list[ModelRow]:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return read_models(path)

    assert table({"model": "m", "win_rate": 3, "rating": None})[0] == ModelRow(
        key="m", title="m", rating=None, reference=3.0, mean_length=None, rated_by=None
    )
    with pytest.raises(DataError, match=r"table\.jsonl:2: the model 'm' is taken"):
        table({"key": "m"}, {"key": "m"})
    with pytest.raises(DataError, match=r"table\.jsonl:1:rating: expected a number, found 'high'"):
        table({"key": "m", "rating": "high"})
    with pytest.raises(DataError, match=r"table\.jsonl:1: names no model; .*'score'"):
        table({"score": 1})
    with pytest.raises(DataError, match=r"table\.jsonl:1:key: expected a model's name, found 3"):
        table({"key": 3})
    with pytest.raises(DataError, match="holds no models"):
        table()


def outputs(folder: Path, *names: str, n_queries: int = 12) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        rows = [
            {
                "pid": number,
                "instruction": f"Question {number}?",
                "output": f"{name} says {number}.",
                "generator": name,
            }
            for number in range(n_queries)
        ]
        write_records(folder / f"{name}.jsonl", rows)
    return folder


def cases_of(found: Any) -> list[Case]:
    return [row.case for row in found.cases.read()]


def test_one_run_holds_each_models_response_to_each_query(tmp_path: Path) -> None:
    found = open_outputs(output_files([outputs(tmp_path / "o", "m1", "m2")]))
    cases = cases_of(found)
    assert [one.id for one in cases[:2]] == ["m1/0", "m1/1"]
    assert len({one.id for one in cases}) == 24
    assert cases[12].responses == (Response(text="m2 says 0.", model="m2"),)
    assert found.models == ("m1", "m2")
    assert (found.n_queries, found.n_set_queries, found.n_excluded) == (12, 12, 0)
    assert all(one.meta["n_set_queries"] == 12 for one in cases)


def test_the_public_layout_and_files_of_several_models_are_read(tmp_path: Path) -> None:
    public = tmp_path / "results" / "m3"
    public.mkdir(parents=True)
    rows = [{"instruction": "Question 0?", "output": "x", "generator": "m3-display-name"}]
    (public / "model_outputs.json").write_text(json.dumps(rows))
    both = tmp_path / "both.jsonl"
    write_records(
        both,
        [
            {"pid": 0, "instruction": "Question 0?", "output": "x", "generator": name}
            for name in ("m4", "m5")
        ],
    )
    found = open_outputs(output_files([tmp_path / "results", both]))
    assert [one.id for one in cases_of(found)] == ["m3/0", "m4/0", "m5/0"]


def test_a_sample_holds_the_same_queries_for_all_models_and_grows(tmp_path: Path) -> None:
    files = output_files([outputs(tmp_path / "o", "m1", "m2")])

    def sampled(n: int, seed: int = 0) -> dict[str, set[str]]:
        chosen: dict[str, set[str]] = {}
        for one in cases_of(open_outputs(files, sample=n, seed=seed)):
            chosen.setdefault(str(one.responses[0].model), set()).add(one.query)
        return chosen

    four, six = sampled(4), sampled(6)
    assert four["m1"] == four["m2"]
    assert len(four["m1"]) == 4
    assert four["m1"] < six["m1"]
    assert sampled(4) == four
    assert sampled(4, seed=1) != four
    derivations = {
        open_outputs(files, sample=n, seed=seed).cases.derivation
        for n, seed in ((4, 0), (4, 1), (6, 0))
    }
    assert len(derivations) == 3
    with pytest.raises(ConfigError, match=r"--sample 13 .*: 12"):
        open_outputs(files, sample=13)


@pytest.mark.parametrize("kind", ["jsonl", "lines"])
def test_excluded_queries_are_left_out_and_those_not_found_are_named(
    tmp_path: Path, kind: str
) -> None:
    queries = ["question 3", "QUESTION 4 ?", "Never asked?"]
    path = tmp_path / "exclude"
    if kind == "jsonl":
        fields = ("query", "instruction", "prompt")
        write_records(path, [{field: text} for field, text in zip(fields, queries, strict=True)])
    else:
        path.write_text("\n".join(queries) + "\n")
    files = output_files([outputs(tmp_path / "o", "m1", "m2")])
    found = open_outputs(files, exclude=read_queries(path))
    assert (found.n_set_queries, found.n_excluded) == (10, 2)
    assert found.not_found == ("Never asked?",)
    assert not {"Question 3?", "Question 4?"} & {one.query for one in cases_of(found)}
    everything = {normalise_query(f"Question {number}?"): "" for number in range(12)}
    with pytest.raises(DataError, match="all are excluded"):
        open_outputs(files, exclude=everything)


def test_bad_outputs_and_exclusions_say_where(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no outputs"):
        output_files([tmp_path])
    pair = tmp_path / "pair.jsonl"
    write_records(pair, [{"query": "q", "responses": ["x", "y"]}])
    with pytest.raises(DataError, match=r"pair\.jsonl:1: holds 2 responses; expected one"):
        open_outputs([pair])
    write_records(tmp_path / "wrong.jsonl", [{"text": "q"}])
    with pytest.raises(DataError, match=r"wrong\.jsonl:1: holds no query: expected query"):
        read_queries(tmp_path / "wrong.jsonl")


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
    assert places["OpenChat V3.1 13B"] == (4, 8, 4)
    assert places["LLaMA2 Chat 13B"] == (17, 10, -7)
    assert places["WizardLM 13B"] == (25, 32, 7)
    assert places["Baichuan-13B-Chat"] == (53, 53, 0)


def test_the_real_outputs_are_those_of_the_papers_models(data_folder: Path) -> None:
    folder = data_folder / "system_level" / "alpaca_eval"
    names = {row.key for row in read_models(folder.parent / "table23_index.jsonl")}
    files = output_files([folder])
    assert {path.name.removesuffix(".jsonl.gz") for path in files} == names
    found = open_outputs(files[:2], sample=20)
    assert (found.n_queries, found.n_set_queries) == (20, 805)
    assert found.models == ("airoboros-33b", "airoboros-65b")
    assert len({one.id for one in cases_of(found)}) == 40
