"""The stages of a classifier's data, made one by one."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from autoj.construct.classifier_data.recipe import BY_SEEDS, ClassifierDataRecipe
from autoj.construct.classifier_data.seeds import SeedWriter, known_seeds, seed_spec
from autoj.construct.classifier_data.split import TRAIN, right_queries, write_parts
from autoj.construct.classifying import classify
from autoj.construct.collecting import collect
from autoj.construct.folder import begin, stage_folder
from autoj.construct.known_queries import decontaminate, deduplicate
from autoj.construct.recipe import Classify, Decontaminate
from autoj.construct.review.answers import answers_digest, read_reviews
from autoj.construct.stages import KEPT, Dropped, Outcome, Spent, StageFolder, read_written
from autoj.construct.teacher import Teacher
from autoj.errors import Cancelled, DataError
from autoj.records import Case
from autoj.runs.budget import Budget
from autoj.runs.watch import Watch

DATA, CLASSIFIER, FIRST = "data", "classifier", "first"
BEHIND = ("split", "train")
"""The stages behind the review."""


class TrainsClassifiers(Protocol):
    """Trains classifiers; `training.classifier.job.ClassifierTrainer` does."""

    def check(self) -> None:
        """Checks that it can.

        Raises:
            MissingExtra: packages are not installed.
            DataError: its recipe is wrong.
        """

    def train(self, data: Sequence[Path], out: Path, watch: Watch) -> Mapping[str, float]:
        """Trains on files of queries with scenarios.

        Args:
            data: the files.
            out: the classifier's folder.
            watch: told of progress.

        Returns:
            Its figures on held-out queries.

        Raises:
            DataError: the data do not suffice.
        """


def decontamination(recipe: ClassifierDataRecipe) -> Decontaminate | None:
    """The filter of queries that are in test files; None where the recipe names none."""
    if not recipe.against:
        return None
    return Decontaminate.model_validate({"stage": "decontaminate", "against": recipe.against})


class DataMaker:
    """Makes the stages of a folder, in their order."""

    def __init__(
        self,
        recipe: ClassifierDataRecipe,
        out: Path,
        trainer: TrainsClassifiers,
        budget: Budget,
        watch: Watch,
    ) -> None:
        self._recipe, self._out, self._trainer = recipe, out, trainer
        self._budget, self._watch = budget, watch

    def make(self, name: str) -> None:
        """Makes a stage that is not done, or was made before the last review.

        Raises:
            DataError: it leaves no query.
        """
        folder = self._folder(name)
        if name in BEHIND and begin(folder, answers_digest(self._folder("classify").path)):
            self._watch.message(f"stage {name} was made before the last review: it is made again")
        done = folder.summary()
        if done is not None:
            self._budget.n_requests += done.n_requests
            self._budget.spent_usd += done.usd or 0.0
            return
        stages = self._recipe.stages
        self._watch.message(f"stage {stages.index(name) + 1} of {len(stages)}: {name}")
        spent, notes = Spent(), dict[str, Any]()
        outcomes = self._watched(name, self._outcomes(name, spent, notes))
        # A teacher's queries are made here; of the other stages each outcome is a row that came in.
        n_in = 0 if name == "seeds" else None
        if folder.write(outcomes, n_in, spent=spent, notes=notes).n_kept == 0:
            raise DataError(
                f"stage {name} left no query",
                path=folder.path,
                hint=f"`autoj construct show {self._out} {name}` lists what it dropped, and why.",
            )

    def _folder(self, name: str) -> StageFolder:
        return stage_folder(self._out, self._recipe.stages.index(name) + 1, name)

    def _seed_rows(self) -> Iterator[Case]:
        """The seed queries; none where the recipe has no such stage."""
        return self._folder("seeds").kept() if self._recipe.seeds is not None else iter(())

    def _outcomes(self, name: str, spent: Spent, notes: dict[str, Any]) -> Iterator[Outcome]:
        match name:
            case "seeds":
                return self._seeds(spent, notes)
            case "queries":
                return self._queries(notes)
            case "classify":
                return self._classify(notes)
            case "split":
                return self._split(notes)
            case "train":
                return self._train(notes)
        raise AssertionError(f"there is no stage {name!r}")

    def _watched(self, name: str, outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
        for n_done, outcome in enumerate(outcomes, start=1):
            self._watch.progress(name, n_done, n_done)
            if self._watch.cancelled():
                raise Cancelled("cancelled")
            yield outcome

    def _seeds(self, spent: Spent, notes: dict[str, Any]) -> Iterator[Outcome]:
        """Queries of files, then the teacher's."""
        seeds = self._recipe.seeds
        assert seeds is not None
        kept = list(known_seeds(self._recipe, seeds))
        if seeds.teacher is not None:
            spec, folder = seed_spec(seeds), self._folder("seeds").path
            with closing(Teacher(seeds.teacher, self._budget, self._watch)) as teacher:
                writer = SeedWriter(self._recipe, seeds, list(kept), spec, teacher, folder)
                for outcome in writer.write(spent):
                    if isinstance(outcome, Dropped):
                        yield outcome
                    else:
                        kept.append(outcome)
        yield from self._cleaned(kept, notes)

    def _queries(self, notes: dict[str, Any]) -> Iterator[Outcome]:
        """Real queries, without those that are too long, in other languages or repeated."""
        seeds = {case.cluster for case in self._seed_rows()}
        kept: list[Case] = []
        for outcome in collect(*self._recipe.collected, notes, queries=True):
            if isinstance(outcome, Dropped):
                yield outcome
            elif outcome.cluster in seeds:
                yield Dropped(id=outcome.id, reason="same query", detail="a seed", case=outcome)
            else:
                kept.append(outcome)
        yield from self._cleaned(kept, notes)

    def _cleaned(self, cases: Sequence[Case], notes: dict[str, Any]) -> Iterator[Outcome]:
        """The queries without near duplicates and without those of test files."""
        fresh: list[Case] = []
        for outcome in deduplicate(cases, self._recipe.near):
            if isinstance(outcome, Dropped):
                yield outcome
            else:
                fresh.append(outcome)
        against = decontamination(self._recipe)
        yield from decontaminate(fresh, against, notes) if against is not None else fresh

    def _classify(self, notes: dict[str, Any]) -> Iterator[Outcome]:
        """The real queries with their scenarios by the first model."""
        name = self._recipe.first
        if name == BY_SEEDS:
            first = self._folder("classify").path / FIRST
            seeds = self._folder("seeds").path / KEPT
            notes["first"] = dict(self._trainer.train([seeds], first, self._watch))
            name = str(first)
        stage = Classify.model_validate({"stage": "classify", "classifier": name})
        yield from classify(self._folder("queries").kept(), stage)

    def _split(self, notes: dict[str, Any]) -> Iterator[Outcome]:
        """The right names, written in two parts, and the others with the reason."""
        named = self._folder("classify")
        reviews = read_reviews(named.path)
        outcomes = list(right_queries(self._seed_rows(), named.written(), reviews))
        right = [outcome for outcome in outcomes if isinstance(outcome, Case)]
        share, seed = self._recipe.test_share, self._recipe.seed
        notes["rows"] = write_parts(right, self._out / DATA, test_share=share, seed=seed)
        yield from outcomes

    def _train(self, notes: dict[str, Any]) -> Iterator[Outcome]:
        """The rows that the classifier is trained on."""
        data = self._out / DATA / TRAIN
        notes["held_out"] = dict(self._trainer.train([data], self._out / CLASSIFIER, self._watch))
        yield from read_written(data)
