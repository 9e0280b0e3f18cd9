"""Eval-R: best-of-N selection by a judge's ratings, and their correlation with reference scores.

The figures of a `Result`, by name:

- `best of N`: the mean reference score of the picks from the first N candidates, for each N; also
  in `parts["base model"]`, where the set names the models that wrote the candidates;
- `pearson`, `spearman`: between rating and reference score over the union of the picks of all
  judges that were given, for all N (paper, Table 2); p-values in `details["p_values"]`;
- `pearson of all responses`, `spearman of all responses`: over all responses of the cases of which
  every response has a reference score; absent where only picks are graded.

`details["comparisons"]` holds, by base model and N, the figures of `oracle` (the best of the first
N), `random` (their mean: what a random pick is expected to get), `longest` and `first`, and how
much higher the judge's picks are than each, query by query.

**Source:** paper, sections 5.1 (Task III) and 6.3, Table 2.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from autoj.bench.eval_r.best_of_n import BESIDE, BestOfN, Scores, compare, figures, scores_beside
from autoj.bench.eval_r.selection import BASELINE_PICKS, RatedCandidates
from autoj.metrics.correlation import Coefficient, Correlation, correlate
from autoj.metrics.result import Result
from autoj.metrics.rows import cluster_number
from autoj.records import Case
from autoj.verdicts.selection import pick

BENCH = "eval-r"
"""The name of these results."""
_COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman")
Picks: TypeAlias = Callable[[int, int], int | None]
"""The index of the pick, by a case's index and N."""


def all_picks(
    cases: Sequence[Case], judges: Iterable[RatedCandidates], sizes: Sequence[int]
) -> set[tuple[int, int]]:
    """A case's and a response's index for each response that some judge picks for some N."""
    return {
        (number, index)
        for judge in judges
        for number in range(len(cases))
        for size in sizes
        if (index := _picks_of(cases, judge)(number, size)) is not None
    }


def baseline_picks(cases: Sequence[Case], sizes: Sequence[int]) -> set[tuple[int, int]]:
    """The same for the baselines, which read nothing."""
    return {
        (number, choose(case.responses[:size]))
        for _, choose in BASELINE_PICKS.values()
        for number, case in enumerate(cases)
        for size in sizes
    }


def _picks_of(cases: Sequence[Case], judge: RatedCandidates) -> Picks:
    return lambda number, size: pick(judge.ratings[number][:size], cases[number].responses[:size])


def evaluate(
    cases: Sequence[Case],
    judges: Sequence[RatedCandidates],
    sizes: Sequence[int],
    reference: str,
) -> list[Result]:
    """Evaluates each judge's ratings for picking the best of N.

    Args:
        cases: the set, with reference scores.
        judges: their ratings of its candidates. Correlations are over the union of all their picks.
        sizes: the numbers N of candidates, from `check_sizes`.
        reference: the origin of the reference scores, in words.
    """
    others = {name: scores_beside(cases, sizes, name) for name in BESIDE}
    union = all_picks(cases, judges, sizes)
    return [_result(cases, judge, sizes, reference, others, union, judges) for judge in judges]


def _result(
    cases: Sequence[Case],
    judge: RatedCandidates,
    sizes: Sequence[int],
    reference: str,
    others: dict[str, Scores],
    union: set[tuple[int, int]],
    judges: Sequence[RatedCandidates],
) -> Result:
    chosen = {size: [_picks_of(cases, judge)(n, size) for n in range(len(cases))] for size in sizes}
    values = {
        size: [
            None if index is None else case.responses[index].reference_score
            for case, index in zip(cases, chosen[size], strict=True)
        ]
        for size in sizes
    }
    comparisons = compare(cases, sizes, {"judge": values, **others})
    correlations = _correlations(cases, judge.ratings, union)
    overall, parts = figures(comparisons)
    names = " and ".join(other.judge for other in judges)
    return Result(
        bench=BENCH,
        judge=judge.judge,
        source=judge.source,
        n_cases=len(cases),
        estimates=(
            *overall,
            *(found.estimate for found in correlations.values()),
        ),
        parts=parts,
        notes=(
            f"Reference scores: {reference}.",
            f"Correlations are over the {len(union):,} responses that {names} picked.",
            *_warnings(comparisons[len(sizes) - 1]),
        ),
        details={
            "sizes": list(sizes),
            "reference": reference,
            "comparisons": comparisons,
            "p_values": {name: found.p_value for name, found in correlations.items()},
            "n_union": len(union),
            "n_without_pick": {str(size): chosen[size].count(None) for size in sizes},
            "n_without_reference": {
                str(size): values[size].count(None) - chosen[size].count(None) for size in sizes
            },
            "n_unreadable": judge.n_unreadable,
            "n_failed": judge.n_failed,
        },
    )


