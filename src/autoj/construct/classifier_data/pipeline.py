"""Makes a classifier's data stage by stage; killed anywhere, the same call goes on.

```
recipe.json           as of every construction (`construct.binding`)
01-seeds/             queries of each scenario, by a teacher or from files; a recipe may do without
02-queries/           real queries, cleaned
03-classify/          their scenarios by the first model, which is in first/; a person reviews them
04-split/             what is right, and the rest with the reason
05-train/             the figures of the training
data/                 train.jsonl, test.jsonl, test_reviewed.jsonl
classifier/           the trained classifier
```
It stops behind 03-classify until a person has reviewed its names.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoj.construct.binding import bind, make_folder
from autoj.construct.classifier_data.making import (
    BEHIND,
    CLASSIFIER,
    DATA,
    DataMaker,
    TrainsClassifiers,
    decontamination,
)
from autoj.construct.classifier_data.recipe import BY_SEEDS, ClassifierDataRecipe
from autoj.construct.classifier_data.requests import wanted_names
from autoj.construct.classifier_data.seeds import seed_spec
from autoj.construct.classifier_data.split import TEST, TEST_REVIEWED, TRAIN
from autoj.construct.collecting import open_sources
from autoj.construct.folder import Construction
from autoj.construct.known_queries import check_near_duplicates, check_test_sets
from autoj.construct.review.answers import read_reviews
from autoj.construct.review.opening import open_review
from autoj.datasets import data_paths
from autoj.errors import Unfinished
from autoj.jsonl import sha256_of
from autoj.runs.budget import Budget
from autoj.runs.place import locked
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios.classifier import load_classifier
from autoj.scenarios.seeds import query_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierData:
    """A classifier's data, and the classifier."""

    construction: Construction
    train: Path
    test: Path
    test_reviewed: Path
    """The real queries of the test file."""
    classifier: Path
    """The trained classifier's folder."""


def construct_classifier_data(
    recipe: ClassifierDataRecipe,
    out: Path,
    trainer: TrainsClassifiers,
    *,
    budget: Budget | None = None,
    watch: Watch = SILENT,
    as_reviewed: bool = False,
) -> ClassifierData:
    """Runs all stages that are not done.

    Args:
        recipe: the scenarios, the sources and the shares.
        out: the folder; made where there is none.
        trainer: trains the first model and the last one.
        budget: the caps on the teacher, over all sessions; None sets no limit.
        watch: told of progress and events.
        as_reviewed: True goes on with the names that a person has reviewed so far.

    Raises:
        Unfinished: a cap was reached, or names are to be reviewed; the same call goes on.
        DataError: a file cannot be read, or nothing is left of a stage.
        SpecMismatch: the folder was made by another recipe, or a file has changed since.
        RunBusy: another process writes to it.
        MissingExtra: packages are not installed.
        BackendError: the teacher broke down; the same call goes on.
        Cancelled: `watch` cancelled it; the same call goes on.
    """
    identity = _identity(recipe)
    _check(recipe, trainer)
    make_folder(out)
    with locked(out):
        bind(out, identity)
        maker = DataMaker(recipe, out, trainer, budget or Budget(), watch)
        for name in recipe.stages:
            if name == BEHIND[0]:
                _check_reviewed(out, as_reviewed=as_reviewed)
            maker.make(name)
    return ClassifierData(
        construction=Construction.open(out),
        train=out / DATA / TRAIN,
        test=out / DATA / TEST,
        test_reviewed=out / DATA / TEST_REVIEWED,
        classifier=out / CLASSIFIER,
    )


def comparable(recipe: ClassifierDataRecipe) -> tuple[str, ...]:
    """The classifiers to measure beside the new one that know some of its scenarios.

    Raises:
        UnknownComponent: there is no such classifier, or no such scenario.
    """
    wanted = set(wanted_names(recipe))
    return tuple(name for name in recipe.compare if wanted & set(load_classifier(name).labels))


def _identity(recipe: ClassifierDataRecipe) -> dict[str, Any]:
    """The record that a resumed construction must have in common with its folder."""
    seeds = () if recipe.seeds is None else recipe.seeds.data
    names = (*(source.data for source in recipe.queries), *seeds, *recipe.against)
    digests = {str(path): sha256_of(path) for name in names for path in data_paths(Path(name))}
    return {"recipe": recipe.record(), "files": digests}


def _check(recipe: ClassifierDataRecipe, trainer: TrainsClassifiers) -> None:
    """Finds everything that can be wrong without a question."""
    wanted_names(recipe)
    trainer.check()
    if recipe.seeds is not None and recipe.seeds.teacher is not None:
        seed_spec(recipe.seeds)
    open_sources(*recipe.collected, queries=True)
    if recipe.threshold is not None:
        check_near_duplicates()
    if (against := decontamination(recipe)) is not None:
        check_test_sets(against)
    for name in (recipe.first, *recipe.compare):
        if name != BY_SEEDS:
            load_classifier(name)


def _check_reviewed(out: Path, *, as_reviewed: bool) -> None:
    """Stops until a person has checked the first model's names.

    Raises:
        Unfinished: names are open.
        DataError: there is nothing to check.
    """
    found = open_review(out)
    reviews = read_reviews(found.stage.path)
    n_rows = len(found.rows)
    n_open = sum(query_digest(row.query) not in reviews for row in found.rows)
    if n_open == 0 or (as_reviewed and n_open < n_rows):
        return
    raise Unfinished(
        f"{n_open:,} of {n_rows:,} guessed scenarios are to be checked by a person: "
        f"autoj construct review {out}\nThen the same command goes on; with --as-reviewed it does "
        "with what is checked so far, once something is"
    )
