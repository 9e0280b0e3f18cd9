"""`critique-comparison`: which of two critiques of one response is better (paper, Table 15)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autoj.protocols._folding import clean, fold
from autoj.protocols.base import RequestBody, Subject, fill, load_text
from autoj.protocols.pairwise import Pairwise
from autoj.records import Case, Decision, Message, Reading, Shown, Unreadable

__all__ = ["PROTOCOL", "CritiqueComparison"]

# The option stands at the head of a line; "A more thorough critique …" is prose.
_OPTION = re.compile(
    r"^[\s*_#>\"'(\[]*(?:(?:option|answer|choice|选项|答案|选择)\s*:?\s*)?(?P<letter>[A-Z])"
    r"[*_\])]*\s*(?=[:.),、]|$|feedback\b|反馈)",
    re.MULTILINE,
)
_MENU = ["A", "B", "C"]
_LETTERS: dict[str, Shown] = {"A": "1", "B": "2", "C": "tie"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CritiqueComparison(Pairwise):
    """Compare two critiques: A, B, or C for neither."""

    subject: Subject = "critiques"

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """Table 15, byte for byte as the release has it."""
        first, second = (case.critiques[index] for index in shown)
        values = {
            "query": case.query,
            "response": case.responses[0].text,
            "critique_1": first,
            "critique_2": second,
        }
        content = fill(load_text(f"critique_comparison.{self.language}.txt"), values)
        return RequestBody(messages=(Message(role="user", content=content),))

    def parse(self, text: str) -> Reading:
        r"""The last option that opens a line; a repeated menu chooses nothing.

        >>> PROTOCOL.parse("B: Feedback 2 is significantly better.\nIt quotes the text.").shown
        '2'
        """
        visible = clean(text)
        letters = [found["letter"] for found in _OPTION.finditer(fold(visible))]
        if letters[:3] == _MENU:
            letters = letters[3:]
        if not letters:
            return Unreadable(reason="no option A, B or C is chosen")
        if letters[-1] not in _LETTERS:
            return Unreadable(reason=f"the option is off the menu: {letters[-1]!r}")
        return Decision(shown=_LETTERS[letters[-1]], critique=visible.strip())


PROTOCOL = CritiqueComparison(name="critique-comparison")
