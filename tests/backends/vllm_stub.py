"""A stand-in for vLLM with its signatures, as far as they are used, on a tiny model.

It is strict where vLLM is: it takes the arguments of release 0.33 and no others, and refuses what
that refuses. `test_vllm.py` compares its signatures with the real ones where vLLM can be imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any, TypedDict

import numpy as np
import pytest
import torch
import transformers


class TokensPrompt(TypedDict, total=False):
    prompt_token_ids: list[int]


@dataclass(kw_only=True)
class EngineArgs:
    """What `LLM` hands on by its `**kwargs`."""

    max_model_len: int | None = None
    max_num_batched_tokens: int | None = None
    max_logprobs: int = 20
    enable_prefix_caching: bool | None = None
    enable_lora: bool = False
    max_loras: int = 1
    max_lora_rank: int = 16


@dataclass(kw_only=True)
class SamplingParams:
    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None
    stop: str | list[str] | None = None
    max_tokens: int | None = 16
    prompt_logprobs: int | None = None
    prompt_logprob_token_ids: Any = None
    prompt_logprob_start: int | None = None
    flat_logprobs: bool = False
    detokenize: bool = True
    skip_reading_prefix_cache: bool | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.temperature <= 2:
            raise ValueError(f"temperature must be in [0, 2], got {self.temperature}.")
        if self.stop and not self.detokenize:
            raise ValueError("stop strings are only supported when detokenize is True.")
        if self.skip_reading_prefix_cache is None:
            scores = self.prompt_logprobs is not None or self.prompt_logprob_token_ids is not None
            self.skip_reading_prefix_cache = scores


@dataclass
class LoRARequest:
    lora_name: str
    lora_int_id: int
    lora_path: str = ""


@dataclass
class Logprob:
    logprob: float
    rank: int | None = None
    decoded_token: str | None = None


@dataclass
class CompletionOutput:
    index: int
    text: str
    token_ids: Sequence[int]
    cumulative_logprob: float | None
    logprobs: Any
    finish_reason: str | None = None


class RequestOutput:
    def __init__(
        self,
        request_id: str,
        prompt: str | None,
        prompt_token_ids: list[int] | None,
        prompt_logprobs: Any,
        outputs: list[CompletionOutput],
        finished: bool,
        *,
        prompt_token_id_logprobs: Any = None,
    ) -> None:
        self.request_id = request_id
        self.prompt_token_ids = prompt_token_ids
        self.prompt_logprobs = prompt_logprobs
        self.prompt_token_id_logprobs = prompt_token_id_logprobs
        self.outputs = outputs
        self.finished = finished


class LLM:
    """Answers as vLLM would: its numbers are transformers'."""

    raises: Exception | None = None
    """Raised when an engine is made."""
    second_runner = True
    block_size = 16
    made: list[LLM]

    def __init__(
        self,
        model: str,
        *,
        tensor_parallel_size: int = 1,
        dtype: str = "auto",
        quantization: str | None = None,
        revision: str | None = None,
        tokenizer_revision: str | None = None,
        seed: int = 0,
        gpu_memory_utilization: float = 0.92,
        enforce_eager: bool = False,
        trust_remote_code: bool = False,
        **kwargs: Any,
    ) -> None:
        if self.raises is not None:
            raise self.raises
        self.arguments = {
            "tensor_parallel_size": tensor_parallel_size,
            "dtype": dtype,
            "quantization": quantization,
            "revision": revision,
            "tokenizer_revision": tokenizer_revision,
            "seed": seed,
            "gpu_memory_utilization": gpu_memory_utilization,
            "enforce_eager": enforce_eager,
            "trust_remote_code": trust_remote_code,
            **kwargs,
        }
        self.args = EngineArgs(**kwargs)
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        self._model = transformers.AutoModelForCausalLM.from_pretrained(model).eval()
        self.model_config = SimpleNamespace(max_model_len=self.args.max_model_len)
        runner = SimpleNamespace(use_v2_model_runner=self.second_runner)
        self.llm_engine = SimpleNamespace(vllm_config=runner)
        self.asked: list[tuple[list[int], SamplingParams]] = []
        self.batches: list[int] = []
        self.adapters: list[Any] = []
        self.fails: Exception | None = None
        self.finish_reason: str | None = None
        self._blocks: set[tuple[int, ...]] = set()
        LLM.made.append(self)

    def generate(
        self,
        prompts: Any,
        sampling_params: SamplingParams | Sequence[SamplingParams] | None = None,
        *,
        use_tqdm: Any = True,
        lora_request: Any = None,
    ) -> list[RequestOutput]:
        if self.fails is not None:
            raise self.fails
        assert isinstance(sampling_params, Sequence)
        assert len(prompts) == len(sampling_params)
        assert not use_tqdm
        self.batches.append(len(prompts))
        self.adapters.append(lora_request)
        # vLLM answers in its own order; results come in that of the prompts.
        pairs = list(enumerate(zip(prompts, sampling_params, strict=True)))
        answers = {at: self._answer(at, *pair) for at, pair in reversed(pairs)}
        return [answers[at] for at in range(len(prompts))]

    def _answer(self, at: int, prompt: TokensPrompt, params: SamplingParams) -> RequestOutput:
        tokens = prompt["prompt_token_ids"]
        assert all(type(token) is int for token in tokens)
        assert self.args.max_model_len is not None
        if len(tokens) >= self.args.max_model_len:
            raise ValueError(f"The decoder prompt (length {len(tokens)}) is longer than …")
        self.asked.append((tokens, params))
        n_cached = 0 if params.skip_reading_prefix_cache else self._n_cached(tokens)
        ends = range(self.block_size, len(tokens) + 1, self.block_size)
        self._blocks |= {tuple(tokens[:end]) for end in ends}
        return RequestOutput(
            str(at), None, tokens, self._prompt_logprobs(tokens, params, n_cached),
            [self._write(tokens, params)], True,
            prompt_token_id_logprobs=self._rows(tokens, params, n_cached),
        )  # fmt: skip

    def _n_cached(self, tokens: list[int]) -> int:
        """Whole blocks that an earlier prompt began with too; the last token is always read."""
        n = 0
        while n + self.block_size < len(tokens) and (
            tuple(tokens[: n + self.block_size]) in self._blocks
        ):
            n += self.block_size
        return n

    def _logprobs(self, tokens: list[int]) -> Any:
        with torch.inference_mode():
            return self._model(input_ids=torch.tensor([tokens])).logits[0].log_softmax(-1)

    def _prompt_logprobs(self, tokens: list[int], params: SamplingParams, n_cached: int) -> Any:
        if params.prompt_logprobs is None:
            return None
        logprobs = self._logprobs(tokens)
        whole: list[dict[int, Logprob] | None] = [None]
        for at in range(1, len(tokens)):
            # What is cached was computed for others, and there are no logits of it.
            known = float(logprobs[at - 1, tokens[at]]) if at > n_cached else 123.0
            whole.append({tokens[at]: Logprob(known)})
        return whole

    def _rows(self, tokens: list[int], params: SamplingParams, n_cached: int) -> Any:
        wanted, start = params.prompt_logprob_token_ids, params.prompt_logprob_start or 0
        if wanted is None:
            return None
        if not self.second_runner:
            raise ValueError("prompt_logprob_token_ids requires the V2 model runner")
        if len(wanted) != len(tokens) - 1 - start:
            raise ValueError(f"prompt_logprob_token_ids has {len(wanted)} rows")
        if n_cached > start:
            return None
        ids = torch.tensor(wanted)
        scores = self._logprobs(tokens)[start:-1].gather(1, ids.clamp(min=0))
        return np.asarray(scores.masked_fill(ids < 0, -torch.inf))

    def _write(self, tokens: list[int], params: SamplingParams) -> CompletionOutput:
        settings: dict[str, Any] = {"do_sample": False}
        if params.temperature:
            assert params.seed is not None
            torch.manual_seed(params.seed)
            settings = {"do_sample": True, "temperature": params.temperature, "top_k": 0,
                        "top_p": params.top_p}  # fmt: skip
        ids = torch.tensor([tokens])
        with torch.inference_mode():
            written = self._model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                generation_config=transformers.GenerationConfig(
                    max_new_tokens=params.max_tokens,
                    repetition_penalty=params.repetition_penalty,
                    eos_token_id=self._tokenizer.eos_token_id,
                    pad_token_id=self._tokenizer.eos_token_id,
                    **settings,
                ),
            )[0, len(tokens) :].tolist()
        reason = "stop" if written[-1] == self._tokenizer.eos_token_id else "length"
        text = (
            self._tokenizer.decode(written, skip_special_tokens=True) if params.detokenize else ""
        )
        for stop in params.stop or ():
            if stop in text:
                text, reason = text[: text.index(stop)], "stop"
        return CompletionOutput(0, text, written, None, None, self.finish_reason or reason)


def install(monkeypatch: pytest.MonkeyPatch) -> type[LLM]:
    """Make `import vllm` this module, with a fresh `LLM`."""
    package, lora, request = (
        ModuleType(name) for name in ("vllm", "vllm.lora", "vllm.lora.request")
    )
    engine = type("LLM", (LLM,), {})
    LLM.made = []
    package.LLM, package.SamplingParams, package.TokensPrompt = engine, SamplingParams, TokensPrompt
    request.LoRARequest = LoRARequest
    package.__spec__ = request.__spec__ = object()
    for module in (package, lora, request):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return engine
