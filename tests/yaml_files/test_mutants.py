"""No YAML file, however odd, ends in anything but an error of ours with a short message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from io import StringIO
from pathlib import Path

import orjson
import pytest
from rich.console import Console

from autoj.backends import load_backend
from autoj.errors import AutojError
from autoj.judges import card_text, load_card
from autoj.reports.judges import card_table
from autoj.reports.scenarios import scenario_view
from autoj.scenarios import check_folder, load_library
from autoj.training.classifier.recipe import is_classifier_recipe, read_classifier_recipe
from autoj.training.judge.recipe import read_recipe
from tests.yaml_files.mutants import mutants, shipped

N_QUICK, N_SLOW = 60, 1100
MOST_SAID = 2000


def use_card(path: Path) -> None:
    """All that a command does with a card before it asks anything."""
    card = load_card(str(path))
    card_text(str(path))
    orjson.dumps(asdict(card))
    Console(file=StringIO(), width=80).print(card_table(card))
    if card.backend in ("openai", "scripted"):
        load_backend(card).close()


def use_recipe(path: Path) -> None:
    """All that a command reads of a recipe before it opens its data."""
    recipe = read_classifier_recipe(path) if is_classifier_recipe(path) else read_recipe(path)
    orjson.dumps(recipe.model_dump(mode="json"))


def use_scenario(path: Path) -> None:
    """All that a command does with a folder of scenarios."""
    for fault in check_folder(path.parent).faults:
        assert len(str(fault)) < MOST_SAID
    for name in (library := load_library(path.parent)).names()[-1:]:
        scenario_view(library.find(name))


KINDS: dict[str, Callable[[Path], None]] = {
    "card": use_card,
    "recipe": use_recipe,
    "scenario": use_scenario,
}


def check(kind: str, n: int, seed: int, path: Path) -> None:
    """Uses mutants of a kind of file; only errors of ours may come of it."""
    said: list[str] = []
    for data in mutants(shipped()[kind], n, seed):
        path.write_bytes(data)
        try:
            KINDS[kind](path)
        except AutojError as error:
            said.append(str(error))
        except Exception as error:
            kept = path.with_name(f"{kind}-{seed}.txt")
            kept.write_bytes(data)
            raise AssertionError(f"{kept} ends in {error!r}") from error
    assert len(said) > n / 4
    assert max(map(len, said)) < MOST_SAID


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_odd_files_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    check(kind, N_QUICK, 0, tmp_path / "gardening.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("kind", KINDS)
def test_odd_files_are_read_or_refused(kind: str, seed: int, tmp_path: Path) -> None:
    check(kind, N_SLOW, seed, tmp_path / "gardening.yaml")
