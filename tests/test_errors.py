"""Errors name what there is: the nearest names, or a few of many and who lists them."""

from __future__ import annotations

import pytest

from autoj.errors import UnknownComponent
from autoj.scenarios import scenario_names


@pytest.mark.parametrize(
    ("kind", "name", "known", "hint"),
    [
        ("judge", "embeded", ["embedded", "gpt-4"], "Did you mean embedded?"),
        ("wrapper", "xyz", ["b", "a"], "Available: a, b."),
        ("case", "xyz", map(str, range(100, 1300)), "1000, 1001, 1002, 1003 and 1,195 more."),
        ("scenario", "xyz", [f"s{n}" for n in range(58)], "53 more; autoj scenarios lists them."),
        ("data set", "xyz", [f"d{n}" for n in range(30)], "25 more; autoj data list lists them."),
    ],
)  # fmt: skip
def test_a_wrong_name_gets_the_near_ones_or_a_few(kind, name, known, hint):
    error = UnknownComponent(kind, name, known)
    assert error.message == f"there is no {kind} {name!r}"
    assert str(error.hint).endswith(hint)


def test_no_scenario_is_near_and_not_all_are_printed():
    error = UnknownComponent("scenario", "zzzzzz", scenario_names())
    assert sum(name in str(error) for name in scenario_names()) == 5
