"""Tests of the doors, each with its own tool: skipped where that is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

EXAMPLES = Path(__file__).parents[2] / "examples" / "doors"


def example(name: str) -> ModuleType:
    """An example as a module; of a path run by `runpy` the names are gone afterwards."""
    path = EXAMPLES / f"{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
