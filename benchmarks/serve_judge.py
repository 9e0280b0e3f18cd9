"""A judge through the service beside the same judge in a run: pairs a minute, processor time.

Both are in this process and share one loaded engine's files; they take turns, and each round has
pairs of its own, so that no cache answers. The service is asked over HTTP on loopback by clients
that each send one pair and wait.

    AUTOJ_CACHE=... python -m benchmarks.serve_judge --judge embedded --pairs 32 --rounds 3
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from autoj.backends import load_backend
from autoj.backends.base import Backend
from autoj.datasets.base import cases_of
from autoj.judges import load_card
from autoj.records import Case, JudgeCard, Response, normalise_query
from autoj.runs import make_spec
from autoj.serve.app import make_app
from autoj.serve.service import Service
from autoj.serve.settings import ServiceSettings
from autoj.tasks.judge import judge

_EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "pairs.jsonl"


def pairs(n_pairs: int, number: int) -> list[Case]:
    """Pairs of the examples, each in other words than those of any other round."""
    rows = [json.loads(line) for line in _EXAMPLES.read_text("utf-8").splitlines()]
    found = []
    for place in range(n_pairs):
        row: dict[str, Any] = rows[place % len(rows)]
        query = f"{row['query']} (variant {number}.{place})"
        found.append(
            Case(
                id=str(place),
                query=query,
                responses=tuple(
                    Response(text=its if isinstance(its, str) else its["text"])
                    for its in row["responses"]
                ),
                cluster=normalise_query(query),
            )
        )
    return found


def in_a_run(cases: list[Case], card: JudgeCard, backend: Backend) -> None:
    """Judges the cases as `autoj judge --no-critique` does, with an engine that is loaded."""
    spec = make_spec("judge", card, critique=False)
    with tempfile.TemporaryDirectory() as folder:
        run = judge(cases_of(cases), spec, Path(folder) / "run", backend=backend)
        assert run.n_judged == len(cases)


async def over_http(cases: list[Case], address: str, n_clients: int) -> None:
    """Sends every case in a request of its own, so many at a time."""
    room = asyncio.Semaphore(n_clients)
    limits = httpx.Limits(max_connections=n_clients)
    async with httpx.AsyncClient(base_url=address, timeout=None, limits=limits) as client:

        async def ask(case: Case) -> None:
            a, b = (response.text for response in case.responses)
            body = {"query": case.query, "a": a, "b": b, "critique": False}
            async with room:
                answer = await client.post("/v1/compare", json=body)
            answer.raise_for_status()
            assert answer.json()["state"] == "judged"

        await asyncio.gather(*map(ask, cases))


def run_over_http(cases: list[Case], address: str, n_clients: int) -> None:
    """Sends all cases and waits."""
    asyncio.run(over_http(cases, address, n_clients))


@contextmanager
def serving(card: JudgeCard, backend: Backend) -> Iterator[str]:
    """The address of a service of one judge that has the engine."""
    service = Service([card], ServiceSettings(), lambda _: backend)
    server = uvicorn.Server(uvicorn.Config(make_app(service), port=0, log_level="warning"))
    running = threading.Thread(target=lambda: asyncio.run(server.serve()))
    running.start()
    while not server.started or service.engine(None).state == "loading":
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    running.join()


def measured(work: Callable[[], None]) -> tuple[float, float]:
    """The seconds that something takes, and those of the processor, of all threads."""
    wall, cpu = time.monotonic(), time.process_time()
    work()
    return time.monotonic() - wall, time.process_time() - cpu


def main() -> None:
    """Measures in turns and prints a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--judge", default="embedded")
    parser.add_argument("--pairs", type=int, default=32, help="of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clients", type=int, default=32)
    given = parser.parse_args()
    card = load_card(given.judge)
    backend = load_backend(card)
    times: dict[str, list[tuple[float, float]]] = {"a run": [], "the service": []}
    with serving(card, backend) as address:
        in_a_run(pairs(given.pairs, 0), card, backend)
        for number in range(1, 2 * given.rounds + 1, 2):
            cases = pairs(given.pairs, number)
            times["a run"].append(measured(partial(in_a_run, cases, card, backend)))
            cases = pairs(given.pairs, number + 1)
            times["the service"].append(
                measured(partial(run_over_http, cases, address, given.clients))
            )
    print("| judged by | pairs | pairs/min | processor ms a pair | of each round |")
    print("|---|---|---|---|---|")
    for what, rounds in times.items():
        n_pairs = given.pairs * given.rounds
        wall, cpu = (sum(column) for column in zip(*rounds, strict=True))
        each = ", ".join(f"{1000 * cpu / given.pairs:.0f}" for _, cpu in rounds)
        print(
            f"| {what} | {n_pairs} | {60 * n_pairs / wall:.0f} | {1000 * cpu / n_pairs:.0f} "
            f"| {each} |"
        )


if __name__ == "__main__":
    main()
