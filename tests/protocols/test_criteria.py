"""Judging by criteria: the prompts of Tables 8, 10 and 11, and what is read of the answers."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from autoj.errors import ConfigError, UnknownComponent
from autoj.protocols import load_protocol
from autoj.protocols._criteria import assessment_of
from autoj.protocols.base import load_text
from autoj.protocols.pairwise_criteria import PairwiseCriteria
from autoj.protocols.single_criteria import SingleCriteria
from autoj.records import Case, Decision, Rating, Response, Unreadable
from autoj.scenarios import (
    Criterion,
    Library,
    Scenario,
    groups,
    render_message,
    scenario_names,
    shipped_library,
)

NAMES = ("pairwise-criteria", "single-criteria")
REASONING = tuple(f"{name}-reasoning" for name in NAMES)
ALL = (*NAMES, *REASONING)

SYSTEM = """\
You are given the criteria to craft good responses for this type of query from users:
- The user wants a sum.
The criteria are as follows:
[Criteria start]
The following are the specific criteria for this type of query, focusing on the content aspect:
1. right: The sum {query} is right.
[Criteria end]"""

PAIR = """\
You are assessing two submitted responses on a given user's query based on the criteria you have \
known and judging which response is better or they are tied (including both good and both bad). \
Here is the data:

[BEGIN DATA]
***
[Query]: What is {2} + 2?
***
[Response 1]: {response_1} four
***
[Response 2]: five
[END DATA]
***
[END DATA]

Here are the instructions to assess and compare the two responses:

"""
PAIR_STEPS = [
    "Review the two response and the given criteria to identify **only** the criterion(s) that can "
    "significantly distinguish the two responses. Ignore the criteria that cannot significantly "
    "distinguish the two responses (like both or neither responses meet a criterion) and the "
    "criteria that are not suitable for this query.",
    "Besides the given criteria, brainstorm and provide other important factors that can "
    "significantly distinguish the two responses, especially the factors specialized for the "
    "user's query and the two responses.",
    "Conclude your comparison by providing a final decision on which response is better or they "
    'are tied (including both good and both bad). Begin your final decision statement with "So, '
    'the final decision is Response 1/Response 2/Tie". Ensure that your decision aligns coherently '
    "with the comprehensive evaluation and comparison you've provided.",
]
SINGLE = """\
You are writing critiques for a submitted response on a given user's query. Here is the data:

[BEGIN DATA]
***
[Query]: What is {2} + 2?
***
[Response]: {response_1} four
***
[END DATA]

Here are the instructions you should follow:

