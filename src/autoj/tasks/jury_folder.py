"""The folder of a jury: a run of each judge, and the combined verdicts.

```
jury.json        the judges, and the rule that decides
judges/NAME/     the run of one judge, a run like any other: it can be shown and resumed
verdicts.jsonl   one line per case: the jury's verdict, with each judge's own under `judges`
```
The judges share only the cases. All but their runs can be rebuilt from these, so a judge may be
added later, and the rule may be changed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError
from autoj.jsonl import damaged, decode, decode_as, encode, read_records, write_records
from autoj.records import Case, CaseOutline
from autoj.runs import files
from autoj.runs.folder import RunFolder
from autoj.runs.kind import JURY_FILE
from autoj.runs.opening import check_run
from autoj.runs.place import check_place, locked
from autoj.system_errors import storage_error
from autoj.tasks.escalation import verdicts_of_both
from autoj.tasks.jurors import Escalation, Jury
from autoj.verdicts.jury import (
    EscalatedVerdict,
    JuryVerdict,
    as_vote,
    escalated_verdict,
    jury_rating,
    jury_verdict,
)

_AnyCase = TypeVar("_AnyCase", Case, CaseOutline)


@contextmanager
def open_jury(path: Path, jury: Jury) -> Iterator[None]:
    """Creates the folder, or rewrites its list of judges; it is locked until the block ends.

    Raises:
        ConfigError: the folder is the run of one judge, or holds other things.
        RunBusy: another process is writing to it.
    """
    try:
        check_jury_place(path)
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, path) from error
    with locked(path):
        # Verdicts of other judges must not be read as those of the new ones.
        (path / files.VERDICTS).unlink(missing_ok=True)
        write_records(path / JURY_FILE, [jury])
        yield


def check_jury_kind(path: Path, jury: Jury) -> None:
    """Refuses a folder whose judges are asked about other cases than a jury's are.

    Raises:
        ConfigError: one is an escalation, and the other is not.
    """
    if not (path / JURY_FILE).is_file():
        return
    try:
        escalates = read_jury(path).escalation is not None
    except DataError:
        # A damaged list of judges is written anew; their runs refuse other settings themselves.
        return
    if escalates != (jury.escalation is not None):
        raise ConfigError(
            f"{path} holds {'an escalation' if escalates else 'a jury'}, whose judges are "
            "asked about other cases",
            hint="Choose another --out.",
        )


def check_jury_place(path: Path) -> None:
    """Refuses a folder that cannot become a jury's.

    Raises:
        ConfigError: it is the run of one judge, or holds other things.
    """
    if (path / "run.json").is_file():
        raise ConfigError(
            f"{path} is the run of one judge and cannot become a jury's folder",
            hint="Choose another --out for several judges.",
        )
    check_place(path)


def read_jury(path: Path) -> Jury:
    """Reads a jury from its folder.

    Raises:
        DataError: the folder is not a jury's.
    """
    try:
        record = _record(path)
        if isinstance(record, dict) and "seats" in record:
            # The field's name in version 0.1.
            record["jurors"] = record.pop("seats")
        return decode_as(Jury, encode(record))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"is not a jury's folder: {error}",
            path=path,
            hint=f"Move {JURY_FILE} away and repeat the command that started the jury: it writes "
            "the file again, and the judges' answers stay.",
        ) from None


def check_jury(path: Path, jury: Jury, cases: Cases) -> None:
    """Checks that a jury's folder has the same judges and can go on, or grow by further cases.

    Args:
        path: the folder.
        jury: the judges asked for.
        cases: the cases that each of them judges.

    Raises:
        SpecMismatch: a judge's run was made with other settings or other cases.
        DataError: the folder is not a jury's, or has no run of these judges.
    """
    found = {juror.folder for juror in read_jury(path).jurors}
    runs = [juror for juror in jury.jurors if (path / juror.folder / "run.json").is_file()]
    if not runs or found != {juror.folder for juror in jury.jurors}:
        raise DataError("holds other judges", path=path)
    # The second judge of an escalation has cases of its own, which follow from the first one's.
    for juror in runs[: 1 if jury.escalation is not None else None]:
        check_run(path / juror.folder, juror.spec, cases)


def _record(path: Path) -> Any:
    return decode((path / JURY_FILE).read_bytes())


def write_jury_verdicts(path: Path, jury: Jury) -> None:
    """Combines the complete verdicts of all judges into the jury's.

    Args:
        path: the jury's folder.
        jury: what `open_jury` wrote there.

    Raises:
        DataError: the judges' runs hold different cases.
    """
    write_records(path / files.VERDICTS, _verdicts(path, jury))
    # The file is one line, replaced whole: a jury without the digest is one without verdicts.
    digest = files.FileDigest.of(path / files.VERDICTS)
    record = asdict(jury)
    # A jury without these is stated as before there were any.
    if jury.escalation is None:
        del record["escalation"]
    for juror in record["jurors"]:
        for later in ("critic", "second_order"):
            if juror["spec"][later] is None:
                del juror["spec"][later]
    write_records(path / JURY_FILE, [files.with_digests(record, {files.VERDICTS: digest})])


def _verdicts(path: Path, jury: Jury) -> Iterator[JuryVerdict]:
    runs = [RunFolder(path / juror.folder) for juror in jury.jurors]
    name = ", ".join(juror.name for juror in jury.jurors)
    if jury.escalation is not None:
        yield from _escalated(path, jury, jury.escalation)
        return
    if len({run.n_cases() for run in runs}) > 1:
        raise DataError("the runs of its judges hold different numbers of cases", path=path)
    for said in zip_longest(*(run.verdicts() for run in runs)):
        if None in said:
            raise DataError("the runs of its judges hold different numbers of verdicts", path=path)
        named = [
            replace(verdict, judge=juror.name)
            for juror, verdict in zip(jury.jurors, said, strict=True)
        ]
        if len({verdict.case_id for verdict in named}) > 1:
            ids = ", ".join(repr(verdict.case_id) for verdict in named)
            raise DataError(f"the runs of its judges hold different cases: {ids}", path=path)
        assert jury.method != "escalate"
        if jury.method is None:
            yield jury_rating(named, name)
        else:
            yield jury_verdict([as_vote(verdict) for verdict in named], jury.method, name)


def _escalated(path: Path, jury: Jury, rule: Escalation) -> Iterator[JuryVerdict]:
    """The verdicts of two judges of which the second is asked where the first is unsure."""
    first, second = (juror.name for juror in jury.jurors)
    for mine, its in verdicts_of_both(path, jury):
        stronger = None if its is None else replace(as_vote(its), judge=second)
        yield escalated_verdict(replace(mine, judge=first), stronger, (first, second), rule.below)


def has_decided(path: Path) -> bool:
    """True where the jury's verdicts were written since its judges were named."""
    return files.VERDICTS in files.digests_in(_record(path))


