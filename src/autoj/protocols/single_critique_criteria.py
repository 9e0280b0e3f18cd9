"""`single-critique-criteria`: a critique of one response by its scenario's criteria."""

from dataclasses import dataclass, field, replace

from autoj.protocols._criteria import asks_for_own_answer, criteria_message, scenario_of
from autoj.protocols.base import RequestBody
from autoj.protocols.single_critique import SingleCritique
from autoj.records import Case
from autoj.scenarios import Library, shipped_library


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleCritiqueCriteria(SingleCritique):
    """Criticises one response by criteria.

    Queries of the group Exam Questions are answered by the judge first, as in the release
    (`single_reasoning`), whose words for that are not published; ours stand here.

    **Source:** paper, section 3.3, Tables 8 and 11.
    """

    library: Library = field(default_factory=shipped_library)
    """The scenarios and their criteria."""

    def with_library(self, library: Library) -> "SingleCritiqueCriteria":
        """The same protocol with other scenarios, such as a user's."""
        return replace(self, library=library)

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The scenario's criteria as system message, and Table 11.

        Raises:
            ConfigError: the case names no scenario.
            UnknownComponent: it names an unknown one.
        """
        scenario = scenario_of(case, self.library, self.name)
        text = f"single_critique{'_reasoning' * asks_for_own_answer(scenario)}"
        user = self.user_message(case, shown, text)
        return RequestBody(messages=(criteria_message(scenario), user))


PROTOCOL = SingleCritiqueCriteria(name="single-critique-criteria")
