"""`baseline-pairwise`: the prompt that the paper gives to judges it did not train (Table 13)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autoj.protocols._folding import clean, fold
from autoj.protocols._quotations import Judged, Statement, last_statement, unfinished
from autoj.protocols._standing import stands_by_itself
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.pairwise import Pairwise
from autoj.records import Case, Decision, Message, Reading, Shown, Unreadable

_VERDICT = re.compile(r"\[[*_ ]{0,3}\[(?P<letter>[^\[\]]{0,40})\][*_ ]{0,3}\]")
# '"[[A]]" if assistant A is better, "[[B]]" if …, and "[[C]]" for a tie', or "[[A]] or [[B]]".
_MENU = re.compile(
    r"\[\[A\]\][^\[\]]{0,60}\[\[B\]\][^\[\]]{0,60}\[\[C\]\]"
    r"|(?:\[\[[ABC]\]\][\s\"'*_,]{0,4}(?:/|\||\bor\b|或)[\s\"'*_]{0,4})+\[\[[ABC]\]\]",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\[\[[^\[\]\n]{0,40}\]?\s*\Z")
_LETTERS: dict[str, Shown] = {"A": "1", "B": "2", "C": "tie"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselinePairwise(Pairwise):
    """Compares assistants A and B; the verdict is [[A]], [[B]] or [[C]] for a tie."""

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """Table 13: a system message and the two answers."""
        first, second = (case.responses[index].text for index in shown)
        values = {"query": case.query, "response_1": first, "response_2": second}
        system = load_text("baseline_pairwise.system.en.txt")
        user = fill(load_text("baseline_pairwise.en.txt"), values)
        return RequestBody(
            messages=(Message(role="system", content=system), Message(role="user", content=user))
        )

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The last verdict in double brackets.

        >>> PROTOCOL.parse("B is wordier. Final verdict: [[A]]").shown
        '1'
        """
        visible = clean(text)
        folded = fold(visible)
        verdicts = _find(folded)
        shown = Judged(judged, _find)
        opened = _OPEN.search(folded, verdicts[-1].end if verdicts else 0)
        if unfinished(folded, opened, shown, stands_by_itself):
            return Unreadable(reason="the text ends before the verdict is closed")
        if not verdicts:
            return Unreadable(reason="no verdict in double brackets is stated")
        last = last_statement("verdict", folded, verdicts, shown, stands_by_itself)
        said = last if isinstance(last, Unreadable) else last.said
        if isinstance(said, Unreadable):
            return said
        return Decision(shown=said, critique=visible.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class _StatedVerdict(Statement):
    said: Shown | Unreadable


def _find(folded: str) -> list[_StatedVerdict]:
    """The verdicts in double brackets in a folded text, in order."""
    menus = {menu.end() for menu in _MENU.finditer(folded)}
    return [_stated(found, found.end() in menus) for found in _VERDICT.finditer(folded)]


def _stated(found: re.Match[str], ends_a_menu: bool) -> _StatedVerdict:
    letter = found["letter"].strip("*_ \t\r\n").upper()
    said: Shown | Unreadable
    if ends_a_menu:
        said = Unreadable(reason="the verdict repeats the options")
    elif letter in _LETTERS:
        said = _LETTERS[letter]
    else:
        said = Unreadable(reason=f"the verdict is not one of the options: {letter!r}")
    readable = not isinstance(said, Unreadable)
    return _StatedVerdict(
        start=found.start(),
        end=found.end(),
        content=said if readable else None,
        readable=readable,
        said=said,
    )


PROTOCOL = BaselinePairwise(name="baseline-pairwise")
