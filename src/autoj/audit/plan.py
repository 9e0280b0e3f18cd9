"""The audit's plan: the cases to judge, the probes made of them, and the runs they are in.

```
pairs      the sampled cases as they are (`plain`), a response against its edited self (one probe
           an edit), a response against itself (`identical`)
injected   a response that people did not prefer, with a text for the judge; one case an order,
           since a text that names a response must name the right one. Judges that rate each
           response alone have no order: their injected cases are in `pairs`
repeated   the probed cases as they are, asked once more
```
The card (`autoj.audit.card`) is computed from the runs' folders alone.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import orjson

from autoj.audit.cases import (
    Made,
    compared_probes,
    injected_probes,
    plain_case,
)
from autoj.audit.edits import NoEdit
from autoj.datasets.base import Cases, ReadRow
from autoj.datasets.sampling import random_key, sample_cases
from autoj.errors import ConfigError, DataError
from autoj.protocols import find_protocol, protocols_of
from autoj.records import Case, JudgeCard
from autoj.runs import RunSpec, make_spec
from autoj.runs.fit import OnOverflow
from autoj.runs.scenario_settings import OnUnknownScenario

N_SAMPLE = 200
"""Cases that are judged as they are."""
N_PROBED = 40
"""Of these, cases that each probe is made of: the whole audit of a pairwise judge then asks about
1,300 times, which takes `embedded-small` ten to twenty minutes on two cores, `embedded` hours."""


_PartName: TypeAlias = Literal["pairs", "injected", "repeated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One run of the audit."""

    name: _PartName
    """Its folder's name within the audit's."""
    spec: RunSpec
    cases: Cases


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """The cases that an audit drew from a set."""

    seed: int
    n_set: int
    """Cases of the whole set."""
    sampled: tuple[str, ...]
    """The ids of the cases that are judged as they are, in the set's order."""
    probed: tuple[str, ...]
    """The ids of those that probes are made of."""
    left_out: Mapping[str, Mapping[str, int]]
    """By probe, the reasons why it could not be made of a case, each with the number of cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPlan(_Drawn):
    """The stored part of a plan, beside the runs; the cases themselves are in the runs."""

    parts: tuple[_PartName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan(_Drawn):
    """The runs of an audit, not yet judged."""

    parts: tuple[Part, ...]

    def record(self) -> StoredPlan:
        """The part of the plan to store."""
        return StoredPlan(
            seed=self.seed,
            n_set=self.n_set,
            sampled=self.sampled,
            probed=self.probed,
            left_out=self.left_out,
            parts=tuple(part.name for part in self.parts),
        )


def audit_spec(
    card: JudgeCard,
    *,
    protocol: str | None = None,
    max_tokens: int | None = None,
    on_overflow: OnOverflow = "error",
    unknown_scenario: OnUnknownScenario | None = None,
    scenarios: Path | None = None,
) -> RunSpec:
    """The settings of the audit's main run: pairs in both orders, or each response rated alone.

    Args:
        card: the judge.
        protocol: None takes the card's first for pairs, else its first for one response.
        max_tokens: the most tokens of a completion; None takes the card's.
        on_overflow: the treatment of a case that is too long for the judge's context.
        unknown_scenario: the treatment of rows whose scenario is unknown.
        scenarios: a folder of scenarios of the user's own.

    Raises:
        UnknownComponent: there is no such protocol.
        ConfigError: the judge has no protocol that judges responses.
    """
    offered = (find_protocol(card, protocol),) if protocol else protocols_of(card)
    subjects = {its.subject for its in offered}
    if not subjects & {"pair", "response"}:
        raise ConfigError(
            f"{protocol or card.name!r} does not judge responses, so it cannot be audited",
            hint="Choose a protocol for pairs or for single responses with --protocol.",
        )
    return make_spec(
        "judge" if "pair" in subjects else "rate",
        card,
        protocol=protocol,
        # A critique that is written after a verdict cannot change it.
        critique=False,
        max_tokens=max_tokens,
        on_overflow=on_overflow,
        unknown_scenario=unknown_scenario,
        scenarios=scenarios,
    )


def plan_audit(
    data: Cases,
    spec: RunSpec,
    *,
    n_sample: int = N_SAMPLE,
    n_probed: int = N_PROBED,
    seed: int = 0,
) -> AuditPlan:
    """The runs of an audit.

    Args:
        data: pairs, with people's labels where there are any.
        spec: from `audit_spec`.
        n_sample: how many cases are drawn and judged as they are; all where there are fewer.
        n_probed: how many of them each probe is made of, at most.
        seed: of the random draws.

    Raises:
        DataError: a row cannot be read or is not a pair, or there is none.
    """
    cases = list(_pairs(data))
    sampled = sample_cases(cases, n_sample, seed)
    chosen = {case.id for case in sorted(sampled, key=random_key(seed, "probe"))[:n_probed]}
    probed = [case for case in sampled if case.id in chosen]
    left_out: dict[str, Counter[str]] = {}

    def kept(made: Iterable[Made]) -> list[Case]:
        cases = []
        for probe, case in made:
            if isinstance(case, NoEdit):
                left_out.setdefault(probe, Counter())[case.reason] += 1
            else:
                cases.append(case)
        return cases

    plain = [plain_case(case) for case in sampled]
    again = [case for case in plain if case.id in chosen]
    compared = kept(
        made for case in probed for made in compared_probes(case, seed, paired=spec.has_orders)
    )
    language = spec.plain_protocol.language
    injected = kept(
        made
        for case in probed
        for made in injected_probes(case, seed, language=language, paired=spec.has_orders)
    )
    drawn = f"audit, seed {seed}: {len(sampled):,} cases of {len(cases):,}, {len(probed)} probed"

    def part(name: _PartName, spec: RunSpec, cases: list[Case]) -> Part:
        return Part(name=name, spec=spec, cases=_as_data(data, cases, f"{drawn}; {name}"))

    if spec.has_orders:
        parts = [
            part("pairs", spec, plain + compared),
            part("injected", replace(spec, orders="one"), injected),
        ]
    else:
        parts = [part("pairs", spec, plain + compared + injected)]
    parts.append(part("repeated", replace(spec, sample=1), again))
    return AuditPlan(
        # A part can be empty where no probe could be made.
        parts=tuple(part for part in parts if any(True for _ in part.cases.read())),
        seed=seed,
        n_set=len(cases),
        sampled=tuple(case.id for case in sampled),
        probed=tuple(case.id for case in probed),
        left_out={probe: dict(reasons) for probe, reasons in left_out.items()},
    )


def _pairs(data: Cases) -> Iterator[Case]:
    path = data.paths[0]
    n_cases = 0
    for line, case in data.readable():
        if len(case.responses) != 2:
            raise DataError(
                f"case {case.id!r} has {len(case.responses)} responses; an audit needs pairs",
                path=path,
                line=line,
                field="responses",
            )
        n_cases += 1
        yield case
    if n_cases == 0:
        raise DataError("is empty: it has no rows", path=path)


def _as_data(data: Cases, cases: Sequence[Case], derivation: str) -> Cases:
    """Derived cases as a data set; its identity follows from their content."""
    digest = hashlib.sha256()
    for case in cases:
        digest.update(orjson.dumps(case, option=orjson.OPT_SORT_KEYS))
    rows = [ReadRow(line, case) for line, case in enumerate(cases, start=1)]
    return Cases(
        format=f"{data.format}, probed",
        paths=data.paths,
        read=lambda: iter(rows),
        derivation=f"{derivation}, sha256 {digest.hexdigest()[:16]}",
    )
