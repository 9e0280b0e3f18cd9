"""The usual names of columns: which of a row's columns hold a query, responses and a label.

Names are compared without case, blanks and underscores. Where two columns could be the same thing,
nothing is recognised: a guess would judge the wrong texts.
"""

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from autoj.records import Winner

_QUERIES = ("query", "prompt", "question", "instruction", "user_query", "user_prompt", "input")
_SIDES = ("response", "answer", "output", "completion", "reply", "assistant", "generation")
_NAMES = (("a", "b"), ("1", "2"))
_SINGLES = ("response", "completion")
_LABELS = ("label", "winner", "preference", "preferred", "better", "choice", "verdict")
_RATINGS = ("label", "rating")
_KEPT = ("id", "scenario", "source", "reference")
_VOTES = ("winner_model_a", "winner_model_b", "winner_tie")
# Pairs of names that a suggestion may guess, but reading may not.
_OPPOSITES = (
    *_NAMES,
    ("one", "two"),
    ("one", "other"),
    ("left", "right"),
    ("first", "second"),
    ("x", "y"),
)
_SEPARATORS = re.compile(r"[\W_]+")
_OF_A_SIDE = ("model", "response", "answer", "output", "completion", "assistant", "reply")
_TIES = (
    "tie", "ties", "tied", "draw", "equal", "same", "both", "neither", "c", "bothbad", "both_bad",
    "both_good", "tie_bothbad", "tie_both_bad",
)  # fmt: skip
# "1" and "2" alone are not here: some files count responses from 0.
_WORDS: Mapping[str, Winner] = {
    "a": "a", "first": "a", "b": "b", "second": "b",
    **{f"{what}_{name}": "a" for what in _OF_A_SIDE for name in ("a", "1")},
    **{f"{what}_{name}": "b" for what in _OF_A_SIDE for name in ("b", "2")},
    **dict.fromkeys(_TIES, "tie"),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The columns of a file, as a map for `ColumnMap`."""

    columns: Mapping[str, str]
    votes: tuple[str, ...] = ()
    """Three columns of which one holds 1: for a, for b and for a tie; none where the label has a
    column of its own."""
    models_as_texts: bool = False
    """True where the texts are in columns that could hold the names of models."""

    def __str__(self) -> str:
        told = [f"{target}={column}" for target, column in self.columns.items()]
        return ", ".join([*told, *([f"label={'/'.join(self.votes)}"] if self.votes else [])])


def layout_of(row: Mapping[str, Any]) -> Layout | None:
    """The layout of a row; None where columns are missing or several could be meant."""
    return _layout_of(tuple(row))


@lru_cache(maxsize=1024)
def _layout_of(row: tuple[str, ...]) -> Layout | None:
    named = _folded(row)
    if named is None:
        return None
    query = ["query"] if "query" in row else [name for name in _QUERIES if name in named]
    if len(query) != 1:
        return None
    kept = {name: named[name] for name in _KEPT if name in named}
    pair = _pair(named, row)
    if pair is None:
        return _single(named, named[query[0]], kept)
    texts, models = pair
    votes = tuple(named[name] for name in _VOTES if name in named)
    labels = ["label"] if "label" in row else [name for name in _LABELS if name in named]
    if len(labels) + bool(votes) > 1 or len(votes) not in (0, 3):
        return None
    columns = {"query": named[query[0]], "a": named[texts[0]], "b": named[texts[1]], **kept}
    columns |= {f"model_{side}": named[name] for side, name in zip("ab", models, strict=False)}
    columns |= {"label": named[labels[0]]} if labels else {}
    return Layout(columns=columns, votes=votes, models_as_texts=texts[0].startswith("model"))


def _folded(row: Iterable[str]) -> dict[str, str] | None:
    """The columns by their folded names; None where two have the same."""
    named: dict[str, str] = {}
    for name in row:
        # An exact name is the one that is meant.
        known = fold(name)
        if known in named and known not in ("", name, named[known]):
            return None
        if named.get(known) != known:
            named[known] = name
    return named


def _pair(
    named: Mapping[str, str], row: Collection[str]
) -> tuple[tuple[str, str], tuple[str, ...]] | None:
    """The columns of two responses, and those of their models' names."""
    if {"response_a", "response_b"} <= set(row):
        found = [("response_a", "response_b")]
    else:
        found = [pair for pair in _pairs(_SIDES) if pair[0] in named and pair[1] in named]
    models = [pair for pair in _pairs(("model",)) if pair[0] in named and pair[1] in named]
    if len(found) == 1 and len(models) <= 1:
        return found[0], (models[0] if models else ())
    return (models[0], ()) if not found and len(models) == 1 else None


def _pairs(stems: Iterable[str]) -> Iterator[tuple[str, str]]:
    for stem in stems:
        for one, other in _NAMES:
            yield f"{stem}_{one}", f"{stem}_{other}"
            yield f"{stem}{one}", f"{stem}{other}"


def _single(named: Mapping[str, str], query: str, kept: dict[str, str]) -> Layout | None:
    found = [name for name in _SINGLES if name in named]
    labels = [name for name in _RATINGS if name in named]
    if len(found) != 1 or len(labels) > 1:
        return None
    model = {"model": named["model"]} if "model" in named else {}
    label = {"label": named[labels[0]]} if labels else {}
    return Layout(columns={"query": query, "response": named[found[0]], **kept, **model, **label})


def suggested_map(row: Mapping[str, Any]) -> str:
    """A `--map` for a row of no known layout: likely columns, and words in capitals for the rest.

    It is only shown to the user, so it may guess where `layout_of` may not.

    >>> suggested_map({"question": "Why?", "one": "x", "two": "y", "winner": "one"})
    'query=question,a=one,b=two,label=winner'
    >>> suggested_map({"text": "Why?", "reply": "x"})
    'query=QUERY_COLUMN,response=reply'
    """
    named = {fold(name): name for name in row}
    query = next((named[name] for name in _QUERIES if name in named), "QUERY_COLUMN")
    pair = next(_likely_pairs(named), None)
    if pair is not None:
        parts = [f"query={query}", f"a={pair[0]}", f"b={pair[1]}"]
        label = next((named[name] for name in _LABELS if name in named), None)
        if label is not None:
            known = isinstance(row[label], str) and winner_of(row[label]) is not None
            known = known or row[label] in (*pair, "", None)
            parts.append(f"label={label}" if known else f"label={label}:CODE_OF_A/OF_B/OF_TIE")
        return ",".join(parts)
    answers = [named[name] for name in _SIDES if name in named]
    if len(answers) == 1 and answers[0] != query:
        return f"query={query},response={answers[0]}"
    return f"query={query},a=COLUMN_OF_A,b=COLUMN_OF_B"


def _likely_pairs(named: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Pairs of columns whose names differ in one word of opposites."""
    for name, column in named.items():
        words = name.split("_")
        for one, other in _OPPOSITES:
            for index, word in enumerate(words):
                if word == one:
                    twin = "_".join([*words[:index], other, *words[index + 1 :]])
                elif len(one) == 1 and word.endswith(one) and len(word) > 3:
                    twin = "_".join([*words[:index], word[:-1] + other, *words[index + 1 :]])
                else:
                    continue
                if twin in named:
                    yield column, named[twin]


def map_flag(row: Mapping[str, Any]) -> str:
    """The flag `--map` with `suggested_map`, quoted for a shell."""
    return f"--map {shlex.quote(suggested_map(row))}"


def fold(name: str) -> str:
    """A name without differences of case, blanks, underscores and brackets.

    >>> fold("Model A"), fold("tie (bothbad)"), fold("[[A]]")
    ('model_a', 'tie_bothbad', 'a')
    """
    return _SEPARATORS.sub("_", name.casefold()).strip("_")


def winner_of(text: str) -> Winner | None:
    """The winner that a word names; None where its meaning is not certain.

    C is a tie, as in the verdicts of MT-Bench's judges.

    >>> winner_of("Model B"), winner_of("C"), winner_of("2")
    ('b', 'tie', None)
    """
    if (known := _WORDS.get(text)) is not None:
        return known
    # Longer texts are no words, and folding them takes time.
    return _WORDS.get(fold(text)) if len(text) <= 40 else None
