"""Claims of a critique: its sentences, and which of them find fault, deny or praise.

A sentence is read by its words, without a model. Words inside quotation marks or code are the
judged response's and are passed over. "Without errors" is no complaint and "not correct" no praise.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Stance: TypeAlias = Literal["fault", "praise"]

_CURLY = str.maketrans("“”‘’′", "\"\"'''")
_SPACE = re.compile(r"\s")
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]{1,300}`|\"[^\"\n]{1,300}\"|「[^」\n]{1,300}」", re.S
)
_BREAK = re.compile(r"(?<=[.!?])[\"')\]*]{0,3}\s+|\n+|(?<=[。！？])|;\s+")

_NEGATOR = (
    r"(?:\b(?:no|not|without|nothing|none|never|neither|nor|free (?:of|from)|hardly|barely"
    r"|cannot)\b|n't\b)"
)
_ERROR_WORDS = (
    r"(?:wrong(?:ly)?|incorrect(?:ly)?|inaccura\w+|errors?|erroneous(?:ly)?|mistake[ns]?|mistakenly"
    r"|false(?:ly)?|falsehoods?|untrue|contradict\w*|inconsisten\w+|violat\w+|break(?:s|ing)?|broken"
    r"|breaches|ignor(?:e|es|ed|ing)|fail(?:s|ed|ing|ure|ures)?|omi(?:t|ts|tted|tting|ssions?)"
    r"|miss(?:es|ed|ing)|leaves? out|left out|drops|skips|invent(?:s|ed|ion)?|fabricat\w+"
    r"|made[- ]up|makes up|fictitious|hallucinat\w+|mis(?:quot|stat|lead|attribut|identif|spell"
    r"|calc|report|nam|label|represent|read|typ|cit)\w*|confus(?:es|ed|ing|ion)|swap(?:s|ped)|reverse[sd]"
    r"|invert(?:s|ed)|bugs?|buggy|flaw(?:s|ed)?|unsupported|impossible|nonsens\w*|off by|typo"
    r"|no such|nonexistent|exceeds?|unsafe|dangerous|crash(?:es)?|ruled out"
    r"|forbidden|banned|not allowed)"
)
_RIGHT_WORDS = (
    r"(?:correct(?:ly)?|right|accurate(?:ly)?|true|valid|factual|supported|consistent|met|followed"
    r"|kept|given|mention(?:ed)?|includ(?:e|ed)|contain|found|asked for|exist|match"
    r"|hold|add up|follow|answer|obey|compile|run|work)"
)
_NEGATED_ERROR = re.compile(
    rf"{_NEGATOR}(?:[ ]+[\w-]+){{0,4}}?[ ]+{_ERROR_WORDS}\b(?:\s+or\s+\w+)?"
)
_THE_CORRECT = re.compile(r"\b(?:the|its|a) (?:correct|right|true|actual|proper|accurate) \w+")
_ERROR = re.compile(
    rf"\b{_ERROR_WORDS}\b|{_NEGATOR}(?:[ ]+[\w-]+){{0,2}}?[ ]+{_RIGHT_WORDS}\b"
    r"|\b(?:should|must|ought to) (?:be|have|read|say|use|return|not)\b|\b(?:in fact|actually)\b"
    rf"|{_THE_CORRECT.pattern}[^.]{{0,20}} (?:is|was|would be|are|were)\b"
    r"|错误|不正确|有误|不对|不符|矛盾|遗漏|编造|虚构|违反|应为|应该是"
)
_WEAK = re.compile(
    r"\b(?:lack(?:s|ing)?|vague\w*|unclear|poor(?:ly)?|weak(?:ly)?|incomplete|irrelevant"
    r"|off[- ]topic|unhelpful|useless|repetiti\w+|shallow|superficial|generic|verbose"
    r"|problem(?:s|atic)?|questionable|dubious|too (?:long|short|many|few|brief|general)"
    r"|insufficient\w*|limited|bad"
    r"|could (?:be|have)|needs? (?:to|more)|does not|doesn't|inadequate)\b"
    r"|缺乏|缺少|不够|没有|不足|过于"
)
_DENIAL = re.compile(
    rf"{_NEGATOR}|\b(?:instead|rather than|whereas|while|although|but|yet|however|changed?|turns)\b"
)
_NEGATED_PRAISE = re.compile(
    rf"{_NEGATOR}(?:[ ]+[\w-]+){{0,3}}?[ ]+(?:correct\w*|accurate\w*|right|good|well|clear\w*"
    r"|helpful|complete|relevant|useful|precise|true|sound|follow|meet|satisfy|answer\w*)\b"
)
_PRAISE = re.compile(
    r"\b(?:correct(?:ly)?|accurate(?:ly)?|right(?:ly)?|good|well|clear(?:ly)?|helpful|complete(?:ly)?"
    r"|excellent|precise(?:ly)?|relevant|concise|full(?:y)?|thorough(?:ly)?|useful|perfect(?:ly)?"
    r"|faithful(?:ly)?|sound|satisf(?:y|ies)|follows|meets|strong|great|comprehensive|informative"
    r"|(?:directly )?answers|appropriate(?:ly)?|effective(?:ly)?|proper(?:ly)?)\b"
    r"|正确|准确|清晰|完整|很好|全面|恰当"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a critique with its reading; all texts are folded (`fold_text`)."""

    text: str
    start: int
    """Its first character in the critique."""
    own_words: str
    """The sentence with its quotations and code blanked."""
    claims_error: bool
    """True where it says that something is wrong, missing, invented or against the query."""
    finds_fault: bool
    """True where it claims an error or complains in general ("lacks detail")."""
    denies: bool
    """True where it denies or contrasts ("not", "instead", "but"), or finds fault."""
    contrasts: bool
    """True where it denies or contrasts, whether or not it finds fault."""
    praises: bool


