"""A rating head: a linear layer by which a judge's adapter moves the scores of the ten ratings.

LoRA changes every layer and is trained on a GPU. A head reads the last state of a prompt, which the
ratings follow from. It is fitted in seconds to votes that two cores have read
(`benchmarks.rating_head`), and tells people's choices from the ratings that the model was trained
to write. No token is written by it, though a critique is written for the rating that it made; and
proofreading, whose thresholds were fitted without it, compares ratings without it.

It is two tensors of the adapter's weights file, so whatever pins that file pins it, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from autoj.critiques import RATING_CHOICES, RATING_OPENING
from autoj.errors import ConfigError

PREFIX = "rating_head."
WEIGHT, BIAS = f"{PREFIX}weight", f"{PREFIX}bias"
"""Its tensors in an adapter's file: [width], and a single number."""

STEPS = np.arange(1, 11) - 5.5
"""The change of each rating's log-probability, lowest first, for an output of 1."""

Floats = npt.NDArray[np.floating[Any]]


def asks_for_rating(prefix: str | None, choices: Sequence[str] | None) -> bool:
    """True for a request that scores the ten ratings in English: heads are fitted to such votes."""
    return prefix == RATING_OPENING["en"] and tuple(choices or ()) == RATING_CHOICES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatingHead:
    """Moves the log-probability of each rating in proportion to its distance from the middle."""

    weight: Floats
    """[width]"""
    bias: float

    def moved(self, logprobs: Sequence[float], state: Floats) -> tuple[float, ...]:
        """The log-probabilities of the ratings; the probability of all together stays.

        Args:
            logprobs: those of the model, of the ratings 1 to 10.
            state: the model's last one of the prompt, before its vocabulary, [width].

        Raises:
            ConfigError: the head was made for another model.
        """
        if len(state) != len(self.weight):
            raise ConfigError(
                f"the adapter's rating head reads {len(self.weight):,} numbers of the model's "
                f"state, and this model has {len(state):,}",
                hint="It was fitted to another model; get the adapter's files again.",
            )
        output = float(self.weight @ state.astype(float)) + self.bias
        moved = np.asarray(logprobs) + output * STEPS
        kept = np.logaddexp.reduce(logprobs) - np.logaddexp.reduce(moved)
        return tuple((moved + kept).tolist())


def parse_rating_head(tensors: Mapping[str, Floats], where: str) -> RatingHead | None:
    """The head among the tensors of an adapter's weights file; None where it has none.

    Args:
        tensors: those whose names begin with `PREFIX`.
        where: names the file, for messages.

    Raises:
        ConfigError: the head is incomplete, or has another shape.
    """
    if not tensors:
        return None
    if set(tensors) != {WEIGHT, BIAS}:
        raise ConfigError(
            f"{where}: a rating head needs {WEIGHT!r} and {BIAS!r}, found {sorted(tensors)}",
            hint="Get the adapter's files again from their source.",
        )
    weight, bias = tensors[WEIGHT], tensors[BIAS]
    if weight.ndim != 1 or bias.size != 1:
        raise ConfigError(
            f"{where}: its rating head has shapes {weight.shape} and {bias.shape}, expected "
            "(the model's width,) and a single number",
            hint="Get the adapter's files again from their source.",
        )
    return RatingHead(weight=weight.astype(float), bias=float(bias.reshape(())))
