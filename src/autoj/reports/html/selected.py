"""The page of a selection: who was picked of N, how sure that is, and each query's responses."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from autoj.reports import render
from autoj.reports.html.listing import (
    CaseSample,
    LeftRows,
    ListFilter,
    Listing,
    PageEntry,
    shown,
)
from autoj.reports.html.page import Page, RunPart
from autoj.reports.html.paper import best_of_n_sections
from autoj.reports.html.sections import Section
from autoj.reports.html.selection_entries import SHOW, selection_entry
from autoj.reports.html.selection_sections import SelectionTally, selection_sections
from autoj.reports.html.sources import run_facts
from autoj.reports.select import SelectionSummary, summarise_selection
from autoj.runs.place import is_locked
from autoj.runs.watch import Watch
from autoj.tasks.run import Run
from autoj.tasks.selection_folder import Selection, read_selections
from autoj.verdicts.selection import PICK_RULES


class SelectedSource:
    """A run that picked the best of N; read once.

    Args:
        path: its folder, finished or not.

    Raises:
        DataError: it is no run.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.run = path, Run.open(path)
        self.is_scalar = self.run.spec.protocol == "scalar"
        """True where ratings have no scale."""
        self._tally = SelectionTally(self.run)
        self._summary: SelectionSummary | None = None

    def read(self, take: Callable[[Selection], None], watch: Watch) -> None:
        """Counts its queries.

        Args:
            take: is given each of them.
            watch: hears of the progress.

        Raises:
            DataError: a file of the run is damaged.
        """
        n = self.run.n_cases

        def counted() -> Iterator[Selection]:
            for n_read, found in enumerate(read_selections(self.run.folder), start=1):
                watch.progress(f"reading {self.path.name}", n_read, n)
                self._tally.add(found)
                take(found)
                yield found

        self._summary = summarise_selection(counted(), self.run.spec)

    def part(self, name: str, prefix: str = "", further: Iterable[Section] = ()) -> RunPart:
        """Its part of a page's overview, once it was read.

        Args:
            name: its heading.
            prefix: the beginning of its charts' file names.
            further: sections beside its own.

        Raises:
            MissingExtra: the extra `report` is not installed.
        """
        summary = self._known()
        return RunPart(
            name=name,
            headline=_headline(summary),
            facts=[(label, shown(value)) for label, value in run_facts(self.run)],
            sections=[*selection_sections(summary, self._tally, prefix), *further],
        )

    def banners(self, name: str) -> Iterator[str]:
        """Sentences to read first, once it was read.

        Args:
            name: the run's, at the beginning of a sentence.
        """
        if is_locked(self.path):
            yield f"{name} was still being written when this page was made."
        n_cases = self._known().n_cases
        if n_cases < self.run.n_cases:
            n_left = self.run.n_cases - n_cases
            yield f"{name} has not picked in {n_left:,} of its {self.run.n_cases:,} queries."

    def _known(self) -> SelectionSummary:
        assert self._summary is not None, "the run is read before it is shown"
        return self._summary


def selected_page(path: Path, most: int, left: LeftRows, watch: Watch) -> Page:
    """The page of a run that picked the best of N.

    Args:
        path: the run's folder.
        most: the most queries that the page holds, about.
        left: takes the others.
        watch: hears of the progress.

    Raises:
        DataError: a file of the run is damaged.
        MissingExtra: the extra `report` is not installed.
    """
    source = SelectedSource(path)
    keeps, entries = CaseSample(most, source.run.n_cases), []

    def take(found: Selection) -> None:
        entry = selection_entry(found, source.is_scalar)
        if keeps(found.case.id):
            entries.append(entry)
        else:
            left.add(entry)

    source.read(take, watch)
    name = shown(source.run.spec.judge.name)
    return Page(
        title=f"Picks by {name}",
        banners=[*source.banners("The run"), *left.banner("queries", len(entries))],
        runs=[source.part(name, further=best_of_n_sections(source.run))],
        rows=Listing(
            noun="queries",
            filters=(
                ListFilter(name="show", label="Show", words=SHOW),
                ListFilter(name="picked", label="Picked"),
                ListFilter(name="rule", label="By", words=PICK_RULES),
                ListFilter(name="scenario", label="Scenario"),
            ),
            orders=offered_orders(_ORDERS, entries),
            entries=entries,
        ),
    )


def offered_orders(words: Mapping[str, str], entries: Sequence[PageEntry]) -> dict[str, str]:
    """The orders in which some row has a number above zero, with their words."""
    return {
        name: its
        for name, its in words.items()
        if any(entry.numbers[name] > 0 for entry in entries)
    }


_ORDERS = {"unsure": "smallest lead first", "lost": "largest loss of reference score first"}


def _headline(summary: SelectionSummary) -> str:
    text = f"{summary.n_picked:,} of {summary.n_cases:,} queries have a pick, "
    text += f"of {summary.n_responses:,} responses"
    if summary.estimates and summary.estimates[0].value is not None:
        picks, everything = (render.estimate_value(each) for each in summary.estimates)
        text += f"; {summary.estimates[0].name} {picks} of the picks, {everything} of all"
    return text
