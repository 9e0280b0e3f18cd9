"""The page of the same queries classified by several: names beside each other, and differences."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from autoj.metrics.base import proportion
from autoj.records import Case
from autoj.reports import render
from autoj.reports.classify import same_scenario
from autoj.reports.html.beside import (
    OtherRows,
    PairedScores,
    against_section,
    cross_table,
    matching_banners,
    rating,
)
from autoj.reports.html.classified import (
    FAULTS,
    NO_SCENARIO,
    SHOW,
    ClassifiedSource,
    has_query,
    kinds_of,
    named_text,
)
from autoj.reports.html.listing import (
    CaseSample,
    LeftRows,
    ListFilter,
    Listing,
    PageEntry,
    PageTable,
    named_apart,
    shown,
)
from autoj.reports.html.page import Page
from autoj.reports.html.sections import Section
from autoj.reports.html.sources import names_apart
from autoj.reports.text import page_text
from autoj.runs.watch import Watch
from autoj.tasks.classify import ClassifiedQuery

_KINDS = {"differ": "named differently", "alone": "not in every run", **SHOW}
_ORDERS = {"differ": "surest differences first", "unsure": "least sure first"}
_NOBODY = "nobody"
_RIGHT = {1.0: "yes", 0.0: "no", None: "-"}
_N_PAIRS = 20
"""The most frequent pairs of two different names."""
_Others = Sequence[OtherRows[ClassifiedQuery]]


def classified_together_page(
    paths: Sequence[Path], most: int, left: LeftRows, watch: Watch
) -> Page:
    """The page of several runs or files that name the scenarios of the same queries.

    Args:
        paths: of judges' runs and classifiers' files; the first is the one that others are compared
            with.
        most: the most queries that the page holds, about.
        left: takes the others.
        watch: hears of the progress.

    Raises:
        DataError: one is damaged or empty, or has no query in common with the first.
        MissingExtra: the extra `report` is not installed.
    """
    sources = [ClassifiedSource(path) for path in paths]
    names = names_apart([shown(source.classifier()) for source in sources], paths)
    others = [OtherRows[ClassifiedQuery](*its) for its in zip(names[1:], paths[1:], strict=True)]
    for source, other in zip(sources[1:], others, strict=True):
        for case, row in source.rows(watch):
            other.add(case.id, _content(case, row), row)
    tallies = [_NamesTally() for _ in others]
    keeps, entries, n_alone = CaseSample(most, sources[0].n), list[PageEntry](), 0
    for case, row in sources[0].rows(watch):
        its = [other.take(case.id, _content(case, row)) for other in others]
        n_alone += not any(its)
        for tally, other, found in zip(tallies, others, its, strict=True):
            if found is not None:
                other.n_relabelled += _contradict(row, found)
                tally.add(case, row, found)
        entry = _entry(case, names, [row, *its])
        if keeps(case.id):
            entries.append(entry)
        else:
            left.add(entry)
    for other in others:
        other.check_shares(paths[0])
    return Page(
        title="Scenarios by " + " and ".join(names[:3]) + (" and others" if names[3:] else ""),
        banners=[
            *(banner for source in sources for banner in source.banners()),
            *matching_banners(names[0], n_alone, others, "scenarios"),
            *left.banner("queries", len(entries)),
        ],
        comparison=[*_comparison(names[0], others, tallies)],
        runs=[
            source.part(name, f"{at}_")
            for at, (source, name) in enumerate(zip(sources, names, strict=True), start=1)
        ],
        rows=_listing(names, named_apart(entries), any(source.is_sure for source in sources)),
    )


def _content(case: Case, row: ClassifiedQuery) -> bytes | None:
    """A digest of the query, which is all that was classified; None where it is not known."""
    if not has_query(row):
        return None
    return hashlib.blake2b(case.query.encode(errors="surrogatepass"), digest_size=16).digest()


def _contradict(row: ClassifiedQuery, other: ClassifiedQuery) -> bool:
    one, its = row.row_scenario, other.row_scenario
    return one is not None and its is not None and not same_scenario(one, its)


def _right(row: ClassifiedQuery, label: str | None) -> float | None:
    if label is None or row.scenario is None:
        return None
    return float(same_scenario(row.scenario, label))


def _label(rows: Sequence[ClassifiedQuery | None]) -> str | None:
    """The scenario that the rows name themselves: the first source's, else another one's."""
    return next((row.row_scenario for row in rows if row is not None and row.row_scenario), None)


class _NamesTally:
    """Counts of the first source's names beside another one's."""

    def __init__(self) -> None:
        self.same = {"scenario": PairedScores(), "group": PairedScores()}
        """Scores of 1 where both name the same one."""
        self.right = PairedScores()
        self.cross = {"scenario": Counter[tuple[str, str]](), "group": Counter[tuple[str, str]]()}
        self.n_right: Counter[tuple[str, str, int]] = Counter()
        """Of each pair of names, the queries on which the first (0) or the other one (1) is the
        row's own."""

    def add(self, case: Case, row: ClassifiedQuery, other: ClassifiedQuery) -> None:
        """Count a query that both have."""
        pairs = {"scenario": (row.scenario, other.scenario), "group": (row.group, other.group)}
        for what, (one, its) in pairs.items():
            # Names outside of the taxonomy have no group, and no name is no group either.
            same = None if one is None or its is None else float(same_scenario(one, its))
            self.same[what].add(case, same, same)
            self.cross[what][shown(one or NO_SCENARIO), shown(its or NO_SCENARIO)] += 1
        label = _label([row, other])
        scores = _right(row, label), _right(other, label)
        self.right.add(case, *scores)
        names = shown(row.scenario or NO_SCENARIO), shown(other.scenario or NO_SCENARIO)
        for at, score in enumerate(scores):
            self.n_right[*names, at] += score == 1.0


