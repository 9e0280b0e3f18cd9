"""The origins of the scenarios of a run's cases: the file, or a classifier."""

import math
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from autoj.bench.base import group_name
from autoj.metrics import Row
from autoj.records import Case, CaseOutline
from autoj.reports import render
from autoj.runs.naming import group_in_meta, naming_of

Breakdown: TypeAlias = Literal["scenario", "group"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioNaming:
    """Counts of cases by the origin of their scenarios."""

    n_by_rows: int
    """Cases whose rows name their scenario."""
    n_own_names: int
    """Those of them with an unknown name, which was kept."""
    n_classified: int
    """Cases whose scenario a classifier named."""
    classifiers: tuple[str, ...]
    """The classifiers' names; several only in a merged run."""
    mean_probability: float | None
    """Their mean probability, 0-1; None if they named nothing."""
    n_unknown: int
    """Cases whose rows name an unknown scenario, so that they count as `others`."""
    n_without: int
    """Cases without a scenario."""


@dataclass(slots=True)
class NamingCount:
    """Counts cases as they come."""

    _n: Counter[str] = field(default_factory=Counter)
    _classifiers: dict[str, None] = field(default_factory=dict)
    _probabilities: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, case: Case | CaseOutline) -> None:
        """Count a case."""
        naming = naming_of(case)
        if naming is None:
            self._n["row" if case.scenario is not None else "none"] += 1
            return
        self._n[naming["by"]] += 1
        if naming["by"] == "classifier":
            self._classifiers[naming["classifier"]] = None
            self._probabilities.append(naming["probability"])

    def result(self) -> ScenarioNaming:
        """The counts."""
        known = self._probabilities
        return ScenarioNaming(
            n_by_rows=self._n["row"] + self._n["own name"],
            n_own_names=self._n["own name"],
            n_classified=self._n["classifier"],
            classifiers=tuple(self._classifiers),
            mean_probability=math.fsum(known) / len(known) if known else None,
            n_unknown=self._n["unknown"],
            n_without=self._n["none"],
        )


class NamedParts:
    """The parts of a breakdown, and the origins of the scenarios of each.

    Args:
        breakdown: by scenario or by group; None counts only the whole.
    """

    def __init__(self, breakdown: Breakdown | None) -> None:
        self._breakdown = breakdown
        self._whole = NamingCount()
        self._own_groups: dict[str | None, str] = {}
        self._parts: dict[str, NamingCount] = {}

    def add(self, case: Case | CaseOutline) -> None:
        """Count a case."""
        if (group := group_in_meta(case)) is not None:
            self._own_groups[case.scenario] = group
        self._whole.add(case)
        if self._breakdown is not None and (part := self._part(case.scenario)) is not None:
            self._parts.setdefault(part, NamingCount()).add(case)

    def part_of(self, row: Row) -> str | None:
        """The part of a row whose case was counted; None if it has no scenario."""
        return self._part(row.scenario)

    def _part(self, scenario: str | None) -> str | None:
        if self._breakdown == "scenario":
            return scenario
        return self._own_groups.get(scenario) or group_name(scenario)

    def whole(self) -> ScenarioNaming | None:
        """The origins of all scenarios; None if no case has one."""
        naming = self._whole.result()
        return naming if naming.n_by_rows or naming.n_classified or naming.n_unknown else None

    def parts(self) -> dict[str, ScenarioNaming]:
        """The same of each part; empty if rows name all scenarios."""
        if not self._whole.result().n_classified:
            return {}
        return {part: count.result() for part, count in self._parts.items()}


def naming_text(naming: ScenarioNaming) -> str:
    """The origins of scenarios on a line.

    >>> naming_text(ScenarioNaming(n_by_rows=12, n_own_names=0, n_classified=407,
    ...     classifiers=("fast",), mean_probability=0.613, n_unknown=0, n_without=0))
    '12 from the file, 407 by the classifier fast (mean probability 0.61)'
    """
    own = f" ({naming.n_own_names:,} of them unknown names)" if naming.n_own_names else ""
    parts = [f"{naming.n_by_rows:,} from the file{own}"] if naming.n_by_rows else []
    if naming.n_classified and naming.mean_probability is not None:
        parts.append(
            f"{naming.n_classified:,} by the classifier {', '.join(naming.classifiers)} "
            f"(mean probability {naming.mean_probability:.2f})"
        )
    if naming.n_unknown:
        parts.append(f"{naming.n_unknown:,} unknown in the file and counted as others")
    if naming.n_without:
        parts.append(f"{naming.n_without:,} without one")
    return ", ".join(parts)


def is_worth_telling(naming: ScenarioNaming | None, is_broken_down: bool = False) -> bool:
    """Tell whether the origins of scenarios need a line: not if rows name them all.

    Args:
        naming: their origins; None if no case has a scenario.
        is_broken_down: True if figures are shown by scenario or group.
    """
    return naming is not None and bool(
        naming.n_classified
        or naming.n_unknown
        or naming.n_own_names
        or (is_broken_down and naming.n_without)
    )


def naming_table(parts: Mapping[str, ScenarioNaming]) -> render.Listing:
    """The same for each part of a breakdown."""
    columns = (
        render.Column.number(name)
        for name in ("from the file", "by classifier", "mean probability")
    )
    listing = render.Listing(render.Column.prose("origin of scenarios", 30), *columns)
    for part, naming in parts.items():
        n_by_file = naming.n_by_rows + naming.n_unknown
        sure = render.number(naming.mean_probability, 2)
        listing.add(part, n_by_file, naming.n_classified, sure)
    return listing
