"""Numbers at their edges: nothing known, none, all, very small, below zero."""

from __future__ import annotations

from autoj.reports import render


def test_a_number_that_is_not_known_is_a_dash():
    assert [render.percent(None), render.number(None, 3), render.p_value(None)] == ["-"] * 3


def test_a_share_is_in_percent_with_one_digit():
    assert [render.percent(share) for share in (0, 1, 1 / 3)] == ["0.0 %", "100.0 %", "33.3 %"]
    assert [render.percent_cell(share) for share in (-0.125, 0.9996, None)] == [
        "-12.5",
        "100.0",
        "-",
    ]


def test_a_sign_is_shown_of_differences_alone():
    assert render.number(0.5, 3, signed=True) == "+0.500"
    assert render.number(-0.5, 3, signed=True) == render.number(-0.5, 3) == "-0.500"


def test_a_p_value_is_never_shown_as_nought():
    assert [render.p_value(p) for p in (0.0, 1e-12, 0.00099)] == ["<0.001"] * 3
    assert [render.p_value(p) for p in (0.001, 0.05, 1.0)] == ["0.001", "0.050", "1.000"]


def test_counts_and_times_have_their_thousands_apart():
    assert [render.count(n) for n in (0, 999, 1000, 1234567)] == ["0", "999", "1,000", "1,234,567"]
    assert [render.seconds(time) for time in (0.2, 3600.0)] == ["0 s", "3,600 s"]
    assert render.lost(0, 12000) == ("unreadable, failed", "0 and 12,000")
