"""Ridge regression of scenarios on queries' features.

Queries are few and n-grams many, so the linear system is that of the queries' inner products:
scikit-learn's kernel ridge regression on a linear kernel. A fold of the cross-validation is a part
of the same matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autoj.runs.watch import Watch

__all__ = ["Indices", "RidgeProblem", "held_out_scores"]

Indices = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RidgeProblem:
    """A least-squares problem, in terms of the inner products of all queries with each other."""

    products: Floats
    """`[n_queries, n_queries]`; it is solved in their precision."""
    wanted: NDArray[np.float64]
    """`[n_queries, n_labels]`: what part of each query is each scenario's."""
    ridge: float
    """What the squares of the weights cost."""
    balance: float
    """0 counts each query once, 1 each scenario once."""

    def costs(self, chosen: Indices) -> NDArray[np.float64]:
        """What each of some queries counts, `[n_chosen]`; 1 on average.

        The rarer a scenario, the more a query of it counts.
        """
        wanted = self.wanted[chosen]
        costs = wanted @ (1 / np.maximum(wanted.sum(axis=0), 1.0) ** self.balance)
        return np.asarray(costs / costs.mean())

    def solve(self, chosen: Indices) -> tuple[Floats, NDArray[np.float64]]:
        """Fit on some queries.

        Returns:
            What each chosen query adds to the weights, `[n_chosen, n_labels]`, and the bias.
        """
        from sklearn.kernel_ridge import KernelRidge

        wanted, costs = self.wanted[chosen], self.costs(chosen)
        bias = costs @ wanted / costs.sum()
        model = KernelRidge(alpha=self.ridge, kernel="precomputed").fit(
            self.products[np.ix_(chosen, chosen)],
            (wanted - bias).astype(self.products.dtype),
            sample_weight=costs,
        )
        return np.asarray(model.dual_coef_), bias


def held_out_scores(problem: RidgeProblem, folds: Indices, watch: Watch) -> NDArray[np.float64]:
    """`[n_queries, n_labels]`: each query's scores by a model that has not learnt from its fold."""
    scores = np.zeros(problem.wanted.shape)
    n_folds = int(folds.max()) + 1
    for fold in range(n_folds):
        watch.message(f"cross-validation: fold {fold + 1} of {n_folds}")
        learnt, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        solved, bias = problem.solve(learnt)
        scores[held_out] = problem.products[np.ix_(held_out, learnt)] @ solved + bias
    return scores
