"""Choice heads: what a judge's adapter adds to the scores of a question's choices.

LoRA changes every layer and is trained on a GPU. A head is a linear layer on the last state of a
prompt, which the choices' scores follow from. It is fitted in seconds to votes that two cores have
read (`benchmarks.choice_heads`), tells people's choices from the answers that the model was trained
to write, and changes nothing but the probabilities of verdicts: no token is written by it, though a
critique is written for the verdict that it made.

Heads are tensors of the adapter's weights file, so whatever pins that file pins them, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from autoj.critiques import DECISION_OPENING, RATING_CHOICES, RATING_OPENING, decision_names
from autoj.errors import ConfigError

PREFIX = "choice_heads."
"""The names of its tensors in an adapter's file begin with it."""

Floats = npt.NDArray[np.floating[Any]]


class ScoredQuestion(NamedTuple):
    """A question that a head may be for: it scores these choices, after this opening."""

    prefix: str
    choices: tuple[str, ...]
    moves: tuple[tuple[float, ...], ...]
    """The change of each choice's log-probability, per unit of each of the head's outputs."""


QUESTIONS = {
    "rating": ScoredQuestion(
        RATING_OPENING["en"],
        RATING_CHOICES,
        moves=(tuple(rating - 5.5 for rating in range(1, 11)),),
    ),
    "comparison": ScoredQuestion(
        DECISION_OPENING["en"],
        tuple(decision_names().values()),
        # The first response against the second, and a tie against both.
        moves=((0.5, -0.5, 0.0), (0.0, 0.0, 1.0)),
    ),
}
"""By the name of the head, in English: it is fitted to English votes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChoiceHead:
    """Moves the log-probabilities of a question's choices by a linear function of the state."""

    question: ScoredQuestion
    weight: Floats
    """[n_moves, width]"""
    bias: Floats
    """[n_moves]"""

    def moved(self, logprobs: Sequence[float], state: Floats) -> tuple[float, ...]:
        """The log-probabilities of the choices; the probability of all together stays.

        Args:
            logprobs: those of the model, [n_choices].
            state: the model's last one of the prompt, before its vocabulary, [width].

        Raises:
            ConfigError: the head was made for another model.
        """
        if len(state) != self.weight.shape[1]:
            raise ConfigError(
                f"the adapter's head reads {self.weight.shape[1]:,} numbers of the model's state, "
                f"and this model has {len(state):,}",
                hint="It was fitted to another model; get the adapter's files again.",
            )
        outputs = self.weight @ state.astype(float) + self.bias
        moved = np.asarray(logprobs) + outputs @ np.array(self.question.moves)
        kept = np.logaddexp.reduce(logprobs) - np.logaddexp.reduce(moved)
        return tuple((moved + kept).tolist())


class ChoiceHeads:
    """The heads of an adapter; often none."""

    def __init__(self, heads: Mapping[str, ChoiceHead] | None = None) -> None:
        self._heads = dict(heads or {})

    def __bool__(self) -> bool:
        return bool(self._heads)

    @property
    def widths(self) -> set[int]:
        """The widths of the states that they read; one where they were made for one model."""
        return {head.weight.shape[1] for head in self._heads.values()}

    def of(self, prefix: str | None, choices: Sequence[str] | None) -> ChoiceHead | None:
        """The head for what a request asks; None where there is none."""
        asked = (prefix, tuple(choices or ()))
        for head in self._heads.values():
            if (head.question.prefix, head.question.choices) == asked:
                return head
        return None


def parse_choice_heads(tensors: Mapping[str, Floats], where: str) -> ChoiceHeads:
    """The heads among the tensors of an adapter's weights file.

    Args:
        tensors: those whose names begin with `PREFIX`.
        where: names the file, for messages.

    Raises:
        ConfigError: a head is incomplete, has another shape, or is for an unknown question.
    """
    own = {name.removeprefix(PREFIX): rows.astype(float) for name, rows in tensors.items()}
    heads = sorted({name.partition(".")[0] for name in own})
    return ChoiceHeads({name: _head(name, own, where) for name in heads})


def _head(name: str, tensors: Mapping[str, Floats], where: str) -> ChoiceHead:
    question = QUESTIONS.get(name)
    if question is None:
        raise ConfigError(
            f"{where}: tensor '{PREFIX}{name}…' is a head for an unknown question, expected one "
            f"of {', '.join(QUESTIONS)}",
            hint="A later version of autoj may know it.",
        )
    own = {key: rows for key, rows in tensors.items() if key.partition(".")[0] == name}
    if set(own) != {f"{name}.weight", f"{name}.bias"}:
        raise ConfigError(
            f"{where}: a head needs '{PREFIX}{name}.weight' and '.bias', found {sorted(own)}",
            hint="Get the adapter's files again from their source.",
        )
    weight, bias = own[f"{name}.weight"], own[f"{name}.bias"]
    n_moves = len(question.moves)
    fits = weight.ndim == 2 and len(weight) == n_moves and weight.size
    if not fits or bias.shape != (n_moves,):
        raise ConfigError(
            f"{where}: the head '{PREFIX}{name}' has shapes {weight.shape} and {bias.shape}, "
            f"expected ({n_moves}, the model's width) and ({n_moves},)",
            hint="Get the adapter's files again from their source.",
        )
    return ChoiceHead(question=question, weight=weight, bias=bias)
