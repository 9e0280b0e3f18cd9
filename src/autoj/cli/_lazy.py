"""Commands that are imported when they are used; their names and first lines are known before.

`autoj --version`, `autoj --help` and the shell's completion of a name import no command at all.
"""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple


def find(place: str) -> Any:
    """Import what a place names: a module and, after a colon, a name in it."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


class Listed(NamedTuple):
    """A command that is not imported yet."""

    place: str
    """The module and, after a colon, the function of the command or the application of a group."""
    summary: str
    """The first paragraph of its help; a test holds it equal to the docstring's."""


class Commands(MutableMapping[str, Any]):
    """The commands of a group by name; a listed one is imported when it is looked up.

    Args:
        listed: the commands that are imported later, in the order of the help.
        built: the other ones.
        build: makes the command of a name from what is imported.
    """

    def __init__(
        self,
        listed: Mapping[str, Listed],
        built: Mapping[str, Any],
        build: Callable[[str, Any], Any],
    ) -> None:
        self._listed, self._built, self._build = listed, dict(built), build

    def summaries(self) -> dict[str, str]:
        """The first paragraph of each command's help, by name; nothing is imported."""
        return {
            name: self._listed[name].summary if name in self._listed else _opening(self[name].help)
            for name in self
        }

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = self._build(name, find(self._listed[name].place))
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        del self._built[name]

    def __contains__(self, name: object) -> bool:
        return name in self._listed or name in self._built

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._listed, *self._built)))

    def __len__(self) -> int:
        return len({*self._listed, *self._built})


def _opening(text: str | None) -> str:
    return " ".join((text or "").strip().partition("\n\n")[0].split())
