"""The vLLM engine: requests in batches that are read lazily and handed over whole.

vLLM schedules the requests of a batch itself. A batch is large, so that the GPUs idle little while
its last requests finish, and bounded, so that a killed run loses at most one batch.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from autoj.backends._choices import ChoiceTrie
from autoj.backends.base import Limits, OnText, Outcome
from autoj.backends.hf.encoding import Encoder
from autoj.backends.hf.outcomes import failed, overflowed, scored
from autoj.backends.hf.templates import pin_template
from autoj.backends.vllm.failures import as_ours
from autoj.backends.vllm.scoring import Prompt, by_rows, by_wholes, read_rows, read_wholes
from autoj.errors import ConfigError
from autoj.records import Completion, Decoding, Failure, JudgeCard, Request

_BATCH_REQUESTS = 1024
_WARMEST = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scoring:
    """A request whose choices are to be scored."""

    request: Request
    trie: ChoiceTrie
    prompts: Sequence[Prompt]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """A request whose answer is to be generated."""

    request: Request
    prompt: list[int]
    most_tokens: int


_Job: TypeAlias = _Scoring | _Asking


class VllmBackend:
    """Runs a causal language model with vLLM.

    Choices are scored as whole strings by log-probabilities of prompt tokens. A sampled text
    depends on its request's own seed, as far as vLLM's arithmetic does not depend on the batch.
    """

    def __init__(self, card: JudgeCard, tokenizer: Any, engine: Any, adapter: Any = None) -> None:
        """Judges with a loaded engine.

        Args:
            card: the judge's.
            tokenizer: of transformers.
            engine: `vllm.LLM`.
            adapter: vLLM's request for the card's adapter.
        """
        self._encoder = Encoder(tokenizer, card.wrapper)
        self.template = self._encoder.template
        """The tokenizer's own chat template, where the card's wrapper is `template`."""
        self.card = pin_template(card, self.template)
        self._engine = engine
        self._adapter = adapter
        self._batch = card.options.get("batch_requests", _BATCH_REQUESTS)
        self.limits = Limits(
            context_tokens=engine.model_config.max_model_len,
            scores_choices=True,
            streams=False,
            scores_texts=True,
        )
        # vLLM's first model runner, which some settings need, scores no rows.
        self._scores_rows: bool = engine.llm_engine.vllm_config.use_v2_model_runner

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Outcome]:
        """Answers requests, batch by batch.

        Raises:
            BackendError: the engine broke down; earlier outcomes stay valid.
            ConfigError: a temperature is higher than vLLM supports, or memory is too small.
        """
        ahead = iter(requests)
        while batch := list(islice(ahead, self._batch)):
            jobs: list[_Job] = []
            for request in batch:
                job = self._job(request)
                if isinstance(job, Failure):
                    yield job
                else:
                    jobs.append(job)
            with as_ours(self.card, "broke down"):
                outcomes = self._score([job for job in jobs if isinstance(job, _Scoring)])
            yield from outcomes
            with as_ours(self.card, "broke down"):
                outcomes = self._write([job for job in jobs if isinstance(job, _Asking)])
            yield from outcomes

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a rendered text, including those that begin it."""
        return self._encoder.count(text)

    def close(self) -> None:
        """Releases the engine, whose processes end with it."""
        self._engine = None

    def _job(self, request: Request) -> _Job | Failure:
        most = self.limits.context_tokens
        if request.choices is not None:
            trie = self._encoder.trie(request)
            prompts = (by_rows if self._scores_rows else by_wholes)(trie)
            # One token is generated after each prompt, as vLLM requires at least one.
            n_tokens = 1 + max(len(prompt.tokens) for prompt in prompts)
            if n_tokens > most:
                return overflowed(request, n_tokens, most)
            return _Scoring(request=request, trie=trie, prompts=prompts)
        prompt = self._encoder.prompt(request)
        if len(prompt) >= most:
            return overflowed(request, len(prompt) + 1, most)
        if request.decoding.temperature > _WARMEST:
            raise ConfigError(
                f"vLLM supports temperatures up to {_WARMEST:g}, found "
                f"{request.decoding.temperature:g}",
                hint="Lower --temperature or the card's decoding.temperature, or use the hf "
                "backend.",
            )
        most_tokens = min(request.decoding.max_tokens, most - len(prompt))
        return _Asking(request=request, prompt=prompt, most_tokens=most_tokens)

    def _score(self, jobs: list[_Scoring]) -> list[Outcome]:
        prompts = [prompt for job in jobs for prompt in job.prompts]
        answers = iter(self._logprobs(prompts))
        read = read_rows if self._scores_rows else read_wholes
        return [
            scored(
                job.request,
                len(job.trie.root),
                read(job.trie, job.prompts, list(islice(answers, len(job.prompts)))),
            )
            for job in jobs
        ]

    def _logprobs(self, prompts: Sequence[Prompt]) -> list[Any]:
        """The requested log-probabilities of each prompt."""
        if not self._scores_rows:
            params = [_params(prompt_logprobs=0, flat_logprobs=True) for _ in prompts]
            outputs = self._generate([prompt.tokens for prompt in prompts], params)
            return [output.prompt_logprobs for output in outputs]
        found = self._rows(prompts, reads_cache=True)
        # For a cache that reaches beyond the first row: see `scoring`.
        missing = [at for at, rows in enumerate(found) if rows is None]
        again = self._rows([prompts[at] for at in missing], reads_cache=False)
        for at, rows in zip(missing, again, strict=True):
            found[at] = rows
        return found

    def _rows(self, prompts: Sequence[Prompt], *, reads_cache: bool) -> list[Any]:
        params = [
            _params(
                prompt_logprob_token_ids=[list(tokens) for tokens in prompt.wanted],
                prompt_logprob_start=prompt.start,
                skip_reading_prefix_cache=not reads_cache,
            )
            for prompt in prompts
        ]
        outputs = self._generate([prompt.tokens for prompt in prompts], params)
        return [output.prompt_token_id_logprobs for output in outputs]

    def _write(self, jobs: list[_Asking]) -> list[Outcome]:
        outputs = self._generate(
            [job.prompt for job in jobs], [_drawing(job.request, job.most_tokens) for job in jobs]
        )
        return [_written(job, output) for job, output in zip(jobs, outputs, strict=True)]

    def _generate(self, prompts: Sequence[Sequence[int]], params: list[Any]) -> list[Any]:
        """The outputs, in the order of the prompts."""
        from vllm import TokensPrompt

        if not prompts:
            return []
        outputs: list[Any] = self._engine.generate(
            [TokensPrompt(prompt_token_ids=list(tokens)) for tokens in prompts],
            params,
            use_tqdm=False,
            lora_request=self._adapter,
        )
        return outputs


