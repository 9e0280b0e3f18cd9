"""`single-reference`: a rating of one response, held against a reference answer."""

from dataclasses import dataclass

from autoj.protocols._reference import reference_of
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.single import Single
from autoj.records import Case, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleReference(Single):
    """Criticises one response, given a correct answer, then rates it.

    **Source:** none; the words are ours (see `pairwise-reference`).
    """

    needs_reference: bool = True

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The query, the reference answer and the response.

        Raises:
            ConfigError: the case has no reference.
        """
        (index,) = shown
        values = {
            "query": case.query,
            "reference": reference_of(case, self.name),
            "response": case.responses[index].text,
        }
        content = fill(load_text("single_reference.en.txt"), values)
        return RequestBody(messages=(Message(role="user", content=content),))


PROTOCOL = SingleReference(name="single-reference")
