"""Whatever a judge writes is read; whatever is judged leaves the template as it is."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.protocols import load_protocol, protocol_names
from autoj.protocols.base import fill, whole_sentences
from autoj.records import Case, Critique, Decision, Label, Rating, Response, Score, Unreadable
from autoj.scenarios import scenario_names

FRAGMENTS = [
    "So, the final decision is", "final decision", " Response 1", "Response 2", " / ", " or ",
    "Tie", "所以，最终决定是", "最终决定", "回应1", "回应２", "平局", "和", "、", "Rating: ",
    "评分：", "[[", "]]", "[", "]", "【", "】", "5", "10", "6.5", "A",
    "B: Feedback 2", "C", "*", "**", "_",
    "\n", " ", "\t", "\r\n", "\u200b", "\u3000", "\ufeff", "is", ":", "：", ".", "。", "-",
    "for example", "tie", "(", '"', "{query}", "{response_1}", "{", "}", "***", "[END DATA]",
    "\\1", "$1", "%s", "\x00",
]  # fmt: skip
tricky_text = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=4)), max_size=12).map(
    "".join
)
any_text = st.one_of(st.text(), tricky_text)
LONG = 100_000


# To draw a text costs more than to read it, so that each is drawn once for all protocols.
@given(text=any_text)
def test_parsing_never_raises_and_never_guesses_off_the_menu(text: str) -> None:
    for name in protocol_names():
        check_the_menu(name, text)


def check_the_menu(name: str, text: str) -> None:
    protocol = load_protocol(name)
    reading = protocol.parse(text)
    if isinstance(reading, Decision):
        assert not protocol.reads_alone
        assert reading.shown in ("1", "2", "tie")
    elif isinstance(reading, Rating):
        assert protocol.reads_alone
        assert 1.0 <= reading.value <= 10.0
    elif isinstance(reading, Score):
        assert protocol.name == "scalar"
    elif isinstance(reading, Label):
        assert protocol.subject == "query"
        assert reading.name in scenario_names()
    elif isinstance(reading, Critique):
        writes = ("single-critique", "translate", "scenario-seeds")
        assert protocol.name.startswith(writes)
        assert reading.text.strip()
    else:
        assert isinstance(reading, Unreadable)
        assert reading.reason


@given(text=any_text)
def test_what_cannot_be_seen_changes_no_reading(text: str) -> None:
    for name in protocol_names():
        check_that_what_cannot_be_seen_is_not_read(name, text)


def check_that_what_cannot_be_seen_is_not_read(name: str, text: str) -> None:
    parse = load_protocol(name).parse
    spread = "\u200b".join(text)
    seen, hidden = parse(text), parse(spread)
    assert type(seen) is type(hidden)
    if isinstance(seen, Decision | Label | Rating | Score):
        assert seen == hidden


# Runs such as these made ambiguous patterns quadratic or worse: a hang here is the failure.
RUNS = [
    " ", "\n", "\t", "[[", "*", ">", "A\n", "[[A]] or ", "final decision is ", "最终决定",
    "回应1和", "Rating: [[", "for example ", "\u200b",
]  # fmt: skip
OPENINGS = [
    "", "Rating: [[", "So, the final decision is Response 1, Response 2", "option", "<think>",
    "Scenario: planning",
]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in protocol_names() if not name.endswith("-zh")])
@pytest.mark.parametrize("length", [LONG // 10, pytest.param(LONG, marks=pytest.mark.slow)])
def test_long_hostile_texts_are_read_to_their_end(name: str, length: int) -> None:
    parse = load_protocol(name).parse
    for opening, run in itertools.product(OPENINGS, RUNS):
        reading = parse(opening + run * (length // len(run)) + "x")
        assert isinstance(reading, Critique | Decision | Label | Rating | Score | Unreadable)


@given(text=any_text)
def test_cutting_to_whole_sentences_gives_an_opening_of_the_text(text: str) -> None:
    kept = whole_sentences(text)
    assert text.startswith(kept)
    assert whole_sentences(kept) == kept


def test_long_hostile_texts_are_cut_to_whole_sentences() -> None:
    for fragment in (".", ".)", "。", '."', " "):
        text = fragment * LONG + "x"
        assert text.startswith(whole_sentences(text))


MARKERS = ("\ue000Q\ue000", "\ue001A\ue001", "\ue002B\ue002", "\ue003C\ue003", "\ue004D\ue004")


def _case(query: str, first: str, second: str, critique: str, other: str) -> Case:
    return Case(
        id="c",
        query=query,
        scenario="solving_exam_question_with_math",
        cluster="c",
        reference="Four.",
        responses=(Response(text=first), Response(text=second)),
        critiques=(critique, other),
    )


def _texts(name: str, case: Case) -> list[str]:
    protocol = load_protocol(name)
    page = () if protocol.subject == "query" else (0,) if protocol.reads_alone else (0, 1)
    body = protocol.build(case, page)
    return [message.content for message in body.messages]


@given(values=st.tuples(any_text, any_text, any_text, any_text, any_text))
def test_building_puts_texts_in_place_and_changes_nothing_else(
    values: tuple[str, str, str, str, str],
) -> None:
    for name in protocol_names():
        # PandaLM takes the ends of its prompt out of what it compares (test_older_judges.py), and a
        # translation's marks follow from its text (test_translate.py).
        if name != "pandalm" and not name.startswith("translate"):
            check_the_texts_in_place(name, values)


def check_the_texts_in_place(name: str, values: tuple[str, str, str, str, str]) -> None:
    marked = _texts(name, _case(*MARKERS))
    for template, built in zip(marked, _texts(name, _case(*values)), strict=True):
        # One pass from left to right: what a text brings along is never filled again.
        expected, rest = "", template
        while found := [marker for marker in MARKERS if marker in rest]:
            nearest = min(found, key=rest.index)
            before, _, rest = rest.partition(nearest)
            expected += before + values[MARKERS.index(nearest)]
        assert built == expected + rest


@given(value=any_text)
def test_filling_a_template_is_one_pass(value: str) -> None:
    assert fill("a{x}b{y}c", {"x": value, "y": value}) == f"a{value}b{value}c"


def test_filling_a_template_without_one_of_its_values_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill("{query} {response}", {"query": "q"})
