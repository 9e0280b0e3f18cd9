"""`scenario-menu`: lists all scenarios in the prompt, for models that did not learn them."""

from dataclasses import dataclass, field, replace
from functools import cache

from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.scenario import ScenarioName
from autoj.records import Case, Message
from autoj.scenarios import Library, groups, shipped_library

_NO_GROUP = "Further scenarios"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioMenu(ScenarioName):
    """Names the scenario of a query, given the names and descriptions of all of them.

    **Source:** none; the system message is ours. The paper's classifier was trained on the names
    and is asked without them.
    """

    library: Library = field(default_factory=shipped_library)
    """The scenarios to choose from."""

    def with_menu(self, library: Library) -> "ScenarioMenu":
        """The same with other scenarios, such as a user's."""
        return replace(self, library=library)

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The menu as system message, and the prompt of `scenario`."""
        asked = ScenarioName.build(self, case, shown)
        values = {"menu": _menu(self.library)}
        system = fill(load_text("scenario_menu.system.en.txt"), values)
        return RequestBody(messages=(Message(role="system", content=system), *asked.messages))

    def find_name(self, said: str) -> str:
        """The scenario of a name in any spelling, one of the user's own before one of ours.

        Raises:
            UnknownComponent: it is none.
        """
        return self.library.find(said).name


@cache
def _menu(library: Library) -> str:
    """The scenarios by group, in the paper's order; `others` is named as in the prompt."""
    sections: dict[str, list[str]] = {group: [] for group in groups()}
    for name in library.names():
        scenario = library.find(name)
        shown = "default" if name == "others" else name
        group = scenario.group or _NO_GROUP
        sections.setdefault(group, []).append(f"- {shown}: {scenario.description}")
    return "\n\n".join("\n".join([f"{group}:", *lines]) for group, lines in sections.items())


PROTOCOL = ScenarioMenu(name="scenario-menu")
