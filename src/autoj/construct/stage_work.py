"""The work of each kind of stage: its checks before anything is asked, and its outcomes.

A new kind of stage has its settings in `construct.recipe` and one case in each function here.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, assert_never

from autoj.construct.classifying import classify, classify_by_judge, naming_spec
from autoj.construct.collecting import collect, open_sources
from autoj.construct.folder import runs_set_aside
from autoj.construct.known_queries import (
    check_near_duplicates,
    check_test_sets,
    decontaminate,
    deduplicate,
)
from autoj.construct.mathematics import add_mathematics, check_problems
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
    Mathematics,
    Mix,
    Negatives,
    Stage,
    Translate,
)
from autoj.construct.single_judgments import judge_singles, single_specs
from autoj.construct.stages import Outcome, Spent, StageFolder
from autoj.construct.teacher import Teacher
from autoj.construct.translation.stage import translate, translation_specs
from autoj.errors import UnknownComponent
from autoj.records import Case
from autoj.runs.budget import Budget
from autoj.runs.watch import Watch
from autoj.scenarios import load_library
from autoj.scenarios.classifier import load_classifier

TRAIN = "train"


@dataclass(slots=True, kw_only=True)
class Job:
    """A stage at work: what it reads, writes and may spend."""

    recipe: ConstructRecipe
    before: StageFolder | None
    """The stage before it; None for the first one."""
    folder: StageFolder
    train: Path
    """The folder of the training files."""
    budget: Budget
    watch: Watch
    spent: Spent = field(default_factory=Spent)
    """Filled by a stage that asks a teacher."""
    notes: dict[str, Any] = field(default_factory=dict)
    """Filled with other findings for the stage's summary."""
    opened: ExitStack = field(default_factory=ExitStack)
    """Closes what the stage has opened."""

    def rows(self) -> Iterator[Case]:
        """The rows that the stage before kept, lazily."""
        assert self.before is not None
        return self.before.kept()

    @property
    def n_in(self) -> int | None:
        """The number of rows that come in; None for the first stage, which reads the sources."""
        return None if self.before is None else self.before.n_kept()

    def teacher(self, name: str) -> Teacher:
        """A teacher that is closed with the job."""
        aside = runs_set_aside(self.folder)
        opened = Teacher(name, self.budget, self.watch, aside)
        opened.count_set_aside(self.spent)
        return self.opened.enter_context(closing(opened))


def own_scenarios(recipe: ConstructRecipe) -> Path | None:
    """The folder of the user's own scenarios; None where the recipe uses ours."""
    return None if recipe.scenarios is None else Path(recipe.scenarios)


def check_stage(stage: Stage, recipe: ConstructRecipe) -> None:
    """Checks the names, files and packages of a stage before anything is asked.

    Raises:
        DataError: a file is missing.
        UnknownComponent: a judge, a protocol, a classifier or a scenario is unknown.
        ConfigError: a teacher's protocol does not fit, or a language code is none.
        MissingExtra: the stage needs packages that are not installed.
    """
    match stage:
        case Collect():
            open_sources(recipe, stage)
        case Deduplicate():
            if stage.threshold is not None:
                check_near_duplicates()
        case Decontaminate():
            check_test_sets(stage)
        case Classify():
            load_classifier(stage.classifier)
            if stage.judge is not None:
                naming_spec(stage, own_scenarios(recipe))
        case JudgePairs():
            pair_spec(stage, own_scenarios(recipe))
        case JudgeSingles():
            single_specs(stage, own_scenarios(recipe))
        case Translate():
            translation_specs(stage)
        case Negatives():
            check_encoder(stage)
        case Mathematics():
            check_problems(stage)
        case Mix():
            library = load_library(own_scenarios(recipe))
            for name in stage.held_out:
                if name not in library.names():
                    raise UnknownComponent("scenario", name, library.names())
        case _:
            assert_never(stage)


def outcomes_of(stage: Stage, job: Job) -> Iterator[Outcome]:
    """The outcomes of a stage, as they are read.

    Raises:
        DataError: a file cannot be read.
        Unfinished: a cap was reached.
        BackendError: the teacher broke down.
    """
    recipe, own = job.recipe, own_scenarios(job.recipe)
    match stage:
        case Collect():
            yield from collect(recipe, stage, job.notes)
        case Deduplicate():
            yield from deduplicate(job.rows(), stage)
        case Decontaminate():
            yield from decontaminate(list(job.rows()), stage, job.notes)
        case Classify():
            if stage.judge is None:
                yield from classify(job.rows(), stage)
            else:
                yield from classify_by_judge(
                    list(job.rows()),
                    stage,
                    naming_spec(stage, own),
                    job.teacher(stage.judge),
                    job.folder.path,
                    job.spent,
                )
        case JudgePairs():
            yield from judge_pairs(
                list(job.rows()),
                stage,
                pair_spec(stage, own),
                job.teacher(stage.teacher),
                job.folder.path,
                seed=recipe.seed,
                spent=job.spent,
            )
        case JudgeSingles():
            yield from judge_singles(
                list(job.rows()),
                stage,
                single_specs(stage, own),
                job.teacher(stage.teacher),
                job.folder.path,
                seed=recipe.seed,
                spent=job.spent,
            )
        case Translate():
            yield from translate(
                list(job.rows()),
                stage,
                translation_specs(stage),
                job.teacher(stage.teacher),
                job.folder.path,
                spent=job.spent,
            )
        case Negatives():
            cases = list(job.rows())
            pairs = pairs_among(cases)
            embeddings = embed_queries(pairs) if stage.borrows and pairs else None
            yield from add_negatives(cases, stage, embeddings, recipe.seed, job.notes)
        case Mathematics():
            yield from add_mathematics(job.rows(), stage, recipe.seed, job.notes)
        case Mix():
            job.notes.update(asdict(write_mix(job.rows(), stage, job.train, recipe.seed)))
            yield from job.rows()
        case _:
            assert_never(stage)
