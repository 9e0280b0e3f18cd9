"""Rows to samples: prompts built by the protocols, cut as at inference, with what is to be learnt.

Two steps, since the first is cheap and finds what is wrong with the data, and the second takes a
tokenizer: `plan_samples` says which samples the rows give, `SampleEncoder` makes token ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from autoj.backends._choices import ChoiceTrie
from autoj.backends.base import Limits
from autoj.backends.hf.encoding import Encoder
from autoj.backends.scalar.inputs import Inputs
from autoj.critiques import swap_responses
from autoj.errors import DataError
from autoj.protocols import load_protocol
from autoj.protocols.base import JudgeProtocol, RequestBody
from autoj.protocols.single import RATINGS
from autoj.records import (
    WINNERS,
    Case,
    Decision,
    Decoding,
    JudgeCard,
    Rating,
    Reading,
    Unreadable,
    Verdict,
    Winner,
)
from autoj.runs.fit import Fitted, fit
from autoj.training.prose import (
    closing_number,
    pair_factors,
    render_factors,
    single_critique,
)
from autoj.training.recipe import Objective, Recipe
from autoj.training.rows import Row
from autoj.verdicts import to_winner

__all__ = [
    "Choice",
    "Planned",
    "Preferred",
    "Sample",
    "SampleEncoder",
    "SamplePlan",
    "Written",
    "plan_samples",
    "swapped",
]


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
class Preferred:
    """The judge is to rate the first of two sequences higher ("a"), the second, or neither."""

    winner: Winner


Target: TypeAlias = Written | Choice | Preferred


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A sample to make."""

    row: Row
    objective: int
    """Which of the recipe's objectives it serves."""
    case: Case
    """The row's case, or the same with its responses exchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePlan:
    """What the rows of some files give."""

    samples: tuple[Planned, ...]
    n_rows: int
    n_unused: int
    """Rows that serve no objective."""
    bad_rows: tuple[DataError, ...]

    def counts(self) -> Counter[int]:
        """How many samples each objective has."""
        return Counter(sample.objective for sample in self.samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What a model reads and what it is to learn from it."""

    objective: int
    case_id: str
    sequences: tuple[ChoiceTrie, ...]
    """One, or the two that are compared."""
    target: Target

    @property
    def n_tokens(self) -> int:
        """Tokens of all sequences."""
        return sum(sequence.n_tokens for sequence in self.sequences)


def plan_samples(
    rows: Sequence[Row], recipe: Recipe, *, augment: bool, lenient: bool
) -> SamplePlan:
    """Which samples some rows give.

    A row serves each objective that it has what for: a label, or a judgment, of as many responses.

    Args:
        rows: what was read.
        recipe: says the objectives.
        augment: whether pairs are shown in both orders and single responses repeated; not for
            validation.
        lenient: whether a row whose judgment cannot be read is left out and counted.

    Raises:
        DataError: a judgment is unreadable or contradicts its row's label, unless `lenient`.

    **Source:** section 4 of the paper: each pair in both orders, singles repeated as often.
    """
    swap = augment and recipe.swap_pairs
    shows_pairs = any(_is_swapped(objective) for objective in recipe.objectives)
    n_copies = 2 if swap and recipe.balance and shows_pairs else 1
    planned: list[Planned] = []
    bad_rows: list[DataError] = []
    n_unused = 0
    for row in rows:
        mine: list[Planned] = []
        for index, objective in enumerate(recipe.objectives):
            try:
                if _serves(row, objective):
                    cases = _versions(row.case, objective, swap, n_copies)
                    mine += [Planned(row=row, objective=index, case=case) for case in cases]
            except DataError as error:
                if not lenient:
                    raise
                bad_rows.append(error)
        n_unused += not mine
        planned += mine
    return SamplePlan(
        samples=tuple(planned), n_rows=len(rows), n_unused=n_unused, bad_rows=tuple(bad_rows)
    )


def _is_swapped(objective: Objective) -> bool:
    """Whether an objective shows both responses of a pair on one page, where one stands first."""
    if objective.subject != "pair":
        return False
    # A critique is of both, however the verdict came about.
    return objective.kind == "critique" or not load_protocol(objective.protocol).reads_alone


def _versions(case: Case, objective: Objective, swap: bool, n_copies: int) -> list[Case]:
    """A case as often and in as many orders as an objective is trained on it."""
    if len(case.responses) == 1:
        return [case] * n_copies
    return [case, swapped(case)] if swap and _is_swapped(objective) else [case]


def _serves(row: Row, objective: Objective) -> bool:
    """Whether a row has what an objective needs.

    Raises:
        DataError: it has a judgment that cannot be read, or one that contradicts its label.
    """
    n_wanted = {"pair": 2, "response": 1}.get(objective.subject)
    if n_wanted is None or len(row.case.responses) != n_wanted:
        return False
    if objective.kind in ("decision", "preference", "scalar"):
        return _label_fits(row, objective)
    if row.judgment is None:
        return False
    if objective.kind == "critique":
        if not (_label_fits(row, objective) and _has_critique(row)):
            return False
        _check_stated(row, row.judgment)
        return True
    _check_judgment(row, load_protocol(objective.protocol).parse(row.judgment))
    return True


def _label_fits(row: Row, objective: Objective) -> bool:
    label = row.case.label
    if objective.subject == "pair":
        return label in WINNERS
    if not isinstance(label, float):
        return False
    if not RATINGS[0] <= label <= RATINGS[-1]:
        raise row.error(f"expected a rating from 1 to 10, found {label:g}", "label")
    return True


