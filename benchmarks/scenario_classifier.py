"""The scenario classifier's queries a minute, beside a scikit-learn pipeline of n-grams.

Queries are real ones of the length of the meta-evaluation's (`$AUTOJ_DATA`, else `../shared/data`;
the seed queries, repeated, where there are none). `fast` runs in as many processes as there are
cores; the pipeline is TF-IDF of word 1-2-grams and character 2-5-grams with a linear SVM, fitted on
the same seed queries and run in as many processes. `best` runs in one, whose engine uses all cores
itself. All are warm when the clock starts, tokenising is in it, and rounds ask them in turn, so
that a busy machine slows all of them.

    pip install -e '.[classifier,bench]'
    python benchmarks/scenario_classifier.py
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC

from autoj.scenarios.classifier import load_classifier
from autoj.scenarios.seeds import seed_files
from autoj.training.classifier.queries import read_scenario_queries

TARGETS = {"fast": 200_000, "best": 5_000}
"""Queries a minute."""
N_CORES = 2
N_BEST = 1000
"""Queries that `best` is timed on."""

_DATA = Path(os.environ.get("AUTOJ_DATA", "../shared/data"))


def read_queries(n_queries: int) -> list[str]:
    """Real queries, repeated until there are enough."""
    path = _DATA / "autoj" / "scenario_classifier" / "traindata.jsonl"
    found = read_scenario_queries([path] if path.is_file() else seed_files()).queries
    return [found[index % len(found)] for index in range(n_queries)]


def classify_fast(queries: Sequence[str]) -> int:
    """The tier `fast`."""
    return len(load_classifier("fast").classify(queries))


def classify_best(queries: Sequence[str]) -> int:
    """The tier `best`."""
    return len(load_classifier("best").classify(queries))


@cache
def _pipeline() -> Callable[[Sequence[str]], Sequence[str]]:
    seeds = read_scenario_queries(seed_files())
    model = make_pipeline(
        make_union(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
        ),
        LinearSVC(),
    )
    model.fit(seeds.queries, seeds.scenarios)
    predict: Callable[[Sequence[str]], Sequence[str]] = model.predict
    return predict


def classify_baseline(queries: Sequence[str]) -> int:
    """Words and characters with a linear SVM."""
    return len(_pipeline()(queries))


def queries_per_minute(
    pool: ProcessPoolExecutor,
    classify: Callable[[Sequence[str]], int],
    queries: Sequence[str],
    n_parts: int,
) -> float:
    """Measures the queries per minute of all processes together, each with one part."""
    parts = [queries[start::n_parts] for start in range(n_parts)]
    started = time.perf_counter()
    n_done = sum(pool.map(classify, parts))
    return n_done * 60 / (time.perf_counter() - started)


def main() -> None:
    """Runs the benchmark and prints its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-best", action="store_true", help="Leave out the tier `best`.")
    options = parser.parse_args()
    queries = read_queries(options.queries)
    engines = {"fast": classify_fast, "linear SVM": classify_baseline}
    if not options.no_best:
        engines["best"] = classify_best
    n_words = sum(len(query.split()) for query in queries) / len(queries)
    print(f"{len(queries):,} queries of {n_words:.0f} words on average, {N_CORES} processes")
    speeds: dict[str, list[float]] = {name: [] for name in engines}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(N_CORES, mp_context=context) as pool:
        for classify in engines.values():
            list(pool.map(classify, [queries[:50]] * N_CORES * 2))
        for _ in range(options.rounds):
            for name, classify in engines.items():
                asked, n_parts = (queries[:N_BEST], 1) if name == "best" else (queries, N_CORES)
                speeds[name].append(queries_per_minute(pool, classify, asked, n_parts))
    ratios = {
        name: [pace / base for pace, base in zip(found, speeds["linear SVM"], strict=True)]
        for name, found in speeds.items()
    }
    for name, found in speeds.items():
        print(
            f"{name:12s}{statistics.median(found):12,.0f} queries/min "
            f"({min(found):,.0f} to {max(found):,.0f}), "
            f"{statistics.median(ratios[name]):.2f} times the linear SVM"
        )
    for name, target in TARGETS.items():
        print(f"{'target':12s}{target:12,} queries/min of {name}")


if __name__ == "__main__":
    main()
