"""Scenario classifiers against people: each figure by hand, and what the real files hold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from autoj.bench.scenario_classifier import measure
from autoj.bench.scenario_classifier.comparison import compare_all
from autoj.bench.scenario_classifier.confusion import UNREADABLE
from autoj.bench.scenario_classifier.evaluate import check_labels, dropped_names, evaluate
from autoj.bench.scenario_classifier.guesses import (
    Classified,
    Guess,
    classify,
    classify_by_baseline,
    guesses_of_run,
)
from autoj.bench.scenario_classifier.measure import measure_on_unseen
from autoj.bench.scenario_classifier.published import PUBLISHED, published_on
from autoj.bench.scenario_classifier.query_set import QuerySet, read_set, without_seen
from autoj.datasets import open_queries
from autoj.errors import ConfigError, DataError, NoRows
from autoj.jsonl import write_records
from autoj.metrics.result import Result
from autoj.records import Case, Estimate, Verdict
from autoj.scenarios import scenario_names
from autoj.scenarios.seeds import query_digest

from .scenario_sets import ROWS, FirstWord, query_set, write_set


def silent(n_done: int, n_total: int) -> None:
    """Progress that nobody watches."""


@pytest.fixture
def found(tmp_path: Path) -> QuerySet:
    return query_set(tmp_path / "queries.jsonl")


def of_first_word(found: QuerySet, **settings: object) -> Classified:
    return classify(FirstWord(**settings), found.cases, silent)  # type: ignore[arg-type]


def estimates(result: Result, rows: str = "all") -> dict[str, Estimate]:
    return {each.name: each for each in result.parts["rows"][rows]}


def test_early_names_are_those_of_the_taxonomy_on_both_sides(found: QuerySet) -> None:
    classified = of_first_word(found)
    assert found.cases[6].scenario == "others"
    assert classified.guesses[6].ranked == ("others", "explaining_code", "chitchat")
    assert classified.labels == {"planning", "code_generation", "creative_writing", "others"}


def test_two_spellings_of_a_scenario_are_one_guess(found: QuerySet) -> None:
    classified = of_first_word(found, rest="explaining_code")
    assert classified.guesses[6].ranked == ("explaining_code", "chitchat")


def test_queries_are_classified_in_batches_with_progress(tmp_path: Path) -> None:
    many = query_set(tmp_path / "many.jsonl", ROWS * 20)
    classifier, seen = FirstWord(), []
    classified = classify(classifier, many.cases, lambda *done: seen.append(done))
    assert (len(classified.guesses), sum(classifier.batches)) == (160, 160)
    assert max(classifier.batches) < 160
    assert seen[0] == (0, 160)
    assert seen[-1] == (160, 160)


def test_the_figures_by_hand(found: QuerySet) -> None:
    result = evaluate(found, of_first_word(found))
    all_rows = estimates(result)
    # Six of eight are right: explaining_code and rejecting are taken for others.
    assert (all_rows["accuracy"].value, all_rows["accuracy"].n) == (0.75, 8)
    assert all_rows["accuracy"].n_clusters == 7
    # planning, code_generation, creative_writing 1; others 2 * 1 / (1 + 3); two scenarios 0.
    assert all_rows["macro F1"].value == pytest.approx(3.5 / 6)
    assert all_rows["weighted F1"].value == pytest.approx((3 + 1 + 1 + 0.5) / 8)
    # explaining_code is the second guess everywhere.
    assert all_rows["top-3 accuracy"].value == 7 / 8
    assert all_rows["mean confidence"].value == pytest.approx((5 * 0.9 + 3 * 0.4) / 8)
    # Sure of 0.9 and always right; of 0.4 and right in one of three.
    gaps = 5 * 0.1 + 3 * (0.4 - 1 / 3)
    assert all_rows["expected calibration error"].value == pytest.approx(gaps / 8)
    assert [each.n for each in result.details["reliability"]] == [3, 5]


def test_dropped_scenarios_count_as_wrong_and_are_left_out_beside(found: QuerySet) -> None:
    classified = of_first_word(found)
    dropped = dropped_names(found, [classified])
    assert dropped == ("explaining_code", "rejecting")
    result = evaluate(found, classified, dropped)
    without = estimates(result, "without explaining_code, rejecting")
    assert (without["accuracy"].value, without["accuracy"].n) == (1.0, 6)
    assert without["macro F1"].value == 1.0
    assert estimates(result)["accuracy"].value == 0.75
    assert "2 rows have a scenario that it does not know" in result.notes[0]


def test_names_that_the_paper_dropped_are_shown_apart_for_whoever_knows_them(
    found: QuerySet,
) -> None:
    rude = {"Be": "rejecting", "Explain": "explaining_code", "Plan": "planning",
            "Code": "code_generation", "Poem": "creative_writing"}  # fmt: skip
    classified = of_first_word(found, words=rude)
    dropped = dropped_names(found, [classified])
    result = evaluate(found, classified, dropped)
    assert dropped == ("rejecting",)
    assert estimates(result)["accuracy"].value == 1.0
    assert result.notes == ()


def test_groups_and_scenarios(found: QuerySet) -> None:
    result = evaluate(found, of_first_word(found))
    right = {name: its[0].value for name, its in result.parts["group"].items()}
    assert right == {
        "Code": 0.5,
        "Creative Writing": 1.0,
        "General Communication": 1.0,
        "NLP Tasks": 1.0,
        "(not in the taxonomy)": 0.0,
    }
    assert list(right)[-1] == "(not in the taxonomy)"
    f1 = {name: its[1].value for name, its in result.parts["scenario"].items()}
    assert (f1["planning"], f1["others"], f1["rejecting"]) == (1.0, 0.5, 0.0)
    assert [name for name in scenario_names() if name in f1] == list(f1)[:-1]


def test_what_is_taken_for_what(found: QuerySet) -> None:
    details = evaluate(found, of_first_word(found)).details
    confusion = details["confusion"]
    assert confusion.guesses == ("Code", "Creative Writing", "General Communication", "NLP Tasks")
    assert confusion.counts[0] == (1, 0, 0, 1)
    assert confusion.labels[-1] == "(not in the taxonomy)"
    assert confusion.counts[-1] == (0, 0, 0, 1)
    assert [(one.label, one.guess, one.n) for one in details["confused"]] == [
        ("explaining_code", "others", 1),
        ("rejecting", "others", 1),
    ]
    assert {one.scenario: one.can_be_named for one in details["missed"]} == {
        "explaining_code": False,
        "rejecting": False,
    }


def test_the_worst_is_what_is_surely_bad_and_not_what_is_rare(tmp_path: Path) -> None:
    rows = [("Plan", "planning")] * 2 + [("Hm?", "planning")] * 10 + [("Hm?", "ranking")]
    many = [(f"{query} {number}", name) for number, (query, name) in enumerate(rows)]
    found = query_set(tmp_path / "many.jsonl", many)
    missed = evaluate(found, of_first_word(found)).details["missed"]
    assert [one.scenario for one in missed] == ["planning", "ranking"]
    assert (missed[0].right.value, missed[1].right.value) == (pytest.approx(1 / 6), 0.0)


def test_a_judges_run_names_one_scenario_and_may_not_be_readable(found: QuerySet) -> None:
    verdicts = [
        Verdict(case_id=case.id, judge="j", scenario=case.scenario) for case in found.cases[:5]
    ]
    verdicts += [Verdict(case_id="x", judge="j", n_unreadable=1)] * 2
    verdicts += [Verdict(case_id="y", judge="j", n_failed=1)]
    result = evaluate(found, guesses_of_run("j", "run here", verdicts))
    all_rows = estimates(result)
    # Unreadable is wrong and is counted apart; what failed is no answer at all.
    accuracy = all_rows["accuracy"]
    assert (accuracy.value, accuracy.n, accuracy.n_unscored) == (5 / 7, 7, 1)
    assert accuracy.bounds == (5 / 8, 6 / 8)
    assert (result.details["n_unreadable"], result.details["n_failed"]) == (2, 1)
    assert result.details["confusion"].guesses[-1] == UNREADABLE
    assert all_rows["top-3 accuracy"].reason == "not applicable: it names only one scenario"
    assert all_rows["mean confidence"].reason == "not applicable: it gives no probabilities"
    assert {one.guess for one in result.details["confused"]} == {None}


def test_a_run_in_which_all_failed_has_no_figures(found: QuerySet) -> None:
    verdicts = [Verdict(case_id=case.id, judge="j", n_failed=1) for case in found.cases]
    result = evaluate(found, guesses_of_run("j", "run here", verdicts))
    assert {each.value for each in result.estimates} == {None}
    assert result.estimates[0].reason == "no case could be scored"


def test_trivial_classifiers_read_nothing(found: QuerySet) -> None:
    majority = classify_by_baseline("majority", found.cases)
    assert {guess.scenario for guess in majority.guesses} == {"planning"}
    assert estimates(evaluate(found, majority))["accuracy"].value == 3 / 8
    assert majority.guesses[0].probability == 3 / 8
    drawn = classify_by_baseline("random", found.cases)
    assert drawn.guesses[1] == drawn.guesses[2]
    assert len(set(drawn.guesses)) > 3
    assert all(set(guess.ranked) <= drawn.labels for guess in drawn.guesses)


def test_chance_is_one_in_the_number_of_scenarios(tmp_path: Path) -> None:
    rows = [(f"Query {number}", scenario_names()[number % 10]) for number in range(3000)]
    found = query_set(tmp_path / "many.jsonl", rows)
    result = evaluate(found, classify_by_baseline("random", found.cases))
    assert result.estimates[0].value == pytest.approx(0.1, abs=0.02)
    assert estimates(result)["top-3 accuracy"].value == pytest.approx(0.3, abs=0.03)


def test_two_classifiers_are_compared_row_by_row(found: QuerySet) -> None:
    good, poor = of_first_word(found), of_first_word(found, name="poor", words={"Plan": "planning"})
    comparisons = compare_all(found, [good, poor], ("rejecting",))
    assert [(one.classifier, one.other, one.rows) for one in comparisons] == [
        ("fast", "poor", "all"),
        ("fast", "poor", "without rejecting"),
    ]
    by_name = {one.estimate.name: one.estimate for one in comparisons[0].differences}
    ours, theirs = (estimates(evaluate(found, each)) for each in (good, poor))
    assert set(by_name) == {"accuracy", "macro F1", "weighted F1", "top-3 accuracy"}
    for name, difference in by_name.items():
        assert difference.value == pytest.approx(ours[name].value - theirs[name].value)
    assert comparisons[1].differences[0].estimate.n == 7


def test_a_comparison_leaves_out_what_failed_for_either(found: QuerySet) -> None:
    good = of_first_word(found)
    failed = Guess(failed=True)
    broken = Classified(
        classifier="broken",
        source="here",
        labels=good.labels,
        guesses=[*good.guesses[:6], failed, failed],
    )
    (comparison,) = compare_all(found, [good, broken])
    accuracy = comparison.differences[0].estimate
    assert (accuracy.value, accuracy.n, accuracy.n_unscored) == (0.0, 6, 2)


def test_rows_whose_query_stands_in_training_data_are_left_out_or_counted(found: QuerySet) -> None:
    queries = {"a": ["PLAN a party", "Why?"], "b": ["Hello there"], "c": []}
    training = {name: set(map(query_digest, its)) for name, its in queries.items()}
    left = without_seen(found, training)
    assert [(seen.name, seen.n_rows) for seen in left.seen] == [("a", 2), ("b", 1), ("c", 0)]
    assert (len(left.cases), left.n_rows, left.n_left_out) == (5, 8, 3)
    assert [case.id for _, case in left.data.read() if isinstance(case, Case)] == [
        case.id for case in left.cases
    ]
    # A run of the rest must not go on in a run of the whole.
    assert left.data.derivation is not None
    kept = without_seen(found, training, keep=True)
    assert (len(kept.cases), kept.seen, kept.data.derivation) == (8, left.seen, None)
    with pytest.raises(DataError, match="no row left"):
        without_seen(found, {"all": {query_digest(case.query) for case in found.cases}})


def test_a_file_without_scenarios_says_where(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    write_records(path, [{"query": "Why?", "scenario": "planning"}, {"query": "How?"}])
    with pytest.raises(DataError, match=r"queries\.jsonl:2:scenario: names no scenario"):
        read_set(open_queries(path), "queries")
    # A file of cases to judge will do, as long as it names scenarios.
    write_records(path, [{"query": "Why?", "scenario": "planning", "response": "So."}])
    assert len(read_set(open_queries(path), "queries").cases) == 1


def test_a_classifier_of_other_scenarios_is_refused(tmp_path: Path, found: QuerySet) -> None:
    own = query_set(tmp_path / "own.jsonl", [("Where is my parcel?", "delivery")])
    with pytest.raises(ConfigError, match="knows none of the scenarios of own") as raised:
        check_labels(own, of_first_word(own))
    assert "the rows have delivery" in str(raised.value)
    check_labels(found, of_first_word(found))


def test_scenarios_of_ones_own_are_measured_like_ours(tmp_path: Path) -> None:
    own = query_set(tmp_path / "own.jsonl", [("Parcel?", "delivery"), ("Bill?", "billing")])
    words = {"Parcel?": "delivery", "Bill?": "billing"}
    classified = of_first_word(own, words=words)
    result = evaluate(own, classified, dropped_names(own, [classified]))
    assert (result.estimates[0].value, list(result.parts["rows"])) == (1.0, ["all"])
    assert list(result.parts["scenario"]) == ["billing", "delivery"]


def test_the_published_accuracies_are_shares_of_the_623_rows() -> None:
    for row, n_right in zip(PUBLISHED, (452, 368, 249), strict=True):
        assert f"{100 * n_right / 623:.2f}" == row.accuracy


def test_the_release_s_test_file_holds_what_the_paper_says(
    data_folder: Path, found: QuerySet
) -> None:
    path = data_folder / "autoj" / "scenario_classifier" / "testdata.jsonl"
    test = read_set(open_queries(path), path.name)
    counts = Counter(str(case.scenario) for case in test.cases)
    # Table 7.
    assert (len(test.cases), len(counts)) == (623, 59)
    assert (counts["others"], counts["rejecting"], counts["peer_review"]) == (79, 12, 2)
    assert set(scenario_names()) - set(counts) == {"post_summarization"}
    assert dropped_names(test, []) == ("peer_review", "rejecting")
    assert published_on(test) == PUBLISHED
    assert published_on(found) == ()


def test_354_rows_of_eval_p_have_their_query_in_the_release_s_training_file(
    data_folder: Path,
) -> None:
    path = data_folder / "autoj" / "testdata_pairwise.jsonl"
    whole = read_set(open_queries(path), path.name)
    rows = open_queries(data_folder / "autoj" / "scenario_classifier" / "traindata.jsonl").read()
    training = {"train": {query_digest(case.query) for _, case in rows if isinstance(case, Case)}}
    left = without_seen(whole, training)
    assert (left.n_rows, left.n_left_out, left.seen[0].n_rows) == (1392, 354, 354)


def test_an_empty_unseen_part_is_left_out_and_a_damaged_one_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "load_classifier", FirstWord)
    whole, part = write_set(tmp_path / "whole.jsonl"), tmp_path / "part.jsonl"
    part.write_text("")
    assert len(measure_on_unseen(["fast"], whole, part)) == 1
    part.write_text('{"query": 3}\n')
    with pytest.raises(DataError, match=r"part\.jsonl") as found:
        measure_on_unseen(["fast"], whole, part)
    assert not isinstance(found.value, NoRows)
