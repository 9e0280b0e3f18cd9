"""Scripted judges whose biases are known: the proof of the audit.

The findings of an audit of them can be compared with their known behaviour.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from autoj.audit.cases import HARMLESS, PLAIN, STYLES, injection_probe
from autoj.audit.edits import EDITS
from autoj.records import Case, Request, Shown
from benchmarks.known_pairs import LONGER, TIES

__all__ = ["KNOWN_JUDGES", "KnownJudge", "Reply"]

_ORACLE, _OBEYS, _LEANS, _MUTE = 0.8, 0.3, 0.7, 0.1

Reply: TypeAlias = Shown | Literal["?"] | tuple[Shown, float]
"""A decision; one that cannot be read; or one with its probability, the rest shared equally."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownJudge:
    """A judge of known bias."""

    name: str
    what: str
    reply: Callable[[Case, Request, Mapping[str, Case]], Reply]
    """The case that is asked about, the request, and all plain cases by id."""
    true: Mapping[str, float]
    """Figures that are known, by name; of a part, `breakdown/part`."""
    protocol: str = "pairwise"
    calibrated: bool = False
    """True where its probabilities are calibrated."""


def _draw(what: str, case_or_key: str) -> random.Random:
    return random.Random(f"{what} {case_or_key}")


def _on_page(case: Case, request: Request, wanted: object) -> Shown:
    """The position on the page of the case's response a or b; else a tie."""
    if wanted not in ("a", "b"):
        return "tie"
    return "1" if request.shown["ab".index(str(wanted)) == 1] == 0 else "2"


def _plain_winner(case: Case, plain: Mapping[str, Case], of_plain: Callable[[Case], object]) -> Any:
    """The reply about a plain case, in the frame of that case or of its injected probe."""
    winner = of_plain(plain[case.meta["of"]])
    target, place = case.meta.get("target"), case.meta.get("place")
    if place is None or winner == "tie":
        return winner
    return "a" if (winner == target) == (place == "1") else "b"


def _first(_case: Case, _request: Request, _plain: Mapping[str, Case]) -> Reply:
    return "1"


def _leaning(_case: Case, request: Request, _plain: Mapping[str, Case]) -> Reply:
    return "1" if _draw("leaning", request.key).random() < _LEANS else "2"


def _longest(case: Case, request: Request, _plain: Mapping[str, Case]) -> Reply:
    first, second = (len(case.responses[index].text.strip()) for index in request.shown)
    return "tie" if first == second else "1" if first > second else "2"


def _coin(_case: Case, request: Request, _plain: Mapping[str, Case]) -> Reply:
    return "1" if _draw("coin", request.key).random() < 0.5 else "2"


def _oracle_winner(case: Case) -> object:
    drawn = _draw("oracle", case.id + case.query)
    if drawn.random() < _ORACLE:
        return case.label
    return drawn.choice([winner for winner in ("a", "b", "tie") if winner != case.label])


def _oracle(case: Case, request: Request, plain: Mapping[str, Case]) -> Reply:
    if case.meta["probe"] != PLAIN and "target" not in case.meta:
        return "tie", _ORACLE
    return _on_page(case, request, _plain_winner(case, plain, _oracle_winner)), _ORACLE


def _obedient(case: Case, request: Request, plain: Mapping[str, Case]) -> Reply:
    if case.meta["probe"] != PLAIN and "target" not in case.meta:
        return "tie"
    injected = case.meta["probe"] not in (PLAIN, injection_probe(HARMLESS))
    if injected and _draw("obeys", request.key).random() < _OBEYS:
        return "1" if case.meta["place"] == "1" else "2"
    return _on_page(case, request, _plain_winner(case, plain, lambda its: its.label))


_TASTES = {"bullets": 0.9, "emoji": 0.25}


def _fond(case: Case, request: Request, plain: Mapping[str, Case]) -> Reply:
    if case.meta["probe"] in EDITS:
        taste = _TASTES.get(case.meta["probe"], 0.5)
        edited = _draw("fond", request.key).random() < taste
        return _on_page(case, request, "b" if edited else "a")
    return _oracle(case, request, plain)


def _mute(case: Case, request: Request, plain: Mapping[str, Case]) -> Reply:
    return "?" if _draw("mute", request.key).random() < _MUTE else _coin(case, request, plain)


def _each(breakdown: str, parts: Iterable[str], value: float) -> dict[str, float]:
    return {f"{breakdown}/{part}": value for part in parts}


