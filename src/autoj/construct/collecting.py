"""Reads the sources of a construction: pairs with a label, and single responses with a judgment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from autoj.construct.languages import Identify, known_languages, load_identifier
from autoj.construct.recipe import Collect, ConstructRecipe, PairFile
from autoj.construct.stages import Dropped, Outcome
from autoj.construct.stated_judgments import rated, with_own_judgment
from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.records import Case
from autoj.scenarios import Library, load_library

_READ_CHARACTERS = 2_000
"""The beginning of a text that its language is identified by."""
_SHORT_CHARACTERS = 60
"""A shorter query says too little: the responses are read with it."""


def collect(recipe: ConstructRecipe, stage: Collect) -> Iterator[Outcome]:
    """Reads all sources, one after the other.

    Args:
        recipe: states the sources.
        stage: states the treatment of their rows.

    Yields:
        Cases with ids `SOURCE/ID`, and the rows that were dropped.

    Raises:
        DataError: a file as a whole cannot be read.
        MissingExtra: languages are asked for, and py3langid is not installed.
    """
    identify = load_identifier() if stage.languages else None
    library = load_library(None if recipe.scenarios is None else Path(recipe.scenarios))
    seen: set[int] = set()
    for source in recipe.sources:
        name = source.called
        rows = open_cases(Path(source.data)).read()
        for line, item in islice(rows, source.limit):
            if isinstance(item, DataError):
                detail = item.reason if item.field is None else f"{item.field}: {item.reason}"
                yield Dropped(id=f"{name}:{line}", reason="cannot be read", detail=detail)
                continue
            row = _row(item, name, source, library)
            if hash(row.id) in seen:
                yield Dropped(id=row.id, reason="same id", case=row)
                continue
            seen.add(hash(row.id))
            yield _collected(row, stage, identify)


def check_languages(stage: Collect) -> None:
    """Checks the languages of a stage before anything is read.

    Raises:
        ConfigError: one is no code that py3langid knows.
        MissingExtra: py3langid is not installed.
    """
    if not stage.languages:
        return
    known = known_languages()
    if unknown := [code for code in stage.languages if code not in known]:
        raise ConfigError(
            f"stage collect: languages: {unknown[0]!r} is no language code",
            hint=f"py3langid knows {', '.join(known)}.",
        )


def _row(case: Case, name: str, source: PairFile, library: Library) -> Case:
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


def _collected(row: Case, stage: Collect, identify: Identify | None) -> Outcome:
    """A row with its language, or the reason for which it is of no use."""
    if (found := _fault(row, stage)) is not None:
        return Dropped(id=row.id, reason=found[0], detail=found[1], case=row)
    if len(row.responses) == 1:
        judged = rated(row)
        if not isinstance(judged, Case):
            return Dropped(id=row.id, reason=judged[0], detail=judged[1], case=row)
        row = judged
    if identify is None:
        return row
    language, confidence = identify(_telling_text(row))
    meta = {**row.meta, "language": language, "language_confidence": round(confidence, 4)}
    row = replace(row, language="zh" if language == "zh" else "en", meta=meta)
    if language not in stage.languages:
        detail = f"{language} ({confidence:.2f})"
        return Dropped(id=row.id, reason="another language", detail=detail, case=row)
    return row


def _telling_text(case: Case) -> str:
    """The text that tells the language of a case."""
    texts = [case.query]
    if len(case.query) < _SHORT_CHARACTERS:
        texts += [response.text for response in case.responses]
    return "\n".join(text[:_READ_CHARACTERS] for text in texts)


def _fault(case: Case, stage: Collect) -> tuple[str, str | None] | None:
    """The reason for which a row is of no use, with what was found; None for a good one."""
    is_judged_single = len(case.responses) == 1 and "judgment" in case.meta
    if len(case.responses) != 2 and not is_judged_single:
        return "not two responses", f"{len(case.responses)} responses"
    if case.history:
        return "later turn", f"{len(case.history)} turns before it"
    longest = max(map(len, (case.query, *(response.text for response in case.responses))))
    if longest > stage.max_characters:
        return "too long", f"{longest:,} characters"
    if not all(response.text.strip() for response in case.responses):
        return "empty response", None
    if not is_judged_single and case.responses[0].text == case.responses[1].text:
        return "equal responses", None
    if case.label is None and stage.unlabelled == "drop":
        return "no label", None
    return None
