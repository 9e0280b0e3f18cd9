"""Default paths of runs without a given folder, which the same call finds again.

A run whose data has got further rows, or whose limit is higher now, is found by its settings and
its cases: it keeps the folder that it was started in.
"""

import glob
import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from autoj.datasets.base import Cases
from autoj.errors import UserError
from autoj.runs import RunSpec, spec_digest
from autoj.runs.opening import check_run
from autoj.tasks.jurors import Jury, pairs_alone
from autoj.tasks.jury_folder import check_jury

RUNS = Path("runs")
_DIGEST = "[0-9a-f]" * 8
"""Eight hex digits, as a pattern of names."""


def run_folder(spec: RunSpec, cases: Cases) -> Path:
    """The folder of one judge's run: named after the data, the judge and the settings."""
    digest = spec_digest(replace(spec, shard=None), cases)
    # Shards of one run have a common beginning, so that one pattern matches them all.
    ending = "" if spec.shard is None else f"-shard-{spec.shard.replace('/', '-of-')}"
    begun = f"{data_name(cases)}-{slug(spec.judge.name)}-"
    return _find(begun, digest, ending, lambda path: check_run(path, spec, cases))


def selection_folder(spec: RunSpec, cases: Cases) -> Path:
    """The folder of a run that selects."""
    digest = spec_digest(spec, cases)
    begun = f"{data_name(cases)}-select-{slug(spec.judge.name)}-"
    return _find(begun, digest, "", lambda path: check_run(path, spec, cases))


def jury_folder(jury: Jury, cases: Cases) -> Path:
    """The folder of a jury: the same for the same judges in any order.

    Args:
        jury: the judges.
        cases: the data, as the user gave it.
    """
    specs = [juror.spec for juror in jury.jurors]
    found = [spec_digest(spec, cases) for spec in specs]
    digests = " ".join(sorted(found) if jury.escalation is None else found)
    digest = hashlib.sha256(digests.encode()).hexdigest()[:8]
    taken = pairs_alone(cases) if jury.paired else cases
    begun = f"{data_name(cases)}-{'jury' if jury.escalation is None else 'escalate'}-"
    return _find(begun, digest, "", lambda path: check_jury(path, jury, taken))


def audit_folder(spec: RunSpec, probed: Cases, data: Cases) -> Path:
    """The folder of an audit.

    Args:
        spec: of its first run.
        probed: the cases of that run, which follow from the seed.
        data: the set that they are drawn from.
    """
    digest = spec_digest(spec, probed)
    return RUNS / f"audit-{data_name(data)}-{slug(spec.judge.name)}-{digest}"


def scenarios_file(classifier: str, cases: Cases) -> Path:
    """The file of rows that a classifier of this name writes."""
    return RUNS / f"{data_name(cases)}-scenarios-{slug(classifier)}.jsonl"


def _find(begun: str, digest: str, ending: str, check: Callable[[Path], None]) -> Path:
    """The folder of a name where there is one, else one of another digest that can go on.

    Args:
        begun: the beginning of the name.
        digest: eight hex digits of the settings and the data.
        ending: the end of the name.
        check: raises an error for a folder that cannot go on.
    """
    exact = RUNS / f"{begun}{digest}{ending}"
    if exact.is_dir():
        return exact
    for path in sorted(RUNS.glob(f"{glob.escape(begun)}{_DIGEST}{ending}")):
        # Folders of other settings, of other data or of another kind are left alone.
        with suppress(UserError):
            check(path)
            return path
    return exact


def data_name(cases: Cases) -> str:
    """The name of a data set's runs: its own, else its first file's."""
    return cases.name or cases.place.name.partition(".")[0]


def slug(name: str) -> str:
    """A name as a part of a path."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")
