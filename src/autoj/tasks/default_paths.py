"""Default paths of runs without a given folder, which the same call finds again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autoj.datasets.base import Cases
from autoj.runs import RunSpec, spec_digest

RUNS = Path("runs")


def run_folder(spec: RunSpec, cases: Cases) -> Path:
    """The folder of one judge's run: named after the data, the judge and the settings."""
    digest = spec_digest(replace(spec, shard=None), cases)
    name = f"{data_name(cases)}-{slug(spec.judge.name)}-{digest}"
    if spec.shard is not None:
        # Shards of one run have a common beginning, so that one pattern matches them all.
        name += f"-shard-{spec.shard.replace('/', '-of-')}"
    return RUNS / name


def selection_folder(spec: RunSpec, cases: Cases) -> Path:
    """The folder of a run that selects."""
    digest = spec_digest(spec, cases)
    return RUNS / f"{data_name(cases)}-select-{slug(spec.judge.name)}-{digest}"


def jury_folder(specs: Sequence[RunSpec], cases: Cases) -> Path:
    """The folder of a jury: the same for the same judges in any order."""
    digests = " ".join(sorted(spec_digest(spec, cases) for spec in specs))
    digest = hashlib.sha256(digests.encode()).hexdigest()[:8]
    return RUNS / f"{data_name(cases)}-jury-{digest}"


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


def data_name(cases: Cases) -> str:
    """The name of a data set's runs: its own, else its first file's."""
    return cases.name or cases.place.name.partition(".")[0]


def slug(name: str) -> str:
    """A name as a part of a path."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")
