"""The tie model: exchanged responses exchange the probabilities, to the last bit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.calibration import (
    outcome_probabilities,
    preference_of_probabilities,
    preference_of_ratings,
    tie_width,
)
from autoj.records import Calibration, likeliest

ratings = st.floats(1, 10)
shares = st.floats(0, 1)
calibrations = st.builds(
    Calibration,
    temperature=st.floats(1e-6, 1e6),
    tie=st.one_of(st.just(0.0), st.floats(0, 5), st.floats(0, 1e6)),
)
preferences = st.one_of(st.floats(-9, 9), st.floats(-1e300, 1e300))


@given(preference=preferences, calibration=calibrations)
def test_exchanged_responses_exchange_the_probabilities_exactly(
    preference: float, calibration: Calibration
) -> None:
    a, b, tie = outcome_probabilities(preference, calibration)
    assert outcome_probabilities(-preference, calibration) == (b, a, tie)
    assert min(a, b, tie) >= 0
    assert a + b + tie == pytest.approx(1.0, abs=1e-12)


@given(a=ratings, b=ratings)
def test_a_preference_of_ratings_changes_its_sign_exactly(a: float, b: float) -> None:
    assert preference_of_ratings((a, b)) == -preference_of_ratings((b, a))


@given(a=shares, b=shares, tie=shares)
def test_a_preference_of_probabilities_changes_its_sign_exactly(
    a: float, b: float, tie: float
) -> None:
    preference = preference_of_probabilities((a, b, tie))
    assert math.isfinite(preference)
    assert preference_of_probabilities((b, a, tie)) == -preference


def test_a_preference_of_probabilities_is_the_log_odds() -> None:
    assert preference_of_probabilities((0.6, 0.2, 0.2)) == pytest.approx(math.log(3))
    assert preference_of_probabilities((0.0, 0.0, 1.0)) == 0


@given(preference=st.floats(-9, 9), calibration=calibrations)
def test_the_likeliest_outcome_goes_with_the_preference(
    preference: float, calibration: Calibration
) -> None:
    winner = likeliest(outcome_probabilities(preference, calibration))
    assert winner in (
        {"a", "tie"} if preference > 0 else {"b", "tie"} if preference < 0 else {"tie"}
    )


def test_probabilities_are_rao_and_kuppers() -> None:
    # Their form: strengths e^d and 1, and a threshold e^t that the stronger must pass.
    strength, threshold = math.exp(1.2 / 0.8), math.exp(0.5)
    a, b, tie = outcome_probabilities(1.2, Calibration(temperature=0.8, tie=0.5))
    assert a == pytest.approx(strength / (strength + threshold))
    assert b == pytest.approx(1 / (1 + threshold * strength))
    assert tie == pytest.approx((threshold**2 - 1) * a * b)


def test_without_a_band_nothing_but_level_responses_tie() -> None:
    cold = Calibration(temperature=2.0, tie=0.0)
    assert outcome_probabilities(1e-3, cold)[2] == 0
    assert likeliest(outcome_probabilities(1e-3, cold)) == "a"
    assert likeliest(outcome_probabilities(0.0, cold)) == "tie"


def test_a_wider_band_makes_ties_likelier_and_a_higher_temperature_makes_verdicts_less_sure() -> (
    None
):
    def shares(**fitted: float) -> tuple[float, float, float]:
        return outcome_probabilities(1.0, Calibration(**fitted))

    assert shares(tie=0.9)[2] > shares(tie=0.3)[2] > 0
    assert shares(temperature=0.5)[0] > shares(temperature=2.0)[0] > 0.5


@pytest.mark.parametrize("temperature", [0.3, 2.0])
@pytest.mark.parametrize("tie", [0.0, 0.5, math.log(2), 0.8, 1.5, 40.0])
def test_the_tie_width_is_where_a_tie_stops_being_the_likeliest(
    temperature: float, tie: float
) -> None:
    calibration = Calibration(temperature=temperature, tie=tie)
    width = tie_width(calibration)
    assert width >= 0
    assert likeliest(outcome_probabilities(width * (1 + 1e-9) + 1e-9, calibration)) == "a"
    assert (
        likeliest(outcome_probabilities(max(0.0, width * (1 - 1e-9) - 1e-9), calibration)) == "tie"
    )
