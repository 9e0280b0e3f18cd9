"""`baseline-single`: the rating prompt for judges that the paper did not train (Table 14)."""

from dataclasses import dataclass

from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.single import Single
from autoj.records import Case, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineSingle(Single):
    """Explains and rates an assistant's answer; the rating is read as in `single`."""

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """Table 14: a system message and the answer."""
        (index,) = shown
        values = {"query": case.query, "response": case.responses[index].text}
        system = load_text("baseline_single.system.en.txt")
        user = fill(load_text("baseline_single.en.txt"), values)
        return RequestBody(
            messages=(Message(role="system", content=system), Message(role="user", content=user))
        )


PROTOCOL = BaselineSingle(name="baseline-single")
