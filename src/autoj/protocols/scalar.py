"""`scalar`: the score that a reward model gives a response, without any text."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from autoj.protocols._folding import clean
from autoj.protocols.base import RequestBody
from autoj.protocols.single import Single
from autoj.records import Case, Message, Reading, Score, Unreadable

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar(Single):
    """Scores one response on no fixed scale: higher is better.

    Its request ends with the response as the assistant's turn: there is nothing to answer. The
    `scalar` backend turns the two turns into the text that a model reads.
    """

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The query as the user's turn, the response as the assistant's."""
        (index,) = shown
        return RequestBody(
            messages=(
                Message(role="user", content=case.query),
                Message(role="assistant", content=case.responses[index].text),
            )
        )

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """Parses the completion, which is one finite decimal.

        >>> PROTOCOL.parse("-1.25").value
        -1.25
        """
        stated = clean(text).strip()
        if _DECIMAL.fullmatch(stated) is None:
            return Unreadable(reason=f"the score is not a decimal: {stated[:40]!r}")
        value = float(stated)
        if not math.isfinite(value):
            return Unreadable(reason=f"the score is not a finite number: {stated[:40]!r}")
        return Score(value=value)


PROTOCOL = Scalar(name="scalar")
