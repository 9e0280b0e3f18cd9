"""Constraints that a query states for its answer, found by rules, and broken in a copy.

"List 5 …", "in under 50 words", "as JSON", "answer with only …": a response that keeps one and a
copy that does not are a pair that needs no teacher. One rule checks both.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random

from autoj.construct import breaking
from autoj.construct.breaking import Change

_READ_CHARACTERS = 500
"""A long query quotes texts; what it asks for stands at its beginning or its end."""
_FEWEST_ITEMS, _MOST_ITEMS = 3, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A constraint of a query, with its check and a change that breaks it."""

    name: str
    """The constraint in words, such as "at most 50 words"."""
    holds: Callable[[str], bool]
    breaks: Change


def break_constraint(query: str, text: str, generator: Random) -> tuple[str, str] | None:
    r"""Breaks one of the constraints of a query in a copy of a response.

    Args:
        query: the query.
        text: the response.
        generator: draws the constraint and the change.

    Returns:
        The copy and the constraint's name; None where no constraint is found, the response itself
        breaks it, or no rule can break it.

    >>> break_constraint("Name three rivers.", "- Aare\n- Inn\n- Po", Random(1))
    ('- Aare\n- Po', '3 items')
    """
    kept = [one for one in constraints_of(query) if one.holds(text)]
    for constraint in generator.sample(kept, len(kept)):
        copy = constraint.breaks(text, generator)
        if copy is not None and copy.strip() and not constraint.holds(copy):
            return copy, constraint.name
    return None


def constraints_of(query: str) -> list[Constraint]:
    """The constraints that rules find in a query."""
    asked = query
    if len(query) > 2 * _READ_CHARACTERS:
        asked = f"{query[:_READ_CHARACTERS]}\n\n{query[-_READ_CHARACTERS:]}"
    small = asked.lower()
    return [constraint for rule in _RULES for constraint in rule.find(asked, small)]


def _at_most(found: re.Match[str]) -> Constraint:
    n, unit = _number(found["n"]), found["unit"].lower()
    count = breaking.COUNTS[unit]
    # Nobody minds a word too many.
    most = int(1.1 * n) if unit in ("word", "character") else n

    def fits(text: str) -> bool:
        return 0 < count(text) <= most

    breaks = partial(breaking.lengthen, until=lambda text: count(text) > 1.4 * most)
    return Constraint(name=f"at most {_units(n, unit)}", holds=fits, breaks=breaks)


def _at_least(found: re.Match[str]) -> Constraint:
    n, unit = _number(found["n"]), found["unit"].lower()
    count = breaking.COUNTS[unit]
    breaks = partial(breaking.shorten, until=lambda text: count(text) < 0.6 * n)
    return Constraint(
        name=f"at least {_units(n, unit)}", holds=lambda text: count(text) >= n, breaks=breaks
    )


def _n_items(found: re.Match[str]) -> Constraint | None:
    n = _number(found["n"])
    if not _FEWEST_ITEMS <= n <= _MOST_ITEMS:
        return None
    return Constraint(
        name=f"{n} items",
        holds=lambda text: breaking.n_items(text) == n,
        breaks=breaking.leave_out_items,
    )


def _starting_with(found: re.Match[str]) -> Constraint:
    wanted = found["text"].lower()
    return Constraint(
        name=f"begins with {found['text']!r}",
        holds=lambda text: text.lstrip(" \n*_\"“'").lower().startswith(wanted),
        breaks=breaking.open_with_chatter,
    )


def _ending_with(found: re.Match[str]) -> Constraint:
    wanted = found["text"].lower().rstrip(".!?")
    return Constraint(
        name=f"ends with {found['text']!r}",
        holds=lambda text: text.rstrip(" \n*_\"”'.!?").lower().endswith(wanted),
        breaks=breaking.close_with_chatter,
    )


def _required(found: re.Match[str]) -> Constraint:
    wanted = re.compile(rf"(?<!\w){re.escape(found['text'])}(?!\w)", re.IGNORECASE)
    return Constraint(
        name=f"has {found['text']!r}",
        holds=lambda text: wanted.search(text) is not None,
        breaks=partial(breaking.leave_out_sentences, naming=wanted),
    )


def _forbidden(found: re.Match[str]) -> Constraint:
    unwanted = re.compile(rf"(?<!\w){re.escape(found['text'])}(?!\w)", re.IGNORECASE)
    return Constraint(
        name=f"never {found['text']!r}",
        holds=lambda text: unwanted.search(text) is None,
        breaks=partial(breaking.add_word, word=found["text"]),
    )


def _in_language(found: re.Match[str]) -> Constraint:
    return Constraint(
        name=f"in {found['language'].capitalize()}",
        holds=lambda text: not breaking.is_english(text),
        breaks=breaking.turn_to_english,
    )


def _fixed(
    name: str, holds: Callable[[str], bool], breaks: Change
) -> Callable[[re.Match[str]], Constraint]:
    """A rule whose constraint is the same for every query."""
    constraint = Constraint(name=name, holds=holds, breaks=breaks)
    return lambda found: constraint


_NUMBER_WORDS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
)  # fmt: skip


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBER_WORDS.index(text.lower()) + 1


def _units(n: int, unit: str) -> str:
    return f"{n} {unit}" if n == 1 else f"{n} {unit}s"


