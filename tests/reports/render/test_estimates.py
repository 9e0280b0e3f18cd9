"""Estimates on a line and in a cell: what is known of each, with the digits of its metric."""

from __future__ import annotations

import pytest

from autoj.reports import render

from ..pages import estimate


def test_a_line_says_all_that_is_known():
    found = estimate(
        "accuracy", 0.5, 0.4, 0.6, n=1200, n_clusters=80, n_unscored=3, bounds=(0.45, 0.55)
    )
    assert render.estimate_line(found) == (
        "50.0 %  [40.0, 60.0]  n=1,200 on 80 queries, 3 unscored (with them 45.0 to 55.0)"
    )


def test_one_case_has_no_interval_and_no_value_has_a_reason():
    one = estimate("mean rating", 7.0, n=1)
    assert render.estimate_line(one) == "7.00  n=1"
    assert render.estimate_interval(one) == ""
    nothing = estimate("accuracy", None, n=0, reason="no case could be scored")
    assert render.estimate_line(nothing) == "No case could be scored."
    assert render.estimate_value(nothing) == render.estimate_cell(nothing) == "-"
    assert render.estimate_cell(None) == "-"


@pytest.mark.parametrize(
    ("name", "value", "on_a_line", "short"),
    [
        ("accuracy", 0.5, "50.0 % [40.0, 60.0]", "50.0 [40, 60]"),
        ("a metric that is added later", 0.5, "50.0 % [40.0, 60.0]", "50.0 [40, 60]"),
        ("mean rating", 0.5, "0.50 [0.40, 0.60]", "0.50 [0.40, 0.60]"),
        ("mean score", 0.5, "0.500 [0.400, 0.600]", "0.500 [0.40, 0.60]"),
        ("kappa", -0.1, "-0.100 [-0.200, 0.000]", "-0.100 [-0.20, 0.00]"),
        ("best of 4", 0.5, "0.500 [0.400, 0.600]", "0.500 [0.40, 0.60]"),
        ("spearman over queries", -1.0, "-1.000 [-1.100, -0.900]", "-1.000 [-1.10, -0.90]"),
    ],
)
def test_digits_and_unit_are_the_metrics(name, value, on_a_line, short):
    found = estimate(name, value, value - 0.1, value + 0.1)
    line = f"{render.estimate_value(found)} {render.estimate_interval(found)}"
    assert (line, render.estimate_cell(found, short=True)) == (on_a_line, short)
    assert render.estimate_cell(found) == on_a_line.replace(" %", "")


def test_a_difference_has_a_sign_on_its_value_and_on_both_ends():
    found = estimate("win", 0.05, -0.01, 0.11)
    assert render.estimate_cell(found, signed=True) == "+5.0 [-1.0, +11.0]"
    assert render.estimate_cell(found, signed=True, short=True) == "+5.0 [-1, +11]"
    bias = estimate("position bias", 0.05, -0.01, 0.11)
    assert render.estimate_cell(bias) == "+0.050 [-0.010, +0.110]"
    line = f"{render.estimate_value(bias)} {render.estimate_interval(bias)}"
    assert line == render.estimate_cell(bias)


def test_all_right_and_all_wrong_keep_their_interval():
    assert render.estimate_cell(estimate("accuracy", 1.0, 0.96, 1.0), short=True) == (
        "100.0 [96, 100]"
    )
    assert render.estimate_cell(estimate("accuracy", 0.0, 0.0, 0.04)) == "0.0 [0.0, 4.0]"


def test_a_short_cell_leaves_out_an_interval_whose_ends_round_to_the_same():
    level = estimate("win", 0.5, 0.499, 0.501)
    assert render.estimate_cell(level, short=True) == "50.0"
    assert render.estimate_cell(level) == "50.0 [49.9, 50.1]"
