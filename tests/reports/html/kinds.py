"""Small outputs of commands whose pages are not of verdicts, with texts of a test's own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import orjson
import pytest
from benchmarks.known_pairs import write_known_pairs

from autoj.audit.plan import audit_spec, plan_audit
from autoj.audit.run import run_audit
from autoj.construct.stages import Dropped, Spent, StageFolder
from autoj.datasets import open_cases
from autoj.errors import Unfinished
from autoj.jsonl import write_records
from autoj.metrics.result import save_result
from autoj.records import Case, Request, Response
from autoj.tasks.classify_file import ClassifiedRow
from autoj.tasks.select import select
from autoj.tasks.selection_folder import make_select_spec

from ...scripted import CARD, Killed, Recorder

TEXTS = ("Plan a day in Rome.", "What is 2 + 2?", "Sing of the sea.")


def encodable(text: str) -> str:
    """The text without lone surrogates, which no file of ours can hold."""
    return text.replace("\ud800", "?")


def classified(
    path: Path, texts: Sequence[str] = TEXTS, queries: bool = True, second: bool = False
) -> Path:
    """A classifier's file: of three queries in turn one is sure, one unsure, one in no taxonomy.

    A second classifier names the unsure ones as their rows do not, and as the first does not.
    """
    chat = (
        ("writing_song_lyrics", "Creative Writing", 0.7)
        if second
        else ("chitchat", "General Communication", 0.2)
    )
    rows = [
        ClassifiedRow(
            id=f"{at} {encodable(text)}",
            query=encodable(text) if queries else None,
            scenario=("planning", chat[0], encodable(text))[at % 3],
            group=("Functional Writing", chat[1], None)[at % 3],
            probability=(0.9, chat[2], 0.6)[at % 3],
            alternatives=((encodable(text), 0.05),),
            classifier=encodable(texts[0]) if len(texts) > 3 else "fast",
            digest="sha256:0",
            row_scenario=("planning", encodable(text), None)[at % 3],
        )
        for at, text in enumerate(texts)
    ]
    write_records(path, rows)
    return path


def selected(
    folder: Path, texts: Sequence[str] = TEXTS, by: str = "ratings", n: int = 4,
    second: bool = False, step: float = 0.1, dies_after: int | None = None,
    max_requests: int | None = None, answers: bool = True,
) -> Path:  # fmt: skip
    """A run that picked among N responses by the digits that end them: the third is the best.

    It may be killed after so many answers, or stop at a cap, or have none that can be read.

    A second judge prefers the least of the digits, which is the first response's.
    """
    rows = [
        {
            "id": f"{at} {encodable(text)}",
            "query": encodable(text),
            "responses": [
                {
                    "text": f"{encodable(text)} worth {(3, 5, 8, 1)[index % 4]}",
                    "model": encodable(text) if len(texts) > 3 and index == 1 else f"m{index}",
                    "reference_score": step * index,
                }
                for index in range(n)
            ],
        }
        for at, text in enumerate(texts)
    ]

    def answer(request: Request) -> str:
        if not answers:
            return "I would rather not say."
        worth = [int(word) for word in _worths(request.messages[-1].content)]
        if len(worth) == 1:
            rating = 10 - worth[0] if second else worth[0]
            return "I would rather not say." if worth == [1] else f"Rating: [[{rating}]]"
        return f"So, the final decision is Response {1 if (worth[0] > worth[1]) ^ second else 2}."

    write_records(folder.with_suffix(".jsonl"), rows)
    protocol = "single" if by == "ratings" else "pairwise"
    spec = make_select_spec(CARD, by, protocol=protocol)  # type: ignore[arg-type]
    cases = open_cases(folder.with_suffix(".jsonl"))
    with pytest.MonkeyPatch.context() as patch, suppress(Killed, Unfinished):
        for module in ("judge", "select"):
            patch.setattr(
                f"autoj.tasks.{module}.load_engine",
                lambda *_: Recorder(answer, dies_after=dies_after),
            )
        select(cases, spec, folder, caps=(None, max_requests))
    return folder


def _worths(prompt: str) -> list[str]:
    return [part.split()[0] for part in prompt.split(" worth ")[1:]]


def constructed(folder: Path, texts: Sequence[str] = TEXTS, n_stages: int = 3) -> Path:
    """A construction of three stages, of which the first two are done."""
    kinds = ["collect", "decontaminate", "mix"][:n_stages]
    folder.mkdir(parents=True)
    recipe = {"title": encodable(texts[0]), "seed": 3, "stages": [{"stage": k} for k in kinds]}
    (folder / "recipe.json").write_bytes(orjson.dumps({"recipe": recipe}))
    cases = [
        Case(
            id=f"{at} {encodable(text)}",
            query=encodable(text),
            cluster=str(at),
            responses=(
                Response(text=encodable(text), model=encodable(text)),
                Response(text="b"),
            ),
            label="a",
            scenario=encodable(text),
            source=encodable(text),
            meta={"judgment": f"long {encodable(text)} " * 20, encodable(text): 1},
        )
        for at, text in enumerate(texts)
    ]
    sources = [{"name": "own", "n_in": len(cases), "n_kept": len(cases), "labels": {"a": 3}}]
    StageFolder(folder / "01-collect", "collect").write(cases, notes={"sources": sources})
    dropped = [
        Dropped(id=case.id, reason=encodable(text), detail=encodable(text), case=case)
        for case, text in zip(cases[1:], texts[1:], strict=True)
    ]
    unread = Dropped(id="pairs.jsonl:9", reason="bad row", detail="no query")
    spent = Spent(n_requests=7, prompt_tokens=1_000, completion_tokens=200, usd=0.25)
    StageFolder(folder / "02-decontaminate", "decontaminate").write(
        [cases[0], *dropped, unread], spent=spent
    )
    return folder


def audited(folder: Path) -> Path:
    """An audit's folder with its card beside the runs."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    data = folder.with_suffix(".jsonl")
    write_known_pairs(data, 20, seed=0)
    spec = audit_spec(CARD, protocol="pairwise-verdict")
    plan = plan_audit(open_cases(data), spec, n_sample=12, n_probed=4, seed=3)
    save_result(folder / "audit.json", run_audit(plan, folder, backend=Recorder()))
    return folder


def renamed(card: Path, text: str) -> Path:
    """An audit's card in which a text stands wherever a card holds words."""
    its = orjson.loads(card.read_bytes())
    its |= {"judge": text, "source": text, "notes": [text]}
    for words in its["details"]["words"].values():
        words |= dict.fromkeys(words, text)
    its["parts"]["format"] = {text: next(iter(its["parts"]["format"].values()))}
    its["details"]["words"]["format"] = {text: text}
    its["details"]["left_out"] = {text: {text: 1}}
    path = card.with_name("hostile.json")
    path.write_bytes(orjson.dumps(its) + b"\n")
    return path
