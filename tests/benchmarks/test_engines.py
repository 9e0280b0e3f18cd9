"""What the benchmarks of engines share: a process per engine, the clock, and tables."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openvino_genai", reason="the extra `embedded` is not installed")
if not Path("/proc/stat").is_file():
    pytest.skip("this system does not say how busy it is", allow_module_level=True)

from benchmarks.engines import Answer, Engine, Prompts, Work, asking, ratios, spread, timed

from autoj.backends.scripted import ScriptedBackend
from autoj.records import Decoding, Failure, Message, Request

from ..scripted import CARD

WORK = Work(
    n_done=4,
    prompt_tokens=40,
    new_tokens=8,
    seconds=2.0,
    processor_seconds=3.0,
    elsewhere=0.0,
)


def make_answer(n_read: int) -> Answer:
    """Stands for an engine: made in a process of its own."""

    def answer(prompts: Prompts) -> tuple[int, int]:
        if 9 in prompts:
            os._exit(1)
        return n_read * len(prompts), sum(prompts)

    return answer


def ask(number: int) -> Request:
    return Request(
        key=str(number),
        judge="script",
        case_id=str(number),
        protocol="pairwise",
        shown=(0, 1),
        messages=(Message(role="user", content="one two three"),),
        decoding=Decoding(),
    )


def test_an_engine_answers_in_a_process_of_its_own_and_keeps_its_work() -> None:
    engine = Engine("a stub", 1, make_answer, 10)
    first, second = engine.ask((1, 2)), engine.ask(range(4))
    assert engine.work == [first, second], "the first answer, which loads things, is not among them"
    assert (first.n_done, first.prompt_tokens, first.new_tokens) == (2, 20, 3)
    assert (second.n_done, second.prompt_tokens, second.new_tokens) == (4, 40, 6)
    assert engine.load_seconds >= 0
    assert engine.first_seconds > 0
    assert 5 < engine.close() < 5000, "megabytes"


def test_an_engine_that_breaks_down_ends_the_benchmark() -> None:
    engine = Engine("a stub", 1, make_answer, 10)
    with pytest.raises(SystemExit, match="a stub failed"):
        engine.ask((9,))


class Counting(ScriptedBackend):
    """Notes how many requests it is handed at once."""

    handed: list[int]

    def complete(self, requests: Any, on_text: Any = None) -> Any:
        given = list(requests)
        self.handed.append(len(given))
        return super().complete(given, on_text)


@pytest.mark.parametrize(("one_by_one", "handed"), [(False, [3]), (True, [1, 1, 1])])
def test_a_backend_is_asked_together_or_one_by_one(one_by_one: bool, handed: list[int]) -> None:
    backend = Counting(CARD, lambda request: "four words are written")
    backend.handed = []
    answer = asking(backend, [ask(number) for number in range(5)], one_by_one=one_by_one)
    assert answer((0, 2, 4)) == (9, 12)
    assert backend.handed == handed


def test_a_failure_is_no_work() -> None:
    failure = Failure(key="0", error="Broken", message="it broke", retryable=False, attempts=1)
    backend = ScriptedBackend(CARD, lambda request: replace(failure, key=request.key))
    with pytest.raises(SystemExit, match="it broke"):
        asking(backend, [ask(0)])((0,))


def test_work_is_timed() -> None:
    def slowly(prompts: Prompts) -> tuple[int, int]:
        time.sleep(0.05)
        return 7, 2

    work = timed(slowly, (0, 1))
    assert (work.n_done, work.prompt_tokens, work.new_tokens) == (2, 7, 2)
    assert 0.05 <= work.seconds < 5
    assert work.elsewhere >= 0


def test_rates_and_ratios() -> None:
    assert (WORK.per_minute, WORK.read_per_second, WORK.new_per_second) == (120, 20, 4)
    half = replace(WORK, seconds=4.0)
    assert ratios([WORK, WORK, half], [half, WORK, WORK], 2) == "1.00 (0.50-2.00)"
    assert spread((1234.5, 1.0), 0) == "618 (1-1,234)"
