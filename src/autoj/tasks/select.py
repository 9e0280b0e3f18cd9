"""Picks the best of N responses of each case, by ratings or by a knockout, and keeps the run."""

from contextlib import ExitStack, closing
from pathlib import Path

from autoj.backends.base import Backend
from autoj.datasets.base import Cases
from autoj.runs import RunCounts, RunFolder, RunSpec, open_run
from autoj.runs.budget import Budget, Caps
from autoj.runs.cost import Cost, cost_of_sessions
from autoj.runs.kind import refuse_jury
from autoj.runs.watch import SILENT, Watch
from autoj.tasks import default_paths
from autoj.tasks.engine import load_engine
from autoj.tasks.judge import judge, tell_bad_rows, tell_growth, tell_unused_references
from autoj.tasks.jury import total_of
from autoj.tasks.run import Run
from autoj.tasks.selection_folder import write_picks_by_rating, write_picks_of_tournaments
from autoj.tasks.tournaments import (
    answered_matches,
    cases_of_matches,
    clear_for,
    pair_spec,
    replay_all,
)


def select(
    cases: Cases,
    spec: RunSpec,
    out: Path | None = None,
    *,
    caps: Caps = (None, None),
    watch: Watch = SILENT,
    cache: bool | None = False,
) -> Run:
    """Picks from the responses of each case; resumes where an earlier session stopped.

    Args:
        cases: the data.
        spec: the settings, from `make_select_spec`.
        out: the run's folder; None takes one under `runs/`, the same for the same settings.
        caps: the cap in US dollars and the cap on requests.
        watch: told of progress and events.
        cache: the use of earlier runs' answers, as in `judge`.

    Returns:
        The run; its verdicts have `selected`, and `picks.jsonl` is beside them.

    Raises:
        Unfinished: a cap was reached before all matches of a round were judged.
        ConfigError: the folder is a jury's.
        DataError: a row cannot be read.
        BackendError: the engine broke down; earlier judgments are kept.
    """
    path = out or default_paths.selection_folder(spec, cases)
    refuse_jury(path)
    if spec.task == "rate":
        return judge(
            cases,
            spec,
            path,
            budget=Budget(*caps),
            watch=watch,
            kind="select",
            derive=write_picks_by_rating,
            cache=cache,
        )
    Budget(*caps).check(spec.judge)
    with open_run(path, spec, cases) as folder:
        tell_growth(folder, watch)
        tell_bad_rows(folder, watch)
        tell_unused_references(folder, spec, watch)
        counts, cost = _hold_tournaments(folder, spec, caps, watch, cache)
        return Run(folder=folder, spec=spec, counts=counts, cost=cost)


def _hold_tournaments(
    folder: RunFolder, spec: RunSpec, caps: Caps, watch: Watch, cache: bool | None
) -> tuple[RunCounts, Cost | None]:
    """Judges round after round, all cases together, until no match is left."""
    path, its = folder.path / "pairs", pair_spec(spec)
    sessions: list[RunCounts] = []
    costs: list[Cost | None] = []
    known = answered_matches(path, its)
    with ExitStack() as loaded:
        engine: Backend | None = None
        while True:
            tournaments, pairs = replay_all(folder, known)
            if not pairs:
                break
            if engine is None:
                engine = loaded.enter_context(closing(load_engine(spec.judge, watch)))
            number = 1 + max(tournament.n_rounds for tournament in tournaments.values())
            watch.message(f"round {number}: {sum(map(len, pairs.values())):,} pairs so far")
            matches = cases_of_matches(folder, pairs)
            clear_for(path, matches)
            # All rounds share one ledger, from which each round's budget counts the earlier ones.
            run = judge(
                matches,
                its,
                path,
                backend=engine,
                budget=Budget(*caps),
                watch=watch,
                cache=cache,
                tell_references=False,
            )
            run.check_whole()
            sessions.append(run.counts)
            costs.append(run.cost)
            known = {verdict.case_id: verdict for verdict in run.folder.verdicts()}
    if not sessions:
        watch.message(f"{folder.path} is complete: no new requests were needed")
    write_picks_of_tournaments(folder, spec, tournaments)
    return total_of(sessions), cost_of_sessions(costs)
