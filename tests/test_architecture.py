"""The walls of the house: who may import whom, and what a module must be."""

from __future__ import annotations

import ast
import gc
import importlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import autoj

SOURCE = Path(autoj.__file__).parent
FLOORS = [
    {"notebook"},
    {"records", "errors"},
    {"system_errors"},
    {"inputs"},
    {
        "jsonl",
        "fetching",
        "components",
        "chat",
        "corrections",
        "critiques",
        "mistakes",
        "trust",
        "yaml_files",
    },
    {"calibration", "scenarios", "backends", "metrics", "prompts"},
    {"verdicts", "judges", "datasets", "protocols"},
    {"runs"},
    {"tasks"},
    {"api", "bench", "audit", "construct", "training", "cluster"},
    # Rewards are a use of the API's judge inside a trainer, so they stand above it.
    {"rewards"},
    # A harness's score is a reward that says why, so doors stand above rewards.
    {"doors"},
    {"reports"},
    {"serve"},
    {"cli"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
# The two doors: `import autoj` and `python -m autoj`; nothing imports them.
DOORS = {"autoj": {"api", "errors", "records", "runs", "tasks"}, "autoj.__main__": {"cli"}}
HEAVY = ["torch", "vllm", "openvino", "openvino_genai", "transformers", "scipy"]
VAGUE = {"utils", "util", "common", "helpers", "misc", "core"}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}
PACKAGES = [name for name, path in MODULES.items() if path.name == "__init__.py"]


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """Every module, parsed: at its test's own time, not while tests are collected.

    No garbage is looked for among half a million nodes, which takes longer than to make them.
    """
    gc.disable()
    try:
        return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
    finally:
        gc.freeze()
        gc.enable()


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules of ours that a tree imports; `from a import b` is `a.b` where that is one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that each says its room"
            source = str(node.module)
            found = [f"{source}.{alias.name}" for alias in node.names]
            found = [name if name in MODULES else source for name in found]
        else:
            continue
        yield from (name for name in found if name.split(".")[0] == "autoj")


def room(module: str) -> str:
    return [*module.split("."), ""][1]


def forbidden_imports(name: str, tree: ast.Module) -> set[str]:
    """The rooms from which a module imports although they are not below its own."""
    rooms = {room(target) for target in imported(tree)}
    if name in DOORS:
        return rooms - DOORS[name]
    own = room(name)
    return {other for other in rooms - {own} if FLOOR_OF.get(other, 99) >= FLOOR_OF[own]}


def test_a_module_imports_lower_floors_and_its_own_room_alone(trees: dict[str, ast.Module]) -> None:
    wrong = {name: forbidden_imports(name, tree) for name, tree in trees.items()}
    assert {name: rooms for name, rooms in wrong.items() if rooms} == {}


def test_no_module_imports_itself_by_way_of_others(trees: dict[str, ast.Module]) -> None:
    graph = {
        name: {target for target in imported(tree) if target != name}
        for name, tree in trees.items()
    }
    # A package imports its modules to give them out; a module that imports its package waits on it.
    assert len(list(TopologicalSorter(graph).static_order())) == len(trees)


def imported_in_functions(tree: ast.Module) -> set[str]:
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    return {target for function in functions for target in imported(function)}


def test_no_function_imports_our_own_code(trees: dict[str, ast.Module]) -> None:
    found = {name: imported_in_functions(tree) for name, tree in trees.items()}
    assert {name: targets for name, targets in found.items() if targets} == {}


def test_a_module_says_what_it_is_by_its_name_and_its_docstring(
    trees: dict[str, ast.Module],
) -> None:
    assert [name for name in trees if VAGUE & set(re.split(r"[._]", name))] == []
    assert [name for name, tree in trees.items() if not ast.get_docstring(tree)] == []


def test_importing_autoj_brings_in_nothing_heavy() -> None:
    code = f"import sys, autoj; print(*sorted(set(sys.modules) & set({HEAVY!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def as_ruff_sorts(name: str) -> tuple[int, str]:
    """Constants first, then classes, then the rest, each by the alphabet."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


@pytest.mark.parametrize("name", PACKAGES)
def test_what_a_package_gives_out_is_sorted_and_there(name: str) -> None:
    package = importlib.import_module(name)
    public = getattr(package, "__all__", [])
    assert public == sorted(set(public), key=as_ruff_sorts)
    assert all(hasattr(package, given) for given in public)
    if name == "autoj":
        assert public


def test_no_name_of_a_class_or_a_module_stands_for_several_things(
    trees: dict[str, ast.Module],
) -> None:
    classes = Counter(
        node.name for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef)
    )
    assert [name for name, n in classes.items() if n > 2] == []
    assert {name: classes[name] for name in ("Comparison", "Row", "Source")} == {
        "Comparison": 1,
        "Row": 1,
        "Source": 1,
    }
    assert sum(name.endswith(".figures") for name in trees) == 0


def test_only_the_renderer_makes_tables(trees: dict[str, ast.Module]) -> None:
    makers = {
        name
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Table"
    }
    assert makers == {"autoj.reports.render.tables"}
