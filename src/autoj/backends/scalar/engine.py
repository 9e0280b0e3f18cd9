"""The reward-model engine: windows of requests, sorted by length, scored in batches."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from autoj.backends._loading import in_short
from autoj.backends.base import Limits, OnText, Outcome
from autoj.backends.hf.memory import is_out_of_memory, no_room_for_a_request
from autoj.backends.scalar.inputs import Encoded, Inputs
from autoj.errors import BackendError, ConfigError
from autoj.records import Completion, Failure, JudgeCard, Request

# A window is the number of requests read ahead: large enough that sorting by length leaves little
# padding, small enough that memory and the first results do not wait for it.
_WINDOW_REQUESTS = 128
# Tokens per forward pass, with padding.
_BATCH_TOKENS = {"cpu": 2048, "cuda": 32768}
_LOWER = "Lower context_tokens of the card, or use options.precision bfloat16."


class ScalarBackend:
    """Runs a reward model; a completion's text is its score, as a decimal that reads back exactly.

    Sequences are padded on the right and masked, so that a score does not depend on its batch
    beyond the rounding of the arithmetic: about 1e-6 of it in float32, 1e-2 in bfloat16.
    """

    def __init__(self, card: JudgeCard, tokenizer: Any, model: Any) -> None:
        self.card = card
        self._inputs = Inputs(card, tokenizer)
        self._model = model
        self._config = model.config.get_text_config()
        self._given_pad: int | None = self._config.pad_token_id
        self._column = _column(card, model.config)
        self.limits = Limits(
            context_tokens=_most_tokens(card, tokenizer, self._config),
            scores_choices=False,
            streams=False,
        )

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        """Scores requests in windows sorted by length.

        Raises:
            ConfigError: a request is not of a protocol that only shows a query and a response, or
                memory is too small for one; earlier outcomes stay valid.
            BackendError: the model broke down.
        """
        ahead = iter(requests)
        while window := list(islice(ahead, _WINDOW_REQUESTS)):
            yield from self._score(window)

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text as the model reads it; never too low."""
        return self._inputs.count(text)

    def close(self) -> None:
        """Frees the model."""
        self._model = None

    def _score(self, window: list[Request]) -> Iterator[Outcome]:
        ready: list[tuple[Request, Encoded]] = []
        for request in window:
            encoded = self._inputs.encode(*_texts(request, self.card))
            if encoded is None:
                yield _failure(request, "ForgedTurn", "a judged text holds the judge's own marks")
            elif len(encoded.ids) > self.limits.context_tokens:
                said = (
                    f"{len(encoded.ids):,} tokens; the judge reads {self.limits.context_tokens:,}"
                )
                yield _failure(request, "ContextOverflow", f"the prompt has {said}")
            else:
                ready.append((request, encoded))
        ready.sort(key=lambda pair: len(pair[1].ids))
        for batch in _batches(
            ready, _BATCH_TOKENS.get(self._model.device.type, _BATCH_TOKENS["cpu"])
        ):
            values = self._scores([encoded for _, encoded in batch])
            for (request, encoded), value in zip(batch, values, strict=True):
                yield _outcome(request, len(encoded.ids), value)

    def _scores(self, batch: list[Encoded]) -> list[float]:
        """The score of each; a batch that does not fit into memory is halved."""
        try:
            return self._forward(batch)
        except (IndexError, MemoryError, RuntimeError, ValueError) as error:
            if not is_out_of_memory(error):
                raise BackendError(f"{self.card.model} failed: {in_short(error)}") from error
            if len(batch) == 1:
                n_tokens = len(batch[0].ids)
                raise no_room_for_a_request(self.card.model, n_tokens, error, _LOWER) from error
        # The error is released here, and with it its references to the batch.
        half = len(batch) // 2
        return self._scores(batch[:half]) + self._scores(batch[half:])

    def _forward(self, batch: list[Encoded]) -> list[float]:
        import torch

        length = max(len(row.ids) for row in batch)
        pad = self._pad(batch)

        def padded(rows: Iterable[Sequence[int]], filler: int) -> Any:
            filled = [[*row, *[filler] * (length - len(row))] for row in rows]
            return torch.tensor(filled, device=self._model.device)

        given = {
            "input_ids": padded((row.ids for row in batch), pad),
            "attention_mask": padded(([1] * len(row.ids) for row in batch), 0),
        }
        if batch[0].types is not None:
            given["token_type_ids"] = padded((row.types or () for row in batch), 0)
        with torch.inference_mode():
            logits = self._model(**given).logits
        values: list[float] = logits[:, self._column].float().tolist()
        return values

    def _pad(self, batch: list[Encoded]) -> int:
        """The padding token for short rows.

        A decoder reads its score at the last token that is not this one. Where its configuration
        names none, any token works that ends no row of the batch.
        """
        if self._given_pad is not None:
            return self._given_pad
        ends = {row.ids[-1] for row in batch}
        pad = next(token for token in range(len(ends) + 1) if token not in ends)
        self._config.pad_token_id = pad
        return pad


def _texts(request: Request, card: JudgeCard) -> tuple[str, str]:
    roles = [message.role for message in request.messages]
    if roles != ["user", "assistant"] or request.prefix or request.choices:
        raise ConfigError(
            f"judge {card.name!r} gives a response a score and generates no text, but protocol "
            f"{request.protocol!r} asks for text",
            hint="Use --protocol scalar.",
        )
    query, response = (message.content for message in request.messages)
    return query, response


def _most_tokens(card: JudgeCard, tokenizer: Any, config: Any) -> int:
    """The card's context length, or less where the model was made for less."""
    positions = getattr(config, "max_position_embeddings", None)
    known = [card.context_tokens, tokenizer.model_max_length]
    return int(min([*known, positions] if positions and positions > 0 else known))


def _column(card: JudgeCard, config: Any) -> int:
    """The index of the logit that is the score."""
    label = card.options.get("label")
    names = {str(name): index for index, name in config.id2label.items()}
    if config.num_labels == 1:
        if label is not None:
            raise ConfigError(
                f"judge {card.name!r}: options.label is set, but {card.model} has only one label"
            )
        return 0
    if config.num_labels != 2:
        raise ConfigError(
            f"judge {card.name!r}: {card.model} has {config.num_labels} labels; a reward model has "
            "one, or two of which one is selected"
        )
    index = names.get(str(label), label)
    if index not in (0, 1) or isinstance(index, bool):
        raise ConfigError(
            f"judge {card.name!r}: {card.model} has two labels; options.label must select one: "
            f"0, 1 or one of {', '.join(map(repr, names))}, found {label!r}"
        )
    return int(index)


def _batches(
    ordered: list[tuple[Request, Encoded]], most_tokens: int
) -> Iterator[list[tuple[Request, Encoded]]]:
    """Sequences in order of length, in batches of at most `most_tokens` with padding."""
    batch: list[tuple[Request, Encoded]] = []
    for pair in ordered:
        if batch and (len(batch) + 1) * len(pair[1].ids) > most_tokens:
            yield batch
            batch = []
        batch.append(pair)
    if batch:
        yield batch


def _outcome(request: Request, n_prompt: int, value: float) -> Outcome:
    if not math.isfinite(value):
        return _failure(request, "NotFinite", f"the model's score is {value}")
    return Completion(
        key=request.key,
        text=repr(value),
        finish="stop",
        prompt_tokens=n_prompt,
        completion_tokens=0,
    )


def _failure(request: Request, error: str, message: str) -> Failure:
    return Failure(key=request.key, error=error, message=message, retryable=False, attempts=1)
