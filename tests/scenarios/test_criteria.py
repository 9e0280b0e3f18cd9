"""A scenario as a system message: the frame of Table 8, with its criteria as in Table 9."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autoj.scenarios import (
    Criterion,
    Scenario,
    render_criteria,
    render_message,
    scenario_names,
    shipped_library,
)
from autoj.scenarios.criteria import CriterionType

MESSAGE = """\
You are given the criteria to craft good responses for this type of query from users:
- The user wants {this}.
The criteria are as follows:
[Criteria start]
The following are the specific criteria for this type of query, focusing on the content aspect:
1. first: It is {description} first.
2. second: It is {criteria} second.

The following are the specific criteria for this type of query, focusing on the format aspect:
1. form: It has a form.

The following are the specific criteria for this type of query, focusing on the style aspect:
1. tone: It has a tone.

The following are the basic and general criteria:
1. ground: It stands on the ground.
[Criteria end]"""


def criterion(name: str, kind: CriterionType, content: str) -> Criterion:
    return Criterion(name=name, content=content, weight=3, type=kind, path=Path("x.yaml"), line=1)


GROUND = criterion("ground", "basic", "It stands on the ground.")
TONE = criterion("tone", "style", "It has a tone.")
FIRST = criterion("first", "content", "It is {description} first.")
FORM = criterion("form", "format", "It has a form.")
SECOND = criterion("second", "content", "It is {criteria} second.")


def scenario(*criteria: Criterion) -> Scenario:
    return Scenario(
        name="own",
        group=None,
        description="The user wants {this}.",
        criteria=criteria,
        path=Path("x.yaml"),
    )


def test_a_message_is_what_it_is_byte_for_byte() -> None:
    assert render_message(scenario(GROUND, TONE, FIRST, FORM, SECOND)) == MESSAGE


def test_types_come_in_order_and_criteria_in_the_files() -> None:
    assert render_criteria(scenario(SECOND, FIRST)).endswith(
        "1. second: It is {criteria} second.\n2. first: It is {description} first."
    )


def test_a_type_without_criteria_has_no_heading() -> None:
    rendered = render_criteria(scenario(TONE, GROUND))
    assert re.findall(r"focusing on the (\w+) aspect", rendered) == ["style"]
    assert rendered.count("\n\n") == 1


@pytest.mark.parametrize("name", scenario_names())
def test_a_shipped_scenario_shows_each_criterion_once(name: str) -> None:
    found = shipped_library().find(name)
    message = render_message(found)
    lines = message.split("\n")
    assert lines[1] == f"- {found.description}"
    assert (lines[3], lines[-1]) == ("[Criteria start]", "[Criteria end]")
    numbered = [line for line in lines if re.match(r"[0-9]+\. ", line)]
    assert sorted(line.split(" ", 1)[1] for line in numbered) == sorted(
        f"{item.name}: {item.content}" for item in found.criteria
    )
    # The numbers begin anew with each type.
    assert numbered[0].startswith("1. ")
    assert sum(line.startswith("1. ") for line in numbered) == len(
        {item.type for item in found.criteria}
    )
    assert "basic and general" in message.rsplit("\n\n", 1)[1]
