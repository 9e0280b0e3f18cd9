"""Best of the first N candidates: picks of a judge and of baselines, and cases that grade them.

**Source:** paper, section 5.1: only picks are graded, "to save cost".
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.bench.base import align
from autoj.datasets.base import Cases, ReadRow
from autoj.errors import ConfigError, UnknownComponent
from autoj.records import Case, Response, Verdict

SIZES = (8, 16, 32)
"""The paper's numbers of candidates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedCandidates:
    """A judge's ratings of all candidates of a set."""

    judge: str
    source: str
    """A run's folder, or the file that they were published with."""
    ratings: Sequence[tuple[float | None, ...]]
    """One per candidate, in the set's order, on any scale: higher is better. None is unreadable."""
    n_unreadable: int = 0
    n_failed: int = 0


def _longest(responses: Sequence[Response]) -> int:
    lengths = [len(response.text.strip()) for response in responses]
    return lengths.index(max(lengths))


BASELINE_PICKS: Mapping[str, tuple[str, Callable[[Sequence[Response]], int]]] = {
    "longest": ("picks the longest response", _longest),
    "first": ("picks the first response", lambda _: 0),
}
"""The baselines, which read nothing: a description of each, and its pick."""


def base_model(case: Case) -> str | None:
    """The model that wrote all candidates of a case; None where the set names none."""
    name = case.meta.get("base_model")
    return name if isinstance(name, str) else None


def check_sizes(cases: Sequence[Case], sizes: Iterable[int]) -> tuple[int, ...]:
    """The numbers of candidates that are picked from, sorted and each once.

    Raises:
        ConfigError: there are none, one is not positive, or a case has fewer candidates.
    """
    wanted = tuple(sorted(set(sizes)))
    if not wanted or wanted[0] < 1:
        raise ConfigError("expected numbers of candidates, each at least 1, such as --n 8,16,32")
    fewest = min(cases, key=lambda case: len(case.responses))
    n_candidates = len(fewest.responses)
    if wanted[-1] > n_candidates:
        raise ConfigError(
            f"best of {wanted[-1]} needs {wanted[-1]} candidates, but case {fewest.id!r} has "
            f"{n_candidates}",
            hint=f"Use numbers up to {n_candidates}, such as --n {n_candidates}.",
        )
    return wanted


def ratings_of_run(
    cases: Sequence[Case], judged: Iterable[tuple[Case, Verdict]], judge: str, folder: Path
) -> RatedCandidates:
    """The ratings that a run holds.

    Args:
        cases: the set.
        judged: the run's cases with their verdicts.
        judge: the judge's name.
        folder: the run.

    Raises:
        DataError: the run is not of this set.
        ConfigError: it compared pairs and has no ratings.
    """
    verdicts = align(cases, judged, folder)
    if any(verdict.winners for verdict in verdicts):
        raise ConfigError(
            f"{folder} compared pairs, but best of N needs a run that rated each response",
            hint="Make one with autoj rate, or use --judge.",
        )
    return RatedCandidates(
        judge=judge,
        source=f"run {folder}",
        ratings=[
            verdict.ratings or (None,) * len(case.responses)
            for case, verdict in zip(cases, verdicts, strict=True)
        ],
        n_unreadable=sum(verdict.n_unreadable for verdict in verdicts),
        n_failed=sum(verdict.n_failed for verdict in verdicts),
    )


def published_names(cases: Sequence[Case]) -> tuple[str, ...]:
    """The judges with ratings in the file for every case, sorted."""
    names = [set(_scores(case)) for case in cases]
    return tuple(sorted(set.intersection(*names))) if names else ()


def published_ratings(cases: Sequence[Case], judge: str, path: Path) -> RatedCandidates:
    """The ratings of a judge that were published with the responses.

    The release writes 0.0 where a judgment could not be read. Where all other ratings are from 1
    to 10, a 0.0 is taken for that; a scalar model's 0.0 is a score.

    Args:
        cases: the set.
        judge: the judge's name in the file.
        path: the file.

    Raises:
        UnknownComponent: the file has no ratings of that name for every case.
        ConfigError: it has no ratings at all.
    """
    names = published_names(cases)
    if not names:
        raise ConfigError(f"{path} has no ratings of its responses")
    if judge not in names:
        raise UnknownComponent(f"judge with ratings in {path}", judge, names)
    rows: list[tuple[float | None, ...]] = [tuple(_scores(case)[judge]) for case in cases]
    others = [value for row in rows for value in row if value]
    if others and all(1 <= value <= 10 for value in others):
        rows = [tuple(value or None for value in row) for row in rows]
    return RatedCandidates(
        judge=judge,
        source=f"ratings published with {path}",
        ratings=rows,
        n_unreadable=sum(row.count(None) for row in rows),
    )


def pick_id(case: Case, index: int) -> str:
    """The id of the case that grades one candidate, counted from 1 in it."""
    return f"{case.id}/{index + 1}"


def picked_cases(data: Cases, cases: Sequence[Case], picks: Iterable[tuple[int, int]]) -> Cases:
    """Cases of one response each, for the picks of all judges.

    Args:
        data: the set that the picks are from.
        cases: its cases.
        picks: a case's and a response's index each, in any order and as often as they come.
    """
    chosen = sorted(set(picks))
    listed = "\n".join(pick_id(cases[number], index) for number, index in chosen)

    def read() -> Iterator[ReadRow]:
        for line, (number, index) in enumerate(chosen, start=1):
            case = cases[number]
            yield ReadRow(line, _picked(case, index))

    digest = hashlib.sha256(listed.encode()).hexdigest()
    return Cases(
        format=f"picks from {data.format}",
        paths=data.paths,
        read=read,
        derivation=f"{len(chosen)} picked responses, {digest}",
    )


def _picked(case: Case, index: int) -> Case:
    return replace(
        case,
        id=pick_id(case, index),
        responses=(replace(case.responses[index], reference_score=None),),
        meta={},
    )


def graded_cases(cases: Sequence[Case], grades: RatedCandidates, graded: Cases) -> list[Case]:
    """The set with a grader's ratings for reference scores; an ungraded response has none.

    Args:
        cases: the set.
        grades: one rating per graded response, in the order of `graded`.
        graded: what `picked_cases` gave.
    """
    ids = [row.case.id for row in graded.read() if isinstance(row.case, Case)]
    found: Mapping[str, float | None] = {
        name: rating for name, (rating,) in zip(ids, grades.ratings, strict=True)
    }
    return [
        replace(
            case,
            responses=tuple(
                replace(response, reference_score=found.get(pick_id(case, index)))
                for index, response in enumerate(case.responses)
            ),
        )
        for case in cases
    ]


def _scores(case: Case) -> Mapping[str, Sequence[float | None]]:
    scores = case.meta.get("scores")
    if not isinstance(scores, Mapping):
        return {}
    n_responses = len(case.responses)
    return {
        name: values
        for name, values in scores.items()
        if isinstance(values, Sequence) and len(values) == n_responses
    }
