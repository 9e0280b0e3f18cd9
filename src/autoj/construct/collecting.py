"""Reads the sources of a construction: one row a pair, with a label, in the wanted languages."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from autoj.construct.languages import identify, known_languages
from autoj.construct.ordering import with_drawn_order
from autoj.construct.recipe import Collect, ConstructRecipe, PairFile
from autoj.construct.stages import Dropped, Outcome
from autoj.construct.stated_judgments import rated, with_own_judgment
from autoj.datasets import open_cases, open_queries, parse_map
from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError, LaterTurn, UnknownComponent
from autoj.records import Case
from autoj.scenarios import Library, load_library

_READ_CHARACTERS = 2_000
"""The beginning of a text that its language is identified by."""
_SHORT_CHARACTERS = 60
"""A shorter query says too little: the responses are read with it."""
_IDENTIFIED_AT_ONCE = 2_048
LABELS = ("a", "b", "tie", "rating", "none")
"""The kinds of labels that kept rows are counted by."""


@dataclass(slots=True, kw_only=True)
class SourceCounts:
    """The rows of one source."""

    name: str
    """The beginning of its rows' ids."""
    data: str
    format: str
    n_in: int = 0
    n_kept: int = 0
    labels: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LABELS, 0))
    """Kept rows by `LABELS`, after the order was drawn."""

    def add(self, outcome: Outcome) -> None:
        """Counts a row."""
        self.n_in += 1
        if not isinstance(outcome, Case):
            return
        self.n_kept += 1
        if outcome.label is None:
            self.labels["none"] += 1
        else:
            self.labels["rating" if isinstance(outcome.label, float) else outcome.label] += 1


def collect(
    recipe: ConstructRecipe,
    stage: Collect,
    notes: dict[str, Any] | None = None,
    *,
    queries: bool = False,
    opened: Sequence[Cases] | None = None,
) -> Iterator[Outcome]:
    """Reads all sources, one after the other.

    Args:
        recipe: states the sources and the seed.
        stage: states the treatment of their rows.
        notes: receives `sources`, a `SourceCounts` for each.
        queries: True keeps queries alone, of rows with responses or without.
        opened: the sources, where `open_sources` has opened them.

    Yields:
        Cases with ids `SOURCE/ID`, and the rows that were dropped, in the order of the sources.

    Raises:
        DataError: a file as a whole cannot be read.
        UserError: as `open_sources`, which is asked where `opened` is None.
    """
    library = _library(recipe)
    if opened is None:
        opened = open_sources(recipe, stage, queries=queries)
    counts: list[SourceCounts] = []
    seen: set[int] = set()
    for source, cases in zip(recipe.sources, opened, strict=True):
        name = source.called
        counted = SourceCounts(name=name, data=source.data, format=cases.format)
        counts.append(counted)
        rows = _rows(cases, source, name, stage, library, seen, queries)
        for outcome in _in_languages(rows, stage) if stage.languages else rows:
            if isinstance(outcome, Case) and stage.shuffle:
                outcome = with_drawn_order(outcome, recipe.seed)
            counted.add(outcome)
            yield outcome
    if notes is not None:
        notes["sources"] = [asdict(counted) for counted in counts]


def open_sources(
    recipe: ConstructRecipe, stage: Collect, *, queries: bool = False
) -> tuple[Cases, ...]:
    """Opens the sources, and checks all that can be wrong before a row is kept.

    Raises:
        DataError: a source cannot be read, or holds no pairs.
        ConfigError: a language is no code that py3langid knows, or a source serves testing only.
        MissingExtra: languages are asked for, and py3langid is not installed.
        UnknownComponent: the scenario or the format of a source is unknown.
    """
    library = _library(recipe)
    for source in recipe.sources:
        if source.scenario is not None:
            library.find(source.scenario)
    if stage.languages:
        known = known_languages()
        if unknown := [code for code in stage.languages if code not in known]:
            raise ConfigError(
                f"stage collect: languages: {unknown[0]!r} is no language code",
                hint=f"py3langid knows {', '.join(sorted(known))}.",
            )
    return tuple(_opened(source, stage, queries) for source in recipe.sources)


def _library(recipe: ConstructRecipe) -> Library:
    return load_library(None if recipe.scenarios is None else Path(recipe.scenarios))


def _opened(source: PairFile, stage: Collect, queries: bool) -> Cases:
    path = Path(source.data)
    columns = None if source.map is None else parse_map([source.map], queries_alone=queries)
    if queries:
        return open_queries(path, source.format, columns)
    cases = open_cases(path, source.format, columns, first_turns=True)
    if cases.testing_only and stage.purpose == "training":
        raise ConfigError(
            f"{path}: the queries of {cases.format} are those of a benchmark, which serve testing "
            "only (paper, section 3.3)",
            hint="For a test set: autoj collect --purpose testing, or purpose: testing in a "
            "recipe's stage collect.",
        )
    first = next((case for _, case in cases.read() if isinstance(case, Case)), None)
    if first is not None and not first.responses:
        raise DataError(
            f"holds queries alone ({cases.format}), and no pairs of responses",
            path=path,
            hint="autoj collect FILE --queries --out queries.jsonl keeps them as queries.",
        )
    return cases


