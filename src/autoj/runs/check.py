"""Checks the files of a run against their digests, their checksums, and each other."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Literal, TypeAlias

from autoj.errors import AutojError
from autoj.jsonl import decode, decode_as, sum_agrees, whole_lines
from autoj.records import Failure, JudgeCard, Verdict
from autoj.runs import files
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import LedgerReader, checked_key
from autoj.runs.opening import damage_to_cases
from autoj.runs.plan import rows_of
from autoj.runs.plan_file import PlanRows
from autoj.runs.resolving import resolve_run
from autoj.runs.spec import RunSpec

Found: TypeAlias = Literal["whole", "no digest", "damaged", "missing"]
""""no digest": nothing is wrong with it as far as its lines and the other files tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCheck:
    """A file of a run, and its state."""

    name: str
    """Relative to the folder that is checked."""
    state: Found
    n_lines: int | None = None
    """None where there is no such file, or it is not one of lines."""
    reason: str | None = None
    """The damage, or a remark."""
    mended: str | None = None
    """The repair of it, or the way to it; None where nothing is to be done."""

    @property
    def is_whole(self) -> bool:
        """True where nothing is known to be wrong with it."""
        return self.state in ("whole", "no digest")


def check_run(path: Path) -> list[FileCheck]:
    """Checks each file of a run's folder.

    Args:
        path: the folder, which has a `run.json`.
    """
    folder = RunFolder(path)
    try:
        spec = folder.spec()
    except AutojError as error:
        spec = None
        settings = FileCheck(name="run.json", state="damaged", reason=_reason(error))
    else:
        known: Found = "whole" if "sha256" in folder.settings() else "no digest"
        settings = FileCheck(name="run.json", state=known)
    found = [settings, _check(folder, files.CASES, lambda: _check_cases(folder))]
    if is_made_of_runs(path):
        return found
    found += [
        _check_appended(path, files.LEDGER, lambda: damaged_answers(path)),
        _check_appended(path, files.FAILURES, lambda: damaged_failures(path)),
    ]
    is_readable = spec is not None and all(check.is_whole for check in found)
    if spec is not None and is_readable:
        found += _check_derived(folder, spec)
    for name in (files.BAD_ROWS, files.TIMINGS):
        if (path / name).is_file():
            found.append(_check(folder, name, partial(_all_json, path / name)))
    return found


def _check_cases(folder: RunFolder) -> None:
    """Reads the cases; without a digest, each case of the plan must be among them."""
    _read_all(folder.cases())
    if (damage := damage_to_cases(folder)) is not None:
        raise folder.damage(files.CASES, damage)


def is_made_of_runs(path: Path) -> bool:
    """True for the folder of a knockout, whose answers are in the run `pairs`."""
    return (path / "pairs").is_dir() and not (path / files.LEDGER).exists()


def _check_derived(folder: RunFolder, spec: RunSpec) -> Iterator[FileCheck]:
    plan = _check(folder, files.PLAN, lambda: check_plan(folder, spec))
    yield plan
    follow = _check(folder, files.FOLLOW, lambda: _read_all(folder.follow()))
    if spec.critique or (folder.path / files.FOLLOW).exists():
        yield follow
    if plan.is_whole and follow.is_whole:
        verdicts = _check(folder, files.VERDICTS, lambda: _check_verdicts(folder, spec))
    else:
        verdicts = _check(folder, files.VERDICTS, lambda: _read_all(folder.verdicts()))
    n_verdicts, n_cases = verdicts.n_lines or 0, folder.n_cases()
    if verdicts.is_whole and n_verdicts < n_cases:
        said = f"{n_verdicts:,} of {n_cases:,} cases are judged: the run is not finished"
        verdicts = replace(verdicts, reason=said)
    yield verdicts


def _check(folder: RunFolder, name: str, read: Callable[[], object]) -> FileCheck:
    """Compares a file with its digest, and reads it."""
    path, digest = folder.path / name, files.digests_of(folder.path).get(name)
    content = files.FileDigest.of(path)
    n_lines = None if content is None else content.n_lines
    state = files.state_of(path, digest)
    if digest is not None and state != "whole":
        known: Found = "missing" if state == "missing" else "damaged"
        return FileCheck(
            name=name, state=known, n_lines=n_lines, reason=files.describe(state, path, digest)
        )
    if content is None:
        if name == files.CASES:
            return FileCheck(name=name, state="missing", reason="each run has its cases")
        return FileCheck(name=name, state="no digest", reason="there is none")
    try:
        read()
    except AutojError as error:
        return FileCheck(name=name, state="damaged", n_lines=n_lines, reason=_reason(error))
    return FileCheck(name=name, state="no digest" if digest is None else "whole", n_lines=n_lines)


