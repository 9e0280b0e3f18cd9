"""What a figure of the audit means for who uses the judge, in a line of plain words.

The words depend on the interval: a bias is only called one where its interval excludes none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from autoj.bench.audit.edits import EDITS
from autoj.bench.audit.injections import HARMLESS, STYLES
from autoj.records import Estimate

__all__ = ["edit_words", "figure_words", "injection_words"]

_Words: TypeAlias = Callable[[Estimate, float], str]
"""An estimate and its value, which is known, to words."""

_CHANCE_BRIER = 2 / 3
"""The Brier score of a third for each of a, b and tie."""
_NEAR = 1e-9


def figure_words(estimate: Estimate, trivial: tuple[str, float] | None = None) -> str:
    """The meaning of a figure over all cases.

    Args:
        estimate: one of the card's.
        trivial: the best trivial judge on the same cases, with its accuracy.
    """
    if estimate.name == "accuracy" and trivial is not None:
        return _said(estimate, lambda found, value: _accuracy(found, value, trivial))
    return _said(estimate, _WORDS[estimate.name])


def edit_words(edit: str, estimate: Estimate) -> str:
    """The meaning of an edit's format bias."""
    looks = EDITS[edit][0]
    return _said(
        estimate,
        lambda found, value: _signed(
            found,
            value,
            f"Prefers it with {looks}: {_share(value)} of 100 on balance.",
            f"Prefers it without {looks}: {_share(value)} of 100 on balance.",
            "No preference for or against it is shown.",
        ),
    )


def injection_words(style: str, estimate: Estimate) -> str:
    """The meaning of the flip rate of a style, or of harmless text."""
    if style == HARMLESS:
        return _said(
            estimate,
            lambda _, value: f"Harmless text there turns {_share(value)} of 100: chance.",
        )
    what = STYLES[style][0].upper() + STYLES[style][1:]
    return _said(
        estimate,
        lambda found, value: (
            f"{what} turns {_share(value)} of 100."
            if _excludes(found, 0)
            else f"{what} turned none."
        ),
    )


def _said(estimate: Estimate, words: _Words) -> str:
    if estimate.value is None:
        reason = estimate.reason or "not known"
        return f"{reason[0].upper()}{reason[1:]}."
    return words(estimate, estimate.value)


def _share(value: float) -> str:
    """A share as a number of 100, without its sign; a small one keeps a digit.

    >>> _share(0.525), _share(-0.004)
    ('52', '0.4')
    """
    hundredths = abs(value) * 100
    return f"{hundredths:.1f}" if 0 < hundredths < 0.95 else f"{hundredths:.0f}"


def _excludes(estimate: Estimate, ideal: float) -> bool:
    """Whether the interval leaves a value out; where there is none, whether the value differs."""
    if estimate.low is None or estimate.high is None:
        return estimate.value is not None and abs(estimate.value - ideal) > _NEAR
    return not estimate.low - _NEAR <= ideal <= estimate.high + _NEAR


def _signed(estimate: Estimate, value: float, above: str, below: str, neither: str) -> str:
    if not _excludes(estimate, 0):
        return neither
    return above if value > 0 else below


def _accuracy(estimate: Estimate, value: float, trivial: tuple[str, float]) -> str:
    name, its = trivial
    told = f"Right in {_share(value)} of 100 pairs; the trivial judge `{name}` in {_share(its)}"
    if not _excludes(estimate, its):
        return f"{told}: no better, as far as is shown."
    return f"{told}: better." if value > its else f"{told}: worse."


def _consistency(estimate: Estimate, value: float) -> str:
    if not _excludes(estimate, 1):
        return "Swapping the responses never changed its verdict."
    return f"Swapping the responses changes its verdict in {_share(1 - value)} of 100 pairs."


def _identical(estimate: Estimate, value: float) -> str:
    if not _excludes(estimate, 1):
        return "Two equal texts are a tie, always."
    return f"Two equal texts are a tie in {_share(value)} of 100 cases; they should be in all."


def _retest(estimate: Estimate, value: float) -> str:
    if not _excludes(estimate, 1):
        return "Asked again, it says the same."
    return f"Asked again, it says something else in {_share(1 - value)} of 100 judgments."


def _flips(estimate: Estimate, value: float) -> str:
    if not _excludes(estimate, 0):
        return "No text in a response turned a judgment its way."
    return f"Text that speaks to the judge turns {_share(value)} of 100 judgments its way."


def _brier(estimate: Estimate, value: float) -> str:
    if not _excludes(estimate, _CHANCE_BRIER):
        return "Its probabilities tell no more than a third for each would (0.667)."
    if value > _CHANCE_BRIER:
        return "Its probabilities mislead: a third for each would do better (0.667)."
    return "Its probabilities tell more than a third for each would (0.667)."


_WORDS: Mapping[str, _Words] = {
    "accuracy": lambda _, value: f"Right in {_share(value)} of 100 pairs.",
    "averaged accuracy": lambda _, value: (
        f"Right in {_share(value)} of 100 when both orders are averaged."
    ),
    "agreement": lambda _, value: (
        f"Both orders say what people say in {_share(value)} of 100 pairs."
    ),
    "kappa": lambda found, value: _signed(
        found,
        value,
        "Agrees with people beyond chance (0 is chance, 1 is always).",
        "Agrees with people less than chance would (0 is chance).",
        "Agreement with people beyond chance (0) is not shown.",
    ),
    "consistency": _consistency,
    "position bias": lambda found, value: _signed(
        found,
        value,
        f"Prefers what is shown first, in {_share(value)} of 100 judgments on balance.",
        f"Prefers what is shown second, in {_share(value)} of 100 judgments on balance.",
        "No preference for a place on the page is shown.",
    ),
    "length bias": lambda found, value: _signed(
        found,
        value,
        f"Names the longer response {_share(value)} points more often than people do.",
        f"Names the longer response {_share(value)} points less often than people do.",
        "No more taste for length than people's is shown.",
    ),
    "longer preferred by the judge": lambda _, value: (
        f"Where it decides, it names the longer response in {_share(value)} of 100."
    ),
    "longer preferred by people": lambda _, value: (
        f"Where people decide, they name the longer response in {_share(value)} of 100."
    ),
    "accuracy, close in length": lambda _, value: (
        f"Right in {_share(value)} of 100 where lengths differ by 10 % at most."
    ),
    "tie on an identical pair": _identical,
    "first on an identical pair": lambda _, value: (
        f"Of two equal texts it names the first in {_share(value)} of 100 cases."
    ),
    "flip rate": _flips,
    "flips above harmless text": lambda found, value: _signed(
        found,
        value,
        f"It obeys: {_share(value)} of 100 more than harmless text turns.",
        f"It resists: {_share(value)} of 100 fewer than harmless text turns.",
        "No more than harmless text turns: that it obeys is not shown.",
    ),
    "test-retest": _retest,
    "unreadable": lambda found, value: (
        f"{_share(value)} of 100 judgments state no verdict that can be read."
        if _excludes(found, 0)
        else "Every judgment could be read."
    ),
    "failed": lambda found, value: (
        f"{_share(value)} of 100 judgments got no answer."
        if _excludes(found, 0)
        else "Every judgment got an answer."
    ),
    "calibration": _brier,
    "expected calibration error": lambda _, value: (
        f"How sure it says it is and how often it is right differ by {_share(value)} points."
    ),
}
"""Each figure's words, by its name."""
