"""Best of the first N by hand; what stands beside a judge; correlations over the union of picks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from autoj.bench.eval_r.evaluate import all_picks, baseline_picks, baseline_results, evaluate
from autoj.bench.eval_r.selection import (
    RatedCandidates,
    check_sizes,
    graded_cases,
    picked_cases,
    published_names,
    published_ratings,
    ratings_of_run,
)
from autoj.datasets import open_cases
from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.jsonl import write_records
from autoj.metrics.correlation import correlate
from autoj.metrics.result import Result, read_result, save_result
from autoj.records import Case, Response, Verdict, normalise_query
from autoj.verdicts.selection import pick

SCORES = [(1.0, 4.0, 2.0, 9.0), (3.0, 1.0, 8.0, 5.0), (6.0, 6.0, 2.0, 2.0)]
TEXTS = ("aa", "aaaa", "a", "aaaaaa")


def case(number: int, scores: tuple[float | None, ...], base_model: str | None = None) -> Case:
    query = f"Question {number}?"
    return Case(
        id=f"line-{number}" + (f"/{base_model}" if base_model else ""),
        query=query,
        cluster=normalise_query(query),
        responses=tuple(
            Response(text=text, reference_score=score)
            for text, score in zip(TEXTS, scores, strict=True)
        ),
        meta={"base_model": base_model} if base_model else {},
    )


CASES = [case(number, scores) for number, scores in enumerate(SCORES)]


def rated(*ratings: tuple[float | None, ...], judge: str = "j") -> RatedCandidates:
    return RatedCandidates(judge=judge, source="by hand", ratings=ratings)


JUDGE = rated((1, 5, 9, 2), (7, 7, 1, 8), (None, 3, 2, 1))


def values(result: Result, base_model: str | None = None) -> dict[str, float | None]:
    its = result.estimates if base_model is None else result.parts["base model"][base_model]
    return {found.name: found.value for found in its}


def test_the_pick_is_the_highest_rating_then_the_likelier_then_the_first() -> None:
    plain = [Response(text="x")] * 3
    assert pick([2.0, 5.0, 3.0], plain) == 1
    assert pick([5.0, 5.0, 3.0], plain) == 0
    likely = [Response(text="x", logprob=value) for value in (-9.0, -2.0, -1.0)]
    assert pick([5.0, 5.0, 3.0], likely) == 1
    # A log-probability that is not known decides nothing.
    assert pick([5.0, 5.0], [likely[0], plain[0]]) == 0
    assert pick([5.0, 5.0], [plain[0], likely[1]]) == 0


def test_what_could_not_be_read_is_never_picked() -> None:
    plain = [Response(text="x")] * 3
    assert pick([None, -3.0, None], plain) == 1
    assert pick([None, None, None], plain) is None
    assert pick([], []) is None


def test_the_figures_by_hand() -> None:
    (result,) = evaluate(CASES, [JUDGE], (2, 4), "by hand")
    # Of 2: the picks are 1 (4.0), 0 (3.0: equal ratings, the first), 1 (6.0); of 4: 2, 3, 1.
    assert values(result)["best of 2"] == pytest.approx((4 + 3 + 6) / 3)
    assert values(result)["best of 4"] == pytest.approx((2 + 5 + 6) / 3)
    comparison = result.details["comparisons"][1]
    assert (comparison.base_model, comparison.size) == (None, 4)
    figures = {name: found.value for name, found in comparison.figures.items()}
    assert figures == pytest.approx(
        {
            "judge": 13 / 3,
            "oracle": (9 + 8 + 6) / 3,
            "random": (16 + 17 + 16) / 12,
            "longest": (9 + 5 + 2) / 3,
            "first": (1 + 3 + 6) / 3,
        }
    )
    assert comparison.less["random"].estimate.value == pytest.approx(13 / 3 - 49 / 12)
    assert comparison.less["longest"].estimate.value == pytest.approx(-1.0)
    assert "oracle" not in comparison.less
    assert any("do not beat" in note for note in result.notes)


def test_the_trivial_judges_are_results_of_their_own() -> None:
    found = {result.judge: values(result) for result in baseline_results(CASES, (1, 2, 4))}
    assert list(found) == ["oracle", "random", "longest", "first"]
    assert found["oracle"]["best of 2"] == pytest.approx((4 + 3 + 6) / 3)
    assert found["random"]["best of 2"] == pytest.approx((2.5 + 2 + 6) / 3)
    assert found["longest"]["best of 2"] == pytest.approx((4 + 1 + 6) / 3)
    # Of one candidate there is nothing to choose.
    assert len({its["best of 1"] for its in found.values()}) == 1
    lengths = [len(text) for _ in CASES for text in TEXTS]
    scores = [score for row in SCORES for score in row]
    expected = stats.spearmanr(lengths, scores).statistic
    assert found["longest"]["spearman of all responses"] == pytest.approx(expected)
    assert "pearson" not in found["longest"]
    with_judge = {found.judge: found for found in baseline_results(CASES, (2, 4), [JUDGE])}
    union = evaluate(CASES, [JUDGE], (2, 4), "x")[0].details["n_union"]
    pearson = with_judge["longest"].estimate("pearson")
    assert pearson is not None
    assert pearson.n == union == 5


def test_correlations_are_over_the_picks_of_all_judges_for_all_n() -> None:
    other = rated((9, 1, 1, 1), (1, 1, 9, 1), (1, None, 1, 9), judge="other")
    one, two = evaluate(CASES, [JUDGE, other], (2, 4), "by hand")
    union = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (1, 3), (2, 0), (2, 1), (2, 3)]
    assert sorted(all_picks(CASES, [JUDGE, other], (2, 4))) == union
    known = [place for place in union if JUDGE.ratings[place[0]][place[1]] is not None]
    x = [JUDGE.ratings[number][index] for number, index in known]
    y = [SCORES[number][index] for number, index in known]
    pearson, spearman = one.estimate("pearson"), one.estimate("spearman")
    assert pearson is not None
    assert spearman is not None
    assert pearson.value == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman.value == pytest.approx(stats.spearmanr(x, y).statistic)
    by_query = correlate(
        "pearson",
        np.array(x),
        np.array(y),
        "pearson",
        clusters=np.array([number for number, _ in known]),
    )
    p_value = one.details["p_values"]["pearson"]
    assert p_value == pytest.approx(by_query.p_value, abs=0.02)
    assert p_value != pytest.approx(stats.pearsonr(x, y).pvalue)
    # One rating of the union is unreadable; queries, not responses, are what is resampled.
    assert (pearson.n, pearson.n_clusters, pearson.n_unscored) == (8, 3, 1)
    everything = one.estimate("pearson of all responses")
    assert everything is not None
    assert (everything.n, everything.n_unscored) == (11, 1)
    assert two.judge == "other"


def test_a_case_without_a_readable_rating_is_unscored_and_counted() -> None:
    (result,) = evaluate(
        CASES, [rated((None, None, 1, 1), (1, 2, 3, 4), (4, 3, 2, 1))], (2, 4), "by hand"
    )
    of_two = result.estimate("best of 2")
    assert of_two is not None
    assert (of_two.value, of_two.n, of_two.n_unscored) == (3.5, 2, 1)
    assert result.details["n_without_pick"] == {"2": 1, "4": 0}


def test_base_models_stand_in_rows_of_their_own_and_share_a_cluster() -> None:
    cases = [
        *(case(number, scores, "small") for number, scores in enumerate(SCORES)),
        *(case(number, tuple(reversed(SCORES[number])), "large") for number in range(3)),
    ]
    judge = rated(*JUDGE.ratings, (1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4))
    (result,) = evaluate(cases, [judge], (2, 4), "by hand")
    assert values(result, "small")["best of 4"] == pytest.approx(13 / 3)
    assert values(result, "large")["best of 4"] == pytest.approx((1 + 3 + 6) / 3)
    assert values(result)["best of 4"] == pytest.approx((13 + 10) / 6)
    overall = result.estimate("best of 4")
    assert overall is not None
    assert (overall.n, overall.n_clusters) == (6, 3)
    names = [(found.base_model, found.size) for found in result.details["comparisons"]]
    assert names == [(None, 2), (None, 4), ("small", 2), ("small", 4), ("large", 2), ("large", 4)]
    baseline = {found.judge: found for found in baseline_results(cases, (2, 4))}
    assert values(baseline["oracle"], "small")["best of 4"] == pytest.approx(23 / 3)


def test_missing_reference_scores_take_away_only_what_needs_them() -> None:
    cases = [case(0, (None, 4.0, 2.0, 9.0)), *CASES[1:]]
    (result,) = evaluate(cases, [JUDGE], (2, 4), "by hand")
    figures = result.details["comparisons"][0].figures
    assert figures["judge"].n == 3
    assert (figures["random"].n, figures["random"].n_unscored) == (2, 1)
    assert figures["first"].n_unscored == 1
    bare = [
        replace(one, responses=tuple(replace(r, reference_score=None) for r in one.responses))
        for one in CASES
    ]
    (empty,) = evaluate(bare, [JUDGE], (2,), "none")
    for estimate in empty.estimates:
        assert estimate.value is None
        assert estimate.reason
    assert empty.details["n_without_reference"] == {"2": 3}


def test_equal_ratings_have_no_correlation_and_say_why() -> None:
    (result,) = evaluate(CASES, [rated(*[(5.0,) * 4] * 3)], (2, 4), "by hand")
    assert values(result)["best of 4"] == pytest.approx(10 / 3)
    pearson = result.estimate("pearson")
    assert pearson is not None
    assert pearson.value is None
    assert pearson.reason is not None
    assert "the same everywhere" in pearson.reason


@pytest.mark.parametrize("sizes", [[], [0], [-1, 2]])
def test_sizes_that_make_no_sense_are_refused(sizes: list[int]) -> None:
    with pytest.raises(ConfigError, match="each at least 1"):
        check_sizes(CASES, sizes)


def test_more_candidates_than_there_are_names_the_case_and_what_is_possible() -> None:
    short = replace(CASES[1], responses=CASES[1].responses[:3])
    with pytest.raises(ConfigError, match=r"best of 4 .*'line-1' has 3\n.*--n 3"):
        check_sizes([CASES[0], short], [4])
    assert check_sizes(CASES, [4, 2, 4]) == (2, 4)


def test_published_ratings_stand_in_the_file() -> None:
    ratings = {"autoj": [6.0, 0.0, 5.0, 7.0], "scalar": [0.0, -1, 2, 3]}
    cases = [replace(CASES[0], meta={"scores": ratings})]
    assert published_names(cases) == ("autoj", "scalar")
    found = published_ratings(cases, "autoj", Path("file"))
    # 0.0 is what the release writes for a judgment without a rating; a scalar's 0.0 is a score.
    assert list(found.ratings) == [(6.0, None, 5.0, 7.0)]
    assert found.n_unreadable == 1
    assert list(published_ratings(cases, "scalar", Path("file")).ratings) == [(0.0, -1, 2, 3)]
    with pytest.raises(UnknownComponent, match="Did you mean autoj"):
        published_ratings(cases, "auto", Path("file"))
    with pytest.raises(ConfigError, match="has no ratings of its responses"):
        published_ratings([*cases, CASES[1]], "autoj", Path("file"))


def test_ratings_come_from_a_run_of_this_set_alone() -> None:
    verdicts = [
        Verdict(case_id=one.id, judge="j", ratings=ratings)
        for one, ratings in zip(CASES, JUDGE.ratings, strict=True)
    ]
    verdicts[0] = replace(verdicts[0], ratings=(), n_failed=4)
    judged = list(zip(CASES, verdicts, strict=True))
    found = ratings_of_run(CASES, judged, "j", Path("run"))
    assert list(found.ratings) == [(None,) * 4, *JUDGE.ratings[1:]]
    assert found.n_failed == 4
    with pytest.raises(DataError, match=r"run: is not a run of this set: .*'line-2'"):
        ratings_of_run(CASES, judged[:2], "j", Path("run"))
    pair = replace(verdicts[1], ratings=(), winners=("a", "b"))
    with pytest.raises(ConfigError, match="compared pairs"):
        ratings_of_run(CASES, [judged[0], (CASES[1], pair), judged[2]], "j", Path("run"))


def test_picks_are_graded_once_each_and_their_grades_are_the_reference(tmp_path: Path) -> None:
    data = Cases(format="x", paths=(tmp_path / "x.jsonl",), read=lambda: iter(()))
    picks = [(1, 0), (0, 2), (1, 0), (2, 1)]
    graded = picked_cases(data, CASES, picks)
    its = [row.case for row in graded.read()]
    assert [one.id for one in its if isinstance(one, Case)] == ["line-0/3", "line-1/1", "line-2/2"]
    for one in its:
        assert isinstance(one, Case)
        # The grader must not find the reference score, nor anything else, in the case.
        assert [response.reference_score for response in one.responses] == [None]
        assert one.meta == {}
    other = picked_cases(data, CASES, picks[:2])
    assert graded.derivation != other.derivation
    grades = rated((8.0,), (None,), (2.0,))
    cases = graded_cases(CASES, grades, graded)
    scores = [[response.reference_score for response in one.responses] for one in cases]
    assert scores == [[None, None, 8.0, None], [None] * 4, [None, 2.0, None, None]]
    (result,) = evaluate(cases, [rated((1, 2, 3, 0), (9, 1, 1, 1), (1, 9, 1, 1))], (4,), "graded")
    assert values(result)["best of 4"] == 5.0
    assert result.details["n_without_reference"] == {"4": 1}
    assert "pearson of all responses" not in values(result)
    # What would need every candidate's grade has none, and says so.
    random = result.details["comparisons"][0].figures["random"]
    assert random.value is None
    assert random.reason == "no case has all the reference scores that this needs"


def test_the_picks_of_trivial_judges_are_the_longest_and_the_first() -> None:
    assert baseline_picks(CASES, (2, 4)) == {(n, i) for n in range(3) for i in (0, 1, 3)}


def test_a_result_can_be_kept(tmp_path: Path) -> None:
    (result,) = evaluate(CASES, [JUDGE], (2, 4), "by hand")
    save_result(tmp_path / "eval-r.json", result)
    again = read_result(tmp_path / "eval-r.json")
    assert again.estimates == result.estimates
    assert again.details["comparisons"][0]["figures"]["oracle"]["name"] == "best of 2"


def test_native_rows_with_base_models_and_log_probabilities_will_do(tmp_path: Path) -> None:
    row = {
        "query": "q",
        "responses": [
            {"text": "x", "logprob": -5.0, "reference_score": 1.0},
            {"text": "y", "logprob": -1.0, "reference_score": 2.0},
        ],
        "meta": {"base_model": "m", "scores": {"j": [3, 3]}},
    }
    write_records(tmp_path / "rows.jsonl", [row])
    cases = [found.case for found in open_cases(tmp_path / "rows.jsonl").read()]
    assert isinstance(cases[0], Case)
    judge = published_ratings([cases[0]], "j", tmp_path)
    (result,) = evaluate([cases[0]], [judge], (2,), "x")
    assert values(result, "m")["best of 2"] == 2.0


def test_the_reference_figures_of_the_real_set(data_folder: Path) -> None:
    path = data_folder / "best_of_n" / "alpaca_eval_bo32.jsonl.gz"
    cases = [row.case for row in open_cases(path).read() if isinstance(row.case, Case)]
    found = {
        result.judge: result.estimate("best of 32") for result in baseline_results(cases, (32,))
    }
    shown = {
        name: f"{estimate.value:.3f}"
        for name, estimate in found.items()
        if estimate is not None and estimate.value is not None
    }
    assert shown == {"oracle": "0.869", "random": "0.130", "longest": "0.396", "first": "0.123"}
