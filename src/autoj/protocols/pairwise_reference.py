"""`pairwise-reference`: the better of two responses, held against a reference answer."""

from dataclasses import dataclass

from autoj.protocols._reference import reference_of
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.pairwise import Pairwise
from autoj.records import Case, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseReference(Pairwise):
    """Compares two responses, given a correct answer: for general models and questions of fact.

    **Source:** none; the words are ours. That a reference helps a judge on mathematics and
    reasoning is shown by Zheng et al. (2023, arXiv 2306.05685, section 3.4). Auto-J takes none.
    """

    needs_reference: bool = True

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The query, the reference answer and both responses.

        Raises:
            ConfigError: the case has no reference.
        """
        first, second = (case.responses[index].text for index in shown)
        values = {
            "query": case.query,
            "reference": reference_of(case, self.name),
            "response_1": first,
            "response_2": second,
        }
        content = fill(load_text("pairwise_reference.en.txt"), values)
        return RequestBody(messages=(Message(role="user", content=content),))


PROTOCOL = PairwiseReference(name="pairwise-reference")
