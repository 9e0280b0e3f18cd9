"""Figures that others published about judges: one row per source and judge, as the source has it.

Where two sources differ there are two rows, each with its own source; nothing is averaged and
nothing is corrected. `data/published_*.yaml` holds them as printed, so that no digit is lost.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from autoj.errors import DataError

Kind: TypeAlias = Literal["pairwise", "single"]
"""A judge's kind: it compares two responses, or rates each alone."""

Work: TypeAlias = Literal["paper", "readme", "openreview", "computed", "ours"]
"""The publication that a source is part of; "computed" is our arithmetic on a published table,
"ours" a run of ours or our arithmetic on the data."""

_FOLDER = Path(__file__).parent / "data"

_SHARES = ("agreement", "consistency", "accuracy", "averaged accuracy", "win")
_COEFFICIENTS = ("pearson", "spearman", "kendall")
_BEST_OF = "best of "


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A publication with figures."""

    cite: str
    """The publication and the place in it."""
    work: Work
    note: str | None = None
    """Caveats of its figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A figure as its source prints it."""

    value: float
    """On the scale of our own: a share 0-1, a coefficient -1 to 1, a mean rating 1-10."""
    text: str
    """The source's digits; shares are printed in percent or as a fraction."""
    source: Citation
    remark: str | None = None
    """The source's remark on this figure, such as "p > 0.05"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow:
    """The figures of one judge in one source."""

    model: str
    """The judge, by one spelling for all sources."""
    kind: Kind
    generative: bool
    """True where it generates text, not a score alone."""
    figures: Mapping[str, Printed]
    """By the figure's name, over all cases."""
    parts: Mapping[str, Mapping[str, Mapping[str, Printed]]] = field(default_factory=dict)
    """Figures by breakdown ("group", "seen and unseen"), part and name."""
    base_model: str | None = None
    """The model whose responses are selected from; None where there is none, or all together."""
    in_sample: bool = False
    """True where a free choice, such as a tie threshold, was made on the test set itself."""
    printed_as: str | None = None
    """The source's spelling of the judge, where it is another."""
    note: str | None = None
    sources: tuple[Citation, ...]
    """One; several once rows are merged."""

    @property
    def is_computed(self) -> bool:
        """True where we computed the figures from published data."""
        return all(source.work == "computed" for source in self.sources)


class _PublishedPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _SourceFile(_PublishedPart):
    work: Work
    cite: str = Field(min_length=1)
    note: str | None = None


class _RowFile(_PublishedPart):
    model: str = Field(min_length=1)
    source: str
    kind: Kind
    generative: bool
    figures: dict[str, str] = Field(min_length=1)
    parts: dict[str, dict[str, str]] = {}
    base_model: str | None = None
    in_sample: bool = False
    printed_as: str | None = None
    remarks: dict[str, str] = {}
    note: str | None = None


class _File(_PublishedPart):
    sources: dict[str, _SourceFile]
    rows: list[_RowFile] = Field(min_length=1)


@cache
def published(name: str) -> tuple[PublishedRow, ...]:
    """The published rows that ship with the package.

    Args:
        name: "eval-p", "eval-r", "system-level" or "unseen".

    >>> [row.figures["agreement"].text for row in published("eval-p")
    ...  if row.model == "Auto-J" and "agreement" in row.figures]
    ['55.0', '54.8', '54.96', '54.8']
    """
    return read_published(_FOLDER / f"published_{name.replace('-', '_')}.yaml")


def read_published(path: Path) -> tuple[PublishedRow, ...]:
    """The rows of a file of published figures.

    Raises:
        DataError: the file is missing or not YAML; a field is missing, unknown or of another
            type; a figure has an unknown name, is not a number or is outside its scale; a row names
            no source of the file.
    """
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DataError(f"is not YAML ({error})", path=path) from None
    try:
        file = _File.model_validate(loaded)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or None
        raise DataError(
            f"{first['msg']}, found {first['input']!r}", path=path, field=place
        ) from None
    sources = {name: Citation(**dict(source)) for name, source in file.sources.items()}
    return tuple(_row(path, index, row, sources) for index, row in enumerate(file.rows))


