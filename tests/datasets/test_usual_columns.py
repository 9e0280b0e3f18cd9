"""Files whose columns have the usual names are read; what is uncertain is told with a `--map`."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from autoj.datasets import open_cases, parse_map
from autoj.datasets._columns import winner_of
from autoj.errors import DataError
from autoj.records import Case, Response


def table(folder: Path, *rows: dict[str, Any], name: str = "rows.csv") -> Path:
    path = folder / name
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def lines(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def cases_of(path: Path, **how: Any) -> list[Case]:
    found = [row.case for row in open_cases(path, **how).read()]
    assert not [case for case in found if isinstance(case, DataError)], found
    return [case for case in found if isinstance(case, Case)]


@pytest.mark.parametrize(
    ("query", "a", "b", "label", "value", "winner"),
    [
        ("Prompt", "Model A", "Model B", "Winner", "Model A", "a"),
        ("Prompt", "Model A", "Model B", "Winner", "B", "b"),
        ("prompt", "response_a", "response_b", "winner", "model_b", "b"),
        ("PROMPT", "Response A", "Response B", "WINNER", "tie (bothbad)", "tie"),
        ("question", "answer_1", "answer_2", "preferred", "answer_2", "b"),
        ("Question", "Answer1", "Answer2", "Better", "ANSWER 1", "a"),
        ("User Prompt", "Output-A", "Output-B", "Verdict", "[[C]]", "tie"),
        ("instruction", "completion_a", "completion_b", "preference", "", None),
        ("query", "assistant_a", "assistant_b", "label", "both bad", "tie"),
    ],
)
def test_pairs_under_usual_names_are_read(
    tmp_path: Path, query: str, a: str, b: str, label: str, value: str, winner: str | None
) -> None:
    path = table(tmp_path, {query: "Why so?", a: "The one.", b: "The other.", label: value})
    opened = open_cases(path)
    assert opened.format == "table"
    assert opened.note == f"columns: query={query}, a={a}, b={b}, label={label}"
    (case,) = cases_of(path)
    assert (case.query, case.label) == ("Why so?", winner)
    assert case.responses == (Response(text="The one."), Response(text="The other."))


def test_columns_of_models_are_names_beside_columns_of_texts(tmp_path: Path) -> None:
    row = {"prompt": "q", "response_a": "x", "response_b": "y", "model_a": "m", "model_b": "n"}
    (case,) = cases_of(table(tmp_path, {**row, "winner": "n"}))
    assert [response.model for response in case.responses] == ["m", "n"]
    assert case.label == "b"


def test_columns_that_may_hold_names_of_models_are_not_judged(tmp_path: Path) -> None:
    rows = [
        {"prompt": f"q{n}", "model_a": "gpt-4", "model_b": "llama-2", "winner": "model_a"}
        for n in range(3)
    ]
    with pytest.raises(DataError, match="may hold names of models or responses") as told:
        list(open_cases(table(tmp_path, *rows)).read())
    assert told.value.hint == (
        "If they are the responses: --map 'query=prompt,a=model_a,b=model_b,label=winner'"
    )


@pytest.mark.parametrize(
    ("votes", "winner"),
    [
        (("1", "0", "0"), "a"), (("0", "1", "0"), "b"), (("0", "0", "1"), "tie"),
        (("", "", ""), None), (("0", "0", "0"), "fault"), (("1", "1", "0"), "fault"),
    ],
)  # fmt: skip
def test_rows_of_arena_have_their_votes_in_three_columns_and_turns_in_lists(
    tmp_path: Path, votes: tuple[str, ...], winner: str | None
) -> None:
    row = {
        "id": "30192", "model_a": "m", "model_b": "n",
        "prompt": json.dumps(["Why?"]),
        "response_a": json.dumps(["So."]),
        "response_b": json.dumps([None]),
        **dict(zip(("winner_model_a", "winner_model_b", "winner_tie"), votes, strict=True)),
    }  # fmt: skip
    ((_, case),) = open_cases(table(tmp_path, row)).read()
    if winner == "fault":
        assert isinstance(case, DataError)
        assert case.field == "winner_model_a"
        return
    assert isinstance(case, Case)
    assert (case.id, case.query, case.label) == ("30192", "Why?", winner)
    assert case.responses == (Response(text="So.", model="m"), Response(text="", model="n"))


def test_several_turns_of_arena_are_shown_as_text(tmp_path: Path) -> None:
    row = {
        "prompt": json.dumps(["One?", "Two?"]),
        "response_a": '["1 \\ud83d", "2"]',
        "response_b": json.dumps(["I", "II"]),
        "winner": "model_a",
    }
    (case,) = cases_of(table(tmp_path, row))
    assert case.query == "One?"
    assert [response.text for response in case.responses] == [
        "1 ?\n\nUser: Two?\n\nAssistant: 2",
        "I\n\nUser: Two?\n\nAssistant: II",
    ]


def test_a_list_that_only_the_query_is_stays_text(tmp_path: Path) -> None:
    row = {"prompt": '["a", "b"]', "response_a": "[1]", "response_b": "y", "winner": "A"}
    assert cases_of(table(tmp_path, row))[0].query == '["a", "b"]'


@pytest.mark.parametrize("value", ["1", "2", "0", "D", "left", "yes", "3 stars", "x" * 100_000])
def test_a_label_whose_meaning_is_uncertain_is_told(tmp_path: Path, value: str) -> None:
    row = {"Prompt": "q", "Response A": "x", "Response B": "y", "Winner": value}
    ((_, error),) = open_cases(table(tmp_path, row)).read()
    assert isinstance(error, DataError)
    assert error.field == "Winner"
    assert 'expected "a", "b", "tie"' in error.reason
    assert "--map label=Winner:1/2/0" in error.reason
    assert len(str(error)) < 400 + len(str(tmp_path))


def test_labels_of_native_pairs_may_be_words_and_those_of_ratings_may_not(tmp_path: Path) -> None:
    pair = {"query": "q", "responses": ["x", "y"]}
    path = lines(tmp_path, *({**pair, "label": label} for label in ("A", "Tie", "Model B", "C")))
    assert [case.label for case in cases_of(path)] == ["a", "tie", "b", "tie"]
    ((_, error),) = open_cases(
        lines(tmp_path, {"query": "q", "response": "x", "label": "C"})
    ).read()
    assert isinstance(error, DataError)


@pytest.mark.parametrize("word", ["1", "0", "2", "a1", "", "none", "A>B", "ab"])
def test_words_without_one_meaning_are_none(word: str) -> None:
    assert winner_of(word) is None


@pytest.mark.parametrize(
    ("row", "flag"),
    [
        # Two queries, two labels, two pairs, or gold answers: never guessed.
        (
            {"prompt": "q", "question": "q", "response_a": "x", "response_b": "y"},
            "--map query=prompt,a=response_a,b=response_b",
        ),
        (
            {"prompt": "q", "response_a": "x", "response_b": "y", "winner": "A", "choice": "2"},
            "--map query=prompt,a=response_a,b=response_b,label=winner",
        ),
        (
            {"prompt": "q", "answer_1": "x", "answer_2": "y", "output_1": "x", "output_2": "y"},
            "--map query=prompt,a=answer_1,b=answer_2",
        ),
        ({"question": "q", "answer": "x"}, "--map query=question,response=answer"),
        (
            {"My question": "q", "Text one": "x", "Text two": "y", "Winner": "2"},
            "--map 'query=QUERY_COLUMN,a=Text one,b=Text two,label=Winner:CODE_OF_A/OF_B/OF_TIE'",
        ),
        ({"x1": "q"}, "--map query=QUERY_COLUMN,a=COLUMN_OF_A,b=COLUMN_OF_B"),
        ({"#": "1", "%": "2"}, "--map query=QUERY_COLUMN,a=COLUMN_OF_A,b=COLUMN_OF_B"),
    ],
)
def test_other_columns_are_told_with_a_map_that_is_ready(
    tmp_path: Path, row: dict[str, str], flag: str
) -> None:
    with pytest.raises(DataError, match="fit no known format") as told:
        open_cases(table(tmp_path, row))
    assert told.value.hint is not None
    first = told.value.hint.splitlines()[0]
    assert first == f"Name the columns, for example: {flag}"
    parse_map([shlex.split(flag)[1]])


def test_a_suggested_map_with_the_files_own_columns_works(tmp_path: Path) -> None:
    row = {"question": "q", "text one": "x", "text two": "y", "winner": "text one"}
    path = table(tmp_path, row)
    with pytest.raises(DataError) as told:
        open_cases(path)
    flag = shlex.split((told.value.hint or "").splitlines()[0].partition(": ")[2])
    (case,) = cases_of(path, columns=parse_map([flag[1]]))
    assert (case.query, case.label) == ("q", "a")


def test_rows_may_leave_out_columns_that_are_optional(tmp_path: Path) -> None:
    pair = {"Prompt": "q", "Response A": "x", "Response B": "y"}
    path = lines(tmp_path, pair, {**pair, "Winner": "B", "Scenario": "planning"}, {"Prompt": "q"})
    first, second, third = (row.case for row in open_cases(path).read())
    assert isinstance(first, Case)
    assert isinstance(second, Case)
    assert (first.label, second.label, second.scenario) == (None, "b", "planning")
    assert isinstance(third, DataError)


def test_one_response_a_row_is_rated(tmp_path: Path) -> None:
    (case,) = cases_of(table(tmp_path, {"Prompt": "q", "Response": "r", "Rating": "7"}))
    assert (case.query, case.responses, case.label) == ("q", (Response(text="r"),), 7.0)


# --- TRL, HH-RLHF and lm-evaluation-harness


def chat(*texts: str) -> list[dict[str, str]]:
    roles = ("user", "assistant") * len(texts)
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "Why?", "chosen": "So.", "rejected": "No."},
        {"prompt": chat("Why?"), "chosen": chat("", "So.")[1:], "rejected": chat("", "No.")[1:]},
        {"chosen": chat("Why?", "So."), "rejected": chat("Why?", "No.")},
        {"prompt": "Why?", "chosen": chat("Why?", "So."), "rejected": chat("Why?", "No.")},
        {
            "chosen": "\n\nHuman: Why?\n\nAssistant: So.",
            "rejected": "\n\nHuman: Why?\n\nAssistant: No.",
        },
    ],
)
def test_preferences_in_every_form_of_trl_are_the_same_case(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    (case,) = cases_of(lines(tmp_path, row))
    assert case.query == "Why?"
    # Which comes first follows from the texts; the label names the chosen one.
    assert case.responses["ab".index(str(case.label))].text == "So."


def test_the_chosen_response_stands_first_in_about_half_of_the_pairs(tmp_path: Path) -> None:
    rows = ({"prompt": f"q{n}", "chosen": "x", "rejected": "y"} for n in range(400))
    labels = [case.label for case in cases_of(lines(tmp_path, *rows))]
    assert 160 < labels.count("a") < 240


def test_conversations_of_several_turns_and_system_messages_are_shown_as_text(
    tmp_path: Path,
) -> None:
    prompt = [{"role": "system", "content": "Be brief."}, *chat("One?", "1.", "Two?")]
    row = {"prompt": prompt, "chosen": chat("", "2.")[1:], "rejected": chat("", "3.")[1:]}
    (case,) = cases_of(lines(tmp_path, row))
    assert case.query == ("System: Be brief.\n\nUser: One?\n\nAssistant: 1.\n\nUser: Two?")
    assert {response.text for response in case.responses} == {"2.", "3."}


def test_completions_and_samples_are_responses_to_rate(tmp_path: Path) -> None:
    files = Path(__file__).parent / "files"
    plain, system, turns = cases_of(files / "trl-completions.jsonl")
    assert (plain.query, plain.responses[0].text) == ("Name a river.", " The Oder.")
    assert system.query == "System: Be brief.\n\nUser: Name a sea."
    assert (system.id, system.label, system.meta) == ("7", None, {"label": True})
    assert turns.query.endswith("User: Name a lake.")
    first, second, third = cases_of(files / "lm-eval-samples.jsonl")
    assert (first.query, first.reference) == ("Question: 2 + 2?\nAnswer:", "4")
    assert first.meta == {"metrics": {"exact_match": 1.0}}
    assert [response.text for response in second.responses] == ["Five.", "Six."]
    assert [case.id for case in (second, third)] == [
        "lm-eval-1-strict-match", "lm-eval-1-flexible",
    ]  # fmt: skip
    assert second.query == third.query == "3 + 3?"
