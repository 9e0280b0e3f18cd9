"""Questions and models' answers, in the layouts of MT-Bench and Arena-Hard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj.datasets import open_answers, open_cases
from autoj.errors import DataError
from autoj.records import Case

QUESTIONS: dict[str, list[dict[str, Any]]] = {
    "mt-bench": [
        {
            "question_id": 81, "category": "math", "turns": ["One?", "Two?"],
            "reference": ["1", ""],
        },
        {"question_id": 82, "category": "writing", "turns": ["Red?", "Blue?"]},
    ],
    "arena-hard-0.1": [
        {"question_id": "h1", "category": "arena-hard-v0.1", "turns": [{"content": "One?"}]},
        {"question_id": "h2", "category": "arena-hard-v0.1", "turns": [{"content": "Red?"}]},
    ],
    "arena-hard-2.0": [
        {"uid": "h1", "category": "hard_prompt", "subcategory": "math", "prompt": "One?"},
        {"uid": "h2", "category": "hard_prompt", "subcategory": "math", "prompt": "Red?"},
    ],
}  # fmt: skip


def answers(layout: str, model: str, first: str = "1") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for question, text in zip(QUESTIONS[layout], (first, "yes"), strict=True):
        if layout == "mt-bench":
            turns: list[Any] = [f"{text} {model}", f"more {model}"]
        else:
            turns = [{"content": f"{text} {model}", "token_len": 2}]
        if layout == "arena-hard-2.0":
            messages = [
                {"role": "user", "content": question["prompt"]},
                {"role": "assistant", "content": {"answer": f"{text} {model}"}},
            ]
            rows.append({"uid": question["uid"], "model": model, "messages": messages})
        else:
            rows.append(
                {
                    "question_id": question["question_id"],
                    "answer_id": "x",
                    "model_id": model,
                    "choices": [{"index": 0, "turns": turns}, {"index": 1, "turns": []}],
                    "tstamp": 1.5,
                }
            )
    return rows


def put(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(params=list(QUESTIONS))
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def three(folder: Path, layout: str) -> tuple[Path, Path, Path]:
    return (
        put(folder / "question.jsonl", QUESTIONS[layout]),
        put(folder / "m1.jsonl", answers(layout, "m1")),
        put(folder / "m2.jsonl", list(reversed(answers(layout, "m2")))),
    )


def cases_of(*arguments: Any, **named: Any) -> list[Case]:
    cases = [row.case for row in open_answers(*arguments, **named).read()]
    assert not [case for case in cases if isinstance(case, DataError)]
    return [case for case in cases if isinstance(case, Case)]


def test_the_answers_of_two_models_meet_at_their_question(tmp_path: Path, layout: str) -> None:
    questions, a, b = three(tmp_path, layout)
    first, second = cases_of(questions, (a, b))
    number = QUESTIONS[layout][0].get("question_id", "h1")
    assert (first.query, second.query) == ("One?", "Red?")
    assert [(r.text, r.model) for r in first.responses] == [("1 m1", "m1"), ("1 m2", "m2")]
    assert first.id == f"{'mt-bench' if layout == 'mt-bench' else 'arena-hard'}-{number}"
    assert first.meta["question_id"] == number
    assert first.meta["turn"] == 1
    assert first.reference == ("1" if layout == "mt-bench" else None)
    (rated, _) = cases_of(questions, (a,))
    assert [response.text for response in rated.responses] == ["1 m1"]


def test_a_later_turn_of_one_model_is_asked_with_what_came_before(tmp_path: Path) -> None:
    questions, a, _ = three(tmp_path, "mt-bench")
    first, _ = cases_of(questions, (a,), turn=2)
    assert first.query == "User: One?\n\nAssistant: 1 m1\n\nUser: Two?"
    assert [response.text for response in first.responses] == ["more m1"]
    assert (first.id, first.reference) == ("mt-bench-81-turn-2", None)
    assert first.cluster == "one"


def test_of_two_models_that_differ_earlier_each_response_is_the_rest_of_its_conversation(
    tmp_path: Path,
) -> None:
    questions, a, b = three(tmp_path, "mt-bench")
    first, _ = cases_of(questions, (a, b), turn=2)
    assert first.query == "One?"
    assert [response.text for response in first.responses] == [
        f"1 {model}\n\nUser: Two?\n\nAssistant: more {model}" for model in ("m1", "m2")
    ]


def test_what_both_models_said_before_belongs_to_the_query(tmp_path: Path) -> None:
    questions, a, b = three(tmp_path, "mt-bench")
    for path, last in ((a, "x"), (b, "y")):
        rows = answers("mt-bench", "same")
        for row in rows:
            row["choices"][0]["turns"][1] = last
        put(path, rows)
    first, _ = cases_of(questions, (a, b), turn=2)
    assert first.query == "User: One?\n\nAssistant: 1 same\n\nUser: Two?"
    assert [response.text for response in first.responses] == ["x", "y"]


@pytest.mark.parametrize("layout", ["arena-hard-0.1", "arena-hard-2.0"])
def test_a_turn_that_no_question_has_is_told(tmp_path: Path, layout: str) -> None:
    questions, a, b = three(tmp_path, layout)
    with pytest.raises(
        DataError, match=r"question\.jsonl: no question has turn 2; the longest has 1"
    ):
        open_answers(questions, (a, b), turn=2)


def test_a_model_without_the_turn_is_a_bad_row(tmp_path: Path) -> None:
    questions, a, b = three(tmp_path, "mt-bench")
    rows = answers("mt-bench", "m1")
    rows[1]["choices"][0]["turns"].pop()
    put(a, rows)
    good, bad = open_answers(questions, (a, b), turn=2).read()
    assert isinstance(good.case, Case)
    assert isinstance(bad.case, DataError)
    assert "m1 has no answer to turn 2 of question 82" in bad.case.reason
    assert (bad.case.path, bad.case.line) == (a, 2)


def test_questions_that_a_model_did_not_answer_are_refused_or_left_out(
    tmp_path: Path, layout: str
) -> None:
    questions, a, b = three(tmp_path, layout)
    put(b, answers(layout, "m2")[:1])
    with pytest.raises(DataError, match="1 of 2 questions of") as told:
        open_answers(questions, (a, b))
    assert told.value.hint == "--join inner uses the 1 that both files have."
    opened = open_answers(questions, (a, b), join="inner")
    assert opened.note is not None
    assert "1 of 2 questions" in opened.note
    assert [row.line for row in opened.read()] == [1]


def test_a_question_that_is_answered_twice_is_a_bad_row(tmp_path: Path, layout: str) -> None:
    questions, a, b = three(tmp_path, layout)
    put(a, [*answers(layout, "m1"), answers(layout, "m1")[0]])
    *good, bad = open_answers(questions, (a, b)).read()
    assert len(good) == 2
    assert isinstance(bad.case, DataError)
    assert "was already answered in line 1" in bad.case.reason
    assert bad.line == 3


def test_questions_or_answers_alone_are_told_what_they_lack(tmp_path: Path, layout: str) -> None:
    questions, a, _ = three(tmp_path, layout)
    with pytest.raises(DataError, match="holds questions without their answers"):
        open_cases(questions)
    if layout == "arena-hard-2.0":
        assert open_cases(a).format == "arena-hard-answers"
    else:
        with pytest.raises(DataError, match="holds answers without their questions"):
            open_cases(a)


@pytest.mark.parametrize(
    ("row", "field", "said"),
    [
        ({"question_id": 81}, "turns", "is missing"),
        ({"question_id": 81, "turns": []}, "turns", "at least one turn"),
        ({"question_id": 81, "turns": [5]}, "turns[0]", "expected a string, found int"),
        ({"question_id": 81, "turns": [{"content": ["q", "image"]}]}, "turns[0]", "found list"),
        ({"question_id": 1.5, "turns": ["q"]}, "question_id", "a number or a string"),
        ({"uid": "h1"}, "prompt", "is missing"),
    ],
)
def test_a_bad_question_ends_it(tmp_path: Path, row: Any, field: str, said: str) -> None:
    questions, a, b = three(tmp_path, "mt-bench")
    put(questions, [*QUESTIONS["mt-bench"][1:], row])
    with pytest.raises(DataError, match=r"question\.jsonl:2") as told:
        open_answers(questions, (a, b))
    assert (told.value.line, told.value.field) == (2, field)
    assert said in told.value.reason


def test_a_question_that_stands_twice_ends_it(tmp_path: Path) -> None:
    questions, a, b = three(tmp_path, "mt-bench")
    put(questions, QUESTIONS["mt-bench"] * 2)
    with pytest.raises(DataError, match="question 81 appears twice"):
        open_answers(questions, (a, b))


def test_a_bad_answer_is_told_with_its_place(tmp_path: Path) -> None:
    questions, a, b = three(tmp_path, "mt-bench")
    put(a, [{"question_id": 80, "choices": []}, *answers("mt-bench", "m1")])
    bad, *good = open_answers(questions, (a, b)).read()
    assert isinstance(bad.case, DataError)
    assert (bad.case.path, bad.case.line, bad.case.field) == (a, 1, "choices[0]")
    assert len(good) == 2


def test_files_without_a_common_question_are_told(tmp_path: Path) -> None:
    questions, a, _ = three(tmp_path, "mt-bench")
    b = put(tmp_path / "b.jsonl", answers("arena-hard-0.1", "m2"))
    with pytest.raises(DataError, match="has no questions in common with"):
        open_answers(questions, (a, b))


def test_another_turn_makes_another_run(tmp_path: Path) -> None:
    questions, a, b = three(tmp_path, "mt-bench")
    made = [open_answers(questions, (a, b), turn=turn).derivation for turn in (1, 2)]
    assert made == ["turn 1", "turn 2"]
