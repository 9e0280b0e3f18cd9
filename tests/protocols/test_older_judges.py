"""PandaLM, SelFee, SteamSHP and reward models: their published prompts, and what they wrote."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from autoj.judges import load_card
from autoj.protocols import load_protocol
from autoj.protocols.base import load_text
from autoj.protocols.selfee import feedback_without_score
from autoj.records import (
    Asked,
    Case,
    Completion,
    Decision,
    Judgment,
    Message,
    Rating,
    Reading,
    Response,
    Score,
    Unreadable,
)
from autoj.runs import make_spec
from autoj.verdicts.resolve import resolve

TABLE: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("older_judges_table.yaml").read_text(encoding="utf-8")
)
NAMES = ("pandalm", "scalar", "selfee", "steamshp")
LONG = 100_000


def _name(row: dict[str, Any]) -> str:
    return f"{row['protocol']}: {row['why']}: {row['text'][-30:]}".encode(
        "ascii", "backslashreplace"
    ).decode()


def _stated(reading: Reading) -> str | float:
    match reading:
        case Decision(shown=shown):
            return shown
        case Rating(value=value) | Score(value=value):
            return value
        case Unreadable(reason=reason):
            assert reason
            return "unreadable"
        case _:
            raise AssertionError(f"a parser gave {reading!r}")


@pytest.mark.parametrize("row", TABLE, ids=_name)
def test_a_text_is_read_as_the_table_says(row: dict[str, Any]) -> None:
    reading = load_protocol(row["protocol"]).parse(row["text"])
    assert _stated(reading) == row["expected"], f"{row['why']}; read as {reading!r}"
    if "critique" in row:
        assert isinstance(reading, Decision | Rating)
        assert reading.critique == row["critique"]


def test_each_row_says_why_and_no_text_stands_twice() -> None:
    assert all(set(row) - {"critique"} == {"protocol", "text", "expected", "why"} for row in TABLE)
    texts = [(row["protocol"], row["text"]) for row in TABLE]
    assert len(set(texts)) == len(texts)
    assert {row["protocol"] for row in TABLE} == set(NAMES)


@given(text=st.text())
def test_parsing_never_raises_and_gives_what_the_protocol_is_for(text: str) -> None:
    for name in NAMES:
        check_what_it_is_for(name, text)


def check_what_it_is_for(name: str, text: str) -> None:
    reading = load_protocol(name).parse(text)
    allowed = {"pandalm": Decision, "steamshp": Decision, "selfee": Rating, "scalar": Score}[name]
    assert isinstance(reading, allowed | Unreadable)
    if name == "steamshp" and isinstance(reading, Decision):
        assert reading.shown != "tie"


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_a_score_reads_back_exactly(value: float) -> None:
    assert load_protocol("scalar").parse(repr(value)) == Score(value=value)


# Runs such as these make ambiguous patterns quadratic or worse: a hang here is the failure.
RUNS = [
    " ", "\n", "a ", "#", "### ", "1", "1 ", "* ", "score of ", "Score: 8. ", "8/10 ", "'", "A",
    "I would rate ", "I would give it a ", "it is a ", "score for a ", "<pad>", "response ", "1.",
    ". ", "\u200b",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [LONG // 10, pytest.param(LONG, marks=pytest.mark.slow)])
def test_long_hostile_texts_are_read_to_their_end(name: str, length: int) -> None:
    for opening, run in itertools.product(("", "1\n### Reason: ", "Score: 8. "), RUNS):
        _stated(load_protocol(name).parse(opening + run * (length // len(run)) + "x"))


# --- Prompts --------------------------------------------------------------------------------------

CASE = Case(
    id="c",
    query="Name a river.",
    cluster="c",
    responses=(Response(text="The Elbe."), Response(text="The Oder {query}.\n")),
)
WITH_INPUT = Case(
    id="c",
    query="Name a river.\n\nin Poland",
    cluster="c",
    responses=CASE.responses,
    meta={"instruction": "Name a river.", "input": "in Poland"},
)
PROMPTS = [
    (
        "pandalm",
        CASE,
        (1, 0),
        "Below are two responses for a given task. The task is defined by the Instruction. "
        "Evaluate the responses and generate a reference answer for the task.\n\n"
        "### Instruction:\nName a river.\n\n### Response 1:\nThe Oder {query}.\n\n"
        "### Response 2:\nThe Elbe.\n\n### Evaluation:\n",
    ),
    (
        "pandalm",
        WITH_INPUT,
        (0, 1),
        "Below are two responses for a given task. The task is defined by the Instruction with an "
        "Input that provides further context. Evaluate the responses and generate a reference "
        "answer for the task.\n\n### Instruction:\nName a river.\n\n### Input:\nin Poland\n\n"
        "### Response 1:\nThe Elbe.\n\n### Response 2:\nThe Oder {query}.\n\n### Evaluation:\n",
    ),
    (
        "selfee",
        CASE,
        (0,),
        "Below is an instruction that describes a task. Write a response that appropriately "
        "completes the request.\n\n### Instruction:\nName a river.\n\n### Answer:\nThe Elbe.\n\n"
        "### Feedback 1:\n",
    ),
    (
        "selfee",
        WITH_INPUT,
        (0,),
        "Below is an instruction that describes a task, paired with an input that provides further "
        "context. Write a response that appropriately completes the request.\n\n### Instruction:\n"
        "Name a river.\n\n### Input:\nin Poland\n\n### Answer:\nThe Elbe.\n\n### Feedback 1:\n",
    ),
    (
        "steamshp",
        CASE,
        (0, 1),
        "POST: Name a river. \n\n RESPONSE A: The Elbe.\n\n RESPONSE B: The Oder {query}.\n\n\n "
        "Which response is better? RESPONSE",
    ),
]


@pytest.mark.parametrize(("name", "case", "shown", "prompt"), PROMPTS)
def test_a_prompt_is_the_published_one_byte_for_byte(
    name: str, case: Case, shown: tuple[int, ...], prompt: str
) -> None:
    body = load_protocol(name).build(case, shown)
    assert body.messages == (Message(role="user", content=prompt),)
    assert body.prefix is None


@pytest.mark.parametrize("meta", [{"input": "in Poland"}, {"instruction": "Name.", "input": ""}])
@pytest.mark.parametrize(("name", "shown"), [("pandalm", (0, 1)), ("selfee", (0,))])
def test_half_an_input_section_is_none(
    name: str, shown: tuple[int, ...], meta: dict[str, str]
) -> None:
    case = Case(id="c", query="Q", cluster="c", responses=CASE.responses, meta=meta)
    (message,) = load_protocol(name).build(case, shown).messages
    assert "### Input" not in message.content
    assert "### Instruction:\nQ\n" in message.content


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (" The Elbe.\n", "The Elbe."),
        ("The</s> Elbe.<s> ", "The Elbe."),
        ("[PAD]<|endoftext|>x<unk>", "x"),
        ("a <<s>/s> b", "a < /s> b"),
        ("a [[UNK]MASK] </</s>s> b", "a [ MASK] < /s> b"),
        ("a </ s> [CLS ] b", "a </ s> [CLS ] b"),
    ],
)
def test_pandalm_reads_responses_without_marks_even_where_parts_close_up(
    text: str, kept: str
) -> None:
    case = Case(id="c", query="Q", cluster="c", responses=(Response(text=text),) * 2)
    (message,) = load_protocol("pandalm").build(case, (0, 1)).messages
    assert f"### Response 1:\n{kept}\n\n### Response 2:\n{kept}\n\n" in message.content


def test_a_response_of_nested_marks_is_cleaned_at_once() -> None:
    text = "<" * 50_000 + "<s>" + "s>" * 50_000
    case = Case(id="c", query="Q", cluster="c", responses=(Response(text=text),) * 2)
    (message,) = load_protocol("pandalm").build(case, (0, 1)).messages
    assert "<s>" not in message.content


def test_selfee_stops_before_it_revises() -> None:
    assert load_protocol("selfee").build(CASE, (1,)).stop == ("\n\n### Revision",)


def test_a_reward_model_is_shown_two_turns() -> None:
    body = load_protocol("scalar").build(CASE, (1,))
    assert body.messages == (
        Message(role="user", content="Name a river."),
        Message(role="assistant", content="The Oder {query}.\n"),
    )
    assert (body.prefix, body.choices, body.stop) == (None, None, ())


def test_the_texts_end_where_the_published_ones_do() -> None:
    ends = {
        "pandalm.en.txt": ":\n",
        "pandalm_input.en.txt": ":\n",
        "selfee.en.txt": ":\n",
        "selfee_input.en.txt": ":\n",
        "steamshp.en.txt": " RESPONSE",
    }
    for name, end in ends.items():
        assert load_text(name).endswith(end)


# --- Readings -------------------------------------------------------------------------------------


def completion(text: str, logprobs: tuple[float, ...] | None = None, **fields: Any) -> Completion:
    known = {"finish": "stop", "prompt_tokens": 1, "completion_tokens": 1, **fields}
    return Completion(key="k", text=text, choice_logprobs=logprobs, **known)


def test_steamshp_gives_the_probability_of_each_letter_and_none_to_a_tie() -> None:
    protocol = load_protocol("steamshp")
    assert protocol.build(CASE, (0, 1)).choices == (" A", " B")
    reading = protocol.read(completion("x", (math.log(0.06), math.log(0.02))))
    assert isinstance(reading, Decision)
    assert (reading.shown, reading.critique) == ("1", None)
    assert reading.probabilities == pytest.approx((0.75, 0.25, 0.0))
    other = protocol.read(completion("x", (-900.0, -float("inf"))))
    assert isinstance(other, Decision)
    assert other.probabilities == (1.0, 0.0, 0.0)
    assert protocol.read(completion("B")) == Decision(shown="2")


@pytest.mark.parametrize("logprobs", [(-1.0, -1.0), (math.nan, -1.0), (-math.inf, -math.inf)])
def test_letters_that_say_nothing_are_unreadable(logprobs: tuple[float, float]) -> None:
    assert isinstance(load_protocol("steamshp").read(completion("A", logprobs)), Unreadable)


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ("Fine. Score: 1", "length", "unreadable"),
        ("Fine. Score: 1", "stop", 1.0),
        ("Fine. Score: 1. Revision", "length", 1.0),
        ("Fine. I would give it a score of 1", "length", "unreadable"),
    ],
)
def test_a_score_that_the_token_limit_may_have_cut_is_none(
    text: str, finish: str, expected: str | float
) -> None:
    assert _stated(load_protocol("selfee").read(completion(text, finish=finish))) == expected


def test_a_feedback_without_a_score_is_a_critique_all_the_same() -> None:
    text = "It is short. Revision is needed.\n\n### Revision 1:\nLonger."
    assert isinstance(load_protocol("selfee").parse(text), Unreadable)
    assert feedback_without_score(text) == "It is short. Revision is needed."


@given(text=st.text(alphabet="aB .!?\n:/0189scoreSCORE", max_size=80))
def test_taking_the_score_out_leaves_no_score_and_adds_nothing(text: str) -> None:
    kept = feedback_without_score(text)
    assert len(kept) <= len(text)
    assert set(kept) <= set(text)
    reading = load_protocol("selfee").parse(text)
    if isinstance(reading, Unreadable) and reading.reason == "no score is stated":
        assert kept == text.strip()


def test_decisions_are_resolved_in_the_cases_frame_with_their_reasons() -> None:
    protocol = load_protocol("pandalm")
    texts = ("1\n\n### Reason: Response 1 is shorter.", "2\n\n### Reason: Response 2 is shorter.")
    judgments = [
        Judgment(asked=_asked(order), completion=completion(text), reading=protocol.parse(text))
        for order, text in zip(((0, 1), (1, 0)), texts, strict=True)
    ]
    verdict = resolve(CASE, "pandalm", judgments, paired=True)
    assert (verdict.winner, verdict.consistent) == ("a", True)
    assert verdict.critiques == ("Response 1 is shorter.", "Response 1 is shorter.")


def _asked(shown: tuple[int, ...]) -> Asked:
    return Asked(
        case_id="c",
        judge="j",
        protocol="pandalm",
        shown=shown,
        sample=0,
        scored=False,
        truncated=False,
        key="k",
    )


# --- Cards ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "task", "protocol"),
    [
        ("pandalm", "judge", "pandalm"),
        ("steamshp", "judge", "steamshp"),
        ("selfee", "rate", "selfee"),
        ("openassistant-rm", "rate", "scalar"),
    ],
)
def test_a_card_of_an_older_judge_does_its_task_by_its_own_prompt(
    name: str, task: Any, protocol: str
) -> None:
    card = load_card(name)
    assert card.wrapper == "none"
    assert card.licence
    assert card.published
    assert make_spec(task, card).protocol == protocol
