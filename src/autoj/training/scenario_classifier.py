"""Train a scenario classifier: ridge regression on n-grams and sentence embeddings.

Queries are few and n-grams many, so the linear system is that of the queries' inner products: one
Cholesky factorisation serves all scenarios, and a fold of the cross-validation is a part of the
same matrix. N-grams' rarities and the embeddings' centre are of all training queries, held-out ones
included; neither knows a label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.optimize import minimize_scalar
from scipy.sparse.csgraph import connected_components

from autoj.errors import ConfigError, DataError
from autoj.jsonl import sha256_of
from autoj.scenarios.classifier.features import HashedFeatures
from autoj.scenarios.classifier.folder import (
    CARD,
    WEIGHTS,
    ClassifierCard,
    write_card,
    write_weights,
)
from autoj.scenarios.classifier.linear import LinearWeights, centred_units, probabilities_of
from autoj.scenarios.classifier.sentences import N_DIMENSIONS, N_PARTS, SentenceEncoder
from autoj.training.scenario_classifier_recipe import ClassifierRecipe
from autoj.training.scenario_queries import ScenarioQueries

__all__ = ["ClassifierReport", "folds_of", "train_classifier"]

OnProgress = Callable[[str], None]

_NEAR_DUPLICATE = 0.75
"""Queries whose characters' cosine is above this are kept in one fold."""
_MAX_QUERIES = 12_000
"""The solver holds a number for each pair of them: 1.2 GB."""
_N_ROWS = 512
_SHARE_OF_FIRST = 0.6
"""Of a query with two scenarios that are nearly as good, what part is the first's."""

Array = NDArray[np.float32]
Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierReport:
    """What a training gave."""

    folder: Path
    n_queries: int
    n_clusters: int
    """Queries that are no near-duplicates of one another."""
    figures: dict[str, float]
    """Cross-validated: accuracy, macro_f1, top_3, mean_probability, log_loss."""
    n_bytes: int
    """The size of the weights."""


def train_classifier(
    recipe: ClassifierRecipe,
    data: ScenarioQueries,
    out: Path,
    on_progress: OnProgress = lambda _: None,
) -> ClassifierReport:
    """Train by a recipe and write the folder of the classifier.

    Args:
        recipe: features, penalty, tier.
        data: queries with their scenarios.
        out: the folder; it is made.
        on_progress: told what is being done, in words.

    Raises:
        DataError: the data hold fewer than two scenarios.
        MissingExtra: the tier is `best` and its packages are not installed.
    """
    labels = tuple(sorted(set(data.scenarios)))
    n_queries = len(data.queries)
    if len(labels) < 2:
        raise DataError("holds fewer than two scenarios", path=data.paths[0])
    if n_queries > _MAX_QUERIES:
        raise ConfigError(
            f"a classifier is trained on at most {_MAX_QUERIES:,} queries, found {n_queries:,}",
            hint="Draw a sample: all pairs of queries are compared.",
        )
    on_progress(f"reading {n_queries:,} queries")
    features = HashedFeatures.fitted(recipe.features, recipe.n_bits, data.queries)
    rows = features.rows(data.queries)
    centre, units, scale = _sentences(recipe, data.queries, on_progress)
    problem = _Problem(
        products=np.asarray((rows @ rows.T).toarray(), np.float64) + units @ units.T,
        wanted=_wanted(data, labels),
        ridge=recipe.ridge,
        balance=recipe.balance,
    )
    clusters = _clusters(data.queries)
    targets = np.array([labels.index(name) for name in data.scenarios])
    folds = folds_of(targets, clusters, recipe.folds, recipe.seed)
    scores = _held_out_scores(problem, folds, on_progress)
    sharpness = recipe.sharpness_factor * _fit_sharpness(scores, targets)
    figures = _figures(scores, targets, sharpness)
    on_progress("fitting on all queries")
    solved, bias = problem.solve(np.arange(n_queries))
    weights = LinearWeights(
        table=(rows.T @ solved).astype(np.float32),
        dense=((units.T @ solved) * scale).astype(np.float32),
        centre=centre,
        bias=bias.astype(np.float32),
        sharpness=sharpness,
    )
    out.mkdir(parents=True, exist_ok=True)
    write_weights(out / WEIGHTS, features, weights)
    card = ClassifierCard(
        title=recipe.title,
        tier=recipe.tier,
        labels=labels,
        features=recipe.features,
        n_bits=recipe.n_bits,
        weights_sha256=sha256_of(out / WEIGHTS),
        licence=recipe.licence,
        seed=recipe.seed,
        data={path.name: sha256_of(path) for path in data.paths},
        n_queries=n_queries,
        figures={name: round(value, 4) for name, value in figures.items()},
    )
    write_card(out / CARD, card)
    return ClassifierReport(
        folder=out,
        n_queries=n_queries,
        n_clusters=len(set(clusters.tolist())),
        figures=figures,
        n_bytes=(out / WEIGHTS).stat().st_size,
    )


def _wanted(data: ScenarioQueries, labels: Sequence[str]) -> NDArray[np.float64]:
    """What part of each query is each scenario's, `[n_queries, n_labels]`; rows sum to 1."""
    places = {name: place for place, name in enumerate(labels)}
    wanted = np.zeros((len(data.queries), len(labels)))
    for row, name, second in zip(wanted, data.scenarios, data.seconds, strict=True):
        shared = second is not None and second in places
        row[places[name]] = _SHARE_OF_FIRST if shared else 1.0
        if second is not None and shared:
            row[places[second]] = 1 - _SHARE_OF_FIRST
    return wanted


