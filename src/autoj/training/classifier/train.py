"""Training of a scenario classifier: ridge regression on n-grams, and a tuned sentence encoder.

The two are trained separately and their scores are added; the weight of the encoder's scores is
fitted on queries that both held out. The n-grams' idf is taken over all training queries, held-out
ones included; it knows no label.
"""

import hashlib
import importlib.util
import shutil
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse.csgraph import connected_components

from autoj.errors import ConfigError, DataError, MissingExtra
from autoj.jsonl import sha256_of
from autoj.metrics import class_f1
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios.classifier.features import HashedFeatures
from autoj.scenarios.classifier.folder import (
    CARD,
    WEIGHTS,
    ClassifierCard,
    write_card,
    write_weights,
)
from autoj.scenarios.classifier.linear import LinearWeights, probabilities_of
from autoj.training.classifier.queries import ScenarioQueries
from autoj.training.classifier.recipe import ClassifierRecipe
from autoj.training.classifier.ridge import Indices, RidgeProblem, held_out_scores
from autoj.training.classifier.sentence_tuning import (
    TunedSentences,
    check_tuning_packages,
    tune_sentences,
)

_NEAR_DUPLICATE = 0.75
"""Queries whose character n-grams have a cosine above this stay in one fold."""
_MAX_QUERIES = 12_000
"""The solver keeps matrices of 4 bytes for each pair of queries: 0.6 GB each at this number."""
_N_ROWS = 512
_SHARE_OF_FIRST = 0.6
"""The target share of the first scenario, for a query with a nearly as good second one."""
_CHECKPOINTS = "sentence-tuning"

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierReport:
    """The result of a training."""

    folder: Path
    n_queries: int
    n_clusters: int
    """Groups of near-duplicate queries; a query without near-duplicates is a group of its own."""
    n_held_out: int
    """The number of held-out queries behind the figures: all of them, or one fold in `best`."""
    figures: dict[str, float]
    """On held-out queries: accuracy, macro_f1, top_3, mean_probability, log_loss. The inverse
    temperature, and in `best` the encoder's weight, are fitted on the same queries."""
    n_bytes: int
    """The size of the weights."""


def train_classifier(
    recipe: ClassifierRecipe,
    data: ScenarioQueries,
    out: Path,
    watch: Watch = SILENT,
) -> ClassifierReport:
    """Trains by a recipe and writes the folder of the classifier.

    Args:
        recipe: features, L2 penalty, tier.
        data: queries with their scenarios.
        out: the folder; created if missing.
        watch: told each stage.

    Raises:
        DataError: the data have fewer than two scenarios, or too few queries to hold some out.
        MissingExtra: scikit-learn is not installed, or the tier is `best` and its packages are not.
    """
    check_packages(recipe.tier)
    labels = tuple(sorted(set(data.scenarios)))
    n_queries = len(data.queries)
    if len(labels) < 2:
        raise DataError("training needs queries of at least two scenarios", path=data.paths[0])
    if n_queries > _MAX_QUERIES:
        raise ConfigError(
            f"the data have {n_queries:,} queries; a classifier takes {_MAX_QUERIES:,} at most",
            hint="Draw a sample: memory grows with the square of the number of queries.",
        )
    watch.message(f"reading {n_queries:,} queries")
    features = HashedFeatures.fitted(recipe.features, recipe.n_bits, data.queries)
    rows = features.rows(data.queries)
    problem = RidgeProblem(
        products=(rows @ rows.T).toarray(),
        wanted=_wanted(data, labels),
        ridge=recipe.ridge,
        balance=recipe.balance,
    )
    targets = np.array([labels.index(name) for name in data.scenarios])
    clusters = _clusters(data.queries)
    n_folds = _n_folds(recipe, data, targets, clusters)
    folds = folds_of(targets, clusters, n_folds, recipe.seed)
    scores = held_out_scores(problem, folds, watch)
    watch.message("fitting on all queries")
    solved, bias = problem.solve(np.arange(n_queries))
    weights = LinearWeights(
        table=(rows.T @ solved).astype(np.float32),
        dense=np.zeros((0, len(labels)), np.float32),
        bias=bias.astype(np.float32),
        inverse_temperature=1.0,
    )
    out.mkdir(parents=True, exist_ok=True)
    changes = None
    if recipe.tier == "best":
        tuning = _Tuning(recipe, data, problem, out / _CHECKPOINTS, watch)
        shown = np.flatnonzero(folds == 0)
        scores, targets = scores[shown], targets[shown]
        # The scores added for the held-out fold come from a tuning that has not seen it.
        seen = tuning.learn(np.flatnonzero(folds != 0)).scores([data.queries[i] for i in shown])
        inverse_temperature, share = _fit_mixture(scores, seen, targets)
        scores = scores + share * seen
        tuned = tuning.learn(np.arange(n_queries))
        weights, changes = _joined(weights, tuned, share), tuned.changes
    else:
        inverse_temperature = _fit_inverse_temperature(scores, targets)
    weights = replace(weights, inverse_temperature=recipe.sharpness_factor * inverse_temperature)
    figures = _figures(scores, targets, weights.inverse_temperature)
    write_weights(out / WEIGHTS, features, weights, changes)
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
    if recipe.tier == "best":
        shutil.rmtree(out / _CHECKPOINTS, ignore_errors=True)
    return ClassifierReport(
        folder=out,
        n_queries=n_queries,
        n_clusters=len(set(clusters.tolist())),
        n_held_out=len(targets),
        figures=figures,
        n_bytes=(out / WEIGHTS).stat().st_size,
    )


