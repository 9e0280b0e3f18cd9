"""The embedded engine on one machine's CPU: windows of requests, in batches of like beginnings."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count, groupby, islice, repeat
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from autoj.backends._choices import ChoiceTrie, build_trie
from autoj.backends._control import any_of, broken_up, is_shaped_as_a_mark
from autoj.backends._heads import Heads
from autoj.backends.base import Limits, OnText, Outcome
from autoj.backends.embedded.beginnings import arranged, in_batches
from autoj.backends.embedded.memory import (
    MAPPING,
    available_bytes,
    check_memory,
    does_not_fit,
    free_what_failed,
    ran_out_of_memory,
    release_pages,
)
from autoj.backends.embedded.model import ChoiceModel, loaded_bytes, weights_file
from autoj.backends.embedded.proofreading import Proofreader
from autoj.chat import describe, render
from autoj.corrections import said_of
from autoj.errors import BackendError
from autoj.records import Completion, Decoding, Failure, JudgeCard, Message, Request

# A window is the number of requests read ahead: large enough that those with a beginning in common
# come together, small enough that memory and the first results do not wait for it.
_WINDOW_REQUESTS = 128
# Responses that are proofread before the critiques of all of them are written, window by window:
# each change of the engine's halves loads the weights anew where memory has room for one alone, and
# the first critique shall not wait for that many.
_PROOFREAD_REQUESTS = (8, 16, 32)
# Of the writer. Measured on 2 cores: more tokens a step are read no faster and use more memory.
_STEP_TOKENS = 2048
_MAX_SEQUENCES = 32
_CACHE_GIB = 1
# A prompt's beginning is shared with a prompt that was read before, not with one that is being
# read: so the next one is begun once fewer tokens than this are unread, less than a long prompt.
_UNREAD_TOKENS = 512
# The form of a control token: to ask the tokenizer about all 150,000 would take seconds.
_MARK = re.compile(r"<[^\n]+>|\[[^\n]+\]")


class EmbeddedBackend:
    """Runs a small model through OpenVINO; each half of the engine is loaded on first use."""

    def __init__(self, card: JudgeCard, folder: Path, heads: Heads | None = None) -> None:
        import openvino_genai

        self.card = card
        self.limits = Limits(
            context_tokens=card.context_tokens,
            scores_choices=True,
            streams=True,
            scores_texts=True,
        )
        self._folder = folder
        self._heads = heads or Heads()
        self._tokenizer: Any = openvino_genai.Tokenizer(str(folder))
        self._choice_model: ChoiceModel | None = None
        self._writer: Any = None
        self._has_changed = False

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        """Scores requests with choices, in windows by their beginnings; generates others in order.

        Raises:
            BackendError: OpenVINO failed.
            NoRoom: the model does not fit into the memory that is left.
        """
        try:
            for kind, run in groupby(requests, key=_kind):
                if kind == "write":
                    yield from self._write(run, on_text)
                    continue
                if kind == "score":
                    while window := list(islice(run, _WINDOW_REQUESTS)):
                        yield from self._score(window)
                    continue
                yield from self._proofread(run, on_text)
        except (RuntimeError, MemoryError) as error:
            free_what_failed(error)
            if ran_out_of_memory(error):
                raise does_not_fit(f"judge {self.card.name!r}") from error
            raise BackendError(f"OpenVINO failed: {error}") from error

    def count_tokens(self, text: str) -> int:
        """Tokens of a rendered text under the judge's own tokenizer."""
        return len(self._encode(broken_up(text, self._foreign)))

    def close(self) -> None:
        """Frees the models."""
        with MAPPING:
            self._choice_model = None
            self._writer = None

    def _make_room(self, *, writing: bool) -> None:
        """Frees the other half of the engine at the first change, and where memory lacks room.

        Each half holds the weights in a layout of its own. A run scores all verdicts before it
        writes critiques, so it needs one at a time (`_openings` frees the other one itself); who
        changes back will go on changing, as a service does, and would load the weights each time.
        `MAPPING` must be held.
        """
        needed_bytes = loaded_bytes(self._folder) + _CACHE_GIB * 2**30 * writing
        left_bytes = available_bytes()
        lacks_room = left_bytes is not None and left_bytes < needed_bytes
        if lacks_room or not self._has_changed:
            if writing:
                self._has_changed |= self._choice_model is not None
                self._choice_model = None
            else:
                self._has_changed |= self._writer is not None
                self._writer = None
        check_memory(needed_bytes, f"judge {self.card.name!r}")

    def _encode(self, text: str) -> list[int]:
        tokens = self._tokenizer.encode(text, add_special_tokens=False).input_ids.data[0]
        return [int(token) for token in tokens]

    def _render(self, request: Request) -> str:
        return self._rendered(request.messages, request.prefix)

    def _rendered(self, messages: Sequence[Message], prefix: str | None) -> str:
        turns = [replace(turn, content=broken_up(turn.content, self._control)) for turn in messages]
        return render(turns, self.card.wrapper, prefix)

    @cached_property
    def _control(self) -> re.Pattern[str] | None:
        """The control tokens of the model's tokenizer, to be broken up in judged text."""
        return any_of(self._control_tokens)

    @cached_property
    def _foreign(self) -> re.Pattern[str] | None:
        """Those that the wrapper never writes, to be broken up in a whole prompt."""
        own = "".join(describe(self.card.wrapper).values())
        return any_of(token for token in self._control_tokens if token not in own)

    @cached_property
    def _control_tokens(self) -> list[str]:
        """The strings of tokens that are left out of a text, and those in the form of a mark."""
        found: list[str] = []
        for name, token in self._tokenizer.get_vocab().items():
            text = (name if isinstance(name, bytes) else name.encode()).decode(errors="replace")
            if _MARK.fullmatch(text) is None or self._encode(text) != [token]:
                continue
            if not self._tokenizer.decode([token]) or is_shaped_as_a_mark(text):
                found.append(text)
        return found

    def _scorer(self) -> ChoiceModel:
        if self._choice_model is None:
            with MAPPING:
                self._make_room(writing=False)
                self._choice_model = ChoiceModel(self._folder)
        return self._choice_model

    def _score(self, requests: list[Request]) -> Iterator[Outcome]:
        model = self._scorer()
        tries = [(request, self._trie(request)) for request in requests]
        for batch in in_batches(arranged(tries)):
            scores = model.read([trie for _, trie in batch])
            release_pages(weights_file(self._folder))
            for (request, trie), (logprobs, state) in zip(batch, scores, strict=True):
                if head := self._heads.of(request.prefix, request.choices):
                    logprobs = head.moved(logprobs, state)
                yield _scored(request, trie, logprobs)

    def _trie(self, request: Request) -> ChoiceTrie:
        text = self._render(request)
        return build_trie([self._encode(text + choice) for choice in request.choices or ()])

    def _proofread(self, requests: Iterator[Request], on_text: OnText | None) -> Iterator[Outcome]:
        """Looks for mistakes and writes the critiques, window by window."""
        by_halves = False
        for size in chain(_PROOFREAD_REQUESTS, repeat(_PROOFREAD_REQUESTS[-1])):
            window = list(islice(requests, size))
            if not window:
                return
            further = list(islice(requests, 1))
            requests = chain(further, requests)
            by_halves |= bool(further)
            openings = self._openings(window, by_halves=by_halves)
            yield from self._write(iter(window), on_text, openings)

    def _openings(self, requests: Sequence[Request], *, by_halves: bool) -> dict[str, str]:
        """The beginnings of the answers about responses in which a mistake was found, by key.

        Args:
            requests: those of one window.
            by_halves: True keeps one half of the engine in memory at a time: a run's next window
                changes them again, and takes minutes.
        """
        read = {
            each.key: (each.proofreading, each.check)
            for each in requests
            # A response with a control token would be read otherwise than it is shown.
            if each.proofreading is not None and not self._is_controlled(each.proofreading.response)
        }
        if not read:
            return {}
        if by_halves:
            with MAPPING:
                self._writer = None
        proofreader = Proofreader(
            self._scorer(), self._encode, self._tokenizer.decode, self._rendered
        )
        found = zip(read.items(), proofreader.corrections(list(read.values())), strict=True)
        release_pages(weights_file(self._folder))
        if by_halves:
            del proofreader
            with MAPPING:
                self._choice_model = None
        return {
            key: said_of(made, proofread.response)
            for (key, (proofread, _)), made in found
            if made is not None
        }

    def _is_controlled(self, text: str) -> bool:
        return broken_up(text, self._control) != text

    def _write(
        self,
        requests: Iterator[Request],
        on_text: OnText | None,
        openings: Mapping[str, str] = MappingProxyType({}),
    ) -> Iterator[Outcome]:
        """Keeps the engine full: a finished sequence makes room for the next request.

        What prompts have in common from their first token on, such as a scenario's criteria, is
        read once while its blocks are in the cache.

        Args:
            requests: read as far ahead as there is room.
            on_text: called with what is written.
            openings: what some answers begin with, by their keys.
        """
        is_new = self._writer is None
        if is_new:
            with MAPPING:
                self._make_room(writing=True)
                self._writer = self._load_writer()
        running: list[_Writing] = []
        numbers = count()
        while True:
            while _has_room(running) and (request := next(requests, None)) is not None:
                opening = openings.get(request.key, request.opening)
                if opening and on_text is not None:
                    on_text(request.key, opening)
                running.append(self._begin(request, next(numbers), opening))
            if not running:
                return
            if not self._writer.has_non_finished_requests():
                yield from (_dropped(writing.request) for writing in running)
                running = []
                continue
            self._writer.step()
            if is_new:
                release_pages(weights_file(self._folder))
                is_new = False
            for writing in running:
                self._advance(writing, on_text)
            yield from (self._written(writing) for writing in running if writing.finish)
            running = [writing for writing in running if not writing.finish]

    def _begin(self, request: Request, number: int, opening: str) -> "_Writing":
        prompt = self._encode(self._render(request) + opening)
        handle = self._writer.add_request(number, _tensor([prompt]), self._config(request))
        return _Writing(request=request, handle=handle, n_prompt=len(prompt), opening=opening)

    def _advance(self, writing: "_Writing", on_text: OnText | None) -> None:
        import openvino_genai

        if not writing.handle.can_read():
            return
        for output in writing.handle.read().values():
            writing.tokens.extend(output.generated_ids)
            if output.finish_reason == openvino_genai.GenerationFinishReason.STOP:
                writing.finish = "stop"
            elif output.finish_reason == openvino_genai.GenerationFinishReason.LENGTH:
                writing.finish = "length"
        if on_text is not None:
            self._stream(writing, on_text)

    def _stream(self, writing: "_Writing", on_text: OnText) -> None:
        """Hands on what was not handed on yet: a token may end in the middle of a character."""
        text = self._tokenizer.decode(writing.tokens)
        whole = text if writing.finish else text.rstrip("\ufffd")
        if len(whole) > writing.n_streamed:
            on_text(writing.request.key, whole[writing.n_streamed :])
            writing.n_streamed = len(whole)

    def _written(self, writing: "_Writing") -> Completion:
        return Completion(
            key=writing.request.key,
            text=writing.opening
            + _before_stop(self._tokenizer.decode(writing.tokens), writing.request.stop),
            finish=writing.finish or "length",
            prompt_tokens=writing.n_prompt,
            completion_tokens=len(writing.tokens),
        )

    def _load_writer(self) -> Any:
        import openvino_genai

        scheduler = openvino_genai.SchedulerConfig()
        scheduler.cache_size = _CACHE_GIB
        scheduler.max_num_seqs = _MAX_SEQUENCES
        scheduler.max_num_batched_tokens = _STEP_TOKENS
        scheduler.enable_prefix_caching = True
        return openvino_genai.ContinuousBatchingPipeline(str(self._folder), scheduler, "CPU")

    def _config(self, request: Request) -> Any:
        import openvino_genai

        decoding: Decoding = request.decoding
        config = openvino_genai.GenerationConfig()
        config.max_new_tokens = decoding.max_tokens
        config.repetition_penalty = decoding.repetition_penalty
        config.do_sample = decoding.temperature > 0
        if config.do_sample:
            config.temperature = decoding.temperature
            config.top_p = decoding.top_p
            config.rng_seed = decoding.seed + request.sample
        config.eos_token_id = self._tokenizer.get_eos_token_id()
        config.stop_token_ids = {self._tokenizer.get_eos_token_id()}
        config.stop_strings = set(request.stop)
        return config


