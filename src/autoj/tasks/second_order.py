"""The worth of the second order: a stored run in both orders, as if fewer had been asked.

The second order of a pair would be asked only where the first order's verdict has a confidence
below a threshold; elsewhere the first order's own winner would stand. All answers are there, so
each threshold is read off and nothing is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autoj.errors import ConfigError, DataError
from autoj.metrics import Floats, Ints
from autoj.metrics.base import mean_of, proportion_of
from autoj.metrics.rows import cluster_number
from autoj.records import (
    Case,
    Decision,
    Estimate,
    Failure,
    JudgeCard,
    Judgment,
    Verdict,
    Winner,
)
from autoj.runs import RunFolder, RunSpec
from autoj.runs.budget import price_usd
from autoj.runs.resolving import read_outcomes, resolve_judgments
from autoj.verdicts.own_frame import to_winner

Figure: TypeAlias = Literal["winner", "accuracy"]
"""The figure that moves: the share of pairs with another winner, or the accuracy of winners."""
N_FOLDS = 10
"""Folds by query in which a threshold is judged on pairs that it was not fitted to."""

SHARES = tuple(step / 10 for step in range(11))
"""The shares of pairs whose second order is asked, at which the curve is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOrderPoint:
    """The run as if the second order had been asked below a confidence alone."""

    below: float | None
    """The second order is asked where the first one's confidence is lower; None asks all."""
    n_second: int
    """Pairs whose second order is asked."""
    calls: float
    """The share of the run's questions that are asked, 0.5 to 1."""
    same: Estimate
    """The share of pairs whose winner is that of the whole run."""
    conflicts: Estimate
    """Of the pairs whose orders disagree, the share in which that would still be seen."""
    accuracy: Estimate | None
    """The share of winners that are the label; None where no pair has a label."""
    usd: float | None
    """The price of the answers, in US dollars; None where the judge's card states none."""
    moved: Estimate | None
    """The share of pairs with another winner than that of the whole run or, by accuracy, the
    whole's accuracy less this one's; None where no pair has a label."""
    same_ranking: bool | None
    """True where the models behind the responses stand in the same order by their win rates; None
    where fewer than two are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedSecondOrder:
    """The lowest threshold at which a figure moves by at most a stated amount."""

    figure: Figure
    at_most: float
    """The amount, 0 to 1."""
    point: SecondOrderPoint
    """The run by that threshold."""
    held_out: Estimate
    """The move of the figure by thresholds that were fitted without a pair's query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOrderPlan:
    """The trade of questions against winners, from a run whose questions are all answered."""

    run: str
    judge: str
    protocol: str
    n: int
    """Pairs with a winner in both orders and one of the whole."""
    n_left_out: int
    """Pairs with an order that failed or could not be read, or without a winner."""
    points: tuple[SecondOrderPoint, ...]
    """By rising share of second orders; the first asks none, the last all."""
    fitted: FittedSecondOrder | None = None
    """The lowest threshold that moves a figure by little enough, if one was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    case: Case
    confidence: float
    first: Winner
    verdict: Verdict
    usd: tuple[float | None, float | None]


def plan_second_order(
    run: Path,
    shares: Sequence[float] = SHARES,
    *,
    at_most: float | None = None,
    figure: Figure = "winner",
) -> SecondOrderPlan:
    """Read off what asking the second order only where the first is unsure would give.

    Args:
        run: the folder of a finished run in both orders, by a protocol that gives probabilities.
        shares: shares of the pairs, 0 to 1, rising, whose second order is asked: those with the
            lowest confidence. Pairs of equal confidence go together, so that fewer may be asked.
        at_most: the most that a figure may move, 0 to 1, at the threshold to be fitted; None fits
            none.
        figure: "winner" moves by the share of pairs with another winner, "accuracy" by the
            difference of the shares of winners that are the label, up or down.

    Raises:
        ConfigError: the run is not one in both orders with probabilities and one sample, or the
            accuracy is to be kept and no pair has a label.
        DataError: the folder holds no run, it is not finished, or no pair was read in both orders.
    """
    folder = RunFolder.existing(run)
    spec = folder.spec()
    _check(run, spec)
    read = [_pair(case, outcomes, spec) for case, outcomes in _judged(folder, spec)]
    pairs = [pair for pair in read if pair is not None]
    if not pairs:
        raise DataError("has no pair that was read in both orders and has a winner", path=run)
    confidence = np.array([pair.confidence for pair in pairs])
    fitted = None if at_most is None else _fit(run, pairs, confidence, figure, at_most)
    return SecondOrderPlan(
        run=str(run),
        judge=spec.judge.name,
        protocol=spec.protocol,
        n=len(pairs),
        n_left_out=len(read) - len(pairs),
        points=tuple(
            _point(pairs, confidence, below, figure) for below in _levels(confidence, shares)
        ),
        fitted=fitted,
    )


def _fit(
    run: Path, pairs: Sequence[_Pair], confidence: Floats, figure: Figure, at_most: float
) -> FittedSecondOrder:
    """Fits the lowest threshold from which on the figure moves by at most so much."""
    if not 0 <= at_most <= 1:
        raise ConfigError(f"--at-most {at_most:g} must be from 0 to 1")
    moves, is_counted = _moves(pairs, figure)
    if not is_counted.any():
        raise ConfigError(f"{run} has no labels, so it does not say what becomes of the accuracy")
    below = _lowest(confidence[is_counted], moves[is_counted], at_most)
    clusters = _clusters(pairs)
    queries = np.unique(clusters)
    fold_of = np.random.default_rng(0).permutation(len(queries)) % N_FOLDS
    folds = fold_of[np.searchsorted(queries, clusters)]
    kept = np.zeros(len(pairs))
    for fold in range(N_FOLDS):
        seen, shown = is_counted & (folds != fold), folds == fold
        level = _lowest(confidence[seen], moves[seen], at_most)
        kept[shown] = moves[shown] * (level is not None) * (confidence[shown] >= (level or 0))
    return FittedSecondOrder(
        figure=figure,
        at_most=at_most,
        point=_point(pairs, confidence, below, figure),
        held_out=_mean_move(kept[is_counted], clusters[is_counted], figure),
    )


def _moves(pairs: Sequence[_Pair], figure: Figure) -> tuple[Floats, NDArray[np.bool_]]:
    """The amount that each pair adds to a figure's move by its first order alone, if it counts."""
    other = np.array([float(pair.first != pair.verdict.winner) for pair in pairs])
    if figure == "winner":
        return other, np.ones(len(pairs), np.bool_)
    right = [
        float(pair.verdict.winner == pair.case.label) - float(pair.first == pair.case.label)
        for pair in pairs
    ]
    return np.array(right), np.array([isinstance(pair.case.label, str) for pair in pairs])