def fold_text(text: str) -> str:
    """A text in lower case with straight quotation marks and plain spaces, of the same length.

    >>> fold_text("“Lyon”")
    '"lyon"'
    """
    folded = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return _SPACE.sub(lambda found: "\n" if found[0] == "\n" else " ", folded.translate(_CURLY))


def read_sentences(critique: str) -> tuple[Sentence, ...]:
    """The sentences of a critique, each with what it claims.

    >>> [each.claims_error for each in read_sentences("It has no errors. The year is wrong.")]
    [False, True]
    """
    folded = fold_text(critique)
    own = _QUOTED.sub(_masked, folded)
    return tuple(
        _sentence(start, folded[start:end], own[start:end])
        for start, end in _bounds(own)
        if start < end
    )


def open_quotation(critique: str) -> int:
    """The place of the first mark of a quotation that is not closed; the length where none is.

    >>> open_quotation('It says "May", and then "Ju'), open_quotation('It says "May".')
    (24, 14)
    """
    found = re.search(r"[\"`「]", _QUOTED.sub(_masked, fold_text(critique)))
    return len(critique) if found is None else found.start()


def stance_of(critique: str) -> Stance | None:
    """The side that most of its sentences take; None where neither has more.

    >>> stance_of("It is clear. The date is wrong. The name is wrong, too.")
    'fault'
    """
    sentences = read_sentences(critique)
    n_fault = sum(each.finds_fault for each in sentences)
    n_praise = sum(each.praises and not each.finds_fault for each in sentences)
    if n_fault == n_praise:
        return None
    return "fault" if n_fault > n_praise else "praise"


def _masked(quotation: re.Match[str]) -> str:
    return re.sub(r"\S", "_", quotation[0])


def _bounds(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _BREAK.finditer(text):
        yield start, found.start() if found[0].isspace() else found.end()
        start = found.end()
    yield start, len(text)


def _sentence(start: int, text: str, own: str) -> Sentence:
    cleared = _NEGATED_ERROR.sub(" ", own)
    claims_error = _ERROR.search(cleared) is not None
    finds_fault = claims_error or _WEAK.search(cleared) is not None
    praised = _NEGATED_PRAISE.sub(" ", _THE_CORRECT.sub(" ", own))
    contrasts = _DENIAL.search(cleared) is not None
    return Sentence(
        text=text,
        start=start,
        own_words=own,
        claims_error=claims_error,
        finds_fault=finds_fault,
        denies=finds_fault or contrasts,
        contrasts=contrasts,
        praises=_PRAISE.search(praised) is not None,
    )
