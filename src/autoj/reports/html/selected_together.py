"""The page of picks by several judges from the same responses: how often and where they differ."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autoj.metrics.base import mean, proportion
from autoj.records import Case, Verdict
from autoj.reports import render
from autoj.reports.html.beside import (
    OtherRows,
    PairedScores,
    cross_table,
    difference_cells,
    matching_banners,
    rating,
)
from autoj.reports.html.listing import (
    CaseSample,
    EntryText,
    LeftRows,
    ListFilter,
    Listing,
    PageEntry,
    PageTable,
    shown,
)
from autoj.reports.html.page import Page
from autoj.reports.html.paper import best_of_n_sections, joint_best_of_n_sections
from autoj.reports.html.sections import Section
from autoj.reports.html.selected import SelectedSource, offered_orders
from autoj.reports.html.selection_entries import FAULTS, SHOW, response_name, selection_kinds
from autoj.reports.html.sources import names_apart
from autoj.reports.text import page_text
from autoj.runs.watch import Watch
from autoj.tasks.selection_folder import Selection
from autoj.tasks.stored import content_digest
from autoj.verdicts.critique_faults import marked_critiques
from autoj.verdicts.selection import PICK_RULES, same_by_chance, same_pick

_KINDS = {"differ": "another pick", "alone": "not in every run", **SHOW}
_ORDERS = {
    "apart": "largest difference of reference score first",
    "unsure": "smallest lead first",
}
_LEVEL = "level"
_NO_MODEL, _NOBODY = "(no model named)", "(no pick)"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Picked:
    """A pick of a run without the texts, which all runs share."""

    verdict: Verdict
    selected: int | None
    rule: str | None
    lead: float | None
    scores: tuple[float | None, ...]
    """The reference scores that its row states."""
    kinds: tuple[str, ...]
    is_scalar: bool


def _picked(found: Selection, is_scalar: bool) -> _Picked:
    pick = found.picked
    return _Picked(
        verdict=found.verdict,
        selected=None if pick is None else pick.selected,
        rule=None if pick is None else pick.rule,
        lead=found.gap,
        scores=tuple(response.reference_score for response in found.case.responses),
        kinds=selection_kinds(found),
        is_scalar=is_scalar,
    )


def selected_together_page(paths: Sequence[Path], most: int, left: LeftRows, watch: Watch) -> Page:
    """The page of several runs that picked from the same responses.

    Args:
        paths: the runs' folders; the first is the one that others are compared with.
        most: the most queries that the page holds, about.
        left: takes the others.
        watch: hears of the progress.

    Raises:
        DataError: a file of a run is damaged, or a run has no query in common with the first.
        MissingExtra: the extra `report` is not installed.
    """
    sources = [SelectedSource(path) for path in paths]
    names = names_apart([shown(source.run.spec.judge.name) for source in sources], paths)
    others = [OtherRows[_Picked](*its) for its in zip(names[1:], paths[1:], strict=True)]
    for source, other in zip(sources[1:], others, strict=True):
        source.read(_keeper(other, source.is_scalar), watch)
    gathered = _Gathered(names, others, CaseSample(most, sources[0].run.n_cases), left)
    sources[0].read(lambda found: gathered.add(found, sources[0].is_scalar), watch)
    for other in others:
        other.check_shares(paths[0])
    joint = joint_best_of_n_sections([source.run for source in sources], names)
    parts = []
    for at, (source, name) in enumerate(zip(sources, names, strict=True), start=1):
        own = [] if joint else best_of_n_sections(source.run, f"{at}_")
        parts.append(source.part(name, f"{at}_", own))
    return Page(
        title="Picks by " + " and ".join(names[:3]) + (" and others" if names[3:] else ""),
        banners=[
            *(
                banner
                for source, name in zip(sources, names, strict=True)
                for banner in source.banners(name)
            ),
            *matching_banners(names[0], gathered.n_alone, others, "reference scores"),
            *left.banner("queries", len(gathered.entries)),
        ],
        comparison=[*_comparison(names[0], others, gathered.tallies), *joint],
        runs=parts,
        rows=_listing(names, gathered.entries),
    )


def _keeper(other: OtherRows[_Picked], is_scalar: bool) -> Callable[[Selection], None]:
    return lambda found: other.add(
        found.case.id, content_digest(found.case), _picked(found, is_scalar)
    )


class _Gathered:
    """The first run's queries beside those of the others: counts, and rows for the page."""

    def __init__(
        self,
        names: Sequence[str],
        others: Sequence[OtherRows[_Picked]],
        keeps: CaseSample,
        left: LeftRows,
    ) -> None:
        self._names, self._others, self._keeps, self._left = names, others, keeps, left
        self.tallies = [_PicksTally() for _ in others]
        self.entries: list[PageEntry] = []
        self.n_alone = 0

    def add(self, found: Selection, is_scalar: bool) -> None:
        """Count a query, and show it on the page or beside it."""
        case, mine = found.case, _picked(found, is_scalar)
        content = content_digest(case)
        its = [other.take(case.id, content) for other in self._others]
        self.n_alone += not any(its)
        for tally, other, picked in zip(self.tallies, self._others, its, strict=True):
            if picked is not None:
                other.n_relabelled += _contradict(mine.scores, picked.scores)
                tally.add(case, mine, picked)
        entry = _entry(case, dict(zip(self._names, [mine, *its], strict=True)))
        if self._keeps(case.id):
            self.entries.append(entry)
        else:
            self._left.add(entry)


