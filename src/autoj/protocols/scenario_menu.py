"""`scenario-menu`: lists all scenarios in the prompt, for models that did not learn them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.scenario import ScenarioName
from autoj.records import Case, Message
from autoj.scenarios import groups, shipped_library

__all__ = ["PROTOCOL", "ScenarioMenu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioMenu(ScenarioName):
    """Names the scenario of a query, given the names and descriptions of all of them.

    **Source:** none; the system message is ours. The paper's classifier was trained on the names
    and is asked without them.
    """

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The menu as system message, and the prompt of `scenario`."""
        asked = ScenarioName.build(self, case, shown)
        system = fill(load_text("scenario_menu.system.en.txt"), {"menu": _menu()})
        return RequestBody(messages=(Message(role="system", content=system), *asked.messages))


@cache
def _menu() -> str:
    """The scenarios by group, in the paper's order; `others` is named as in the prompt."""
    library = shipped_library()
    sections: list[str] = []
    for group, names in groups().items():
        lines = [
            f"- {'default' if name == 'others' else name}: {library.find(name).description}"
            for name in names
        ]
        sections.append("\n".join([f"{group}:", *lines]))
    return "\n\n".join(sections)


PROTOCOL = ScenarioMenu(name="scenario-menu")
