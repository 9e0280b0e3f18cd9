"""A rating head: one direction of a judge's last state, along which its ratings are tilted.

An adapter changes every layer and is trained on a GPU. A head is a vector, fitted in seconds to
states that two cores have read (`benchmarks.rating_head`): it tells people's votes from the ratings
that the model was trained to write, and changes nothing but the probabilities of the ten ratings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autoj.critiques import RATING_CHOICES
from autoj.errors import ConfigError
from autoj.jsonl import sha256_of
from autoj.records import JudgeCard

_STEPS = np.arange(len(RATING_CHOICES)) - (len(RATING_CHOICES) - 1) / 2
"""The weight of each rating, lowest first; their sum is 0."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatingHead:
    """Adds to the log-probability of each rating, in proportion to its distance from the middle."""

    direction: npt.NDArray[np.float32]
    """[width]"""
    offset: float
    """The product with the states that ratings were fitted on, on the mean."""

    def tilted(
        self, logprobs: Sequence[float], state: npt.NDArray[np.float32]
    ) -> tuple[float, ...]:
        """The log-probabilities of the ratings, 1 to 10, with their sum of before.

        Args:
            logprobs: those of the model.
            state: the last one of the prompt, [width].

        Raises:
            ConfigError: the head is another model's.
        """
        if state.shape != self.direction.shape:
            raise ConfigError(
                f"the rating head is for states of {len(self.direction)} numbers, and this model "
                f"has {len(state)}"
            )
        slope = float(self.direction.astype(float) @ state.astype(float)) - self.offset
        tilted = np.asarray(logprobs) + slope * _STEPS
        total = np.logaddexp.reduce(logprobs) - np.logaddexp.reduce(tilted)
        return tuple((tilted + total).tolist())


def read_rating_head(card: JudgeCard) -> RatingHead | None:
    """The rating head that a card names; None where it names none.

    Raises:
        DataError: its file cannot be read.
        ConfigError: the file is damaged, or not the one that the card pins.
    """
    option = card.options.get("rating_head")
    if option is None:
        return None
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = card.locate(option["file"])
    found = sha256_of(path)
    if found != option["sha256"]:
        raise ConfigError(
            f"judge {card.name!r}: {path} is not the file that its card pins: expected sha256 "
            f"{option['sha256']}, found {found}",
            hint="Get the judge's files again from their source.",
        )
    try:
        tensors = load_file(path)
        direction, offset = tensors["direction"].astype(np.float32), tensors["offset"]
        return RatingHead(direction=direction.reshape(-1), offset=float(offset.reshape(())))
    except (SafetensorError, KeyError, ValueError) as error:
        raise ConfigError(f"judge {card.name!r}: {path} is no rating head: {error}") from None
