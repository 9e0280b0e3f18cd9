"""Runs the stages of a recipe, one after the other; killed anywhere, the same call goes on.

```
recipe.json            the recipe and the digests of its files, which a resumed construction checks
01-collect/ …          a folder per stage (`construct.stages`)
train/                 the files of the mix (`construct.mixing`)
```
"""

from collections.abc import Iterator
from pathlib import Path

from autoj.construct.binding import bind, identity_of, make_folder
from autoj.construct.folder import REVIEWABLE, Construction, begin, stage_folder
from autoj.construct.recipe import ConstructRecipe, Stage
from autoj.construct.stage_work import TRAIN, Job, check_stage, outcomes_of
from autoj.construct.stages import Outcome, StageFolder, StageSummary
from autoj.errors import Cancelled, DataError
from autoj.runs.budget import Budget
from autoj.runs.place import locked
from autoj.runs.watch import SILENT, Watch


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
    identity = identity_of(recipe)
    _check(recipe)
    make_folder(out)
    budget = budget or Budget()
    with locked(out):
        bind(out, identity)
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
                job = Job(
                    recipe=recipe,
                    before=before,
                    folder=folder,
                    train=out / TRAIN,
                    budget=budget,
                    watch=watch,
                )
                _run_stage(stage, job)
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
        UserError: as `check_stage`.
    """
    for stage in recipe.stages:
        check_stage(stage, recipe)


def _run_stage(stage: Stage, job: Job) -> StageSummary:
    with job.opened:
        return job.folder.write(_watched(stage, job), job.n_in, spent=job.spent, notes=job.notes)


def _watched(stage: Stage, job: Job) -> Iterator[Outcome]:
    """The outcomes of a stage, with progress; cancelled between two of them."""
    for n_done, outcome in enumerate(outcomes_of(stage, job), start=1):
        job.watch.progress(stage.stage, n_done, max(job.n_in or 0, n_done))
        if job.watch.cancelled():
            raise Cancelled("cancelled")
        yield outcome
