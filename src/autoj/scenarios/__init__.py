"""Scenarios: kinds of requests, and the criteria of a good response to each.

58 scenarios in 8 groups (paper, section 3.1 and Table 6), each with its criteria.
"""

from autoj.scenarios.criteria import (
    Criterion,
    Scenario,
    message_frame,
    render_criteria,
    render_message,
)
from autoj.scenarios.library import (
    CheckedScenarios,
    Library,
    check_folder,
    load_library,
    shipped_library,
)
from autoj.scenarios.taxonomy import group_of, groups, resolve_scenario, scenario_names

__all__ = [
    "CheckedScenarios",
    "Criterion",
    "Library",
    "Scenario",
    "check_folder",
    "group_of",
    "groups",
    "load_library",
    "message_frame",
    "render_criteria",
    "render_message",
    "resolve_scenario",
    "scenario_names",
    "shipped_library",
]
