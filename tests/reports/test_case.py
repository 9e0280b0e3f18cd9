"""One case with its judgments: every outcome has its line, and judged text is not obeyed."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Group

from autoj.records import (
    Asked,
    Calibration,
    Case,
    Completion,
    Decision,
    Failure,
    Judgment,
    Label,
    Rating,
    Reading,
    Response,
    Score,
    Unreadable,
    Verdict,
)
from autoj.reports.case import case_view, first_critique
from autoj.runs import CaseRecord

from .pages import HOSTILE, check_pages, page


def case(name: str, n: int = 2) -> Case:
    responses = tuple(Response(text=f"{name}\n2\n3\n4", model=name) for _ in range(n))
    return Case(id=name, query=name, cluster=name, responses=responses, label="a", scenario=name)


def asked(shown: tuple[int, ...], sample: int = 0, truncated: bool = False) -> Asked:
    return Asked(
        case_id="1", judge="j", protocol="p", shown=shown, sample=sample, scored=False,
        truncated=truncated, key="k",
    )  # fmt: skip


def judged(reading: Reading, shown: tuple[int, ...] = (0, 1), **its) -> tuple[Asked, Judgment]:
    completion = Completion(
        key="k", text="", finish="stop", prompt_tokens=1234, completion_tokens=5
    )
    question = asked(shown, **its)
    return question, Judgment(asked=question, completion=completion, reading=reading)


def pair(name: str) -> CaseRecord:
    failure = Failure(key="k", error="Refused", message=name, retryable=False, attempts=1)
    return CaseRecord(
        case=case(name),
        verdict=Verdict(
            case_id=name, judge="j", winner="a", winners=("a", None), rule="agreed",
            vote_shares=(2 / 3, 0.5), ratings=(7.25, None), rating_sds=(0.5, None),
            probabilities=(0.5, 0.25, 0.25), critiques=(None, name), n_unreadable=1,
        ),
        judgments=(
            judged(Decision(shown="2", probabilities=(0.25, 0.5, 0.25)), (1, 0), truncated=True),
            judged(Decision(shown="tie")),
            judged(Rating(value=7.25), (0,), sample=1),
            judged(Score(value=-0.5), (1,)),
            judged(Label(name=name), ()),
            judged(Unreadable(reason=name)),
            (asked((0, 1)), failure),
            (asked((1, 0)), None),
        ),
        paired=True,
        calibration=Calibration(surface={"length": 1.0}),
    )  # fmt: skip


def test_pages():
    check_pages(lambda name: case_view(pair(name)), "P(a) 0.500", "7.25 ± 0.50", "by 66.7 %")


def test_every_outcome_of_a_question_has_its_words():
    text = page(case_view(pair("plain")), 120)
    for words in (
        "Response 2, which is a (0.250 / 0.500 / tie 0.250)", "1,234 + 5, truncated", "Tie",
        "rating 7.25", "score -0.5000", "scenario plain", "unreadable: plain", "failed: plain",
        "no answer yet", "b then a, sample 1", "a alone, sample 2",
    ):  # fmt: skip
        assert words in text


def test_a_verdict_says_how_it_came_about():
    text = page(case_view(pair("plain")), 120)
    assert "Winner: a, plain (both orders name this winner)" in text
    assert "Vote on a then b: no majority; at most 50.0 % of the readable samples agree" in text
    assert "Ratings of a and b: 7.25 ± 0.50, unreadable" in text
    assert "Averaged over the orders and calibrated: P(a) 0.500, P(b) 0.250, P(tie) 0.250" in text
    assert "add to a: +0.00" in text


def test_a_case_without_a_verdict_is_shown():
    text = page(case_view(replace(pair("plain"), verdict=None), n_lines=2))
    assert "This case is not judged yet." in text
    assert "… 2 more lines; --full shows them" in text
    assert "Winner" not in text


def test_a_rated_response_and_a_named_scenario():
    verdict = Verdict(case_id="1", judge="j", ratings=(7.25,))
    record = CaseRecord(case=case("x", 1), verdict=verdict, judgments=(), paired=False)
    assert "Rating: 7.2\n" in page(case_view(record))
    named = replace(record, verdict=Verdict(case_id="1", judge="j", scenario=HOSTILE))
    assert "Scenario: [bold]x[/bold]" in page(case_view(named))
    unknown = replace(record, verdict=Verdict(case_id="1", judge="j"))
    assert "Scenario: not known" in page(case_view(unknown))


def test_a_name_that_a_classifier_gave_is_told():
    guessed = {"by": "classifier", "classifier": "fast", "probability": 0.625}
    named = replace(case("x"), meta={"scenario_named_by": guessed})
    text = page(case_view(replace(pair("x"), case=named)))
    assert "(by the classifier fast, probability 0.62)" in text


def test_the_first_critique_is_shown_with_its_case():
    both = [(case(name), Verdict(case_id=name, judge="j", critiques=its)) for name, its in (
        ("one", ()), ("two", (None, "It is clear.")),
    )]  # fmt: skip
    text = page(Group(*first_critique(both)))
    assert "Critique of case two" in text
    assert "  It is clear." in text
    assert first_critique(both[:1]) == []
