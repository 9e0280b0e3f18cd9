"""The example notebook runs from its first cell to its last, and shows what it says."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from autoj.records import Estimate, Verdict
from autoj.tasks.run import Run

from .pages import REPOSITORY

NOTEBOOK = REPOSITORY / "examples" / "notebook.ipynb"


def code_cells() -> list[str]:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def shown_by(source: str, names: dict[str, Any]) -> Any:
    """Runs a cell and gives the value of its last line, which a notebook shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


def test_every_cell_runs_and_shows_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripted_engines: None
) -> None:
    pandas = pytest.importorskip("pandas", reason="no pandas (pip install 'autoj[data]')")
    pytest.importorskip("vl_convert", reason="no charts (pip install 'autoj[report]')")
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    names: dict[str, Any] = {}
    shown = [shown_by(source, names) for source in code_cells()]
    kinds = (Verdict, Run, pandas.DataFrame, Estimate, pandas.DataFrame, str)
    assert [isinstance(*each) for each in zip(shown, kinds, strict=True)] == [True] * len(kinds)
    assert all("<table" in each._repr_html_() for each in shown[:-1])
    assert "10 of 10" in shown[1]._repr_html_()
    assert Path(shown[-1]).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert set(shown[2]["winner"] == shown[2]["label"]) <= {False}


def test_the_notebook_is_kept_without_outputs() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in cells)
