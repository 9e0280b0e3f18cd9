"""The extent of a training from some of its samples, and data that no objective can learn from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.runs.watch import SILENT
from autoj.training.judge.recipe import Recipe, read_recipe
from autoj.training.judge.sample_files import Outline, encode_training_data, read_outline
from autoj.training.judge.samples import SampleEncoder
from autoj.training.judge.sampling import Extent, counted_extent, estimate_extent
from tests.training import toy

DECISION = {"kind": "decision", "protocol": "pairwise-verdict"}
PREFERENCE = {"kind": "preference", "protocol": "pairwise-by-rating"}
RATING = {"kind": "decision", "protocol": "single-verdict"}
RECIPES = Path(__file__).parents[3] / "recipes"


@pytest.fixture(scope="module")
def encoder(base: Path) -> SampleEncoder:
    transformers = pytest.importorskip("transformers")
    from autoj.backends.hf.encoding import Encoder

    card = load_card(str(base))
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    return SampleEncoder(recipe_of(base), card, Encoder(tokenizer, card.wrapper))


def recipe_of(base: Path, **fields: Any) -> Recipe:
    content = toy.recipe(base, DECISION, epochs=1, batch_samples=1, micro_batch_samples=1, **fields)
    return Recipe.model_validate(content)


def labelled(n: int) -> list[dict[str, Any]]:
    """Pairs whose queries have 1 to 40 words, with labels alone."""
    rows = toy.pair_rows(n)
    for number, row in enumerate(rows):
        row["query"] = " ".join(["why"] * (1 + number % 40))
        del row["meta"]
    return rows


def outline_of(folder: Path, recipe: Recipe, rows: list[dict[str, Any]]) -> Outline:
    path = toy.write_rows(folder / "rows.jsonl", rows)
    return read_outline(recipe, [path], path, lenient=False)


def extent_of(outline: Outline, recipe: Recipe, encoder: SampleEncoder, **fields: Any) -> Extent:
    given = {"budget_tokens": None, "watch": SILENT, **fields}
    return estimate_extent(outline, recipe, encoder, **given)


def test_the_estimate_is_near_the_count_and_its_interval_holds_it(tmp_path, base, encoder):
    recipe = recipe_of(base)
    outline = outline_of(tmp_path, recipe, labelled(400))
    counted = counted_extent(
        encode_training_data(outline, recipe, encoder, budget_tokens=None, watch=SILENT),
        recipe,
    )
    found = extent_of(outline, recipe, encoder, n_sampled=80)
    assert (found.n_drawn, len(found.samples), found.n_samples) == (80, 80, 400)
    assert found.tokens_low < counted.n_tokens < found.tokens_high
    assert found.n_tokens == pytest.approx(counted.n_tokens, rel=0.1)
    assert found.n_validation_tokens == pytest.approx(counted.n_validation_tokens, rel=0.1)
    longest, *_ = found.samples
    assert longest.n_tokens == max(sample.n_tokens for sample in found.samples)


def test_few_samples_are_counted_and_not_estimated(tmp_path, base, encoder):
    recipe = recipe_of(base)
    outline = outline_of(tmp_path, recipe, labelled(30))
    counted = counted_extent(
        encode_training_data(outline, recipe, encoder, budget_tokens=None, watch=SILENT),
        recipe,
    )
    found = extent_of(outline, recipe, encoder)
    assert (found.n_drawn, found.tokens_low, found.tokens_high) == (None, None, None)
    assert (found.n_tokens, found.n_samples) == (counted.n_tokens, 30)


@pytest.mark.parametrize("order", ["shuffled", "given"])
def test_a_budget_ends_the_estimate_too(tmp_path, base, encoder, order):
    recipe = recipe_of(base, order=order)
    outline = outline_of(tmp_path, recipe, labelled(400))
    data = encode_training_data(outline, recipe, encoder, budget_tokens=9000, watch=SILENT)
    found = extent_of(outline, recipe, encoder, budget_tokens=9000, n_sampled=100)
    assert found.n_tokens == pytest.approx(9000, rel=0.05)
    assert found.n_samples == pytest.approx(len(data.samples), rel=0.3)
    assert found.tokens_low is None


def test_what_is_too_long_is_counted(tmp_path, base, encoder):
    rows = labelled(20)
    for row in rows[:5]:
        row["query"] = " ".join(f"why{index}" for index in range(900))
    recipe = recipe_of(base)
    found = extent_of(outline_of(tmp_path, recipe, rows), recipe, encoder)
    assert (found.n_too_long, found.n_samples) == (5, 15)
    all_long = outline_of(tmp_path, recipe, rows[:5])
    with pytest.raises(ConfigError, match="all 5 samples that were looked at are longer"):
        extent_of(all_long, recipe, encoder)


@pytest.mark.parametrize(
    ("objective", "rows", "said", "hint"),
    [
        (
            RATING,
            labelled(3),
            "needs single responses with a rating as label; the data hold 3 pairs with a label; "
            "0 of them with a judgment",
            "recipes/pairs.yaml",
        ),
        (
            {"kind": "critique", "protocol": "pairwise-verdict", "language": "zh"},
            toy.pair_rows(3),
            "needs pairs with a label (a, b or tie), with a judgment in `target_output` or "
            "`meta.judgment`, in language 'zh'; the data hold 3 pairs with a label; 3 of them",
            "recipes/pairs.yaml",
        ),
        (PREFERENCE, toy.rated_rows(3), "3 single responses with a rating", "pairs_from_ratings"),
        (
            PREFERENCE,
            [{key: row[key] for key in ("query", "responses")} for row in labelled(2)],
            "2 pairs without one",
            "Take the objective out",
        ),
    ],
)
def test_data_that_fit_no_objective_are_told_with_the_recipe_that_fits(
    tmp_path, base, objective, rows, said, hint
):
    recipe = Recipe.model_validate(toy.recipe(base, objective))
    with pytest.raises(ConfigError) as told:
        outline_of(tmp_path, recipe, rows)
    assert said in told.value.message
    assert hint in str(told.value.hint)


def test_the_recipe_of_labelled_pairs_takes_them_and_that_of_the_embedded_judge_says_no(tmp_path):
    rows = labelled(6)
    outline = outline_of(tmp_path, read_recipe(RECIPES / "pairs.yaml"), rows)
    assert sum(len(plan.samples) for plan in outline.data) == 6
    with pytest.raises(ConfigError) as told:
        outline_of(tmp_path, read_recipe(RECIPES / "embedded-small.yaml"), rows)
    assert "recipes/pairs.yaml" in str(told.value.hint)


def test_every_recipe_of_judges_can_be_read():
    paths = sorted(RECIPES.glob("*.yaml"))
    # A recipe of a classifier says so, and one of a construction has stages.
    others = {"kind", "stages"}
    judges = [path for path in paths if not others & yaml.safe_load(path.read_text()).keys()]
    assert len(judges) >= 6
    for path in judges:
        assert read_recipe(path).objectives
