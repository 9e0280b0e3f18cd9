"""Continuous batching: what it writes, what it leaves, and that nothing is lost where it fails."""

from __future__ import annotations

import math
import queue
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from autoj.records import Completion, Decoding, Failure, JudgeCard, Message, Request
from tests.tiny_llama import make_model, make_tokenizer

torch = pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
pytest.importorskip("transformers", reason="the extra `hf` is not installed: no transformers")

from autoj.backends.hf.continuous import has_continuous  # noqa: E402
from autoj.backends.hf.engine import HfBackend  # noqa: E402

END = 2


@dataclass
class Result:
    request_id: str
    generated_tokens: list[int]
    logprobs: list[float]
    error: str | None = None

    def is_finished(self) -> bool:
        return True


@dataclass
class Manager:
    """transformers' manager, as far as it is used; it writes the token 50 and an end."""

    dies_after: int = 99
    fails: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    asked: list[dict[str, Any]] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.output_router = SimpleNamespace(output_queue=queue.Queue())
        self._running = False

    def start(self) -> None:
        self._running = True

    def is_running(self) -> bool:
        return self._running

    def add_request(
        self, input_ids: list[int], request_id: str, max_new_tokens: int, eos_token_id: list[int]
    ) -> str:
        self.asked.append({"id": request_id, "most": max_new_tokens, "ends": eos_token_id})
        error = "no room" if request_id in self.fails else None
        logprob = math.nan if request_id in self.broken else -0.5
        if len(self.asked) <= self.dies_after:
            result = Result(request_id, [50, 50, END], [logprob] * 3, error)
            self.output_router.output_queue.put(result)
        return request_id

    def get_result(self, timeout: float) -> Result | None:
        if self.output_router.output_queue.empty():
            self._running = False
            return None
        return self.output_router.output_queue.get()  # type: ignore[no-any-return]

    def stop(self, *, block: bool, hard_stop: bool) -> None:
        assert block
        assert hard_stop
        self.ended.append("stop")

    def destroy(self) -> None:
        self.ended.append("destroy")


def ask(key: str, **settings: Any) -> Request:
    return Request(
        **{
            "key": key,
            "judge": "tiny",
            "case_id": key,
            "protocol": "pairwise",
            "shown": (0, 1),
            "messages": (Message(role="user", content=f"Is it {key}?"),),
            "decoding": Decoding(max_tokens=12),
            **settings,
        }
    )


def backend_with(manager: Any, **options: Any) -> HfBackend:
    model = make_model(seed=3)
    card = JudgeCard(
        name="tiny", title="", backend="hf", model="./tiny", context_tokens=600, options=options
    )
    backend = HfBackend(card, make_tokenizer(), model)

    def init(**settings: Any) -> Any:
        assert settings["generation_config"].do_sample is False
        assert settings["continuous_batching_config"].return_logprobs
        if isinstance(manager, Exception):
            raise manager
        return manager

    model.init_continuous_batching = init
    backend._continuous = True
    return backend


def answers(backend: HfBackend, requests: list[Request]) -> dict[str, Completion | Failure]:
    outcomes = list(backend.complete(requests))
    assert sorted(outcome.key for outcome in outcomes) == sorted(item.key for item in requests)
    return {outcome.key: outcome for outcome in outcomes}


def test_greedy_texts_are_written_continuously_and_the_others_in_batches() -> None:
    manager = Manager()
    requests = [
        ask("a"),
        ask("b", decoding=Decoding(max_tokens=5)),
        ask("c", decoding=Decoding(max_tokens=5, temperature=0.7)),
        ask("d", decoding=Decoding(max_tokens=5, repetition_penalty=1.1)),
        ask("e", stop=("~",)),
        ask("f", choices=("1", "2"), prefix="It is "),
    ]
    backend = backend_with(manager)
    found = answers(backend, requests)
    assert [row["most"] for row in manager.asked] == [12, 5]
    assert manager.asked[0]["ends"] == [END]
    assert manager.ended == ["stop", "destroy"]
    for key in "ab":
        completion = found[key]
        assert isinstance(completion, Completion)
        assert (completion.finish, completion.completion_tokens) == ("stop", 3)
        assert completion.text == make_tokenizer().decode([50, 50])
    plain = backend_with(manager)
    plain._continuous = False
    assert answers(plain, requests[2:]) == {key: found[key] for key in "cdef"}


@pytest.mark.parametrize(
    "manager",
    [Manager(dies_after=1), Manager(fails=("1", "2")), RuntimeError("no paged attention here"),
     TypeError("unexpected keyword")],
)  # fmt: skip
def test_what_it_leaves_is_written_in_batches(
    manager: Any, caplog: pytest.LogCaptureFixture
) -> None:
    requests = [ask(key) for key in "abc"]
    plain = backend_with(manager)
    plain._continuous = False
    expected = answers(plain, requests)
    found = answers(backend_with(manager), requests)
    assert {key: found[key] for key in "bc"} == {key: expected[key] for key in "bc"}
    if isinstance(manager, Exception):
        assert found == expected
        assert "continuous batching failed" in caplog.text
    else:
        assert manager.ended == ["stop", "destroy"]


def test_logits_that_are_not_finite_are_failures_here_too() -> None:
    found = answers(backend_with(Manager(broken=("1",))), [ask("a"), ask("b")])
    assert isinstance(found["a"], Completion)
    failure = found["b"]
    assert isinstance(failure, Failure)
    assert failure.error == "NotFinite"


def test_the_cpu_and_a_model_on_several_gpus_write_in_batches() -> None:
    assert not has_continuous(make_model())
    gpu = SimpleNamespace(type="cuda")
    one = SimpleNamespace(device=gpu, hf_device_map={"": 0}, init_continuous_batching=None)
    two = SimpleNamespace(device=gpu, hf_device_map={"a": 0, "b": 1}, init_continuous_batching=None)
    old = SimpleNamespace(device=gpu)
    assert [has_continuous(model) for model in (one, two, old)] == [True, False, False]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_on_a_gpu_its_texts_are_those_of_batches() -> None:
    model = make_model(seed=3).to("cuda")
    card = JudgeCard(name="tiny", title="", backend="hf", model="./tiny", context_tokens=600)
    backend = HfBackend(card, make_tokenizer(), model)
    assert backend._continuous
    requests = [ask(str(at)) for at in range(20)]
    found = answers(backend, requests)
    backend._continuous = False
    assert found == answers(backend, requests)
