"""`selfee`: SelFee's own feedback on one response, with a score out of 10 if it states one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autoj.protocols._folding import clean, fold
from autoj.protocols._quotations import Judged, Statement, last_statement
from autoj.protocols._ratings import HIGHEST, LOWEST
from autoj.protocols._standing import stands_by_itself
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.single import Single
from autoj.records import Case, Completion, Message, Rating, Reading, Unreadable

# After its feedback SelFee continues: it revises the answer and writes feedback on that.
_NEXT = re.compile(r"^[ \t]{0,8}#{2,4}[ \t]{0,8}(?:revision|feedback|answer)\b", re.I | re.M)

# "8-9" and "9 or 10" state no single number.
_NUMBER = (
    r"[*_]{0,2}(?P<value>[0-9]{1,3}(?:\.[0-9]{1,2})?)"
    r"(?![0-9]|\.[0-9]|\s?[-–%]|\s(?:or|to)\s[0-9])"
)
_SCALE = r"[*_]{0,2}(?:\s?/\s?|\s(?:out\s)?of\s)(?P<scale>[0-9]{1,3})(?![0-9]|[-–%])"
_END = (
    r"(?=[*_\"')]{0,3}(?:[.,;:!?)]|\s{0,4}(?:\Z|\n)"
    r"|\s(?:and|as|because|due|for|on|overall|since|with)\b))"
)
_WORDS = r"(?:[a-z'\"]{1,16},?\s){0,7}"
_NAME = r"\b(?:score|scoring|rating|grade)[*_\"']{0,3}\s{0,3}"
_SUBJECT = r"\b(?:answer|response|solution|code|script|email|essay|text|explanation|summary|it)\s"
_STATEMENTS = (
    # "Score: 8", "a score of 8 out of 10", "the score for this answer is 8".
    rf"{_NAME}(?::|=|(?:of|is|as|at)\b|(?:for|of)\s{_WORDS}(?:is|(?:would|can|to)\sbe)\b"
    rf"|(?:would|can|to)\sbe\b)[*_\s]{{0,4}}"
    rf"(?:(?:an?|about|around|solid|perfect)\s){{0,3}}{_NUMBER}(?:{_SCALE})?",
    # "I would score this answer an 8", "your solution scored a 9".
    rf"\b(?:(?:i|would|can|could|will|(?:i|it)'(?:d|ll))\s(?:score|rate|grade)|scores|scored)\s"
    rf"{_WORDS}{_NUMBER}(?:{_SCALE}|{_END})",
    # "I would give it an 8".
    rf"\b(?:would|i'd|i)\s(?:give|assign)\s{_WORDS}an?\s(?:solid\s)?{_NUMBER}(?:{_SCALE}|{_END})",
    # "Overall, the answer is a solid 8".
    rf"{_SUBJECT}(?:is|deserves|gets|earns|merits)\san?\s(?:[a-z]{{1,10}}\s)?{_NUMBER}"
    rf"(?:{_SCALE}|{_END})",
    # "Score 8."
    rf"\bscore\s{_NUMBER}(?:{_SCALE}|{_END})",
    # "8/10", "7 out of 10", where no noun follows that they may count.
    rf"(?<![0-9./]){_NUMBER}{_SCALE}{_END}",
)
_STATEMENT = tuple(re.compile(statement, re.IGNORECASE) for statement in _STATEMENTS)
_SENTENCE_START = re.compile(r"(?<=[.!?])[\"')*_]{0,4}\s+|\n+")
_SENTENCE_END = re.compile(r"[.!?]+[\"')*_]{0,4}(?=\s|\Z|[a-z])|(?=\n)|\Z")
_BLANKS, _BLANK_LINES = re.compile(r"[ \t]*"), re.compile(r"[ \t\n]*")
# The search backwards stops after a sentence of this length; a judge's text is not trusted.
_LONGEST_SENTENCE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Score(Statement):
    found: re.Match[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SelFee(Single):
    """Asks for the feedback that SelFee writes on an answer before it revises it.

    Where a case's `meta` holds an `instruction` and an `input` that is not empty, the prompt has a
    section for each; else the query is the instruction.

    **Source:** `make_full_source` and `make_full_target` of the repository kaistAI/SelFee: the text
    that SelFee was trained on, up to the beginning of its first feedback. The feedback may state a
    score; without one the rating is unreadable, and `feedback_without_score` still gives the
    critique.
    """

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The published prompt with the response as the first answer, byte for byte."""
        (index,) = shown
        values = {"query": case.query, "response": case.responses[index].text}
        instruction, given = case.meta.get("instruction"), case.meta.get("input")
        name = "selfee.en.txt"
        if isinstance(instruction, str) and isinstance(given, str) and instruction and given:
            values |= {"query": instruction, "input": given}
            name = "selfee_input.en.txt"
        content = fill(load_text(name), values)
        return RequestBody(
            messages=(Message(role="user", content=content),), stop=("\n\n### Revision",)
        )

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The last score of the first feedback; its critique is the rest of that feedback.

        >>> PROTOCOL.parse("Clear. I would give it a score of 8. Revision is needed.").critique
        'Clear. Revision is needed.'
        """
        feedback = _first_feedback(clean(text))
        folded = fold(feedback)
        found = sorted(_statements(folded), key=lambda found: (found.end("value"), found.end()))
        if not found:
            return Unreadable(reason="no score is stated")
        shown = Judged(judged)
        scores = [_Score(start=each.start(), end=each.end(), found=each) for each in found]
        stated = last_statement("score", folded, scores, shown, stands_by_itself)
        if isinstance(stated, Unreadable):
            return stated
        last = stated.found
        value, scale = float(last["value"]), last["scale"]
        if scale not in (None, "10") or not LOWEST <= value <= HIGHEST:
            return Unreadable(reason=f"the score is not a number from 1 to 10: {last[0][-30:]!r}")
        return Rating(value=value, critique=feedback_without_score(text) or None)

    def read(self, completion: Completion, judged: Sequence[str] = ()) -> Reading:
        """The score in the text; one that the token limit may have cut does not count."""
        feedback = fold(_first_feedback(clean(completion.text)))
        if completion.finish == "length" and any(
            found.end("value") == len(feedback) for found in _statements(feedback)
        ):
            return Unreadable(reason="the text ends before the score is complete")
        return self.parse(completion.text, judged)


def feedback_without_score(text: str) -> str:
    r"""SelFee's first feedback as a critique: without the sentences that state a score.

    >>> feedback_without_score("It is short.\n\nScore: 6/10. Revision is needed.")
    'It is short.\n\nRevision is needed.'
    """
    feedback = _first_feedback(clean(text))
    folded = fold(feedback)
    kept: list[str] = []
    position = 0
    for found in sorted(_statements(folded), key=lambda found: found.start()):
        if found.end() <= position:
            continue
        begin = max(position, found.start() - _LONGEST_SENTENCE)
        starts = [start.end() for start in _SENTENCE_START.finditer(folded, begin, found.start())]
        if before := feedback[position : starts[-1] if starts else begin]:
            kept.append(before)
        after_a_break = kept[-1].endswith("\n") if kept else False
        position = _sentence_end(folded, found.end(), after_a_break=after_a_break)
        if feedback.startswith("\n", position):
            _strip_blanks(kept)
    return ("".join(kept) + feedback[position:]).strip()


def _sentence_end(folded: str, position: int, *, after_a_break: bool) -> int:
    """The end of a sentence and of the blanks after it; of all blank lines after a line break."""
    end = _SENTENCE_END.search(folded, position)
    position = end.end() if end else len(folded)
    # A line with only the score leaves no empty line behind.
    after = (_BLANK_LINES if after_a_break else _BLANKS).match(folded, position)
    return after.end() if after else position


def _strip_blanks(pieces: list[str]) -> None:
    """Strips blanks from the end of a text in pieces."""
    while pieces:
        pieces[-1] = pieces[-1].rstrip(" \t")
        if pieces[-1]:
            return
        pieces.pop()


def _first_feedback(text: str) -> str:
    after = _NEXT.search(text)
    return (text if after is None else text[: after.start()]).strip()


def _statements(folded: str) -> list[re.Match[str]]:
    return [found for pattern in _STATEMENT for found in pattern.finditer(folded)]


PROTOCOL = SelFee(name="selfee")
