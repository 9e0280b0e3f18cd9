"""Weights of labelled pairs, the folds they are held out by, and what they are called."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from autoj.calibration.likelihood import Floats
from autoj.errors import ConfigError
from autoj.records import Winner

N_FOLDS = 10
"""Parts of which each is held out once."""


def tie_weights(names: Sequence[Winner], tie_share: float | None) -> Floats:
    """The weight of each pair, by which ties are a stated share; they sum to the number of pairs.

    Args:
        names: the labels.
        tie_share: above 0 and below 1; None weights nothing.

    Raises:
        ConfigError: the share is out of range, or there is no tie to weight.
    """
    n, n_ties = len(names), Counter(names)["tie"]
    if tie_share is None:
        return np.ones(n)
    if not 0 < tie_share < 1:
        raise ConfigError(f"the share of ties is {tie_share:g}; expected one between 0 and 1")
    if not n_ties:
        raise ConfigError(
            f"no pair is labelled a tie, so ties cannot be weighted to {tie_share * 100:g} %",
            hint="Use labels with ties, or fit the temperature alone: --tie-share file.",
        )
    tied, decided = tie_share * n / n_ties, (1 - tie_share) * n / max(n - n_ties, 1)
    return np.array([tied if name == "tie" else decided for name in names])


def folds_of(clusters: Sequence[str]) -> npt.NDArray[np.int64]:
    """The fold of each pair, 0 to `N_FOLDS` - 1: all pairs of a query are in one.

    Args:
        clusters: the normalised query of each pair.
    """
    queries = sorted(set(clusters))
    order = np.random.default_rng(0).permutation(len(queries))
    fold_of = {queries[place]: rank % N_FOLDS for rank, place in enumerate(order)}
    return np.array([fold_of[cluster] for cluster in clusters], dtype=np.int64)


def described(data: str | None, n: Mapping[Winner, int], tie_share: float | None) -> str:
    """A description of the labelled pairs that something was fitted on.

    >>> described("val.jsonl", {"a": 12, "b": 9, "tie": 3}, 0.3)
    'val.jsonl: 12 a, 9 b, 3 ties weighted to 30 %'
    """
    labels = f"{n['a']:,} a, {n['b']:,} b, {n['tie']:,} ties"
    weighted = "" if tie_share is None else f" weighted to {tie_share * 100:g} %"
    return f"{data}: {labels}{weighted}" if data else f"{labels}{weighted}"
