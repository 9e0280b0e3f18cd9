"""Reads the pairs and the queries of a testbed, without those that were trained on."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from autoj.construct.binding import RECIPE
from autoj.construct.classifying import classify
from autoj.construct.collecting import collect
from autoj.construct.folder import Construction
from autoj.construct.known_queries import decontaminate
from autoj.construct.recipe import Classify, Collect, ConstructRecipe, Decontaminate, PairFile
from autoj.construct.stage_work import TRAIN
from autoj.construct.stages import Dropped, Outcome
from autoj.construct.testbed.settings import BuildSettings, BuildSources
from autoj.datasets import open_queries
from autoj.errors import DataError, UnknownComponent
from autoj.records import Case
from autoj.scenarios import Library
from autoj.scenarios.seeds import seed_files

SEEDS = "autoj seed queries"
"""The source of pairs that were made of the shipped seed queries."""
_TRAINED = ("judge-pairs", "judge-singles", "negatives", "mix")
"""Stages of a construction whose rows are on their way into training."""


@dataclass(slots=True, kw_only=True)
class Candidates:
    """The rows that a testbed may be drawn from, and what was left out."""

    cases: list[Case]
    """With a scenario, each query once, in the order of the files."""
    dropped: list[Dropped]
    """Rows that cannot serve, each with its reason."""
    n_read: int
    n_of_others: int
    """Rows of scenarios that are not asked for."""
    contamination: list[dict[str, Any]] = field(default_factory=list)
    """The queries that each training file shares with them (`contamination.SharedWith`)."""


def read_pairs(
    sources: BuildSources, settings: BuildSettings, library: Library, taken: Iterable[str]
) -> Candidates:
    """The pairs of the sources that were not trained on.

    Args:
        sources: names the files; of a construction the rows before any teacher's stage are taken,
            and its own training files are excluded.
        settings: states the scenarios and what counts as trained on.
        library: the scenarios that there are.
        taken: normalised queries that the testbed has already.

    Raises:
        DataError: a file as a whole cannot be read.
    """
    return _usable(_pairs(sources.pairs), sources, settings, library, taken)


def read_queries(
    sources: BuildSources, settings: BuildSettings, library: Library, taken: Iterable[str]
) -> Candidates:
    """The queries that pairs can be made of; arguments as of `read_pairs`.

    Those of the files come first, the shipped seeds after them.
    """
    rows = chain.from_iterable(
        _queries(path, path.name.partition(".")[0]) for path in sources.queries
    )
    shipped = _seeds(settings) if sources.seeds else ()
    return _usable(chain(rows, shipped), sources, settings, library, taken)


def _seeds(settings: BuildSettings) -> Iterator[Outcome]:
    """The shipped seed queries in the testbed's language."""
    for path in seed_files():
        for row in _queries(path, f"seeds-{path.stem}", SEEDS):
            if isinstance(row, Dropped) or row.language == settings.language:
                yield row


def trained_on(sources: BuildSources, cases: Sequence[Case], settings: BuildSettings) -> set[str]:
    """The ids of cases whose query was trained on."""
    found = _excluded(cases, sources, settings, [])
    return {item.id for item in found if isinstance(item, Dropped)}


def training_files(sources: BuildSources) -> tuple[Path, ...]:
    """The files that were trained on: those that are named, and those of constructions."""
    found = list(sources.exclude)
    for path in sources.pairs:
        if (path / RECIPE).is_file():
            found += _trained_by(path)
    return tuple(dict.fromkeys(found))


def _trained_by(path: Path) -> Iterator[Path]:
    """The training files of a construction; before it is mixed, what its last stage kept."""
    mixed = [path / TRAIN / name for name in ("train.jsonl", "validation.jsonl")]
    if any(file.is_file() for file in mixed):
        # An empty file, as of a validation share of 0, cannot be read and has no query.
        yield from (file for file in mixed if file.is_file() and file.stat().st_size)
        return
    done = Construction.open(path)
    later = [one.name for one in done.summaries if one.name in _TRAINED and one.n_kept]
    if later:
        yield done.stage(later[-1]).path / "kept.jsonl"


def _pairs(paths: Sequence[Path]) -> Iterator[Outcome]:
    stage = Collect.model_validate({"stage": "collect", "unlabelled": "keep"})
    names: Counter[str] = Counter()
    for path in paths:
        if (path / RECIPE).is_file():
            yield from _constructed(path)
            continue
        file = PairFile.model_validate({"data": str(path)})
        names[file.called] += 1
        if (number := names[file.called]) > 1:
            file = file.model_copy(update={"name": f"{file.called}-{number}"})
        yield from collect(ConstructRecipe(title="", sources=(file,), stages=(stage,)), stage)


