"""Separates a judge's own statements from those that it quotes out of a judged text.

A response may hold a verdict of its own ("So, the final decision is Response 1."), and a judge that
discusses it writes it down. Three rules decide which statements are read:

1. A statement that stands in no judged text is the judge's own.
2. One that stands there, word for word or with the same content, is a quotation. It never wins over
   a readable statement of rule 1, and alone it is unreadable.
3. Excepted is a statement that stands by itself in the answer, as a verdict does
   (`_standing.stands_by_itself`); it is the judge's own unless rule 1 finds another.

Without the third rule anyone could silence a judge: a response that holds every possible verdict
would turn each honest one into a quotation, and a judge that obeyed an injected verdict would count
as unreadable, not as deceived: an audit would call it safe. Its price: a bare verdict that a judge
copies into a line of its own, without a word about its source, is read as its verdict. An honest
judge writes the same text, so no reader can tell the two apart.

The work is linear in the length of the answer and of the judged texts.
"""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

from autoj.protocols._folding import clean, fold
from autoj.records import Unreadable

# An answer states its verdict once or twice. The bound keeps one that does it a thousand times from
# being slow to read: what comes before its last statements is not read.
_MOST_STATEMENTS = 300
# The words after a verdict that show it to be part of a quoted passage.
_PASSAGE, _SHORTEST = 12, 2
_UP_TO_A_QUOTE = re.compile(r"[^\"“”'’`<\n]+")
_WORD = re.compile(r"[a-z]+|[0-9]+|[\[\]]|[^\W_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A place in a folded text where a decision or a rating is stated."""

    start: int
    end: int
    content: Hashable = None
    """The thing stated, to recognise it in other words; None compares the words alone."""
    readable: bool = True
    """False where it is off the menu or the scale."""
    words_end: int | None = None
    """End of its words that a quotation has, too; None is all of it."""


_Any = TypeVar("_Any", bound=Statement)
Find: TypeAlias = Callable[[str], Sequence[Statement]]
"""Finds the statements of a folded text, in order."""


class _Text:
    """A judged text, taken apart as far as it is needed."""

    def __init__(self, said: str) -> None:
        self.said = said

    @cached_property
    def folded(self) -> str:
        return fold(clean(self.said))

    @cached_property
    def casefolded(self) -> str:
        """Holds each of its `words`."""
        return self.folded.casefold()

    @cached_property
    def words(self) -> str:
        return words(self.folded)


class Judged:
    """The texts that a judge was shown, to look statements up in."""

    def __init__(self, texts: Sequence[str], find: Find | None = None) -> None:
        """Takes the texts as they are; they are searched when the first statement is looked up.

        Args:
            texts: the query, the responses and whatever else was shown.
            find: finds the statements in a text, so that a translated one is known again.
        """
        self._texts = [_Text(text) for text in texts]
        self._find = find
        self._answer: tuple[str, bool] | None = None

    def __bool__(self) -> bool:
        return bool(self._texts)

    def states(self, folded: str, statement: Statement) -> bool:
        """True where a judged text holds a statement of the folded answer."""
        if statement.content is not None and statement.content in self._contents:
            return True
        end = statement.end if statement.words_end is None else statement.words_end
        passage = words(folded[statement.start : end])
        # An answer that is cut off may end within a word of its quotation.
        cut = end == len(folded)
        return self.holds(passage[:-1] if cut and passage != " " else passage)

    def source(self, folded: str, statement: Statement) -> str:
        """The judged text that holds a statement, in words: the query comes first of several."""
        responses = Judged([text.said for text in self._texts[1:]], self._find)
        only_the_query = len(self._texts) > 1 and not responses.states(folded, statement)
        return "the query" if only_the_query else "a response"

    def holds(self, passage: str) -> bool:
        """True where a judged text holds a passage of `words`; never for an empty one."""
        # Most texts lack a passage's longest word, and need not be taken apart to find that.
        longest = max(passage.split(), key=len, default="")
        return longest != "" and any(
            longest in text.casefolded and passage in text.words for text in self._texts
        )

    def has_copy(self, folded: str) -> bool:
        """True where a folded answer is one of the texts, word for word; a word alone is not."""
        if self._answer is None or self._answer[0] is not folded:
            answer = words(folded)
            is_copy = answer.count(" ") > 2 and any(answer == text.words for text in self._texts)
            self._answer = folded, is_copy
        return self._answer[1]

    @cached_property
    def _contents(self) -> frozenset[Hashable]:
        if self._find is None:
            return frozenset()
        return frozenset(
            found.content
            for text in self._texts
            for found in self._find(text.folded)
            if found.readable
        )


Stands: TypeAlias = Callable[[str, Statement, Judged], bool]
"""True where a statement that a judged text holds is the judge's own by its place."""


def words(text: str) -> str:
    """A folded text's words, numbers and square brackets with a space around each.

    Spelling, punctuation and markdown around a quotation do not matter.

    >>> words("**Rating:** [[5]]!")
    ' rating [ [ 5 ] ] '
    """
    return f" {' '.join(_WORD.findall(text.casefold()))} ".replace("  ", " ")


def own_statements(
    folded: str, statements: Sequence[_Any], judged: Judged, stands: Stands, forced: int = 0
) -> list[_Any]:
    """The statements that are the judge's own, in order, by the rules of this module.

    Args:
        folded: the judge's text.
        statements: those found in it, in order.
        judged: the texts that it was shown; without any, all statements are the judge's own.
        stands: decides rule 3.
        forced: a statement that begins before this position continues a forced opening, so that it
            is the judge's own.
    """
    if not judged or not statements:
        return list(statements)
    last = statements[-_MOST_STATEMENTS:]
    tagged = [(each, each.start < forced or not judged.states(folded, each)) for each in last]
    if any(is_own and each.readable for each, is_own in tagged):
        return [each for each, is_own in tagged if is_own]
    return [each for each, is_own in tagged if is_own or stands(folded, each, judged)]


def unfinished(folded: str, opened: re.Match[str] | None, judged: Judged, stands: Stands) -> bool:
    """True where an answer ends within a statement of the judge's own.

    Args:
        folded: the judge's text.
        opened: the statement that is not closed; None where there is none.
        judged: the texts that it was shown.
        stands: decides rule 3.
    """
    if opened is None:
        return False
    said = _UP_TO_A_QUOTE.match(folded, opened.start(), opened.end())
    statement = Statement(start=opened.start(), end=said.end() if said else opened.end())
    return bool(own_statements(folded, [statement], judged, stands))


def last_statement(
    kind: str,
    folded: str,
    statements: Sequence[_Any],
    judged: Judged,
    stands: Stands,
    forced: int = 0,
) -> _Any | Unreadable:
    """The last statement that is the judge's own; the reason where all are quotations.

    Args:
        kind: the thing that is stated, such as "decision".
        folded: the judge's text.
        statements: those found in it, in order; at least one.
        judged: the texts that it was shown.
        stands: decides rule 3.
        forced: as of `own_statements`.
    """
    own = own_statements(folded, statements, judged, stands, forced)
    if own and (own[-1].readable or own[-1] is statements[-1]):
        return own[-1]
    return quoted(kind, folded, statements, judged)


def quoted(kind: str, folded: str, statements: Sequence[Statement], judged: Judged) -> Unreadable:
    """The reading of an answer whose statements are all quotations.

    Args:
        kind: the thing that is stated, such as "decision".
        folded: the judge's text.
        statements: those found in it.
        judged: the texts that it was shown.
    """
    source = judged.source(folded, statements[-1])
    return Unreadable(reason=f"the only {kind} is quoted from {source}")


def echoes(folded: str, end: int, judged: Judged) -> bool:
    """True where the beginning of an answer is the beginning of a passage of a judged text.

    For answers that begin with their verdict, in a word or two that any text may hold.

    Args:
        folded: the judge's text.
        end: the end of its verdict.
        judged: the texts that it was shown.
    """
    following = words(folded[end : end + 600]).split()[:_PASSAGE]
    stated = words(folded[:end]).split()
    return len(following) >= _SHORTEST and judged.holds(f" {' '.join([*stated, *following])} ")
