"""A rating head: a linear layer by which a judge's adapter moves the scores of the ten ratings.

LoRA changes every layer and is trained on a GPU. A head reads the last state of a prompt, which the
ratings follow from. It is fitted in seconds to votes that two cores have read
(`benchmarks.rating_head`), and tells people's choices from the ratings that the model was trained
to write. No token is written by it, though a critique is written for the rating that it made; and
proofreading, whose thresholds were fitted without it, compares ratings without it.

It is three tensors of the adapter's weights file, so whatever pins that file pins it, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from autoj.backends._adapter_config import GET_AGAIN
from autoj.critiques import RATING_CHOICES, RATING_OPENING
from autoj.errors import ConfigError

PREFIX = "rating_head."
WEIGHT, BIAS, SHARPNESS = f"{PREFIX}weight", f"{PREFIX}bias", f"{PREFIX}sharpness"
"""Its tensors in an adapter's file: [width], and two single numbers."""

STEPS = np.arange(1, 11) - 5.5
"""The change of each rating's log-probability, lowest first, for an output of 1."""

Floats = npt.NDArray[np.floating[Any]]


def asks_for_rating(prefix: str | None, choices: Sequence[str] | None) -> bool:
    """True for a request that scores the ten ratings in English: heads are fitted to such votes."""
    return prefix == RATING_OPENING["en"] and tuple(choices or ()) == RATING_CHOICES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatingHead:
    """Moves the log-probability of each rating in proportion to its distance from the middle.

    What is moved against the model's own opinion lies nearer to the middle. So the result is
    sharpened until ratings spread over the scale as they do without a head: a good answer keeps its
    8, and a threshold on ratings its meaning.
    """

    weight: Floats
    """[width]"""
    bias: float
    sharpness: float = 1.0
    """The factor of the moved log-probabilities; above 0."""

    def apply(self, logprobs: Floats, states: Floats) -> Floats:
        """The log-probabilities of ratings, moved and sharpened, not normalised.

        Args:
            logprobs: those of the model, [..., 10].
            states: the model's last ones of the prompts, before its vocabulary, [..., width].
        """
        outputs = states @ self.weight + self.bias
        scores: Floats = self.sharpness * (logprobs + outputs[..., None] * STEPS)
        return scores

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
        moved = self.apply(np.asarray(logprobs), state.astype(float))
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
    if set(tensors) != {WEIGHT, BIAS, SHARPNESS}:
        raise ConfigError(
            f"{where}: a rating head needs {WEIGHT!r}, {BIAS!r} and {SHARPNESS!r}, found "
            f"{sorted(tensors)}",
            hint=GET_AGAIN,
        )
    weight, bias, sharpness = (tensors[name] for name in (WEIGHT, BIAS, SHARPNESS))
    if weight.ndim != 1 or bias.size != 1 or sharpness.size != 1:
        raise ConfigError(
            f"{where}: its rating head has shapes {weight.shape}, {bias.shape} and "
            f"{sharpness.shape}, expected (the model's width,) and two single numbers",
            hint=GET_AGAIN,
        )
    if sharpness.item() <= 0:
        raise ConfigError(
            f"{where}: its rating head has the sharpness {sharpness.item():g}, expected above 0",
            hint=GET_AGAIN,
        )
    return RatingHead(
        weight=weight.astype(float), bias=float(bias.item()), sharpness=float(sharpness.item())
    )
