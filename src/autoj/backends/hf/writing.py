"""Texts in batches, each with a decoding, an end and a source of chance of its own.

A batch is written by transformers' own loop. What is particular to a row (its temperature, its
penalty, its seed, where it stops) is applied row by row, so rows of any decoding share a batch, and
a text that is drawn does not depend on what is drawn beside it.

A batch is as slow as its longest text, and a small model that repeats itself writes to its limit.
So a batch is not written on when few of its rows are left. On a GPU, where reading costs little,
they are handed back, to be read again and written on beside others. On the CPU reading is most of
the work: there the rows that are left go on by themselves with what is kept of them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from autoj.backends.hf.caching import growing_cache, read_one_by_one
from autoj.records import Decoding

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Writer", "Writing", "end_tokens"]

# The share of a batch's rows that are few: those are handed back, or go on by themselves.
_FEW = {"cpu": 0.5, "cuda": 0.25}
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
        self.ends = end_tokens(tokenizer, model)
        """The tokens that end a text."""
        self._on_gpu = model.device.type == "cuda"
        self.few = _FEW["cuda" if self._on_gpu else "cpu"]
        """The share of a batch's rows at which it is not written on."""

    def write(self, rows: Sequence[Writing]) -> None:
        """Write a batch, in place, until all or most of its rows have ended.

        Args:
            rows: prompts are padded on the left, so give some of like length. Where it fails, what
                was written stays and can be written on.
        """
        import torch

        live = [row for row in rows if row.finish is None]
        cache = growing_cache(self._model, max((_n_more(row) for row in live), default=0))
        if live and cache is not None and not self._on_gpu:
            read_one_by_one(self._model, cache, [row.read for row in live])
        while live:
            self._generate(live, cache)
            left = [at for at, row in enumerate(live) if row.finish is None]
            if self._on_gpu or cache is None:
                break
            if left:
                cache.batch_select_indices(torch.tensor(left, device=self._device))
            live = [live[at] for at in left]
        for row in rows:
            if row.finish is not None:
                row.text = self.text_of(row)

    @property
    def _device(self) -> Any:
        return self._model.get_input_embeddings().weight.device

    def _generate(self, rows: list[Writing], cache: Any) -> None:
        """Write rows until few are left.

        Args:
            rows: the cache keeps nothing, or of each all but the token that was written last.
            cache: keeps keys and values; None takes one of transformers' own.
        """
        import torch
        import transformers

        n_kept = 0 if cache is None else cache.get_seq_length()
        width = n_kept + 1 if n_kept else max(len(row.read) for row in rows)
        filler = self.ends[0]
        ids = [[filler] * (width - len(row.read)) + row.read for row in rows]
        seen = [[0] * (width - len(row.read)) + [1] * len(row.read) for row in rows]
        device = self._device
        # All that is not said here is what transformers does without a model's own settings: a
        # judge's decoding is its card's.
        self._model.generation_config = transformers.GenerationConfig()
        with torch.inference_mode():
            self._model.generate(
                input_ids=torch.tensor(ids, device=device),
                attention_mask=torch.tensor(seen, device=device),
                generation_config=transformers.GenerationConfig(
                    max_new_tokens=max(_n_more(row) for row in rows),
                    do_sample=False,
                    use_cache=True,
                    pad_token_id=filler,
                    eos_token_id=list(self.ends),
                ),
                past_key_values=cache,
                logits_processor=transformers.LogitsProcessorList([_Decoder(rows)]),
                stopping_criteria=transformers.StoppingCriteriaList([_Ender(rows, self)]),
            )

    def end_of(self, row: Writing) -> Literal["stop", "length"] | None:
        """Why a text ends with the token that was just written, if it does."""
        if row.tokens[-1] in self.ends:
            return "stop"
        for stop in row.stop:
            # A token is a byte of the string at least.
            tail = row.tokens[-(len(stop.encode()) + _MARGIN_TOKENS) :]
            if stop in self._decode(tail):
                return "stop"
        return "length" if len(row.tokens) >= row.most_tokens else None

    def text_of(self, row: Writing) -> str:
        """What was written, decoded after the token before it, which may own a space between."""
        tokens = row.tokens[:-1] if row.tokens and row.tokens[-1] in self.ends else row.tokens
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
        self._read: Tensor | None = None

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

        if self._read is None:
            # Padding is no token that was read: a row's first token stands in for it.
            width = input_ids.shape[1]
            read = [[row.read[0]] * (width - len(row.read)) + row.read for row in self._rows]
            self._read = torch.tensor(read, device=scores.device)
        else:
            self._read = torch.cat([self._read, input_ids[:, -1:].to(scores.device)], dim=1)
        penalties = [[row.decoding.repetition_penalty] for row in self._rows]
        penalty = torch.tensor(penalties, device=scores.device)
        seen = scores.gather(1, self._read)
        return scores.scatter(1, self._read, torch.where(seen < 0, seen * penalty, seen / penalty))

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
        if ended.count(False) <= self._writer.few * len(ended):
            ended = [True] * len(ended)
        return torch.tensor(ended, device=input_ids.device)


def _chance(row: Writing) -> float:
    """What the next token of a row is drawn by, from 0 to 1: of its seed and its place alone."""
    return random.Random(f"{row.seed}:{len(row.tokens)}").random()


def _n_more(row: Writing) -> int:
    """How many tokens may still be written."""
    return row.most_tokens - len(row.tokens)


def end_tokens(tokenizer: Any, model: Any) -> tuple[int, ...]:
    """The tokenizer's end token, and those that the model's own settings name besides."""
    named = model.generation_config.eos_token_id
    others = named if isinstance(named, list) else [] if named is None else [named]
    return tuple(dict.fromkeys([tokenizer.eos_token_id, *others]))
