"""The run that judges the matches of a selection's tournaments, in the folder `pairs` beside it."""

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autoj.datasets.base import Cases, ReadRow
from autoj.errors import DataError
from autoj.jsonl import count_lines
from autoj.records import Verdict
from autoj.runs.files import CASES, FOLLOW, PLAN, VERDICTS
from autoj.runs.folder import RunFolder
from autoj.runs.resolving import resolve_run
from autoj.runs.spec import RunSpec
from autoj.verdicts.knockout import Tournament, match_case, next_pairs, replay

_log = logging.getLogger(__name__)


def pair_spec(spec: RunSpec) -> RunSpec:
    """The spec of the run that judges a tournament's matches."""
    # Settings that select the rows have done their work before the first match.
    return replace(
        spec,
        task="judge",
        limit=None,
        shard=None,
        skip_bad_rows=False,
        reject_empty=False,
        classifier=None,
    )


def answered_matches(path: Path, spec: RunSpec) -> dict[str, Verdict]:
    """The verdicts of the matches that earlier sessions judged, by the match's id.

    Args:
        path: the folder of the run that judges them; it may not exist yet.
        spec: its settings. A match that lacks an answer is left out, and so asked again.
    """
    folder = RunFolder(path)
    # Without all its verdicts the run was stopped, and its plan may end between two orders.
    n_verdicts, n_cases = count_lines(path / VERDICTS), folder.n_cases()
    if not (path / "run.json").is_file() or n_verdicts < n_cases or n_cases == 0:
        return {}
    try:
        for name in (CASES, PLAN, FOLLOW, VERDICTS):
            folder.compare(name)
    except DataError as error:
        _log.warning("%s; the matches are replayed from the first round", error.message)
        return {}
    found = resolve_run(folder, spec)
    return {verdict.case_id: verdict for _, verdict in found if not verdict.n_failed}


def replay_all(
    folder: RunFolder, known: Mapping[str, Verdict]
) -> tuple[dict[str, Tournament], dict[str, list[tuple[int, int]]]]:
    """Replays all tournaments as far as verdicts are known, and lists the pairs of the next round.

    Args:
        folder: the run whose cases play.
        known: verdicts by the match's id.

    Returns:
        By the case's id, its tournament; and all pairs that have met or meet next. There are no
        such pairs where all tournaments are over.
    """
    tournaments = {case.id: replay(case, known.get) for case in folder.cases()}
    ahead = {case_id: next_pairs(its) for case_id, its in tournaments.items()}
    if not any(ahead.values()):
        return tournaments, {}
    return tournaments, {
        case_id: [*(match.pair for match in its.matches), *ahead[case_id]]
        for case_id, its in tournaments.items()
    }


def cases_of_matches(folder: RunFolder, pairs: Mapping[str, Sequence[tuple[int, int]]]) -> Cases:
    """The matches of all tournaments, as a data set of pairs.

    Args:
        folder: the run whose cases play.
        pairs: by the case's id, the pairs that meet.
    """
    digest = hashlib.sha256()
    for case_id, its in pairs.items():
        digest.update(repr((case_id, its)).encode("utf-8", "surrogatepass"))

    def read() -> Iterator[ReadRow]:
        line = 0
        for case in folder.cases():
            for pair in pairs.get(case.id, ()):
                line += 1
                yield ReadRow(line, match_case(case, pair))

    n_pairs = sum(map(len, pairs.values()))
    return Cases(
        format="pairs of a tournament",
        paths=(folder.path / "cases.jsonl",),
        read=read,
        derivation=f"{n_pairs} matches, {digest.hexdigest()}",
    )


def clear_for(path: Path, cases: Cases) -> None:
    """Prepares a run's folder for other matches; earlier answers stay in its ledger.

    Args:
        path: the folder; it may not exist yet.
        cases: the new matches.
    """
    folder = RunFolder(path)
    if not (path / "run.json").is_file():
        return
    if folder.settings()["data"].get("derivation") == cases.derivation:
        return
    # run.json is removed last: while it is there, a start that was stopped here begins here again.
    # A digest of what is gone would be taken for damage.
    folder.forget_digests(VERDICTS, FOLLOW, PLAN)
    for name in (VERDICTS, FOLLOW, PLAN, CASES):
        (path / name).unlink(missing_ok=True)
    (path / "run.json").unlink()