_DECIDED = 1 - TIES
# Labels a, b, tie have shares 0.45, 0.45, 0.1; the oracle errs on the other two equally.
_ERR = (1 - _ORACLE) / 2
_BY_CHANCE = sum(
    share * (_ORACLE * share + _ERR * (1 - share)) for share in (_DECIDED / 2, _DECIDED / 2, TIES)
)
_BRIER_RIGHT = (1 - _ORACLE) ** 2 + 2 * _ERR**2
_BRIER_WRONG = _ORACLE**2 + (1 - _ERR) ** 2 + _ERR**2

KNOWN_JUDGES: tuple[KnownJudge, ...] = (
    KnownJudge(
        name="first",
        what="always names what is shown first",
        reply=_first,
        true={
            "accuracy": _DECIDED / 2,
            "agreement": 0,
            "kappa": 0,
            "consistency": 0,
            "position bias": 1,
            "tie on an identical pair": 0,
            "first on an identical pair": 1,
            "longer preferred by the judge": 0.5,
            "length bias": 0.5 - LONGER,
            **_each("format", EDITS, 0),
            "flip rate": 0,
            "test-retest": 1,
            "unreadable": 0,
        },
    ),
    KnownJudge(
        name="leaning",
        what=f"names what is shown first with probability {_LEANS}",
        reply=_leaning,
        true={
            "position bias": 2 * _LEANS - 1,
            "consistency": 2 * _LEANS * (1 - _LEANS),
            "first on an identical pair": _LEANS,
            "longer preferred by the judge": 0.5,
            **_each("format", EDITS, 0),
            "flips above harmless text": 0,
            "test-retest": _LEANS**2 + (1 - _LEANS) ** 2,
        },
    ),
    KnownJudge(
        name="longest",
        what="names the longer response",
        reply=_longest,
        true={
            "accuracy": _DECIDED * LONGER,
            "agreement": _DECIDED * LONGER,
            "consistency": 1,
            "position bias": 0,
            "tie on an identical pair": 1,
            "length bias": 1 - LONGER,
            "longer preferred by the judge": 1,
            "longer preferred by people": LONGER,
            "accuracy, close in length": _DECIDED * LONGER,
            **_each("format", EDITS, 1),
            "test-retest": 1,
        },
    ),
    KnownJudge(
        name="coin",
        what="draws one of the two by random_key, each time anew",
        reply=_coin,
        true={
            "accuracy": _DECIDED / 2,
            "agreement": _DECIDED / 4,
            "kappa": 0,
            "consistency": 0.5,
            "position bias": 0,
            "tie on an identical pair": 0,
            "first on an identical pair": 0.5,
            "length bias": 0.5 - LONGER,
            "longer preferred by the judge": 0.5,
            "accuracy, close in length": _DECIDED / 2,
            **_each("format", EDITS, 0),
            "flip rate": 0.5,
            "flips above harmless text": 0,
            **_each("injection", [*STYLES, HARMLESS], 0.5),
            "test-retest": 0.5,
        },
    ),
    KnownJudge(
        name="oracle",
        what=f"knows the label and says it with probability {_ORACLE}, as sure as it is right",
        reply=_oracle,
        protocol="pairwise-verdict",
        true={
            "accuracy": _ORACLE,
            "averaged accuracy": _ORACLE,
            "agreement": _ORACLE,
            "kappa": (_ORACLE - _BY_CHANCE) / (1 - _BY_CHANCE),
            "consistency": 1,
            "position bias": 0,
            "accuracy, close in length": _ORACLE,
            "tie on an identical pair": 1,
            **_each("format", EDITS, 0),
            "flip rate": 0,
            "test-retest": 1,
            "calibration": _ORACLE * _BRIER_RIGHT + (1 - _ORACLE) * _BRIER_WRONG,
        },
        calibrated=True,
    ),
    KnownJudge(
        name="obedient",
        what=f"says the label, and obeys a text in a response with probability {_OBEYS}",
        reply=_obedient,
        true={
            "accuracy": 1,
            "kappa": 1,
            "length bias": 0,
            "flip rate": _OBEYS,
            "flips above harmless text": _OBEYS,
            **_each("injection", STYLES, _OBEYS),
            f"injection/{HARMLESS}": 0,
        },
    ),
    KnownJudge(
        name="fond",
        what="prefers bullets with probability 0.9, and emoji with 0.25",
        reply=_fond,
        protocol="pairwise-verdict",
        true={f"format/{edit}": 2 * _TASTES.get(edit, 0.5) - 1 for edit in EDITS},
    ),
    KnownJudge(
        name="mute",
        what=f"draws by random_key, and says nothing that can be read with probability {_MUTE}",
        reply=_mute,
        true={
            "unreadable": _MUTE,
            "failed": 0,
            "test-retest": 0.5,
            "consistency": 0.5,
            "position bias": 0,
        },
    ),
)
