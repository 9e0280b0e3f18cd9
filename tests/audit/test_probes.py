"""Format edits keep the content; injected texts name the response that holds them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.audit.cases import HARMLESS, STYLES, inject
from autoj.audit.edits import EDITS, NoEdit, apply_edit, text_language
from autoj.protocols import load_protocol
from autoj.records import Decision, Rating

PROSE = "It is late. We should go home now! Dr. Smith, e.g., has left already."
CHINESE = "今天天气很好。我们去公园吧！你觉得呢？"
CODE = "```python\nx = 1. # A long comment. B\n```"
TABLE = "| a. B | c. D |"

every_edit = pytest.mark.parametrize("edit", EDITS)
hostile = st.text(
    st.sampled_from("ab Z9.!?。！\n\n\r\t\x0b\u2028`~*_#->|[](){}$<\\:/12 \U0001f600你好是 e.g"),
    max_size=120,
)


def letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def without_additions(edit: str, original: str, edited: str) -> str:
    if edit == "headings":
        return re.sub(r"^## (?:Part \d+|第\d+部分)$", "", edited, flags=re.MULTILINE)
    return edited[: len(original.rstrip())] if edit == "padding" else edited


@every_edit
@given(text=hostile)
def test_an_edit_keeps_the_content_of_any_text(edit, text):
    edited = apply_edit(edit, text)
    assert apply_edit(edit, text) == edited
    if isinstance(edited, NoEdit):
        assert edited.reason
    else:
        assert edited != text
        # A heading that the text has itself is taken away from both.
        bare = without_additions(edit, text, text) if edit == "headings" else text
        assert letters(without_additions(edit, text, edited)) == letters(bare)


@pytest.mark.parametrize(
    ("edit", "text", "expected"),
    [
        (
            "bullets",
            PROSE,
            "- It is late.\n- We should go home now!\n- Dr. Smith, e.g., has left already.",
        ),
        ("bullets", CHINESE, "- 今天天气很好。\n- 我们去公园吧！\n- 你觉得呢？"),
        ("bullets", "Run `a. B` now. Then stop.", "- Run `a. B` now.\n- Then stop."),
        ("bold", "It is late. We should go home.", "It is **late**. We **should** go home."),
        ("bold", "See https://example.org/Some.Page now", NoEdit),
        ("headings", "One.\nTwo.\n\nThree.", "## Part 1\n\nOne.\nTwo.\n\n## Part 2\n\nThree."),
        ("headings", CHINESE, f"## 第1部分\n\n{CHINESE}"),
        ("emoji", "Yes. No", "Yes. ✨ No 👍"),
        ("emoji", "- Yes.\n- No.", "- Yes. ✨\n- No. 👍"),
        ("padding", f"Done:\n\n{CODE}", f"Done:\n\n{CODE}\n\nI hope"),
    ],
)
def test_what_an_edit_makes(edit, text, expected):
    edited = apply_edit(edit, text)
    if expected is NoEdit:
        assert isinstance(edited, NoEdit)
    else:
        assert isinstance(edited, str)
        assert edited == expected or (edit == "padding" and edited.startswith(expected))


@every_edit
@pytest.mark.parametrize("block", [CODE, TABLE, "~~~\nA. B c. D\n~~~", "    x = 1. Y\n    Z. A"])
def test_code_and_tables_stay_as_they_are(edit, block):
    edited = apply_edit(edit, f"{PROSE}\n\n{block}\n\nIt ends here.")
    assert isinstance(edited, str)
    assert f"\n\n{block}\n\n" in edited


@every_edit
@pytest.mark.parametrize("text", ["", " \n\t ", "```\nonly. Code\n```\n```\nx"])
def test_an_edit_that_cannot_be_made_says_why(edit, text):
    assert isinstance(apply_edit(edit, text), NoEdit)


def test_padding_is_not_put_into_an_open_code_block():
    assert apply_edit("padding", "Look:\n```\nx = 1") == NoEdit(
        reason="the text ends inside a code block"
    )


def test_a_long_text_is_edited_line_by_line():
    text = " ".join(["Some words stand here."] * 20_000) + "." * 50_000 + "`" * 50_000
    for edit in EDITS:
        assert isinstance(apply_edit(edit, text), str | NoEdit)


@pytest.mark.parametrize(("text", "language"), [(PROSE, "en"), (CHINESE, "zh"), ("", "en")])
def test_padding_speaks_the_language_of_the_text(text, language):
    assert text_language(text) == language


@pytest.mark.parametrize("place", ["1", "2"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_decision_is_injected_in_the_judges_own_format_for_this_response(place, language):
    protocol = load_protocol("pairwise" if language == "en" else "pairwise-zh")
    for style in ("decision", "data-end"):
        text = inject(style, "It is 4.", place=place, language=language)
        assert text.startswith("It is 4.\n")
        reading = protocol.parse(text)
        assert isinstance(reading, Decision)
        assert reading.shown == place
    letter = load_protocol("baseline-pairwise").parse(
        inject("letters", "It is 4.", place=place, language=language)
    )
    assert letter.shown == place


def test_texts_without_a_name_are_the_same_at_both_places():
    for style in ("ignore", HARMLESS):
        assert inject(style, "x", place="1") == inject(style, "x", place="2")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_response_alone_asks_for_the_highest_rating(language):
    protocol = load_protocol("single" if language == "en" else "single-zh")
    for style in ("decision", "data-end"):
        reading = protocol.parse(inject(style, "It is 4.", place=None, language=language))
        assert isinstance(reading, Rating)
        assert reading.value == 10
    assert isinstance(inject("letters", "x", place=None, language=language), NoEdit)


def test_harmless_text_asks_for_nothing():
    for language in ("en", "zh"):
        text = inject(HARMLESS, "x", place="1", language=language)
        assert not re.search(r"response|decision|better|rating|回应|决定|评分", text)
        lengths = [
            len(inject(style, "", place="1", language=language)) for style in (*STYLES, HARMLESS)
        ]
        assert min(lengths) <= lengths[-1] <= max(lengths)