def _rows(
    cases: Cases,
    source: PairFile,
    name: str,
    stage: Collect,
    library: Library,
    seen: set[int],
    queries: bool,
) -> Iterator[Outcome]:
    """The rows of a source, each of use or with the reason for which it is not."""
    for line, item in islice(cases.read(), source.limit):
        if isinstance(item, DataError):
            reason = "later turn" if isinstance(item, LaterTurn) else "cannot be read"
            detail = item.reason if item.field is None else f"{item.field}: {item.reason}"
            yield Dropped(id=f"{name}:{line}", reason=reason, detail=detail)
            continue
        row = _row(item, source, name, library)
        if queries:
            row = _query_alone(row)
        if hash(row.id) in seen:
            yield Dropped(id=row.id, reason="same id", case=row)
            continue
        seen.add(hash(row.id))
        fault = _fault(row, stage, queries)
        if fault is None and len(row.responses) == 1:
            judged = rated(row)
            fault = None if isinstance(judged, Case) else judged
            row = judged if isinstance(judged, Case) else row
        if fault is None:
            yield row
        else:
            yield Dropped(id=row.id, reason=fault[0], detail=fault[1], case=row)


def _row(case: Case, source: PairFile, name: str, library: Library) -> Case:
    """A row of a source under a name of its own, with its scenario in the library's spelling."""
    scenario = source.scenario or case.scenario
    if scenario is not None:
        # A stage that judges by criteria drops rows of unknown ones; others need no library.
        with suppress(UnknownComponent):
            scenario = library.find(scenario).name
    return replace(
        with_own_judgment(case),
        id=f"{name}/{case.id}",
        source=source.name or case.source or name,
        scenario=scenario,
    )


def _query_alone(row: Case) -> Case:
    meta = {name: value for name, value in row.meta.items() if name != "judgment"}
    return replace(row, responses=(), label=None, meta=meta)


def _in_languages(outcomes: Iterator[Outcome], stage: Collect) -> Iterator[Outcome]:
    """The same outcomes, in order; rows in other languages are dropped."""
    while batch := list(islice(outcomes, _IDENTIFIED_AT_ONCE)):
        rows = [outcome for outcome in batch if isinstance(outcome, Case)]
        found = iter(identify([_telling_text(row) for row in rows]))
        for outcome in batch:
            if not isinstance(outcome, Case):
                yield outcome
                continue
            language, probability = next(found)
            meta = {**outcome.meta, "language": language}
            meta["language_confidence"] = round(probability, 4)
            row = replace(outcome, language="zh" if language == "zh" else "en", meta=meta)
            if language in stage.languages:
                yield row
            else:
                detail = f"{language} ({probability:.2f})"
                yield Dropped(id=row.id, reason="another language", detail=detail, case=row)


def _telling_text(case: Case) -> str:
    """The text that tells the language of a case."""
    texts = [case.query]
    if len(case.query) < _SHORT_CHARACTERS:
        texts += [response.text for response in case.responses]
    return "\n".join(text[:_READ_CHARACTERS] for text in texts)


def _fault(case: Case, stage: Collect, queries: bool) -> tuple[str, str | None] | None:
    """The reason for which a row is of no use, with what was found; None for a good one."""
    n_turns = case.meta.get("n_turns")
    if stage.turns == "single" and isinstance(n_turns, int) and n_turns > 1:
        return "several turns", f"{n_turns} turns"
    if case.history:
        return "later turn", f"{len(case.history)} turns before it"
    longest = max(len(case.query), *(len(response.text) for response in case.responses), 0)
    if longest > stage.max_characters:
        return "too long", f"{longest:,} characters"
    return None if queries else _fault_of_pair(case, stage)


def _fault_of_pair(case: Case, stage: Collect) -> tuple[str, str | None] | None:
    is_judged_single = len(case.responses) == 1 and "judgment" in case.meta
    if len(case.responses) != 2 and not is_judged_single:
        return "not two responses", f"{len(case.responses)} responses"
    if not all(response.text.strip() for response in case.responses):
        return "empty response", None
    if not is_judged_single and case.responses[0].text == case.responses[1].text:
        return "equal responses", None
    # A judgment of one response states its rating.
    if case.label is None and stage.unlabelled == "drop" and not is_judged_single:
        return "no label", None
    return None
