"""The folder of a selection: ratings or a tournament, and the picks of `autoj select`.

```
verdicts.jsonl   one line per case: all ratings, and `selected`, the index of the pick
picks.jsonl      one line per case with a pick: the response and the reason
matches.jsonl    of a tournament: one line per match, in the order of the cases and rounds
pairs/           of a tournament: the run that judged all matches
```
By ratings it is the folder of a run that rates each response; by pairs it is a run of the task
"select", whose answers are in `pairs/`.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from autoj.backends.base import Backend
from autoj.errors import ConfigError
from autoj.jsonl import damaged
from autoj.records import Case, JudgeCard, Verdict
from autoj.runs.files import PLAN, VERDICTS
from autoj.runs.folder import RunFolder
from autoj.runs.in_memory import judge_case
from autoj.runs.kind import PICKS_FILE
from autoj.runs.ledger import LedgerReader
from autoj.runs.place import is_locked
from autoj.runs.resolving import resolve_first
from autoj.runs.spec import RunSpec, make_spec
from autoj.tasks.tournaments import pair_spec
from autoj.verdicts import knockout
from autoj.verdicts.selection import Pick, best_by_rating

MATCHES = "matches.jsonl"
By: TypeAlias = Literal["ratings", "pairs"]
""""ratings" rates each response, "pairs" compares pairs of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PickedResponse:
    """A line of `picks.jsonl`."""

    id: str
    """The case's id."""
    query: str
    response: str
    """The text that was picked."""
    model: str | None
    """The model that wrote it, if known."""
    rating: float | None
    """Its rating; None where pairs were compared."""
    selected: int
    """Its index among the case's responses."""
    n_responses: int
    """The number of responses that it was picked from."""
    rule: str
    """The reason: a name from `verdicts.selection.PICK_RULES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The pick of one case, with its background."""

    case: Case
    verdict: Verdict
    picked: PickedResponse | None
    """None where nothing could be picked."""
    matches: tuple[knockout.Match, ...] = ()
    """The matches played for it; none where each response was rated."""

    @property
    def gap(self) -> float | None:
        """The pick's rating minus the next best; None where no other response has a rating."""
        known = sorted(rating for rating in self.verdict.ratings if rating is not None)
        return known[-1] - known[-2] if len(known) > 1 else None


def make_select_spec(card: JudgeCard, by: By, **settings: Any) -> RunSpec:
    """Makes the spec of a run that picks; by default without critiques.

    Args:
        card: the judge.
        by: "ratings" or "pairs".
        settings: arguments of `make_spec`.

    Raises:
        ConfigError: one order is asked for where each response is rated alone, or the settings
            cannot be used together.
    """
    if by == "ratings" and settings.get("orders", "both") != "both":
        raise ConfigError("--orders needs --by pairs: each response is rated alone")
    task: Literal["rate", "select"] = "rate" if by == "ratings" else "select"
    return make_spec(task, card, **{"critique": False, **settings})


def select_case(case: Case, spec: RunSpec, backend: Backend) -> Verdict:
    """Picks from the responses of one case by the same steps as a run, in memory.

    Args:
        case: the case to pick from.
        spec: from `make_select_spec`.
        backend: runs the judge.

    Returns:
        The verdict, with `selected` and, where each response was rated, all ratings.

    Raises:
        BackendError: the engine broke down.
    """
    if spec.task == "rate":
        return _with_pick(case, judge_case(case, spec, backend))
    its, tournament = pair_spec(spec), knockout.start(case)
    while pairs := knockout.next_pairs(tournament):
        said = [judge_case(knockout.match_case(case, pair), its, backend) for pair in pairs]
        tournament = knockout.play(tournament, case, said)
    return knockout.tournament_verdict(tournament, case, spec.judge.name)


def _with_pick(case: Case, verdict: Verdict) -> Verdict:
    best = best_by_rating(verdict.ratings, case.responses)
    return replace(verdict, selected=None if best is None else best.index)


def write_picks_by_rating(folder: RunFolder) -> None:
    """Writes the picks into the verdicts of a run that rated each response, and beside them.

    Args:
        folder: the run, open and finished.
    """
    folder.write_verdicts(_with_pick(case, verdict) for case, verdict in folder.judged())
    _write_picks(
        folder,
        (
            (case, verdict, best_by_rating(verdict.ratings, case.responses))
            for case, verdict in folder.judged()
        ),
    )


def write_picks_of_tournaments(
    folder: RunFolder, spec: RunSpec, tournaments: Mapping[str, knockout.Tournament]
) -> None:
    """Writes the verdicts, picks and matches of finished tournaments.

    Args:
        folder: the run, open.
        spec: its settings.
        tournaments: one per case, by its id.
    """
    folder.replace_rows(
        MATCHES,
        (match for case in folder.cases() for match in tournaments[case.id].matches),
    )
    folder.write_verdicts(
        knockout.tournament_verdict(tournaments[case.id], case, spec.judge.name)
        for case in folder.cases()
    )
    _write_picks(
        folder,
        (
            (case, verdict, knockout.champion(tournaments[case.id], case))
            for case, verdict in folder.judged()
        ),
    )


def _write_picks(folder: RunFolder, found: Iterable[tuple[Case, Verdict, Pick | None]]) -> None:
    folder.replace_rows(
        PICKS_FILE,
        (_picked(case, verdict, pick) for case, verdict, pick in found if pick is not None),
    )


def _picked(case: Case, verdict: Verdict, pick: Pick) -> PickedResponse:
    response = case.responses[pick.index]
    return PickedResponse(
        id=case.id,
        query=case.query,
        response=response.text,
        model=response.model,
        rating=verdict.ratings[pick.index] if verdict.ratings else None,
        selected=pick.index,
        n_responses=len(case.responses),
        rule=pick.rule,
    )


def read_selections(folder: RunFolder) -> Iterator[Selection]:
    """The picks last written by a run, lazily, in the order of the cases.

    Raises:
        DataError: a file is damaged, or the picks and matches do not follow the verdicts.
    """
    picks = folder.rows(PICKS_FILE, PickedResponse)
    matches = folder.rows(MATCHES, knockout.Match)
    picked, match = next(picks, None), next(matches, None)
    n_read = 0
    for case, verdict in folder.judged():
        n_read += 1
        its: list[knockout.Match] = []
        while match is not None and match.case_id == case.id:
            its.append(match)
            match = next(matches, None)
        mine = picked if picked is not None and picked.id == case.id else None
        if mine is not None:
            picked = next(picks, None)
        if (mine is None) != (verdict.selected is None):
            raise damaged(folder.path / PICKS_FILE, None, f"case {case.id!r} is not as its verdict")
        yield Selection(case=case, verdict=verdict, picked=mine, matches=tuple(its))
    for name, left in ((PICKS_FILE, picked), (MATCHES, match)):
        if left is not None:
            raise damaged(folder.path / name, None, "its rows do not follow the verdicts")
    if n_read < folder.n_cases() and n_read < _n_resolved(folder):
        raise damaged(folder.path / VERDICTS, None, "it lacks cases whose answers are there")


def _n_resolved(folder: RunFolder) -> int:
    """The number of cases whose answers are all in the run's own ledger; 0 while it is written."""
    if is_locked(folder.path) or not (folder.path / PLAN).is_file():
        return 0
    with closing(LedgerReader(folder.path)) as answers:
        return sum(1 for _ in resolve_first(folder, folder.spec(), answers))
