"""Settings of which one is to be chosen."""

from __future__ import annotations

import pytest

from autoj.errors import ConfigError
from autoj.runs.spec_checks import check_one


@pytest.mark.parametrize("given", [{}, {"--a": 1, "--b": 0}])
def test_one_of_some_flags_must_be_given(given):
    with pytest.raises(ConfigError, match=r"give one of --a, --b and --c: a reason"):
        check_one({"--a": None, "--b": None, "--c": None} | given, reason=": a reason")


def test_a_flag_that_may_be_left_out_is_still_given_once():
    check_one({"--a": None, "--b": None}, least=0)
    check_one({"--a": "", "--b": None})
    with pytest.raises(ConfigError, match="give one of --a and --b"):
        check_one({"--a": 0, "--b": 1}, least=0)
