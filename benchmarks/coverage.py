"""Coverage of nominal 95 % intervals by kind of figure, by simulation.

Every draw makes a data set with a known truth: queries of one to three cases that share a common
part, as Eval-P repeats queries. Run: python benchmarks/coverage.py [--draws 2000]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autoj.metrics import (
    SHARES,
    FullAsking,
    Row,
    accuracy,
    agreement,
    calibration,
    difference,
    kappa,
    length_bias,
    mean_rating,
    position_bias,
    prediction_powered,
)
from autoj.metrics.correlation import correlate
from autoj.records import WINNERS, Estimate, Winner

Draw = np.random.Generator
Floats = NDArray[np.float64]
Simulate = Callable[[Draw, int], Estimate]

LABEL_SHARES = (0.373, 0.359, 0.268)
"""Of a, b and tie, as on Eval-P."""


@dataclass(frozen=True)
class Figure:
    """A figure with a known truth."""

    name: str
    truth: float
    simulate: Simulate


def queries(draw: Draw, n_queries: int) -> Iterator[tuple[int, float]]:
    """Cases as (query, its common part): most queries have one case, some two or three."""
    for query in range(n_queries):
        common = float(draw.random())
        for _ in range(int(draw.choice([1, 2, 3], p=[0.85, 0.1, 0.05]))):
            yield query, common


def right(draw: Draw, common: float, chance: float) -> bool:
    """Draws a case's correctness: equal within its query half of the time."""
    return (common if draw.random() < 0.5 else float(draw.random())) < chance


def blank(query: int, **fields: object) -> Row:
    """A row with the given fields alone."""
    empty: dict[str, object] = {
        "cluster": query,
        "label": None,
        "winner": None,
        "winners": (),
        "consistent": None,
        "scenario": None,
    }
    return Row(**(empty | fields))  # type: ignore[arg-type]


def other_than(winner: Winner, draw: Draw) -> Winner:
    """One of the two other winners."""
    return WINNERS[(WINNERS.index(winner) + 1 + int(draw.integers(2))) % 3]


def judged_pairs(draw: Draw, n_queries: int, chance: float) -> list[Row]:
    """Pairs that a judge gets right with a chance, in each of both orders alike or not."""
    rows = []
    for query, common in queries(draw, n_queries):
        label = WINNERS[int(draw.choice(3, p=LABEL_SHARES))]
        winner = label if right(draw, common, chance) else other_than(label, draw)
        consistent = bool(draw.random() < 0.8)
        second = winner if consistent else other_than(winner, draw)
        rows.append(
            blank(
                query,
                label=label,
                winner=winner,
                winners=(winner, second),
                consistent=consistent,
            )
        )
    return rows


def true_kappa(chance: float) -> float:
    """Kappa of `judged_pairs`: wrong verdicts fall on the two others alike."""
    shares = np.array(LABEL_SHARES)
    table = np.diag(shares * chance)
    for label in range(3):
        for winner in range(3):
            if winner != label:
                table[label, winner] = shares[label] * (1 - chance) / 2
    observed = float(np.trace(table))
    expected = float(table.sum(axis=0) @ table.sum(axis=1))
    return (observed - expected) / (1 - expected)


def position(draw: Draw, n_queries: int) -> Estimate:
    """A judge that names the first response in 60 % of its judgments."""
    rows = []
    for query, common in queries(draw, n_queries):
        winners = (
            "a" if right(draw, common, 0.6) else "b",
            "b" if right(draw, common, 0.6) else "a",
        )
        rows.append(blank(query, winners=winners))
    return position_bias.compute(rows)


def length(draw: Draw, n_queries: int) -> Estimate:
    """A judge that is for the longer response in 75 % of pairs, people in 60 %."""
    rows = []
    for query, common in queries(draw, n_queries):
        rows.append(
            blank(
                query,
                lengths=(9, 1),
                winner="a" if right(draw, common, 0.75) else "b",
                label="a" if right(draw, common, 0.60) else "b",
            )
        )
    return length_bias.compute(rows)


