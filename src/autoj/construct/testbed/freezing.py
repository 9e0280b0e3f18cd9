"""Freezes a testbed: the three test sets as files that `autoj bench` reads, never overwritten.

```
eval_p.jsonl eval_c.jsonl eval_r.jsonl    native rows; a set without rows has no file
answers.jsonl                             every answer that counts; annotators are numbered
manifest.json                             settings, files, models, counts, agreement
README.md                                 the datasheet
SHA256SUMS                                `sha256sum --check SHA256SUMS`
```
The same testbed gives the same bytes, so freezing twice changes nothing. A frozen folder appears
whole or not at all.
"""

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson

from autoj.construct.testbed.datasheet import Datasheet
from autoj.construct.testbed.datasheet_text import write_datasheet
from autoj.construct.testbed.drawing import shortages
from autoj.construct.testbed.folder import DrawnPair, Testbed
from autoj.construct.testbed.labels import Labelling, PairLabel, read_labelling
from autoj.construct.testbed.sets import write_rows, write_sets
from autoj.construct.testbed.settings import BuildSettings
from autoj.errors import ConfigError, DataError
from autoj.jsonl import sha256_of, write_records
from autoj.records import Case, Winner
from autoj.runs.place import locked
from autoj.system_errors import storage_error

MANIFEST, README, SUMS = "manifest.json", "README.md", "SHA256SUMS"
ANSWERS = "answers.jsonl"
Undecided: TypeAlias = Literal["refuse", "tie"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeSettings:
    """The choices of a freeze."""

    title: str = "A testbed for judges"
    licence: str | None = None
    """The licence that the sets are given; None leaves it open, and the datasheet says so."""
    least_annotators: int = 1
    """Answers that a pair needs that came without a label."""
    undecided: Undecided = "refuse"
    """The treatment of pairs whose answers have no majority: "tie" makes ties of them."""
    partial: bool = False
    """True freezes what there is, although labels, pairs or samples are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """A frozen testbed in its folder."""

    path: Path
    manifest: dict[str, Any]
    is_new: bool
    """False where the folder held the same already."""


def freeze(testbed: Testbed, out: Path, settings: FreezeSettings) -> Frozen:
    """Writes the three sets, their checksums and a datasheet.

    Args:
        testbed: a testbed whose pairs are labelled.
        out: a folder that does not exist, is empty, or holds the very same.
        settings: the choices.

    Raises:
        ConfigError: labels, pairs or samples are missing, and `partial` is not set; the message
            counts them.
        DataError: a file of the testbed is damaged, or the folder holds something else.
        RunBusy: a build of the testbed is running.
        StorageFull: the disk is full.
    """
    with locked(testbed.path):
        return _freeze(testbed, out, settings)


def _freeze(testbed: Testbed, out: Path, settings: FreezeSettings) -> Frozen:
    labelling = read_labelling(testbed, settings.least_annotators)
    pairs, built = testbed.pairs(), testbed.settings()
    labels = {
        label.case.id: found
        for label in labelling.labels
        if (found := _final(label, settings.undecided)) is not None
    }
    candidates = testbed.candidates()
    missing = tuple(_missing(pairs, built, labels, testbed.record(), candidates))
    if missing and not settings.partial:
        raise ConfigError(
            f"{testbed.path} is not complete: {'; '.join(missing)}",
            hint=f"`autoj testbed show {testbed.path}` lists what is open. --undecided tie makes "
            "ties of undecided pairs; --partial freezes what there is and says so.",
        )
    if not labels:
        raise ConfigError(f"{testbed.path} has no pair with a label: there is nothing to freeze")
    _check_free(out)
    place = out.resolve()
    draft = place.with_name(f".{place.name}.draft")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        write_sets(draft, pairs, labels, candidates, built)
        _write_answers(draft, labelling)
        sheet = _datasheet(testbed, settings, labelling, labels, missing, draft)
        write_records(draft / MANIFEST, [sheet.as_json()], _indented)
        write_datasheet(draft / README, sheet)
        _write_sums(draft)
        is_new = _put_in_place(draft, out)
    except OSError as error:
        raise storage_error(error, out) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Frozen(path=out, manifest=sheet.as_json(), is_new=is_new)


def open_frozen(path: Path) -> Frozen:
    """Opens a frozen testbed and checks each of its files.

    Raises:
        DataError: it is none, or a file was changed since.
    """
    for name, digest in _sums(path).items():
        if not (path / name).is_file():
            raise DataError("is missing; the testbed was frozen with it", path=path / name)
        if sha256_of(path / name) != digest:
            raise DataError(
                "was changed after the testbed was frozen: its checksum differs",
                path=path / name,
                hint="Restore it from a copy, or freeze the testbed again into another folder.",
            )
    try:
        manifest = orjson.loads((path / MANIFEST).read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read ({error})", path=path / MANIFEST) from None
    return Frozen(path=path, manifest=manifest, is_new=False)


def is_frozen(path: Path) -> bool:
    """True for the folder of a frozen testbed."""
    return (path / SUMS).is_file() and (path / MANIFEST).is_file()


def _sums(path: Path) -> dict[str, str]:
    try:
        lines = (path / SUMS).read_text(encoding="utf-8").splitlines()
        pairs = [line.split("  ", 1) for line in lines]
        return {name: digest for digest, name in pairs if Path(name).name == name}
    except (OSError, ValueError):
        raise DataError(f"is not a frozen testbed: it has no {SUMS}", path=path) from None


def _final(label: PairLabel, undecided: Undecided) -> Winner | None:
    if label.state == "undecided" and undecided == "tie":
        return "tie"
    return label.label


def _missing(
    pairs: Sequence[DrawnPair],
    built: BuildSettings,
    labels: dict[str, Winner],
    record: dict[str, Any],
    candidates: Sequence[Case],
) -> list[str]:
    """The parts that are not complete, in words."""
    found: list[str] = []
    if short := shortages(pairs, built):
        first = ", ".join(f"{name} {n}" for name, n in list(short.items())[:3])
        more = ", …" if len(short) > 3 else ""
        found.append(f"pairs that are lacking: {sum(short.values()):,} ({first}{more})")
    if n_open := sum(pair.case.id not in labels for pair in pairs):
        found.append(f"pairs without a label: {n_open:,} of {len(pairs):,}")
    models = [model["name"] for model in record["base_models"]]
    wanted = len(built.scenarios) * built.n_rating * len(models)
    if len(candidates) < wanted:
        found.append(f"sets of samples in Eval-R: {len(candidates):,} of {wanted:,}")
    return found


def _write_answers(folder: Path, labelling: Labelling) -> None:
    numbers = {one.annotator: at for at, one in enumerate(labelling.annotators, start=1)}
    rows = [
        {"case_id": label.case.id, "annotator": numbers[name], "winner": winner}
        for label in labelling.labels
        for name, winner in label.answers.items()
    ]
    write_rows(folder / ANSWERS, rows)


def _datasheet(
    testbed: Testbed,
    settings: FreezeSettings,
    labelling: Labelling,
    labels: dict[str, Winner],
    missing: tuple[str, ...],
    draft: Path,
) -> Datasheet:
    return Datasheet.of(
        testbed,
        labelling,
        labels,
        title=settings.title,
        licence=settings.licence,
        choices=asdict(settings),
        missing=missing,
        files={
            path.name: {"sha256": sha256_of(path), "n_rows": path.read_bytes().count(b"\n")}
            for path in sorted(draft.glob("*.jsonl"))
        },
        made_by=f"autoj {version('autoj')}",
    )


def _write_sums(folder: Path) -> None:
    lines = [f"{sha256_of(path)}  {path.name}\n" for path in sorted(folder.iterdir())]
    write_records(folder / SUMS, lines, lambda line: str(line).encode())


def _check_free(out: Path) -> None:
    """Checks that a place holds nothing but, perhaps, a frozen testbed.

    Raises:
        DataError: it holds something else.
    """
    if out.exists() and not is_frozen(out) and (not out.is_dir() or any(out.iterdir())):
        raise _taken(out, "something else")


def _put_in_place(draft: Path, out: Path) -> bool:
    """Moves a finished folder to its place; False where the same is there already.

    Raises:
        DataError: the place holds another frozen testbed, or a file of it was changed.
    """
    if is_frozen(out):
        open_frozen(out)
        if _sums(out) != _sums(draft):
            raise _taken(out, "another frozen testbed")
        return False
    if out.is_dir():
        out.rmdir()
    draft.rename(out)
    return True


def _taken(out: Path, what: str) -> DataError:
    hint = "Choose another --out."
    return DataError(f"holds {what}, and nothing is overwritten", path=out, hint=hint)


def _indented(record: Any) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
