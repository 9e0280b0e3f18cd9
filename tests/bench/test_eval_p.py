"""Eval-P by hand, from published predictions, and by scorers with a tie band."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.bench.base import align
from autoj.bench.eval_p.evaluate import (
    baseline_results,
    evaluate,
    figures,
    fit_tie_band,
    read_unseen,
)
from autoj.bench.predictions import read_predictions, read_scores
from autoj.errors import DataError
from autoj.jsonl import write_records
from autoj.metrics.result import Result, read_result, save_result
from autoj.records import Case, Response, Verdict, Winner, normalise_query
from autoj.verdicts.resolve import settle


def case(number: int, label: Winner | None = "a", scenario: str = "planning") -> Case:
    query = f"Question {number}?"
    return Case(
        id=f"line-{number}",
        query=query,
        responses=(Response(text="A longer answer."), Response(text="Short.")),
        cluster=normalise_query(query),
        label=label,
        scenario=scenario,
    )


def verdict(number: int, *winners: Winner | None) -> Verdict:
    return settle(Verdict(case_id=f"line-{number}", judge="j", winners=winners))


def rated(number: int, first: float | None, second: float | None) -> Verdict:
    return Verdict(case_id=f"line-{number}", judge="j", ratings=(first, second))


def values(result: Result, part: str | None = None) -> dict[str, float | None]:
    estimates = result.estimates if part is None else result.parts["seen and unseen"][part]
    return {found.name: found.value for found in estimates}


CASES = [
    case(1, "a"),
    case(2, "b", "ranking"),
    case(3, "tie", "ranking"),
    case(4, "a", "chitchat"),
]
VERDICTS = [
    verdict(1, "a", "a"),
    verdict(2, "b", "a"),
    verdict(3, "tie", "tie"),
    verdict(4, None, "a"),
]


def test_the_four_figures_are_kept_apart() -> None:
    result = evaluate(CASES, VERDICTS, judge="j", source="by hand")
    found = values(result)
    assert found["accuracy"] == 1.0  # of three: one could not be read
    assert found["agreement"] == 2 / 3
    assert found["consistency"] == 2 / 3
    assert found["averaged accuracy"] is None
    assert found["accuracy, decided"] == 1.0
    assert "no probabilities" in str(result.estimate("averaged accuracy").reason)  # type: ignore[union-attr]
    assert result.estimate("agreement").bounds == (0.5, 0.75)  # type: ignore[union-attr]


def test_parts_come_in_the_order_of_the_taxonomy() -> None:
    result = evaluate(CASES, VERDICTS, judge="j", source="by hand")
    assert list(result.parts["scenario"]) == ["chitchat", "planning", "ranking"]
    assert list(result.parts["group"]) == ["General Communication", "NLP Tasks"]
    assert "subset" not in result.parts


def test_one_order_has_no_agreement_and_says_why() -> None:
    result = evaluate(CASES, [verdict(n, "a") for n in range(1, 5)], judge="j", source="-")
    agreement = result.estimate("agreement")
    assert agreement is not None
    assert (agreement.value, agreement.reason) == (
        None,
        "not applicable: only one order was judged",
    )
    assert values(result)["accuracy"] == 0.5


def test_scorers_have_one_accuracy_and_no_orders() -> None:
    verdicts = [rated(1, 3, 1), rated(2, 1, 2), rated(3, 2, 2), rated(4, 5, 5.5)]
    result = evaluate(CASES, verdicts, judge="rm", source="-")
    assert values(result)["averaged accuracy"] == 0.75
    assert "rated alone" in str(result.estimate("consistency").reason)  # type: ignore[union-attr]
    assert values(result)["kappa"] is not None
    assert "equal ratings are a tie" in result.notes[0]


def test_a_tie_band_is_the_narrowest_of_the_best_and_says_where_it_was_chosen() -> None:
    verdicts = [rated(1, 3, 1), rated(2, 1, 2), rated(3, 2, 2.3), rated(4, 5, 4.6)]
    band = fit_tie_band(CASES, verdicts, "validation.jsonl")
    # 0.3 makes the third a tie and leaves the fourth decided.
    assert band.width == 0.3
    result = evaluate(CASES, verdicts, judge="rm", source="-", tie_band=band)
    assert values(result)["averaged accuracy"] == 1.0
    assert "0.30" in result.notes[0]
    assert "validation.jsonl" in result.notes[0]


def test_a_tie_band_ignores_what_could_not_be_read() -> None:
    band = fit_tie_band([case(1), case(2)], [rated(1, None, 2), rated(2, 3, 1)], "v")
    assert band.width == 0.0


def test_seen_and_unseen_scenarios_add_up_to_the_complete_set(tmp_path: Path) -> None:
    listed = tmp_path / "unseen.txt"
    listed.write_text("NLP Tasks\n\nplanning\n")
    unseen = read_unseen(listed)
    assert {"ranking", "planning"} <= unseen
    result = evaluate(CASES, VERDICTS, judge="j", source="-", unseen=unseen)
    parts = result.parts["seen and unseen"]
    n = {part: max(e.n + e.n_unscored for e in found) for part, found in parts.items()}
    assert n == {"seen": 1, "unseen": 3, "complete": 4}
    assert values(result, "complete") == values(result)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no scenario"),
        ("planing", "planing"),
        ('["planning"', "is not JSON"),
        ("[" * 9999, "is not JSON"),
    ],
)
def test_a_file_of_unseen_scenarios_is_checked(tmp_path: Path, text: str, message: str) -> None:
    listed = tmp_path / "unseen.txt"
    listed.write_text(text)
    with pytest.raises(DataError, match=message):
        read_unseen(listed)


def test_trivial_judges_are_what_their_names_say() -> None:
    found = {result.judge: values(result) for result in baseline_results(CASES)}
    assert found["longest"]["accuracy"] == found["longest"]["agreement"] == 0.5
    assert found["first"]["consistency"] == 0.0
    assert found["first"]["averaged accuracy"] == 0.25  # both orders cancel to a tie
    assert found["majority"]["accuracy"] == 0.5
    assert set(found) == {"longest", "first", "random", "majority"}


def test_no_case_and_no_reading_give_reasons_and_no_numbers() -> None:
    unread = [verdict(n, None, None) for n in range(1, 5)]
    for rows in ([], None):
        result = evaluate(CASES, unread, judge="j", source="-") if rows is None else None
        estimates = figures([]) if result is None else result.estimates
        assert all(found.value is None for found in estimates)
        assert all(found.reason for found in estimates)


def test_one_class_alone_gives_no_kappa_and_no_error() -> None:
    cases = [case(n) for n in range(1, 6)]
    found = values(
        evaluate(cases, [verdict(n, "a", "a") for n in range(1, 6)], judge="j", source="-")
    )
    assert found["kappa"] is None
    assert found["accuracy"] == 1.0


def test_a_result_survives_its_file(tmp_path: Path) -> None:
    result = evaluate(CASES, VERDICTS, judge="j", source="by hand")
    save_result(tmp_path / "r.json", result)
    assert read_result(tmp_path / "r.json") == result
    (tmp_path / "bad.json").write_text('{"bench": 3}')
    with pytest.raises(DataError, match=r"bad\.json: is not a meta-evaluation's result"):
        read_result(tmp_path / "bad.json")
    place = tmp_path / "nowhere" / "r.json"
    with pytest.raises(DataError) as caught:
        save_result(place, result)
    assert str(caught.value).startswith(f"{place}: cannot be written: ")


def test_a_run_of_other_cases_is_refused_with_what_is_missing_and_extra(tmp_path: Path) -> None:
    judged = [(case(n), verdict(n, "a", "a")) for n in (1, 2, 9)]
    with pytest.raises(DataError) as caught:
        align([case(1), case(2), case(3)], judged, tmp_path)
    assert "1 of the set's cases are not judged in it ('line-3')" in str(caught.value)
    assert "1 of its cases are not in the set ('line-9')" in str(caught.value)


def test_a_run_of_other_texts_under_the_same_ids_is_refused(tmp_path: Path) -> None:
    other = Case(id="line-1", query="Else?", responses=case(1).responses, cluster="else", label="a")
    with pytest.raises(DataError, match="other texts than in the set"):
        align([case(1)], [(other, verdict(1, "a", "a"))], tmp_path)


def predictions(path: Path, *labels: object) -> Path:
    write_records(path, [{"output": label} for label in labels])
    return path


def test_swapped_predictions_are_in_the_pages_frame(tmp_path: Path) -> None:
    own = predictions(tmp_path / "own.jsonl", 0, 1, 2, -1)
    swapped = predictions(tmp_path / "swapped.jsonl", 1, 1, 2, None)
    found = read_predictions(own, CASES, swapped)
    assert [item.winners for item in found] == [
        ("a", "a"),
        ("b", "a"),
        ("tie", "tie"),
        (None, None),
    ]
    assert [item.consistent for item in found] == [True, False, True, None]
    assert found[3].n_unreadable == 2


@pytest.mark.parametrize(
    ("labels", "where"),
    [
        ((0, 1, 2), "own.jsonl: has 3 rows, but the set has 4 cases"),
        ((0, 1, 2, 3), "own.jsonl:4:output: expected 0 (first), 1 (second), 2 (tie)"),
        ((0, "a", 2, 1), "own.jsonl:2:output: expected 0 (first), 1 (second), 2 (tie)"),
        ((0, True, 2, 1), "own.jsonl:2:output"),
        ((0, 1.0, 2, 1), "own.jsonl:2:output"),
    ],
)
def test_bad_predictions_name_file_line_and_menu(
    tmp_path: Path, labels: tuple[object, ...], where: str
) -> None:
    own = predictions(tmp_path / "own.jsonl", *labels)
    with pytest.raises(DataError) as caught:
        read_predictions(own, CASES)
    assert where in str(caught.value)


def test_a_row_without_the_field_says_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    write_records(path, [{"pred": 0}])
    with pytest.raises(DataError, match=r"own.jsonl:1:output: is missing; the row has 'pred'"):
        read_predictions(path, CASES[:1])


@pytest.mark.parametrize(
    "scores", [[1.0], "x", [1.0, "2"], [True, 1.0], [1e101, 0], [0, -1e300]], ids=str
)
def test_bad_scores_name_file_and_line(tmp_path: Path, scores: object) -> None:
    path = tmp_path / "scores.jsonl"
    write_records(path, [{"scores": scores}])
    with pytest.raises(DataError, match=r"scores.jsonl:1:scores: expected two numbers"):
        read_scores(path, CASES[:1])


def test_scores_are_kept_with_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    write_records(path, [{"scores": [1, -0.5]}, {"scores": [None, 2.0]}])
    found = read_scores(path, CASES[:2])
    assert [item.ratings for item in found] == [(1.0, -0.5), (None, 2.0)]
    assert found[1].n_unreadable == 1


PUBLISHED_GROUPS = {
    "Summarization": (45.83, 73.61),
    "Exam Questions": (38.89, 69.44),
    "Code": (47.50, 75.83),
    "Rewriting": (49.17, 74.17),
    "Creative Writing": (59.72, 87.04),
    "Functional Writing": (61.67, 81.67),
    "General Communication": (55.21, 92.36),
    "NLP Tasks": (57.58, 86.36),
}


@pytest.fixture(scope="module")
def published(data_folder: Path, eval_p_cases: list[Case]) -> Result:
    outputs = data_folder / "autoj" / "outputs"
    verdicts = read_predictions(
        outputs / "pairwise_example_output.jsonl",
        eval_p_cases,
        outputs / "pairwise_exchange_example_output.jsonl",
    )
    return evaluate(eval_p_cases, verdicts, judge="Auto-J", source="published labels")


def percent(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 2)


def test_the_published_labels_give_the_published_figures(published: Result) -> None:
    found = values(published)
    assert percent(found["accuracy"]) == 59.99
    assert percent(found["agreement"]) == 54.96
    assert percent(found["consistency"]) == 83.41


def test_the_published_labels_give_the_published_figures_by_group(published: Result) -> None:
    found = {
        group: {estimate.name: percent(estimate.value) for estimate in estimates}
        for group, estimates in published.parts["group"].items()
    }
    assert list(found) == list(PUBLISHED_GROUPS)
    assert {
        group: (its["agreement"], its["consistency"]) for group, its in found.items()
    } == PUBLISHED_GROUPS


def test_eval_p_repeats_queries(published: Result) -> None:
    agreement = published.estimate("agreement")
    assert agreement is not None
    # 1,182 distinct strings; five of them differ from another in case, spaces or signs alone.
    assert (agreement.n, agreement.n_clusters) == (1392, 1177)


def test_longest_on_eval_p_is_right_in_seven_of_ten_decided_pairs(
    eval_p_cases: list[Case],
) -> None:
    longest = next(found for found in baseline_results(eval_p_cases) if found.judge == "longest")
    assert percent(values(longest)["accuracy"]) == 53.02
    assert percent(values(longest)["accuracy, decided"]) == 71.44
