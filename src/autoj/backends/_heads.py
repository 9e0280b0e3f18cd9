"""Heads: linear layers by which a judge's adapter moves the scores of a question's choices.

LoRA changes every layer and is trained on a GPU. A head reads the last state of a prompt, which the
choices' scores follow from, and is fitted in seconds to states that two cores have read
(`benchmarks.heads`). No token is written by it, though a critique is written for the verdict that
it made; and proofreading, whose thresholds were fitted without heads, asks without them.

Heads are tensors of the adapter's weights file, so whatever pins that file pins them, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from autoj.backends._adapter_config import GET_AGAIN
from autoj.critiques import DECISION_OPENING, RATING_CHOICES, RATING_OPENING, decision_names
from autoj.errors import ConfigError

RATING, COMPARISON = "rating_head.", "comparison_head."
PREFIXES = (RATING, COMPARISON)
"""Beginnings of the names of their tensors in an adapter's file: each has a weight [width], a bias
and a sharpness."""

_RATING_STEPS = np.arange(1, 11) - 5.5
_COMPARISON_STEPS = np.array([0.5, -0.5, 0.0])

Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Head:
    """Moves the log-probabilities of choices along fixed steps, by a linear function of the state.

    What it moves lies nearer to the middle than before. So the result is sharpened until answers
    spread as they do without a head: a good answer keeps its 8, and a threshold its meaning.
    """

    weight: Floats
    """[width]"""
    bias: float
    sharpness: float = 1.0
    """The factor of the moved log-probabilities; above 0."""
    steps: Floats
    """The change of each choice's log-probability for an output of 1, [n_choices]."""

    def apply(self, logprobs: Floats, states: Floats) -> Floats:
        """The log-probabilities of choices, moved and sharpened, not normalised.

        Args:
            logprobs: those of the model, [..., n_choices].
            states: the model's last ones of the prompts, before its vocabulary, [..., width].
        """
        outputs = states @ self.weight + self.bias
        scores: Floats = self.sharpness * (logprobs + outputs[..., None] * self.steps)
        return scores

    def moved(self, logprobs: Sequence[float], state: Floats) -> tuple[float, ...]:
        """The log-probabilities of the choices; the probability of all together stays.

        Args:
            logprobs: those of the model, [n_choices].
            state: the model's last one of the prompt, before its vocabulary, [width].

        Raises:
            ConfigError: the head was made for another model.
        """
        if len(state) != len(self.weight):
            raise ConfigError(
                f"the adapter's head reads {len(self.weight):,} numbers of the model's "
                f"state, and this model has {len(state):,}",
                hint="It was fitted to another model; get the adapter's files again.",
            )
        moved = self.apply(np.asarray(logprobs), state.astype(float))
        kept = np.logaddexp.reduce(logprobs) - np.logaddexp.reduce(moved)
        return tuple((moved + kept).tolist())


def rating_head(weight: Floats, bias: float, sharpness: float = 1.0) -> Head:
    """A head for the ten ratings, lowest first: each moves by its distance from the middle."""
    return Head(weight=weight, bias=bias, sharpness=sharpness, steps=_RATING_STEPS)


def comparison_head(weight: Floats, bias: float, sharpness: float = 1.0) -> Head:
    """A head for the first response, the second and a tie: the first moves against the second."""
    return Head(weight=weight, bias=bias, sharpness=sharpness, steps=_COMPARISON_STEPS)


_MAKERS = {RATING: rating_head, COMPARISON: comparison_head}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Heads:
    """The heads of an adapter; None where it has none."""

    rating: Head | None = None
    comparison: Head | None = None

    def __bool__(self) -> bool:
        return self.rating is not None or self.comparison is not None

    def of(self, prefix: str | None, choices: Sequence[str] | None) -> Head | None:
        """The head for what a request scores, in English, which heads are fitted to."""
        asked = (prefix, tuple(choices or ()))
        if asked == (RATING_OPENING["en"], RATING_CHOICES):
            return self.rating
        if asked == (DECISION_OPENING["en"], tuple(decision_names().values())):
            return self.comparison
        return None


def parse_heads(tensors: Mapping[str, Floats], where: str) -> Heads:
    """The heads among the tensors of an adapter's weights file.

    Args:
        tensors: those whose names begin with one of `PREFIXES`.
        where: names the file, for messages.

    Raises:
        ConfigError: a head is incomplete, or has another shape.
    """
    return Heads(
        rating=_parse(RATING, tensors, where), comparison=_parse(COMPARISON, tensors, where)
    )


def _parse(prefix: str, tensors: Mapping[str, Floats], where: str) -> Head | None:
    own = {name: rows for name, rows in tensors.items() if name.startswith(prefix)}
    if not own:
        return None
    names = [f"{prefix}{part}" for part in ("weight", "bias", "sharpness")]
    kind = prefix.removesuffix("_head.")
    if sorted(own) != sorted(names):
        raise ConfigError(
            f"{where}: a {kind} head needs {', '.join(map(repr, names))}, found {sorted(own)}",
            hint=GET_AGAIN,
        )
    weight, bias, sharpness = (own[name] for name in names)
    if weight.ndim != 1 or bias.size != 1 or sharpness.size != 1:
        raise ConfigError(
            f"{where}: its {kind} head has shapes {weight.shape}, {bias.shape} and "
            f"{sharpness.shape}, expected (the model's width,) and two single numbers",
            hint=GET_AGAIN,
        )
    if sharpness.item() <= 0:
        raise ConfigError(
            f"{where}: its {kind} head has the sharpness {sharpness.item():g}, expected above 0",
            hint=GET_AGAIN,
        )
    return _MAKERS[prefix](weight.astype(float), float(bias.item()), float(sharpness.item()))
