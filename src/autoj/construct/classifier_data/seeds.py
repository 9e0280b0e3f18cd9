"""Seed queries of each scenario, written by a teacher in rounds (paper, Appendix B, step 1).

A round asks, of each scenario that lacks queries, for as many as it lacks, and shows some that are
there, so that it writes others. Every round is a run in a folder of its own:

```
rounds/001/                 the run, with its ledger
rounds/001/written.jsonl    its queries, and what was left out of it; it closes the round
```
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from autoj.construct.classifier_data.recipe import BY_SEEDS, ClassifierDataRecipe, SeedQueries
from autoj.construct.classifier_data.requests import (
    SeedRequests,
    queries_in,
    wanted_library,
    wanted_names,
)
from autoj.construct.stages import Dropped, Outcome, Spent
from autoj.construct.teacher import Teacher
from autoj.datasets import data_name, open_queries
from autoj.errors import DataError, UnknownComponent
from autoj.jsonl import read_records, write_records
from autoj.judges import load_card
from autoj.records import Case, normalise_query
from autoj.runs import RunFolder, RunSpec, make_spec
from autoj.runs.resolving import read_outcomes
from autoj.scenarios import Library

ROUNDS, WRITTEN = "rounds", "written.jsonl"
_PROTOCOL = "scenario-seeds"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A line of a round: a query, or something that was left out."""

    id: str
    scenario: str
    query: str | None = None
    reason: str | None = None
    """None for a query that is kept."""
    detail: str | None = None


def seed_spec(seeds: SeedQueries) -> RunSpec:
    """Makes the settings of the teacher's runs.

    Raises:
        UnknownComponent: there is no such judge.
    """
    assert seeds.teacher is not None
    return make_spec(
        "rate",
        load_card(seeds.teacher),
        protocol=_PROTOCOL,
        critique=False,
        max_tokens=seeds.max_tokens,
        temperature=seeds.temperature,
    )


def known_seeds(recipe: ClassifierDataRecipe, seeds: SeedQueries) -> Iterator[Case]:
    """The seed queries of files.

    Args:
        recipe: states the scenarios.
        seeds: names the files.

    Raises:
        DataError: a file cannot be read, or a row names no scenario, or an unknown one.
    """
    library, names = wanted_library(recipe), wanted_names(recipe)
    for path in map(Path, seeds.data):
        for line, case in open_queries(path).read():
            if isinstance(case, DataError):
                raise case
            try:
                scenario = _known_scenario(case, library, names)
            except UnknownComponent as error:
                raise DataError(
                    error.message, path=path, line=line, field="scenario", hint=error.hint
                ) from None
            yield _seed(f"{data_name(path)}-{line}", case.query, scenario, case.language)


def _known_scenario(case: Case, library: Library, names: Sequence[str]) -> str:
    """The scenario of a row, in the library's spelling.

    Raises:
        UnknownComponent: it has none, or one that is not wanted.
    """
    scenario = library.find(case.scenario or "").name
    if scenario not in names:
        raise UnknownComponent("scenario", scenario, names)
    return scenario


def _seed(name: str, query: str, scenario: str, language: Literal["en", "zh"]) -> Case:
    return Case(
        id=f"{BY_SEEDS}/{name}",
        query=query,
        responses=(),
        cluster=normalise_query(query),
        scenario=scenario,
        source=BY_SEEDS,
        language=language,
    )


class SeedWriter:
    """Lets a teacher write queries of each scenario.

    Args:
        recipe: states the scenarios, the language and the seed.
        seeds: states the number of queries and the rounds.
        known: seed queries of files; the teacher must write others.
        spec: the settings, from `seed_spec`.
        teacher: the judge.
        folder: the stage's folder.
    """

    def __init__(
        self,
        recipe: ClassifierDataRecipe,
        seeds: SeedQueries,
        known: Sequence[Case],
        spec: RunSpec,
        teacher: Teacher,
        folder: Path,
    ) -> None:
        self._recipe, self._seeds, self._spec = recipe, seeds, spec
        self._teacher, self._folder = teacher, folder
        self._requests = SeedRequests(recipe, seeds)
        self._seen = {case.cluster for case in known} | self._requests.shown
        self._written: dict[str, list[str]] = {name: [] for name in self._requests.names}

    def write(self, spent: Spent) -> Iterator[Outcome]:
        """Asks for queries until each scenario has its number, or the rounds are used up.

        Args:
            spent: receives the counts of all rounds.

        Yields:
            Queries with their scenario, and what was left out of the replies.

        Raises:
            Unfinished: a cap was reached; the same call with a higher one resumes.
            BackendError: most requests of a round failed.
        """
        for number in range(1, self._seeds.rounds + 1):
            lacking = {
                name: self._seeds.per_scenario - len(its)
                for name, its in self._written.items()
                if len(its) < self._seeds.per_scenario
            }
            if not lacking:
                return
            for row in self._round(number, lacking, spent):
                if row.query is not None:
                    self._seen.add(normalise_query(row.query))
                    if row.reason is None:
                        self._written[row.scenario].append(row.query)
                yield self._outcome(row)

    def _round(self, number: int, lacking: Mapping[str, int], spent: Spent) -> Iterator[_Written]:
        """Asks for what is lacking, or reads a round that is closed."""
        path = self._folder / ROUNDS / f"{number:03d}"
        is_closed = (path / WRITTEN).is_file()
        if not is_closed:
            asked = [
                self._requests.about(name, lack, number, self._written[name])
                for name, lack in lacking.items()
            ]
            run = self._teacher.ask(asked, self._spec, path)
            write_records(path / WRITTEN, self._read(run, number, lacking))
        self._teacher.count(path, spent, earlier=is_closed)
        return read_records(path / WRITTEN, _Written)

    def _read(self, run: RunFolder, number: int, lacking: Mapping[str, int]) -> Iterator[_Written]:
        """The queries of a round's replies, each once, up to what the scenarios lack."""
        seen = set(self._seen)
        for case, (outcome,) in read_outcomes(run, self._spec):
            name, n_kept = str(case.scenario), 0
            for at, found in enumerate(queries_in(outcome, case), start=1):
                reason = found.reason
                if found.query is not None and reason is None:
                    cluster = normalise_query(found.query)
                    if cluster in seen:
                        reason = "same query"
                    elif n_kept == lacking[name]:
                        reason = "more than asked for"
                    seen.add(cluster)
                n_kept += reason is None
                yield _Written(
                    id=f"{name}-{number}-{at}",
                    scenario=name,
                    query=found.query,
                    reason=reason,
                    detail=found.detail,
                )

    def _outcome(self, row: _Written) -> Outcome:
        if row.query is None:
            name = f"{BY_SEEDS}/{row.id}"
            return Dropped(id=name, reason=row.reason or "no query", detail=row.detail)
        case = _seed(row.id, row.query, row.scenario, self._recipe.language)
        case = replace(case, meta={"written_by": self._spec.judge.name})
        if row.reason is None:
            return case
        return Dropped(id=case.id, reason=row.reason, detail=row.detail, case=case)
