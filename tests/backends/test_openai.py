"""A judge behind a server: what is sent, what comes back, and how many at once."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")

from autoj.backends.openai import OpenAIBackend, load
from autoj.errors import BackendError, ConfigError, MissingExtra, install_command
from autoj.records import Completion, Decoding, Failure, JudgeCard, Message, Request

from .openai_server import Answer, MockServer, by_hash, completion, error, serving

CARD = JudgeCard(
    name="server",
    title="A server",
    backend="openai",
    model="mock",
    wrapper="none",
    protocols=("baseline-pairwise",),
    context_tokens=4096,
)
QUICK = {"first_wait_seconds": 0.001}


def ask(number: int = 0, **settings: Any) -> Request:
    given: dict[str, Any] = {
        "key": f"{number:064x}",
        "judge": "server",
        "case_id": f"case-{number}",
        "protocol": "baseline-pairwise",
        "shown": (0, 1),
        "messages": (
            Message(role="system", content="Be fair."),
            Message(role="user", content=f"Question {number}: which is better?"),
        ),
        "decoding": Decoding(max_tokens=50),
    }
    return Request(**{**given, **settings})


def backend_of(server: MockServer, **options: Any) -> OpenAIBackend:
    return load(CARD, base_url=server.base_url, **{**QUICK, **options})


def answers(server: MockServer, *requests: Request, **options: Any) -> list[Completion | Failure]:
    backend = backend_of(server, **options)
    try:
        return list(backend.complete(requests))
    finally:
        backend.close()


def answer(server: MockServer, request: Request, **options: Any) -> Completion | Failure:
    (only,) = answers(server, request, **options)
    return only


# What is sent.


def test_messages_are_sent_as_they_are_and_the_answer_comes_back() -> None:
    with serving(
        lambda body, n: completion("[[A]]", prompt_tokens=7, completion_tokens=3)
    ) as server:
        assert answer(server, ask()) == Completion(
            key=ask().key, text="[[A]]", finish="stop", prompt_tokens=7, completion_tokens=3
        )
    assert server.bodies == [
        {
            "model": "mock",
            "messages": [
                {"role": "system", "content": "Be fair."},
                {"role": "user", "content": "Question 0: which is better?"},
            ],
            "temperature": 0.0,
            "max_tokens": 50,
        }
    ]


def test_decoding_and_options_become_the_servers_parameters() -> None:
    decoding = Decoding(temperature=0.7, top_p=0.9, max_tokens=9, repetition_penalty=1.1, seed=5)
    card = replace(CARD, decoding=decoding)
    options = {
        "max_tokens_parameter": "max_completion_tokens",
        "repetition_penalty": "repeat_penalty",
        "extra_body": {"reasoning_effort": "low"},
        "omit": ["top_p"],
    }
    with serving() as server:
        backend = load(card, base_url=server.base_url, **options)
        list(backend.complete([ask(decoding=decoding, sample=2, stop=("\n2.",))]))
        backend.close()
    (body,) = server.bodies
    assert {name: body[name] for name in sorted(body) if name not in ("messages", "model")} == {
        "max_completion_tokens": 9,
        "reasoning_effort": "low",
        "repeat_penalty": 1.1,
        "seed": 7,
        "stop": ["\n2."],
        "temperature": 0.7,
    }


def test_an_opening_is_forced_where_the_server_prefills() -> None:
    with serving(lambda body, n: completion(" x: good.\n2. The rest")) as server:
        request = ask(prefix="1. The factors:\n\n-", stop=("\n2.",))
        got = answer(server, request, scoring="prefill")
    (body,) = server.bodies
    assert body["messages"][-1] == {"role": "assistant", "content": "1. The factors:\n\n-"}
    assert (body["continue_final_message"], body["add_generation_prompt"]) == (True, False)
    # A server that knows no stop strings writes on; what it wrote is cut all the same.
    assert isinstance(got, Completion)
    assert got.text == " x: good."


@pytest.mark.parametrize("written", ["1. The factors:\n\n- x: good.", "\n- x: good."])
def test_an_opening_is_asked_for_in_words_where_it_does_not(written: str) -> None:
    with serving(lambda body, n: completion(written)) as server:
        got = answer(server, ask(prefix="1. The factors:\n\n-"))
    (body,) = server.bodies
    assert [turn["role"] for turn in body["messages"]] == ["system", "user"]
    assert body["messages"][-1]["content"].endswith("go on from them:\n1. The factors:\n\n-")
    assert isinstance(got, Completion)
    assert got.text.strip().removeprefix("-").strip() == "x: good."


def test_chinese_is_asked_in_chinese() -> None:
    with serving() as server:
        answer(server, ask(prefix="1. 区分两个回应的关键因素：\n\n-"))
    assert "接着往下写" in server.bodies[0]["messages"][-1]["content"]


# Usage, finish.


def test_an_answer_that_ran_into_its_limit_says_so() -> None:
    with serving(lambda body, n: completion("Assistant A is", finish="length")) as server:
        got = answer(server, ask())
    assert isinstance(got, Completion)
    assert (got.finish, got.text) == ("length", "Assistant A is")


def test_tokens_are_estimated_where_the_server_does_not_count_them() -> None:
    body = b'{"choices":[{"message":{"content":"[[A]] it is"},"finish_reason":"stop"}]}'
    with serving(lambda _, n: Answer(body=body)) as server:
        got = answer(server, ask())
    assert isinstance(got, Completion)
    assert got.prompt_tokens > 10
    assert got.completion_tokens == 7


def test_parts_of_a_content_are_put_together() -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "[[B]]"}]
    with serving(lambda body, n: completion(parts)) as server:
        got = answer(server, ask())
    assert isinstance(got, Completion)
    assert got.text == "[[B]]"


# Concurrency.


def test_requests_are_asked_at_once_up_to_the_limit_and_read_a_bounded_number_ahead() -> None:
    n_read = n_done = most_ahead = 0

    def requests() -> Iterator[Request]:
        nonlocal n_read
        for number in range(300):
            n_read += 1
            yield ask(number)

    with serving(latency=0.005) as server:
        backend = backend_of(server, concurrency=8)
        keys = set()
        for got in backend.complete(requests()):
            n_done += 1
            most_ahead = max(most_ahead, n_read - n_done)
            assert isinstance(got, Completion)
            keys.add(got.key)
        backend.close()
    assert len(keys) == 300
    assert server.most_at_once == 8
    assert most_ahead < 3 * 8


def test_an_answer_is_there_before_the_slow_ones_are() -> None:
    with serving(lambda body, n: _slow_zero(body)) as server:
        backend = backend_of(server, attempts=1)
        outcomes = backend.complete(ask(number) for number in range(3))
        assert [type(next(outcomes)), type(next(outcomes))] == [Completion, Completion]
        server.hang_up()
        assert [type(outcome) for outcome in outcomes] == [Failure]
        backend.close()


def _slow_zero(body: dict[str, Any]) -> Answer:
    return Answer(act="hang") if "Question 0:" in body["messages"][-1]["content"] else by_hash(body)


def test_a_closed_iterator_cancels_what_is_under_way_and_the_backend_can_be_asked_again() -> None:
    with serving(latency=0.05) as server:
        backend = backend_of(server, concurrency=4)
        outcomes = backend.complete(ask(number) for number in range(10_000))
        next(outcomes)
        outcomes.close()  # type: ignore[attr-defined]
        assert len(list(backend.complete([ask(1), ask(2)]))) == 2
        # Of 10,000: the first that were under way, the next that took their places, and the two.
        # What was on its way when the iterator closed is counted whenever the server gets to it.
        assert server.n_requests <= 12 + 2
        backend.close()


def test_a_caller_that_is_interrupted_gets_its_own_exception_and_nothing_hangs() -> None:
    with serving(latency=0.01) as server:
        backend = backend_of(server)
        with pytest.raises(KeyboardInterrupt):
            _interrupted(backend)
        backend.close()
    assert server.n_requests <= 200


def _interrupted(backend: OpenAIBackend) -> None:
    for _ in backend.complete(ask(number) for number in range(1000)):
        raise KeyboardInterrupt


def test_what_goes_wrong_while_requests_are_read_is_the_callers_and_ends_everything() -> None:
    def requests() -> Iterator[Request]:
        yield ask(1)
        raise OSError("the plan cannot be written")

    with serving(latency=0.2) as server:
        backend = backend_of(server)
        with pytest.raises(OSError, match="the plan"):
            list(backend.complete(requests()))
        backend.close()


def test_it_can_be_asked_where_a_loop_runs_as_in_a_notebook() -> None:
    with serving() as server:

        async def cell() -> list[Completion | Failure]:
            return answers(server, ask(1), ask(2))

        assert len(asyncio.run(cell())) == 2


def test_no_thread_is_left() -> None:
    with serving() as server:
        backend = backend_of(server)
        list(backend.complete([ask()]))
        assert [thread for thread in threading.enumerate() if thread.name == "autoj-server"]
        backend.close()
        backend.close()  # a second time does nothing
        backend = backend_of(server)
        list(backend.complete([ask()]))
        del backend
        gc.collect()
    assert not [thread for thread in threading.enumerate() if thread.name == "autoj-server"]


# The whole engine is unusable.


def test_a_wrong_key_ends_the_run_and_is_not_repeated(monkeypatch) -> None:
    key = "sk-proj-verySecret1234567890"
    monkeypatch.setenv("MY_KEY", key)
    with serving(key="another") as server:
        backend = backend_of(server, api_key_variable="MY_KEY")
        with pytest.raises(ConfigError, match=r"rejects the key.*\[key\]") as raised:
            list(backend.complete(ask(number) for number in range(50)))
        backend.close()
    assert "MY_KEY" in str(raised.value.hint)
    assert key not in f"{raised.value!r} {raised.value} {raised.value.__cause__!r}"
    assert raised.value.__context__ is None


def test_an_unknown_model_ends_the_run_with_the_names_that_there_are() -> None:
    missing = error(404, "The model `mock2` does not exist.", "model_not_found")
    with serving(lambda body, n: missing) as server:
        backend = backend_of(server)
        with pytest.raises(ConfigError, match="has no model 'mock'") as raised:
            list(backend.complete(ask(number) for number in range(500)))
        backend.close()
    assert raised.value.hint == "It serves mock. Set the card's model to one of these."
    assert server.n_requests <= 64


def test_a_wrong_path_ends_the_run() -> None:
    with serving() as server:
        backend = load(CARD, base_url=server.base_url.removesuffix("/v1"), **QUICK)
        with pytest.raises(
            ConfigError, match=r"no endpoint for chat completions \(404\)"
        ) as raised:
            list(backend.complete([ask()]))
        backend.close()
    assert "/v1" in str(raised.value.hint)


def test_a_port_nobody_listens_on_ends_the_run_after_a_few_tries() -> None:
    with serving() as server:
        address = server.base_url
    backend = load(CARD, base_url=address, **QUICK)
    with pytest.raises(ConfigError, match=rf"{address} cannot be reached: .*") as raised:
        list(backend.complete(ask(number) for number in range(100)))
    backend.close()
    assert "Start the server" in str(raised.value.hint)


def test_a_server_that_is_gone_in_the_middle_ends_the_run_and_keeps_what_was_answered() -> None:
    with serving() as server:
        backend = backend_of(server, concurrency=1, attempts=2)
        outcomes = backend.complete(ask(number) for number in range(100))
        assert isinstance(next(outcomes), Completion)
    got = []
    with pytest.raises(BackendError, match="the server no longer answers"):
        got.extend(outcomes)
    backend.close()
    assert all(isinstance(outcome, Completion | Failure) for outcome in got)


def test_an_empty_account_ends_the_run_and_what_is_under_way_is_kept() -> None:
    def decide(body: dict[str, Any], n: int) -> Answer:
        if "Question 5:" in body["messages"][-1]["content"]:
            return error(429, "You exceeded your current quota.", "insufficient_quota")
        return by_hash(body)

    with serving(decide) as server:
        backend = backend_of(server, concurrency=1)
        got: list[Completion | Failure] = []
        with pytest.raises(BackendError, match="no credit") as raised:
            got.extend(backend.complete(ask(number) for number in range(100)))
        backend.close()
    assert len(got) == 5
    assert server.n_requests == 6
    assert raised.value.retryable


def test_a_wait_that_is_too_long_ends_the_run() -> None:
    with serving(lambda body, n: error(429, "Come back.", retry_after="3600")) as server:
        backend = backend_of(server)
        with pytest.raises(
            BackendError, match=r"asks to wait 3,600 seconds.*longest_wait_seconds \(120 seconds\)"
        ):
            list(backend.complete([ask()]))
        backend.close()


def test_a_parameter_that_the_model_does_not_take_ends_the_run() -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported with this model."
    with serving(lambda body, n: error(400, said, "unsupported_parameter")) as server:
        backend = backend_of(server)
        with pytest.raises(ConfigError, match="rejects a parameter") as raised:
            list(backend.complete([ask()]))
        backend.close()
    assert "max_tokens_parameter" in str(raised.value.hint)


# The card.


def test_a_key_is_sent_to_the_provider_or_where_the_card_names_its_variable(monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-1234567")
    monkeypatch.setenv("MY_KEY", "local-7654321")
    with serving() as server:
        answer(server, ask())
        answer(server, ask(), api_key_variable="MY_KEY")
    assert "authorization" not in server.headers[0]
    assert server.headers[1]["authorization"] == "Bearer local-7654321"


def test_the_key_is_in_no_repr_and_no_log(monkeypatch, caplog) -> None:
    key = "sk-proj-verySecret1234567890"
    monkeypatch.setenv("MY_KEY", key)
    caplog.set_level("DEBUG")
    with serving(lambda body, n: error(400, f"bad key {key}, Bearer {key}")) as server:
        backend = backend_of(server, api_key_variable="MY_KEY")
        (failure,) = backend.complete([ask()])
        shown = f"{backend!r} {backend.card!r} {backend._settings!r} {failure!r} {vars(backend)!r}"
        backend.close()
    assert key not in shown
    assert key not in caplog.text
    assert isinstance(failure, Failure)
    assert failure.message.endswith("bad key [key], Bearer [key]")


def test_a_missing_key_is_said_before_anything_is_asked(monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set"):
        load(CARD)


@pytest.mark.parametrize("key", ["sk-abc…", "“sk-abcdef”", "sk-abc def", "sk-abc\tdef"])
def test_what_cannot_be_a_key_is_said_and_not_repeated(monkeypatch, key: str) -> None:
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(ConfigError, match="MY_KEY is not a key") as raised:
        load(CARD, base_url="http://127.0.0.1:1/v1", api_key_variable="MY_KEY")
    assert "sk-abc" not in str(raised.value)


def test_the_address_of_the_environment_stands_behind_the_cards(monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-1234567")
    with serving() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        backend = load(CARD)
        assert len(list(backend.complete([ask()]))) == 1
        backend.close()
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        assert isinstance(answer(server, ask()), Completion)
    assert server.headers[0]["authorization"] == "Bearer sk-real-1234567"
    assert "authorization" not in server.headers[1]


def test_the_environment_may_name_a_gateway_for_the_providers_key_and_no_other(monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-1234567")
    monkeypatch.setenv("MY_KEY", "local-7654321")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example.com/v1")
    backend = load(CARD)
    assert backend.address == "https://gateway.example.com/v1"
    backend.close()
    for options in ({"api_key_variable": "MY_KEY"}, {"base_url": "https://other.example.com/v1"}):
        card = replace(CARD, options={"api_key_variable": "OPENAI_API_KEY", **options})
        with pytest.raises(ConfigError, match="which you have not allowed"):
            load(card)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"api_key": "sk-in-the-wrong-place"}, "unknown option 'api_key'; known are base_url"),
        ({"base_url": "http://me:secret@host/v1"}, "must not contain a user, password or query"),
        ({"base_url": "localhost:8000"}, "must be a URL"),
        ({"scoring": "guess"}, r"options.scoring: .*'none', 'logprobs' or 'prefill'"),
        ({"concurrency": 0}, "options.concurrency: .*greater than or equal to 1"),
        ({"extra_body": {"messages": []}}, "messages is set by the request itself"),
    ],
)
def test_options_that_make_no_sense_are_refused_without_their_values(
    options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as raised:
        load(CARD, **{"base_url": "http://127.0.0.1:1/v1", **options})
    assert "secret" not in str(raised.value)
    assert "sk-in" not in str(raised.value)


def test_a_repetition_penalty_is_not_dropped_silently() -> None:
    card = replace(CARD, decoding=Decoding(repetition_penalty=1.2))
    with pytest.raises(ConfigError, match=r"is 1.2, but options.repetition_penalty"):
        load(card, base_url="http://127.0.0.1:1/v1")


def test_a_protocol_that_needs_probabilities_is_refused_where_the_card_promises_none() -> None:
    with serving() as server:
        backend = backend_of(server)
        assert not backend.limits.scores_choices
        with pytest.raises(ConfigError, match=r"has no options\.scoring") as raised:
            list(backend.complete([ask(prefix="It is", choices=(" 1", " 2"))]))
        backend.close()
    assert "scoring: logprobs" in str(raised.value.hint)
    assert server.n_requests == 0


def test_a_reward_models_protocol_is_refused() -> None:
    turns = (Message(role="user", content="Q"), Message(role="assistant", content="A"))
    with serving() as server:
        backend = backend_of(server)
        with pytest.raises(ConfigError, match="for reward models"):
            list(backend.complete([ask(messages=turns)]))
        backend.close()


@pytest.mark.parametrize(
    "text",
    [
        "A plain English sentence, of the kind that judges write.",
        "def f(x):\n    return x ** 2  # squared\n",
        "两个回应都没有回答用户的问题。",
        "1234567890 " * 5,
        "🙂🙃",
    ],
)
def test_the_estimate_of_tokens_lies_between_a_fifth_and_all_of_the_bytes(text: str) -> None:
    backend = load(CARD, base_url="http://127.0.0.1:1/v1")
    n_tokens, n_bytes = backend.count_tokens(text), len(text.encode())
    assert n_bytes / 5 <= n_tokens <= n_bytes
    assert backend.count_tokens(text + text) >= 2 * n_tokens - 2


def test_a_client_without_its_transport_is_a_missing_extra(monkeypatch) -> None:
    class Missing:
        def __init__(self, **_: object) -> None:
            raise RuntimeError("install the package with the `aiohttp` extra")

    monkeypatch.setattr("openai.DefaultAioHttpClient", Missing)
    with pytest.raises(MissingExtra) as raised:
        load(CARD, base_url="http://127.0.0.1:1/v1")
    assert raised.value.hint == install_command("openai")


def test_answers_are_handed_over_while_the_next_request_is_being_built() -> None:
    """Planning may take long; what the server has answered does not wait for it."""
    n_first, handed_over = 3, threading.Event()

    def requests() -> Iterator[Request]:
        yield from (ask(number) for number in range(n_first))
        # Without a thread of its own this would wait for ever.
        assert handed_over.wait(timeout=60)
        yield ask(n_first)

    with serving() as server, closing(backend_of(server)) as backend:
        found: list[Completion | Failure] = []
        for outcome in backend.complete(requests()):
            found.append(outcome)
            if len(found) == n_first:
                handed_over.set()
    assert len({outcome.key for outcome in found}) == n_first + 1
