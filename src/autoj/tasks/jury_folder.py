"""The folder of a jury: a run of each judge, and the combined verdicts.

```
jury.json        the judges, and the rule that decides
judges/NAME/     the run of one judge, a run like any other: it can be shown and resumed
verdicts.jsonl   one line per case: the jury's verdict, with each judge's own under `judges`
```
The judges share only the cases. All but their runs can be rebuilt from these, so a judge may be
added later, and the rule may be changed.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

from autoj.datasets.base import Cases, ReadRow
from autoj.errors import ConfigError, DataError
from autoj.jsonl import (
    damaged,
    decode,
    decode_as,
    encode,
    read_records,
    storage_error,
    write_records,
)
from autoj.protocols import protocols_of
from autoj.records import Case, CaseOutline, JudgeCard
from autoj.runs.files import (
    CASES,
    VERDICTS,
    FileDigest,
    describe,
    digests_in,
    state_of,
    with_digests,
)
from autoj.runs.folder import RunFolder
from autoj.runs.kind import JURY_FILE
from autoj.runs.opening import check_run
from autoj.runs.place import check_place
from autoj.runs.spec import RunSpec, Task, make_spec
from autoj.verdicts.jury import JuryVerdict, Method, as_vote, jury_rating, jury_verdict

_LONGEST_NAME = 80
_AnyCase = TypeVar("_AnyCase", Case, CaseOutline)


@dataclass(frozen=True, slots=True, kw_only=True)
class Juror:
    """A juror: a judge of a jury, with the settings of its run."""

    name: str
    """Unique within the jury."""
    folder: str
    """The folder of its run, relative to the jury's."""
    spec: RunSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Jury:
    """Several judges, and the rule that decides: the content of `jury.json`."""

    jurors: tuple[Juror, ...]
    method: Method | None
    """None where responses are rated."""

    @property
    def paired(self) -> bool:
        """True where pairs are judged."""
        return self.method is not None


def make_jury(
    task: Task, judges: Sequence[tuple[str, JudgeCard]], method: Method | None, **settings: Any
) -> Jury:
    """Makes a jury, with the spec of each judge's run.

    Args:
        task: "judge" or "rate".
        judges: the name given for each judge, and its card.
        method: the rule for pairs; None takes the mean where each judge gives probabilities.
        settings: arguments of `make_spec`.

    Raises:
        ConfigError: a judge is named twice, cannot do the task, or gives no probabilities where
            their mean is asked for.
    """
    jurors = make_jurors(task, judges, **settings)
    decides = choose_method(jurors, method) if task == "judge" else None
    return Jury(jurors=tuple(jurors), method=decides)


def make_jurors(
    task: Task, judges: Sequence[tuple[str, JudgeCard]], **settings: Any
) -> list[Juror]:
    """Makes the jurors of a jury, each with the spec of its run.

    A judge that only rates, such as a reward model, rates both responses of a pair and votes for
    the higher rating; `orders`, `on_conflict` and a reward model's `protocol` do not apply to it.

    Args:
        task: "judge" or "rate".
        judges: the name given for each judge, and its card.
        settings: arguments of `make_spec`.

    Raises:
        ConfigError: a judge is named twice, or cannot do the task.
    """
    for index, (given, card) in enumerate(judges):
        for other, its in judges[:index]:
            if given == other or _bare(card) == _bare(its):
                same = repr(given) if given == other else f"{other!r} and {given!r}"
                raise ConfigError(
                    f"--judge names one judge twice: {same}",
                    hint="Each judge of a jury has one vote. --samples asks one judge repeatedly.",
                )
    n_named = Counter(card.name for _, card in judges)
    names = [card.name if n_named[card.name] == 1 else given for given, card in judges]
    return [
        Juror(name=name, folder=f"judges/{folder}", spec=_spec(task, card, settings))
        for name, folder, (_, card) in zip(names, _folder_names(names), judges, strict=True)
    ]


def _bare(card: JudgeCard) -> JudgeCard:
    """A card without its name and notes, to compare judges by everything else."""
    paths = (card.model, card.adapter, *card.options.values())
    # Such paths name other files in another folder.
    is_relative = any(isinstance(path, str) and path.startswith("./") for path in paths)
    folder = str(Path(card.folder).resolve()) if is_relative and card.folder is not None else None
    return replace(card, name="", title="", notes=None, folder=folder, published=())


def _folder_names(names: Sequence[str]) -> list[str]:
    slugs = [re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:_LONGEST_NAME] for name in names]
    # Two names may map to one folder, also where the file system ignores case.
    n_each = Counter(slug.lower() for slug in slugs)
    return [
        slug
        if slug == name and n_each[slug.lower()] == 1
        else f"{slug}-{hashlib.sha256(name.encode()).hexdigest()[:6]}".lstrip("-")
        for slug, name in zip(slugs, names, strict=True)
    ]


