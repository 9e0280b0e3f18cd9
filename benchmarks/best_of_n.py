"""Best of N by the embedded judge: what responses to one query have in common read once, or not.

Each response is rated alone (`single-verdict`), the first ones to each of the first queries of
`best_of_n/alpaca_eval_bo32.jsonl.gz` in `$AUTOJ_DATA`, else `../shared/data`: for time alone, no
choice is made by their quality. Two engines are asked in turn, in processes of their own: the one
that is shipped, and the same one with nothing taken for common. Their scores must be equal to the
last bit, else this ends with an error. Processor time is what other work on the machine weighs
least on.

    pip install -e '.[embedded,bench]'
    python -m benchmarks.best_of_n
    python -m benchmarks.best_of_n --judge embedded-small-base --queries 4 --rounds 3
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

from autoj.backends.base import Outcome
from autoj.backends.embedded import EmbeddedBackend, beginnings, inputs, load
from autoj.backends.embedded.engine import _WINDOW_REQUESTS
from autoj.datasets import open_cases
from autoj.judges import load_card
from autoj.records import Case, Completion, Request
from autoj.runs import make_spec
from autoj.runs.plan import plan_case
from benchmarks.embedded import data_folder
from benchmarks.engines import Answer, Engine, Prompts, Work, spread, wait_for_quiet

_FILE = "best_of_n/alpaca_eval_bo32.jsonl.gz"
TARGET, GOAL = 1.4, 1.6


def requests_of(backend: EmbeddedBackend, n_queries: int, n_responses: int) -> list[Request]:
    """The ratings of the first responses to the first queries, each asked once."""
    spec = make_spec("rate", backend.card, protocol="single-verdict")
    rows = (row.case for row in open_cases(data_folder() / _FILE).read())
    cases = [case for case in rows if isinstance(case, Case)][:n_queries]
    planned = [item.request for case in cases for item in plan_case(case, spec, backend)]
    by_case: dict[str, dict[str, Request]] = {}
    for request in filter(None, planned):
        by_case.setdefault(request.case_id, {})[request.key] = request
    return [request for case in by_case.values() for request in [*case.values()][:n_responses]]


def scoring(requests: list[Request], judge: str, path: Path, shares: bool) -> Answer:
    """The embedded judge; its scores are written to a file.

    Args:
        requests: what is asked.
        judge: a card's name.
        path: the file, of one line a request.
        shares: False lets it find nothing in common.
    """
    if not shares:
        for module in (beginnings, inputs):
            vars(module)["common_length"] = lambda *_: 0
    backend = load(load_card(judge))

    def ask(prompts: Prompts) -> tuple[int, int]:
        outcomes = list(backend.complete([requests[index] for index in prompts]))
        if len(prompts) == len(requests):
            path.write_text("".join(sorted(map(_line, outcomes))))
        return sum(o.prompt_tokens for o in outcomes if isinstance(o, Completion)), 0

    return ask


def _line(outcome: Outcome) -> str:
    if not isinstance(outcome, Completion):
        raise SystemExit(f"not answered: {outcome}")
    return f"{outcome.key} {outcome.choice_logprobs}\n"


def read_tokens(backend: EmbeddedBackend, requests: list[Request]) -> tuple[int, int]:
    """The tokens of all requests, and those that the engine reads of them, window by window."""
    asked = [(request, backend._trie(request)) for request in requests]
    windows = (asked[at : at + _WINDOW_REQUESTS] for at in range(0, len(asked), _WINDOW_REQUESTS))
    batches = [
        [trie for _, trie in batch]
        for window in windows
        for batch in beginnings.in_batches(beginnings.arranged(window))
    ]
    return (
        sum(trie.n_tokens for _, trie in asked),
        sum(inputs.lay_out(tries).input_ids.size for tries in batches),
    )


def times(work: list[Work], base: list[Work], name: str) -> str:
    """Renders by what factor an engine is faster, round by round."""
    pairs = zip(work, base, strict=True)
    return spread([getattr(slow, name) / getattr(fast, name) for fast, slow in pairs], 2)


def main() -> None:
    """Asks both engines in turn and prints tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    defaults: dict[str, Any] = {"cores": 2, "rounds": 3, "queries": 2, "responses": 32}
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=value, help="default: %(default)s")
    parser.add_argument("--judge", default="embedded", help="default: %(default)s")
    parser.add_argument(
        "--patience", type=float, default=0, help="seconds to wait for an idle machine"
    )
    parser.add_argument("--out", type=Path, default=Path("."), help="folder of the scores' files")
    options = parser.parse_args()
    backend = load(load_card(options.judge))
    requests = requests_of(backend, options.queries, options.responses)
    n_tokens, n_read = read_tokens(backend, requests)
    backend.close()
    paths = {name: options.out / f"best-of-n-{name}.txt" for name in ("shared", "alone")}
    engines = {
        name: Engine(name, options.cores, scoring, requests, options.judge, path, name == "shared")
        for name, path in paths.items()
    }
    for _ in range(options.rounds):
        for engine in engines.values():
            wait_for_quiet(options.patience)
            engine.ask(range(len(requests)))
    scores = {path.read_text() for path in paths.values()}
    for path in paths.values():
        path.unlink()
    if len(scores) > 1:
        raise SystemExit("the scores differ")
    print(
        f"{len(requests)} ratings, {options.queries} queries, {options.rounds} rounds: "
        "median (min-max)\n"
    )
    print("| engine | judgments/min | processor s a judgment | peak MB | others busy |")
    print("|---|---|---|---|---|")
    for name, engine in engines.items():
        per_minute = spread([work.per_minute for work in engine.work])
        each = spread([work.processor_seconds / work.n_done for work in engine.work], 3)
        busy = statistics.mean(work.elsewhere for work in engine.work)
        print(f"| {name} | {per_minute} | {each} | {engine.close():,.0f} | {busy:.0%} |")
    shared, alone = (engine.work for engine in engines.values())
    print("\n| figure | measured | target |\n|---|---|---|")
    print(f"| tokens of all / of those that are read | {n_tokens / n_read:.2f} | |")
    print(
        f"| judgments/min, shared / alone | {times(shared, alone, 'seconds')} "
        f"| at least {TARGET}, goal {GOAL} |"
    )
    print(f"| the same by processor time | {times(shared, alone, 'processor_seconds')} | |")


if __name__ == "__main__":
    main()