def _check_appended(path: Path, name: str, find: Callable[[], dict[int, str]]) -> FileCheck:
    """Checks a file that only grows: the lines of its digest are there, and each is whole."""
    content, digest = files.FileDigest.of(path / name), files.digests_of(path).get(name)
    if content is None:
        if digest is None:
            return FileCheck(name=name, state="no digest", reason="there is none")
        return FileCheck(
            name=name, state="missing", reason=files.describe("missing", path / name, digest)
        )
    wrong = find()
    if wrong:
        line, first = next(iter(wrong.items()))
        more = f", and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
        reason = f"line {line}: {first}{more}"
    elif digest is not None and content.n_lines < digest.n_lines:
        reason = files.describe("shorter", path / name, digest)
    elif digest is not None and files.state_of(path / name, digest) == "differs":
        reason = files.describe("differs", path / name, digest)
    else:
        known: Found = "no digest" if digest is None else "whole"
        return FileCheck(name=name, state=known, n_lines=content.n_lines)
    return FileCheck(name=name, state="damaged", n_lines=content.n_lines, reason=reason)


def damaged_answers(path: Path) -> dict[int, str]:
    """The damage of a ledger's lines, by line: not as written, or a key that is there before."""
    wrong, seen = {}, dict[str, int]()
    for number, line in enumerate(whole_lines(path / files.LEDGER), start=1):
        try:
            key = checked_key(path / files.LEDGER, number, line)
        except AutojError as error:
            wrong[number] = _reason(error)
            continue
        if (first := seen.setdefault(key, number)) != number:
            wrong[number] = f"line {first} has an answer to the same key"
    return wrong


def damaged_failures(path: Path) -> dict[int, str]:
    """The damage of the lines of a run's failures, by line."""
    wrong = {}
    for number, line in enumerate(whole_lines(path / files.FAILURES), start=1):
        try:
            decode_as(Failure, line)
        except ValueError as error:
            wrong[number] = str(error)
        else:
            if sum_agrees(line) is False:
                wrong[number] = "the line differs from its checksum"
    return wrong


def engine_card(folder: RunFolder, spec: RunSpec) -> JudgeCard:
    """The judge with the chat template that the run's keys were made with."""
    template = folder.settings().get("template_sha256")
    if template is None:
        return spec.judge
    return replace(spec.judge, options={**spec.judge.options, "template_sha256": template})


def check_plan(folder: RunFolder, spec: RunSpec) -> None:
    """Compares a plan with the questions and keys that follow from the cases.

    Raises:
        DataError: a row differs.
    """
    plan, card = PlanRows(folder, files.PLAN), engine_card(folder, spec)
    for case in folder.cases():
        rows = plan.about(case, spec)
        wanted = rows_of(case, spec, card) if rows else None
        if wanted is not None and rows != wanted[: len(rows)]:
            raise plan.damage(f"the keys of case {case.id!r} are not those of its questions")
    plan.check_end()


def _check_verdicts(folder: RunFolder, spec: RunSpec) -> None:
    """Compares the verdicts with those that follow from the ledger; picks are not compared."""
    rows = folder.verdicts()
    with closing(LedgerReader(folder.path)) as answers:
        for resolved, stated in zip_longest(
            (verdict for _, verdict in resolve_run(folder, spec, answers)), rows
        ):
            if resolved is None or (stated is None) or not _same(resolved, stated):
                about = resolved or stated
                raise folder.damage(
                    files.VERDICTS, f"case {about.case_id!r} is not as the ledger says it"
                )


def _same(resolved: Verdict, stated: Verdict) -> bool:
    return replace(stated, selected=resolved.selected) == resolved


def _read_all(rows: Iterable[object]) -> None:
    for _ in rows:
        pass


def _all_json(path: Path) -> None:
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            decode(line)
        except ValueError as error:
            raise RunFolder(path.parent).damage(path.name, f"line {number}: {error}") from None


def _reason(error: AutojError) -> str:
    return str(getattr(error, "reason", error.message)).removeprefix("is damaged: ")
