"""Asking a language model for a scenario: the paper's prompt, and any spelling of a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.protocols import by_scenarios, load_protocol
from autoj.records import Case, Completion, Label, Unreadable, Verdict
from autoj.scenarios import Library, Scenario, groups, scenario_names, shipped_library

SCENARIO, MENU = load_protocol("scenario"), load_protocol("scenario-menu")
CASE = Case(id="c", query="Write {query} a \n\\1 poem.", responses=(), cluster="c")
PROMPT = (
    "Identify the scenario for the user's query, output 'default' if you are uncertain.\n"
    "Query:\n"
    "Write {query} a \n\\1 poem.\n"
    "Scenario:\n"
)


def test_the_prompt_is_appendix_bs_byte_for_byte() -> None:
    (message,) = SCENARIO.build(CASE, ()).messages
    assert (message.role, message.content) == ("user", PROMPT)


def test_the_menu_lists_each_scenario_once_under_its_group_before_the_same_prompt() -> None:
    system, user = MENU.build(CASE, ()).messages
    assert (system.role, user.content) == ("system", PROMPT)
    listed = [line for line in system.content.split("\n") if line.startswith("- ")]
    expected = [
        f"- {'default' if name == 'others' else name}: {shipped_library().find(name).description}"
        for name in scenario_names()
    ]
    assert listed == expected
    assert all(f"\n{group}:\n- " in system.content for group in groups())
    # Each name of the menu is one that is understood.
    assert [MENU.parse(line[2:].partition(":")[0]) for line in listed] == [
        Label(name=name) for name in scenario_names()
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("code_generation", "code_generation"),
        ("Code Generation", "code_generation"),
        (" **text-to-text translation**.\n", "text_to_text_translation"),
        ('"roleplay"', "roleplay"),
        ("'default'", "others"),
        ("Default.", "others"),
        ("exam_question_without_math", "solving_exam_question_without_math"),
        ("Scenario: planning", "planning"),
        ("Scenario:\nplanning\n\nThe user wants a plan.", "planning"),
        ("The scenario is planning.", "planning"),
        ("Category: small talk", "chitchat"),
        ("1. chitchat", "chitchat"),
        ("planning (General Communication)", "planning"),
        ("planning: the user wants a plan", "planning"),
        ("```\nplanning\n```", "planning"),
        ("<think>A code_generation? No.</think>\n\nplanning", "planning"),
        ("Ｐｌａｎｎｉｎｇ", "planning"),
        ("\u200bplan\u200bning", "planning"),
        ("writing_email\n\nQuery:\nMore.\nScenario:\nplanning", "writing_email"),
    ],
)
def test_a_scenario_is_read_in_any_spelling(text: str, name: str) -> None:
    assert SCENARIO.parse(text) == MENU.parse(text) == Label(name=name)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no scenario is named"),
        (" \n...\n", "no scenario is named"),
        ("<think>planning", "no scenario is named"),
        ("banana", "'banana'"),
        ("rejecting", "'rejecting'"),
        ("plan", "'plan'"),
        ("I cannot help with that request, planning or not.", "no scenario of the taxonomy"),
        ("planning or chitchat", "no scenario of the taxonomy"),
        ("planning, chitchat", "several scenarios are named"),
        ("Paris is the capital of France " * 20, "…"),
    ],
)
def test_anything_else_is_no_scenario(text: str, why: str) -> None:
    reading = SCENARIO.parse(text)
    assert isinstance(reading, Unreadable)
    assert why in reading.reason
    assert len(reading.reason) < 120


names = st.sampled_from(scenario_names())


@given(
    name=names,
    joint=st.sampled_from(["_", " ", "-", "  "]),
    upper=st.sampled_from([str.upper, str.title, str.lower]),
    around=st.sampled_from([("", ""), ("'", "'"), ("**", "**"), ("Scenario: ", "."), ("\n", "\n")]),
)
def test_each_name_is_read_however_it_is_written(name, joint, upper, around) -> None:
    text = around[0] + upper(name.replace("_", joint)) + around[1]
    assert SCENARIO.parse(text) == Label(name=name)


def test_a_completion_is_read_from_its_text_and_nothing_follows() -> None:
    done = Completion(
        key="k", text="planning", finish="length", prompt_tokens=1, completion_tokens=1
    )
    assert SCENARIO.read(done) == Label(name="planning")
    verdict = Verdict(case_id="c", judge="j", scenario="planning")
    assert SCENARIO.follow(CASE, verdict, ()) is None
    assert isinstance(SCENARIO.read_follow(verdict, (), done), Unreadable)


def test_the_menu_may_have_other_scenarios_and_the_papers_prompt_has_none() -> None:
    own = Scenario(
        name="trip", group="Travel", description="A journey.", criteria=(), path=Path("trip.yaml")
    )
    library = Library({"trip": own}, {"journey": "trip"})
    menu = by_scenarios(MENU, library)
    assert "\n\nTravel:\n- trip: A journey.\n\nA query" in menu.build(CASE, ()).messages[0].content
    assert menu.parse("Journey") == menu.parse("trip") == Label(name="trip")
    assert menu.parse("small talk") == Label(name="chitchat")
    assert isinstance(MENU.parse("trip"), Unreadable)
    assert by_scenarios(SCENARIO, library) is SCENARIO
