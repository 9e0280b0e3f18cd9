"""The audit card: sections in order, each figure with its words."""

from __future__ import annotations

from autoj.metrics.result import Result
from autoj.reports.audit import audit_view

from .pages import check_pages, estimate, page

FIGURES = (
    estimate("calibration", 0.5, 0.4, 0.6),
    estimate("accuracy", 0.75, 0.7, 0.8, n=1200, n_unscored=3),
    estimate("position bias", -0.125, -0.2, -0.05),
)


def card(name: str) -> Result:
    words = {each.name: f"In words of {each.name} and {name}." for each in FIGURES}
    return Result(
        bench="audit",
        judge=name,
        source=f"runs/{name}",
        n_cases=1200,
        estimates=FIGURES,
        parts={"injection": {name: (estimate("flip rate", 1.0, 0.9, 1.0),)}},
        notes=("a note",),
        details={
            "n_questions": 3100,
            "n_judgments": 2400,
            "words": {"estimates": words, "injection": {name: "It flips."}},
            "reliability": [
                {"low": 0.9, "high": 1.0, "n": 1200, "confidence": 0.95, "accuracy": 1}
            ],
            "left_out": {"swap": {f"too long, as {name}": 1200}},
        },
    )


def test_pages():
    check_pages(lambda name: audit_view(card(name)), "75.0 %", "100.0 %", "95.0 %", "2,400")


def test_figures_stand_in_their_sections_with_their_words():
    lines = [line.rstrip() for line in page(audit_view(card("mine")), 100).splitlines()]
    at = lines.index("With people")
    assert lines[at + 1].split() == [
        "accuracy", "(one", "order)", "75.0", "%", "[70.0,", "80.0]", "n=1,200,", "3",
        "unscored",
    ]  # fmt: skip
    assert lines[at + 2] == "    In words of accuracy and mine."
    titles = [lines.index(title) for title in ("With people", "Position", "Calibration")]
    assert titles == sorted(titles)
    assert "  position bias" in lines[lines.index("Position") + 1]


def test_what_was_left_out_is_said_with_its_reason():
    text = page(audit_view(card("mine")))
    assert "left out: swap: 1,200 (too long, as mine)" in text
    assert "  0.9 to 1.0" in text