def _contradict(one: Sequence[float | None], other: Sequence[float | None]) -> bool:
    return any(
        mine is not None and its is not None and mine != its
        for mine, its in zip(one, other, strict=True)
    )


class _PicksTally:
    """Counts of the first run's picks beside another one's."""

    def __init__(self) -> None:
        self.same, self.chance, self.reference = PairedScores(), PairedScores(), PairedScores()
        self.models: Counter[tuple[str, str]] = Counter()

    def add(self, case: Case, mine: _Picked, its: _Picked) -> None:
        """Count a query that both have."""
        same = same_pick(case, mine.selected, its.selected)
        score = None if same is None else float(same)
        self.same.add(case, score, score)
        chance = None if same is None else same_by_chance(case)
        self.chance.add(case, chance, chance)
        scores = mine.scores
        known = [None if at is None else scores[at] for at in (mine.selected, its.selected)]
        self.reference.add(case, known[0], known[1])
        if any(response.model is not None for response in case.responses):
            self.models[_model(case, mine.selected), _model(case, its.selected)] += 1


def _model(case: Case, selected: int | None) -> str:
    return _NOBODY if selected is None else shown(case.responses[selected].model or _NO_MODEL)


def _comparison(
    first: str, others: Sequence[OtherRows[_Picked]], tallies: Sequence[_PicksTally]
) -> Iterator[Section]:
    rows = tuple(
        (
            other.name,
            f"{other.n_shared:,}",
            f"{sum(row.rating == 0 for row in tally.same.rows[0]):,}",
            render.estimate_cell(proportion("same pick", tally.same.rows[0], rating)),
            render.percent_cell(mean("chance", tally.chance.rows[0], rating, span=None).value),
        )
        for other, tally in zip(others, tallies, strict=True)
    )
    headings = ("run", "queries of both", "another pick", "same pick, %", "by chance, %")
    yield Section(
        title=f"Beside {first}",
        note="The share of the same pick is of the queries in which both picked, with its 95 % "
        "interval over queries; responses with equal texts are the same pick.",
        tables=(PageTable(headings=headings, rows=rows),),
    )
    scored = {
        other.name: tally.reference
        for other, tally in zip(others, tallies, strict=True)
        if tally.reference.has_both
    }
    if scored:
        yield _reference_section(first, scored)
    for other, tally in zip(others, tallies, strict=True):
        if len({name for names in tally.models for name in names}) > 1:
            yield Section(
                title=f"Models picked by {first} and {other.name}",
                note="Rows are picks of the first, columns of the other one.",
                tables=(cross_table(first, other.name, tally.models),),
            )


def _reference_section(first: str, scored: dict[str, PairedScores]) -> Section:
    # A figure whose name begins with "best of" is written as a number and not in percent.
    known = {name: scores.means("best of N") for name, scores in scored.items()}
    cells = difference_cells({name: found.difference for name, found in known.items()})
    rows = tuple(
        (
            name,
            render.estimate_cell(found.one),
            render.estimate_cell(found.other),
            *cells[name],
            f"{found.n_one:,}",
            f"{found.n_other:,}",
            f"{found.n_level:,}",
        )
        for name, found in known.items()
    )
    headings = (
        "run", first, "run", f"{first} less run", "p", "p (Holm)",
        f"{first} higher", "run higher", "level",
    )  # fmt: skip
    return Section(
        title="Reference scores of the picks",
        note="Means with 95 % intervals over queries. The difference is paired: query by query, on "
        "those in which both picked.",
        tables=(PageTable(headings=headings, rows=rows),),
    )


