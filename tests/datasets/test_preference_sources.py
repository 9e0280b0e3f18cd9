"""The paper's sources of pairs (section 3.2), in the layouts in which they are published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj.datasets import open_cases, open_queries
from autoj.errors import DataError, LaterTurn
from autoj.records import Case, Response

FILES = Path(__file__).parent / "files"


def cases_of(path: Path, *, first_turns: bool = False) -> list[Case]:
    found = [row.case for row in open_cases(path, first_turns=first_turns).read()]
    assert all(isinstance(case, Case) for case in found), found
    return [case for case in found if isinstance(case, Case)]


def written(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def first_row(name: str) -> dict[str, Any]:
    line = (FILES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[0]
    row: dict[str, Any] = json.loads(line)
    return row


def test_votes_of_the_arena_are_about_whole_conversations() -> None:
    short, long, chinese = cases_of(FILES / "chatbot-arena.jsonl")
    assert (short.id, short.query, short.label) == ("58210e39", "Name a lake.", "b")
    assert [response.model for response in short.responses] == ["m1", "m2"]
    assert long.query == "Name a hill."
    assert long.responses[0].text == "Yes.\n\nUser: Which one?\n\nAssistant: The green one."
    assert (long.label, long.meta["n_turns"]) == ("tie", 2)
    assert (chinese.language, short.language) == ("zh", "en")


def test_of_conversations_the_first_turn_may_be_taken_alone() -> None:
    short, long, _ = cases_of(FILES / "chatbot-arena.jsonl", first_turns=True)
    assert short == cases_of(FILES / "chatbot-arena.jsonl")[0]
    assert [response.text for response in long.responses] == ["Yes.", "No."]
    assert (long.label, long.meta["n_turns"]) == ("tie", 2)


def test_the_first_turn_of_cells_with_lists_of_turns_may_be_taken_alone(tmp_path: Path) -> None:
    row = {
        "id": 7,
        "prompt": json.dumps(["Name a hill.", "Which one?"]),
        "response_a": json.dumps(["Yes.", "The green one."]),
        "response_b": json.dumps(["No.", None]),
        "winner_model_a": 0,
        "winner_model_b": 1,
        "winner_tie": 0,
    }
    path = written(tmp_path / "votes.jsonl", row)
    (whole,) = cases_of(path)
    (first,) = cases_of(path, first_turns=True)
    assert whole.responses[0].text.endswith("Assistant: The green one.")
    assert [response.text for response in first.responses] == ["Yes.", "No."]
    assert (first.query, first.label, first.meta["n_turns"]) == ("Name a hill.", "b", 2)


def test_later_releases_of_the_arena_hold_texts_in_parts(tmp_path: Path) -> None:
    def said(text: str) -> list[dict[str, Any]]:
        asked = {"role": "user", "content": [{"type": "text", "text": "Name a lake."}]}
        return [asked, {"role": "assistant", "content": [{"type": "text", "text": text}]}]

    row = {
        "id": "9a",
        "model_a": "m1",
        "model_b": "m2",
        "winner": "both_bad",
        "evaluation_order": 1,
        "conversation_a": said("Como."),
        "conversation_b": said("Garda."),
        "language": "en",
        "timestamp": "2025-06-01",
    }
    (case,) = cases_of(written(tmp_path / "votes.jsonl", row))
    assert (case.id, case.query, case.label) == ("9a", "Name a lake.", "tie")
    assert [response.text for response in case.responses] == ["Como.", "Garda."]


def test_a_vote_that_nobody_gave_is_no_label(tmp_path: Path) -> None:
    path = written(tmp_path / "votes.jsonl", {**first_row("chatbot-arena"), "winner": None})
    assert cases_of(path)[0].label is None


def test_summaries_are_asked_for_in_words_of_ours() -> None:
    post, article = cases_of(FILES / "summarize-from-feedback.jsonl")
    assert post.query.startswith(
        "Write a short summary of this post from r/AskKitchens.\n\nTitle: A loud oven\n\nMy oven"
    )
    assert article.query.startswith(
        "Write a short summary of this news article.\n\nTitle: Bridge opens\n\nThe new bridge"
    )
    assert [post.scenario, article.scenario] == ["post_summarization", "text_summarization"]
    assert [post.label, article.label] == ["a", "b"]
    assert post.responses[0] == Response(text="My oven is loud; what can I do?", model="sup1")
    assert post.meta["confidence"] == 7


def test_the_higher_score_of_webgpt_is_the_label_and_equal_ones_are_a_tie() -> None:
    cases = cases_of(FILES / "webgpt-comparisons.jsonl")
    assert [case.label for case in cases] == ["a", "b", "tie"]
    assert {case.scenario for case in cases} == {"open_question"}
    assert cases[0].query == "Why do bees hum?"
    assert (cases[0].meta["score_a"], cases[0].meta["score_b"]) == (0.5, -0.5)


def test_one_is_the_first_answer_of_shp() -> None:
    first, second = cases_of(FILES / "shp.jsonl")
    assert (first.label, second.label) == ("a", "b")
    assert first.id == "p1-a1-b1"
    assert first.meta["domain"] == "askgardens_train"


def test_the_more_helpful_response_is_the_label_and_the_safer_one_is_kept() -> None:
    first, second = cases_of(FILES / "safe-rlhf.jsonl")
    assert (first.label, second.label) == ("a", "b")
    assert (second.meta["safer_a"], second.meta["safer_b"]) == (True, False)
    assert (first.meta["safe_a"], first.meta["safe_b"]) == (True, False)
    assert first.responses[1].model == "m2"


def test_pairs_that_are_always_chosen_first_get_an_order_and_no_false_source(
    tmp_path: Path,
) -> None:
    rows = [
        {"prompt": f"Name {number} birds.", "chosen": "Owl, lark.", "rejected": "Fish."}
        for number in range(200)
    ]
    cases = cases_of(written(tmp_path / "pairs.jsonl", *rows))
    assert 70 < sum(case.label == "a" for case in cases) < 130
    for case in cases:
        assert case.responses["ab".index(str(case.label))].text == "Owl, lark."
        assert case.source is None


def test_sharegpt_gives_the_first_question_alone() -> None:
    opened = open_queries(FILES / "sharegpt.jsonl")
    assert opened.format == "sharegpt"
    found = [row.case for row in opened.read()]
    assert [case.query for case in found if isinstance(case, Case)] == [
        "Name three herbs.",
        "Why is tea bitter?",
    ]
    assert all(not case.responses for case in found if isinstance(case, Case))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sharegpt", {"id": "QWhabcd_12"}),
        ("sharegpt", {"conversations": [{"from": "gpt", "value": "Thyme."}]}),
        ("mt-bench-votes", {"turn": 2}),
    ],
)
def test_a_row_about_a_later_turn_is_told_from_a_damaged_one(
    tmp_path: Path, name: str, change: dict[str, Any]
) -> None:
    row = first_row(name)
    path = written(tmp_path / "rows.jsonl", row, {**row, **change}, {})
    good, later, damaged = (found.case for found in open_cases(path).read())
    assert isinstance(good, Case)
    assert isinstance(later, LaterTurn)
    assert isinstance(damaged, DataError)
    assert not isinstance(damaged, LaterTurn)


def test_only_votes_on_a_benchmarks_questions_serve_testing_alone() -> None:
    assert open_cases(FILES / "mt-bench-votes.jsonl").testing_only
    assert not open_cases(FILES / "chatbot-arena.jsonl").testing_only


@pytest.mark.parametrize("name", ["shp", "summarize-from-feedback", "sharegpt"])
def test_lines_and_lists_are_both_read_from_json_files(tmp_path: Path, name: str) -> None:
    # SHP and the comparisons of summaries are lines in files named .json, ShareGPT is a list.
    text = (FILES / f"{name}.jsonl").read_text(encoding="utf-8")
    (tmp_path / "train.json").write_text(text, encoding="utf-8")
    listed = [json.loads(line) for line in text.splitlines()]
    (tmp_path / "list.json").write_text(json.dumps(listed), encoding="utf-8")
    assert cases_of(tmp_path / "train.json") == cases_of(tmp_path / "list.json")
    assert open_cases(tmp_path / "train.json").format == name


def test_columns_that_have_changed_are_named_with_those_that_are_there(tmp_path: Path) -> None:
    row = first_row("webgpt-comparisons")
    row["score_A"] = row.pop("score_0")
    (found,) = open_cases(written(tmp_path / "rows.jsonl", row)).read()
    assert isinstance(found.case, DataError)
    assert found.case.field == "score_0"
    assert "is missing; expected a number from -1 to 1; the row has 'question'" in str(found.case)
    assert "'score_A'" in str(found.case)


def test_a_row_of_very_many_columns_is_told_in_part(tmp_path: Path) -> None:
    row = {"history": "q", "human_ref_A": "x", "labels": 1}
    row |= {f"{'c' * 500}{number}": 0 for number in range(5_000)}
    (found,) = open_cases(written(tmp_path / "rows.jsonl", row)).read()
    assert isinstance(found.case, DataError)
    assert "and 4,983 more" in found.case.reason
    assert len(found.case.reason) < 2_000
