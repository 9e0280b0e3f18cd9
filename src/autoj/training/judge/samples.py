"""Planned samples to token ids: prompts built by the protocols, cut as at inference, and targets.

What a sample is to teach stands beside its tokens: text to write, probabilities of choices, or
which of several responses should be rated higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from autoj.backends._choices import ChoiceTrie
from autoj.backends.base import Limits
from autoj.backends.hf.encoding import Encoder
from autoj.backends.scalar.inputs import Inputs
from autoj.chat import Template
from autoj.critiques import swap_responses
from autoj.protocols import load_protocol
from autoj.protocols.base import RequestBody
from autoj.protocols.single import RATINGS
from autoj.records import WINNERS, Case, Decoding, JudgeCard, Verdict
from autoj.runs.fit import Build, Fitted, Page, fit
from autoj.training.judge.plans import Planned
from autoj.training.judge.prose import pair_factors, render_factors, single_critique
from autoj.training.judge.recipe import Objective, Recipe
from autoj.training.judge.rows import Comparison, Row, winner_of

__all__ = ["Choice", "Compared", "Sample", "SampleEncoder", "Written"]


@dataclass(frozen=True, slots=True)
class Written:
    """The judge is to write these tokens after the prompt."""

    n_prompt: int
    """How many of the sequence's tokens are the prompt; the loss is on the others."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The judge is to give the choices these probabilities."""

    weights: tuple[float, ...]
    """One per choice; they sum to 1."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The judge is to rate some sequences higher than others."""

    comparisons: tuple[Comparison, ...]


Target: TypeAlias = Written | Choice | Compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What a model reads and what it is to learn from it."""

    objective: int
    case_id: str
    sequences: tuple[ChoiceTrie, ...]
    """One, or those that are compared."""
    target: Target

    @property
    def n_tokens(self) -> int:
        """Tokens of all sequences."""
        return sum(sequence.n_tokens for sequence in self.sequences)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """A judge's eyes without the judge: how much it may read, and how tokens are counted."""

    card: JudgeCard
    limits: Limits
    encoder: Encoder | Inputs

    @property
    def template(self) -> Template | None:
        return self.encoder.template if isinstance(self.encoder, Encoder) else None

    def count_tokens(self, text: str) -> int:
        return self.encoder.count(text)


class SampleEncoder:
    """Planned samples to token ids: the same as the judge reads at inference."""

    def __init__(
        self, recipe: Recipe, card: JudgeCard, encoder: Encoder, scalar: Inputs | None = None
    ) -> None:
        """Encode for a judge.

        Args:
            recipe: says the objectives and the most tokens.
            card: the judge's; its wrapper marks turns.
            encoder: its tokenizer.
            scalar: how a reward model reads a query and a response, where one is trained.
        """
        self._recipe = recipe
        self._encoder = encoder
        self._scalar = scalar
        limits = Limits(context_tokens=recipe.max_tokens, scores_choices=True, streams=False)
        self._reader = _Reader(card=card, limits=limits, encoder=encoder)
        self._scalar_reader = (
            None if scalar is None else _Reader(card=card, limits=limits, encoder=scalar)
        )

    def encode(self, planned: Planned) -> Sample:
        """The sample's sequences and target; long responses lose their middle.

        Raises:
            DataError: the sample is too long and cannot be cut: its query or its judgment fills it.
        """
        objective = self._recipe.objectives[planned.objective]
        match objective.kind:
            case "judgment" | "critique":
                sequences, target = self._written(planned, objective)
            case "decision":
                sequences, target = self._chosen(planned, objective)
            case "preference":
                sequences, target = self._rated(planned, objective), _compared(planned)
            case "scalar":
                sequences, target = self._scored(planned, objective), _compared(planned)
        return Sample(
            objective=planned.objective,
            case_id=planned.row.case.id,
            sequences=sequences,
            target=target,
        )

    def _written(
        self, planned: Planned, objective: Objective
    ) -> tuple[tuple[ChoiceTrie, ...], Target]:
        protocol = load_protocol(objective.protocol)
        written = _text_to_write(planned.row, objective, planned.case)
        completion = self._encoder.completion(written)

        def build(cut: Case, page: Page) -> RequestBody:
            if objective.kind == "judgment":
                return protocol.build(cut, page)
            body = protocol.follow(cut, _known_verdict(cut), page)
            assert body is not None
            return body

        body = _fit(planned, _page(planned.case), build, self._reader, len(completion))
        prompt = self._encoder.prompt(body)
        return (_plain([*prompt, *completion]),), Written(n_prompt=len(prompt))

    def _chosen(
        self, planned: Planned, objective: Objective
    ) -> tuple[tuple[ChoiceTrie, ...], Target]:
        protocol = load_protocol(objective.protocol)
        page = _page(planned.case)
        body = _fit(planned, page, protocol.build, self._reader, _FORCED_TOKENS)
        weights = _weights(planned.case, objective.label_smoothing)
        return (self._encoder.trie(body),), Choice(weights=weights)

    def _rated(self, planned: Planned, objective: Objective) -> tuple[ChoiceTrie, ...]:
        protocol = load_protocol(objective.protocol)
        tries: list[ChoiceTrie] = []
        # Each response is fitted alone, as in a run: a long one must not cost the other its middle.
        for index in range(len(planned.case.responses)):
            body = _fit(planned, (index,), protocol.build, self._reader, _FORCED_TOKENS)
            tries.append(self._encoder.trie(body))
        return tuple(tries)

    def _scored(self, planned: Planned, objective: Objective) -> tuple[ChoiceTrie, ...]:
        assert self._scalar is not None
        assert self._scalar_reader is not None
        protocol = load_protocol(objective.protocol)
        sequences: list[ChoiceTrie] = []
        for index in range(len(planned.case.responses)):
            body = _fit(planned, (index,), protocol.build, self._scalar_reader, 0)
            query, response = (message.content for message in body.messages)
            encoded = self._scalar.encode(query, response)
            if encoded is None:
                raise planned.row.error("a text of it holds the judge's own marks")
            sequences.append(_plain(encoded.ids))
        return tuple(sequences)