def _row(path: Path, index: int, row: _RowFile, sources: Mapping[str, Citation]) -> PublishedRow:
    place = f"rows.{index}"
    if row.source not in sources:
        raise DataError(
            f"{row.source!r} is not a source of this file; its sources are {', '.join(sources)}",
            path=path,
            field=f"{place}.source",
        )
    if row.parts and len(row.figures) != 1:
        raise DataError(
            "a row with parts must have exactly one figure, to which the parts belong",
            path=path,
            field=f"{place}.parts",
        )
    if unknown := set(row.remarks) - set(row.figures):
        raise DataError(
            f"remarks on {', '.join(sorted(unknown))}, which are not figures of this row",
            path=path,
            field=f"{place}.remarks",
        )
    source = sources[row.source]

    def printed(name: str, text: str, where: str) -> Printed:
        value = _value(path, f"{place}.{where}", name, text)
        return Printed(value=value, text=text, source=source)

    figures = {name: printed(name, text, f"figures.{name}") for name, text in row.figures.items()}
    figures |= {name: replace(figures[name], remark=said) for name, said in row.remarks.items()}
    main = next(iter(row.figures))
    return PublishedRow(
        model=row.model,
        kind=row.kind,
        generative=row.generative,
        figures=figures,
        parts={
            breakdown: {
                part: {main: printed(main, text, f"parts.{breakdown}.{part}")}
                for part, text in parts.items()
            }
            for breakdown, parts in row.parts.items()
        },
        base_model=row.base_model,
        in_sample=row.in_sample,
        printed_as=row.printed_as,
        note=row.note,
        sources=(source,),
    )


def _value(path: Path, place: str, name: str, text: str) -> float:
    low, high, unit = _scale(path, place, name)
    top, slash, bottom = text.partition("/")
    try:
        value = Decimal(top) / Decimal(bottom) if slash else Decimal(text) / unit
        is_inside = low <= value * unit <= high
    except ArithmeticError:
        raise DataError(f"expected a number, found {text!r}", path=path, field=place) from None
    if not is_inside:
        raise DataError(f"{text} is outside {low} to {high}", path=path, field=place)
    return float(value)


def _scale(path: Path, place: str, name: str) -> tuple[int, int, int]:
    """The least and the largest printed value of a figure, and the printed value of 1."""
    if name in _SHARES:
        return 0, 100, 100
    if name in _COEFFICIENTS:
        return -1, 1, 1
    if name.startswith(_BEST_OF) and name.removeprefix(_BEST_OF).isdecimal():
        return 1, 10, 1
    known = ", ".join((*_SHARES, *_COEFFICIENTS, f"{_BEST_OF}N"))
    raise DataError(f"unknown figure {name!r}; expected one of {known}", path=path, field=place)


def merged(rows: Iterable[PublishedRow]) -> list[PublishedRow]:
    """Rows of one judge in one publication as one, where no figure differs between them.

    Table 1's agreement and Fig. 4's consistency make one row; each figure keeps its own source. A
    figure that is printed otherwise elsewhere in the same publication stays a row of its own.
    """
    found: list[PublishedRow] = []
    for row in rows:
        for index, earlier in enumerate(found):
            if _same_judge(earlier, row) and not _differ(earlier, row):
                found[index] = replace(
                    earlier,
                    figures={**row.figures, **earlier.figures},
                    parts={**earlier.parts, **row.parts},
                    sources=tuple(dict.fromkeys((*earlier.sources, *row.sources))),
                )
                break
        else:
            found.append(row)
    return found


def _same_judge(one: PublishedRow, other: PublishedRow) -> bool:
    return (
        (one.model, one.kind, one.base_model, one.in_sample, one.note)
        == (other.model, other.kind, other.base_model, other.in_sample, other.note)
        and one.sources[0].work == other.sources[0].work
    )  # fmt: skip


def _differ(one: PublishedRow, other: PublishedRow) -> bool:
    common = set(one.figures) & set(other.figures)
    return any(one.figures[name].text != other.figures[name].text for name in common)
