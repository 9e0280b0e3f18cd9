"""The largest micro-batch of a training, found without tokenising all of its samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.runs.watch import SILENT
from autoj.training.judge.largest import (
    expected_largest,
    expected_lengths,
    find_largest,
    largest_batch,
    read_of,
)
from autoj.training.judge.recipe import Recipe
from autoj.training.judge.sample_files import (
    Outline,
    drawn_samples,
    encode_training_data,
    read_outline,
)
from autoj.training.judge.samples import SampleEncoder
from autoj.training.judge.sampling import estimate_extent
from tests.training import toy

DECISION = {"kind": "decision", "protocol": "pairwise-verdict"}
PREFERENCE = {"kind": "preference", "protocol": "pairwise-by-rating"}
JUDGMENT = {"kind": "judgment", "protocol": "pairwise"}


def recipe_of(base: Path, objective: dict[str, Any] = DECISION, **fields: Any) -> Recipe:
    given = {"epochs": 1, "batch_samples": 4, "micro_batch_samples": 2, **fields}
    return Recipe.model_validate(toy.recipe(base, objective, **given))


@pytest.fixture(scope="module")
def encoder(base: Path) -> SampleEncoder:
    transformers = pytest.importorskip("transformers")
    from autoj.backends.hf.encoding import Encoder

    card = load_card(str(base))
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    return SampleEncoder(recipe_of(base), card, Encoder(tokenizer, card.wrapper))


def rows_of(n_words: list[int]) -> list[dict[str, Any]]:
    """A pair for each number, whose query has so many words."""
    rows = toy.pair_rows(len(n_words))
    for row, n in zip(rows, n_words, strict=True):
        row["query"] = " ".join(["why"] * n)
    return rows


def outline_of(folder: Path, recipe: Recipe, rows: list[dict[str, Any]]) -> Outline:
    path = toy.write_rows(folder / "rows.jsonl", rows)
    return read_outline(recipe, [path], None, lenient=False)


@pytest.mark.parametrize("packing", [False, True])
def test_one_long_sample_of_many_is_found_where_a_draw_misses_it(
    tmp_path: Path, base: Path, encoder: SampleEncoder, packing: bool
) -> None:
    recipe = recipe_of(base, packing=packing)
    lengths = [1 + number % 30 for number in range(300)]
    lengths[171] = 90
    outline = outline_of(tmp_path, recipe, rows_of(lengths))
    data = encode_training_data(outline, recipe, encoder, budget_tokens=None, watch=SILENT)
    largest = read_of(largest_batch(data.samples, recipe), recipe)
    extent = estimate_extent(
        outline, recipe, encoder, budget_tokens=None, watch=SILENT, n_sampled=5
    )
    assert read_of(extent.largest, recipe) == pytest.approx(largest, rel=0.01)
    drawn = read_of(largest_batch(extent.samples, recipe), recipe)
    assert drawn < 0.9 * largest


def test_a_budget_that_ends_before_the_longest_does_not_count_it(
    tmp_path: Path, base: Path, encoder: SampleEncoder
) -> None:
    recipe = recipe_of(base, order="given")
    rows = toy.write_rows(tmp_path / "short.jsonl", rows_of([5] * 40))
    long = toy.write_rows(tmp_path / "long.jsonl", rows_of([90] * 40))
    outline = read_outline(recipe, [rows, long], None, lenient=False)

    def largest(budget: int | None) -> int:
        extent = estimate_extent(outline, recipe, encoder, budget_tokens=budget, watch=SILENT)
        return read_of(extent.largest, recipe)

    short = outline_of(tmp_path, recipe, rows_of([5] * 40))
    n_tokens = encode_training_data(
        short, recipe, encoder, budget_tokens=None, watch=SILENT
    ).n_tokens
    assert largest(n_tokens // 2) < 0.8 * largest(None)
    assert expected_largest(outline, recipe, n_tokens // 2) < expected_largest(outline, recipe)


@pytest.mark.parametrize("n_left_out", [3, 60])
def test_longer_samples_that_will_be_left_out_are_passed_over(
    tmp_path: Path, base: Path, encoder: SampleEncoder, n_left_out: int
) -> None:
    recipe = recipe_of(base)
    outline = outline_of(tmp_path, recipe, rows_of([5000] * n_left_out + [50] * 8 + [5] * 20))
    data = encode_training_data(outline, recipe, encoder, budget_tokens=None, watch=SILENT)
    found = find_largest(drawn_samples(outline, recipe), recipe, encoder)
    assert data.n_too_long == n_left_out
    assert read_of(found, recipe) == read_of(largest_batch(data.samples, recipe), recipe)


def test_nothing_is_found_where_nothing_fits(
    tmp_path: Path, base: Path, encoder: SampleEncoder
) -> None:
    recipe = recipe_of(base)
    outline = outline_of(tmp_path, recipe, rows_of([5000] * 4))
    assert find_largest(drawn_samples(outline, recipe), recipe, encoder) == ()


def test_what_is_read_of_a_sample_depends_on_its_objective(tmp_path: Path, base: Path) -> None:
    row = {**toy.pair_rows(1)[0], "query": "Why", "responses": ["a" * 4000, "难" * 200]}

    def lengths(objective: dict[str, Any]) -> list[int]:
        recipe = recipe_of(base, objective, max_tokens=1024)
        outline = outline_of(tmp_path, recipe, [row])
        return expected_lengths(outline.data[0].samples[0], recipe)

    # Each response alone, cut to `max_tokens`; a character of Chinese is three bytes.
    assert lengths(PREFERENCE) == [1024, (1000 + 3 + 600) // 4]
    assert lengths(DECISION) == [1024]
    row["responses"] = ["One.", "Two."]
    n_written = len(row["meta"]["judgment"]) // 4
    assert lengths(JUDGMENT)[0] - lengths(DECISION)[0] == pytest.approx(n_written, abs=1)


def test_epochs_that_come_to_no_sample_are_refused(tmp_path: Path, base: Path) -> None:
    recipe = recipe_of(base, epochs=0.3)
    outline = outline_of(tmp_path, recipe, rows_of([3]))
    with pytest.raises(ConfigError, match=r"0\.3 epochs of 1 samples come to none"):
        expected_largest(outline, recipe)
