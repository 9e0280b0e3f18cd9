"""The queue and the thread behind a service: turns, limits, deadlines, breakdowns."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from autoj.backends.scripted import ScriptedBackend
from autoj.errors import Unavailable
from autoj.serve.questions import FairQueue, Job, Writing

from .conftest import CARD, longer_wins

PAIR = {"query": "q", "a": "x", "b": "y y"}
ONE, OTHER = Writing(CARD.decoding), Writing(None)  # type: ignore[arg-type]


def jobs(question: Any, *subjects: str) -> list[Job]:
    return [Job(question, subject) for subject in subjects]


def test_clients_take_turns_and_equal_questions_leave_together() -> None:
    queue = FairQueue(100)
    queue.put("greedy", jobs(ONE, "g1", "g2", "g3", "g4"))
    queue.put("modest", jobs(ONE, "m1"))
    queue.put("other", jobs(OTHER, "o1"))
    assert [job.subject for job in queue.take(3)] == ["g1", "m1", "g2"]
    assert [job.subject for job in queue.take(9)] == ["o1"]
    assert [job.subject for job in queue.take(9)] == ["g3", "g4"]
    assert (len(queue), queue.take(9)) == (0, [])


def test_jobs_of_a_client_that_left_are_dropped() -> None:
    queue = FairQueue(2)
    waiting = jobs(ONE, "1", "2")
    queue.put("client", waiting)
    assert not queue.has_room(1)
    waiting[0].answer.cancel()
    queue.drop_cancelled()
    assert queue.has_room(1)
    assert [job.subject for job in queue.take(9)] == ["2"]


class Held:
    """Answers once it is let go."""

    def __init__(self) -> None:
        self.reached, self.free = threading.Event(), threading.Event()
        self.n_asked = 0

    def __call__(self, request: Any) -> str:
        self.n_asked += 1
        self.reached.set()
        assert self.free.wait(10)
        return longer_wins(request)


def test_a_full_queue_is_said_with_the_time_to_wait(served) -> None:
    held = Held()

    async def test(client: Any) -> None:
        first = asyncio.create_task(client.post("/v1/compare", json=PAIR))
        await asyncio.to_thread(held.reached.wait)
        waiting = asyncio.create_task(client.post("/v1/compare", json={"cases": [PAIR] * 3}))
        while client.service.engine(None).n_waiting < 3:
            await asyncio.sleep(0)
        full = await client.post("/v1/compare", json=PAIR)
        assert (full.status_code, int(full.headers["retry-after"]) >= 1) == (429, True)
        held.free.set()
        assert (await first).status_code == (await waiting).status_code == 200

    served(test, answer=held, most_waiting=3, most_rows=3)


def test_a_deadline_takes_a_case_out_of_the_queue(served) -> None:
    held = Held()

    async def test(client: Any) -> None:
        first = asyncio.create_task(client.post("/v1/compare", json=PAIR))
        await asyncio.to_thread(held.reached.wait)
        late = await client.post("/v1/compare", json={**PAIR, "deadline_seconds": 0.001})
        assert late.status_code == 504
        held.free.set()
        assert (await first).status_code == 200
        assert (await client.post("/v1/rate", json={"query": "q", "response": "r"})).is_success
        assert held.n_asked == 3

    served(test, answer=held)


def test_an_engine_that_dies_is_503_and_comes_back(served) -> None:
    n_loaded = 0
    may_load = threading.Event()
    may_load.set()

    def load(card: Any) -> ScriptedBackend:
        nonlocal n_loaded
        n_loaded += 1
        assert may_load.wait(10)

        def answer(request: Any) -> str:
            if "die" in request.messages[-1].content:
                may_load.clear()
                raise RuntimeError("secret detail of the engine")
            return longer_wins(request)

        backend = ScriptedBackend(card, answer)
        if n_loaded == 1:
            backend.close = cannot_close  # type: ignore[method-assign]
        return backend

    def cannot_close() -> None:
        raise OSError("an engine that died cannot always be closed")

    async def test(client: Any) -> None:
        assert (await client.post("/v1/compare", json=PAIR)).is_success
        died = await client.post("/v1/compare", json={**PAIR, "query": "die"})
        assert (died.status_code, died.headers["retry-after"]) == (503, "5")
        assert "secret" not in died.text
        engine = client.service.engine(None)
        while engine.state != "loading":
            await asyncio.sleep(0)
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.post("/v1/compare", json=PAIR)).status_code == 503
        may_load.set()
        while engine.state != "ready":
            await asyncio.sleep(0.001)
        assert (await client.post("/v1/compare", json=PAIR)).is_success
        assert n_loaded == 2

    served(test, load=load)


def test_an_engine_that_does_not_load_says_why(served) -> None:
    def load(card: Any) -> ScriptedBackend:
        raise Unavailable("the server cannot be reached")

    async def test(client: Any) -> None:
        answer = await client.post("/v1/compare", json=PAIR)
        assert answer.status_code == 503
        assert "cannot be reached" in answer.json()["detail"]

    served(test, load=load)


def test_one_clients_bad_case_fails_no_other(served) -> None:
    async def test(client: Any) -> None:
        cases = [PAIR, {**PAIR, "scenario": "no such scenario"}]
        both = {"cases": cases, "protocol": "pairwise-criteria"}
        good = {**PAIR, "scenario": "planning", "protocol": "pairwise-criteria"}
        bad, fine = await asyncio.gather(
            client.post("/v1/compare", json=both), client.post("/v1/compare", json=good)
        )
        assert (bad.status_code, fine.status_code) == (422, 200)

    served(test)