def correlated(coefficient: str) -> Simulate:
    """Scores with a correlation of 0.6, whose queries share a part."""

    def simulate(draw: Draw, n_queries: int) -> Estimate:
        points = []
        for query, common in queries(draw, n_queries):
            shared = math.sqrt(0.5) * (common - 0.5) * math.sqrt(12)
            own = math.sqrt(0.5) * float(draw.normal())
            x = shared + own
            points.append((query, x, 0.6 * x + 0.8 * float(draw.normal())))
        clusters, x, y = np.array(points).T
        return correlate(
            coefficient,
            x,
            y,
            coefficient,  # type: ignore[arg-type]
            clusters=clusters.astype(np.int64),
        ).estimate

    return simulate


def limit_of(simulate: Simulate, n_queries: int) -> float:
    """Approximates the limit of a figure without a formula by a very large data set."""
    found = simulate(np.random.default_rng(12345), n_queries).value
    assert found is not None
    return found


def ratings(draw: Draw, n_queries: int) -> Estimate:
    """Ratings with mean 5.5, alike within a query."""
    rows = [
        blank(query, rating=min(10.0, max(1.0, 5.5 + 6 * (common - 0.5) + float(draw.normal()))))
        for query, common in queries(draw, n_queries)
    ]
    return mean_rating.compute(rows)


def brier(draw: Draw, n_queries: int) -> Estimate:
    """A judge that says 0.7, 0.2, 0.1 and is right in 60 % of cases."""
    rows = []
    for query, common in queries(draw, n_queries):
        label = "a" if right(draw, common, 0.6) else "b" if draw.random() < 0.5 else "tie"
        rows.append(blank(query, label=label, probabilities=(0.7, 0.2, 0.1)))
    return calibration.compute(rows)


TRUE_BRIER = 0.6 * (0.09 + 0.04 + 0.01) + 0.2 * (0.49 + 0.64 + 0.01) + 0.2 * (0.49 + 0.04 + 0.81)


def paired(draw: Draw, n_queries: int) -> Estimate:
    """Two judges, right in 65 % and in 55 % of the same cases."""
    one, other = [], []
    for query, common in queries(draw, n_queries):
        one.append(blank(query, rating=float(right(draw, common, 0.65))))
        other.append(blank(query, rating=float(right(draw, common, 0.55))))
    return difference("difference", one, other, lambda row: row.rating, span=SHARES).estimate


def powered(draw: Draw, n_queries: int) -> Estimate:
    """A win rate of 50 %, judged everywhere with a bias of 10 points, labelled in a third."""
    rows = []
    for query, common in queries(draw, n_queries):
        wins = right(draw, common, 0.5)
        judged = draw.random() < (0.9 if wins else 0.3)
        label = float(wins) if query % 3 == 0 else None
        rows.append(blank(query, rating=float(judged), label=label))
    return prediction_powered(
        "win rate",
        rows,
        lambda row: row.rating,
        lambda row: row.label if isinstance(row.label, float) else None,
        span=(0.0, 1.0),
    )


def in_full(figure: str, share: float) -> Simulate:
    """A judge whose second order is asked of a random share and where the first is unsure.

    Three fifths of the first orders are sure. The second order turns 15 % of the sure first ones
    that are right and 5 % of those that are wrong, and three times as many of the unsure ones, so
    that first orders alone are right too often.

    Args:
        figure: "verdict accuracy" or "consistency", both of full asking.
        share: the share of the pairs that is asked in full.
    """

    def simulate(draw: Draw, n_queries: int) -> Estimate:
        asked = FullAsking(orders=True)
        for query, common in queries(draw, n_queries):
            first: Winner = "a" if right(draw, common, 0.6) else "b"
            sure = bool(draw.random() < 0.6)
            chance = (0.15 if first == "a" else 0.05) * (1 if sure else 3)
            turned: Winner = "b" if first == "a" else "a"
            second = turned if draw.random() < chance else first
            full = blank(
                query,
                label="a",
                winner=second if draw.random() < 0.5 else first,
                winners=(first, second),
                consistent=first == second,
            )
            cheap = full._replace(winner=first, winners=(first, first), consistent=True)
            drawn = draw.random() < share
            asked.add(cheap if sure else full, full if drawn else None, sure=sure)
        found = {each.name: each for each in asked.estimates()}
        return found[f"{figure}, all in full"]

    return simulate


