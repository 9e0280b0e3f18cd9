"""The sections of a construction's page: stages, drops, a review, and what each stage found."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autoj.construct.folder import Construction
from autoj.construct.review.answers import ReviewCounts
from autoj.construct.stages import StageSummary
from autoj.jsonl import encode
from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.html.charts import bar_chart
from autoj.reports.html.listing import PageTable, shown
from autoj.reports.html.sections import MOST_ROWS, Section


def construction_sections(found: Construction) -> Iterator[Section]:
    """The counts of a construction, stage by stage.

    Args:
        found: the construction, finished or not.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    summaries = found.summaries
    headings = (
        "stage", "in", "kept", "dropped", "made", "requests", "tokens read", "written", "USD",
    )  # fmt: skip
    rows = tuple(_stage_row(at, summary) for at, summary in enumerate(summaries, start=1))
    bars = [(f"{at}. {its.name}", its.n_kept) for at, its in enumerate(summaries, start=1)]
    yield Section(
        title="Stages",
        tables=(PageTable(headings=headings, rows=rows),),
        charts=(bar_chart("stages", "rows kept by stage", bars, "rows kept"),) if bars else (),
        is_open=True,
    )
    drops = [
        (f"{at}. {summary.name}", shown(reason), n)
        for at, summary in enumerate(summaries, start=1)
        for reason, n in summary.dropped.items()
    ]
    if drops:
        bars = [(f"{stage}: {reason}", n) for stage, reason, n in drops][:MOST_ROWS]
        yield Section(
            title="Drops",
            note="Rows that a stage left out, by its reason.",
            tables=(
                PageTable(
                    headings=("stage", "because", "rows"),
                    rows=tuple((stage, reason, f"{n:,}") for stage, reason, n in drops),
                    n_texts=2,
                ),
            ),
            charts=(bar_chart("drops", "rows dropped by stage and reason", bars, "rows"),),
        )
    if found.reviewed is not None:
        yield _reviewed(found.reviewed)
    for at, summary in enumerate(summaries, start=1):
        for name, value in summary.notes.items():
            if tables := tuple(_note_tables(name, value)):
                title = f"{at}. {summary.name}: {_NOTES.get(name, name.replace('_', ' '))}"
                yield Section(title=shown(title), tables=tables)


def _stage_row(at: int, summary: StageSummary) -> tuple[str, ...]:
    asked = summary.n_requests
    counts = (summary.n_in, summary.n_kept, sum(summary.dropped.values()), summary.n_made)
    spent = (asked, summary.prompt_tokens, summary.completion_tokens)
    return (
        f"{at}. {summary.name}",
        *(f"{n:,}" for n in counts),
        *(f"{n:,}" if asked else "-" for n in spent),
        render.number(summary.usd, 4),
    )


def _reviewed(found: ReviewCounts) -> Section:
    counts = (
        ("right", found.n_right), ("renamed", found.n_renamed), ("dropped", found.n_dropped),
        ("skipped", found.n_skipped),
    )  # fmt: skip
    rows = tuple(
        (shown(its.scenario), render.estimate_cell(its.right), f"{its.right.n:,}",
         shown(", ".join(f"{name} ({n:,})" for name, n in its.taken_for)))
        for its in found.scenarios[:MOST_ROWS]
    )  # fmt: skip
    return Section(
        title="What a person said of the names",
        note=f"Right: {' '.join(render.estimate_line(found.right).split())}",
        tables=(
            PageTable(headings=("answer", "rows"), rows=tuple((a, f"{n:,}") for a, n in counts)),
            PageTable(headings=("named", "right, %", "n", "should have been"), rows=rows),
        ),
    )


_NOTES = {
    "sources": "sources",
    "contamination": "rows shared with test sets",
    "made": "made pairs",
    "rules": "rules that decide made pairs without judging (50 % is best)",
    "pairs": "pairs to train on (Table 20)",
    "singles": "single responses to train on (Table 21)",
}


def _note_tables(name: str, value: Any) -> Iterator[PageTable]:
    """A stage's finding: rows with equal fields, counts by name, or such of each kind."""
    if name == "rules":
        rows = tuple(
            (f"{its.name}, {when}", render.estimate_cell(its), f"{its.n:,}")
            for when, listed in (("made", value["before"]), ("kept", value["after"]))
            for its in (Estimate(**{**one, "bounds": None}) for one in listed)
        )
        yield PageTable(headings=("rule", "right, %", "n"), rows=rows)
    elif isinstance(value, Mapping) and value:
        if all(isinstance(its, Mapping) for its in value.values()):
            fields = {key for its in value.values() for key in its}
            if name == "made":
                yield _records(name, [{"kind": kind, **its} for kind, its in value.items()])
            elif fields:
                for kind, its in value.items():
                    yield _records(name, [{kind: key, "rows": n} for key, n in its.items()])
        else:
            yield _records(name, [{"name": key, "value": its} for key, its in value.items()])
    elif isinstance(value, list) and value and all(isinstance(its, Mapping) for its in value):
        yield _records(name, value)


def _records(name: str, records: Sequence[Mapping[str, Any]]) -> PageTable:
    """A table of records that have the same fields."""
    fields = list(records[0])
    headings = tuple(shown(field.removeprefix("n_").replace("_", " ")) for field in fields)
    rows = tuple(
        tuple(_cell(record.get(field)) for field in fields) for record in records[:MOST_ROWS]
    )
    n_texts = next((at for at, its in enumerate(records[0].values()) if _is_number(its)), 1)
    return PageTable(headings=headings, rows=rows, n_texts=max(1, n_texts))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _cell(value: Any) -> str:
    match value:
        case None:
            return "-"
        case bool() | str():
            return shown(str(value))
        case int():
            return f"{value:,}"
        case float():
            return render.number(value, 3)
        case Mapping():
            return shown(", ".join(f"{key} {_cell(its)}" for key, its in value.items()))
        case _:
            return shown(encode(value).decode().strip())