def _entry(case: Case, found: dict[str, _Picked | None]) -> PageEntry:
    known = {name: its for name, its in found.items() if its is not None}
    picks = [its.selected for its in known.values() if its.selected is not None]
    differ = any(same_pick(case, at, picks[0]) is False for at in picks[1:])
    kinds = [
        kind for kind, holds in (("differ", differ), ("alone", len(known) < len(found))) if holds
    ]
    kinds += dict.fromkeys(kind for its in known.values() for kind in its.kinds)
    scores = [response.reference_score for response in case.responses]
    of_picks = {
        at: score
        for at, its in enumerate(found.values())
        if its is not None
        and its.selected is not None
        and (score := scores[its.selected]) is not None
    }
    leads = [its.lead for its in known.values() if its.lead is not None]
    apart = max(of_picks.values()) - min(of_picks.values()) if of_picks else 0.0
    return PageEntry(
        id=shown(case.id),
        query=page_text(case.query),
        summary=" · ".join(
            [
                *(f"{name}: {_pick_text(case, its)}" for name, its in known.items()),
                *([_KINDS["differ"]] if differ else []),
            ]
        ),
        values={
            "show": tuple(kinds),
            "picked": tuple({_model(case, its.selected): None for its in known.values()}),
            "better": _better(of_picks, apart),
            "scenario": () if case.scenario is None else (shown(case.scenario),),
        },
        numbers={
            "apart": apart,
            "unsure": 1 / (1 + min(leads)) if leads else 0.0,
        },
        tags=tuple((_KINDS[kind], kind in FAULTS) for kind in kinds),
        facts=tuple((f"picked by {name}", _because(case, its)) for name, its in known.items()),
        tables=tuple(_ratings_table(case, known)),
        texts=(*_responses(case, known), *_critiques(case, known)),
    )


def _better(of_picks: dict[int, float], apart: float) -> tuple[str, ...]:
    """The runs, by number, whose picks have the highest reference score."""
    if len(of_picks) < 2:
        return ()
    if apart == 0:
        return (_LEVEL,)
    most = max(of_picks.values())
    return tuple(str(at) for at, score in of_picks.items() if score == most)


def _pick_text(case: Case, its: _Picked) -> str:
    return _NOBODY if its.selected is None else response_name(case, its.selected)


def _because(case: Case, its: _Picked) -> str:
    text = _pick_text(case, its)
    if its.rule is not None:
        text += f": {PICK_RULES[its.rule]}"
    if its.lead is not None:
        text += f"; lead over the next {render.number(its.lead, 3 if its.is_scalar else 2)}"
    return text


def _pickers(known: dict[str, _Picked]) -> dict[int, list[str]]:
    """By response, the runs that picked it, in the order of the runs."""
    found: dict[int, list[str]] = {}
    for name, its in known.items():
        if its.selected is not None:
            found.setdefault(its.selected, []).append(name)
    return found


def _responses(case: Case, known: dict[str, _Picked]) -> Iterator[EntryText]:
    """The picks side by side, then the other responses."""
    pickers = _pickers(known)
    for at in (*pickers, *(at for at in range(len(case.responses)) if at not in pickers)):
        heading = response_name(case, at)
        if at in pickers:
            heading += ", picked by " + " and ".join(pickers[at])
        yield EntryText(
            heading=heading, text=page_text(case.responses[at].text), chosen=at in pickers
        )


def _critiques(case: Case, known: dict[str, _Picked]) -> Iterator[EntryText]:
    for name, its in known.items():
        for at, critique in enumerate(marked_critiques(case, its.verdict)):
            if critique is not None:
                text = critique.text + ("" if critique.mark is None else f" [{critique.mark}]")
                heading = f"Critique of {response_name(case, at)} by {name}"
                yield EntryText(heading=heading, text=page_text(text))


def _ratings_table(case: Case, known: dict[str, _Picked]) -> Iterator[PageTable]:
    rated = {name: its for name, its in known.items() if its.verdict.ratings}
    scored = any(response.reference_score is not None for response in case.responses)
    if not rated and not scored:
        return
    pickers = _pickers(known)
    headings = ("response", "picked by", *(f"rating by {name}" for name in rated))
    headings += ("reference score",) if scored else ()
    rows = []
    for at, response in enumerate(case.responses):
        row = [response_name(case, at), " and ".join(pickers.get(at, ["-"]))]
        row += [
            render.number(its.verdict.ratings[at], 3 if its.is_scalar else 2)
            for its in rated.values()
        ]
        if scored:
            row.append(render.number(response.reference_score, 3))
        rows.append(tuple(row))
    yield PageTable(headings=headings, rows=tuple(rows), n_texts=2)


def _listing(names: Sequence[str], entries: Sequence[PageEntry]) -> Listing:
    better = {str(at): f"the pick of {name}" for at, name in enumerate(names)}
    return Listing(
        noun="queries",
        filters=(
            ListFilter(name="show", label="Show", words=_KINDS),
            ListFilter(
                name="better", label="Higher reference score", words=better | {_LEVEL: "level"}
            ),
            ListFilter(name="picked", label="Picked"),
            ListFilter(name="scenario", label="Scenario"),
        ),
        orders=offered_orders(_ORDERS, entries),
        entries=entries,
    )
