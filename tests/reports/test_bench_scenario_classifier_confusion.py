"""Tables of one scenario classifier: groups and scenarios that it takes for others."""

from __future__ import annotations

from autoj.bench.scenario_classifier.confusion import UNREADABLE, Confused, GroupConfusion, Missed
from autoj.metrics.calibration import ReliabilityBin
from autoj.metrics.result import Result
from autoj.reports.bench_scenario_classifier_confusion import classifier_view
from autoj.scenarios import groups

from .pages import check_pages, estimate, page, rows

GROUPS = tuple(groups())


def right(n: int = 1200):
    return estimate("accuracy", 0.5, 0.4, 0.6, n=n)


def missed(scenario: str, n_others: int = 4) -> Missed:
    others = tuple(
        Confused(label=scenario, guess=f"other{at}", n=1000 - at) for at in range(n_others)
    )
    return Missed(scenario=scenario, right=right(), can_be_named=False, taken_for=others)


def result(name: str, n_missed: int = 12) -> Result:
    guesses = (*GROUPS, "home-made", UNREADABLE)
    counts = tuple(
        tuple(1234 if at == place else at % 2 for at in range(len(guesses)))
        for place in range(len(GROUPS))
    )
    worst = [missed(name if number == 0 else f"scenario {number}") for number in range(n_missed)]
    return Result(
        bench="x",
        judge=name,
        source="weights",
        n_cases=9,
        estimates=(),
        parts={
            "group": {group: (right(),) for group in GROUPS},
            "scenario": {
                name: (right(), estimate("F1", 1.0)),
                "b": (right(1), estimate("F1", None)),
            },
        },
        details={
            "confusion": GroupConfusion(labels=GROUPS, guesses=guesses, counts=counts),
            "missed": worst,
            "reliability": [
                ReliabilityBin(low=0.9, high=1.0, n=1200, confidence=0.95, accuracy=1.0)
            ],
            "digest": "sha256:0123456789abcdef",
            "set_name": "testbed",
        },
    )


def test_pages():
    check_pages(
        lambda name: classifier_view(result(name)), "1,234", "50.0 [40, 60]", "95.0", "100.0"
    )
    check_pages(
        lambda name: classifier_view(result(name), all_scenarios=True), "50.0 [40, 60]", "100.0"
    )


def test_groups_stand_in_the_papers_order_under_their_short_names():
    title, head, first, *_ = rows(page(classifier_view(result("mine")), 120))
    assert " ".join(title) == "mine on testbed (weights, sha256:0123456789ab)"
    assert head[-10:] == [
        "Summ",
        "Exam",
        "Code",
        "Rewr",
        "Crea",
        "Func",
        "Comm",
        "NLP",
        "else",
        "?",
    ]
    assert first[:6] == ["Summarization", "1,200", "50.0", "[40,", "60]", "1,234"]
    assert first[7] == "·"


def test_the_worst_are_listed_and_the_others_counted():
    text = page(classifier_view(result("mine")))
    assert "2 more with --by scenario" in text
    assert "scenario 10" not in text
    assert "other0 1,000, other1 999, other2 998, and 997" in " ".join(text.split())
    assert "(cannot be named)" in " ".join(text.split())
    assert "no row is taken for another scenario" in page(classifier_view(result("mine", 0)))


def test_a_scenario_without_an_f1_has_a_dash():
    lines = rows(page(classifier_view(result("mine"), all_scenarios=True)))
    assert ["b", "1", "50.0", "[40,", "60]", "-"] in lines