def read_jury_verdicts(
    path: Path, jury: Jury, kind: type[_AnyCase]
) -> Iterator[tuple[_AnyCase, JuryVerdict]]:
    """The cases of a jury with the verdicts last written, in order.

    Args:
        path: the jury's folder.
        jury: its judges and rule.
        kind: `Case`, or `CaseOutline` for cases without their texts.

    Raises:
        DataError: some of its judges have not finished yet.
    """
    file = path / files.VERDICTS
    if not file.is_file():
        raise DataError(
            "has no verdicts yet: some of its judges have not finished",
            path=path,
            hint="Repeat the command that started it; autoj show PATH/judges/NAME shows one judge.",
        )
    digest = files.digests_in(_record(path)).get(files.VERDICTS)
    state = files.state_of(file, digest)
    if digest is not None and state != "whole":
        raise damaged(file, None, files.describe(state, file, digest))
    cases = RunFolder(path / jury.jurors[0].folder).rows(files.CASES, kind)
    kind_of_verdict = JuryVerdict if jury.escalation is None else EscalatedVerdict
    for case, verdict in zip_longest(cases, read_records(file, kind_of_verdict)):
        if case is None or verdict is None or case.id != verdict.case_id:
            raise damaged(file, None, "its verdicts do not follow the cases of its judges")
        yield case, verdict
