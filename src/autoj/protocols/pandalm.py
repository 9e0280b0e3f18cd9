"""`pandalm`: PandaLM's own comparison of two responses, with its reason and a better response."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autoj.protocols._folding import clean, fold
from autoj.protocols._quotations import Judged, echoes
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.pairwise import Pairwise
from autoj.records import Case, Decision, Message, Reading, Shown, Unreadable

# Strings that PandaLM removes from the texts it compares: they would end or mask its prompt.
_MARKS = re.compile(
    r"<unk>|<pad>|</?s>|\[(?:PAD|UNK|CLS|MASK)\]|<\|endoftext\|>|<\|(?:start|end)ofpiece\|>"
    r"|\[[gs]MASK\]"
)
_DECISION = re.compile(
    r"\s*[*_\"'`\[(#]{0,4}\s{0,4}(?:(?P<number>(?:response\s{0,4})?[0-9]{1,4})|(?P<tie>tie))"
    r"[*_\"'`\])]{0,4}[.:]?[*_\"']{0,4}[ \t]{0,80}(?:\n|\r|\Z|(?=\#{2,4}[ \t]*reason))",
    re.IGNORECASE,
)
_REASON = re.compile(r"\#{2,4}[ \t]{0,4}reason[ \t]{0,4}:", re.IGNORECASE)
_REFERENCE = re.compile(r"\#{2,4}[ \t]{0,4}reference[ \t]{0,4}(?::|\Z)", re.IGNORECASE)
_NUMBERS: dict[str, Shown] = {"1": "1", "2": "2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PandaLM(Pairwise):
    """Compares two responses: the first line is 1, 2 or Tie, then a reason and a reference.

    Where a case's `meta` holds an `instruction` and an `input` that is not empty, the prompt has a
    section for each, as PandaLM's own test set does; else the query is the instruction.

    **Source:** `build_pandalm_prompt` and `parse_pandalm_response` of the repository
    WeOpenML/PandaLM (arXiv 2306.05087). We differ in that another first line is unreadable and not
    a tie, and in that a mark that results from removing another one is broken up by a space.
    """

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The published prompt, with or without an input section, byte for byte."""
        first, second = (_without_marks(case.responses[index].text) for index in shown)
        values = {"query": case.query, "response_1": first, "response_2": second}
        instruction, given = case.meta.get("instruction"), case.meta.get("input")
        name = "pandalm.en.txt"
        if isinstance(instruction, str) and isinstance(given, str) and instruction and given:
            values |= {"query": instruction, "input": given}
            name = "pandalm_input.en.txt"
        content = fill(load_text(name), values)
        return RequestBody(messages=(Message(role="user", content=content),))

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        r"""The decision of the first line, with the reason as its critique.

        >>> PROTOCOL.parse("2\n\n### Reason: It is correct.\n\n### Reference: Four.").critique
        'It is correct.'
        """
        visible = clean(text)
        folded = fold(visible)
        if not folded.strip():
            return Unreadable(reason="the text is empty")
        found = _DECISION.match(folded)
        if found is None:
            return _off_menu(folded)
        if echoes(folded, found.end(), Judged(judged)):
            return Unreadable(reason="the only decision is quoted from a response")
        if found["tie"]:
            return Decision(shown="tie", critique=_reason(visible, folded, found.end()))
        number = _NUMBERS.get(found["number"].lower().removeprefix("response").strip())
        if number is None:
            return _off_menu(folded)
        return Decision(shown=number, critique=_reason(visible, folded, found.end()))


def _without_marks(text: str) -> str:
    kept = _MARKS.sub("", text.strip()).strip()
    # Removing one may create another: "<<s>s>".
    return _MARKS.sub(lambda mark: f"{mark[0][0]} {mark[0][1:]}", kept)


def _reason(visible: str, folded: str, start: int) -> str | None:
    """The prose between the headings; None where there is none. Folding keeps positions."""
    opened = _REASON.search(folded, start)
    begin = opened.end() if opened else start
    closed = _REFERENCE.search(folded, begin)
    return visible[begin : closed.start() if closed else None].strip() or None


def _off_menu(folded: str) -> Unreadable:
    said = folded.strip().splitlines()[0][:40]
    return Unreadable(reason=f"the first line is not 1, 2 or Tie: {said!r}")


PROTOCOL = PandaLM(name="pandalm")
