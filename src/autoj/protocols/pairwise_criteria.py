"""`pairwise-criteria`: the better of two responses by their scenario's criteria (Table 10)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from autoj.protocols._criteria import (
    asks_for_own_answer,
    assessment_of,
    criteria_message,
    scenario_of,
)
from autoj.protocols._decisions import parse_decision
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.pairwise import Pairwise
from autoj.records import Case, Message, Reading
from autoj.scenarios import Library, shipped_library


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseCriteria(Pairwise):
    """Compares two responses by criteria: for general models, which were not trained on pairs.

    **Source:** paper, Tables 8 and 10, which its teacher judged pairs by. Auto-J itself takes no
    criteria in its input (section 3.3). The paper does not print the instruction for queries that
    the teacher answers first (`single_reasoning` in the release); those words are ours.
    """

    library: Library = field(default_factory=shipped_library)
    """The scenarios and their criteria."""
    answers_first: bool = False
    """True where the judge answers queries of the group Exam Questions itself before it
    compares."""

    def with_library(self, library: Library) -> "PairwiseCriteria":
        """The same protocol with other scenarios, such as a user's."""
        return replace(self, library=library)

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The scenario's criteria as system message, and Table 10.

        Raises:
            ConfigError: the case names no scenario.
            UnknownComponent: it names an unknown one.
        """
        first, second = (case.responses[index].text for index in shown)
        scenario = scenario_of(case, self.library, self.name)
        answers = self.answers_first and asks_for_own_answer(scenario)
        template = load_text(f"pairwise_criteria{'_reasoning' * answers}.en.txt")
        values = {"query": case.query, "response_1": first, "response_2": second}
        user = Message(role="user", content=fill(template, values))
        return RequestBody(messages=(criteria_message(scenario), user))

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The last final decision; the judge's own answer is not part of the critique."""
        return parse_decision(assessment_of(text) if self.answers_first else text, judged)


PROTOCOL = PairwiseCriteria(name="pairwise-criteria")
