"""A calibration is found again in data that were drawn from it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from autoj.calibration import outcome_probabilities
from autoj.calibration.fitting import N_NEEDED, StyleLeads, fit_calibration
from autoj.errors import ConfigError
from autoj.records import WINNERS, Calibration, Winner

TRUE = Calibration(temperature=1.4, tie=0.6)


def drawn(n: int, true: Calibration = TRUE, seed: int = 0) -> tuple[list[float], list[Winner]]:
    """Preferences, and labels that follow from them as the model says."""
    generator = np.random.default_rng(seed)
    preferences = generator.normal(0.2, 2.0, n).tolist()
    labels: list[Winner] = [
        WINNERS[generator.choice(3, p=outcome_probabilities(preference, true))]
        for preference in preferences
    ]
    return preferences, labels


def tied(labels: list[Winner]) -> float:
    return labels.count("tie") / len(labels)


def test_temperature_and_band_are_found_again() -> None:
    preferences, labels = drawn(20_000)
    found = fit_calibration(preferences, labels)
    assert found.calibration.temperature == pytest.approx(TRUE.temperature, rel=0.05)
    assert found.calibration.tie == pytest.approx(TRUE.tie, rel=0.05)
    assert found.tie_share == tied(labels)
    assert found.n == {label: labels.count(label) for label in WINNERS}
    assert (found.n_left_out, found.reason) == (0, None)


def test_errors_are_as_large_as_their_spread_over_draws() -> None:
    fits = [fit_calibration(*drawn(1000, seed=seed)).calibration for seed in range(1, 21)]
    for name in ("temperature", "tie"):
        values = np.array([getattr(fit, name) for fit in fits])
        error = values.std(ddof=1) / math.sqrt(len(values))
        assert abs(values.mean() - getattr(TRUE, name)) < 3 * error


def test_ties_that_a_file_lacks_are_weighted_back() -> None:
    preferences, labels = drawn(20_000)
    kept = [place for place, label in enumerate(labels) if label != "tie" or place % 10 == 0]
    fewer = [preferences[place] for place in kept], [labels[place] for place in kept]
    plain = fit_calibration(*fewer).calibration
    assert plain.tie < TRUE.tie / 3
    weighted = fit_calibration(*fewer, tie_share=tied(labels)).calibration
    assert weighted.temperature == pytest.approx(TRUE.temperature, rel=0.05)
    assert weighted.tie == pytest.approx(TRUE.tie, rel=0.05)


def test_no_other_calibration_is_likelier() -> None:
    preferences, labels = drawn(500)
    found = fit_calibration(preferences, labels, tie_share=0.4)
    weight = {name: (0.4 if name == "tie" else 0.6) for name in WINNERS}
    n = {
        name: labels.count("tie") if name == "tie" else 500 - labels.count("tie")
        for name in WINNERS
    }

    def log_loss(calibration: Calibration) -> float:
        return -sum(
            weight[label] / n[label]
            * math.log(outcome_probabilities(preference, calibration)[WINNERS.index(label)])
            for preference, label in zip(preferences, labels, strict=True)
        )  # fmt: skip

    best = log_loss(found.calibration)
    assert found.after.log_loss == pytest.approx(best)
    temperature, tie = found.calibration.temperature, found.calibration.tie
    for near in ((1.02, 1), (0.98, 1), (1, 1.02), (1, 0.98)):
        moved = Calibration(temperature=temperature * near[0], tie=tie * near[1])
        assert log_loss(moved) > best


def test_exchanging_responses_changes_nothing() -> None:
    preferences, labels = drawn(300)
    flip = {"a": "b", "b": "a", "tie": "tie"}
    other: list[Any] = [flip[label] for label in labels]
    swapped = fit_calibration([-one for one in preferences], other)
    found = fit_calibration(preferences, labels)
    assert swapped.calibration.temperature == found.calibration.temperature
    assert swapped.calibration.tie == found.calibration.tie
    assert swapped.after == found.after
    # Data whose first response is always the better one is data like other data.
    towards = [
        -preference if label == "b" else preference
        for preference, label in zip(preferences, labels, strict=True)
    ]
    first: list[Any] = ["a" if label == "b" else label for label in labels]
    assert fit_calibration(towards, first).calibration.temperature == pytest.approx(
        found.calibration.temperature, rel=1e-4
    )


def test_labels_without_ties_give_a_temperature_alone_and_say_so() -> None:
    preferences, labels = drawn(5000, Calibration(temperature=0.7, tie=0.0))
    found = fit_calibration(preferences, labels)
    assert found.calibration.tie == 0
    assert found.calibration.temperature == pytest.approx(0.7, rel=0.1)
    assert found.reason is not None
    assert "no pair is labelled a tie" in found.reason


def test_a_scale_of_its_own_changes_the_temperature_alone() -> None:
    preferences, labels = drawn(400)
    plain = fit_calibration(preferences, labels).calibration
    for scale in (1e-6, 1e6):
        scaled = fit_calibration([one * scale for one in preferences], labels).calibration
        assert scaled.temperature == pytest.approx(plain.temperature * scale, rel=1e-3)
        assert scaled.tie == pytest.approx(plain.tie, rel=1e-3)


def test_pairs_without_a_label_or_a_preference_are_left_out_and_counted() -> None:
    preferences, labels = drawn(200)
    found = fit_calibration([*preferences, None, 1.0, 2.0], [*labels, "a", None, 7.5])
    assert found.n_left_out == 3
    assert found.calibration == fit_calibration(preferences, labels).calibration


def test_figures_before_are_of_the_probabilities_where_there_are_any() -> None:
    preferences, labels = drawn(300)
    alone = fit_calibration(preferences, labels).before
    assert (alone.log_loss, alone.brier) == (None, None)
    right = sum(
        label == ("a" if preference > 0 else "b")
        for preference, label in zip(preferences, labels, strict=True)
    )
    assert alone.accuracy == right / 300
    flat = fit_calibration(preferences, labels, before=[(0.25, 0.25, 0.5)] * 300).before
    assert flat.accuracy == tied(labels)
    assert flat.log_loss == pytest.approx(
        -tied(labels) * math.log(0.5) - (1 - tied(labels)) * math.log(0.25)
    )
    assert flat.brier is not None
    never = fit_calibration(preferences, labels, before=[(0.5, 0.5, 0.0)] * 300).before
    assert (never.log_loss, never.brier is None) == (None, False)


def test_a_calibration_says_what_it_was_fitted_on() -> None:
    preferences, labels = drawn(300)
    found = fit_calibration(preferences, labels, tie_share=0.3, data="mine.jsonl")
    a, b, ties = (labels.count(label) for label in WINNERS)
    assert found.calibration.fitted_on == (
        f"mine.jsonl: {a} a, {b} b, {ties} ties weighted to 30 %"
    )
    assert found.tie_share == 0.3


@pytest.mark.parametrize(
    ("n", "within"), [(4000, 0.1), pytest.param(20_000, 0.05, marks=pytest.mark.slow)]
)
def test_what_surface_adds_is_found_again(n: int, within: float) -> None:
    generator = np.random.default_rng(5)
    leads = generator.normal(0.0, 1.0, n)
    known, _ = drawn(n)
    labels: list[Winner] = [
        WINNERS[generator.choice(3, p=outcome_probabilities(gap + 0.8 * lead, TRUE))]
        for gap, lead in zip(known, leads, strict=True)
    ]
    surface = StyleLeads(
        weights={"lines": 2.0, "digits": -1.0}, leads=leads.tolist(), fitted_on="others"
    )
    queries = [f"query {number % (n // 4)}" for number in range(n)]
    found = fit_calibration(known, labels, surface=surface, clusters=queries)
    plain = fit_calibration(known, labels, clusters=queries)
    assert found.calibration.temperature == pytest.approx(TRUE.temperature, rel=within)
    assert found.calibration.surface == pytest.approx({"lines": 1.6, "digits": -0.8}, rel=within)
    assert found.calibration.fitted_on is not None
    assert found.calibration.fitted_on.endswith("; style features: others")
    assert plain.calibration.surface == {}
    assert found.held_out is not None
    assert plain.held_out is not None
    assert found.held_out.log_loss == pytest.approx(found.after.log_loss, abs=20 / n)
    assert (found.held_out.log_loss or 0) < (plain.held_out.log_loss or 0) - 0.02
    assert found.held_out.decided > plain.held_out.decided + 0.01


def test_held_out_pairs_are_by_fits_that_did_not_see_their_query() -> None:
    # A lead that is the label's sign in one query alone: who saw the query, trusts it.
    preferences, labels = drawn(400)
    signs = [{"a": 1.0, "b": -1.0, "tie": 0.0}[label] for label in labels]
    leads = [sign if place < 200 else -sign for place, sign in enumerate(signs)]
    surface = StyleLeads(weights={"lines": 1.0}, leads=leads, fitted_on="a leak")
    queries = ["first"] * 200 + ["second"] * 200
    found = fit_calibration(preferences, labels, surface=surface, clusters=queries)
    assert found.held_out is None
    apart = fit_calibration(
        preferences, labels, surface=surface, clusters=[str(number) for number in range(400)]
    )
    assert apart.held_out is not None
    assert (apart.held_out.log_loss or 0) > (apart.after.log_loss or 0)


def test_labels_that_surface_separates_are_refused_and_one_without_a_judge_is_told() -> None:
    preferences, labels = drawn(400)
    decided = [place for place, label in enumerate(labels) if label != "tie"]
    known = [preferences[place] for place in decided]
    named = [labels[place] for place in decided]
    signs = [1.0 if label == "a" else -1.0 for label in named]

    def beside(leads: list[float]) -> StyleLeads:
        return StyleLeads(weights={"lines": 1.0}, leads=leads, fitted_on="others")

    with pytest.raises(ConfigError, match="separate the labels"):
        fit_calibration(known, named, surface=beside(signs))
    # What the judge knows is in the leads, and the judge is noise against it.
    noisy = [sign * (1.0 if place % 5 else -1.0) for place, sign in enumerate(signs)]
    against = [lead + 0.3 * (lead - sign) for lead, sign in zip(noisy, signs, strict=True)]
    with pytest.raises(ConfigError, match="preferences add nothing to the style features"):
        fit_calibration(against, named, surface=beside(noisy))


def few(n: int) -> tuple[list[float], list[Any]]:
    preferences, labels = drawn(n)
    return preferences, list(labels)


FAULTS: list[tuple[list[float], list[Any], float | None, str]] = [
    (*few(N_NEEDED - 1), None, "needs at least 100 pairs"),
    ([1.0, 2.0] * 100, ["tie"] * 200, None, "every pair is labelled a tie"),
    ([1.0, -2.0] * 100, ["a", "a"] * 100, 0.3, "ties cannot be weighted to 30 %"),
    ([2.0] * 200, ["a", "a", "b", "tie"] * 50, None, "all preferences are 2"),
    ([0.0] * 200, ["a", "b"] * 100, None, "all preferences are 0"),
    ([1.0, -1.0] * 100, ["b", "a"] * 100, None, "do not agree with the labels"),
    ([1.0, -2.0] * 100, ["a", "b"] * 100, None, "separate the labels"),
    ([3.0, 0.1, -2.0] * 100, ["a", "tie", "b"] * 100, None, "separate the labels"),
    (*few(200), 1.0, "between 0 and 1"),
    (*few(200), 0.0, "between 0 and 1"),
]


@pytest.mark.parametrize(("preferences", "labels", "tie_share", "message"), FAULTS)
def test_data_that_nothing_can_be_fitted_to_say_what_is_needed(
    preferences: list[float], labels: list[Any], tie_share: float | None, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        fit_calibration(preferences, labels, tie_share=tie_share)


def test_preferences_that_say_nothing_are_refused_or_give_a_high_temperature() -> None:
    preferences, labels = drawn(3000)
    outcomes = set()
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(3000)
        shuffled = [labels[place] for place in order]
        try:
            outcomes.add(fit_calibration(preferences, shuffled).calibration.temperature > 20)
        except ConfigError as error:
            outcomes.add("do not agree with the labels" in error.message)
    assert outcomes == {True}
