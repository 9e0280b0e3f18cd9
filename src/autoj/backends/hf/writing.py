"""Texts in batches, each with a decoding, an end and a source of chance of its own.

A batch is written by transformers' own loop. What is particular to a row (its temperature, its
penalty, its seed, where it stops) is applied row by row, so rows of any decoding share a batch, and
a text that is drawn does not depend on what is drawn beside it.

A batch is as slow as its longest text, and a small model that repeats itself writes to its limit.
So when few rows of a batch are left they are handed back, to be written on beside others; reading
again what they have written is cheap.

transformers' continuous batching (5.23) is not used: it knows no penalty of repetition, no stop
strings and no seed per request.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from autoj.records import Decoding

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Writer", "Writing"]

# The share of a batch's rows that are handed back.
_FEW = 0.25
# Tokens before a stop string that are decoded with it: one may hold its first letters, and the
# first of all may lose a space.
_MARGIN_TOKENS = 2


@dataclass(slots=True, kw_only=True)
class Writing:
    """A text that is being written, or was."""

    prompt: list[int]
    decoding: Decoding
    most_tokens: int
    """It ends after so many, at least one."""
    stop: tuple[str, ...]
    """It ends before the first of these."""
    seed: str
    """What its draws follow from, where it is not greedy."""
    tokens: list[int] = field(default_factory=list)
    """What was written; the end token too."""
    finish: Literal["stop", "length", "broken"] | None = None
    """Why it ended; `broken` where the model's logits were not finite."""
    text: str = ""
    """What was written, once it has ended."""

    @property
    def read(self) -> list[int]:
        """What the next token follows."""
        return self.prompt + self.tokens


