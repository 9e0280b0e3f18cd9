"""The transformers engine: windows of requests, sorted by length, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from autoj.backends._choices import ChoiceTrie
from autoj.backends._heads import Heads
from autoj.backends._loading import in_short
from autoj.backends.base import Limits, OnText, Outcome
from autoj.backends.hf.continuous import can_continue, has_continuous, write_continuously
from autoj.backends.hf.encoding import Encoder
from autoj.backends.hf.memory import is_out_of_memory, no_room_for_a_request
from autoj.backends.hf.outcomes import failed, overflowed, scored
from autoj.backends.hf.scoring import check_scoring, read_choices
from autoj.backends.hf.templates import pin_template
from autoj.backends.hf.writing import Writer, Writing
from autoj.errors import BackendError
from autoj.records import Completion, Failure, JudgeCard, Request

if TYPE_CHECKING:
    from torch import Tensor

# A window is the number of requests read ahead: large enough that sorting by length leaves little
# padding, small enough that memory and the first results do not wait for it.
_WINDOW_REQUESTS = {"cpu": 128, "cuda": 1024}
# Tokens per forward pass for reading, with padding.
_READ_TOKENS = {"cpu": 2048, "cuda": 32768}
# Tokens with padding, of prompts and of answers, that a batch keeps until it ends. On a GPU it
# follows from the free memory; this is the value where that is unknown.
_KEPT_TOKENS = {"cpu": 16384, "cuda": 65536}
_MOST_ROWS = {"cpu": 32, "cuda": 256}
# The share of a GPU's free memory for a batch's KV cache; the rest is for the activations of
# reading prompts.
_CACHE_SHARE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scoring:
    """A request whose choices are to be scored."""

    request: Request
    trie: ChoiceTrie

    @property
    def n_tokens(self) -> int:
        """Its tokens in a batch."""
        return self.trie.n_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """A request whose answer is to be generated."""

    request: Request
    writing: Writing

    @property
    def n_tokens(self) -> int:
        """Its tokens in a batch, at most."""
        return len(self.writing.prompt) + self.writing.most_tokens


_Job: TypeAlias = _Scoring | _Asking
_Answer: TypeAlias = Callable[[Any], tuple[list[Outcome], list[_Job]]]
"""The outcomes of a batch, and the jobs of it that must be continued."""


class HfBackend:
    """Runs a causal language model with transformers.

    Choices are scored by one forward pass over the prompt and the trie of their tokens; a score
    does not depend on its batch beyond the rounding of the arithmetic. Texts are generated in
    batches, and a sampled text depends on its request's seed alone.
    """

    def __init__(
        self, card: JudgeCard, tokenizer: Any, model: Any, heads: Heads | None = None
    ) -> None:
        self._encoder = Encoder(tokenizer, card.wrapper)
        self.template = self._encoder.template
        """The tokenizer's own chat template, where the card's wrapper is `template`."""
        self.card = pin_template(card, self.template)
        self._model = model
        self._heads = heads or Heads()
        self._writer = Writer(tokenizer, model)
        self._continuous: bool = card.options.get("continuous", True) and has_continuous(model)
        self._checked = False
        positions = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        self.limits = Limits(
            context_tokens=min(card.context_tokens, positions or card.context_tokens),
            scores_choices=True,
            streams=False,
            scores_texts=True,
        )
        kind = "cuda" if model.device.type == "cuda" else "cpu"
        self._window = _WINDOW_REQUESTS[kind]
        self._most_rows = _MOST_ROWS[kind]
        given: int | None = card.options.get("batch_tokens")
        self._most_read = given or _READ_TOKENS[kind]
        self._most_kept = given or _kept_tokens(model, kind)

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        """Answers requests in windows sorted by length: those with choices first.

        Raises:
            BackendError: the model broke down.
            ConfigError: memory is too small for one request; earlier outcomes stay valid.
        """
        ahead = iter(requests)
        while window := list(islice(ahead, self._window)):
            yield from self._answer(window)

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a rendered text, including those that begin it."""
        return self._encoder.count(text)

    def close(self) -> None:
        """Frees the model."""
        self._model = None
        self._writer = None  # type: ignore[assignment]

    def _answer(self, window: list[Request]) -> Iterator[Outcome]:
        scorings: list[_Scoring] = []
        askings: list[_Asking] = []
        for request in window:
            job = self._job(request)
            if isinstance(job, Failure):
                yield job
            elif isinstance(job, _Scoring):
                scorings.append(job)
            else:
                askings.append(job)
        yield from self._in_batches(scorings, self._score)
        if self._continuous:
            yield from self._continuously([job for job in askings if can_continue(job.writing)])
            askings = [job for job in askings if job.writing.finish is None]
        yield from self._in_batches(askings, self._write)

    def _continuously(self, jobs: list[_Asking]) -> Iterator[Outcome]:
        """The outcomes of the jobs that continuous batching completes."""
        if not jobs:
            return
        of = {id(job.writing): job for job in jobs}
        writings = [job.writing for job in jobs]
        for writing in write_continuously(self._model, self._writer, writings):
            yield _written(of[id(writing)])

    def _job(self, request: Request) -> _Job | Failure:
        most = self.limits.context_tokens
        if request.choices is not None:
            trie = self._encoder.trie(request)
            n_tokens = max(len(trie.root) + len(steps) for steps in trie.steps)
            if n_tokens > most:
                return overflowed(request, n_tokens, most)
            return _Scoring(request=request, trie=trie)
        prompt = self._encoder.prompt(request)
        if len(prompt) >= most:
            return overflowed(request, len(prompt) + 1, most)
        writing = Writing(
            prompt=prompt,
            decoding=request.decoding,
            most_tokens=min(request.decoding.max_tokens, most - len(prompt)),
            stop=request.stop,
            seed=f"{request.decoding.seed}:{request.sample}:{request.key}",
        )
        return _Asking(request=request, writing=writing)

    def _in_batches(self, jobs: Sequence[_Job], answer: _Answer) -> Iterator[Outcome]:
        """Runs batches in order of length; one that does not fit into memory is halved."""
        waiting = list(jobs)
        while waiting:
            waiting.sort(key=lambda job: job.n_tokens, reverse=True)
            batch = self._next_batch(waiting)
            answered = self._try(answer, batch)
            if answered is None:
                self._lower(batch)
                waiting += batch
            else:
                outcomes, left = answered
                waiting += left
                yield from outcomes

    def _next_batch(self, waiting: list[_Job]) -> list[_Job]:
        """The shortest jobs, as many as a batch holds."""
        scores = isinstance(waiting[-1], _Scoring)
        most_tokens = self._most_read if scores else self._most_kept
        batch = [waiting.pop()]
        while (
            waiting
            and (len(batch) + 1) * waiting[-1].n_tokens <= most_tokens
            and (scores or len(batch) < self._most_rows)
        ):
            batch.append(waiting.pop())
        return batch

    def _try(self, answer: _Answer, batch: list[_Job]) -> tuple[list[Outcome], list[_Job]] | None:
        """The outcomes of a batch; None where memory was too small for it."""
        try:
            return answer(batch)
        except (IndexError, MemoryError, RuntimeError, ValueError) as error:
            if not is_out_of_memory(error):
                raise BackendError(f"{self.card.model} failed: {in_short(error)}") from error
            if len(batch) == 1:
                raise no_room_for_a_request(self.card.model, batch[0].n_tokens, error) from error
        return None

    def _lower(self, batch: list[_Job]) -> None:
        """Halves the batch size after a batch that memory was too small for."""
        import torch

        torch.cuda.empty_cache()
        half = (len(batch) // 2) * batch[-1].n_tokens
        if isinstance(batch[0], _Scoring):
            self._most_read = half
        else:
            self._most_kept = half

    def _score(self, batch: list[_Scoring]) -> tuple[list[Outcome], list[_Job]]:
        import torch

        if not self._checked:
            check_scoring(self._model)
            self._checked = True
        with torch.inference_mode():
            read = read_choices(self._model, [job.trie for job in batch])
        return [
            scored(job.request, len(job.trie.root), self._moved(job.request, *scores))
            for job, scores in zip(batch, read, strict=True)
        ], []

    def _moved(self, request: Request, logprobs: Tensor, state: Tensor) -> Sequence[float]:
        """The log-probabilities of a request's choices, by the adapter's head for them."""
        given: list[float] = logprobs.tolist()
        if head := self._heads.of(request.prefix, request.choices):
            return head.moved(given, state.float().cpu().numpy())
        return given

    def _write(self, batch: list[_Asking]) -> tuple[list[Outcome], list[_Job]]:
        self._writer.write([job.writing for job in batch])
        left: list[_Job] = [job for job in batch if job.writing.finish is None]
        return [_written(job) for job in batch if job.writing.finish is not None], left


def _kept_tokens(model: Any, kind: str) -> int:
    """The number of tokens whose KV cache fits into the free memory of a GPU."""
    import torch

    config = model.config.get_text_config()
    heads = getattr(config, "num_key_value_heads", None)
    width = getattr(config, "head_dim", None)
    if model.device.type != "cuda" or not heads or not width:
        return _KEPT_TOKENS[kind]
    n_bytes: int = 2 * config.num_hidden_layers * heads * width * model.dtype.itemsize
    free, _ = torch.cuda.mem_get_info(model.device)
    most: int = int(free * _CACHE_SHARE) // n_bytes
    return max(1, most)


def _written(job: _Asking) -> Outcome:
    writing = job.writing
    if writing.finish == "broken":
        return failed(job.request, "NotFinite", "the model's logits are not finite")
    return Completion(
        key=job.request.key,
        text=writing.text,
        finish="stop" if writing.finish == "stop" else "length",
        prompt_tokens=len(writing.prompt),
        completion_tokens=len(writing.tokens),
    )
