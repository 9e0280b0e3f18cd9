"""The words of a command line, before the flags are read."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from autoj.errors import ConfigError

_FLAG = re.compile(r"--[a-z][a-z-]*")
_RENAMED = {"--sample": "--limit"}
"""Former names of flags, with the present ones of the commands that have these."""


def checked_words(words: list[str], params: Sequence[Any]) -> list[str]:
    """Check the words of a command line, and put the present names of flags for former ones.

    Args:
        words: the words after the command's name.
        params: the command's parameters, as Click has them.

    Raises:
        ConfigError: a word or the value of a flag is empty.
    """
    _check_values(words)
    return [_renamed(word, params) for word in words]


def _check_values(words: list[str]) -> None:
    """Refuse empty values, as of an unset variable: as a path, one would mean this folder.

    Raises:
        ConfigError: an argument is empty, or the value of a flag.
    """
    for before, given in pairwise(["", *words]):
        flag = before if given == "" else given.removesuffix("=")
        if given == "" or (flag != given and _FLAG.fullmatch(flag)):
            what = f"the value of {flag}" if _FLAG.fullmatch(flag) else "an argument"
            raise ConfigError(
                f"{what} is empty", hint="Leave it out, or check the variable that it came from."
            )


def _renamed(word: str, params: Sequence[Any]) -> str:
    """A word of a command line, with a flag's present name for its former one."""
    flag, equals, value = word.partition("=")
    present = _RENAMED.get(flag)
    known = {name for parameter in params for name in parameter.opts}
    return word if present not in known or flag in known else f"{present}{equals}{value}"
