"""`critique-comparison`: the better of two critiques of one response (paper, Table 15)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autoj.protocols._folding import clean, fold
from autoj.protocols._quotations import Judged, Statement, own_statements, quoted
from autoj.protocols._standing import stands_by_itself
from autoj.protocols.base import RequestBody, Subject, fill, load_text
from autoj.protocols.pairwise import Pairwise
from autoj.records import Case, Decision, Message, Reading, Shown, Unreadable

# The option begins a line; "A more thorough critique …" is prose.
_OPTION = re.compile(
    r"^[ \t*_#>\"'(\[]*(?:(?i:option|answer|choice|选项|答案|选择)[ \t*_:]{0,8})?(?P<letter>[A-Z])"
    r"[*_\"'\])]{0,8}[ \t]*(?P<after>[:.),、]|$|(?=(?i:feedback|neither)\b|反馈|并没有))"
    r"[ \t*_]*(?P<words>(?i:feedback|反馈)[ \t]*(?P<number>[12])|(?i:neither)\b|并没有)?"
    r"(?P<rest>.*)",
    re.MULTILINE,
)
_INSIDE = re.compile(r"[A-Z][*_\"'\])]{0,8}[^\"“”<\n]*")
_MENU = ["A", "B", "C"]
_LETTERS: dict[str, Shown] = {"A": "1", "B": "2", "C": "tie"}
_NUMBERS: dict[str, str | None] = {"A": "1", "B": "2", "C": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class CritiqueComparison(Pairwise):
    """Compares two critiques: A, B, or C for neither."""

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

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        r"""The last option that begins a line; a repeated list of options chooses nothing.

        An option with its own words ("A: Feedback 1 …") takes precedence over a letter alone on its
        line, and that over a line that begins with a letter, which may be a list of reasons.

        >>> PROTOCOL.parse("B: Feedback 2 is significantly better.\nIt quotes the text.").shown
        '2'
        """
        visible = clean(text)
        folded = fold(visible)
        options = _find(folded)
        if not options:
            return Unreadable(reason="no option A, B or C is chosen")
        shown = Judged(judged)
        own = own_statements(folded, options, shown, stands_by_itself)
        if not own:
            return quoted("option", folded, options, shown)
        chosen = max(reversed(own), key=_weight).found
        letter = chosen["letter"]
        if letter not in _LETTERS:
            return Unreadable(reason=f"the choice is not one of the options: {letter!r}")
        if chosen["words"] and chosen["number"] != _NUMBERS[letter]:
            return Unreadable(reason=f"the option contradicts its words: {chosen[0].strip()!r}")
        return Decision(shown=_LETTERS[letter], critique=visible.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Option(Statement):
    found: re.Match[str]


def _find(folded: str) -> list[_Option]:
    """The options that begin a line of a folded text, in order, without repeated menus."""
    return [
        _Option(
            start=found.start("letter"),
            end=_end(folded, found),
            readable=found["letter"] in _LETTERS,
            found=found,
        )
        for found in _without_menus(list(_OPTION.finditer(folded)))
    ]


def _end(folded: str, found: re.Match[str]) -> int:
    """The end of an option on its line, or in its quotation marks or tag there."""
    inside = _INSIDE.match(folded, found.start("letter"), found.end())
    return inside.end() if inside else found.end()


def _without_menus(options: list[re.Match[str]]) -> list[re.Match[str]]:
    kept: list[re.Match[str]] = []
    for option in options:
        kept.append(option)
        if [menu["letter"] for menu in kept[-3:]] == _MENU:
            del kept[-3:]
    return kept


def _weight(option: _Option) -> int:
    found = option.found
    if found["words"]:
        return 3
    if not found["rest"].strip(" \t\r*_\"'.])"):
        return 2
    return 1 if found["after"] == ":" else 0


PROTOCOL = CritiqueComparison(name="critique-comparison")
