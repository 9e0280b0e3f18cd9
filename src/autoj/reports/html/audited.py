"""The page of an audit: the card with its figures, what each means, and a chart of them all."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from autoj.audit.card import audit_card
from autoj.errors import DataError
from autoj.metrics.result import Result, read_result
from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.audit import PART_OF, SECTIONS, TITLES, check_card, left_out, questions
from autoj.reports.html.charts import Dot, dot_chart
from autoj.reports.html.drawing import Chart
from autoj.reports.html.listing import LeftRows, PageTable, shown
from autoj.reports.html.page import Page, RunPart
from autoj.reports.html.sections import Section
from autoj.runs.watch import Watch

_IDEALS = {
    "accuracy": 1.0,
    "averaged accuracy": 1.0,
    "agreement": 1.0,
    "consistency": 1.0,
    "position bias": 0.0,
    "tie on an identical pair": 1.0,
    "first on an identical pair": 0.0,
    "length bias": 0.0,
    "flip rate": 0.0,
    "test-retest": 1.0,
    "unreadable": 0.0,
    "failed": 0.0,
    "expected calibration error": 0.0,
}
"""The figures of the chart with the value that a perfect judge has."""
_FORMAT, _FLIPS = "format", "injection"


def audited_page(path: Path, most: int, left: LeftRows, watch: Watch) -> Page:
    """The page of an audit's card.

    Args:
        path: the audit's folder, whose card is computed from its runs, or the card's file.
        most: not used: the page holds no rows.
        left: likewise.
        watch: likewise.

    Raises:
        DataError: the folder or the file is not an audit's, or a run of it is not finished.
        MissingExtra: the extra `report` is not installed.
    """
    card = read_card(path)
    facts = [("audit of", card.judge), ("verdicts", card.source), ("questions", questions(card))]
    facts += [("note", note) for note in card.notes]
    facts += [("left out", line) for line in left_out(card)]
    if path.is_dir():
        facts.append(("its cases", f"autoj report {shlex.quote(str(path / 'pairs'))}"))
    return Page(
        title=f"Audit of {shown(card.judge)}",
        banners=[],
        runs=[
            RunPart(
                name=shown(card.judge),
                headline=_headline(card),
                facts=[(label, shown(value)) for label, value in facts],
                sections=[*_sections(card)],
                about="What was asked",
            )
        ],
    )


def read_card(path: Path) -> Result:
    """An audit's card, from its folder or its file.

    Raises:
        DataError: it is not an audit's, is damaged, or a run of it is not finished.
    """
    if path.is_dir():
        return audit_card(path)
    card = read_result(path)
    if card.bench != "audit":
        raise DataError(
            f"is a result of {card.bench}, not of autoj audit", path=path,
            hint="autoj audit leaves audit.json in its folder.",
        )  # fmt: skip
    try:
        check_card(card)
    except ValueError as error:
        raise DataError(
            f"is damaged ({error})", path=path, hint="autoj report on the audit's folder "
            "computes the card anew.",
        ) from None  # fmt: skip
    return card


def card_chart(card: Result) -> Chart:
    """The card's figures below each other, each beside the value of a perfect judge.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    dots = [
        _dot(TITLES.get(name, name), its, ideal)
        for name, ideal in _IDEALS.items()
        if (its := card.estimate(name)) is not None
    ]
    for part, what in ((_FORMAT, "format bias"), (_FLIPS, "flips")):
        dots += [
            _dot(f"{what}: {name}", its, 0.0) for name, (its,) in card.parts.get(part, {}).items()
        ]
    title = "figures of the audit, with the value of a perfect judge as a diamond"
    return dot_chart("audit", title, [dot for dot in dots if dot is not None], reference=None)


def _dot(label: str, its: Estimate, ideal: float) -> Dot | None:
    if its.value is None:
        return None
    return Dot(label=label, value=its.value, low=its.low, high=its.high, n=its.n, ideal=ideal)


def _headline(card: Result) -> str:
    found = card.estimate("accuracy")
    text = f"{card.n_cases:,} cases"
    if found is None or found.value is None:
        return text
    meaning = card.details["words"]["estimates"]["accuracy"]
    return f"{text}: accuracy {render.estimate_cell(found)} %. {shown(meaning)}"


def _sections(card: Result) -> Iterator[Section]:
    words = card.details["words"]
    yield Section(
        title="The card",
        note="Dots are figures in percent with their 95 % intervals; diamonds are a perfect judge.",
        tables=(_table([(TITLES.get(its.name, its.name), its, "") for its in card.estimates]),),
        charts=(card_chart(card),),
    )
    for title, names in SECTIONS.items():
        lines = [
            (TITLES.get(name, name), its, words["estimates"][name])
            for name in names
            if (its := card.estimate(name)) is not None
        ]
        tables = [_table(lines)] if lines else []
        heading, part = PART_OF.get(title, ("", ""))
        if breakdown := card.parts.get(part):
            rows = [(name, each, words[part][name]) for name, (each,) in breakdown.items()]
            tables.append(_table(rows, heading))
        if title == "Calibration" and card.details["reliability"]:
            tables.append(_bins(card))
        if tables:
            yield Section(title=title, tables=tuple(tables))


def _table(lines: Sequence[tuple[str, Estimate, str]], heading: str = "figure") -> PageTable:
    rows = tuple(
        (
            shown(name),
            shown(meaning),
            render.estimate_value(its),
            render.estimate_interval(its) or "-",
            f"{its.n:,}" + (f", {its.n_unscored:,} unscored" if its.n_unscored else ""),
        )
        for name, its, meaning in lines
    )
    headings = (heading, "meaning", "value", "95 % interval", "n")
    if not any(row[1] for row in rows):
        return PageTable(
            headings=headings[:1] + headings[2:], rows=tuple(row[:1] + row[2:] for row in rows)
        )
    return PageTable(headings=headings, rows=rows, n_texts=2)


def _bins(card: Result) -> PageTable:
    rows = tuple(
        (
            f"{each['low']:.1f} to {each['high']:.1f}",
            f"{each['n']:,}",
            render.percent(each["confidence"]),
            render.percent(each["accuracy"]),
        )
        for each in card.details["reliability"]
    )
    headings = ("probability of the verdict", "n", "stated", "right")
    return PageTable(headings=headings, rows=rows)