def _has_critique(row: Row) -> bool:
    """Whether a judgment says why; a bare decision is no critique, and nothing is wrong with it."""
    assert row.judgment is not None
    pair = len(row.case.responses) == 2
    return bool(pair_factors(row.judgment) if pair else single_critique(row.judgment))


def _check_stated(row: Row, judgment: str) -> None:
    """A critique must be for the label: what its judgment states is read, as far as it does."""
    pair = len(row.case.responses) == 2
    reading = load_protocol("pairwise" if pair else "single").parse(judgment)
    if pair and isinstance(reading, Unreadable):
        # A review in running text ends with a number, or states nothing.
        stated = closing_number(judgment)
        if stated is None:
            return
        reading = Decision(shown=stated)
    _check_judgment(row, reading)


def _check_judgment(row: Row, reading: Reading) -> None:
    if isinstance(reading, Unreadable):
        raise row.error(f"its judgment cannot be read: {reading.reason}")
    stated = _stated(reading)
    if row.case.label is not None and stated != row.case.label:
        raise row.error(f"its judgment says {stated!r}, and its label {row.case.label!r}", "label")


def _stated(reading: Reading) -> Winner | float | None:
    match reading:
        case Decision(shown=shown):
            return to_winner(shown, (0, 1))
        case Rating(value=value):
            return value
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """A judge's eyes without the judge: how much it may read, and how tokens are counted."""

    card: JudgeCard
    limits: Limits
    encoder: Encoder | Inputs

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
                sequences, target = self._preferred(planned, objective)
            case "scalar":
                sequences, target = self._scored(planned, objective)
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

        def build(cut: Case) -> list[RequestBody]:
            if objective.kind == "judgment":
                return [protocol.build(cut, _page(cut))]
            body = protocol.follow(cut, _known_verdict(cut), _page(cut))
            assert body is not None
            return [body]

        (body,) = _fit(planned, build, self._reader, len(completion))
        prompt = self._encoder.prompt(body)
        return (_plain([*prompt, *completion]),), Written(n_prompt=len(prompt))

    def _chosen(
        self, planned: Planned, objective: Objective
    ) -> tuple[tuple[ChoiceTrie, ...], Target]:
        protocol = load_protocol(objective.protocol)
        (body,) = _fit(
            planned, lambda cut: [protocol.build(cut, _page(cut))], self._reader, _FORCED_TOKENS
        )
        weights = _weights(planned.case, objective.label_smoothing)
        return (self._encoder.trie(body),), Choice(weights=weights)

    def _preferred(
        self, planned: Planned, objective: Objective
    ) -> tuple[tuple[ChoiceTrie, ...], Target]:
        protocol = load_protocol(objective.protocol)
        tries: list[ChoiceTrie] = []
        # Each response is fitted alone, as in a run: a long one must not cost the other its middle.
        for index in (0, 1):
            (body,) = _fit(
                planned, partial(_build_one, protocol, index), self._reader, _FORCED_TOKENS
            )
            tries.append(self._encoder.trie(body))
        return tuple(tries), Preferred(winner=_winner(planned.case))

    def _scored(
        self, planned: Planned, objective: Objective
    ) -> tuple[tuple[ChoiceTrie, ...], Target]:
        assert self._scalar is not None
        assert self._scalar_reader is not None
        protocol = load_protocol(objective.protocol)
        sequences: list[ChoiceTrie] = []
        for index in (0, 1):
            (body,) = _fit(planned, partial(_build_one, protocol, index), self._scalar_reader, 0)
            query, response = (message.content for message in body.messages)
            encoded = self._scalar.encode(query, response)
            if encoded is None:
                raise planned.row.error("a text of it holds the judge's own marks")
            sequences.append(_plain(encoded.ids))
        return tuple(sequences), Preferred(winner=_winner(planned.case))


# A forced choice is a few words; the same room that a run leaves for it.
_FORCED_TOKENS = 32


def _build_one(protocol: JudgeProtocol, index: int, cut: Case) -> list[RequestBody]:
    return [protocol.build(cut, (index,))]


def _fit(
    planned: Planned,
    build: Callable[[Case], list[RequestBody]],
    reader: _Reader,
    n_completion: int,
) -> list[RequestBody]:
    """The requests about a sample's case, with responses cut until they and what is written fit."""
    decoding = Decoding(max_tokens=n_completion)
    fitted = fit(planned.case, build, reader, decoding, "truncate")
    if isinstance(fitted, Fitted):
        return fitted.bodies
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
    return Verdict(case_id=case.id, judge="label", winner=_winner(case))


def _winner(case: Case) -> Winner:
    assert case.label in WINNERS
    return case.label


def swapped(case: Case) -> Case:
    """A pair with its responses and, where it has one, its label exchanged."""
    other: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}
    label = None if case.label is None else other[_winner(case)]
    return replace(case, responses=case.responses[::-1], label=label)


def _weights(case: Case, smoothing: float) -> tuple[float, ...]:
    """What probability each choice of a protocol that only decides should have.

    A label gives up `smoothing` to the other decisions, or to the ratings next to it; a rating
    between two choices is shared by them.
    """
    if isinstance(case.label, float):
        return _rating_weights(case.label, smoothing)
    winner = _winner(case)
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
