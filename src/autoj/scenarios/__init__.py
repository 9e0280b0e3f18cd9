"""What kind of request a query is: 58 scenarios in 8 groups (paper, section 3.1 and Table 6)."""

from autoj.scenarios.taxonomy import group_of, groups, resolve_scenario, scenario_names

__all__ = ["group_of", "groups", "resolve_scenario", "scenario_names"]
