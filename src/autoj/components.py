"""Finds components by name; a component has the name of its file.

`load("protocols", "pairwise-verdict")` is the module `autoj/protocols/pairwise_verdict.py`. Other
packages' components are found by entry points (`autoj.backends`, `autoj.protocols`), or by a dotted
name that the user allowed: `load("backends", "their_package.engine")` after
`allow("their_package.engine")`. A name alone imports nothing, because cards, recipes and run
folders may be a stranger's.
"""

import importlib
import importlib.util
import os
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from autoj.errors import ConfigError, UnknownComponent

PLUGINS_VARIABLE = "AUTOJ_PLUGINS"
"""The environment variable with allowed modules, separated by commas."""

_PACKAGE = Path(__file__).parent
_allowed: set[str] = set()


@cache
def names(room: str) -> tuple[str, ...]:
    """The names of our components in a room, sorted; `base` and `_*` are not components."""
    found = (
        path.stem if path.is_file() else path.name
        for path in (_PACKAGE / room).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    )
    return tuple(
        sorted(name.replace("_", "-") for name in found if name != "base" and name[0] != "_")
    )


def is_known(room: str, name: str) -> bool:
    """True for our components, for entry points, and for any dotted name; imports nothing."""
    return name in names(room) or _is_dotted(name) or name in _entry_points(room)


def allow(name: str) -> None:
    """Allows a module of another package as a component, for this process.

    Args:
        name: its dotted path. It is given by whoever runs the program, never read from a file.

    Raises:
        ConfigError: it is not a dotted path.
    """
    if not _is_dotted(name):
        raise ConfigError(
            f"{name!r} is not a module of another package",
            hint="Write its dotted path, such as their_package.engine.",
        )
    _allowed.add(name)


def load(room: str, name: str) -> ModuleType:
    """Imports a component.

    Args:
        room: a folder of this package, such as "backends".
        name: the name of one of ours or of an entry point, or an allowed dotted path.

    Raises:
        UnknownComponent: no component has this name.
        ConfigError: it is a module of another package that was not allowed.
    """
    if name.replace("_", "-") in names(room):
        return importlib.import_module(f"autoj.{room}.{name.replace('-', '_')}")
    if (found := _entry_points(room).get(name)) is not None:
        module: ModuleType = found.load()
        return module
    if _is_dotted(name):
        return _load_foreign(room, name)
    raise UnknownComponent(_kind(room), name, [*names(room), *_entry_points(room)])


def _is_dotted(name: str) -> bool:
    """True for the path of a module in a package; False for that of a file, such as `../my.py`."""
    return "." in name and all(part.isidentifier() for part in name.split("."))


def _load_foreign(room: str, name: str) -> ModuleType:
    from_environment = os.environ.get(PLUGINS_VARIABLE, "").split(",")
    declared = {entry.value for entry in _entry_points(room).values()}
    if name not in {*_allowed, *declared, *(other.strip() for other in from_environment)}:
        shown = name if len(name) <= 80 else name[:79] + "…"
        raise ConfigError(
            f"the {_kind(room)} {shown!r} is code of another package, which was not allowed to run",
            hint=f"If you trust it: autoj --plugin {shown} …, or {PLUGINS_VARIABLE}={shown}.",
        )
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise UnknownComponent(_kind(room), name, names(room))
    return importlib.import_module(name)


@cache
def _entry_points(room: str) -> dict[str, EntryPoint]:
    """The components that installed packages declare, by name; ours come first."""
    declared = entry_points(group=f"autoj.{room}")
    return {entry.name: entry for entry in declared if entry.name not in names(room)}


def _kind(room: str) -> str:
    return room.removesuffix("s")