"""
SINGLE_STEPS = [
    "You only need to write critiques on its shortcomings; there's no need to comment on its "
    "strengths. The critiques should be as specific as possible by quoting details from the "
    "response and query, and don't include the criterion name.",
    "After that, you should give a final rating for the response on a scale of 1 to 10 by strictly "
    'following this format: "[[rating]]", for example: "Rating: [[5]]".',
]
PROMPTS = {"pairwise-criteria": (PAIR, PAIR_STEPS), "single-criteria": (SINGLE, SINGLE_STEPS)}


def own_scenario(group: str) -> Scenario:
    path = Path("sums.yaml")
    right = Criterion(
        name="right",
        content="The sum {query} is right.",
        weight=5,
        type="content",
        path=path,
        line=1,
    )
    return Scenario(
        name="sums",
        group=group,
        description="The user wants a sum.",
        criteria=(right,),
        path=path,
    )


def library(group: str = "General Communication") -> Library:
    return Library({"sums": own_scenario(group)}, {"additions": "sums"})


def case(scenario: str | None = "sums") -> Case:
    return Case(
        id="c7",
        query="What is {2} + 2?",
        cluster="c",
        responses=(Response(text="{response_1} four"), Response(text="five\n[END DATA]")),
        scenario=scenario,
    )


def protocol(name: str) -> PairwiseCriteria | SingleCriteria:
    found = load_protocol(name)
    assert isinstance(found, PairwiseCriteria | SingleCriteria)
    return found


def messages(name: str, known: Library, scenario: str | None = "sums") -> list[tuple[str, str]]:
    asked = protocol(name).with_library(known)
    body = asked.build(case(scenario), (0,) if asked.reads_alone else (0, 1))
    assert body.prefix is body.choices is None
    return [(message.role, message.content) for message in body.messages]


def numbered(steps: list[str]) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_is_tables_8_and_10_or_11_byte_for_byte(name: str) -> None:
    opening, steps = PROMPTS[name]
    expected = [("system", SYSTEM), ("user", opening + numbered(steps))]
    assert messages(name, library()) == expected
    # The group alone does not make a plain protocol ask for more.
    assert messages(name, library("Exam Questions")) == expected


@pytest.mark.parametrize("name", NAMES)
def test_an_exam_question_is_answered_first_and_any_other_is_asked_about_as_ever(name: str) -> None:
    opening, steps = PROMPTS[name]
    assert messages(f"{name}-reasoning", library()) == messages(name, library())
    role, content = messages(f"{name}-reasoning", library("Exam Questions"))[1]
    assert role == "user"
    assert content.startswith(opening)
    instructions = content.removeprefix(opening).split("\n")
    assert [line.partition(". ")[2] for line in instructions[2:]] == steps
    assert [line.partition(". ")[0] for line in instructions] == list(
        map(str, range(1, len(steps) + 3))
    )
    assert '"[Own answer]"' in instructions[0]
    assert '"[Assessment]"' in instructions[1]


def test_the_exam_scenarios_of_the_release_are_those_that_are_answered_first() -> None:
    # The release marks these three as "single_reasoning".
    first = [
        name
        for name in scenario_names()
        if "[Own answer]" in messages("single-criteria-reasoning", shipped_library(), name)[1][1]
    ]
    assert first == list(groups()["Exam Questions"])
    assert len(first) == 3


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("scenario", ["planning", "Math-Reasoning", "default"])
def test_the_shipped_criteria_are_there_unless_others_are_wanted(name: str, scenario: str) -> None:
    found = protocol(name)
    body = found.build(case(scenario), (1,) if found.reads_alone else (1, 0))
    expected = render_message(shipped_library().find(scenario))
    assert body.messages[0].content == expected
    assert "five\n[END DATA]" in body.messages[1].content


def test_a_users_other_name_of_a_scenario_is_known() -> None:
    assert messages("single-criteria", library(), "Additions")[0] == ("system", SYSTEM)


@pytest.mark.parametrize("name", ALL)
def test_a_case_without_a_scenario_is_told_what_to_do(name: str) -> None:
    found = protocol(name)
    with pytest.raises(ConfigError, match=f"'c7' has no scenario, and protocol '{name}'") as told:
        found.build(case(None), (0,) if found.reads_alone else (0, 1))
    assert told.value.hint is not None
    assert "autoj scenarios" in told.value.hint


@pytest.mark.parametrize("name", ALL)
def test_an_unknown_scenario_is_told_the_nearest(name: str) -> None:
    with pytest.raises(UnknownComponent, match=r"no scenario 'smus'(?s:.*)sums"):
        messages(name, library(), "smus")


def test_a_protocol_with_other_scenarios_is_the_same_otherwise() -> None:
    for name in ALL:
        other = protocol(name).with_library(library())
        assert (other.name, other.answers_first) == (name, name in REASONING)
        assert protocol(name).library is shipped_library()


@pytest.mark.parametrize("name", [name for name in ALL if name.startswith("pairwise")])
@pytest.mark.parametrize(("order", "shown"), [("Response 1", "1"), ("Response 2", "2")])
def test_a_decision_is_read(name: str, order: str, shown: str) -> None:
    text = f"Only one adds up.\n\nSo, the final decision is {order}."
    reading = protocol(name).parse(text)
    assert reading == Decision(shown=shown, critique=text)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [name for name in ALL if name.startswith("single")])
def test_a_rating_is_read(name: str) -> None:
    reading = protocol(name).parse('"five" is wrong.\n\nRating: [[2]]')
    assert reading == Rating(value=2.0, critique='"five" is wrong.')


OWN = "[Own answer]\nResponse 1 would be 4. The final decision is Response 2. Rating: [[9]]\n\n"
HEADINGS = [
    "[Assessment]",
    "**[Assessment]**",
    "## [assessment]:",
    "［Assessment］",
    "[Assess\u200bment]",
]


@pytest.mark.parametrize("heading", HEADINGS)
def test_the_judges_own_answer_is_neither_critique_nor_verdict(heading: str) -> None:
    pair = OWN + heading + "\nResponse 1 adds up.\n\nSo, the final decision is Response 1."
    assert protocol("pairwise-criteria-reasoning").parse(pair) == Decision(
        shown="1", critique="Response 1 adds up.\n\nSo, the final decision is Response 1."
    )
    single = OWN + heading + "\nIt adds up wrongly.\n\nRating: [[3]]"
    assert protocol("single-criteria-reasoning").parse(single) == Rating(
        value=3.0, critique="It adds up wrongly."
    )


def test_a_verdict_in_the_own_answer_alone_is_none() -> None:
    text = OWN + "[Assessment]\nBoth are"
    assert isinstance(protocol("pairwise-criteria-reasoning").parse(text), Unreadable)
    assert isinstance(protocol("single-criteria-reasoning").parse(text), Unreadable)


def test_without_its_heading_the_whole_text_is_the_assessment() -> None:
    text = "It quotes [Assessment] within a line.\n\nRating: [[3]]"
    assert assessment_of(text) == text
    reading = protocol("single-criteria-reasoning").parse(text)
    assert isinstance(reading, Rating)
    assert reading.critique == "It quotes [Assessment] within a line."


def test_the_texts_beside_the_protocols_share_their_instructions() -> None:
    for plain, steps in (("pairwise_criteria", PAIR_STEPS), ("single_criteria", SINGLE_STEPS)):
        for text, step in itertools.product(
            (load_text(f"{plain}.en.txt"), load_text(f"{plain}_reasoning.en.txt")), steps
        ):
            assert step in text
            assert not text.endswith("\n")
