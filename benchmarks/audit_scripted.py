"""The audit of scripted judges of known bias: true value, estimate, interval, inside or not.

Each judge is audited by the route of `autoj audit` on generated pairs. With several seeds, the last
table says how often the intervals hold the true value; nominal is 95 %, and figures that a judge
draws nothing for are left out of it. An expected calibration error has no interval: a calibrated
judge's own stands as the true value beside the range that its card gives for such judges.

    python benchmarks/audit_scripted.py
    python benchmarks/audit_scripted.py --seeds 10 --cases 200 --probed 40 --brief
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path

from benchmarks.known_audit import Check, audit_known, checks
from benchmarks.known_judges import KNOWN_JUDGES


def audit(name: str, seed: int, n: int, n_probed: int) -> list[Check]:
    """The checks of one judge with one seed."""
    (judge,) = (known for known in KNOWN_JUDGES if known.name == name)
    with tempfile.TemporaryDirectory() as folder:
        return checks(judge, audit_known(Path(folder), judge, n=n, n_probed=n_probed, seed=seed))


def row(judge: str, check: Check) -> str:
    """A line of the table."""
    found = check.found
    value = "none" if found.value is None else f"{found.value:.3f}"
    interval = (
        "none (nothing varies)"
        if found.low is None or found.high is None
        else f"[{found.low:.3f}, {found.high:.3f}]"
    )
    inside = "yes" if check.inside else "**no**"
    return f"| {judge} | {check.name} | {check.true:.3f} | {value} | {interval} | {inside} |"


def main() -> None:
    """Audit all judges and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds, from 0")
    parser.add_argument("--cases", type=int, default=400, help="pairs of each audit")
    parser.add_argument("--probed", type=int, default=80, help="pairs that probes are made of")
    parser.add_argument("--brief", action="store_true", help="print the coverage alone")
    options = parser.parse_args()
    held: dict[str, list[bool]] = defaultdict(list)
    for seed in range(options.seeds):
        if seed == 0 and not options.brief:
            print("| judge | figure | true | estimate | 95 % interval | inside |")
            print("|---|---|---|---|---|---|")
        for judge in KNOWN_JUDGES:
            for check in audit(judge.name, seed, options.cases, options.probed):
                if not check.certain:
                    held[judge.name].append(check.inside)
                if seed == 0 and not options.brief:
                    print(row(judge.name, check))
    print("\n| judge | figures that vary | inside |\n|---|---|---|")
    for name, inside in held.items():
        print(f"| {name} | {len(inside)} | {sum(inside) / len(inside):.1%} |")
    every = [one for inside in held.values() for one in inside]
    print(f"| all | {len(every)} | {sum(every) / len(every):.1%} |")


if __name__ == "__main__":
    main()
