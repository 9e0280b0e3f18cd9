"""Folds of labelled pairs, by which a fit is measured on queries that it never saw."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

N_FOLDS = 10
"""Parts of which each is held out once."""


def folds_of(clusters: Sequence[str]) -> npt.NDArray[np.int64]:
    """The fold of each pair, 0 to `N_FOLDS` - 1: all pairs of a query are in one.

    Args:
        clusters: the normalised query of each pair.
    """
    queries = sorted(set(clusters))
    order = np.random.default_rng(0).permutation(len(queries))
    fold_of = {queries[place]: rank % N_FOLDS for rank, place in enumerate(order)}
    return np.array([fold_of[cluster] for cluster in clusters], dtype=np.int64)