def _lowest(confidence: Floats, moves: Floats, at_most: float) -> float | None:
    """The lowest threshold that moves a figure by at most so much, as do all above it.

    None is above all: every second order is asked.
    """
    levels, place = np.unique(confidence, return_inverse=True)
    moved_at = np.bincount(place, weights=moves, minlength=len(levels))
    # The pairs at or above a level keep their first order's winner.
    moved = np.abs(np.cumsum(moved_at[::-1])[::-1]) / max(len(moves), 1)
    above = levels[levels > max(levels[moved > at_most + 1e-12], default=-1.0)]
    return float(above[0]) if len(above) else None


def _mean_move(moves: Floats, clusters: Ints, figure: Figure) -> Estimate:
    if figure == "winner":
        return proportion_of("other winner", moves, clusters)
    return mean_of("accuracy lost", moves, clusters, span=(-1.0, 1.0))


def _clusters(pairs: Sequence[_Pair]) -> Ints:
    return np.array([cluster_number(pair.case.cluster) for pair in pairs], dtype=np.int64)


def _check(path: Path, spec: RunSpec) -> None:
    if spec.task != "judge" or not spec.has_orders or spec.orders != "both":
        raise ConfigError(
            f"{path} is not a run of pairs in both orders, so it does not say what one order alone "
            "would have given"
        )
    if spec.second_order is not None:
        raise ConfigError(
            f"{path} has the second orders of unsure pairs alone, so it does not say what the rest "
            "would have said",
            hint="The command that made it asks the rest without --second-order.",
        )
    if not spec.plain_protocol.gives_probabilities or spec.n_draws > 1:
        raise ConfigError(
            f"{path} has no probabilities of each order, so nothing says where the first is unsure",
            hint="pairwise-verdict gives some, without --samples.",
        )


