from __future__ import annotations

import numpy as np

from autoj.training.classifier.ridge import RidgeProblem, held_out_scores
from tests.watches import Notes


def test_the_dual_solution_is_that_of_ridge_regression() -> None:
    generator = np.random.default_rng(0)
    rows, targets = generator.normal(size=(20, 5)), np.arange(20) % 3
    costs = 1 / np.bincount(targets)[targets]
    costs /= costs.mean()
    problem = RidgeProblem(
        products=rows @ rows.T, wanted=np.eye(3)[targets], ridge=0.7, balance=1.0
    )
    solved, bias = problem.solve(np.arange(20))
    wanted = np.eye(3)[targets] - bias
    direct = np.linalg.solve(
        rows.T @ (costs[:, None] * rows) + 0.7 * np.eye(5), rows.T @ (costs[:, None] * wanted)
    )
    np.testing.assert_allclose(rows.T @ solved, direct, atol=1e-10)


def test_a_query_is_scored_by_a_model_that_has_not_learnt_from_its_fold() -> None:
    generator = np.random.default_rng(0)
    rows, targets, folds = generator.normal(size=(12, 4)), np.arange(12) % 3, np.arange(12) % 4
    problem = RidgeProblem(
        products=rows @ rows.T, wanted=np.eye(3)[targets], ridge=1.0, balance=0.0
    )
    said = Notes()
    scores = held_out_scores(problem, folds, said)
    assert said.messages[-1] == "cross-validation: fold 4 of 4"
    others = np.flatnonzero(folds != 2)
    solved, bias = problem.solve(others)
    np.testing.assert_allclose(scores[2], rows[2] @ rows[others].T @ solved + bias)
