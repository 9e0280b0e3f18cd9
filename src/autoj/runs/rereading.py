"""A run whose answers are read in another way than before: by another calibration or prompt."""

import logging
from dataclasses import asdict
from typing import Any

from autoj.runs.files import FOLLOW, VERDICTS, with_digests
from autoj.runs.folder import RunFolder
from autoj.runs.settings import write_settings
from autoj.runs.spec import RunSpec

_log = logging.getLogger(__name__)


def take_reading_settings(folder: RunFolder, spec: RunSpec) -> None:
    """Puts all that says how answers are read, and which count, from the spec into `run.json`.

    Args:
        folder: an open run folder.
        spec: the settings; all others are the run's.
    """
    take_calibration(folder, spec)
    take_reading(folder, spec)
    take_sure_threshold(folder, spec)
    take_second_order(folder, spec)


def take_calibration(folder: RunFolder, spec: RunSpec) -> None:
    """Puts the spec's calibration into `run.json`, where it differs."""
    record = folder.settings()
    wanted = asdict(spec.judge)["calibration"]
    # Parsed, not compared as text: a run from before a field was added has the same calibration.
    known = folder.spec().judge.calibration.get(spec.protocol)
    if known == spec.judge.calibration.get(spec.protocol):
        return
    _log.warning(
        "%s was resolved with another calibration of judge %s; its verdicts are resolved again",
        folder.path,
        spec.judge.name,
    )
    record = _without_critiques(folder, spec, record)
    record["spec"]["judge"]["calibration"] = wanted
    write_settings(folder.path, record)


def take_sure_threshold(folder: RunFolder, spec: RunSpec) -> None:
    """Puts the spec's threshold of unsure verdicts into `run.json`; no winner depends on it."""
    wanted = asdict(spec.judge)["unsure"]
    if folder.spec().judge.unsure == spec.judge.unsure:
        return
    record = folder.settings()
    record["spec"]["judge"]["unsure"] = wanted
    write_settings(folder.path, record)


def take_second_order(folder: RunFolder, spec: RunSpec) -> None:
    """Puts the choice of pairs whose second order is asked into `run.json`, where it differs."""
    known = folder.spec().second_order
    if known == spec.second_order:
        return
    # Of another kind than `run.json` is about to say, and a killed session would leave them.
    folder.forget_digests(VERDICTS)
    (folder.path / VERDICTS).unlink(missing_ok=True)
    record = _without_critiques(folder, spec, folder.settings())
    if spec.second_order is None:
        del record["spec"]["second_order"]
    else:
        if known is None:
            _log.warning(
                "%s was begun in both orders of all pairs; second orders whose first one is sure "
                "no longer count",
                folder.path,
            )
        record["spec"]["second_order"] = asdict(spec.second_order)
    write_settings(folder.path, record)


def take_reading(folder: RunFolder, spec: RunSpec) -> None:
    """Puts the spec's prompt into `run.json`, where it reads the same answers in another way."""
    record = folder.settings()
    if record["spec"].get("prompt") == spec.prompt:
        return
    _log.warning(
        "%s was read by another text of prompt %s; its answers are read again",
        folder.path,
        spec.protocol,
    )
    record = _without_critiques(folder, spec, record)
    record["spec"]["prompt"] = spec.prompt
    write_settings(folder.path, record)


def _without_critiques(folder: RunFolder, spec: RunSpec, record: dict[str, Any]) -> dict[str, Any]:
    """Has critiques planned anew, because winners may change; returns `run.json` without them."""
    if not spec.critique:
        return record
    # A critique is written for a winner. Without these two files the run is not finished, and
    # the critiques are planned anew; those that still fit are in the ledger.
    folder.forget_digests(VERDICTS, FOLLOW)
    (folder.path / VERDICTS).unlink(missing_ok=True)
    (folder.path / FOLLOW).unlink(missing_ok=True)
    return with_digests(record, dict.fromkeys((VERDICTS, FOLLOW)))
