"""`single-criteria`: one response's shortcomings by its scenario's criteria, and a rating."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from autoj.protocols._criteria import (
    asks_for_own_answer,
    assessment_of,
    criteria_message,
    scenario_of,
)
from autoj.protocols._ratings import parse_rating
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.single import Single
from autoj.records import Case, Message, Reading
from autoj.scenarios import Library, shipped_library


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleCriteria(Single):
    """Criticises one response by criteria, then rates it.

    **Source:** paper, Tables 8 and 11. Table 11 asks for critiques alone, since the paper's teacher
    rates in a later request that joins two of them (Table 12); here Table 12's sentence on the
    rating follows as a second instruction. Section 3.2 reports that criteria in the system message
    make a teacher stick to them when it judges one response. Auto-J takes none (section 3.3).
    """

    library: Library = field(default_factory=shipped_library)
    """The scenarios and their criteria."""
    answers_first: bool = False
    """True where the judge answers queries of the group Exam Questions itself before it
    criticises."""

    def with_library(self, library: Library) -> "SingleCriteria":
        """The same protocol with other scenarios, such as a user's."""
        return replace(self, library=library)

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The scenario's criteria as system message, and Table 11 with a rating.

        Raises:
            ConfigError: the case names no scenario.
            UnknownComponent: it names an unknown one.
        """
        (index,) = shown
        scenario = scenario_of(case, self.library, self.name)
        answers = self.answers_first and asks_for_own_answer(scenario)
        template = load_text(f"single_criteria{'_reasoning' * answers}.en.txt")
        values = {"query": case.query, "response": case.responses[index].text}
        user = Message(role="user", content=fill(template, values))
        return RequestBody(messages=(criteria_message(scenario), user))

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The last rating in brackets; the judge's own answer is not part of the critique."""
        return parse_rating(assessment_of(text) if self.answers_first else text, judged)


PROTOCOL = SingleCriteria(name="single-criteria")