def _judged(folder: RunFolder, spec: RunSpec) -> list[tuple[Case, list[Judgment | Failure]]]:
    found = []
    for case, outcomes in read_outcomes(folder, spec):
        known = [outcome for outcome in outcomes if outcome is not None]
        if len(known) < 2:
            raise DataError(
                f"is not finished: case {case.id!r} lacks an answer",
                path=folder.path,
                hint="The command that began it goes on with it.",
            )
        found.append((case, known))
    return found


def _pair(case: Case, outcomes: list[Judgment | Failure], spec: RunSpec) -> _Pair | None:
    verdict = resolve_judgments(case, spec, outcomes)
    first, second = outcomes
    if verdict.winner is None or None in verdict.winners or not isinstance(first, Judgment):
        return None
    decision = first.reading
    if not isinstance(decision, Decision) or decision.probabilities is None:
        return None
    return _Pair(
        case=case,
        confidence=max(decision.probabilities),
        first=to_winner(decision.shown, first.asked.shown),
        verdict=verdict,
        usd=(_price(first, spec.judge), _price(second, spec.judge)),
    )


def _price(outcome: Judgment | Failure, card: JudgeCard) -> float | None:
    if isinstance(outcome, Failure):
        return None
    answer = outcome.completion
    return price_usd(card, answer.prompt_tokens, answer.completion_tokens)


def _levels(confidence: Floats, shares: Sequence[float]) -> list[float | None]:
    """The thresholds at which at most these shares of the pairs lie below; None is above all."""
    rising = np.sort(confidence)
    # A product such as 0.7 * 10 is a little below its number.
    places = [int(share * len(rising) + 1e-9) for share in shares]
    levels = [float(rising[place]) if place < len(rising) else None for place in places]
    return list(dict.fromkeys(levels))


def _point(
    pairs: Sequence[_Pair],
    confidence: Floats,
    below: float | None,
    figure: Figure = "winner",
) -> SecondOrderPoint:
    asked = np.ones(len(pairs), np.bool_) if below is None else confidence < below
    clusters = _clusters(pairs)
    moves, is_counted = _moves(pairs, figure)
    winners = [
        pair.verdict.winner if second else pair.first
        for pair, second in zip(pairs, asked, strict=True)
    ]
    same = [found == pair.verdict.winner for found, pair in zip(winners, pairs, strict=True)]
    torn = np.array([pair.verdict.consistent is False for pair in pairs])
    labelled = np.array([isinstance(pair.case.label, str) for pair in pairs])
    right = np.array([found == pair.case.label for found, pair in zip(winners, pairs, strict=True)])
    n_second = int(asked.sum())
    return SecondOrderPoint(
        below=below,
        n_second=n_second,
        calls=(len(pairs) + n_second) / (2 * len(pairs)),
        same=proportion_of("same winner", np.array(same, dtype=np.float64), clusters),
        conflicts=proportion_of("conflicts seen", asked[torn].astype(np.float64), clusters[torn]),
        accuracy=proportion_of("accuracy", right[labelled].astype(np.float64), clusters[labelled])
        if labelled.any()
        else None,
        usd=_spent(pairs, asked),
        moved=_mean_move((moves * ~asked)[is_counted], clusters[is_counted], figure)
        if is_counted.any()
        else None,
        same_ranking=_same_ranking(pairs, winners),
    )


def _same_ranking(pairs: Sequence[_Pair], winners: Sequence[Winner | None]) -> bool | None:
    """True where models stand in the order of the whole run, by the mean of their pairs' shares."""
    orders = []
    for found in (winners, [pair.verdict.winner for pair in pairs]):
        won: dict[str, list[float]] = {}
        for pair, winner in zip(pairs, found, strict=True):
            names = [response.model for response in pair.case.responses]
            for name, side in zip(names, ("a", "b"), strict=True):
                if name is not None and names[0] != names[1]:
                    share = 0.5 if winner == "tie" else float(winner == side)
                    won.setdefault(name, []).append(share)
        rates = {name: sum(shares) / len(shares) for name, shares in won.items()}
        orders.append(sorted(rates, key=lambda name: (-rates[name], name)))
    return None if len(orders[0]) < 2 else orders[0] == orders[1]


def _spent(pairs: Sequence[_Pair], asked: NDArray[np.bool_]) -> float | None:
    total = 0.0
    for pair, both in zip(pairs, asked, strict=True):
        for price in pair.usd if both else pair.usd[:1]:
            if price is None:
                return None
            total += price
    return total
