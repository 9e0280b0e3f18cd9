"""The rows of the three test sets: pairs, their less preferred responses, samples to their queries.

**Source**: paper, section 5.1.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autoj.construct.stages import native_row
from autoj.construct.teacher import drawn_by
from autoj.construct.testbed.folder import DrawnPair
from autoj.construct.testbed.settings import BuildSettings
from autoj.jsonl import write_records
from autoj.records import Case, Response, Winner

EVAL_P, EVAL_C, EVAL_R = "eval_p.jsonl", "eval_c.jsonl", "eval_r.jsonl"


def write_sets(
    folder: Path,
    pairs: Sequence[DrawnPair],
    labels: dict[str, Winner],
    candidates: Sequence[Case],
    built: BuildSettings,
) -> None:
    """Writes Eval-P, Eval-C and Eval-R, those of them that have rows.

    Args:
        folder: receives `eval_p.jsonl`, `eval_c.jsonl` and `eval_r.jsonl`.
        pairs: the testbed's; those without a label are left out.
        labels: by case id.
        candidates: the samples of Eval-R.
        built: states the seed.

    Raises:
        StorageFull: the disk is full.
    """
    labelled = [pair for pair in pairs if pair.case.id in labels]
    write_rows(folder / EVAL_P, [_pair_row(pair, labels[pair.case.id]) for pair in labelled])
    write_rows(
        folder / EVAL_C,
        [
            _critique_row(pair.case, labels[pair.case.id], built.seed)
            for pair in labelled
            if pair.in_critique
        ],
    )
    # Eval-R is a part of Eval-C, also where some of it has no label yet.
    there = {pair.case.id for pair in labelled if pair.in_rating}
    kept = [case for case in candidates if case.meta["case_id"] in there]
    write_rows(folder / EVAL_R, list(map(_rating_row, kept)))


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Writes rows, if there are any: an empty file could not be read.

    Raises:
        StorageFull: the disk is full.
    """
    if rows:
        write_records(path, rows)


def _pair_row(pair: DrawnPair, label: Winner) -> dict[str, Any]:
    case = pair.case
    row = native_row(case) | {"label": label}
    return row | {"meta": {"origin": pair.origin}}


def _critique_row(case: Case, label: Winner, seed: int) -> dict[str, Any]:
    """The less preferred response of a pair; of a tie one that is drawn by the seed."""
    index = {"a": 1, "b": 0}.get(label, drawn_by(seed, f"less preferred {case.id}")[0] % 2)
    row = native_row(case) | {"label": None, "meta": {"preferred": label, "response": "ab"[index]}}
    return row | {"responses": [row["responses"][index]]}


def _rating_row(case: Case) -> dict[str, Any]:
    row = native_row(case)
    return row | {"responses": list(map(_candidate, case.responses))}


def _candidate(response: Response) -> dict[str, Any]:
    return {"text": response.text, "model": response.model, "logprob": response.logprob}
