"""Checks of flags that cannot be used together."""

from __future__ import annotations

from collections.abc import Mapping

from autoj.errors import ConfigError


def check_one(given: Mapping[str, object], *, least: int = 1, reason: str = "") -> None:
    """Check that one of some flags is given.

    Args:
        given: the values by the flags' names; None where one is not given.
        least: 0 where none may be given, too.
        reason: the end of the message.

    Raises:
        ConfigError: several are given, or none.
    """
    if not least <= sum(value is not None for value in given.values()) <= 1:
        *names, last = given
        raise ConfigError(f"give one of {', '.join(names)} and {last}{reason}")
