"""Random samples of cases, stratified by scenario, the same on every machine."""

import hashlib
from collections.abc import Callable, Sequence

from autoj.records import Case


def random_key(seed: int, what: str) -> Callable[[Case], bytes]:
    """A sort key that shuffles cases, independent of their position in the file."""
    return lambda case: hashlib.sha256(f"{seed} {what} {case.id}".encode()).digest()


def sample_cases(cases: Sequence[Case], n: int, seed: int) -> list[Case]:
    """A random sample, from each scenario in proportion, in the order of the data set.

    Args:
        cases: the data set.
        n: the size of the sample; all cases where there are fewer.
        seed: determines the sample.
    """
    if n >= len(cases):
        return list(cases)
    strata: dict[str | None, list[Case]] = {}
    for case in cases:
        strata.setdefault(case.scenario, []).append(case)
    shares = {name: len(members) * n / len(cases) for name, members in strata.items()}
    sizes = {name: int(share) for name, share in shares.items()}

    def claim(name: str | None) -> tuple[float, bytes]:
        drawn = hashlib.sha256(f"{seed} stratum {name}".encode()).digest()
        return sizes[name] - shares[name], drawn

    # Remaining cases go to the largest remainders, equal ones at random.
    for name in sorted(strata, key=claim)[: n - sum(sizes.values())]:
        sizes[name] += 1
    drawn = {
        case.id
        for name, members in strata.items()
        for case in sorted(members, key=random_key(seed, "sample"))[: sizes[name]]
    }
    return [case for case in cases if case.id in drawn]
