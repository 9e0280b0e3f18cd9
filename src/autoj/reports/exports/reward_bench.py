"""RewardBench's per-prompt results: one JSON object of columns, with a result per pair.

A result is 1 if the judge prefers the chosen response, 0 if it prefers the other, 0.5 for a
tie. RewardBench writes 0.5 for a failed judgment as well; here such a pair is left out, as is a
pair without a label.

**Source**: allenai/reward-bench, scripts/run_generative.py and run_rm.py (`eval-set-scores/`).
"""

from pathlib import Path
from typing import Any

from autoj.jsonl import encode
from autoj.records import Case, Message, Verdict
from autoj.reports.exports.base import JudgedRun

_PREFIX = "reward-bench-"
_COLUMNS = ("text_chosen", "text_rejected", "results", "subset", "id")
_SCORES = ("scores_chosen", "scores_rejected")


def write(run: JudgedRun, path: Path) -> None:
    """The columns of all labelled pairs that have a winner.

    Raises:
        ConfigError: the run does not compare pairs of responses.
    """
    run.need_pairs("RewardBench")
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    if not run.spec.has_orders:
        columns |= {name: [] for name in _SCORES}
    for case, verdict in run.verdicts():
        if case.label not in ("a", "b"):
            run.notes["pairs have no label that names one response: left out"] += 1
        elif verdict.winner is None:
            run.notes["pairs have no winner (failed, unreadable or undecided): left out"] += 1
        else:
            row = _row(case, verdict)
            for name, values in columns.items():
                values.append(row[name])
            run.n_rows += 1
    record = {
        "model": run.spec.judge.name,
        "model_type": "Seq. Classifier" if run.spec.protocol == "scalar" else "Generative RM",
        **columns,
    }
    path.write_bytes(encode(record))


def _row(case: Case, verdict: Verdict) -> dict[str, Any]:
    chosen, rejected = (0, 1) if case.label == "a" else (1, 0)
    result = 0.5 if verdict.winner == "tie" else int(verdict.winner == case.label)
    number = case.id.removeprefix(_PREFIX)
    row = {
        "text_chosen": _conversation(case, chosen),
        "text_rejected": _conversation(case, rejected),
        "results": result,
        "subset": case.meta.get("subset") or case.source or "unnamed",
        "id": int(number) if number.isdecimal() else number,
    }
    if verdict.ratings:
        scores = (verdict.ratings[chosen], verdict.ratings[rejected])
        row |= dict(zip(_SCORES, scores, strict=True))
    return row


def _conversation(case: Case, index: int) -> list[Message]:
    return [
        Message(role="user", content=case.query),
        Message(role="assistant", content=case.responses[index].text),
    ]