_N = rf"(?P<n>[1-9][0-9]{{0,3}}|{'|'.join(_NUMBER_WORDS)})"
_UNIT = rf"(?P<unit>{'|'.join(breaking.COUNTS)})s?\b"
_QUOTED = (
    r"(?:the (?:exact )?(?:words?|phrase|sentence|term|keyword) )?"
    r"[\"“](?P<text>[^\"”\n]{1,60})[\"”]"
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """Finds one kind of constraint."""

    needles: tuple[str, ...]
    """A query without any of these has no such constraint: most queries need no more than this."""
    pattern: str
    make: Callable[[re.Match[str]], Constraint | None]

    def find(self, query: str, small: str) -> Iterator[Constraint]:
        """The constraints in a query; `small` is the query in small letters."""
        if any(needle in small for needle in self.needles):
            for found in re.finditer(self.pattern, query, re.IGNORECASE):
                if (made := self.make(found)) is not None:
                    yield made


_RULES = (
    _Rule(
        tuple(breaking.COUNTS),
        r"\b(?:within|under|below|at most|no more than|not more than|less than|fewer than|up to"
        r"|max(?:imum)?(?: of)?|limited to|exceed|in|using only)(?: only| just)? "
        rf"{_N} (?:short |simple )?{_UNIT}",
        _at_most,
    ),
    _Rule(
        tuple(breaking.COUNTS),
        r"\b(?:at least|no (?:less|fewer) than|(?<!no )(?<!not )more than|minimum(?: of)?) "
        rf"{_N} {_UNIT}",
        _at_least,
    ),
    _Rule(
        (*"0123456789", *_NUMBER_WORDS[2:]),
        r"\b(?:list|give|name|write|provide|suggest|generate|create|come up with|recommend"
        r"|brainstorm|identify|tell|show|what are|state|propose)(?: me| us)?(?: out)?"
        rf"(?: (?:a|the|my|list|of|top|best|exactly)){{0,4}} {_N} (?:[\w'’-]+ ){{0,3}}?"
        r"(?!(?:words|characters|sentences|paragraphs|lines|times|hours|days|minutes|years|pages)\b)"
        r"[a-z]{2,}s\b",
        _n_items,
    ),
    _Rule(
        ("json",),
        r"\b(?:in|as|to|into|valid|return|output|only)\b[^.\n]{0,30}\bJSON\b",
        _fixed("JSON", breaking.is_json, breaking.write_out_json),
    ),
    _Rule(
        ("table", "tabular"),
        r"\b(?:in|as|into|create|make|draw|using)(?: an?| the)?(?: \w+){0,2} table\b|tabular form",
        _fixed("a table", breaking.has_table, breaking.write_out_table),
    ),
    _Rule(
        ("bullet", "numbered list"),
        r"\b(?:bullet(?:ed)?[- ]?points?|bullet(?:ed)?[- ]list|bullets|numbered list)\b",
        _fixed("a list", lambda text: breaking.n_items(text) > 1, breaking.join_items),
    ),
    _Rule(
        ("only", "just", "nothing else", "no ", "without", "do not", "don"),
        r"(?<!I )\bonly (?:answer|respond|reply|output|return|write|print|provide)\b"
        r"|\b(?:answer|respond|reply|output|return)(?: me)? (?:only|just|with only|with just)\b"
        r"|\bnothing else\b|\bno (?:explanations?|(?:other|additional) text|commentary|preamble)\b"
        r"|\bwithout (?:any |an )?(?:explanations?|commentary|introduction|preamble)\b"
        r"|\b(?:do not|don['’]?t) (?:explain|write explanations|give explanations)\b",
        _fixed("the answer alone", breaking.is_answer_alone, breaking.surround_with_chatter),
    ),
    _Rule(
        ("caps", "capital", "upper"),
        r"\bin (?:all )?(?:caps|capitals|capital letters|upper ?case)\b",
        _fixed("capitals", lambda text: text == text.upper(), breaking.write_as_sentences),
    ),
    _Rule(
        ("lower", "capital"),
        r"\b(?:in (?:all )?lower ?case|no capital letters)\b",
        _fixed("small letters", lambda text: text == text.lower(), breaking.write_as_sentences),
    ),
    _Rule(("start", "begin"), rf"\b(?:start|begin)\b[^.\n]{{0,30}} with {_QUOTED}", _starting_with),
    _Rule(
        ("end", "finish", "conclude"),
        rf"\b(?:end|finish|conclude)\b[^.\n]{{0,30}} with {_QUOTED}",
        _ending_with,
    ),
    _Rule(
        ("do not", "don", "without", "avoid", "never"),
        r"\b(?:do not|don['’]?t|without|avoid|never) (?:us(?:e|ing)|mention(?:ing)?|say(?:ing)?"
        rf"|includ(?:e|ing)) {_QUOTED}",
        _forbidden,
    ),
    _Rule(
        ("include", "use", "contain", "mention"),
        rf"(?<!not )(?<!n't )\b(?:include|use|contain|mention)s? {_QUOTED}",
        _required,
    ),
    _Rule(
        ("answer", "respond", "reply", "write", "translate"),
        r"\b(?:answer|respond|reply|write|translate|rewrite)\b[^.\n]{0,60}\b(?:in|into|to) "
        r"(?P<language>Spanish|French|German|Italian|Portuguese|Dutch|Chinese|Japanese|Korean"
        r"|Russian|Arabic|Hindi|Turkish|Polish|Swedish|Vietnamese|Indonesian|Ukrainian|Greek)\b",
        _in_language,
    ),
)