def _warnings(found: BestOfN) -> list[str]:
    """The baselines that the judge's picks do not beat beyond chance at the largest N, as notes."""
    failed = [
        name
        for name, less in found.less.items()
        if less.estimate.value is not None
        and (less.estimate.value <= 0 or (less.estimate.low or 0) <= 0)
    ]
    if not failed:
        return []
    listed = " and ".join(f"the {name}" if name != "random" else "a random" for name in failed)
    return [f"Best of {found.size}: the picks do not beat {listed} response beyond chance."]


def _correlations(
    cases: Sequence[Case],
    ratings: Sequence[Sequence[float | None]],
    union: Iterable[tuple[int, int]],
) -> dict[str, Correlation]:
    everything = [
        (number, index)
        for number, case in enumerate(cases)
        if all(response.reference_score is not None for response in case.responses)
        for index in range(len(case.responses))
    ]
    return {
        coefficient + suffix: _correlation(coefficient + suffix, cases, ratings, where, coefficient)
        for suffix, where in (("", sorted(union)), (" of all responses", everything))
        if where
        for coefficient in _COEFFICIENTS
    }


def _correlation(
    name: str,
    cases: Sequence[Case],
    ratings: Sequence[Sequence[float | None]],
    where: Sequence[tuple[int, int]],
    coefficient: Coefficient,
) -> Correlation:
    """Over the responses of `where` that have a reference score; the unreadable are unscored."""
    scored = [
        (cluster_number(cases[number].cluster), ratings[number][index], score)
        for number, index in where
        if (score := cases[number].responses[index].reference_score) is not None
    ]
    known = [(cluster, rating, score) for cluster, rating, score in scored if rating is not None]
    return correlate(
        name,
        np.array([rating for _, rating, _ in known], dtype=np.float64),
        np.array([score for _, _, score in known], dtype=np.float64),
        coefficient,
        clusters=np.array([cluster for cluster, _, _ in known], dtype=np.int64),
        n_unscored=len(scored) - len(known),
    )


def baseline_results(
    cases: Sequence[Case], sizes: Sequence[int], judges: Sequence[RatedCandidates] = ()
) -> list[Result]:
    """`oracle`, `random`, `longest` and `first`, as results of their own.

    Args:
        cases: the set, with reference scores.
        sizes: the numbers N of candidates.
        judges: as in `evaluate`: lengths are correlated over their picks, too.
    """
    union = all_picks(cases, judges, sizes)
    return [_baseline(cases, sizes, name, union) for name in BESIDE]


def _baseline(
    cases: Sequence[Case], sizes: Sequence[int], name: str, union: set[tuple[int, int]]
) -> Result:
    overall, parts = figures(compare(cases, sizes, {"judge": scores_beside(cases, sizes, name)}))
    details: dict[str, Any] = {"sizes": list(sizes)}
    correlations: dict[str, Correlation] = {}
    if name == "longest":
        lengths = [
            [float(len(response.text.strip())) for response in case.responses] for case in cases
        ]
        correlations = _correlations(cases, lengths, union)
        details["p_values"] = {key: found.p_value for key, found in correlations.items()}
    return Result(
        bench=BENCH,
        judge=name,
        source=BESIDE[name],
        n_cases=len(cases),
        estimates=(*overall, *(found.estimate for found in correlations.values())),
        parts=parts,
        details=details,
    )
