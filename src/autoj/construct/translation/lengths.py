"""The texts that a translation asks about, counted before anything is asked."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from autoj.construct.recipe import TRANSLATED, Translate
from autoj.construct.translation.stage import Specs
from autoj.construct.translation.texts import texts_of
from autoj.records import Case, Response

_CHARACTERS_PER_TOKEN = 4
"""Of a script of letters; a Chinese character is taken for one token."""
_CHINESE_TO_ENGLISH = 1 / 3
"""Characters of a Chinese text to those of the English one: the median of the release's
translation is 0.31 for responses and 0.33 for queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCounts:
    """The texts of rows that a teacher is asked to translate."""

    n_rows: int = 0
    """Rows in another language than the wanted one."""
    n_first: int = 0
    """Texts of the first field: what is asked if no translation of one is kept."""
    n_texts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


def count_texts(cases: Iterable[Case], stage: Translate, specs: Specs) -> TextCounts:
    """Counts what a translation of rows asks for, if every text is kept; equal ones count once.

    Args:
        cases: the rows, read once.
        stage: states the language and the fields.
        specs: the settings, whose prompts are counted, too.
    """
    found, seen = TextCounts(), set[tuple[str, str]]()
    first = next(field for field in TRANSLATED if field in specs)
    for case in cases:
        if case.language == stage.to:
            continue
        found = replace(found, n_rows=found.n_rows + 1)
        for field, spec in specs.items():
            build = spec.chosen_protocol().build
            for text in texts_of(case, field, stage.to):
                # Equal texts are asked about once.
                if text.asked is None or (spec.protocol, text.whole) in seen:
                    continue
                seen.add((spec.protocol, text.whole))
                (message,) = build(text.asked, (0,)).messages
                (response,) = text.asked.responses
                found = replace(
                    found,
                    n_first=found.n_first + (field == first),
                    n_texts=found.n_texts + 1,
                    prompt_tokens=found.prompt_tokens + _n_tokens(message.content),
                    completion_tokens=found.completion_tokens + _n_translated(response, stage),
                )
    return found


def _n_translated(response: Response, stage: Translate) -> int:
    """The tokens of a text's translation."""
    n_characters = len(response.text)
    if stage.to == "zh":
        return round(n_characters * _CHINESE_TO_ENGLISH)
    return round(n_characters / _CHINESE_TO_ENGLISH / _CHARACTERS_PER_TOKEN)


def _n_tokens(text: str) -> int:
    n_chinese = sum("\u3000" <= character <= "\u9fff" for character in text)
    return n_chinese + (len(text) - n_chinese) // _CHARACTERS_PER_TOKEN