def _params(**settings: Any) -> Any:
    """Sampling parameters of a request that is only read."""
    from vllm import SamplingParams

    return SamplingParams(temperature=0.0, max_tokens=1, detokenize=False, **settings)


def _drawing(request: Request, most_tokens: int) -> Any:
    from vllm import SamplingParams

    decoding = request.decoding
    return SamplingParams(
        temperature=decoding.temperature,
        top_p=decoding.top_p,
        repetition_penalty=decoding.repetition_penalty,
        max_tokens=most_tokens,
        stop=list(request.stop),
        seed=_seed(request, decoding),
    )


def _seed(request: Request, decoding: Decoding) -> int:
    """A seed from the request, 0 to 2**63 - 1, so that samples of one question differ."""
    said = f"{decoding.seed}:{request.sample}:{request.key}"
    return int.from_bytes(hashlib.sha256(said.encode()).digest()[:8], "big") >> 1


def _written(job: _Asking, output: Any) -> Outcome:
    (written,) = output.outputs
    if written.finish_reason not in ("stop", "length"):
        said = f"vLLM ended the request with {written.finish_reason!r}"
        return failed(job.request, "Unfinished", said, retryable=True)
    return Completion(
        key=job.request.key,
        text=written.text,
        finish=written.finish_reason,
        prompt_tokens=len(job.prompt),
        completion_tokens=len(written.token_ids),
    )
