"""What servers do wrong: each kind by itself, and all of them in one run that must not notice."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")

from pydantic import SecretStr

from autoj.backends.openai.faults import Place, Scrub, fault_of_status
from autoj.backends.openai.retries import Backoff, RateLimiter, retry_after
from autoj.datasets import open_cases
from autoj.jsonl import read_records, whole_lines, write_records
from autoj.records import Completion, Failure, Verdict
from autoj.runs import RunSpec, judge_run, make_spec, open_run

from .openai_server import (
    FAULTS,
    Answer,
    MockServer,
    by_hash,
    completion,
    error,
    fault_of,
    serving,
    with_faults,
)
from .test_openai import CARD, answer, ask, backend_of

PLACE = Place(judge="j", model="m", base_url="http://host/v1", key_variable="K")
HANG = {"timeout_seconds": 0.2}


# How long is waited.


def test_waits_double_within_their_limit_and_are_drawn() -> None:
    backoff, draw = Backoff(first_seconds=1, longest_seconds=5), random.Random(3)
    for n_tries, full in ((1, 1), (2, 2), (3, 4), (4, 5), (60, 5)):
        drawn = [backoff.seconds(n_tries, None, draw) for _ in range(50)]
        assert full / 2 <= min(drawn) < max(drawn) <= full
    assert len({backoff.seconds(1, None, draw) for _ in range(50)}) == 50


def test_what_a_server_asks_for_is_never_undercut() -> None:
    backoff, draw = Backoff(first_seconds=1, longest_seconds=5), random.Random(3)
    drawn = [backoff.seconds(1, 20.0, draw) for _ in range(50)]
    assert 20 <= min(drawn) < max(drawn) <= 21


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Wed, 01 Jan 2025 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Tue, 31 Dec 2024 23:00:00 GMT"}, 0.0),
        # The server's clock is an hour ahead of ours: its own date counts.
        (
            {
                "retry-after": "Wed, 01 Jan 2025 01:00:05 GMT",
                "date": "Wed, 01 Jan 2025 01:00:00 GMT",
            },
            5.0,
        ),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Jan 0 1999 23:59:59 -9999999999999"}, None),
        ({"retry-after": "Wed, 01 Jan 2025 00:00:30 +99999999999"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_and_as_a_date(
    headers: Mapping[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, datetime(2025, 1, 1, tzinfo=UTC)) == seconds


def test_a_date_without_the_servers_own_is_read_by_our_clock() -> None:
    soon = format_datetime(datetime.now(UTC).replace(microsecond=0), usegmt=True)
    assert retry_after({"retry-after": soon}) == 0.0


def test_a_pace_holds_its_limit_in_every_minute() -> None:
    limiter, now, starts = RateLimiter(120), 1000.0, []
    for _ in range(500):
        starts.append(now + limiter.take(1, now))
    assert all(late - early >= 59 for early, late in zip(starts, starts[119:], strict=False))
    assert starts[0] == now


def test_a_pace_takes_back_what_was_not_used() -> None:
    limiter = RateLimiter(600)
    assert limiter.take(600, 0.0) == 0.0
    limiter.correct(540)
    assert limiter.take(1, 0.0) == pytest.approx(6.0)


def test_limits_per_minute_slow_a_run_down() -> None:
    with serving() as server:
        backend = backend_of(server, requests_per_minute=60_000, tokens_per_minute=600_000)
        started = time.monotonic()
        outcomes = list(backend.complete(ask(number) for number in range(20)))
        seconds = time.monotonic() - started
        backend.close()
    assert len(outcomes) == 20
    # About 90 tokens are reserved for each, and 10,000 a second are allowed.
    assert seconds > 19 * 60 / 600_000 * 80


# Each kind of fault.


@pytest.mark.parametrize("name", ["seconds", "date", "500", "503", "drop", "half", "empty", "null"])
def test_what_passes_is_tried_again(name: str) -> None:
    with serving(lambda body, n: FAULTS[name]() if n < 2 else by_hash(body)) as server:
        got = answer(server, ask())
    assert isinstance(got, Completion)
    assert server.n_requests == 3


def test_a_server_that_is_silent_is_given_up_and_tried_again() -> None:
    with serving(lambda body, n: Answer(act="hang")) as server:
        got = answer(server, ask(), attempts=2, **HANG)
    assert isinstance(got, Failure)
    assert (got.error, got.retryable, got.attempts) == ("TimedOut", True, 2)
    assert server.n_requests == 2


@pytest.mark.parametrize(
    ("given", "kind", "retryable", "attempts", "said"),
    [
        (error(429, "Slow down."), "RateLimited", True, 3, "the rate limit is reached: Slow down."),
        (error(500, "Oh no."), "Unavailable", True, 3, r"failed \(500\): Oh no."),
        (Answer(status=502, body=b"<html>Bad\x1b[31m</html>"), "Unavailable", True, 3, "502"),
        (Answer(act="drop"), "Disconnected", True, 3, "closed the connection"),
        (FAULTS["half"](), "Malformed", True, 3, "is not JSON: "),
        (Answer(body=b"[1]"), "Malformed", True, 3, "is not a JSON object"),
        (FAULTS["empty"](), "Malformed", True, 3, "no choices"),
        (Answer(body=b'{"choices":[{"index":0}]}'), "Malformed", True, 3, "no message"),
        (completion(7), "Malformed", True, 3, "content that is not text"),
        (completion(None), "Empty", True, 3, "wrote nothing"),
        (completion(" \n "), "Empty", True, 3, "wrote nothing"),
        (completion("", finish="length"), "Empty", False, 1, "raise --max-tokens"),
        (FAULTS["filter"](), "Filtered", False, 1, "filter stopped the answer"),
        (
            completion(None, refusal="I cannot\nhelp."),
            "Refused",
            False,
            1,
            "declined to answer: I cannot help.",
        ),
        (completion(None, finish="tool_calls"), "Malformed", True, 3, "a call of a tool"),
        (
            error(400, "This model's maximum context length is 4096 tokens.", "x"),
            "ContextOverflow",
            False,
            1,
            "refuses the prompt: This model's maximum",
        ),
        (error(400, "Your content policy", "content_filter"), "Filtered", False, 1, "the prompt"),
        (error(400, "Bad messages."), "BadRequest", False, 1, r"the request \(400\): Bad"),
        (error(403, "Input was flagged."), "Filtered", False, 1, "flagged"),
        (
            Answer(body=b'{"error":{"message":"Provider is down","code":503}}'),
            "Unavailable",
            True,
            3,
            "Provider is down",
        ),
    ],
)
def test_what_does_not_pass_is_a_failure_with_its_reason(
    given: Answer, kind: str, retryable: bool, attempts: int, said: str
) -> None:
    with serving(lambda body, n: given) as server:
        got = answer(server, ask(), attempts=3)
    assert isinstance(got, Failure)
    assert (got.error, got.retryable, got.attempts) == (kind, retryable, attempts)
    assert re.search(said, got.message), got.message
    assert "\n" not in got.message
    assert server.n_requests == attempts


@pytest.mark.parametrize(
    "body",
    [
        # vLLM, SGLang, llama.cpp, TGI, the provider
        {"object": "error", "message": "This model's maximum context length is 512 tokens."},
        {"error": {"message": "The input is longer than the model's context length (8 tokens)."}},
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error",
            }
        },
        {
            "error": "`inputs` tokens + `max_new_tokens` must be <= 4096.",
            "error_type": "validation",
        },
        {"error": {"message": "Too long.", "code": "context_length_exceeded"}},
    ],
)
def test_a_prompt_that_is_too_long_is_known_in_each_servers_words(body: object) -> None:
    fault = fault_of_status(400, {}, body, PLACE, Scrub(None))
    assert (fault.error, fault.retryable, fault.ends) == ("ContextOverflow", False, None)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"error": {"message": "The model `m` does not exist.", "code": 404}}),
        (404, {"error": {"message": "model 'm' not found, try pulling it first"}}),
        (400, {"error": {"message": "Invalid model name passed in model=m"}}),
        (403, {"error": {"message": "No access.", "code": "model_not_found"}}),
    ],
)
def test_an_unknown_model_is_known_in_each_servers_words(status: int, body: object) -> None:
    fault = fault_of_status(status, {}, body, PLACE, Scrub(None))
    assert fault.ends is not None
    assert "has no model 'm'" in fault.ends.message


@pytest.mark.parametrize("body", [None, "", "<html>", [], {}, {"error": None}, {"error": [1]}, 5])
def test_every_status_with_any_body_is_a_fault(body: object) -> None:
    for status in range(400, 600):
        fault = fault_of_status(status, {"retry-after": "x"}, body, PLACE, Scrub(None))
        assert fault.error
        assert fault.message


@pytest.mark.parametrize(
    "said",
    [
        "Unsupported value: 'temperature' does not support 0.0 with this model.",
        "You are not allowed to request logprobs from this model: logprobs are not supported.",
        "Unrecognized request argument supplied: continue_final_message",
        "Unknown parameter: 'add_generation_prompt'.",
        "Extra inputs are not permitted",
    ],
)
def test_a_parameter_that_is_not_known_is_known_in_each_servers_words(said: str) -> None:
    fault = fault_of_status(400, {}, {"error": {"message": said}}, PLACE, Scrub(None))
    assert fault.ends is not None
    assert "rejects a parameter that judge 'j' sends" in fault.ends.message


def test_messages_hold_no_key_no_line_break_and_no_page() -> None:
    scrub = Scrub(SecretStr("hunter2-hunter2"))
    assert scrub("a\n  hunter2-hunter2\tb") == "a [key] b"
    assert (
        scrub("Incorrect: sk-abc***xyz, or Bearer topsecret") == "Incorrect: [key], or Bearer [key]"
    )
    assert len(scrub("long " * 1000)) < 320
    assert Scrub(SecretStr("none"))("nonetheless") == "nonetheless"


# All at once.


@pytest.fixture
def forty_pairs(tmp_path: Path) -> Path:
    path = tmp_path / "forty.jsonl"
    rows = [
        {
            "id": f"case-{number}",
            "query": f"Riddle {number}?",
            "responses": [f"First answer {number}.", f"Second answer {number}."],
        }
        for number in range(40)
    ]
    write_records(path, rows)
    return path


def judged(
    server: MockServer, data: Path, out: Path, **options: Any
) -> tuple[dict[str, Verdict], list[Failure]]:
    spec, cases = spec_of(), open_cases(data)
    backend = backend_of(server, **options)
    try:
        with open_run(out, spec, cases) as folder:
            judge_run(folder, spec, backend)
            verdicts = {verdict.case_id: verdict for verdict in folder.verdicts()}
    finally:
        backend.close()
    return verdicts, list(read_records(out / "failures.jsonl", Failure))


def spec_of() -> RunSpec:
    return make_spec("judge", CARD)


def is_same(faulty: Mapping[str, Verdict], clean: Mapping[str, Verdict], data: Path) -> bool:
    """Whether all cases are judged alike, but for those whose answers are always filtered."""
    n_filtered = 0
    for case_id, verdict in clean.items():
        if faulty[case_id].n_failed:
            n_filtered += 1
            assert faulty[case_id].winner is None
        elif faulty[case_id] != verdict:
            return False
    return 0 < n_filtered < len(clean) / 4 and len(faulty) == len(clean)


def test_a_run_through_all_faults_ends_with_the_same_verdicts(
    tmp_path: Path, forty_pairs: Path
) -> None:
    patient = {"attempts": 30, "timeout_seconds": 1.0}
    with serving() as server:
        clean, none = judged(server, forty_pairs, tmp_path / "clean")
    met = {fault_of(body) for body in server.bodies}
    assert none == []
    with serving(with_faults) as server:
        faulty, failures = judged(server, forty_pairs, tmp_path / "faulty", **patient)
    assert met == {None, *FAULTS}, "each kind of fault is met by this data"
    assert is_same(faulty, clean, forty_pairs)
    assert {failure.error for failure in failures} == {"Filtered"}
    assert server.n_requests > 80


SESSION = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from autoj.backends.openai import load
from autoj.datasets import open_cases
from autoj.runs import judge_run, make_spec, open_run
from tests.backends.test_openai import CARD

spec = make_spec("judge", CARD)
backend = load(CARD, base_url=sys.argv[1], concurrency=4, first_wait_seconds=0.001,
               timeout_seconds=1.0, attempts=30)
complete = backend.complete

def killed_after_ten(requests, on_text=None):
    for number, outcome in enumerate(complete(requests, on_text)):
        if number == 10:
            os.kill(os.getpid(), signal.SIGKILL)
        yield outcome

backend.complete = killed_after_ten
with open_run(Path(sys.argv[3]), spec, open_cases(Path(sys.argv[2]))) as folder:
    judge_run(folder, spec, backend)
"""


def test_a_run_that_is_killed_in_the_middle_of_it_goes_on(
    tmp_path: Path, forty_pairs: Path
) -> None:
    out = tmp_path / "killed"
    with serving() as server:
        clean, _ = judged(server, forty_pairs, tmp_path / "clean")
    with serving(with_faults, latency=0.02) as server:
        root = str(Path(__file__).parents[2])
        command = [sys.executable, "-c", SESSION, server.base_url, str(forty_pairs), str(out), root]
        assert subprocess.run(command).returncode == -signal.SIGKILL
        # What was answered is kept; some of the ten may have failed.
        assert 0 < len(list(whole_lines(out / "ledger.jsonl"))) <= 10
        patient = {"attempts": 30, "timeout_seconds": 1.0}
        faulty, failures = judged(server, forty_pairs, out, **patient)
    assert is_same(faulty, clean, forty_pairs)
    assert {failure.error for failure in failures} == {"Filtered"}
    keys = [completion.key for completion in read_records(out / "ledger.jsonl", Completion)]
    assert len(keys) == len(set(keys))
