"""Speed and memory of a construction's filters on made-up queries.

    pip install -e '.[construct,classifier]'
    python -m benchmarks.construct --rows 100000
    python -m benchmarks.construct --rows 1000000 --stages collect "collect, languages" mix

Each stage runs in a process of its own, so that its peak of memory is its own. Figures are CPU
seconds: other work on the machine slows a clock and not these.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from autoj.construct.collecting import collect
from autoj.construct.damage import change_numbers
from autoj.construct.known_queries import deduplicate
from autoj.construct.mixing import write_mix
from autoj.construct.recipe import Collect, ConstructRecipe, Deduplicate, Mix, PairFile
from autoj.construct.stages import StageFolder
from autoj.datasets import open_cases
from autoj.records import Case

_WORDS = [
    "plan",
    "trip",
    "river",
    "seven",
    "why",
    "write",
    "letter",
    "python",
    "bread",
    "history",
    "explain",
    "sum",
    "green",
    "window",
    "market",
    "short",
    "poem",
    "list",
    "doctor",
    "rain",
]


def write_rows(path: Path, n_rows: int) -> None:
    """Writes pairs of about 60 words each; every tenth query is nearly an earlier one."""
    random = Random(0)
    queries: list[str] = []
    with path.open("w", encoding="utf-8") as stream:
        for number in range(n_rows):
            query = " ".join(random.choices(_WORDS, k=30)) + f" {random.random()}"
            if number % 10 == 9:
                query = change_numbers(random.choice(queries), random) or query
            if len(queries) < 1000:
                queries.append(query)
            responses = [" ".join(random.choices(_WORDS, k=15)) for _ in range(2)]
            row = {"id": number, "query": query, "responses": responses, "label": "ab"[number % 2]}
            stream.write(json.dumps(row) + "\n")


def _cases(path: Path) -> Iterator[Case]:
    return (case for _, case in open_cases(path, "native").read() if isinstance(case, Case))


def _recipe(path: Path, stage: Collect) -> ConstructRecipe:
    source = PairFile.model_validate({"data": str(path)})
    return ConstructRecipe(title="", sources=(source,), stages=(stage,))


def _collect(path: Path) -> None:
    stage = Collect.model_validate({"stage": "collect"})
    recipe = _recipe(path, stage)
    with tempfile.TemporaryDirectory() as folder:
        StageFolder(Path(folder), "collect").write(collect(recipe, stage))


def _languages(path: Path) -> None:
    stage = Collect.model_validate({"stage": "collect", "languages": ["en"]})
    recipe = _recipe(path, stage)
    with tempfile.TemporaryDirectory() as folder:
        StageFolder(Path(folder), "collect").write(collect(recipe, stage))


def _exact(path: Path) -> None:
    for _ in deduplicate(
        _cases(path), Deduplicate.model_validate({"stage": "deduplicate", "threshold": None})
    ):
        pass


def _near(path: Path) -> None:
    for _ in islice(
        deduplicate(_cases(path), Deduplicate.model_validate({"stage": "deduplicate"})), 100_000
    ):
        pass


def _mix(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_mix(_cases(path), Mix.model_validate({"stage": "mix"}), Path(folder), 0)


STAGES: dict[str, Callable[[Path], None]] = {
    "collect": _collect,
    "collect, languages": _languages,
    "deduplicate, exact": _exact,
    "deduplicate, near (100,000 at most)": _near,
    "mix": _mix,
}


def _measured(work: Callable[[Path], None], path: Path, results: Any) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF)
    work(path)
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    results.put((spent, after.ru_maxrss / 1024))


def main() -> None:
    """Print a line per stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES), metavar="NAME")
    arguments = parser.parse_args()
    n_rows = arguments.rows
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        write_rows(path, n_rows)
        for name in arguments.stages:
            work = STAGES[name]
            results = context.Queue()
            process = context.Process(target=_measured, args=(work, path, results))
            process.start()
            process.join()
            if process.exitcode:
                raise SystemExit(f"{name}: ended with {process.exitcode}")
            seconds, megabytes = results.get()
            n_done = min(n_rows, 100_000) if "near" in name else n_rows
            print(f"{name:36} {n_done / seconds:10,.0f} rows/s of CPU {megabytes:8,.0f} MB")


if __name__ == "__main__":
    main()
