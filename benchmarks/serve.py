"""The time that the service adds to a judgment: clients at once on a scripted judge.

The judge answers at once, so that what is measured is the service: HTTP, checks, queue, batching.
A server runs in a process of its own; clients keep their connections. `--rate` is requests per
second of all clients together, each client waiting for its turn; 0 lets each ask again as soon as
it is answered, which measures the most that the service can do. `--requests` ends a measurement
after so many in place of a time. The server's memory is looked at all along.

    python benchmarks/serve.py
    python benchmarks/serve.py --rate 0
    python benchmarks/serve.py --clients 200 --rate 0 --requests 100000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import uvicorn

from autoj.backends.scripted import ScriptedBackend
from autoj.records import JudgeCard, Request
from autoj.serve.app import make_app
from autoj.serve.server import impatient
from autoj.serve.service import Service
from autoj.serve.settings import ServiceSettings

CARD = JudgeCard(
    name="script", title="A script", backend="scripted", model="script", protocols=("pairwise",)
)
BODY = {"query": "What is 2 + 2?", "a": "Four. " * 50, "b": "I think that it is four. " * 40}

_LOOK_SECONDS = 0.25

_CONTENT = json.dumps(BODY).encode()
REQUEST = (
    b"POST /v1/compare HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_CONTENT), _CONTENT)
)


def answer(request: Request) -> str:
    """A judgment that costs no time."""
    return "- clarity: it is clear.\n\nSo, the final decision is Response 1."


def run_server(port: int) -> None:
    """Serves until the process is ended."""
    service = Service([CARD], ServiceSettings(), lambda card: ScriptedBackend(card, answer))
    http = impatient(service.settings.body_seconds)
    uvicorn.run(make_app(service), port=port, log_level="warning", access_log=False, http=http)


async def post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One request on an open connection; a client of few lines leaves the cores to the server."""
    writer.write(REQUEST)
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head.splitlines()[0]:
        raise RuntimeError(head.decode())
    (length,) = re.findall(rb"content-length: (\d+)", head)
    await reader.readexactly(int(length))


async def ask(
    port: int, number: int, times: list[float], turns: Iterator[object], pause: float
) -> None:
    """One client: asks as long as there are turns, and notes the seconds of each request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    due = time.perf_counter() + pause * random.Random(number).random()
    for _ in turns:
        if due > (now := time.perf_counter()):
            await asyncio.sleep(due - now)
        started = time.perf_counter()
        await post(reader, writer)
        times.append(time.perf_counter() - started)
        due = max(due + pause, started)
    writer.close()
    await writer.wait_closed()


def wait_until_ready(port: int) -> None:
    """Waits until the server has loaded its judge."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        while True:
            try:
                if client.get("/readyz").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.05)


def until(seconds: float) -> Iterator[None]:
    """Turns for all clients together until a time is over."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        yield None


async def measure(
    port: int, n_clients: int, turns: Iterator[object], rate: float, server: int | None
) -> tuple[list[float], list[float]]:
    """The seconds of all requests of all clients, and the server's memory in MiB over time."""
    pause = n_clients / rate if rate else 0.0
    times: list[float] = []
    memory: list[float] = []

    async def look() -> None:
        while True:
            memory.append(resident_mib(server))
            await asyncio.sleep(_LOOK_SECONDS)

    looking = asyncio.create_task(look())
    await asyncio.gather(*(ask(port, its, times, turns, pause) for its in range(n_clients)))
    looking.cancel()
    return times, [*memory, resident_mib(server)]


def cpu_seconds(pid: int | None) -> float:
    """The processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int | None) -> float:
    """The memory of a process, in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def main() -> None:
    """Measures and prints a row."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rate", type=float, default=150.0, help="requests per second; 0: most")
    parser.add_argument("--requests", type=int, help="end after so many, not after --seconds")
    options = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = multiprocessing.get_context("spawn").Process(target=run_server, args=(port,))
    server.start()
    try:
        wait_until_ready(port)
        asyncio.run(measure(port, options.clients, until(1.0), options.rate, server.pid))
        before, started = cpu_seconds(server.pid), time.perf_counter()
        turns: Iterator[object] = until(options.seconds)
        if options.requests:
            turns = iter(range(options.requests))
        times, memory = asyncio.run(measure(port, options.clients, turns, options.rate, server.pid))
        seconds = time.perf_counter() - started
        spent = (cpu_seconds(server.pid) - before) * 1000 / len(times)
    finally:
        server.terminate()
        server.join()
    median, p99 = np.percentile(np.array(times) * 1000, [50, 99])
    print("| clients | asked | requests/s | n | median ms | p99 ms | CPU ms | server MiB |")
    print("|---|---|---|---|---|---|---|---|")
    asked = f"{options.rate:g}/s" if options.rate else "at once"
    print(
        f"| {options.clients} | {asked} | {len(times) / seconds:.0f} | {len(times):,} "
        f"| {median:.1f} | {p99:.1f} | {spent:.1f} | {min(memory):.0f} to {max(memory):.0f} |"
    )
    # The first tenth warms up: threads, caches and the allocator's pools.
    settled = memory[len(memory) // 10 :]
    print(
        f"memory after the first tenth: {settled[0]:.1f} MiB, at the end {settled[-1]:.1f}, "
        f"between {min(settled):.1f} and {max(settled):.1f} ({len(settled)} looks)"
    )


if __name__ == "__main__":
    main()