def _sentences(
    recipe: ClassifierRecipe, queries: Sequence[str], on_progress: OnProgress
) -> tuple[Array, Array, float]:
    """The centre of the queries' embeddings, what the solver takes of them, and its scale."""
    if recipe.tier == "fast":
        nothing = np.zeros((len(queries), 0), np.float32)
        return np.zeros((0, N_DIMENSIONS), np.float32), nothing, 1.0
    tenths: set[int] = set()

    def tell(done: float) -> None:
        tenth = int(10 * done)
        if tenth not in tenths:
            tenths.add(tenth)
            on_progress(f"embedding {len(queries):,} queries: {10 * tenth} %")

    embedded = SentenceEncoder().embed(queries, tell)
    centre: Array = embedded.mean(axis=0)
    scale = (recipe.sentences / N_PARTS) ** 0.5
    return centre, centred_units(embedded, centre) * np.float32(scale), scale


def _clusters(queries: Sequence[str]) -> Indices:
    """The cluster of near-duplicates that each query belongs to."""
    rows = HashedFeatures.fitted({"characters-4": 1.0}, 18, queries).rows(queries)
    first, second = [], []
    for start in range(0, len(queries), _N_ROWS):
        near = (rows[start : start + _N_ROWS] @ rows.T).tocoo()
        close = near.data > _NEAR_DUPLICATE
        first.append(near.row[close] + start)
        second.append(near.col[close])
    pairs = (np.concatenate(first), np.concatenate(second))
    graph = sparse.coo_matrix((np.ones(len(pairs[0])), pairs), shape=(len(queries), len(queries)))
    clusters: Indices = connected_components(graph, directed=False)[1].astype(np.int64)
    return clusters


def folds_of(targets: Indices, clusters: Indices, n_folds: int, seed: int) -> Indices:
    """The fold of each query: clusters stay together, scenarios are spread evenly."""
    members: dict[int, list[int]] = defaultdict(list)
    for index, cluster in enumerate(clusters.tolist()):
        members[cluster].append(index)
    by_scenario: dict[int, list[list[int]]] = defaultdict(list)
    for together in members.values():
        by_scenario[int(targets[together[0]])].append(together)
    generator = np.random.default_rng(seed)
    folds = np.zeros(len(targets), np.int64)
    place = 0
    for scenario in sorted(by_scenario):
        for index in generator.permutation(len(by_scenario[scenario])):
            folds[by_scenario[scenario][index]] = place % n_folds
            place += 1
    return folds


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    """A least-squares problem, in terms of the inner products of all queries with each other."""

    products: NDArray[np.float64]
    """`[n_queries, n_queries]`."""
    wanted: NDArray[np.float64]
    """`[n_queries, n_labels]`: what part of each query is each scenario's."""
    ridge: float
    balance: float

    def solve(self, chosen: Indices) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Fit on some queries.

        Returns:
            What each chosen query adds to the weights, `[n_chosen, n_labels]`, and the bias.
        """
        wanted = self.wanted[chosen]
        # The rarer a scenario, the more a query of it counts.
        costs = wanted @ (1 / np.maximum(wanted.sum(axis=0), 1.0) ** self.balance)
        costs /= costs.mean()
        bias = costs @ wanted / costs.sum()
        system = self.products[np.ix_(chosen, chosen)]
        system[np.diag_indices(len(chosen))] += self.ridge / costs
        solved = linalg.solve(system, wanted - bias, assume_a="pos", overwrite_a=True)
        return np.asarray(solved), bias


def _held_out_scores(
    problem: _Problem, folds: Indices, on_progress: OnProgress
) -> NDArray[np.float64]:
    """`[n_queries, n_labels]`: each query's scores by a model that has not learnt from its fold."""
    scores = np.zeros(problem.wanted.shape)
    n_folds = int(folds.max()) + 1
    for fold in range(n_folds):
        on_progress(f"cross-validation: fold {fold + 1} of {n_folds}")
        learnt, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        solved, bias = problem.solve(learnt)
        scores[held_out] = problem.products[np.ix_(held_out, learnt)] @ solved + bias
    return scores


def _fit_sharpness(scores: NDArray[np.float64], targets: Indices) -> float:
    """What held-out scores are multiplied by so that their probabilities are the likeliest."""
    found = minimize_scalar(
        lambda log_sharpness: _log_loss(scores, targets, float(np.exp(log_sharpness))),
        bounds=(0.0, 5.0),
        method="bounded",
    )
    return float(np.exp(found.x))


def _log_loss(scores: NDArray[np.float64], targets: Indices, sharpness: float) -> float:
    right = probabilities_of(scores, sharpness)[np.arange(len(targets)), targets]
    return float(-np.log(np.maximum(right, 1e-12)).mean())


def _figures(scores: NDArray[np.float64], targets: Indices, sharpness: float) -> dict[str, float]:
    order = np.argsort(-scores, axis=1, kind="stable")
    guessed = order[:, 0]
    f1 = [
        2
        * ((guessed == label) & (targets == label)).sum()
        / ((guessed == label).sum() + (targets == label).sum())
        for label in np.unique(targets)
    ]
    return {
        "accuracy": float((guessed == targets).mean()),
        "macro_f1": float(np.mean(f1)),
        "top_3": float((order[:, :3] == targets[:, None]).any(axis=1).mean()),
        "mean_probability": float(probabilities_of(scores, sharpness).max(axis=1).mean()),
        "log_loss": _log_loss(scores, targets, sharpness),
    }
