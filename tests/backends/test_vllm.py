"""The engine on vLLM: its path through a stand-in, against the engine on transformers."""

from __future__ import annotations

import inspect
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from autoj.backends import load_backend
from autoj.backends._choices import build_trie
from autoj.errors import BackendError, ConfigError, MissingExtra, Unavailable
from autoj.records import Completion, Decoding, Failure, JudgeCard, Message, Request
from tests.tiny_llama import CHATML, make_adapter, make_model, make_tokenizer, save_model

torch = pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
transformers = pytest.importorskip(
    "transformers", reason="the extra `hf` is not installed: no transformers"
)

from autoj.backends.hf.engine import HfBackend  # noqa: E402
from autoj.backends.vllm import load  # noqa: E402
from autoj.backends.vllm.failures import as_ours  # noqa: E402
from autoj.backends.vllm.scoring import by_rows, by_wholes, read_rows, read_wholes  # noqa: E402
from tests.backends import vllm_stub  # noqa: E402

QUERIES = [
    "Is it four?", "Which response is better, and why? Rivers flow to the seas.", "说:不。",
    "1 12 123", "You are assessing two submitted responses on a given user's query. " * 3,
]  # fmt: skip
CHOICES = ("Response 1", "Response 2", "Tie", "1", "12")


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judge")
    tokenizer = make_tokenizer(CHATML, begins=True)
    # Seed 3 writes texts of many lengths: some end by themselves.
    save_model(folder / "model", tokenizer, make_model(seed=3))
    make_adapter(folder / "adapter", make_model(seed=3))
    return folder


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> Any:
    """vLLM's stand-in, on a machine with one GPU."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    return vllm_stub.install(monkeypatch)


def card_of(folder: Path, **settings: Any) -> JudgeCard:
    return JudgeCard(
        **{
            "name": "tiny",
            "title": "Two layers of noise",
            "backend": "vllm",
            "model": "./model",
            "wrapper": "chatml",
            "context_tokens": 600,
            "folder": str(folder),
            **settings,
        }
    )


def ask(query: str, key: str = "k", **settings: Any) -> Request:
    return Request(
        **{
            "key": key,
            "judge": "tiny",
            "case_id": key,
            "protocol": "pairwise",
            "shown": (0, 1),
            "messages": (Message(role="user", content=query),),
            "decoding": Decoding(max_tokens=16),
            **settings,
        }
    )


def scored(query: str, key: str = "k", **settings: Any) -> Request:
    return ask(query, key, **{"prefix": "It is ", "choices": CHOICES, **settings})


def of_hf(folder: Path, requests: list[Request]) -> dict[str, Completion]:
    backend = HfBackend(
        card_of(folder, backend="hf"), make_tokenizer(CHATML, begins=True), make_model(seed=3)
    )
    found = {outcome.key: outcome for outcome in backend.complete(requests)}
    assert all(isinstance(outcome, Completion) for outcome in found.values())
    return found  # type: ignore[return-value]


# --- Answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("second_runner", [True, False])
def test_choices_are_scored_as_on_transformers(judge: Path, vllm: Any, second_runner: bool) -> None:
    vllm.second_runner = second_runner
    requests = [scored(query, str(at)) for at, query in enumerate(QUERIES)]
    expected = of_hf(judge, requests)
    backend = load(card_of(judge))
    # A second time the prompts lie in the prefix cache.
    for _ in range(2):
        outcomes = list(backend.complete(requests))
        assert [outcome.key for outcome in outcomes] == [request.key for request in requests]
        for outcome in outcomes:
            assert isinstance(outcome, Completion)
            theirs = expected[outcome.key]
            assert outcome.choice_logprobs == pytest.approx(theirs.choice_logprobs, abs=1e-5)
            assert replace(outcome, choice_logprobs=None) == replace(theirs, choice_logprobs=None)


def test_a_prompt_is_read_once_for_all_its_choices_where_vllm_can(judge: Path, vllm: Any) -> None:
    requests = [scored("Is it?", choices=("1", "12", "123"))]
    n_asked = {}
    for second_runner in (True, False):
        vllm.second_runner = second_runner
        backend = load(card_of(judge))
        list(backend.complete(requests))
        n_asked[second_runner] = len(vllm_stub.LLM.made[-1].asked)
    assert n_asked == {True: 1, False: 3}


def test_what_the_cache_hides_is_asked_again_without_it(judge: Path, vllm: Any) -> None:
    backend = load(card_of(judge))
    engine = vllm_stub.LLM.made[-1]
    # The prompt ends with a whole block, so that the cache reaches to the first place asked for.
    for query in ("a" * n for n in range(32)):
        request = scored(query, choices=("Response 1", "Tie"))
        if len(backend._encoder.trie(request).root) % engine.block_size == 0:
            break
    else:
        pytest.fail("no prompt ends with a whole block")
    (first,) = backend.complete([request])
    n_asked = len(engine.asked)
    (second,) = backend.complete([request])
    again = [params.skip_reading_prefix_cache for _, params in engine.asked[n_asked:]]
    assert True in again
    assert False in again
    assert isinstance(first, Completion)
    assert isinstance(second, Completion)
    assert second.choice_logprobs == pytest.approx(first.choice_logprobs, abs=1e-6)


def test_rows_and_wholes_cover_each_step_of_each_choice() -> None:
    sequences = [[7, 8, 1, 9], [7, 8, 1, 0, 9], [7, 8, 2, 9, 9], [7, 8, 3]]
    trie = build_trie(sequences)

    def logprob(before: tuple[int, ...], token: int) -> float:
        return -((sum(before) * 31 + token * 7) % 97) / 10

    expected = [
        sum(logprob(tuple(ids[:at]), ids[at]) for at in range(2, len(ids))) for ids in sequences
    ]
    prompts = by_rows(trie)
    assert [len(prompt.wanted) for prompt in prompts] == [3, 3], "two branches"
    rows = [
        [
            [logprob(prompt.tokens[: prompt.start + 1 + at], token) for token in wanted]
            for at, wanted in enumerate(prompt.wanted)
        ]
        for prompt in prompts
    ]
    assert all(prompt.start == 1 for prompt in prompts)
    assert read_rows(trie, prompts, rows) == pytest.approx(expected)
    wholes = by_wholes(trie)
    assert [list(prompt.tokens) for prompt in wholes] == sequences
    answers = [
        [None]
        + [
            {ids[at]: vllm_stub.Logprob(logprob(tuple(ids[:at]), ids[at]))}
            for at in range(1, len(ids))
        ]
        for ids in sequences
    ]
    assert read_wholes(trie, wholes, answers) == pytest.approx(expected)


@pytest.mark.parametrize("penalty", [1.0, 1.3])
def test_greedy_texts_are_those_of_transformers(judge: Path, vllm: Any, penalty: float) -> None:
    decoding = Decoding(max_tokens=16, repetition_penalty=penalty)
    requests = [ask(query, str(at), decoding=decoding) for at, query in enumerate(QUERIES)]
    expected = of_hf(judge, requests)
    outcomes = list(load(card_of(judge)).complete(requests))
    assert {outcome.key: outcome for outcome in outcomes} == expected
    assert len({completion.text for completion in expected.values()}) > 3


def test_a_cards_decoding_becomes_vllms_parameters(judge: Path, vllm: Any) -> None:
    decoding = Decoding(max_tokens=9, temperature=0.7, top_p=0.9, repetition_penalty=1.2, seed=4)
    request = ask("Is it?", decoding=decoding, stop=("four", "\n\n"))
    list(load(card_of(judge)).complete([request]))
    ((tokens, params),) = vllm_stub.LLM.made[-1].asked
    assert make_tokenizer().decode(tokens).endswith("<|im_start|>assistant\n")
    assert (params.temperature, params.top_p, params.max_tokens) == (0.7, 0.9, 9)
    assert (params.repetition_penalty, params.stop) == (1.2, ["four", "\n\n"])
    assert params.prompt_logprobs is params.prompt_logprob_token_ids is None
    assert params.skip_reading_prefix_cache is False


def test_draws_follow_from_the_seed_the_sample_and_the_request(judge: Path, vllm: Any) -> None:
    decoding = Decoding(max_tokens=20, temperature=1.0)
    backend = load(card_of(judge))

    def seed(key: str = "k", seed: int = 0, sample: int = 0) -> int:
        drawn = replace(decoding, seed=seed)
        list(backend.complete([ask("Is it?", key, decoding=drawn, sample=sample)]))
        found = vllm_stub.LLM.made[-1].asked[-1][1].seed
        assert found is not None
        assert 0 <= found < 2**63
        return found

    assert seed() == seed()
    assert len({seed(), seed(seed=1), seed(sample=1), seed("other")}) == 4


def test_kinds_of_requests_share_a_batch_and_batches_are_read_lazily(
    judge: Path, vllm: Any
) -> None:
    backend = load(card_of(judge, options={"batch_requests": 4}))
    engine, n_read = vllm_stub.LLM.made[-1], 0

    def many() -> Iterator[Request]:
        nonlocal n_read
        for at in range(10):
            n_read += 1
            yield (ask if at % 2 else scored)("Is it?", str(at), decoding=Decoding(max_tokens=2))

    outcomes = backend.complete(many())
    first = {outcome.key for outcome in islice(outcomes, 4)}
    assert (first, n_read) == ({"0", "1", "2", "3"}, 4)
    assert {outcome.key for outcome in outcomes} == set(map(str, range(4, 10)))
    assert max(engine.batches) < 10


def test_what_is_longer_than_the_context_fails_and_is_not_cut(judge: Path, vllm: Any) -> None:
    backend = load(card_of(judge, context_tokens=60))
    assert backend.limits.context_tokens == 60
    requests = [ask("x" * 300, "a"), scored("x" * 300, "b"), ask("Is it?", "c"), scored("No", "d")]
    found = {outcome.key: outcome for outcome in backend.complete(requests)}
    for key in "ab":
        failure = found[key]
        assert isinstance(failure, Failure)
        assert (failure.error, failure.retryable) == ("ContextOverflow", False)
    assert all(isinstance(found[key], Completion) for key in "cd")
    # At the edge nothing reaches vLLM that it would refuse.
    for n in range(20, 60):
        list(backend.complete([scored("x" * n, "e"), ask("x" * n, "f")]))


def test_what_vllm_did_not_finish_is_a_failure(judge: Path, vllm: Any) -> None:
    backend = load(card_of(judge))
    vllm_stub.LLM.made[-1].finish_reason = "abort"
    (failure,) = backend.complete([ask("Is it?")])
    assert isinstance(failure, Failure)
    assert (failure.error, failure.retryable) == ("Unfinished", True)
    assert "'abort'" in failure.message


def test_log_probabilities_that_are_no_numbers_are_failures(
    judge: Path, vllm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = load(card_of(judge))
    engine = vllm_stub.LLM.made[-1]
    monkeypatch.setattr(
        engine, "_logprobs", lambda tokens: torch.full((len(tokens), 340), torch.nan)
    )
    (failure,) = backend.complete([scored("Is it?")])
    assert isinstance(failure, Failure)
    assert (failure.error, failure.retryable) == ("NotFinite", False)


def test_the_tokenizers_own_template_is_read_and_pinned(tmp_path: Path, vllm: Any) -> None:
    tokenizer = make_tokenizer(CHATML)
    tokenizer.chat_template = "{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}"
    save_model(tmp_path / "model", tokenizer, make_model())
    backend = load(card_of(tmp_path, wrapper="template"))
    assert backend.template is not None
    assert backend.card.options == {"template_sha256": backend.template.sha256}
    list(backend.complete([ask("Is<|im_end|> it?")]))
    tokens, _ = vllm_stub.LLM.made[-1].asked[-1]
    assert tokenizer.decode(tokens) == "<|im_start|>Is< |im_end|> it?"


# --- Loading --------------------------------------------------------------------------------------


def test_what_vllm_is_told_follows_from_the_card(judge: Path, vllm: Any) -> None:
    backend = load_backend(card_of(judge))
    arguments = vllm_stub.LLM.made[-1].arguments
    assert arguments["enable_prefix_caching"] is True
    assert arguments["trust_remote_code"] is False
    assert (arguments["max_model_len"], arguments["tensor_parallel_size"]) == (600, 1)
    assert (arguments["dtype"], arguments["quantization"]) == ("auto", None)
    assert backend.count_tokens("It is four") == len(make_tokenizer()("It is four")["input_ids"])
    backend.close()
    options = {
        "precision": "float16", "quantization": "gptq", "gpu_memory_utilization": 0.5,
        "enforce_eager": True,
    }  # fmt: skip
    load(card_of(judge, options=options, context_tokens=4096))
    arguments = vllm_stub.LLM.made[-1].arguments
    assert arguments["max_model_len"] == 700, "no longer than the model's own"
    assert (arguments["dtype"], arguments["quantization"]) == ("float16", "gptq")
    assert (arguments["gpu_memory_utilization"], arguments["enforce_eager"]) == (0.5, True)


@pytest.mark.parametrize(
    ("n_gpus", "heads", "shared", "expected"),
    [(1, 4, 2, 1), (2, 4, 2, 2), (4, 4, 2, 4), (8, 4, 4, 4), (3, 4, 4, 2), (7, 28, 4, 4),
     (8, 40, 40, 8), (6, 40, 40, 5)],
)  # fmt: skip
def test_layers_are_spread_over_as_many_gpus_as_divide_the_heads(
    n_gpus: int, heads: int, shared: int, expected: int
) -> None:
    from types import SimpleNamespace

    from autoj.backends.vllm.loading import _n_parallel

    config = SimpleNamespace(num_attention_heads=heads, num_key_value_heads=shared)
    assert _n_parallel(card_of(Path()), config, n_gpus) == expected


def test_a_card_says_over_how_many_gpus(
    judge: Path, vllm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    load(card_of(judge, options={"tensor_parallel": 2}))
    assert vllm_stub.LLM.made[-1].arguments["tensor_parallel_size"] == 2
    with pytest.raises(ConfigError, match="tensor_parallel is 8, but there are only 4 GPUs"):
        load(card_of(judge, options={"tensor_parallel": 8}))


def test_an_adapter_is_asked_for_with_each_request(judge: Path, vllm: Any) -> None:
    backend = load(card_of(judge, adapter="./adapter"))
    engine = vllm_stub.LLM.made[-1]
    assert engine.arguments["enable_lora"] is True
    assert engine.arguments["max_lora_rank"] == 8, "the least room that a rank of 4 fits into"
    list(backend.complete([scored("Is it?", "a"), ask("Is it?", "b")]))
    assert {adapter.lora_path for adapter in engine.adapters} == {str(judge / "adapter")}
    load(card_of(judge))
    assert "enable_lora" not in vllm_stub.LLM.made[-1].arguments
    with pytest.raises(ConfigError, match="expected sha256 00"):
        load(card_of(judge, adapter="./adapter", adapter_revision=f"sha256:{'0' * 64}"))


def test_an_adapter_with_a_head_is_refused_that_would_be_applied_in_part(
    judge: Path, vllm: Any, tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(judge, tmp_path / "judge")
    weights = folder / "adapter" / "adapter_model.safetensors"
    heads = {
        "rating_head.weight": torch.zeros(8),
        "rating_head.bias": torch.zeros(1),
        "rating_head.sharpness": torch.ones(1),
    }
    save_file(load_file(weights) | heads, weights)
    with pytest.raises(ConfigError, match="has a head for verdicts, which vLLM cannot apply"):
        load(card_of(folder, adapter="./adapter"))


WRONG_OPTIONS: list[tuple[dict[str, Any], str]] = [
    (
        {"tensor_paralel": 2},
        "unknown option 'tensor_paralel'; expected one of tensor_parallel, precision",
    ),
    ({"precision": "float8"}, "one of auto, float32, bfloat16, float16, found 'float8'"),
    ({"quantization": 4}, "quantization must be a name, found 4"),
    ({"enforce_eager": "yes"}, "enforce_eager must be true or false, found 'yes'"),
    ({"gpu_memory_utilization": 1.5}, "above 0 and at most 1, found 1.5"),
    ({"gpu_memory_utilization": True}, "found True"),
    ({"tensor_parallel": 0}, "tensor_parallel must be a number from 1, found 0"),
    ({"batch_requests": 1.5}, "batch_requests must be a number from 1, found 1.5"),
]


@pytest.mark.parametrize(("options", "said"), WRONG_OPTIONS)
def test_an_option_that_makes_no_sense_is_refused(
    judge: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        load(card_of(judge, options=options))


def test_a_machine_without_vllm_or_without_a_gpu_is_told(
    judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"judge 'tiny' needs packages"):
        load(card_of(judge))
    monkeypatch.undo()
    vllm_stub.install(monkeypatch)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(ConfigError, match="needs a GPU, and there is none") as told:
        load(card_of(judge))
    assert "vllm serve" in str(told.value.hint)


def test_a_file_that_vllm_does_not_run_is_told(judge: Path, vllm: Any) -> None:
    with pytest.raises(ConfigError, match="cannot run GGUF files"):
        load(card_of(judge, model="./tiny.gguf"))
    with pytest.raises(ConfigError, match=r"there is no folder .*nowhere"):
        load(card_of(judge, model="./nowhere"))


OOM = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB"
FAILURES: list[tuple[Exception, type[Exception], str, str]] = [
    (torch.OutOfMemoryError(OOM), ConfigError, "not fit on the GPU: CUDA out", "context_tokens"),
    (ValueError("Free memory on device cuda:0 (1/80 GiB) on startup is less than desired"),
     ConfigError, "does not fit on the GPU", "gpu_memory_utilization"),
    (ValueError("To serve at least one request with the model's max seq len (4096), (3.1 GiB KV "
                "cache is needed, which is larger than the available KV cache memory (1 GiB)."),
     ConfigError, "does not fit on the GPU", "Lower context_tokens"),
    (RuntimeError("Engine core initialization failed. See root cause above."),
     ConfigError, "cannot be loaded: Engine core", "vLLM's own log above gives the reason"),
    (OSError("no-org/no-model is not a local folder and is not a valid model identifier listed on "
             "the hub"), ConfigError, "there is no model", ""),
    (OSError("Can't load tokenizer for '/a/folder'"), ConfigError, "cannot be loaded: Can't", ""),
    (ValueError("User-specified max_model_len (4096) is greater than the derived max_model_len "
                "(n_positions=2048)"), ConfigError, "cannot be loaded", "context_tokens"),
    (ValueError("Unknown quantization method: gqtp"), ConfigError, "cannot be loaded: Unknown", ""),
    (RuntimeError("something else"), BackendError, "cannot be loaded: something else", ""),
]  # fmt: skip


@pytest.mark.parametrize(("error", "kind", "said", "hint"), FAILURES)
def test_what_vllm_raises_becomes_an_error_of_ours(
    judge: Path, vllm: Any, error: Exception, kind: type[Exception], said: str, hint: str
) -> None:
    vllm.raises = error
    with pytest.raises(kind, match=said) as told:
        load(card_of(judge))
    assert type(told.value) is kind
    assert hint in str(told.value.hint or "")
    assert told.value.__cause__ is error


def test_what_could_not_be_fetched_may_be_there_later() -> None:
    card = card_of(Path(), model="an-org/a-model")
    told = pytest.raises(Unavailable, match="an-org/a-model cannot be loaded: We couldn't")
    with told, as_ours(card, "cannot be loaded"):
        raise OSError("We couldn't connect to the hub")


def test_an_engine_that_breaks_down_keeps_what_was_answered(judge: Path, vllm: Any) -> None:
    backend = load(card_of(judge, options={"batch_requests": 2}))
    outcomes = backend.complete([scored("Is it?", str(at)) for at in range(4)])
    assert len(list(islice(outcomes, 2))) == 2
    vllm_stub.LLM.made[-1].fails = RuntimeError("EngineCore encountered an issue.")
    with pytest.raises(BackendError, match=r"\./model broke down: EngineCore"):
        next(outcomes)


def test_a_temperature_beyond_vllms_is_told(judge: Path, vllm: Any) -> None:
    with pytest.raises(ConfigError, match="up to 2, found 9"):
        list(load(card_of(judge)).complete([ask("a", decoding=Decoding(temperature=9.0))]))


# --- The stand-in ---------------------------------------------------------------------------------


def test_the_stand_in_has_vllms_signatures() -> None:
    real = pytest.importorskip("vllm", reason="the extra `vllm` is not installed")
    from vllm.engine.arg_utils import EngineArgs
    from vllm.logprobs import FlatLogprobs, Logprob
    from vllm.lora.request import LoRARequest
    from vllm.outputs import CompletionOutput

    def check(ours: Any, theirs: Any, *, defaults: bool = True) -> None:
        known = inspect.signature(theirs).parameters
        for name, parameter in inspect.signature(ours).parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                continue
            assert name in known, f"{theirs} takes no {name}"
            if defaults:
                assert parameter.default == known[name].default, f"{theirs}: {name}"

    # Its defaults are those of other classes, and are not relied on.
    check(vllm_stub.EngineArgs, EngineArgs, defaults=False)
    for ours, theirs in (
        (vllm_stub.LLM.__init__, real.LLM.__init__),
        (vllm_stub.LLM.generate, real.LLM.generate),
        (vllm_stub.SamplingParams, real.SamplingParams),
        (vllm_stub.LoRARequest, LoRARequest),
        (vllm_stub.Logprob, Logprob),
        (vllm_stub.CompletionOutput, CompletionOutput),
        (vllm_stub.RequestOutput.__init__, real.RequestOutput.__init__),
    ):
        check(ours, theirs)
    assert "prompt_token_ids" in real.TokensPrompt.__annotations__
    flat = FlatLogprobs()
    flat.append(None)
    flat.append({3: Logprob(-0.5)})
    assert flat[1][3].logprob == -0.5
