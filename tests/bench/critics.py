"""A small set of responses with two critics, and scripted judges of their critiques."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from autoj.backends.scripted import Answer
from autoj.bench.eval_c.evaluate import Comparison, read_set
from autoj.bench.eval_c.files import Critiques
from autoj.bench.eval_c.run import compared, comparison_cases
from autoj.datasets import open_cases
from autoj.jsonl import write_records
from autoj.records import Case, JudgeCard, Request
from autoj.runs import judge_run, make_spec, open_run

from ..scripted import CARD, Recorder

N_CASES = 8
SHARP = {0, 1, 2, 5, 6}
"""The cases whose first critique is the sharper one; in the last, none is."""
SCENARIOS = ("post_summarization", "planning")
FIRST = tuple(
    f"{'sharp' if n in SHARP else 'dull'} words {n}\n\nRating: [[{n % 9 + 1}]]"
    for n in range(N_CASES)
)
SECOND = tuple(
    f"{'dull' if n in SHARP or n == N_CASES - 1 else 'sharp'} remark {n}" for n in range(N_CASES)
)
_FEEDBACK = re.compile(r"\[Feedback ([12])\]: (.*?)\n\*\*\*", re.DOTALL)


def write_set(path: Path) -> Path:
    """A set in the release's layout, with the first critic's critiques in it."""
    write_records(
        path,
        [
            {
                "scenario": SCENARIOS[n % 2],
                "prompt": f"Question {n}?",
                "response": f"Answer {n}.",
                "critiques": {"mine": FIRST[n]},
            }
            for n in range(N_CASES)
        ],
    )
    return path


def write_critiques(path: Path, texts: tuple[str | None, ...] = SECOND) -> Path:
    write_records(path, [{"output": text} for text in texts])
    return path


def feedback(request: Request) -> dict[str, str]:
    """The two critiques by their places on the page."""
    return dict(_FEEDBACK.findall(request.messages[0].content))


def by_sharpness(request: Request) -> str:
    """Who is sharper wins, wherever it stands."""
    sharp = [place for place, text in feedback(request).items() if "sharp" in text]
    if len(sharp) != 1:
        return "C: Neither is significantly better.\nBoth are alike."
    letter = {"1": "A", "2": "B"}[sharp[0]]
    return f"{letter}: Feedback {sharp[0]} is significantly better.\nIt is sharper."


def always_first(request: Request) -> str:
    return "A: Feedback 1 is significantly better.\nIt came first."


def load_set(path: Path) -> list[Case]:
    return read_set(open_cases(path))


def critics(
    first: tuple[str | None, ...] = FIRST, second: tuple[str | None, ...] = SECOND
) -> tuple[Critiques, Critiques]:
    return (
        Critiques(critic="mine", texts=first, source="one"),
        Critiques(critic="other", texts=second, source="two"),
    )


def compare(
    folder: Path,
    set_path: Path,
    answer: Answer = by_sharpness,
    *,
    pair: tuple[Critiques, Critiques] | None = None,
    keep_ratings: bool = False,
    limit: int | None = None,
    dies_after: int | None = None,
    make: Callable[..., Recorder] = Recorder,
    card: JudgeCard = CARD,
    **settings: object,
) -> tuple[Comparison, Recorder]:
    """Compare the two critics' critiques in a run's folder."""
    cases = load_set(set_path)
    pairs = comparison_cases(
        cases,
        *(pair or critics()),
        path=set_path,
        keep_ratings=keep_ratings,
        limit=limit,
    )
    settings = {"orders": "shuffled", "seed": 0, **settings}
    spec = make_spec("compare", card, protocol="critique-comparison", critique=False, **settings)  # type: ignore[arg-type]
    backend = make(answer, dies_after=dies_after)
    with open_run(folder, spec, pairs) as run:
        judge_run(run, spec, backend)
        return compared(run, cases), backend
