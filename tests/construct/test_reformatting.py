"""Teachers' judgments in the layout of Table 18."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj import critiques
from autoj.construct.reformatting import NotReformattable, reformat
from autoj.construct.response_names import named_alike
from autoj.critiques import Factor
from autoj.protocols import load_protocol
from autoj.records import SHOWN, Decision, Shown

from .teacher_texts import TEXTS


@pytest.mark.parametrize(("text", "decision", "wanted"), TEXTS)
def test_each_shape_of_text(text: str, decision: str, wanted: tuple[str, ...] | str) -> None:
    if isinstance(wanted, str):
        with pytest.raises(NotReformattable, match=wanted):
            reformat(text, decision)  # type: ignore[arg-type]
        return
    made = reformat(text, decision)  # type: ignore[arg-type]
    assert tuple(factor.name for factor in made.factors) == wanted
    rendered = critiques.render(made)
    assert critiques.parse(rendered) == made
    reading = load_protocol("pairwise").parse(rendered)
    assert isinstance(reading, Decision)
    assert reading.shown == decision


def test_there_are_enough_shapes() -> None:
    assert len(TEXTS) >= 60


def test_nothing_of_the_teachers_own_answer_is_left() -> None:
    text = "[Own answer]\nThe capital is Bern.\n\n[Assessment]\n- Fact: Response 1 says Bern.\n\n"
    made = reformat(text + "So, the final decision is Response 1.", "1")
    assert "The capital" not in critiques.render(made)


def test_the_remark_stays_behind_the_decision() -> None:
    made = reformat(
        "- Tone: Response 1 is warm.\n\nSo, the final decision is Response 1. Close.", "1"
    )
    assert made.remark == "Close."


@pytest.mark.parametrize(
    ("closing", "decision", "remark"),
    [
        ("Response 1, as it names the dose.", "1", "Response 1 is better as it names the dose."),
        ("Response 2, which names the dose.", "2", "Response 2 names the dose."),
        ("Tie because both are wrong.", "tie", "Neither is better because both are wrong."),
        ("Response 2 is the better response.", "2", ""),
        ("Response 1. Both are short, though.", "1", "Both are short, though."),
        ("Response 1 in the end.", "1", ""),
        ("Response 1. It is close.\n- Response 2\n- Tie", "1", "It is close."),
        ("\n\n- **Tie**: neither answers.", "tie", ""),
    ],
)
def test_the_remark_is_a_sentence(closing: str, decision: Shown, remark: str) -> None:
    text = f"- Dose: Response 1 names it.\n\nSo, the final decision is {closing}"
    assert reformat(text, decision).remark == remark


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            'The first answer says "face", while the second says "hands".',
            'Response 1 says "face", while Response 2 says "hands".',
        ),
        ("Answer A cites it; the latter does not.", "Response 1 cites it; Response 2 does not."),
        # Nothing shows that a response is meant.
        ("The second is the standard unit.", "The second is the standard unit."),
        ("Response 1 leaves out the second step.", "Response 1 leaves out the second step."),
    ],
)
def test_a_response_has_one_name(text: str, wanted: str) -> None:
    assert named_alike(text, "en") == wanted


def test_what_is_said_of_each_response_in_turn_is_one_factor() -> None:
    text = "**Response 1**\n- Tone: curt\n\n**Response 2**\n- Tone: warm.\n"
    made = reformat(f"{text}\nSo, the final decision is Response 2.", "2")
    assert made.factors == (Factor(name="Tone", explanation="Response 1: curt; Response 2: warm."),)


def test_what_is_said_twice_stands_once() -> None:
    text = (
        "- Tone: Response 1 is curt.\n- Depth: Response 2 is thin.\n- Tone: Response 1 is curt.\n"
    )
    first, _ = reformat(f"{text}\nSo, the final decision is Tie.", "tie").factors
    assert first.explanation == "Response 1 is curt."


def test_a_response_is_named_once_above_its_list() -> None:
    text = "**Response 1**\n- It cites the law.\n- It is short.\n\nSo, the final decision is Tie."
    (factor,) = reformat(text, "tie").factors
    assert factor.explanation == "Response 1: It cites the law. It is short."


_PIECES = st.sampled_from(
    [
        "Response 1", "Response 2", "is", ":", "\n", "\n\n", "- ", "1. ", "**", "|", "{", "}", '"',
        "#", "So, the final decision is", "Tie", "回应1", "最终决定", "[Assessment]", "\t", "…",
    ]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=40), st.sampled_from(SHOWN))
def test_any_text_is_reformatted_or_refused(pieces: list[str], decision: str) -> None:
    try:
        made = reformat(" ".join(pieces), decision)  # type: ignore[arg-type]
    except NotReformattable:
        return
    assert critiques.parse(critiques.render(made)) == made


def test_a_long_gap_in_a_heading_takes_no_time() -> None:
    # A pattern that can split the gap in several ways takes hours here.
    text = f"# Depth{' ' * 6_000}of it\n\n**Tone**{' ' * 6_000}x\n\nResponse 1 is deeper."
    assert reformat(text, "1").decision == "1"


@pytest.mark.parametrize("filling", ["\n", " ", "- ", "* \n", "....", "Response 1 "])
def test_what_is_long_takes_no_time(filling: str) -> None:
    text = f"Response 1 is deeper.{filling * 3_000}So, the final decision is Response 1."
    assert reformat(text, "1").decision == "1"


def test_closing_marks_of_a_heading_are_no_name() -> None:
    made = reformat("## Depth ##\nResponse 1 is deeper.", "1")
    assert made.factors[0].name == "Depth"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("回答一个问题，回答一下，再回复一次。", "回答一个问题，回答一下，再回复一次。"),
        ("回答一更好，第二个回答较短。", "回应1更好，回应2较短。"),
        ("答案A比助手 2好。", "回应1比回应2好。"),
    ],
)
def test_chinese_names_of_responses_are_told_from_other_words(text: str, named: str) -> None:
    assert named_alike(text, "zh") == named
