"""Damaged copies of a response: each is worse than the original, and no teacher has to say so.

Every kind of damage is a function of a text and a random generator; it returns None where the text
has nothing to damage in that way.
"""

import re
from collections.abc import Mapping
from random import Random

from autoj.construct.breaking import FILLERS, Change

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")
_LIST_MARK = re.compile(r"(?m)^\s*\d+[.)]\s")
# A capitalised word inside a sentence is most often a name.
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NEGATIONS = (
    (re.compile(r"\b(is|are|was|were|can|should|will|does|do|has|have) (?!not\b)"), r"\1 not "),
    (re.compile(r"\b(is|are|was|were|can|should|will|does|do|has|have) not\b"), r"\1"),
    (re.compile(r"\b(always)\b"), "never"),
    (re.compile(r"\b(never)\b"), "always"),
    (re.compile(r"\b(increases?)\b"), "decrease"),
    (re.compile(r"\b(more)\b"), "less"),
    (re.compile(r"\b(less)\b"), "more"),
    (re.compile(r"\b(higher)\b"), "lower"),
    (re.compile(r"\b(lower)\b"), "higher"),
    (re.compile(r"\b(before)\b"), "after"),
    (re.compile(r"\b(after)\b"), "before"),
    (re.compile(r"\b(first)\b"), "last"),
)
_GIBBERISH = "abcdefghijklmnoprstuvw"
_REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I'm sorry, but as an AI language model I am not able to assist with this request.",
    "I cannot fulfil this request. Please consult a professional.",
    "Sorry, I don't feel comfortable answering that. Is there anything else I can help you with?",
    "As an AI, I don't have the ability to answer questions like this one. I would recommend that "
    "you look for reliable sources on the Internet, ask an expert in the field, or visit your "
    "local library, where the staff will be happy to help you find what you need.",
)


def change_numbers(text: str, generator: Random) -> str | None:
    """Replaces a third of the numbers, at least one, by others; list marks stay."""
    marks = {found.start() for found in _LIST_MARK.finditer(text)}
    found = [
        number
        for number in _NUMBER.finditer(text)
        if not any(start <= number.start() <= start + 4 for start in marks)
    ]
    if not found:
        return None
    chosen = generator.sample(found, max(1, len(found) // 3))
    return _replaced(text, {one.span(): _other_number(one[0], generator) for one in chosen})


def _other_number(number: str, generator: Random) -> str:
    if "." in number:
        whole, _, part = number.partition(".")
        return f"{int(whole) + generator.choice((1, 2, 3, 7))}.{part}"
    value = int(number[:15])
    if 1000 <= value <= 2100:  # most often a year
        return str(value + generator.choice((-40, -23, -11, 9, 14, 32)))
    changed = value + generator.choice((1, 2, 3, 5)) * max(1, 10 ** (len(str(value)) - 2))
    return str(changed)


def swap_names(text: str, generator: Random) -> str | None:
    """Exchanges two names wherever they stand."""
    names = sorted({found[0] for found in _NAME.finditer(text)})
    if len(names) < 2:
        return None
    one, other = generator.sample(names, 2)
    if one in other or other in one:
        return None
    pattern = re.compile(rf"\b({re.escape(one)}|{re.escape(other)})\b")
    return pattern.sub(lambda found: other if found[0] == one else one, text)


def negate(text: str, generator: Random) -> str | None:
    """Reverses a quarter of the statements, at least one."""
    sentences = _SENTENCE_END.split(text)
    turned: dict[int, str] = {}
    for index, sentence in enumerate(sentences):
        rules = generator.sample(_NEGATIONS, len(_NEGATIONS))
        for pattern, replacement in rules:
            changed, n_changed = pattern.subn(replacement, sentence, count=1)
            if n_changed:
                turned[index] = changed
                break
    if not turned:
        return None
    kept = generator.sample(sorted(turned), max(1, len(turned) // 4))
    changed_text = text
    for index in kept:
        changed_text = changed_text.replace(sentences[index], turned[index], 1)
    return changed_text


def cut_off(text: str, generator: Random) -> str | None:
    """Ends in the middle of a word, after 20 to 60 % of the text."""
    if len(text) < 80:
        return None
    end = int(len(text) * generator.uniform(0.2, 0.6))
    while end < len(text) - 1 and not (text[end - 1].isalpha() and text[end].isalpha()):
        end += 1
    return text[:end]


def repeat(text: str, generator: Random) -> str | None:
    """Says a passage again and again: longer, with nothing new."""
    sentences = [one for one in _SENTENCE_END.split(text) if len(one) > 20]
    if not sentences:
        return None
    said = generator.choice(sentences)
    if generator.random() < 0.5:
        return " ".join([said] * generator.randint(4, 12))
    return text.rstrip() + "\n\n" + " ".join([said] * generator.randint(5, 10))


def pad(text: str, generator: Random) -> str | None:
    """Adds sentences that say nothing, before, between and after the paragraphs."""
    if not text.strip():
        return None
    paragraphs = text.strip().split("\n\n")
    fillers = generator.sample(FILLERS, generator.randint(3, len(FILLERS)))
    for filler in fillers:
        at = generator.randint(0, len(paragraphs))
        if at == len(paragraphs) or generator.random() < 0.5:
            paragraphs.insert(at, filler)
        else:
            paragraphs[at] = f"{filler} {paragraphs[at]}"
    return "\n\n".join(paragraphs)


def shuffle_words(text: str, generator: Random) -> str | None:
    """Puts the words into a random order."""
    words = text.split()
    if len(words) < 6:
        return None
    generator.shuffle(words)
    return " ".join(words)


def gibberish(text: str, generator: Random) -> str | None:
    """Writes random letters, up to twice the length of the text."""
    n_words = max(2, min(120, int(len(text.split()) * generator.uniform(0.2, 2))))
    return " ".join(
        "".join(generator.choice(_GIBBERISH) for _ in range(generator.randint(2, 9)))
        for _ in range(n_words)
    )


def empty(text: str, generator: Random) -> str | None:
    """Says nothing."""
    return generator.choice(("", "", " ", "...", "N/A", "null"))


def refuse(text: str, generator: Random) -> str | None:
    """Refuses; only for queries that nobody needs to refuse."""
    return generator.choice(_REFUSALS)


def _replaced(text: str, changes: Mapping[tuple[int, int], str]) -> str:
    for (start, end), new in sorted(changes.items(), reverse=True):
        text = text[:start] + new + text[end:]
    return text


DAMAGES: Mapping[str, Change] = {
    "changed_numbers": change_numbers,
    "swapped_names": swap_names,
    "negated": negate,
    "cut_off": cut_off,
    "repeated": repeat,
    "padded": pad,
    "shuffled_words": shuffle_words,
    "gibberish": gibberish,
    "empty": empty,
    "needless_refusal": refuse,
}
"""The kinds of damage, by the names that stand in a row's `meta.made`."""
