"""`scenario`: the scenario of a query, named by a language model (Appendix B)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autoj.errors import UnknownComponent
from autoj.protocols._folding import clean, fold
from autoj.protocols._quotations import Judged, echoes
from autoj.protocols.base import AskedOnce, RequestBody, Subject, fill, load_text
from autoj.records import Case, Label, Message, Reading, Unreadable
from autoj.scenarios import resolve_scenario

# Some models write their reasoning before the answer; it is not part of the answer.
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_HEADING = re.compile(
    r"\A(?:the\s+)?(?:query'?s\s+)?(?:scenario|category)(?:\s+name)?(?:\s+is\b\s*:?|\s*[:=])\s*",
    re.IGNORECASE,
)
_AROUND = " \t\r\n*_`#>\"'“”‘’«»()[]{}<|.,;:!。，；：！、-"
_LIST_NUMBER = re.compile(r"\A\d{1,3}[.)]\s+")
_REMARK = re.compile(r"\s*(?:\(|:|;|,|=>|->|\s[-–—]\s)\s*")
_SHOWN = 40
_LONGEST_NAME = 100
"""The most characters of a name; real ones are shorter, and a long text is slow to look up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioName(AskedOnce):
    """Names the scenario of a query.

    The prompt does not list the scenarios: it is that of the paper's own classifier, which learnt
    them. Models that did not are asked by `scenario-menu`.

    **Source:** paper, Appendix B, byte for byte as in the release. A query that is too long is cut
    before it comes here (`runs.fit.fit_query`).
    """

    name: str
    aliases: tuple[str, ...] = ()
    language: Literal["en", "zh"] = "en"
    subject: Subject = "query"
    gives_probabilities: bool = False
    reads_alone: bool = False

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The query alone; no response is shown."""
        () = shown
        content = fill(load_text("scenario.en.txt"), {"query": case.query})
        return RequestBody(messages=(Message(role="user", content=content),))

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The scenario named by the first line with words, in any spelling of its name.

        Else the part of the line before or after a remark names it: "planning (a trip)".

        >>> PROTOCOL.parse(' "Writing-Email".')
        Label(name='writing_email')
        >>> PROTOCOL.parse("Scenario: default")
        Label(name='others')
        """
        folded = fold(_THOUGHT.sub("", clean(text)))
        said = _answer(folded)
        if not said:
            return Unreadable(reason="no scenario is named")
        if echoes(folded, _first_line_end(folded), Judged(judged)):
            return Unreadable(reason="the only scenario is quoted from the query")
        whole = self._resolved(said)
        parts = [said] if whole is not None else _REMARK.split(said, maxsplit=1)
        found = {name for part in parts if (name := self._resolved(part)) is not None}
        if len(found) == 1:
            return Label(name=found.pop())
        shown = said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…"
        said = "several scenarios are named" if found else "no scenario of the taxonomy is named"
        return Unreadable(reason=f"{said}: {shown!r}")

    def _resolved(self, said: str) -> str | None:
        """The scenario of a name; None where it is none."""
        bare = said.strip(_AROUND)
        if len(bare) > _LONGEST_NAME:
            return None
        try:
            return self.find_name(bare)
        except UnknownComponent:
            return None

    def find_name(self, said: str) -> str:
        """The scenario of a name in any spelling.

        Raises:
            UnknownComponent: it is none.
        """
        return resolve_scenario(said)


def _answer(text: str) -> str:
    """The first line with words, without any marks around its answer."""
    lines = [bare for line in text.split("\n") if (bare := line.strip(_AROUND))]
    # "Scenario:" may be on a line of its own.
    if len(lines) > 1 and not _HEADING.sub("", lines[0] + ":"):
        lines = lines[1:]
    said = _HEADING.sub("", _LIST_NUMBER.sub("", lines[0])).strip(_AROUND) if lines else ""
    # Runs of blanks count as one; long runs would also be slow to search.
    return " ".join(said.split())


def _first_line_end(text: str) -> int:
    """The end of the first line with words."""
    begin = len(text) - len(text.lstrip(_AROUND))
    end = text.find("\n", begin)
    return len(text) if end < 0 else end


PROTOCOL = ScenarioName(name="scenario")
