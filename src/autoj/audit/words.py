"""The meaning of an audit's figures for a judge's user, each in a line of plain words.

The words depend on the interval: a bias is only reported where its interval excludes zero.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from autoj.audit.cases import HARMLESS, STYLES
from autoj.audit.edits import EDITS
from autoj.records import Estimate
from autoj.verdicts.baselines import BASELINE_JUDGES

CALIBRATED = "By chance alone, a perfectly calibrated judge gets this."
"""The meaning of the expected calibration error of a calibrated judge."""

_Words: TypeAlias = Callable[[Estimate, float], str]
"""An estimate and its value, which is known, to words."""

_CHANCE_BRIER = 2 / 3
"""The Brier score of a third for each of a, b and tie."""
_NEAR = 1e-9


def figure_words(estimate: Estimate) -> str:
    """The meaning of a figure over all cases."""
    return _said(estimate, _WORDS[estimate.name])


def accuracy_words(estimate: Estimate, above: Mapping[str, Estimate]) -> str:
    """The meaning of the accuracy, compared with that of the baselines.

    Args:
        estimate: the accuracy.
        above: the lead over each baseline on the same cases.
    """
    told = figure_words(estimate)
    if estimate.value is None or not above:
        return told
    if worse := _names(name for name, found in above.items() if _side(found) < 0):
        versus = f"worse than the baseline {worse}"
    elif level := _names(name for name, found in above.items() if _side(found) == 0):
        versus = f"not distinguishable from the baseline {level}"
    else:
        versus = "better than every baseline"
    return f"{told.removesuffix('.')}: {versus}."


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def baseline_words(name: str, estimate: Estimate) -> str:
    """The meaning of the lead in accuracy over a baseline."""
    what = BASELINE_JUDGES[name][0]
    beaten = {1: "the judge is better", 0: "not distinguishable", -1: "the judge is worse"}
    return _said(estimate, lambda found, _: f"{what[0].upper()}{what[1:]}: {beaten[_side(found)]}.")


def calibration_error_words(estimate: Estimate, calibrated: Estimate | None) -> str:
    """The meaning of the expected calibration error.

    Args:
        estimate: the error.
        calibrated: that of a calibrated judge on as many cases.
    """
    told = figure_words(estimate)
    if estimate.value is None or calibrated is None or calibrated.value is None:
        return told
    beyond = estimate.value > calibrated.value and _excludes(calibrated, estimate.value)
    so = "miscalibrated" if beyond else "no evidence of miscalibration"
    return f"{told.removesuffix('.')}; a calibrated judge's by {_share(calibrated.value)}: {so}."


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
            "No evidence of a preference for or against it.",
        ),
    )


def injection_words(style: str, estimate: Estimate) -> str:
    """The meaning of the flip rate of a style, or of harmless text."""
    if style == HARMLESS:
        return _said(
            estimate,
            lambda _, value: f"Harmless text flips {_share(value)} of 100: chance.",
        )
    what = STYLES[style][0].upper() + STYLES[style][1:]
    return _said(
        estimate,
        lambda found, value: (
            f"{what} flips {_share(value)} of 100."
            if _excludes(found, 0)
            else f"{what} flips none."
        ),
    )


def _said(estimate: Estimate, words: _Words) -> str:
    if estimate.value is None:
        reason = estimate.reason or "unknown"
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
    """True where the interval leaves a value out; without an interval, where the value differs."""
    if estimate.low is None or estimate.high is None:
        return estimate.value is not None and abs(estimate.value - ideal) > _NEAR
    return not estimate.low - _NEAR <= ideal <= estimate.high + _NEAR


def _side(difference: Estimate) -> int:
    """1 or -1 where the whole interval lies on that side of 0, else 0."""
    if difference.low is None or difference.high is None:
        return 0
    return int(difference.low > 0) - int(difference.high < 0)


def _signed(estimate: Estimate, value: float, above: str, below: str, neither: str) -> str:
    if not _excludes(estimate, 0):
        return neither
    return above if value > 0 else below


def _consistency(estimate: Estimate, value: float) -> str:
    if not _excludes(estimate, 1):
        return "Swapping the responses never changed its verdict."
    return f"Swapping the responses changes its verdict in {_share(1 - value)} of 100 pairs."


def _identical(estimate: Estimate, value: float) -> str:
    if not _excludes(estimate, 1):
        return "Two identical texts are always a tie."
    return f"Two identical texts are a tie in {_share(value)} of 100 cases; they should be in all."


def _retest(estimate: Estimate, value: float) -> str:
    if not _excludes(estimate, 1):
        return "Asked again, it gives the same verdicts."
    return f"Asked again, it gives another verdict in {_share(1 - value)} of 100 judgments."


def _flips(estimate: Estimate, value: float) -> str:
    if not _excludes(estimate, 0):
        return "No injected text flipped a judgment its way."
    return f"Text addressed to the judge flips {_share(value)} of 100 judgments its way."


def _brier(estimate: Estimate, value: float) -> str:
    if not _excludes(estimate, _CHANCE_BRIER):
        return "Its probabilities are no better than a third for each (0.667)."
    if value > _CHANCE_BRIER:
        return "Its probabilities are misleading: worse than a third for each (0.667)."
    return "Its probabilities are better than a third for each (0.667)."


_WORDS: Mapping[str, _Words] = {
    "accuracy": lambda _, value: f"Right in {_share(value)} of 100 pairs.",
    "averaged accuracy": lambda _, value: (
        f"Right in {_share(value)} of 100 when both orders are averaged."
    ),
    "agreement": lambda _, value: (
        f"Both orders equal the human label in {_share(value)} of 100 pairs."
    ),
    "kappa": lambda found, value: _signed(
        found,
        value,
        "Agrees with people beyond chance (0 is chance, 1 is always).",
        "Agrees with people less than chance would (0 is chance).",
        "No evidence of agreement with people beyond chance (0).",
    ),
    "consistency": _consistency,
    "position bias": lambda found, value: _signed(
        found,
        value,
        f"Prefers what is shown first, in {_share(value)} of 100 judgments on balance.",
        f"Prefers what is shown second, in {_share(value)} of 100 judgments on balance.",
        "No evidence of a preference for a position.",
    ),
    "length bias": lambda found, value: _signed(
        found,
        value,
        f"Names the longer response {_share(value)} points more often than people do.",
        f"Names the longer response {_share(value)} points less often than people do.",
        "No evidence of more preference for length than people's.",
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
        f"Of two identical texts it names the first in {_share(value)} of 100 cases."
    ),
    "flip rate": _flips,
    "flips above harmless text": lambda found, value: _signed(
        found,
        value,
        f"It obeys: {_share(value)} of 100 more than harmless text flips.",
        f"It resists: {_share(value)} of 100 fewer than harmless text flips.",
        "No more than harmless text flips: no evidence that it obeys.",
    ),
    "test-retest": _retest,
    "unreadable": lambda found, value: (
        f"{_share(value)} of 100 judgments have no readable verdict."
        if _excludes(found, 0)
        else "Every judgment is readable."
    ),
    "failed": lambda found, value: (
        f"{_share(value)} of 100 judgments failed."
        if _excludes(found, 0)
        else "No judgment failed."
    ),
    "calibration": _brier,
    "expected calibration error": lambda _, value: (
        f"Its confidence and its accuracy differ by {_share(value)} points."
    ),
}
"""Each figure's words, by its name."""
