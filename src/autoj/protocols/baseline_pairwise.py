"""`baseline-pairwise`: the prompt that the paper gives to judges it did not train (Table 13)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autoj.protocols._folding import clean, fold
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
        verdicts = list(_VERDICT.finditer(folded))
        if _OPEN.search(folded, verdicts[-1].end() if verdicts else 0):
            return Unreadable(reason="the text ends before the verdict is closed")
        if not verdicts:
            return Unreadable(reason="no verdict in double brackets is stated")
        end = verdicts[-1].end()
        if any(menu.end() == end for menu in _MENU.finditer(folded)):
            return Unreadable(reason="the verdict repeats the options")
        letter = verdicts[-1]["letter"].strip("*_ \t\r\n").upper()
        if letter not in _LETTERS:
            return Unreadable(reason=f"the verdict is not one of the options: {letter!r}")
        return Decision(shown=_LETTERS[letter], critique=visible.strip())


PROTOCOL = BaselinePairwise(name="baseline-pairwise")