class Writer:
    """Writes texts with a causal language model of transformers."""

    def __init__(self, tokenizer: Any, model: Any) -> None:
        self._tokenizer = tokenizer
        self._model = model
        self._ends = _end_tokens(tokenizer, model)

    def write(self, rows: Sequence[Writing]) -> None:
        """Write a batch, in place, until all or most of its rows have ended.

        Args:
            rows: prompts are padded on the left, so give some of like length. Where it fails, what
                was written stays and can be written on.
        """
        if live := [row for row in rows if row.finish is None]:
            self._generate(live)
        for row in rows:
            if row.finish is not None:
                row.text = self._text(row)

    def _generate(self, rows: list[Writing]) -> None:
        import torch
        import transformers

        width = max(len(row.read) for row in rows)
        filler = self._ends[0]
        ids = [[filler] * (width - len(row.read)) + row.read for row in rows]
        seen = [[0] * (width - len(row.read)) + [1] * len(row.read) for row in rows]
        device = self._model.get_input_embeddings().weight.device
        # All that is not said here is what transformers does without a model's own settings: a
        # judge's decoding is its card's.
        self._model.generation_config = transformers.GenerationConfig()
        with torch.inference_mode():
            self._model.generate(
                input_ids=torch.tensor(ids, device=device),
                attention_mask=torch.tensor(seen, device=device),
                generation_config=transformers.GenerationConfig(
                    max_new_tokens=max(row.most_tokens - len(row.tokens) for row in rows),
                    do_sample=False,
                    use_cache=True,
                    pad_token_id=filler,
                    eos_token_id=list(self._ends),
                ),
                logits_processor=transformers.LogitsProcessorList([_Decoder(rows)]),
                stopping_criteria=transformers.StoppingCriteriaList([_Ender(rows, self)]),
            )

    def end_of(self, row: Writing) -> Literal["stop", "length"] | None:
        """Why a text ends with the token that was just written, if it does."""
        if row.tokens[-1] in self._ends:
            return "stop"
        for stop in row.stop:
            # A token is a byte of the string at least.
            tail = row.tokens[-(len(stop.encode()) + _MARGIN_TOKENS) :]
            if stop in self._decode(tail):
                return "stop"
        return "length" if len(row.tokens) >= row.most_tokens else None

    def _text(self, row: Writing) -> str:
        """What was written, decoded after the token before it, which may own a space between."""
        tokens = row.tokens[:-1] if row.tokens and row.tokens[-1] in self._ends else row.tokens
        before = self._decode(row.prompt[-1:])
        both = self._decode(row.prompt[-1:] + tokens)
        text = both.removeprefix(before) if both.startswith(before) else self._decode(tokens)
        cuts = [position for stop in row.stop if (position := text.find(stop)) >= 0]
        return text[: min(cuts)] if cuts else text

    def _decode(self, tokens: list[int]) -> str:
        return str(
            self._tokenizer.decode(
                tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )


class _Decoder:
    """Turns the logits of each row into those of the token that its decoding takes."""

    def __init__(self, rows: Sequence[Writing]) -> None:
        self._rows = rows
        self._penalised = any(row.decoding.repetition_penalty != 1 for row in rows)
        self._drawn = [at for at, row in enumerate(rows) if row.decoding.temperature > 0]
        self._seen: Tensor | None = None

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        scores = scores.float()
        # NaN and infinity, but not the minus infinity of a token that a model never writes.
        broken = (~scores.amax(dim=-1).isfinite()).tolist()
        for row, is_broken in zip(self._rows, broken, strict=True):
            if is_broken and row.finish is None:
                row.finish = "broken"
        if self._penalised:
            scores = self._penalise(input_ids, scores)
        if self._drawn:
            scores = self._draw(scores)
        return scores

    def _penalise(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Tokens of the prompt and of the text become less likely, as other engines do it."""
        import torch

        if self._seen is None:
            self._seen = torch.zeros_like(scores, dtype=torch.bool)
            for row, writing in enumerate(self._rows):
                self._seen[row, torch.tensor(writing.read, device=scores.device)] = True
        else:
            self._seen.scatter_(1, input_ids[:, -1:], True)
        penalties = [[row.decoding.repetition_penalty] for row in self._rows]
        penalty = torch.tensor(penalties, device=scores.device)
        lowered = torch.where(scores < 0, scores * penalty, scores / penalty)
        return torch.where(self._seen, lowered, scores)

    def _draw(self, scores: Tensor) -> Tensor:
        """Where a row is drawn and not greedy, all but the token that it draws is ruled out."""
        import torch

        def of_rows(values: list[float]) -> Tensor:
            return torch.tensor(values, device=scores.device).unsqueeze(1)

        rows = [self._rows[at] for at in self._drawn]
        temperature = of_rows([row.decoding.temperature for row in rows])
        top_p = of_rows([row.decoding.top_p for row in rows])
        chance = of_rows([_chance(row) for row in rows])
        of_drawn = torch.tensor(self._drawn, device=scores.device)
        ordered, tokens = (scores[of_drawn] / temperature).softmax(dim=-1).sort(descending=True)
        before = ordered.cumsum(dim=-1) - ordered
        kept = (ordered * (before < top_p)).cumsum(dim=-1)
        place = torch.searchsorted(kept, chance * kept[:, -1:], right=True)
        n_kept = (before < top_p).sum(dim=-1, keepdim=True)
        drawn = tokens.gather(1, place.minimum(n_kept - 1))
        scores = scores.clone()
        scores[of_drawn] = torch.full_like(ordered, -torch.inf).scatter_(1, drawn, 0.0)
        return scores


class _Ender:
    """Keeps what each row writes, and says which rows have ended: all, where few are left."""

    def __init__(self, rows: Sequence[Writing], writer: Writer) -> None:
        self._rows = rows
        self._writer = writer

    def __call__(self, input_ids: Tensor, scores: Any, **_: Any) -> Tensor:
        import torch

        for row, token in zip(self._rows, input_ids[:, -1].tolist(), strict=True):
            if row.finish is None:
                row.tokens.append(token)
                row.finish = self._writer.end_of(row)
        ended = [row.finish is not None for row in self._rows]
        if ended.count(False) <= _FEW * len(ended):
            ended = [True] * len(ended)
        return torch.tensor(ended, device=input_ids.device)


def _chance(row: Writing) -> float:
    """What the next token of a row is drawn by, from 0 to 1: of its seed and its place alone."""
    return random.Random(f"{row.seed}:{len(row.tokens)}").random()


def _end_tokens(tokenizer: Any, model: Any) -> tuple[int, ...]:
    """The tokenizer's end token, and those that the model's own settings name besides."""
    named = model.generation_config.eos_token_id
    others = named if isinstance(named, list) else [] if named is None else [named]
    return tuple(dict.fromkeys([tokenizer.eos_token_id, *others]))
