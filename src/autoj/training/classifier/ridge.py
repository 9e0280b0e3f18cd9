"""Ridge regression of scenarios on queries' features.

Queries are few and n-grams many, so the problem is solved in its dual form, on the inner products
of the queries: scikit-learn's kernel ridge regression with a linear kernel. A fold of the
cross-validation takes a part of the same matrix.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autoj.runs.watch import Watch

Indices = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RidgeProblem:
    """A ridge regression, given by the inner products of all queries with each other."""

    products: Floats
    """`[n_queries, n_queries]`; the solver uses their precision."""
    wanted: NDArray[np.float64]
    """Target shares of each query's scenarios, `[n_queries, n_labels]`; rows sum to 1."""
    ridge: float
    """The L2 penalty on the weights."""
    balance: float
    """0 weights all queries equally, 1 all scenarios equally."""

    def costs(self, chosen: Indices) -> NDArray[np.float64]:
        """Sample weights of the chosen queries, `[n_chosen]`, with mean 1.

        The rarer a scenario, the larger the weight of its queries.
        """
        wanted = self.wanted[chosen]
        costs = wanted @ (1 / np.maximum(wanted.sum(axis=0), 1.0) ** self.balance)
        return np.asarray(costs / costs.mean())

    def solve(self, chosen: Indices) -> tuple[Floats, NDArray[np.float64]]:
        """Fits on the chosen queries.

        Returns:
            The dual coefficients, `[n_chosen, n_labels]`, and the bias, `[n_labels]`.
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
    """Scores of each query by a model trained without its fold, `[n_queries, n_labels]`."""
    scores = np.zeros(problem.wanted.shape)
    n_folds = int(folds.max()) + 1
    for fold in range(n_folds):
        watch.message(f"cross-validation: fold {fold + 1} of {n_folds}")
        learnt, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        solved, bias = problem.solve(learnt)
        scores[held_out] = problem.products[np.ix_(held_out, learnt)] @ solved + bias
    return scores
