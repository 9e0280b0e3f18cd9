"""Finds components by name; a component has the name of its file.

`load("protocols", "pairwise-verdict")` is the module `autoj/protocols/pairwise_verdict.py`. A name
with a dot is a module of another package: `load("backends", "their_package.engine")`.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

from autoj.errors import UnknownComponent

__all__ = ["load", "names"]

_PACKAGE = Path(__file__).parent


@cache
def names(room: str) -> tuple[str, ...]:
    """The names of all components in a room, sorted; `base` and `_*` are not components."""
    found = (
        path.stem if path.is_file() else path.name
        for path in (_PACKAGE / room).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    )
    return tuple(
        sorted(name.replace("_", "-") for name in found if name != "base" and name[0] != "_")
    )


def load(room: str, name: str) -> ModuleType:
    """Imports a component.

    Args:
        room: a folder of this package, such as "backends".
        name: a component's name, or the dotted path of a module of another package.

    Raises:
        UnknownComponent: no component has this name.
    """
    if "." in name:
        return _load_foreign(room, name)
    if name.replace("_", "-") not in names(room):
        raise UnknownComponent(room.removesuffix("s"), name, names(room))
    return importlib.import_module(f"autoj.{room}.{name.replace('-', '_')}")


def _load_foreign(room: str, name: str) -> ModuleType:
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise UnknownComponent(room.removesuffix("s"), name, names(room))
    return importlib.import_module(name)