def _comparison(first: str, others: _Others, tallies: Sequence[_NamesTally]) -> Iterator[Section]:
    rows = tuple(
        (
            other.name,
            f"{other.n_shared:,}",
            f"{sum(row.rating == 0 for row in tally.same['scenario'].rows[0]):,}",
            *(
                render.estimate_cell(proportion(f"same {what}", found.rows[0], rating))
                for what, found in tally.same.items()
            ),
        )
        for other, tally in zip(others, tallies, strict=True)
    )
    headings = ("run", "queries of both", "differing", "same scenario, %", "same group, %")
    yield Section(
        title=f"Beside {first}",
        note="Shares are of the queries that both have named, with 95 % intervals over queries.",
        tables=(PageTable(headings=headings, rows=rows),),
    )
    labelled = {
        other.name: tally.right.shares("accuracy")
        for other, tally in zip(others, tallies, strict=True)
        if tally.right.has_both
    }
    if labelled:
        yield against_section(
            first,
            labelled,
            "Against the rows' own scenarios",
            "The difference is paired: query by query, on those that both named. “Right” is the "
            "scenario that the row names itself.",
        )
    for other, tally in zip(others, tallies, strict=True):
        yield _names_section(first, other.name, tally, other.name in labelled)


def _names_section(first: str, other: str, tally: _NamesTally, labelled: bool) -> Section:
    tables = [cross_table(first, other, tally.cross["scenario"])]
    if len(tally.cross["group"]) < len(tally.cross["scenario"]):
        tables.insert(0, cross_table(first, other, tally.cross["group"]))
    differing = Counter({k: n for k, n in tally.cross["scenario"].items() if not same_scenario(*k)})
    headings: tuple[str, ...] = (first, other, "queries")
    headings += (f"{first} right", f"{other} right") if labelled else ()
    rows = tuple(
        (
            *pair,
            f"{n:,}",
            *((f"{tally.n_right[*pair, at]:,}" for at in (0, 1)) if labelled else ()),
        )
        for pair, n in differing.most_common(_N_PAIRS)
    )
    if rows:
        tables.append(PageTable(headings=headings, rows=rows, n_texts=2))
    return Section(
        title=f"Names by {first} and {other}",
        note="Rows are names by the first, columns by the other one; below, the most frequent "
        "pairs of different names."
        if rows
        else "They name every query alike.",
        tables=tuple(tables),
    )


def _entry(case: Case, names: Sequence[str], rows: Sequence[ClassifiedQuery | None]) -> PageEntry:
    known = {name: row for name, row in zip(names, rows, strict=True) if row is not None}
    label = _label(rows)
    found = [row.scenario for row in known.values() if row.scenario is not None]
    differ = any(not same_scenario(name, found[0]) for name in found[1:])
    kinds = [
        kind for kind, holds in (("differ", differ), ("alone", len(known) < len(rows))) if holds
    ]
    kinds += dict.fromkeys(kind for row in known.values() for kind in kinds_of(row))
    sure = [row.probability for row in known.values() if row.probability is not None]
    right = tuple(
        str(at) for at, row in enumerate(rows) if row is not None and _right(row, label) == 1.0
    )
    return PageEntry(
        id=shown(case.id),
        query=page_text(case.query) if has_query(rows[0] or next(iter(known.values()))) else None,
        summary=" · ".join(f"{name}: {named_text(row)}" for name, row in known.items()),
        values={
            "show": tuple(kinds),
            "right": () if label is None else (right or (_NOBODY,)),
            **{
                f"scenario{at}": () if row is None else (shown(row.scenario or NO_SCENARIO),)
                for at, row in enumerate(rows)
            },
        },
        numbers={
            "differ": min(sure, default=1.0) if differ else -1.0,
            "unsure": 1 - min(sure) if sure else -1.0,
        },
        tags=tuple((_KINDS[kind], kind in FAULTS) for kind in kinds),
        facts=() if label is None else (("named by its row", shown(label)),),
        tables=(_names_table(known, label),),
    )


def _names_table(known: dict[str, ClassifiedQuery], label: str | None) -> PageTable:
    reasons = any(row.reason is not None for row in known.values())
    headings = (
        "by", "scenario", "group", "next",
        *(("because",) if reasons else ()),
        *(("as its row says",) if label is not None else ()),
    )  # fmt: skip
    rows = tuple(
        (
            name,
            named_text(row) if row.scenario else row.state,
            shown(row.group or "-"),
            shown(
                ", ".join(f"{its} ({render.percent(of)})" for its, of in row.alternatives) or "-"
            ),
            *((shown(row.reason or "-"),) if reasons else ()),
            *((_RIGHT[_right(row, label)],) if label is not None else ()),
        )
        for name, row in known.items()
    )
    return PageTable(headings=headings, rows=rows, n_texts=len(headings))


def _listing(names: Sequence[str], entries: Sequence[PageEntry], is_sure: bool) -> Listing:
    right = {str(at): f"{name} is" for at, name in enumerate(names)} | {_NOBODY: "nobody is"}
    return Listing(
        noun="queries",
        filters=(
            ListFilter(name="show", label="Show", words=_KINDS),
            ListFilter(name="right", label="As the row says", words=right),
            *(
                ListFilter(name=f"scenario{at}", label=f"By {name}")
                for at, name in enumerate(names)
            ),
        ),
        orders=_ORDERS if is_sure else {},
        entries=entries,
    )
