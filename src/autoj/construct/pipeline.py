"""Runs the stages of a recipe, one after the other; killed anywhere, the same call goes on.

```
recipe.json            the recipe and the digests of its files, which a resumed construction checks
01-collect/ …          a folder per stage (`construct.stages`)
train/                 the files of the mix (`construct.mixing`)
```
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from autoj.construct.classifying import classify
from autoj.construct.collecting import check_languages, collect
from autoj.construct.contamination import check_test_sets, decontaminate
from autoj.construct.duplicates import check_near_duplicates, deduplicate
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
    Translate,
)
from autoj.construct.single_judgments import judge_singles, single_specs
from autoj.construct.stages import Outcome, Spent, StageFolder, StageSummary
from autoj.construct.teacher import Teacher
from autoj.construct.translation.stage import translate, translation_specs
from autoj.datasets import open_cases
from autoj.errors import Cancelled, DataError, SpecMismatch, UnknownComponent
from autoj.jsonl import sha256_of, write_records
from autoj.records import Case
from autoj.runs.budget import Budget
from autoj.runs.lock import HOLDER, LOCK, locked
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios import load_library
from autoj.scenarios.classifier import load_classifier

RECIPE = "recipe.json"
TRAIN = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class Construction:
    """A construction in its folder."""

    path: Path
    summaries: tuple[StageSummary, ...]
    """Of the stages that are done, in order."""
    n_stages: int
    """Stages of the recipe."""

    @classmethod
    def open(cls, path: Path) -> Construction:
        """Opens a construction, finished or not.

        Raises:
            DataError: the path holds none.
        """
        stages = _recorded(path)["recipe"]["stages"]
        folders = [
            stage_folder(path, number, stage["stage"])
            for number, stage in enumerate(stages, start=1)
        ]
        done = [found for folder in folders if (found := folder.summary()) is not None]
        return cls(path=path, summaries=tuple(done), n_stages=len(stages))

    def stage(self, name: str) -> StageFolder:
        """The folder of a finished stage, by its kind, such as "judge-pairs", or its number.

        Raises:
            DataError: there is no such stage, or it is not done.
        """
        for number, summary in enumerate(self.summaries, start=1):
            if name in (summary.name, str(number), f"{number:02d}-{summary.name}"):
                return stage_folder(self.path, number, summary.name)
        known = ", ".join(summary.name for summary in self.summaries) or "none"
        raise DataError(f"has no finished stage {name!r}; finished: {known}", path=self.path)


def stage_folder(path: Path, number: int, name: str) -> StageFolder:
    """The folder of a stage; `number` counts from 1."""
    return StageFolder(path / f"{number:02d}-{name}", name)


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
    _make(out)
    budget = budget or Budget()
    with locked(out):
        _bind(out, identity)
        before: StageFolder | None = None
        for number, stage in enumerate(recipe.stages[:until], start=1):
            folder = stage_folder(out, number, stage.stage)
            done = folder.summary()
            if done is None:
                watch.message(f"stage {number} of {len(recipe.stages)}: {stage.stage}")
                _run_stage(recipe, stage, before, folder, out, budget, watch)
            else:
                budget.n_requests += done.n_requests
                budget.spent_usd += done.usd or 0.0
            before = folder
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
            case JudgePairs():
                pair_spec(stage, own)
            case JudgeSingles():
                single_specs(stage, own)
            case Translate():
                translation_specs(stage)
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
    if isinstance(stage, JudgePairs | JudgeSingles | Translate):
        with closing(Teacher(stage.teacher, budget, watch)) as teacher:
            found = _taught(recipe, stage, list(before.kept()), teacher, folder.path, spent)
            return folder.write(watched(found), n_in, spent=spent)
    filtered = _filtered(stage, before, recipe.seed, notes)
    return folder.write(watched(filtered), n_in, notes=notes)


def _taught(
    recipe: ConstructRecipe,
    stage: JudgePairs | JudgeSingles | Translate,
    cases: list[Case],
    teacher: Teacher,
    path: Path,
    spent: Spent,
) -> Iterator[Outcome]:
    """The outcomes of a stage that asks a teacher."""
    own, seed = _own_scenarios(recipe), recipe.seed
    if isinstance(stage, JudgePairs):
        pairs = pair_spec(stage, own)
        return judge_pairs(cases, stage, pairs, teacher, path, seed=seed, spent=spent)
    if isinstance(stage, Translate):
        specs = translation_specs(stage)
        return translate(cases, stage, specs, teacher, path, spent=spent)
    singles = single_specs(stage, own)
    return judge_singles(cases, stage, singles, teacher, path, seed=seed, spent=spent)


def _filtered(
    stage: Deduplicate | Decontaminate | Classify | Negatives,
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


def _make(out: Path) -> None:
    """Makes the folder of a construction.

    Raises:
        DataError: it cannot be made, or holds something else.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in out.iterdir()}
    except OSError as error:
        raise DataError(f"cannot be made: {error.strerror}", path=out) from None
    if RECIPE not in names and (others := sorted(names - {LOCK, HOLDER})):
        raise DataError(
            f"is not a construction and not empty: it holds {others[0]!r}",
            path=out,
            hint="Choose another --out.",
        )


def _bind(out: Path, identity: dict[str, Any]) -> None:
    """Records the recipe in a new folder, or checks that it is the recorded one."""
    if not (out / RECIPE).is_file():
        write_records(out / RECIPE, [identity])
        return
    there = _recorded(out)
    if there == orjson.loads(orjson.dumps(identity)):
        return
    raise SpecMismatch(out, list(_differences(there, identity)))


def _differences(there: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """The entries that differ, with both values."""
    before, after = _flat(there), _flat(orjson.loads(orjson.dumps(now)))
    for name in sorted(before.keys() | after.keys()):
        was, found = before.get(name), after.get(name)
        if was != found:
            yield f"{name}: was {was!r}, is now {found!r}"


def _flat(value: Any, place: str = "") -> dict[str, Any]:
    """The leaves of nested values by their places."""
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = [(str(index), inner) for index, inner in enumerate(value)]
    else:
        return {place: value}
    leaves: dict[str, Any] = {}
    for key, inner in items:
        leaves.update(_flat(inner, f"{place}.{key}" if place else key))
    return leaves


def _recorded(out: Path) -> dict[str, Any]:
    try:
        found = orjson.loads((out / RECIPE).read_bytes())
    except FileNotFoundError:
        raise DataError(f"is not a construction: it has no {RECIPE}", path=out) from None
    except ValueError as error:
        raise DataError(f"is not JSON ({error})", path=out / RECIPE) from None
    if not isinstance(found, dict) or not isinstance(found.get("recipe"), dict):
        raise DataError("is not the record of a construction", path=out / RECIPE)
    stages = found["recipe"].get("stages")
    listed = stages if isinstance(stages, list) else []
    kinds = [stage.get("stage") if isinstance(stage, dict) else None for stage in listed]
    if not kinds or not all(isinstance(kind, str) for kind in kinds):
        raise DataError("is not the record of a construction", path=out / RECIPE)
    return found