def check_packages(tier: str) -> None:
    """Checks that a tier can be trained here.

    Raises:
        MissingExtra: its packages are not installed.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise MissingExtra("train", "training a scenario classifier")
    if tier == "best":
        check_tuning_packages()


@dataclass(frozen=True, slots=True)
class _Tuning:
    """Tunes the sentence encoder on some of the queries."""

    recipe: ClassifierRecipe
    data: ScenarioQueries
    problem: RidgeProblem
    checkpoints: Path
    watch: Watch

    def learn(self, chosen: Indices) -> TunedSentences:
        """Tunes on the chosen queries."""
        return tune_sentences(
            self.recipe.sentences,
            [self.data.queries[index] for index in chosen],
            self.problem.wanted[chosen],
            self.problem.costs(chosen),
            self.checkpoints / self._digest(chosen),
            seed=self.recipe.seed,
            watch=self.watch,
        )

    def _digest(self, chosen: Indices) -> str:
        """Hashes all inputs of the tuning, so that no other training is resumed by mistake."""
        files = "".join(sha256_of(path) for path in self.data.paths)
        text = f"{self.recipe.model_dump_json()} {files} {chosen.tolist()}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def _joined(weights: LinearWeights, tuned: TunedSentences, share: float) -> LinearWeights:
    """Adds the head of the sentence encoder, times a weight, to the weights of n-grams."""
    return replace(
        weights,
        dense=np.float32(share) * tuned.head,
        bias=weights.bias + np.float32(share) * tuned.bias,
    )


def _wanted(data: ScenarioQueries, labels: Sequence[str]) -> NDArray[np.float64]:
    """Target shares of each query's scenarios, `[n_queries, n_labels]`; rows sum to 1."""
    places = {name: place for place, name in enumerate(labels)}
    wanted = np.zeros((len(data.queries), len(labels)))
    for row, name, second in zip(wanted, data.scenarios, data.seconds, strict=True):
        shared = second is not None and second in places
        row[places[name]] = _SHARE_OF_FIRST if shared else 1.0
        if second is not None and shared:
            row[places[second]] = 1 - _SHARE_OF_FIRST
    return wanted


def _clusters(queries: Sequence[str]) -> Indices:
    """Assigns each query to a cluster of near-duplicates, `[n_queries]`."""
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


def _n_folds(
    recipe: ClassifierRecipe, data: ScenarioQueries, targets: Indices, clusters: Indices
) -> int:
    """The recipe's number of folds, or fewer where the queries do not suffice."""
    n_clusters = len(set(clusters.tolist()))
    n_folds = min(recipe.folds, int(np.bincount(targets).max()), n_clusters)
    if n_folds < 2:
        raise DataError(
            "no scenario has two distinct queries, so none can be held out",
            path=data.paths[0],
        )
    return n_folds


def folds_of(targets: Indices, clusters: Indices, n_folds: int, seed: int) -> Indices:
    """Assigns each query to a fold: clusters stay together, scenarios are spread evenly."""
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    folds = np.zeros(len(targets), np.int64)
    with warnings.catch_warnings():
        # It warns of scenarios that are too rare to appear in every fold.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for fold, (_, held_out) in enumerate(splitter.split(targets, targets, clusters)):
            folds[held_out] = fold
    return folds


def _fit_inverse_temperature(scores: NDArray[np.float64], targets: Indices) -> float:
    """Fits the inverse temperature of held-out scores by maximum likelihood."""
    found = minimize_scalar(
        lambda log_value: _log_loss(scores, targets, float(np.exp(log_value))),
        bounds=(0.0, 5.0),
        method="bounded",
    )
    return float(np.exp(found.x))


def _fit_mixture(
    scores: NDArray[np.float64], others: NDArray[np.floating[Any]], targets: Indices
) -> tuple[float, float]:
    """Fits the inverse temperature, and the weight of the other scores, on held-out queries."""

    def loss(logs: NDArray[np.float64]) -> float:
        inverse_temperature, share = np.exp(logs)
        return _log_loss(scores + share * others, targets, float(inverse_temperature))

    start = np.log([5.0, 0.1])
    # Bounded, since the loss has no minimum where every query is classified correctly.
    found = minimize(loss, start, method="Nelder-Mead", bounds=[(0, 5), (-5, 3)])
    inverse_temperature, share = np.exp(found.x)
    return float(inverse_temperature), float(share)


def _log_loss(scores: NDArray[np.float64], targets: Indices, inverse_temperature: float) -> float:
    right = probabilities_of(scores, inverse_temperature)[np.arange(len(targets)), targets]
    return float(-np.log(np.maximum(right, 1e-12)).mean())


def _figures(
    scores: NDArray[np.float64], targets: Indices, inverse_temperature: float
) -> dict[str, float]:
    order = np.argsort(-scores, axis=1, kind="stable")
    guessed = order[:, 0]
    f1 = class_f1(list(map(str, targets)), list(map(str, guessed)))
    return {
        "accuracy": float((guessed == targets).mean()),
        "macro_f1": float(np.mean(list(f1.values()))),
        "top_3": float((order[:, :3] == targets[:, None]).any(axis=1).mean()),
        "mean_probability": float(probabilities_of(scores, inverse_temperature).max(axis=1).mean()),
        "log_loss": _log_loss(scores, targets, inverse_temperature),
    }
