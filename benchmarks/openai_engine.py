"""The `openai` backend against a mock server on this machine: requests per second, and memory.

The server is a process of its own that answers after a fixed latency; so the ideal rate is known:
requests at once, over the latency. The clock of our engine starts before its client is made and
ends when the verdicts are written: planning, sending, recording in the ledger, resolving and the
files are in it. Peers are timed from prompts in memory to answers in memory. Rounds ask all in
turn; medians are shown.

    python benchmarks/openai_engine.py
    python benchmarks/openai_engine.py --peers peers/bin/python     (see openai_peers.py)
    python benchmarks/openai_engine.py --memory 100000
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autoj.backends.openai import OpenAIBackend, load
from autoj.backends.openai.planning import estimate_tokens
from autoj.datasets import open_cases
from autoj.jsonl import write_records
from autoj.records import Decoding, JudgeCard, Message, Request
from autoj.runs import judge_run, make_spec, open_run

HERE = Path(__file__).resolve().parent
SERVER = HERE.parent / "tests" / "backends" / "openai_server.py"
AT_ONCE = 64
PROMPT_TOKENS = 600
# Of the ideal rate at 1 s, and requests per second at 100 ms.
TARGETS = {1.0: 0.95 * AT_ONCE, 0.1: 500.0}
CARD = JudgeCard(
    name="mock",
    title="A mock",
    backend="openai",
    model="mock",
    wrapper="none",
    protocols=("baseline-pairwise",),
    context_tokens=4096,
    decoding=Decoding(max_tokens=256),
)


@contextmanager
def serving(latency: float) -> Iterator[str]:
    """A server in a process of its own; gives its address."""
    command = [sys.executable, str(SERVER), "--latency", str(latency)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


def backend_of(url: str) -> OpenAIBackend:
    """Our engine with the options of the benchmark."""
    return load(CARD, base_url=url, concurrency=AT_ONCE)


def text_of(number: int, n_tokens: int) -> str:
    """A text of about so many tokens, unlike all others."""
    words = f"Answer {number} says that rivers flow to the sea and that the plan is written down. "
    return words * max(round(n_tokens / estimate_tokens(words)), 1)


def run_ours(url: str, n_requests: int) -> float:
    """Requests per second of a run in both orders, ledger and verdicts included."""
    # About 150 tokens are the protocol's own.
    length = (PROMPT_TOKENS - 150) // 2
    with tempfile.TemporaryDirectory(prefix="autoj-") as folder:
        data = Path(folder) / "pairs.jsonl"
        write_records(
            data,
            (
                {
                    "id": str(number),
                    "query": f"Question {number}?",
                    "responses": [text_of(number, length), text_of(-number - 1, length)],
                }
                for number in range(n_requests // 2)
            ),
        )
        spec = make_spec("judge", CARD)
        with open_run(Path(folder) / "run", spec, open_cases(data)) as run:
            started = time.monotonic()
            backend = backend_of(url)
            counts = judge_run(run, spec, backend)
            seconds = time.monotonic() - started
            backend.close()
    assert counts.n_answered == n_requests, counts
    return n_requests / seconds


def run_peer(python: str, name: str, url: str, n_requests: int) -> float | str:
    """Requests per second of a peer, or why it has none."""
    prompts = [text_of(number, PROMPT_TOKENS) for number in range(n_requests)]
    command = [python, str(HERE / "openai_peers.py"), name, url, str(AT_ONCE)]
    done = subprocess.run(command, input=json.dumps(prompts), capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1]
    said = json.loads(done.stdout.strip().splitlines()[-1])
    if said["n_answered"] < n_requests:
        return f"answered {said['n_answered']} of {n_requests}"
    return float(n_requests / said["seconds"])


def rates(latency: float, given: argparse.Namespace) -> None:
    """Prints the table of one latency."""
    ideal = AT_ONCE / latency
    n_requests = AT_ONCE * max(round(ideal * given.seconds / AT_ONCE), 1)
    measured: dict[str, list[float | str]] = {}
    with serving(latency) as url:
        for _ in range(given.rounds):
            measured.setdefault("autoj", []).append(run_ours(url, n_requests))
            for name in ("prometheus-eval", "alpaca-eval") if given.peers else ():
                # They are slower: as many seconds, and not as many requests.
                n_theirs = AT_ONCE * max(n_requests // AT_ONCE // given.slower, 1)
                rate = run_peer(given.peers, name, url, n_theirs)
                measured.setdefault(name, []).append(rate)
    print(f"\nlatency {latency:g} s, {AT_ONCE} at once: ideal {ideal:,.0f}/s")
    for name, found in measured.items():
        numbers = [rate for rate in found if isinstance(rate, float)]
        if not numbers:
            print(f"  {name:<16} skipped: {found[0]}")
            continue
        rate = statistics.median(numbers)
        aim = TARGETS.get(latency) if name == "autoj" else None
        verdict = "" if aim is None else f"  aim {aim:,.0f}/s: {'met' if rate >= aim else 'missed'}"
        print(f"  {name:<16} {rate:8,.1f}/s  {rate / ideal:6.1%} of ideal{verdict}")
    if not given.peers:
        print("  peers            skipped: --peers names a Python that has them (openai_peers.py)")


def resident_mb() -> float:
    """The memory of this process, in MB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def memory(n_requests: int) -> None:
    """Prints the memory of this process while requests pass through the engine alone."""

    def requests() -> Iterator[Request]:
        for number in range(n_requests):
            content = text_of(number, PROMPT_TOKENS)
            yield Request(
                key=f"{number:064x}",
                judge="mock",
                case_id=str(number),
                protocol="baseline-pairwise",
                shown=(0, 1),
                messages=(Message(role="user", content=content),),
                decoding=CARD.decoding,
            )

    with serving(0.0) as url:
        backend = backend_of(url)
        started = time.monotonic()
        for n_done, _ in enumerate(backend.complete(requests()), start=1):
            if n_done % max(n_requests // 10, 1) == 0:
                rate = n_done / (time.monotonic() - started)
                print(f"  {n_done:>8,} requests  {resident_mb():7.1f} MB  {rate:7.1f}/s")
        backend.close()


def main() -> None:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latency", type=float, nargs="*", default=[0.1, 1.0])
    parser.add_argument("--seconds", type=float, default=10.0, help="of a round, at the ideal rate")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", help="a Python that has prometheus-eval and alpaca_eval")
    parser.add_argument("--slower", type=int, default=4, help="how many times fewer for peers")
    parser.add_argument("--memory", type=int, default=0, help="only memory, over so many requests")
    given = parser.parse_args()
    if given.memory:
        memory(given.memory)
        return
    for latency in given.latency:
        rates(latency, given)


if __name__ == "__main__":
    main()