def _spec(task: Task, card: JudgeCard, settings: dict[str, Any]) -> RunSpec:
    is_scalar = card.protocols == ("scalar",) and not card.prompts
    if task == "rate":
        spec = make_spec(task, card, **settings)
        if is_scalar or spec.protocol == "scalar":
            raise ConfigError(
                f"judge {card.name!r} gives scores without a fixed scale, which cannot be "
                "averaged with other judges' ratings",
                hint="Rate with it alone. In autoj judge it votes on pairs by the higher score.",
            )
        return spec
    subjects = {its.subject for its in protocols_of(card)}
    if "pair" in subjects or "response" not in subjects:
        return make_spec(task, card, **settings)
    if settings.get("protocol") is not None and not is_scalar:
        return make_spec(task, card, **settings)
    kept = {
        name: value
        for name, value in settings.items()
        if name not in ("protocol", "orders", "on_conflict")
    }
    return make_spec("rate", card, **kept)


def choose_method(jurors: Sequence[Juror], wanted: Method | None) -> Method:
    """Chooses the rule for pairs: the given one, else the mean if each judge gives probabilities.

    Raises:
        ConfigError: the mean is asked for and a judge gives no probabilities.
    """
    without = [juror for juror in jurors if not _gives_probabilities(juror.spec)]
    if wanted == "mean" and without:
        juror = without[0]
        raise ConfigError(
            f"--jury mean needs probabilities, and judge {juror.name!r} gives none with protocol "
            f"{juror.spec.protocol!r}",
            hint="--jury majority counts votes.",
        )
    return wanted or ("majority" if without else "mean")


def _gives_probabilities(spec: RunSpec) -> bool:
    if not spec.has_orders:
        return spec.calibration is not None
    return spec.plain_protocol.gives_probabilities


def pairs_alone(cases: Cases) -> Cases:
    """A data set in which rows other than pairs are bad rows, for a judge that rates any number.

    Its run then holds the same cases as those of the judges that compare.
    """

    def read() -> Iterator[ReadRow]:
        for line, case in cases.read():
            if isinstance(case, DataError) or len(case.responses) == 2:
                yield ReadRow(line, case)
            else:
                error = DataError(
                    f"case {case.id!r} has {len(case.responses)} responses; expected two",
                    path=cases.place,
                    line=line,
                    field="responses",
                )
                yield ReadRow(line, error)

    return replace(cases, read=read)


def write_jury(path: Path, jury: Jury) -> None:
    """Creates the folder, or rewrites its list of judges.

    Raises:
        ConfigError: the folder is the run of one judge, or holds other things.
    """
    try:
        check_jury_place(path)
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, path) from error
    # Verdicts of other judges must not be read as those of the new ones.
    (path / VERDICTS).unlink(missing_ok=True)
    write_records(path / JURY_FILE, [jury])


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
    for juror in runs:
        check_run(path / juror.folder, juror.spec, cases)


def _record(path: Path) -> Any:
    return decode((path / JURY_FILE).read_bytes())


def write_jury_verdicts(path: Path, jury: Jury) -> None:
    """Combines the complete verdicts of all judges into the jury's.

    Args:
        path: the jury's folder.
        jury: what `write_jury` wrote there.

    Raises:
        DataError: the judges' runs hold different cases.
    """
    write_records(path / VERDICTS, _verdicts(path, jury))
    # The file is one line, replaced whole: a jury without the digest is one without verdicts.
    digest = FileDigest.of(path / VERDICTS)
    write_records(path / JURY_FILE, [with_digests(asdict(jury), {VERDICTS: digest})])


def _verdicts(path: Path, jury: Jury) -> Iterator[JuryVerdict]:
    runs = [RunFolder(path / juror.folder) for juror in jury.jurors]
    name = ", ".join(juror.name for juror in jury.jurors)
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
        if jury.method is None:
            yield jury_rating(named, name)
        else:
            yield jury_verdict([as_vote(verdict) for verdict in named], jury.method, name)


def has_decided(path: Path) -> bool:
    """True where the jury's verdicts were written since its judges were named."""
    return VERDICTS in digests_in(_record(path))


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
    file = path / VERDICTS
    if not file.is_file():
        raise DataError(
            "has no verdicts yet: some of its judges have not finished",
            path=path,
            hint="Repeat the command that started it; autoj show PATH/judges/NAME shows one judge.",
        )
    digest = digests_in(_record(path)).get(VERDICTS)
    state = state_of(file, digest)
    if digest is not None and state != "whole":
        raise damaged(file, None, describe(state, file, digest))
    cases = RunFolder(path / jury.jurors[0].folder).rows(CASES, kind)
    for case, verdict in zip_longest(cases, read_records(file, JuryVerdict)):
        if case is None or verdict is None or case.id != verdict.case_id:
            raise damaged(file, None, "its verdicts do not follow the cases of its judges")
        yield case, verdict