def _compared(planned: Planned) -> Compared:
    return Compared(comparisons=planned.row.comparisons)


# A forced choice is a few words; the same room that a run leaves for it.
_FORCED_TOKENS = 32


def _fit(
    planned: Planned, page: Page, build: Build, reader: _Reader, n_completion: int
) -> RequestBody:
    """The request about a sample's case, with responses cut until it and what is written fit."""
    decoding = Decoding(max_tokens=n_completion)
    fitted = fit(planned.case, (page,), build, reader, decoding, "truncate")
    if isinstance(fitted, Fitted):
        return fitted.bodies[0]
    what = "its query fills it"
    if n_completion >= reader.limits.context_tokens:
        what = f"the {n_completion:,} tokens of its judgment fill it"
    raise planned.row.error(
        f"is longer than max_tokens ({reader.limits.context_tokens:,}), and cutting its responses "
        f"does not help: {what}"
    )


def _page(case: Case) -> tuple[int, ...]:
    return tuple(range(len(case.responses)))


def _plain(tokens: Sequence[int]) -> ChoiceTrie:
    return ChoiceTrie(root=tuple(tokens), tokens=(), parents=(), steps=())


def _text_to_write(row: Row, objective: Objective, case: Case) -> str:
    """What the judge is to write after the prompt and its forced opening."""
    judgment = row.judgment
    assert judgment is not None
    if len(case.responses) == 1:
        # After the verdict the rating is the protocol's to write, and not the judge's.
        return judgment.strip() if objective.kind == "judgment" else single_critique(judgment)
    if objective.kind == "judgment":
        in_frame = judgment if case is row.case else swap_responses(judgment)
        return in_frame.strip()
    listed = render_factors(pair_factors(judgment))
    in_frame = listed if case is row.case else swap_responses(listed)
    return in_frame.removeprefix("-")


def _known_verdict(case: Case) -> Verdict:
    """The verdict that a case's critique is written for: its label."""
    if isinstance(case.label, float):
        return Verdict(case_id=case.id, judge="label", ratings=(case.label,))
    return Verdict(case_id=case.id, judge="label", winner=winner_of(case))


def _weights(case: Case, smoothing: float) -> tuple[float, ...]:
    """What probability each choice of a protocol that only decides should have.

    A label gives up `smoothing` to the other decisions, or to the ratings next to it; a rating
    between two choices is shared by them.
    """
    if isinstance(case.label, float):
        return _rating_weights(case.label, smoothing)
    winner = winner_of(case)
    others = smoothing / (len(WINNERS) - 1)
    return tuple(1 - smoothing if known == winner else others for known in WINNERS)


def _rating_weights(rating: float, smoothing: float) -> tuple[float, ...]:
    weights = [max(0.0, 1 - abs(rating - choice)) for choice in RATINGS]
    smoothed = [(1 - smoothing) * weight for weight in weights]
    for index, weight in enumerate(weights):
        neighbours = [near for near in (index - 1, index + 1) if 0 <= near < len(weights)]
        for near in neighbours:
            smoothed[near] += smoothing * weight / len(neighbours)
    return tuple(smoothed)
