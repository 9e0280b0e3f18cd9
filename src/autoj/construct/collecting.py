"""Reads the sources of a construction: one row a pair, with a label, in the wanted languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

from autoj.construct.recipe import Collect, ConstructRecipe, PairFile
from autoj.construct.stages import Dropped, Outcome
from autoj.datasets import open_cases
from autoj.errors import DataError, MissingExtra
from autoj.records import Case

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
    identify = _identifier() if stage.languages else None
    for source in recipe.sources:
        name = source.name or Path(source.data).name.partition(".")[0]
        rows = open_cases(Path(source.data)).read()
        for line, item in islice(rows, source.limit):
            if isinstance(item, DataError):
                detail = item.reason if item.field is None else f"{item.field}: {item.reason}"
                yield Dropped(id=f"{name}:{line}", reason="cannot be read", detail=detail)
            else:
                yield _collected(item, name, source, stage, identify)


def _collected(
    case: Case,
    name: str,
    source: PairFile,
    stage: Collect,
    identify: Callable[[str], tuple[str, float]] | None,
) -> Outcome:
    row = replace(
        case,
        id=f"{name}/{case.id}",
        source=source.name or case.source or name,
        scenario=source.scenario or case.scenario,
    )
    if (found := _fault(row, stage)) is not None:
        return Dropped(id=row.id, reason=found[0], detail=found[1], case=row)
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
    if len(case.responses) != 2:
        return "not two responses", f"{len(case.responses)} responses"
    if case.history:
        return "later turn", f"{len(case.history)} turns before it"
    longest = max(len(case.query), *(len(response.text) for response in case.responses))
    if longest > stage.max_characters:
        return "too long", f"{longest:,} characters"
    if not all(response.text.strip() for response in case.responses):
        return "empty response", None
    if case.responses[0].text == case.responses[1].text:
        return "equal responses", None
    if case.label is None and stage.unlabelled == "drop":
        return "no label", None
    return None


@cache
def _identifier() -> Callable[[str], tuple[str, float]]:
    """Identifies a text's language among all that the library knows, with its probability."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        raise MissingExtra("construct", "languages in a construction") from None
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

    def identify(text: str) -> tuple[str, float]:
        language, confidence = identifier.classify(text)
        return str(language), float(confidence)

    return identify
