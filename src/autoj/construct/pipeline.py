"""Runs the stages of a recipe, one after the other; killed anywhere, the same call goes on.

The folder is that of `construct.folder`; `train/` holds the files of the mix (`construct.mixing`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autoj.construct.classifying import classify, classify_by_judge, naming_spec
from autoj.construct.collecting import check_languages, collect
from autoj.construct.contamination import check_test_sets, decontaminate
from autoj.construct.duplicates import check_near_duplicates, deduplicate
from autoj.construct.folder import (
    REVIEWABLE,
    Construction,
    bind_recipe,
    make_folder,
    stage_folder,
)
from autoj.construct.mixing import write_mix
from autoj.construct.negatives import add_negatives, check_encoder, embed_queries, pairs_among
from autoj.construct.pair_judgments import judge_pairs, pair_spec
from autoj.construct.recipe import (
    Classify,
    Collect,
    ConstructRecipe,
    Decontaminate,
    Deduplicate,
    JudgePairs,
    JudgeSingles,
    Mix,
    Negatives,
    Stage,
    asked_by,
)
from autoj.construct.single_judgments import judge_singles, single_specs
from autoj.construct.stages import Outcome, Spent, StageFolder, StageSummary
from autoj.construct.staleness import begin, runs_set_aside
from autoj.construct.teacher import Teacher
from autoj.datasets import open_cases
from autoj.errors import Cancelled, DataError, UnknownComponent
from autoj.jsonl import sha256_of
from autoj.records import Case
from autoj.runs.budget import Budget
from autoj.runs.lock import locked
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios import load_library
from autoj.scenarios.classifier import load_classifier

TRAIN = "train"


def construct(
    recipe: ConstructRecipe,
    out: Path,
    *,
    budget: Budget | None = None,
    watch: Watch = SILENT,
    until: int | None = None,
) -> Construction:
    """Runs all stages of a recipe that are not done.

    Args:
        recipe: the sources and the stages.
        out: the folder; made where there is none.
        budget: the caps, over all stages and sessions; None sets no limit.
        watch: told of progress and events.
        until: the number of stages to run; None runs all.

    Raises:
        DataError: a file cannot be read.
        SpecMismatch: the folder was made by another recipe, or a file has changed since.
        RunBusy: another process writes to it.
        Unfinished: a cap was reached; the same call with a higher one goes on.
        BackendError: the teacher broke down; the same call goes on.
        Cancelled: `watch` cancelled it; the same call goes on.
    """
    # Everything that can be wrong without a question is found before the first one.
    identity = _identity(recipe)
    _check(recipe)
    make_folder(out)
    budget = budget or Budget()
    with locked(out):
        bind_recipe(out, identity)
        before: StageFolder | None = None
        corrections: str | None = None
        for number, stage in enumerate(recipe.stages[:until], start=1):
            folder = stage_folder(out, number, stage.stage)
            if begin(folder, corrections):
                watch.message(
                    f"stage {number}, {stage.stage}, was made before the last review: it is made "
                    "again, and nothing is asked twice"
                )
            done = folder.summary()
            if done is None:
                watch.message(f"stage {number} of {len(recipe.stages)}: {stage.stage}")
                _run_stage(recipe, stage, before, folder, out, budget, watch)
            else:
                budget.n_requests += done.n_requests
                budget.spent_usd += done.usd or 0.0
            before = folder
            if stage.stage == REVIEWABLE:
                corrections = folder.corrections().digest
            if stage.stage != "mix" and folder.n_kept() == 0:
                raise DataError(
                    f"stage {stage.stage} left no row",
                    path=folder.path,
                    hint=f"`autoj construct show {out} {stage.stage}` lists what it dropped, and "
                    "why.",
                )
    return Construction.open(out)


def _check(recipe: ConstructRecipe) -> None:
    """Checks the names, files and packages of all stages.

    Raises:
        DataError: a file is missing.
        UnknownComponent: a judge, a protocol, a classifier or a scenario is unknown.
        ConfigError: a teacher's protocol does not fit, or a language code is none.
        MissingExtra: a stage needs packages that are not installed.
    """
    own = _own_scenarios(recipe)
    library = load_library(own)
    for source in recipe.sources:
        if source.scenario is not None:
            library.find(source.scenario)
    for stage in recipe.stages:
        match stage:
            case Collect():
                check_languages(stage)
            case Deduplicate():
                if stage.threshold is not None:
                    check_near_duplicates()
            case Decontaminate():
                check_test_sets(stage)
            case Classify():
                load_classifier(stage.classifier)
                if stage.judge is not None:
                    naming_spec(stage)
            case JudgePairs():
                pair_spec(stage, own)
            case JudgeSingles():
                single_specs(stage, own)
            case Negatives():
                check_encoder(stage)
            case Mix():
                for name in stage.held_out:
                    if name not in library.names():
                        raise UnknownComponent("scenario", name, library.names())


def _own_scenarios(recipe: ConstructRecipe) -> Path | None:
    return None if recipe.scenarios is None else Path(recipe.scenarios)


def _run_stage(
    recipe: ConstructRecipe,
    stage: Stage,
    before: StageFolder | None,
    folder: StageFolder,
    out: Path,
    budget: Budget,
    watch: Watch,
) -> StageSummary:
    spent, notes = Spent(), dict[str, Any]()
    n_in = 0 if before is None else before.n_kept()

    def watched(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
        for n_done, outcome in enumerate(outcomes, start=1):
            watch.progress(stage.stage, n_done, max(n_in, n_done))
            if watch.cancelled():
                raise Cancelled("cancelled")
            yield outcome

    if isinstance(stage, Collect):
        return folder.write(watched(collect(recipe, stage)))
    assert before is not None
    if isinstance(stage, Mix):
        notes.update(asdict(write_mix(before.kept(), stage, out / TRAIN, recipe.seed)))
        return folder.write(before.kept(), n_in, notes=notes)
    if (judge := asked_by(stage)) is not None:
        with closing(Teacher(judge, budget, watch, runs_set_aside(folder))) as teacher:
            teacher.count_set_aside(spent)
            found = _taught(recipe, stage, list(before.kept()), teacher, folder.path, spent)
            return folder.write(watched(found), n_in, spent=spent)
    filtered = _filtered(stage, before, recipe.seed, notes)
    return folder.write(watched(filtered), n_in, notes=notes)


def _taught(
    recipe: ConstructRecipe,
    stage: Stage,
    cases: list[Case],
    teacher: Teacher,
    path: Path,
    spent: Spent,
) -> Iterator[Outcome]:
    """The outcomes of a stage that asks a teacher."""
    own, seed = _own_scenarios(recipe), recipe.seed
    match stage:
        case Classify():
            return classify_by_judge(cases, stage, naming_spec(stage), teacher, path, spent)
        case JudgePairs():
            pairs = pair_spec(stage, own)
            return judge_pairs(cases, stage, pairs, teacher, path, seed=seed, spent=spent)
        case JudgeSingles():
            singles = single_specs(stage, own)
            return judge_singles(cases, stage, singles, teacher, path, seed=seed, spent=spent)
    raise AssertionError(f"stage {stage.stage} asks nobody")


def _filtered(
    stage: Stage,
    before: StageFolder,
    seed: int,
    notes: dict[str, Any],
) -> Iterator[Outcome]:
    """The outcomes of a stage that asks nobody."""
    match stage:
        case Deduplicate():
            yield from deduplicate(before.kept(), stage)
        case Decontaminate():
            yield from decontaminate(list(before.kept()), stage, notes)
        case Classify():
            yield from classify(before.kept(), stage)
        case Negatives():
            cases = list(before.kept())
            pairs = pairs_among(cases)
            embeddings = embed_queries(pairs) if stage.borrows and pairs else None
            yield from add_negatives(cases, stage, embeddings, seed)
        case _:
            raise AssertionError(f"stage {stage.stage} is no filter")


def _identity(recipe: ConstructRecipe) -> dict[str, Any]:
    """The record that a resumed construction must have in common with its folder.

    Raises:
        DataError: a source or a test set is missing.
    """
    files = [Path(source.data) for source in recipe.sources]
    files += [
        Path(name)
        for stage in recipe.stages
        if isinstance(stage, Decontaminate)
        for name in stage.against
    ]
    digests = {str(path): sha256_of(path) for name in files for path in open_cases(name).paths}
    return {"recipe": recipe.model_dump(mode="json"), "files": digests}
