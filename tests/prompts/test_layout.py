"""The file of a prompt: what is read of it, and every fault told with its place."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.errors import ConfigError, DataError
from autoj.prompts import Prompt, read_prompt, read_text, write_prompt
from autoj.prompts.answers import Choices, JsonField, Like, Patterns, Rule
from autoj.prompts.template import KNOWN, fill, literal, placeholders

PLACE = Path("my.md")
FRONT = "---\nname: mine\nkind: pairwise\nanswer:\n  pattern: 'Verdict: ([12]|tie)'\n---\n"
BODY = "Q: {query}\n1: {response_1}\n2: {response_2}\n"


def test_a_file_is_read_with_its_two_messages_to_the_letter() -> None:
    text = FRONT + "\n<!-- system -->\n\n Be {{fair}}.  \n\n<!--user-->\n" + BODY + "\n\n"
    prompt = read_prompt(text, PLACE)
    assert prompt == Prompt(
        name="mine",
        kind="pairwise",
        system=" Be {{fair}}.  ",
        user=BODY.rstrip("\n"),
        answer=Patterns(rules=(Rule(pattern="Verdict: ([12]|tie)"),)),
    )


def test_without_sections_all_is_the_users_message() -> None:
    prompt = read_prompt(FRONT + BODY, PLACE)
    assert (prompt.system, prompt.user) == (None, BODY.rstrip("\n"))


def test_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "my.md"
    path.write_bytes(b"\xef\xbb\xbf" + (FRONT + BODY).replace("\n", "\r\n").encode())
    assert read_text(path) == FRONT + BODY


RATED = "---\nname: n\nkind: single\nanswer: {{{answer}}}\n---\n{{query}} {{response}}"
ANSWERS = {
    "like: single": Like(protocol="single"),
    "field: verdict.score": JsonField(path=("verdict", "score")),
    "pattern: 'S: (.)', which: first": Patterns(rules=(Rule(pattern="S: (.)"),), which="first"),
    "patterns: {'1': bad, '5': good}, scale: [1, 5]": Patterns(
        rules=(Rule(pattern="bad", value="1"), Rule(pattern="good", value="5"))
    ),
    "choices: {' 1': 1, ' 2': 2}, prefix: 'S:'": Choices(
        choices=((" 1", "1"), (" 2", "2")), prefix="S:"
    ),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_each_way_of_reading_an_answer_can_be_said(answer: str) -> None:
    prompt = read_prompt(RATED.format(answer=answer), PLACE)
    assert prompt.answer == ANSWERS[answer]
    assert read_prompt(write_prompt(prompt, ["a note"]), PLACE) == prompt


EDGES = st.lists(
    st.sampled_from(
        ["\n", " ", "words", "---", "\r", "<!-- user -->", "<!-- system -->", "<!--x-->"]
    )
).map("".join)


@given(before=EDGES, after=EDGES, system=st.none() | EDGES)
def test_a_prompt_is_written_so_that_it_is_read_or_refused(
    before: str, after: str, system: str | None
) -> None:
    user = f"{before}{BODY.strip()}{after}"
    prompt = replace(read_prompt(FRONT + BODY, PLACE), user=user, system=system)
    with suppress(ConfigError):
        assert read_prompt(write_prompt(prompt), PLACE) == prompt


@pytest.mark.parametrize(
    ("system", "user", "said"),
    [
        (None, f"\n{BODY}x", "the user message of prompt 'mine' begins or ends with an empty line"),
        (None, BODY, "begins or ends with an empty line"),
        ("Be fair.\n", f"{BODY}x", "the system message of prompt 'mine' begins or ends"),
        (None, f"{BODY}<!-- user -->\nx", "has the line '<!-- user -->', which begins a message"),
        ("", f"{BODY}x", "the system message of prompt 'mine' is empty"),
        (None, f"{BODY}x\ry", "has a carriage return"),
    ],
)
def test_what_a_file_would_not_keep_is_refused_by_name(
    system: str | None, user: str, said: str
) -> None:
    prompt = replace(read_prompt(FRONT + BODY, PLACE), user=user, system=system)
    with pytest.raises(ConfigError, match=re.escape(said)):
        write_prompt(prompt)


FAULTS = [
    ("", 1, None, "has no front matter"),
    ("name: mine\n" + BODY, 1, None, "has no front matter"),
    ("---\nname: [\n---\n" + BODY, None, None, "is not YAML"),
    (FRONT.replace("mine", "two words") + BODY, 2, "name", "pattern"),
    (FRONT.replace("pairwise", "pair") + BODY, 3, "kind", "'pairwise' or 'single'"),
    (FRONT.replace("kind", "kinds") + BODY, 3, "kinds", "did you mean kind?"),
    (FRONT.replace("pattern:", "patern:") + BODY, 5, "answer.patern", "did you mean pattern?"),
    (FRONT.replace("'Ver", "'(Ver") + BODY, 2, "answer", "is not one of RE2: missing )"),
    (FRONT.replace("(", "(?=x)(") + BODY, 2, "answer", "invalid perl operator"),
    (FRONT.replace("  pattern", "  like: pairwise\n  pattern") + BODY, 4, "answer", "expected one"),
    (FRONT.replace("---\nQ", "") + BODY.replace("{query}", "{qurey}"), 7, None, "mean {query}?"),
    (FRONT + "\n\nOK\n" + BODY.replace("{query}", "{{query}}"), 10, None, "single braces"),
    (FRONT + BODY.replace("{query}", "{response}"), 7, None, "belongs to a single prompt"),
    (FRONT + BODY.replace("2: {response_2}", ""), 7, None, "{response_2}, and this one does not"),
    (FRONT + "Judge.", 7, None, "{query} and {response_1} and {response_2}"),
    (FRONT + "<!-- sytem -->\nS\n<!-- user -->\n" + BODY, 7, None, "did you mean <!-- system -->?"),
    (FRONT + "<!-- user -->\n" + BODY + "<!-- system -->\nS", 11, None, "stands there twice"),
    (FRONT + "lost\n<!-- user -->\n" + BODY, 7, None, "there is text before"),
    (FRONT + "<!-- system -->\n" + BODY, None, None, "has no text for the judge"),
    (FRONT + "\n \n", None, None, "has no text for the judge"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "field", "said"), FAULTS)
def test_a_fault_is_told_with_its_place(
    text: str, line: int | None, field: str | None, said: str
) -> None:
    with pytest.raises(DataError) as told:
        read_prompt(text, PLACE)
    assert said in told.value.reason
    assert told.value.path == PLACE
    assert told.value.field == field
    if line is not None:
        assert told.value.line == line


VALUES = [
    ("pairwise", "pattern: x, values: {A: 3}", "means 1, 2 or tie; found '3'"),
    ("pairwise", "pattern: x, values: {yes: 1}", "quotation marks"),
    ("pairwise", "field: x, scale: [1, 5]", "scale is for ratings"),
    ("pairwise", "like: pairwise, values: {A: 1}", "does not go with like"),
    ("pairwise", "field: x, which: first", "does not go with field"),
    ("pairwise", "choices: {A: 1}", "at least 2 items"),
    ("single", "patterns: {'11': x}", "a number from 1 to 10; found '11'"),
    ("single", "choices: {good: 7, bad: 2}, scale: [1, 5]", "from 1 to 5; found '7'"),
    ("single", "field: x, scale: [5, 1]", "the lower first"),
    ("single", "field: x, scale: [1, .inf]", "finite number"),
    ("single", "pattern: 'a{1000}{1000}'", "is not one of RE2"),
    ("single", "pattern: '" + "a" * 2001 + "'", "longer than 2,000"),
]


def test_a_placeholder_that_stands_there_thousands_of_times_is_told() -> None:
    with pytest.raises(
        DataError, match=r"my\.md:10: \{response_2\} stands there more than 20 times"
    ):
        read_prompt(FRONT + BODY + "{response_2}" * 20, PLACE)


@pytest.mark.parametrize(("kind", "answer", "said"), VALUES)
def test_values_that_do_not_fit_the_kind_are_told(kind: str, answer: str, said: str) -> None:
    text = f"---\nname: n\nkind: {kind}\nanswer: {{{answer}}}\n---\n{BODY}{{response}}"
    with pytest.raises(DataError) as told:
        read_prompt(text, PLACE)
    assert said in str(told.value)


def test_a_file_that_is_missing_no_text_or_too_long_is_told(tmp_path: Path) -> None:
    for content, said in ((None, "no such prompt"), (b"\xff", "UTF-8"), (b"x" * 300_000, "longer")):
        path = tmp_path / f"{said[:2]}.md"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(DataError, match=said):
            read_text(path)
    with pytest.raises(DataError, match="no such prompt"):
        read_text(tmp_path)
    with pytest.raises(DataError, match="no such prompt"):
        read_text(tmp_path / ("x" * 5000))


@given(text=st.text() | st.text(alphabet="-{}<>! \nqueryname:_12"))
def test_any_text_is_a_prompt_or_an_error_of_ours(text: str) -> None:
    for whole in (text, FRONT + text, FRONT + BODY + text, f"---\n{text}\n---\n{BODY}"):
        try:
            prompt = read_prompt(whole, PLACE)
        except DataError:
            continue
        assert prompt.placeholders <= set(KNOWN["pairwise"]) | set(KNOWN["single"])


@given(text=st.text(alphabet="{}ab_ \n"))
def test_a_literal_stands_for_itself(text: str) -> None:
    assert placeholders(literal(text)) == set()
    assert fill(literal(text), {}) == text
