"""Changes of a text that break one kind of constraint, and the checks that notice it."""

import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, TypeAlias

import orjson

Change: TypeAlias = Callable[[str, Random], str | None]
"""None where the text has nothing to change in that way."""

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*(?<=\s|[。！？])")
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_ITEM = re.compile(r"(?m)^[ ]{0,3}(?:[-*•+]|\d{1,2}[.)])\s+")
_NUMBERED = re.compile(r"(?m)^(?P<space>[ ]{0,3})\d{1,2}(?P<mark>[.)])(?=\s)")
_ROW = re.compile(r"(?m)^\s*\|.*\|\s*$")
_RULE_ROW = re.compile(r"^[\s|:-]+$")
_FENCED = re.compile(r"```(?:json)?\s*\n(?P<body>.*?)\n\s*```", re.DOTALL | re.IGNORECASE)

FILLERS = (
    "There is a lot that could be said about this, and opinions on it differ.",
    "As with most things, the details depend on the situation.",
    "It is worth keeping in mind that every case is a little different.",
    "This is a subject that many people have thought about for a long time.",
    "Of course, there are many more aspects that one could look at.",
    "All of this should be seen in its proper context.",
    "Needless to say, this matters to a great many people.",
    "One could go into far more depth on every one of these points.",
    "In the end, what counts is the overall picture.",
    "It never hurts to think such things over once more.",
    "Needs and tastes vary, so the same advice does not suit everybody.",
    "That being said, it remains an interesting matter in many ways.",
)
"""Sentences that say nothing about anything."""
_OPENINGS = (
    "Sure! I'd be happy to help you with that. ",
    "Certainly! Here is what you asked for:\n\n",
    "Of course! Let me think about this step by step. ",
    "Great question! Here's my answer:\n\n",
)
_CLOSINGS = (
    "\n\nI hope this helps! Let me know if there is anything else I can do for you.",
    "\n\nLet me explain why: this answers what you asked about as directly as it can be answered.",
    "\n\nI hope this helps! Feel free to ask me for more details, examples or explanations.",
)
_SHORT_WORDS = 100
_CHATTER = re.compile(
    r"\A\s*(?:sure|certainly|of course|great question|absolutely|here(?:'s| is| are))\b"
    r"|\b(?:hope (?:this|that) helps|let me (?:know|explain)|feel free to)\b",
    re.IGNORECASE,
)
_ENGLISH_TURNS = (
    "I will go on in English from here: the remaining points follow in the same way, and nothing "
    "essential is different about them.",
    "The rest is easier to say in English. In short, it goes on in the same manner until the end.",
    "Sorry, English is easier for me. What follows is more of the same, as one would expect it.",
)
_ENGLISH_WORD = re.compile(
    r"\b(?:the|and|of|to|is|that|it|was|for|with|this|are|you)\b", re.IGNORECASE
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the space between them."""
    return [one for one in _SENTENCE_END.split(text.strip()) if one.strip()]


def _paragraphs(text: str) -> list[str]:
    return [one for one in _PARAGRAPH_END.split(text.strip()) if one.strip()]


COUNTS: Mapping[str, Callable[[str], int]] = {
    "word": lambda text: len(text.split()),
    "character": lambda text: len(text.strip()),
    "sentence": lambda text: len(sentences(text)),
    "paragraph": lambda text: len(_paragraphs(text)),
    "line": lambda text: sum(1 for line in text.splitlines() if line.strip()),
}
"""The number of each unit in a text."""


def n_items(text: str) -> int:
    """The number of items of the lists in a text, without those that are indented further."""
    return len(_ITEM.findall(text))


def is_json(text: str) -> bool:
    """True for a text that is JSON, or has it in a fenced block."""
    return _json_of(text) is not None


def _json_of(text: str) -> dict[str, Any] | list[Any] | None:
    fenced = _FENCED.search(text)
    try:
        found = orjson.loads(text if fenced is None else fenced["body"])
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict | list) and found else None


def has_table(text: str) -> bool:
    """True for a text with a table of at least two rows in Markdown."""
    return len(_ROW.findall(text)) > 2


def is_answer_alone(text: str) -> bool:
    """True for a short text, code or JSON that answers without a word about the answer."""
    if not text.strip() or _CHATTER.search(text) is not None:
        return False
    return len(text.split()) <= _SHORT_WORDS or text.lstrip().startswith(("```", "{", "[", "<"))


def is_english(text: str) -> bool:
    """True for a text with a twentieth of the commonest English words, or 8 of them."""
    n_found = len(_ENGLISH_WORD.findall(text))
    return n_found >= 8 or n_found > 0.05 * max(20, len(text.split()))


def lengthen(text: str, generator: Random, until: Callable[[str], bool]) -> str | None:
    """Adds sentences that say nothing, each a paragraph where paragraphs are counted."""
    for joint in (" ", "\n\n"):
        longer, fillers = text.rstrip(), generator.sample(FILLERS, len(FILLERS))
        for at in range(10 * len(FILLERS)):
            longer += joint + fillers[at % len(fillers)]
            if until(longer):
                return longer
    return None


def shorten(text: str, generator: Random, until: Callable[[str], bool]) -> str | None:
    """Leaves out sentences from the end."""
    ends = [found.start() for found in _SENTENCE_END.finditer(text)]
    return next((text[:end] for end in reversed(ends) if end and until(text[:end])), None)


def leave_out_items(text: str, generator: Random) -> str | None:
    """Leaves out up to half of the items of a list; the others are numbered anew."""
    starts = [found.start() for found in _ITEM.finditer(text)]
    if len(starts) < 2:
        return None
    # What follows the last item is a part of it at most up to the end of its paragraph.
    end = _PARAGRAPH_END.search(text, starts[-1])
    bounds = [*starts, len(text) if end is None else end.start()]
    n_left_out = generator.randint(1, max(1, len(starts) // 2))
    left_out = set(generator.sample(range(len(starts)), n_left_out))
    kept = [
        text[bounds[at] : bounds[at + 1]].rstrip()
        for at in range(len(starts))
        if at not in left_out
    ]
    gap = "\n\n" if "\n\n" in text[starts[0] : starts[1]] else "\n"
    listed = _numbered_anew(gap.join(kept))
    return (text[: starts[0]] + listed + text[bounds[-1] :]).strip()


def _numbered_anew(text: str) -> str:
    number = 0

    def mark(found: re.Match[str]) -> str:
        nonlocal number
        number += 1
        return f"{found['space']}{number}{found['mark']}"

    return _NUMBERED.sub(mark, text)


def join_items(text: str, generator: Random) -> str | None:
    """Writes the items of lists one after the other, without marks and line breaks."""
    lines = [_ITEM.sub("", line).strip() for line in text.splitlines() if line.strip()]
    return " ".join(line if line[-1] in ".!?:;," else f"{line}," for line in lines).rstrip(",")


def write_out_json(text: str, generator: Random) -> str | None:
    """Writes JSON out as lines of prose."""
    found = _json_of(text)
    return None if found is None else "\n".join(_written_out(found))


def _written_out(value: object, name: str = "") -> list[str]:
    if isinstance(value, dict):
        parts = [(str(key), inner) for key, inner in value.items()]
    elif isinstance(value, list):
        parts = [(name, inner) for inner in value]
    else:
        return [f"The {name} is {value}." if name else f"There is {value}."]
    return [line for key, inner in parts for line in _written_out(inner, key)]


def write_out_table(text: str, generator: Random) -> str | None:
    """Writes the rows of a table as lines of words."""
    rows = [
        ", ".join(cell.strip() for cell in row.strip().strip("|").split("|"))
        for row in _ROW.findall(text)
        if not _RULE_ROW.match(row)
    ]
    first = _ROW.search(text)
    assert first is not None
    return (text[: first.start()] + "\n".join(rows)).strip()


def open_with_chatter(text: str, generator: Random) -> str | None:
    """Opens with a sentence about the answer."""
    return generator.choice(_OPENINGS) + text.lstrip()


def close_with_chatter(text: str, generator: Random) -> str | None:
    """Closes with a sentence about the answer."""
    return text.rstrip() + generator.choice(_CLOSINGS)


def surround_with_chatter(text: str, generator: Random) -> str | None:
    """Speaks about the answer before it, after it, or both."""
    if generator.random() < 0.3:
        return close_with_chatter(text, generator)
    opened = generator.choice(_OPENINGS) + text.strip()
    return opened if generator.random() < 0.5 else close_with_chatter(opened, generator)


def write_as_sentences(text: str, generator: Random) -> str | None:
    """Writes capitals at the beginning of sentences alone."""
    return re.sub(r"(?:\A|[.!?\n]\s*)[a-z]", lambda found: found[0].upper(), text.lower())


def leave_out_sentences(text: str, generator: Random, naming: re.Pattern[str]) -> str | None:
    """Leaves out what names a word: its sentences, or the word where nothing else is left."""
    kept = [one for one in sentences(text) if naming.search(one) is None]
    return " ".join(kept) or naming.sub("it", text)


def add_word(text: str, generator: Random, word: str) -> str | None:
    """Adds a sentence with a word."""
    return f"{text.rstrip()} In a word: {word}."


def turn_to_english(text: str, generator: Random) -> str | None:
    """Goes on in English after the first half."""
    # Japanese and Chinese have no spaces between words.
    space = text.find(" ", len(text) // 2)
    half = text[: len(text) // 2 if space < 0 else space]
    return f"{half.rstrip()} … {generator.choice(_ENGLISH_TURNS)}"