@dataclass(slots=True, kw_only=True)
class _Writing:
    """A request whose answer is being generated."""

    request: Request
    handle: Any
    n_prompt: int
    opening: str = ""
    """The beginning of the answer, before the generated text."""
    tokens: list[int] = field(default_factory=list)
    n_streamed: int = 0
    """Characters of the generated text that were handed on."""
    finish: Literal["stop", "length"] | None = None


def _kind(request: Request) -> Literal["score", "proofread", "write"]:
    if request.choices is not None:
        return "score"
    is_plain = request.proofreading is None and not request.opening
    return "write" if is_plain else "proofread"


def _has_room(running: Sequence[_Writing]) -> bool:
    n_unread = sum(writing.n_prompt for writing in running if not writing.tokens)
    return len(running) < _MAX_SEQUENCES and n_unread < _UNREAD_TOKENS


def _dropped(request: Request) -> Failure:
    return Failure(
        key=request.key,
        error="Dropped",
        message="the engine dropped the request: its cache has no room for it",
        retryable=False,
        attempts=1,
    )


def _tensor(rows: list[list[int]]) -> Any:
    import openvino

    return openvino.Tensor(np.array(rows, np.int64))


def _scored(request: Request, trie: ChoiceTrie, logprobs: tuple[float, ...]) -> Completion:
    choices = request.choices or ()
    return Completion(
        key=request.key,
        text=max(zip(logprobs, choices, strict=True))[1],
        finish="stop",
        prompt_tokens=len(trie.root),
        completion_tokens=0,
        choice_logprobs=logprobs,
    )


def _before_stop(text: str, stop: tuple[str, ...]) -> str:
    cuts = [position for string in stop if (position := text.find(string)) >= 0]
    return text[: min(cuts)] if cuts else text
