"""Rows state their language, and an objective may take the rows of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoj.training.judge.plans import plan_samples
from autoj.training.judge.recipe import Recipe
from autoj.training.judge.rows import TrainingRow, read_rows


@pytest.fixture
def rows(tmp_path: Path) -> list[TrainingRow]:
    """One Chinese row, one English, and one in a language that is judged as English."""
    path = tmp_path / "rows.jsonl"
    base = {"query": "1+1?", "responses": ["2", "3"], "label": "a"}
    texts = [base | {"id": "zh", "language": "zh"}, base | {"id": "none"}]
    texts.append(base | {"id": "fr", "language": "fr"})
    path.write_text("".join(json.dumps(row) + "\n" for row in texts), encoding="utf-8")
    return list(read_rows(path))


def planned_ids(rows: list[TrainingRow], language: str | None) -> list[str]:
    objective = {"kind": "decision", "protocol": "pairwise-verdict", "language": language}
    recipe = Recipe.model_validate(
        {"title": "t", "base": {"judge": "embedded-small-base"}, "objectives": [objective]}
    )
    plan = plan_samples(rows, recipe, augment=False, lenient=False)
    return [sample.case.id for sample in plan.samples]


def test_rows_are_read_with_their_language(rows):
    assert [row.case.language for row in rows] == ["zh", "en", "en"]


@pytest.mark.parametrize(
    ("language", "wanted"),
    [("zh", ["zh"]), ("en", ["none", "fr"]), (None, ["zh", "none", "fr"])],
)
def test_an_objective_takes_the_rows_of_its_language(rows, language, wanted):
    assert planned_ids(rows, language) == wanted
