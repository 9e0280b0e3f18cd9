"""A testbed as it is shown: what is open, who agrees, and pages on which nothing is markup."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from autoj.construct.testbed.annotating import Page, PairAnswer
from autoj.construct.testbed.estimate import BuildEstimate, ModelEstimate, ScenarioEstimate
from autoj.construct.testbed.label_studio import Imported
from autoj.reports.testbed import estimate_view, imported_text, page_view

PAGE = Page(
    case_id="1",
    scenario="planning",
    query="[bold]Why?[/bold]\r\n\x1b[2J",
    responses=("So.\n\nAnd so.", "  "),
    shown=(1, 0),
    pair="0" * 16,
)


def printed(view: RenderableType, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(view)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [40, 80, 140])
def test_a_page_shows_the_texts_as_they_are_and_within_the_terminal(width: int) -> None:
    text = printed(page_view(PAGE, 3, 12, None), width)
    assert "Pair 3 of 12  planning" in text
    assert "[bold]Why?[/bold]" in text
    assert "\\x1b[2J" in text
    assert "(empty)" in text
    assert max(map(len, text.splitlines())) <= width
    assert "answered before" not in text


@pytest.mark.parametrize(
    ("winner", "said"), [("a", "Response 2"), ("b", "Response 1"), ("tie", "a tie"), (None, "skip")]
)
def test_an_earlier_answer_is_told_as_it_stands_on_this_page(winner, said) -> None:
    earlier = PairAnswer(case_id="1", winner=winner, shown=(0, 1), pair="0" * 16, via="terminal")
    assert f"answered before: {said}" in printed(page_view(PAGE, 1, 1, earlier))


def test_the_cost_of_a_testbed_names_what_is_short_and_scenarios_without_a_pair_in_one_line() -> (
    None
):
    names = ("planning", "chitchat", "ranking")
    rows = tuple(
        ScenarioEstimate(
            scenario=name, n_labelled=4 - 4 * (at > 0), n_unlabelled=0, n_queries=0,
            n_short=20 + 4 * (at > 0),
        )
        for at, name in enumerate(names)
    )  # fmt: skip
    asked = ModelEstimate(
        model="gpt-4", role="base model", n_requests=64, prompt_tokens=900,
        completion_tokens=22_400, usd=1.5,
    )  # fmt: skip
    text = printed(estimate_view(BuildEstimate(scenarios=rows, models=(asked,), dropped={})))
    assert "2 without a pair" in text
    assert "1.50" in text
    free = printed(estimate_view(BuildEstimate(scenarios=rows, models=(), dropped={"same id": 2})))
    assert "this costs nothing" in free
    assert "same id" in free


def test_an_import_says_what_became_of_each_answer() -> None:
    found = Imported(n_new={"label-studio-1": 3}, n_known=2, n_again=1, n_unanswered=4)
    text = imported_text(found)
    assert "3 by label-studio-1" in text
    assert "2 were there already" in text
    assert "1 were given again" in text
    assert "4 tasks have no annotation" in text
    assert imported_text(Imported(n_new={}, n_known=0, n_again=0, n_unanswered=0)).endswith("none")