_TURNED = (0.6 * 0.15 + 0.4 * 0.45, 0.6 * 0.05 + 0.4 * 0.15)
"""The shares of right and of wrong first orders that the second one turns."""
TRUE_ACCURACY_IN_FULL = 0.6 * (1 - _TURNED[0] / 2) + 0.4 * _TURNED[1] / 2
TRUE_CONSISTENCY_IN_FULL = 1 - 0.6 * _TURNED[0] - 0.4 * _TURNED[1]


def figures() -> list[Figure]:
    """Lists the simulated figures."""
    return [
        Figure("accuracy 0.55", 0.55, lambda d, n: accuracy.compute(judged_pairs(d, n, 0.55))),
        Figure("accuracy 0.90", 0.90, lambda d, n: accuracy.compute(judged_pairs(d, n, 0.90))),
        Figure("agreement 0.48", 0.48, lambda d, n: agreement.compute(judged_pairs(d, n, 0.60))),
        Figure("kappa", true_kappa(0.6), lambda d, n: kappa.compute(judged_pairs(d, n, 0.6))),
        Figure("position bias", 0.2, position),
        Figure("length bias", 0.15, length),
        Figure("Brier score", TRUE_BRIER, brier),
        Figure("mean rating", 5.5, ratings),
        Figure("Pearson 0.6", 0.6, correlated("pearson")),
        Figure("Spearman", limit_of(correlated("spearman"), 200_000), correlated("spearman")),
        Figure("paired difference", 0.10, paired),
        Figure("prediction-powered", 0.50, powered),
        Figure("accuracy, 10 % full", TRUE_ACCURACY_IN_FULL, in_full("verdict accuracy", 0.1)),
        Figure("consistency, 10 %", TRUE_CONSISTENCY_IN_FULL, in_full("consistency", 0.1)),
        Figure("consistency, 30 %", TRUE_CONSISTENCY_IN_FULL, in_full("consistency", 0.3)),
    ]


def coverage(figure: Figure, n_queries: int, n_draws: int) -> tuple[float, float]:
    """The share of intervals that hold the truth, and that of draws that give no interval."""
    inside = without = 0
    for seed in range(n_draws):
        found = figure.simulate(np.random.default_rng([n_queries, seed]), n_queries)
        if found.low is None or found.high is None:
            without += 1
        else:
            inside += found.low <= figure.truth <= found.high
    given = n_draws - without
    return inside / given if given else math.nan, without / n_draws


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--only", default="", help="figures whose names hold this text")
    parser.add_argument("--queries", type=int, nargs="+", default=[24, 100, 1000])
    arguments = parser.parse_args()
    n_draws = arguments.draws
    error = 1.96 * math.sqrt(0.95 * 0.05 / n_draws)
    print(f"{n_draws:,} data sets each; the simulation's own error is ± {error:.1%}\n")
    print("figure".ljust(20), *(f"{n:>8,} queries" for n in arguments.queries))
    for figure in figures():
        if arguments.only not in figure.name:
            continue
        cells = []
        for n_queries in arguments.queries:
            share, without = coverage(figure, n_queries, n_draws)
            cells.append(f"{share:>8.1%}" + (f" ({without:.0%} -)" if without else " " * 8))
        print(figure.name.ljust(20), *cells, flush=True)


if __name__ == "__main__":
    main()
