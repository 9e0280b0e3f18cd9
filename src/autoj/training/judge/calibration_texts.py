"""Texts on which weights are quantised: what a judge read and wrote in its own training.

How much each weight matters is measured on such texts, so they choose what the judge keeps. They
come from its training files and nothing else: a benchmark's file is refused, and rows whose query
is in a benchmark on this machine, or among the pairs that the verdicts are compared on, are left
out.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autoj.backends.hf.encoding import Encoder
from autoj.datasets import catalog, open_cases
from autoj.datasets.overlap import find_overlap
from autoj.errors import ConfigError, DataError
from autoj.jsonl import sha256_of
from autoj.records import Case, JudgeCard
from autoj.runs.watch import Watch
from autoj.training.judge.plans import plan_samples
from autoj.training.judge.recipe import Recipe
from autoj.training.judge.rows import TrainingRow, read_rows, training_file
from autoj.training.judge.sample_files import fitting
from autoj.training.judge.samples import SampleEncoder

N_TEXTS = 256
"""The texts that are drawn: published recipes take 128 to 512."""
_NGRAMS = 13
_SEED = 0


def calibration_rows(
    files: Sequence[Path],
    settings: dict[str, Any],
    compared: Sequence[Case],
    watch: Watch,
) -> list[TrainingRow]:
    """The rows of training files that may be used, read before anything heavy is loaded.

    Args:
        files: the files that the judge was trained on, or some of them.
        settings: those of its training (`train.json`).
        compared: the pairs that the verdicts are compared on afterwards.
        watch: told of rows that are left out.

    Raises:
        ConfigError: a file is a benchmark's, or is not one that the judge was trained on; or no
            row is left.
        DataError: a row cannot be read.
    """
    trained_on = {entry["sha256"]: entry["name"] for entry in settings["files"]["data"]}
    rows: list[TrainingRow] = []
    for file in map(training_file, files):
        if catalog.is_test_file(file) or open_cases(file).testing_only:
            raise ConfigError(
                f"{file} is a benchmark's, and calibration texts are never taken from one",
                hint=f"Name the judge's own training files: {', '.join(trained_on.values())}.",
            )
        if sha256_of(file) not in trained_on:
            raise ConfigError(
                f"{file} is none of the files that this judge was trained on",
                hint=f"Calibration texts are of its own training: {_listed(settings)}.",
            )
        rows += read_rows(file)
    return _without_tested(rows, compared, watch)


def _recipe(settings: dict[str, Any]) -> Recipe:
    """The recipe of a training, which is stored with the defaults that it took."""
    stored = dict(settings["recipe"])
    if stored["update"]["method"] != "lora":  # such an update states nothing of adapters
        shared = ("method", "top_layers")
        stored["update"] = {name: stored["update"].get(name) for name in shared}
    return Recipe.model_validate(stored)


def _listed(settings: dict[str, Any]) -> str:
    entries = settings["files"]["data"]
    return ", ".join(f"{entry['name']} (sha256 {entry['sha256'][:12]}…)" for entry in entries)


def _without_tested(
    rows: list[TrainingRow], compared: Sequence[Case], watch: Watch
) -> list[TrainingRow]:
    queries = [row.case.query for row in rows]
    left_out: set[int] = set()
    others = {"the pairs to compare on": [case.query for case in compared]}
    others |= {name: _queries(name, path, watch) for name, path in catalog.test_sets_here().items()}
    for name, tested in others.items():
        shared = {item.a for item in find_overlap(queries, tested, n=_NGRAMS).shared}
        if shared:
            watch.message(
                f"{len(shared):,} of {len(rows):,} rows share their query with {name} and are no "
                "calibration texts"
            )
        left_out |= shared
    kept = [row for at, row in enumerate(rows) if at not in left_out]
    if not kept:
        raise ConfigError(
            "all queries of the calibration files are in test sets, or among the pairs that "
            "verdicts are compared on",
            hint="Name other training files with --calibration, or other pairs with --validation.",
        )
    return kept


def _queries(name: str, path: Path, watch: Watch) -> list[str]:
    """The queries of a benchmark's set that can be read; it is told where some cannot.

    Args:
        name: the set's.
        path: its file, or a folder of files, as of the outputs of many models.
        watch: is told.
    """
    queries: dict[str, None] = {}
    reason: DataError | ConfigError | None = None
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        try:
            for _, item in open_cases(file).read():
                if isinstance(item, Case):
                    queries[item.query] = None
                else:
                    reason = reason or item
        except (DataError, ConfigError) as error:
            reason = reason or error
    if reason is not None:
        watch.message(
            f"{name} is compared in part only, by the {len(queries):,} queries that can be read: "
            f"{reason.message}"
        )
    return list(queries)


def encode_texts(
    rows: Sequence[TrainingRow], settings: dict[str, Any], card: JudgeCard, tokenizer: Any
) -> list[list[int]]:
    """Token ids of rows as the judge learnt them: the prompt, and the judgment where it wrote one.

    Args:
        rows: the rows.
        settings: those of the judge's training.
        card: the judge's card.
        tokenizer: its tokenizer.

    Returns:
        At most `N_TEXTS` sequences, drawn with a fixed seed.

    Raises:
        ConfigError: no row fits an objective of the training.
    """
    recipe = _recipe(settings)
    encoder = SampleEncoder(recipe, card, Encoder(tokenizer, card.wrapper))
    planned = list(plan_samples(rows, recipe, augment=False, lenient=True).samples)
    random.Random(_SEED).shuffle(planned)
    texts: list[list[int]] = []
    for one in planned:
        sample = fitting(encoder, one)
        texts += [] if sample is None else [list(each.root) for each in sample.sequences]
        if len(texts) >= N_TEXTS:
            break
    if not texts:
        raise ConfigError("no row of the calibration files fits an objective of the training")
    return texts[:N_TEXTS]
