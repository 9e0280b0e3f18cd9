"""Tokenised samples: prompts built by the protocols and cut as at inference, with their targets.

A target is a text to write, probabilities of choices, or the responses to rate higher.
"""

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
from autoj.runs.fit import Build, Fitted, Page, fit, fit_query
from autoj.training.judge.plans import Planned
from autoj.training.judge.prose import pair_factors, render_factors, single_critique
from autoj.training.judge.recipe import Objective, Recipe
from autoj.training.judge.rows import ComparedResponses, TrainingRow, winner_of


@dataclass(frozen=True, slots=True)
class Written:
    """A target text, written after the prompt."""

    n_prompt: int
    """The number of tokens of the prompt; the loss is on the tokens after it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Target probabilities of a forced choice."""

    weights: tuple[float, ...]
    """One probability per choice; they sum to 1."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Target comparisons: sequences to rate higher than others."""

    comparisons: tuple[ComparedResponses, ...]


Target: TypeAlias = Written | Choice | Compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A training sample: token sequences and their target."""

    objective: int
    case_id: str
    sequences: tuple[ChoiceTrie, ...]
    """One sequence, or those that are compared."""
    target: Target

    @property
    def n_tokens(self) -> int:
        """The number of tokens of all sequences."""
        return sum(sequence.n_tokens for sequence in self.sequences)


def n_asked(sample: Sample) -> int:
    """The number of positions whose logits a sample's loss needs; a score has none of its own.

    Choices need those of a few positions; a text needs those of each of its tokens.
    """
    if isinstance(sample.target, Written):
        return sample.n_tokens - sample.target.n_prompt
    return sum(len(one.tokens) + 1 for one in sample.sequences if one.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """The tokenizer and the limits of a judge, without its model."""

    card: JudgeCard
    limits: Limits
    encoder: Encoder | Inputs

    @property
    def template(self) -> Template | None:
        return self.encoder.template if isinstance(self.encoder, Encoder) else None

    def count_tokens(self, text: str) -> int:
        return self.encoder.count(text)


class SampleEncoder:
    """Encodes planned samples to the token ids that the judge reads at inference."""

    def __init__(
        self, recipe: Recipe, card: JudgeCard, encoder: Encoder, scalar: Inputs | None = None
    ) -> None:
        """Prepares encoding for a judge.

        Args:
            recipe: states the objectives and the maximum length.
            card: the judge's card; its wrapper marks turns.
            encoder: its tokenizer.
            scalar: the protocol and template of a reward model, if one is trained.
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
        """Encodes a sample's sequences and target; long responses lose their middle.

        Raises:
            DataError: the sample is too long without its responses: its query or its judgment is.
        """
        objective = self._recipe.objectives[planned.objective]
        match objective.kind:
            case "judgment" | "critique":
                sequences, target = self._written(planned, objective)
            case "scenario":
                sequences, target = self._named(planned, objective)
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

    def _named(
        self, planned: Planned, objective: Objective
    ) -> tuple[tuple[ChoiceTrie, ...], Target]:
        scenario = planned.case.scenario
        assert scenario is not None
        # The paper's prompt asks for the early name of `others`.
        name = "default" if scenario == "others" else scenario
        completion = self._encoder.completion(name)
        decoding = Decoding(max_tokens=len(completion))
        protocol = load_protocol(objective.protocol)
        fitted = fit_query(planned.case, ((),), protocol.build, self._reader, decoding)
        if not isinstance(fitted, Fitted):
            raise planned.row.error(fitted.message)
        prompt = self._encoder.prompt(fitted.bodies[0])
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
        # Each response is cut alone, as in a run: a long one must not shorten the other.
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
                raise planned.row.error("its texts contain control tokens of the judge")
            sequences.append(_plain(encoded.ids))
        return tuple(sequences)


def _compared(planned: Planned) -> Compared:
    return Compared(comparisons=planned.row.comparisons)


# A forced choice is a few words; a run reserves the same number of tokens.
_FORCED_TOKENS = 32


def _fit(
    planned: Planned, page: Page, build: Build, reader: _Reader, n_completion: int
) -> RequestBody:
    """Builds the request about a sample's case, with responses cut until it and its target fit."""
    decoding = Decoding(max_tokens=n_completion)
    fitted = fit(planned.case, (page,), build, reader, decoding, "truncate")
    if isinstance(fitted, Fitted):
        return fitted.bodies[0]
    what = "its query is too long"
    if n_completion >= reader.limits.context_tokens:
        what = f"its judgment has {n_completion:,} tokens"
    raise planned.row.error(
        f"the sample is longer than max_tokens ({reader.limits.context_tokens:,}) even with its "
        f"responses cut: {what}"
    )


def _page(case: Case) -> tuple[int, ...]:
    return tuple(range(len(case.responses)))


def _plain(tokens: Sequence[int]) -> ChoiceTrie:
    return ChoiceTrie(root=tuple(tokens), tokens=(), parents=(), steps=())


def _text_to_write(row: TrainingRow, objective: Objective, case: Case) -> str:
    """The target text, after the prompt and its forced opening."""
    judgment = row.judgment
    assert judgment is not None
    if len(case.responses) == 1:
        # In a critique after the verdict, the protocol and not the judge writes the rating.
        return judgment.strip() if objective.kind == "judgment" else single_critique(judgment)
    if objective.kind == "judgment":
        in_frame = judgment if case is row.case else swap_responses(judgment)
        return in_frame.strip()
    listed = render_factors(pair_factors(judgment))
    in_frame = listed if case is row.case else swap_responses(listed)
    return in_frame.removeprefix("-")


def _known_verdict(case: Case) -> Verdict:
    """The verdict that a case's critique argues for: its label."""
    if isinstance(case.label, float):
        return Verdict(case_id=case.id, judge="label", ratings=(case.label,))
    return Verdict(case_id=case.id, judge="label", winner=winner_of(case))


def _weights(case: Case, smoothing: float) -> tuple[float, ...]:
    """The target probability of each choice of a protocol that only decides.

    `smoothing` is taken from the label and given to the other decisions, or to the adjacent
    ratings; a rating between two choices is shared by them.
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
