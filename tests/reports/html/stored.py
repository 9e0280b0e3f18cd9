"""Small stored runs for reports, judged by a script."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from autoj.datasets import open_cases
from autoj.jsonl import write_records
from autoj.records import Request
from autoj.runs import judge_run, make_spec, open_run

from ...scripted import CARD, Killed, Recorder

CRITIQUE = """1. The key factors to distinguish these two responses:

- accuracy: Response 1 says "the moon is made of rock", Response 2 says "it is cheese all through".

2. The final decision:

So, the final decision is Response {}. It is clear."""


def pairs(n: int, **its: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"c{at}",
            "query": f"What is moon {at} made of?",
            "responses": [
                {"text": f"The moon is made of rock, as samples {at} show.", "model": "geologist"},
                {"text": f"It is cheese all through. See {at}.", "model": "mouse"},
            ],
            "label": "ab"[at % 2],
            "scenario": ("explaining_general", "code_generation")[at % 2],
        }
        | its
        for at in range(n)
    ]


def by_letters(letters: str):
    """Names these winners by the cases' numbers: a, b, t, or u for an unreadable answer."""

    def answer(request: Request) -> str:
        letter = letters[int(request.case_id[1:]) % len(letters)]
        if letter == "u":
            return "I would rather not say."
        if letter == "t":
            return "So, the final decision is Tie."
        first = request.shown[0] == "ab".index(letter)
        return CRITIQUE.format(1 if first else 2)

    return answer


def judged(
    folder: Path,
    rows: list[dict[str, Any]],
    answer=None,
    task: str = "judge",
    dies_after: int | None = None,
    **settings: Any,
) -> Path:
    """A run of these rows, finished or killed after so many answers."""
    folder.parent.mkdir(exist_ok=True, parents=True)
    write_records(folder.with_suffix(".jsonl"), rows)
    settings = {"protocol": "pairwise", **settings} if task == "judge" else settings
    spec = make_spec(task, CARD, **settings)  # type: ignore[arg-type]
    backend = Recorder(answer or by_letters("aabt"), dies_after=dies_after)
    cases = open_cases(folder.with_suffix(".jsonl"))
    with suppress(Killed), open_run(folder, spec, cases) as opened:
        judge_run(opened, spec, backend)
    return folder
