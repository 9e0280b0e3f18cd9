"""The mathematics supplement: wrong copies of worked solutions, and what is said of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj import critiques
from autoj.construct.mathematics import add_mathematics, check_problems
from autoj.construct.pipeline import construct
from autoj.construct.recipe import ConstructRecipe, Mathematics
from autoj.construct.worked_solutions import make_wrong_step, plain_solution, stop_early
from autoj.errors import DataError
from autoj.records import Case
from autoj.training.judge.rows import read_rows

QUESTION = "A mill grinds {n} sacks before noon and half as many after. How many are that?"
WORKED = (
    "After noon it grinds {n}/2 = <<{n}/2={h}>>{h} sacks.\n"
    "Together these are {n}+{h} = <<{n}+{h}={t}>>{t} sacks.\n#### {t}"
)


def problem(number: int) -> dict[str, str]:
    n = 2 * number
    values = {"n": n, "h": n // 2, "t": n + n // 2}
    return {"question": QUESTION.format(**values), "answer": WORKED.format(**values)}


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    path = tmp_path / "problems.jsonl"
    rows = [problem(number) for number in range(20, 320)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def made_of(path: Path, **numbers: int) -> tuple[list[Case], dict[str, Any]]:
    stage = Mathematics.model_validate({"stage": "mathematics", "data": str(path), **numbers})
    notes: dict[str, Any] = {}
    return list(add_mathematics(iter(()), stage, 0, notes)), notes


def answer_in(text: str) -> str:
    return re.findall(r"The answer is (.*)\.", text)[-1]


def test_pairs_and_single_responses_in_the_numbers_asked_for(problems: Path) -> None:
    made, notes = made_of(problems, pairs=100, singles=60)
    pairs = [case for case in made if len(case.responses) == 2]
    singles = [case for case in made if len(case.responses) == 1]
    assert (len(pairs), len(singles)) == (100, 60)
    assert len({case.id for case in made}) == 160
    kinds = Counter(case.meta["made"] for case in pairs)
    assert kinds == {
        "right-beside-wrong_step": 60, "right-beside-stops_early": 15,
        "right-beside-answer_alone": 10, "answer_alone-beside-wrong_step": 15,
    }  # fmt: skip
    assert notes["made"]["single: right"] == {"n_wanted": 24, "n_made": 24, "n_kept": 24}
    assert {case.label for case in pairs} == {"a", "b"}
    assert made == made_of(problems, pairs=100, singles=60)[0]


def test_the_better_response_is_right_and_the_judgment_says_so(problems: Path) -> None:
    made, _ = made_of(problems, pairs=100, singles=0)
    for case in made:
        better, worse = case.responses if case.label == "a" else case.responses[::-1]
        asked = re.search(r"\d+", case.query)
        assert asked is not None
        right = str(int(asked[0]) * 3 // 2)
        assert answer_in(better.text) == right
        assert (answer_in(worse.text) == right) == case.meta["made"].endswith("answer_alone")
        judgment = critiques.parse(case.meta["judgment"])
        assert judgment is not None
        assert {"1": "a", "2": "b"}[judgment.decision] == case.label
        assert judgment.factors
        assert judgment.remark
        assert "{" not in case.meta["judgment"]
        assert case.scenario == "math_reasoning"


def test_ratings_follow_the_kind_and_close_the_critique(problems: Path) -> None:
    made, _ = made_of(problems, pairs=0, singles=80)
    by_kind = {case.meta["made"]: case.label for case in made}
    assert by_kind == {
        "single-right": 9.0, "single-answer_alone": 6.0, "single-wrong_step": 3.0,
        "single-stops_early": 3.0,
    }  # fmt: skip
    for case in made:
        assert case.meta["judgment"].endswith(f"\n\nRating: [[{case.label:g}]]")
        assert "{" not in case.meta["judgment"]


def test_an_error_goes_into_what_follows() -> None:
    row = problem(24)
    copies = {make_wrong_step(row["question"], row["answer"], Random(seed)) for seed in range(20)}
    firsts = [copy for copy in copies if copy is not None and copy.calculation == "48/2"]
    assert firsts
    for copy in firsts:
        total = 48 + int(copy.wrong)
        assert copy.right == "24"
        assert f"48+{copy.wrong} = {total} sacks" in copy.solution.text
        assert copy.solution.answer == str(total)
    assert all(copy is not None and "<<" not in copy.solution.text for copy in copies)


@pytest.mark.parametrize(
    "worked",
    [
        "No marks at all.\n#### 5",
        "12 is <<12=12>>12 given.\n#### 12",  # a number of the question
        "Half is <<12/5=2.4>>2.4, so <<2.4/7=0.34>>0.34.\n#### 0.34",
        "It is <<12^2=144>>144, so <<144+1=145>>145.\n#### 145",
        "It is <<__import__('os')=3>>3.\n#### x",
        "",
    ],
)
def test_a_solution_that_cannot_be_followed_is_left_alone(worked: str) -> None:
    found = make_wrong_step("There are 12 of them.", worked, Random(0))
    # Only the last step can be changed where an error could not be followed further.
    assert found is None or found.calculation in ("2.4/7", "144+1")


def test_stopping_early_leaves_out_the_last_step() -> None:
    worked = problem(24)["answer"]
    early = stop_early(worked)
    assert early is not None
    assert early.answer == "24"
    assert "Together" not in early.text
    assert stop_early("Only <<1+1=2>>2.\n#### 2") is None
    assert plain_solution(worked).answer == "72"


@given(st.text(max_size=200), st.integers(0, 5))
def test_any_text_is_changed_or_refused(text: str, seed: int) -> None:
    make_wrong_step("Why?", f"{text}<<1+1=2>>2{text}\n#### 2", Random(seed))
    make_wrong_step(text, f"3+1 = <<3+1=4>>4\n<<{text}=5>>5\n#### 5", Random(seed))
    stop_early(text)


def test_a_file_in_another_layout_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"query": "q", "responses": ["a", "b"]}\n', encoding="utf-8")
    with pytest.raises(DataError, match="is of the format native; stage mathematics reads gsm8k"):
        check_problems(Mathematics(stage="mathematics", data=str(path), pairs=1, singles=1))


def test_the_supplement_is_in_the_training_files(
    recipe: ConstructRecipe, problems: Path, tmp_path: Path
) -> None:
    values = recipe.model_dump(mode="json")
    supplement = {"stage": "mathematics", "data": str(problems), "pairs": 10, "singles": 10}
    values["stages"].insert(-1, supplement)
    done = construct(ConstructRecipe.model_validate(values), tmp_path / "out")
    summary = next(one for one in done.summaries if one.name == "mathematics")
    assert (summary.n_made, summary.n_kept) == (20, summary.n_in + 20)
    released = list(read_rows(tmp_path / "out" / "train" / "release.jsonl"))
    assert sum("mill" in row.case.query for row in released) >= 20
