from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Literal

import pytest

from autoj.calibration import style_lead
from autoj.calibration.style_fitting import N_PAIRS_NEEDED, fit_style
from autoj.errors import ConfigError
from autoj.records import Case, Response


def drawn(n: int, weight: float, seed: int = 0) -> list[Case]:
    """Pairs whose labels follow from their lines, as the model says."""
    draw = random.Random(seed)
    cases = []
    for number in range(n):
        lines = draw.randint(1, 9), draw.randint(1, 9)
        lead = weight * (math.log1p(lines[0]) - math.log1p(lines[1]))
        label: Literal["a", "b"] = "a" if draw.random() < 1 / (1 + math.exp(-lead)) else "b"
        texts = ("\n".join(["w" * (10 // n_lines)] * n_lines) for n_lines in lines)
        cases.append(
            Case(
                id=str(number),
                query="q",
                cluster=str(number),
                label=label,
                responses=tuple(Response(text=text) for text in texts),
            )
        )
    return cases


def test_what_decided_the_labels_is_found_again() -> None:
    cases = drawn(4000, weight=1.5)
    weights, n_pairs = fit_style(cases)
    assert n_pairs == 4000
    right = [(style_lead(case, weights) > 0) == (case.label == "a") for case in cases]
    known = [(style_lead(case, {"lines": 1.5}) > 0) == (case.label == "a") for case in cases]
    assert sum(right) / len(right) == pytest.approx(sum(known) / len(known), abs=0.01)
    # No response holds a digit.
    assert "digits" not in weights


def test_exchanging_responses_changes_nothing() -> None:
    cases = drawn(600, weight=1.5)
    back = [
        Case(
            id=case.id,
            query=case.query,
            cluster=case.cluster,
            label="b" if case.label == "a" else "a",
            responses=case.responses[::-1],
        )
        for case in cases
    ]
    assert fit_style(back).weights == pytest.approx(fit_style(cases).weights, rel=1e-3, abs=1e-6)


def test_too_few_decided_pairs_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=f"need at least {N_PAIRS_NEEDED} pairs labelled a or b, found 499"
    ):
        fit_style(drawn(N_PAIRS_NEEDED - 1, weight=1.0))


def test_a_feature_in_which_few_pairs_differ_gets_no_weight() -> None:
    cases = drawn(1000, weight=1.0)
    few = [
        replace(case, responses=(Response(text=f"{case.responses[0].text} 7"), case.responses[1]))
        for case in cases[:29]
    ]
    assert "digits" not in fit_style([*few, *cases[29:]]).weights
    more = [
        replace(case, responses=(Response(text=f"{case.responses[0].text} 7"), case.responses[1]))
        for case in cases[:30]
    ]
    assert "digits" in fit_style([*more, *cases[30:]]).weights
