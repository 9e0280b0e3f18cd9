"""`single-critique`: the shortcomings of one response, without a rating (paper, Table 11).

It is the first half of the paper's way to a judgment of one response: a teacher criticises it with
and without the scenario's criteria, and `single-merge` joins both and rates.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autoj.protocols._criteria import assessment_of
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.single import Single
from autoj.records import Case, Critique, Message, Reading, Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleCritique(Single):
    """Criticises one response.

    **Source:** paper, section 3.3 and Table 11.
    """

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The prompt of Table 11."""
        return RequestBody(messages=(self.user_message(case, shown, "single_critique"),))

    def user_message(self, case: Case, shown: tuple[int, ...], text: str) -> Message:
        """The user's message about a response.

        Args:
            case: the case to judge.
            shown: the index of the response.
            text: the name of the prompt's text.
        """
        (index,) = shown
        values = {"query": case.query, "response": case.responses[index].text}
        return Message(role="user", content=fill(load_text(f"{text}.en.txt"), values))

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The critique, without an own answer before it."""
        critique = assessment_of(text).strip()
        return Critique(text=critique) if critique else Unreadable(reason="the critique is empty")


PROTOCOL = SingleCritique(name="single-critique")