def _constructed(path: Path) -> Iterator[Case]:
    """The pairs of a construction before any was judged by a teacher."""
    found = Construction.open(path)
    names = [summary.name for summary in found.summaries]
    n_before = next((at for at, name in enumerate(names) if name in _TRAINED), len(names))
    if n_before == 0:
        raise DataError(
            "has no finished stage to take pairs from",
            path=path,
            hint="Finish it with `autoj construct`, or give a file of pairs.",
        )
    # A stage that stands twice is found by its number.
    yield from found.stage(str(n_before)).kept()


def _queries(path: Path, name: str, source: str | None = None) -> Iterator[Outcome]:
    """The queries of a file.

    Args:
        path: the file.
        name: their ids begin with it.
        source: the name of their source; None takes what rows state, else the file's.
    """
    for line, item in open_queries(path).read():
        if isinstance(item, DataError):
            yield Dropped(id=f"{name}:{line}", reason="cannot be read", detail=item.reason)
        elif item.history:
            yield Dropped(id=f"{name}/{item.id}", reason="later turn")
        else:
            yield replace(
                item,
                id=f"{name}/{item.id}",
                responses=(),
                label=None,
                source=source or item.source or name,
                meta={},
            )


def _usable(
    rows: Iterable[Outcome],
    sources: BuildSources,
    settings: BuildSettings,
    library: Library,
    taken: Iterable[str],
) -> Candidates:
    """Drops what cannot serve, names the scenarios of the rest, and keeps those asked for."""
    found = Candidates(cases=[], dropped=[], n_read=0, n_of_others=0)
    once = list(_in_language(_once(rows, set(taken), found), settings, found))
    clean = list(_kept(_excluded(once, sources, settings, found.contamination), found))
    stage = Classify(
        stage="classify",
        classifier=settings.classifier,
        least_probability=settings.least_probability,
    )
    for case in _kept(classify(clean, stage), found):
        try:
            name = library.find(case.scenario or "").name
        except UnknownComponent:
            found.dropped.append(_out(case, "unknown scenario", case.scenario))
            continue
        if name in settings.scenarios:
            found.cases.append(replace(case, scenario=name))
        else:
            found.n_of_others += 1
    return found


def _once(rows: Iterable[Outcome], seen: set[str], found: Candidates) -> Iterator[Case]:
    """The first row of each query and of each id."""
    ids: set[str] = set()
    for row in rows:
        found.n_read += 1
        if isinstance(row, Dropped):
            found.dropped.append(replace(row, case=None))
        elif row.id in ids:
            found.dropped.append(_out(row, "same id"))
        elif row.cluster in seen:
            found.dropped.append(_out(row, "same query"))
        elif len(row.responses) not in (0, 2):
            found.dropped.append(_out(row, "not two responses"))
        else:
            seen.add(row.cluster)
            ids.add(row.id)
            yield row


def _in_language(
    cases: Iterable[Case], settings: BuildSettings, found: Candidates
) -> Iterator[Case]:
    """The cases in the testbed's language: that of their row, or Chinese by its letters."""
    for case in cases:
        letters = [character for character in case.query if character.isalpha()]
        n_han = sum("\u3400" <= letter <= "\u9fff" for letter in letters)
        spoken = replace(case, language="zh") if n_han > len(letters) / 2 else case
        if spoken.language == settings.language:
            yield spoken
        else:
            found.dropped.append(_out(case, "another language", spoken.language))


def _excluded(
    cases: Sequence[Case],
    sources: BuildSources,
    settings: BuildSettings,
    report: list[dict[str, Any]],
) -> Iterator[Outcome]:
    """The cases, and for those that were trained on the reason."""
    files = training_files(sources)
    if not files or not cases:
        yield from cases
        return
    stage = Decontaminate(
        stage="decontaminate",
        against=tuple(map(str, files)),
        ngrams=settings.ngrams,
        threshold=settings.threshold,
    )
    notes: dict[str, Any] = {}
    yield from decontaminate(cases, stage, notes, reason="trained on")
    report += notes["contamination"]


def _kept(outcomes: Iterable[Outcome], found: Candidates) -> Iterator[Case]:
    for outcome in outcomes:
        if isinstance(outcome, Dropped):
            found.dropped.append(replace(outcome, case=None))
        else:
            yield outcome


def _out(case: Case, reason: str, detail: str | None = None) -> Dropped:
    return Dropped(id=case.id, reason=reason, detail=detail)
