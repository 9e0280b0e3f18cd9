"""Answers of servers that are too long, sent on, or count what nobody can count."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")

from autoj.backends.openai import load
from autoj.backends.openai.bounded import _is_short
from autoj.backends.openai.replies import _positions
from autoj.backends.openai.retries import WaitLog
from autoj.errors import BackendError, ConfigError
from autoj.records import Completion, Failure, WrittenCompletion

from .openai_server import Answer, completion, error, scored, serving
from .test_openai import CARD, QUICK, answer, ask, backend_of

BOMB_BYTES = 40_000_000


def long_text(n_bytes: int) -> bytes:
    return completion("a" * n_bytes).body


def gzipped_bomb() -> bytes:
    """An answer of 40 MB in 40 kB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head, tail = completion("TEXT").body.split(b"TEXT")
    parts = [packer.compress(head)]
    parts += [packer.compress(b"a" * 1_000_000) for _ in range(BOMB_BYTES // 1_000_000)]
    return b"".join([*parts, packer.compress(tail), packer.flush()])


PACKED: dict[str, Callable[[], Answer]] = {
    "gzip": lambda: Answer(body=gzipped_bomb(), headers={"content-encoding": "gzip"}),
    "deflate": lambda: Answer(
        body=zlib.compress(long_text(BOMB_BYTES)), headers={"content-encoding": "deflate"}
    ),
    "gzip twice": lambda: Answer(
        body=gzip.compress(gzipped_bomb()), headers={"content-encoding": "gzip, gzip"}
    ),
    "plain": lambda: Answer(body=long_text(5_000_000)),
}


@pytest.mark.parametrize("name", PACKED)
def test_a_long_answer_is_a_failure_and_does_not_fill_the_memory(name: str) -> None:
    sent = PACKED[name]()
    with serving(lambda body, n: sent) as server:
        tracemalloc.start()
        got = answer(server, ask())
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert isinstance(got, Failure)
    assert (got.error, got.retryable, got.attempts) == ("ReplyTooLong", False, 1)
    assert "options.longest_reply_bytes" in got.message
    assert peak_bytes < 20_000_000


def test_a_long_error_is_not_read_either() -> None:
    bomb = Answer(status=400, body=gzipped_bomb(), headers={"content-encoding": "gzip"})
    with serving(lambda body, n: bomb) as server:
        got = answer(server, ask())
    assert isinstance(got, Failure)
    assert got.error == "ReplyTooLong"


def test_an_answer_at_the_limit_is_read_and_the_limit_is_an_option() -> None:
    body = completion("[[A]]" + "x" * 5000).body
    packed = Answer(body=gzip.compress(body), headers={"content-encoding": "gzip"})
    with serving(lambda _, n: packed) as server:
        got = answer(server, ask(), longest_reply_bytes=len(body))
        too_long = answer(server, ask(), longest_reply_bytes=len(body) - 1)
    assert isinstance(got, Completion)
    assert got.text.startswith("[[A]]x")
    assert isinstance(too_long, Failure)


@pytest.mark.parametrize(
    ("headers", "short"),
    [
        ({"content-length": "100"}, True),
        ({"content-length": "101"}, False),
        ({"content-length": "-1"}, False),
        ({"content-length": "1, 1"}, False),
        ({"content-length": ""}, False),
        ({}, False),
        ({"content-length": "100", "content-encoding": "gzip"}, False),
        ({"content-length": "100", "transfer-encoding": "chunked"}, False),
    ],
)
def test_a_body_is_taken_whole_where_its_headers_keep_it_within_the_limit(
    headers: dict[str, str], short: bool
) -> None:
    assert _is_short(headers, 100) is short


def test_a_plain_answer_at_the_limit_is_read_and_one_above_it_is_not() -> None:
    sent = completion("[[A]]" + "x" * 5000)
    with serving(lambda _, n: sent) as server:
        got = answer(server, ask(), longest_reply_bytes=len(sent.body))
        too_long = answer(server, ask(), longest_reply_bytes=len(sent.body) - 1)
    assert isinstance(got, Completion)
    assert isinstance(too_long, Failure)
    assert too_long.error == "ReplyTooLong"


def test_the_others_are_answered_beside_a_long_one() -> None:
    def decide(body: dict[str, Any], n_before: int) -> Answer:
        return PACKED["plain"]() if "Question 3" in str(body) else completion("[[A]]")

    with serving(decide) as server:
        backend = backend_of(server, concurrency=4)
        got = list(backend.complete(ask(number) for number in range(10)))
        backend.close()
    assert sorted(type(each).__name__ for each in got) == ["Completion"] * 9 + ["Failure"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_server_that_sends_requests_on_ends_the_run(status: int) -> None:
    with serving() as other:
        there = {"location": f"{other.base_url}/chat/completions"}
        with serving(lambda body, n: Answer(status=status, headers=there)) as server:
            backend = backend_of(server)
            with pytest.raises(ConfigError, match="sends requests on to another address"):
                list(backend.complete([ask()]))
            backend.close()
    assert other.n_requests == 0


@pytest.mark.parametrize(
    "count", [2**63 - 1, 2**64 - 1, -1, 1e300, "many", None, True, [1], {"a": 1}, 10**9]
)
def test_a_count_that_cannot_be_one_is_estimated(count: object) -> None:
    value = json.loads(completion("[[A]] is better.").body)
    value["usage"] = {"prompt_tokens": count, "completion_tokens": count}
    with serving(lambda body, n: Answer(body=json.dumps(value).encode())) as server:
        got = answer(server, ask())
    assert isinstance(got, Completion)
    assert 0 < got.completion_tokens < 100
    assert 0 < got.prompt_tokens < 1000


def test_a_token_whose_bytes_are_a_number_takes_no_memory() -> None:
    logprobs = {"content": [{"token": "a", "bytes": 10**12, "logprob": -1, "top_logprobs": []}]}
    choices = {"choices": (" Tie", " 1"), "prefix": "So:"}
    with serving(lambda body, n: completion(" 1", logprobs=logprobs)) as server:
        got = answer(server, ask(**choices), scoring="logprobs")
    assert isinstance(got, Completion)


def test_a_server_that_lists_thousands_of_tokens_takes_no_time() -> None:
    # Each fits every choice, so that the next would be compared with all before it.
    entry = {"token": "*", "logprob": 0.0, "top_logprobs": [{"token": "_", "logprob": -1.0}] * 9}
    logprobs = {"content": [entry] * 4000}
    choices = {"choices": (" Tie", " 1"), "prefix": "So:"}
    with serving(lambda body, n: completion(" 1", logprobs=logprobs)) as server:
        got = answer(server, ask(**choices), scoring="logprobs")
    assert isinstance(got, Completion)
    assert got.choice_logprobs is None
    positions = _positions(logprobs)
    assert positions is not None
    assert len(positions) == 64


# Addresses and waits.


@pytest.mark.parametrize(
    "address",
    ["http://host:99999/v1", "http://host:x/v1", "http://[::1/v1", "http://ho st/v1", "http://h\n/",
     "http://me@host/v1", "http://:@host/v1", "http://host/v1?key=1", "http://host/v1#key", "ftp://h",
     "http:///v1", "http://host:0/v1", "http://" + "h" * 600],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match=r"options\.base_url: must") as raised:
        load(CARD, base_url=address)
    assert address not in str(raised.value)


@pytest.mark.parametrize(
    "proxy", ["http://127.0.0.1:99999", "http://[::1", "nonsense://x", "http://"]
)
def test_a_proxy_that_is_none_is_refused(monkeypatch, proxy: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(ConfigError, match=r"names a proxy for https? that is no URL") as raised:
        load(CARD, base_url="http://api.example.com/v1")
    assert "_PROXY to one such as" in str(raised.value.hint)
    assert proxy not in raised.value.message


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://no-such-host.invalid/v1", r"knows no such name|Temporary failure|cannot be"),
        ("http://127.0.0.1:1/v1", "refused|Connect call failed"),
    ],
)
def test_a_dead_host_is_told_with_the_reason(monkeypatch, address: str, reason: str) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    backend = load(CARD, base_url=address, **QUICK)
    with pytest.raises(ConfigError, match=f"{address} cannot be reached: .*({reason})") as raised:
        list(backend.complete([ask()]))
    backend.close()
    hosted = "invalid" in address
    assert ("Start the server" in str(raised.value.hint)) is not hosted
    assert ("Check the network" in str(raised.value.hint)) is hosted


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_dead_proxy_is_named_without_its_password(monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://me:secret@127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    backend = load(CARD, base_url="http://api.example.com/v1", **QUICK)
    with pytest.raises(ConfigError, match=r"api\.example\.com/v1 cannot be reached") as raised:
        list(backend.complete([ask()]))
    backend.close()
    assert "proxy 127.0.0.1:1" in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["longest_wait_seconds", "timeout_seconds", "first_wait_seconds"])
@pytest.mark.parametrize("seconds", [1e9, 86_401, float("inf")])
def test_a_wait_of_years_is_no_option(name: str, seconds: float) -> None:
    with pytest.raises(ConfigError, match=f"options.{name}: "):
        load(CARD, base_url="http://127.0.0.1:1/v1", **{name: seconds})


@pytest.mark.parametrize(
    ("asked", "told"),
    [("1e9", "11,574 days"), ("1e300", "1,000,000 days"), ("7200", "2 hours"),
     ("Fri, 31 Dec 9999 23:59:59 GMT", "days")],
)  # fmt: skip
def test_a_server_that_asks_to_wait_for_years_ends_the_run(asked: str, told: str) -> None:
    with serving(lambda body, n: error(429, "Come back.", retry_after=asked)) as server:
        backend = backend_of(server, longest_wait_seconds=3600)
        with pytest.raises(BackendError, match=f"asks to wait .*{told}.*longest_wait_seconds"):
            list(backend.complete([ask()]))
        backend.close()


def test_a_long_wait_is_said_once(caplog) -> None:
    log = WaitLog("gpt-4")
    for _ in range(64):
        log.tell(90.0, "the rate limit is reached", now=5.0)
    log.tell(3.0, "short", now=5.0)
    log.tell(90.0, "once more", now=200.0)
    assert [record.message for record in caplog.records] == [
        "judge 'gpt-4' waits 90 seconds: the rate limit is reached",
        "judge 'gpt-4' waits 90 seconds: once more",
    ]


def test_the_log_probability_of_a_written_text_is_the_sum_of_its_tokens() -> None:
    tokens = [{"Yes": -0.25}, {",": -0.5}, {" it is": -1.0}]
    sent: list[dict[str, Any]] = []

    def decide(body: dict[str, Any], n_before: int) -> Answer:
        sent.append(body)
        return scored(tokens)

    with serving(decide) as server:
        got = answer(server, ask(), text_logprobs=True)
    assert isinstance(got, WrittenCompletion)
    assert (got.text, got.logprob) == ("Yes, it is", -1.75)
    assert sent[0]["logprobs"] is True
    assert "top_logprobs" not in sent[0]


@pytest.mark.parametrize(
    "content",
    [
        None, [], "no", [{}], [{"logprob": "x"}], [{"logprob": 0.5}], [{"logprob": None}],
        [{"logprob": -0.5}, {}], [{"logprob": -9999.0}], [3],
    ],
)  # fmt: skip
def test_log_probabilities_that_cannot_be_read_leave_an_answer_without(content: object) -> None:
    answered = completion("Yes.", logprobs={"content": content})
    with serving(lambda body, n: answered) as server:
        got = answer(server, ask())
    assert type(got) is Completion
    assert got.text == "Yes."
