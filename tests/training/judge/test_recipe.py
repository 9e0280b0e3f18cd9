"""Recipes: what is shipped can be read, and what makes no sense says so by file and field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from autoj.errors import DataError
from autoj.protocols import file_of, load_protocol
from autoj.training.judge.recipe import read_recipe

RECIPES = sorted((Path(__file__).parents[3] / "recipes").glob("embedded*.yaml"))
GOOD: dict[str, Any] = {
    "title": "Mine",
    "base": {"judge": "embedded"},
    "objectives": [{"kind": "preference", "protocol": "pairwise-by-rating"}],
}


def written(folder: Path, content: Any) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), "utf-8")
    return path


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_shipped_recipe_can_be_read(path: Path) -> None:
    assert read_recipe(path).objectives


def test_there_is_a_recipe_of_the_embedded_judge() -> None:
    assert "embedded-small" in {path.stem for path in RECIPES}


def test_the_defaults_are_the_papers(tmp_path: Path) -> None:
    optimiser = read_recipe(written(tmp_path, GOOD)).optimiser
    # Section 4: AdamW with these betas and weight decay, 3 % warmup, cosine decay, peak 1e-5.
    assert (optimiser.betas, optimiser.weight_decay) == ((0.9, 0.95), 0.1)
    assert (optimiser.learning_rate, optimiser.warmup) == (1e-5, 0.03)
    assert optimiser.schedule == "cosine"


def objective(kind: str, protocol: str, **fields: Any) -> dict[str, Any]:
    return {"objectives": [{"kind": kind, "protocol": protocol, **fields}]}


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"colour": "red"}, "colour", "unknown field"),
    ({"objectives": []}, "objectives", "at least 1 item"),
    (objective("judgement", "pairwise"), "objectives.0.kind", "'judgment'"),
    (objective("judgment", "pairwise-verdict"), "objectives.0", "writes a critique"),
    (objective("decision", "pairwise"), "objectives.0", "only decides"),
    (objective("decision", "pairwise-by-rating"), "objectives.0", "whose own choices are labels"),
    (objective("critique", "single"), "objectives.0", "only decides"),
    (objective("preference", "single-verdict"), "objectives.0", "rates each response alone"),
    (objective("scalar", "single"), "objectives.0", "the protocol scalar"),
    (objective("preference", "pairwise-by-rating", weight=0), "objectives.0.weight", "greater"),
    (objective("preference", "pairwise-by-rating", label_smoothing=0.5), "label_smoothing", "less"),
    ({"update": {"method": "layers"}}, "update", "needs top_layers"),
    ({"update": {"method": "all", "top_layers": 3}}, "update", "every layer"),
    ({"batch_samples": 10, "micro_batch_samples": 4}, "recipe.yaml", "multiple"),
    ({"max_tokens": 10}, "max_tokens", "greater than or equal to 256"),
    ({"update": {"method": "all", "rank": 4}}, "update", "does not take rank"),
    ({"epochs": float("inf")}, "epochs", "finite number"),
    ({"optimiser": {"learning_rate": float("nan")}}, "optimiser.learning_rate", "finite number"),
    ({"objectives": [{"kind": "scalar", "protocol": "scalar"}] * 2}, "recipe.yaml", "one scalar"),
]


@pytest.mark.parametrize(("change", "where", "said"), BAD, ids=[said for _, _, said in BAD])
def test_what_makes_no_sense_is_told_by_field(
    tmp_path: Path, change: dict[str, Any], where: str, said: str
) -> None:
    path = written(tmp_path, {**GOOD, **change})
    with pytest.raises(DataError) as told:
        read_recipe(path)
    assert where in str(told.value)
    assert said in str(told.value)


def test_an_unknown_protocol_is_told_the_nearest(tmp_path: Path) -> None:
    path = written(tmp_path, {**GOOD, **objective("judgment", "pairwize")})
    with pytest.raises(DataError, match=r"(?s)recipe\.yaml.*no protocol 'pairwize'.*pairwise"):
        read_recipe(path)


def test_a_prompt_of_ones_own_is_no_protocol_to_train_on(tmp_path: Path) -> None:
    # The judge's card could not name it.
    prompt = tmp_path / "mine.md"
    prompt.write_text(file_of(load_protocol("pairwise-verdict")), encoding="utf-8")
    objective = {"kind": "decision", "protocol": str(prompt)}
    for content in ({**GOOD, "objectives": [objective]}, {**GOOD, "protocols": [str(prompt)]}):
        with pytest.raises(DataError, match="is the file of a prompt"):
            read_recipe(written(tmp_path, content))


@pytest.mark.parametrize("content", ["", "- a\n- b", "title: [", "just words"])
def test_what_is_no_recipe_at_all_is_told_so(tmp_path: Path, content: str) -> None:
    with pytest.raises(DataError, match=r"recipe\.yaml(:\d)?: is not"):
        read_recipe(written(tmp_path, content))


def test_a_missing_recipe_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such recipe"):
        read_recipe(tmp_path / "none.yaml")
