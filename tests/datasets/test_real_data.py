"""The real data sets are read whole, where they lie on this machine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.datasets.overlap import find_overlap
from autoj.records import Case
from autoj.scenarios import scenario_names

# The file, its format, its rows, the responses of each.
FILES = [
    ("autoj/testdata_pairwise.jsonl", "autoj-pairwise", 1392, 2),
    ("autoj/zh_testdata_pairwise.jsonl", "autoj-pairwise", 1392, 2),
    ("autoj/testdata_critique.jsonl", "autoj-critique", 232, 1),
    ("autoj/zh_testdata_critique.jsonl", "autoj-critique", 232, 1),
    ("autoj/single_traindata.jsonl", "autoj-training", 960, 1),
    ("autoj/zh_single_traindata.jsonl", "autoj-training", 960, 1),
    ("autoj/single_independent/noscenario.jsonl", "autoj-independent", 960, 1),
    ("autoj/single_independent/usescenario.jsonl", "autoj-independent", 960, 1),
    ("meta_eval/llmbar.jsonl", "native", 419, 2),
    ("meta_eval/hhh.jsonl", "native", 221, 2),
    ("meta_eval/evalbiasbench.jsonl", "native", 80, 2),
    ("meta_eval/rmbench.jsonl.gz", "native", 3990, 2),
    ("best_of_n/alpaca_eval_bo32.jsonl.gz", "native", 105, 32),
    ("train/arena55k.validation.jsonl.gz", "native", 2032, 2),
    ("system_level/alpaca_eval/vicuna-7b.jsonl.gz", "alpaca-eval-outputs", 805, 1),
    ("autoj/scenario_classifier/traindata.jsonl", "autoj-scenarios", 2383, 0),
    ("autoj/scenario_classifier/testdata.jsonl", "autoj-scenarios", 623, 0),
]


def cases_of(path: Path) -> list[Case]:
    if not path.exists():
        pytest.skip(f"{path.name} is not in the data folder")
    found = [row.case for row in open_cases(path).read()]
    cases = [case for case in found if isinstance(case, Case)]
    assert len(cases) == len(found)
    return cases


@pytest.mark.parametrize(("file", "name", "n_rows", "n_responses"), FILES)
def test_every_row_is_read(
    data_folder: Path, file: str, name: str, n_rows: int, n_responses: int
) -> None:
    cases = cases_of(data_folder / file)
    assert open_cases(data_folder / file).format == name
    assert len(cases) == n_rows
    assert {len(case.responses) for case in cases} == {n_responses}
    assert len({case.id for case in cases}) == n_rows


@pytest.mark.parametrize("file", ["testdata_pairwise.jsonl", "zh_testdata_pairwise.jsonl"])
def test_the_labels_and_scenarios_of_eval_p_are_all_there(data_folder: Path, file: str) -> None:
    cases = cases_of(data_folder / "autoj" / file)
    assert Counter(case.label for case in cases) == {"a": 520, "b": 499, "tie": 373}
    assert Counter(case.scenario for case in cases) == dict.fromkeys(scenario_names(), 24)


def test_eval_p_repeats_queries_and_has_an_empty_response(data_folder: Path) -> None:
    cases = cases_of(data_folder / "autoj" / "testdata_pairwise.jsonl")
    assert len({case.query for case in cases}) == 1182
    empty = [case.id for case in cases if not all(item.text for item in case.responses)]
    assert len(empty) == 1


def test_labels_of_the_training_data_are_ratings(data_folder: Path) -> None:
    cases = cases_of(data_folder / "autoj" / "single_traindata.jsonl")
    assert all(isinstance(case.label, float) and 1 <= case.label <= 10 for case in cases)
    assert all(len(case.critiques) == 1 for case in cases)


def test_reference_scores_run_along_the_responses(data_folder: Path) -> None:
    cases = cases_of(data_folder / "best_of_n" / "alpaca_eval_bo32.jsonl.gz")
    scores = [[item.reference_score for item in case.responses] for case in cases]
    known = [[score for score in row if score is not None] for row in scores]
    assert all(len(row) == 32 for row in known)
    assert sum(map(max, known)) / len(known) == pytest.approx(0.869, abs=0.0005)


def test_all_models_of_the_system_level_set_answer_the_same_queries(data_folder: Path) -> None:
    folder = data_folder / "system_level" / "alpaca_eval"
    paths = sorted(folder.glob("*.jsonl.gz"))
    if not paths:
        pytest.skip("the outputs of AlpacaEval are not in the data folder")
    assert len(paths) == 53
    queries = {}
    for path in paths[:5]:
        cases = cases_of(path)
        assert {case.responses[0].model for case in cases} == {path.name.split(".jsonl")[0]}
        queries[path] = {case.id: case.query for case in cases}
    assert all(found == queries[paths[0]] for found in queries.values())


# A test set, a training set, their shared rows by text: of the first and of the second.
SHARED = [
    ("autoj/testdata_pairwise.jsonl", "autoj/scenario_classifier/traindata.jsonl", 354, 252),
    ("autoj/testdata_pairwise.jsonl", "autoj/single_traindata.jsonl", 104, 113),
    ("autoj/testdata_pairwise.jsonl", "train/arena55k.validation.jsonl.gz", 0, 0),
]


@pytest.mark.parametrize(("a", "b", "n_a", "n_b"), SHARED)
def test_training_data_holds_known_numbers_of_test_queries(
    data_folder: Path, a: str, b: str, n_a: int, n_b: int
) -> None:
    first, second = ([case.query for case in cases_of(data_folder / path)] for path in (a, b))
    found = find_overlap(first, second)
    assert (found.n_shared_a, found.n_shared_b) == (n_a, n_b)
    if len(second) < 1000:
        near = find_overlap(first, second, n=13)
        assert near.n_same_text == n_a
        assert near.n_shared_a >= n_a
