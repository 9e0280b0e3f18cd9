"""`autoj view` of a large run: its first page, filters, search, memory, and the time of the index.

    python benchmarks/view.py --cases 1000000 --characters 200

The folder is written in a run's format by copying the lines of a small run that a script judged,
each with an id and a key of its own; a query and a response have about so many characters. The
server is a process of its own: the time to the first page starts with it, imports included.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson

from autoj.backends.scripted import ScriptedBackend
from autoj.datasets import open_cases
from autoj.jsonl import encode_summed, write_records
from autoj.records import JudgeCard, Request
from autoj.runs import RunFolder, judge_run, make_spec, open_run
from autoj.runs.files import CASES, LEDGER, PLAN, VERDICTS
from autoj.scenarios import scenario_names

_CARD = JudgeCard(
    name="script",
    title="A script",
    backend="scripted",
    model="script",
    protocols=("pairwise",),
    context_tokens=100_000,
)
_WORDS = "of the and to in is that it was for on with as at by this from or have an"
_N_SEEDS = 100


def _text(generator: random.Random, n_characters: int) -> str:
    return " ".join(generator.choices(_WORDS.split(), k=n_characters // 4))


def _seeds(n_characters: int) -> Iterator[dict[str, Any]]:
    generator, names = random.Random(0), scenario_names()
    for at in range(_N_SEEDS):
        yield {
            "id": f"seed-{at}",
            "query": f"{at} {_text(generator, n_characters)}",
            "responses": [_text(generator, generator.randint(40, 2 * n_characters)) for _ in "ab"],
            "label": generator.choice(["a", "b", "tie"]),
            "scenario": names[at % len(names)],
        }


def _answer(request: Request) -> str:
    winner = random.Random(request.key).choice(["Response 1", "Response 2", "Tie"])
    return f"It is on the whole the better one.\n\nSo, the final decision is {winner}."


def make_run(folder: Path, n_cases: int, n_characters: int) -> Path:
    """A run of many cases, written without judging them.

    Args:
        folder: an empty folder for it.
        n_cases: the number of cases.
        n_characters: of a query and of a response, about.
    """
    write_records(folder / "seeds.jsonl", _seeds(n_characters))
    spec, path = make_spec("judge", _CARD, protocol="pairwise"), folder / "run"
    with open_run(path, spec, open_cases(folder / "seeds.jsonl")) as opened:
        judge_run(opened, spec, ScriptedBackend(_CARD, _answer))
    rows = {name: _rows(path / name) for name in (CASES, VERDICTS, PLAN, LEDGER)}
    answers = {row["key"]: row for row in rows[LEDGER]}
    plans = [[row for row in rows[PLAN] if row["case_id"] == c["id"]] for c in rows[CASES]]
    with (
        (path / CASES).open("wb") as cases, (path / VERDICTS).open("wb") as verdicts,
        (path / PLAN).open("wb") as plan, (path / LEDGER).open("wb") as ledger,
    ):  # fmt: skip
        for at in range(n_cases):
            seed, its_id = at % _N_SEEDS, f"case-{at}"
            case = rows[CASES][seed] | {"id": its_id, "cluster": f"query {at // 2}"}
            cases.write(_line(case))
            verdicts.write(_line(rows[VERDICTS][seed] | {"case_id": its_id}))
            for number, row in enumerate(plans[seed]):
                key = hashlib.sha256(f"{at} {number}".encode()).hexdigest()
                plan.write(_line(row | {"case_id": its_id, "key": key}))
                answer = {n: v for n, v in answers[row["key"]].items() if n != "sum"}
                ledger.write(encode_summed(answer | {"key": key}))
    RunFolder(path).note_digests(CASES, VERDICTS, PLAN, LEDGER)
    return path


def _rows(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def _line(row: dict[str, Any]) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


class _Served:
    """`autoj view` in a process of its own."""

    def __init__(self, run: Path) -> None:
        command = [sys.executable, "-m", "autoj", "view", str(run), "--no-open"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        self.address = self._process.stderr.readline().split()[0]

    def ask(self, path: str, **query: str) -> Any:
        """The JSON of an answer."""
        with urllib.request.urlopen(f"{self.address}{path}?{urlencode(query)}") as answer:
            return json.load(answer)

    def most_megabytes(self) -> float:
        """The most memory that the process held so far."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1e3

    def processor_seconds(self) -> float:
        """The processor time that the process took so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()


def measure(run: Path) -> None:
    """Print the times and the memory of a view of a run."""
    begun = time.perf_counter()
    served = _Served(run)
    try:
        urllib.request.urlopen(served.address).close()
        state = served.ask("api/state")
        n_listed = len(served.ask("api/cases")["cases"])
        took = time.perf_counter() - begun
        cpu = served.processor_seconds()
        print(
            f"first page, {n_listed} cases: {took:.2f} s, {cpu:.2f} s of processor; "
            f"{served.most_megabytes():,.0f} MB at most"
        )
        while not all(each["is_whole"] for each in state["runs"]):
            time.sleep(1)
            state = served.ask("api/state")
        print(
            f"all indexed: {time.perf_counter() - begun:.1f} s, "
            f"{served.processor_seconds():.1f} s of processor; "
            f"{served.most_megabytes():,.0f} MB at most"
        )
        for name, query in (
            ("against the label", {"flag": "wrong"}),
            ("a scenario", {"scenario": "group:Code"}),
            ("a winner, the longest first", {"winner": "a", "sort": "length"}),
            ("orders disagree, by disagreement", {"flag": "disagree", "sort": "disagreement"}),
            ("the last page of all", {"page": str(state["n_cases"] // 50 - 1)}),
            ("a frequent word", {"q": "that it was"}),
        ):
            begun = time.perf_counter()
            found = served.ask("api/cases", **query)
            print(f"{name}: {1e3 * (time.perf_counter() - begun):.0f} ms, {found['n_found']:,}")
        print(f"after filters: {served.most_megabytes():,.0f} MB at most")
        _measure_search(served, "no such text")
        begun = time.perf_counter()
        served.ask(f"api/cases/{state['n_cases'] // 2}")
        print(f"a case: {1e3 * (time.perf_counter() - begun):.0f} ms")
        begun = time.perf_counter()
        served.ask("api/state")
        print(f"figures: {1e3 * (time.perf_counter() - begun):.0f} ms")
        print(f"the whole server process: {served.most_megabytes():,.0f} MB of memory at most")
    finally:
        served.end()


def _measure_search(served: _Served, text: str) -> None:
    """Print the time of a search through all cases, and of another question during it."""
    searches = threading.Thread(target=served.ask, args=("api/cases",), kwargs={"q": f"{text} 1"})
    searches.start()
    time.sleep(0.1)
    begun = time.perf_counter()
    served.ask("api/cases", flag="wrong", sort="length")
    waited = time.perf_counter() - begun
    searches.join()
    begun, cpu, parts = time.perf_counter(), served.processor_seconds(), 0
    while True:
        found = served.ask("api/cases", q=text)
        parts += 1
        if found["n_searched"] == found["n_to_search"]:
            break
    print(
        f"a text that no case has: {time.perf_counter() - begun:.1f} s in {parts} answers, "
        f"{served.processor_seconds() - cpu:.1f} s of processor; "
        f"a filter asked during such a search: {1e3 * waited:.0f} ms"
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--characters", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        run = make_run(Path(name), arguments.cases, arguments.characters)
        n_bytes = sum(path.stat().st_size for path in run.iterdir())
        print(f"{arguments.cases:,} cases, {n_bytes / 1e9:.2f} GB")
        measure(run)


if __name__ == "__main__":
    main()
