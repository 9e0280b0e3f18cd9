"""Leaves out modules that import a tool at their top, where that tool is not installed."""

from importlib.util import find_spec

_DOORS = {"inspect": "inspect_ai", "deepeval": "deepeval"}

collect_ignore = [
    f"src/autoj/doors/{door}.py" for door, tool in _DOORS.items() if find_spec(tool) is None
]
