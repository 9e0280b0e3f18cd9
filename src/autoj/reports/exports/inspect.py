"""Scores for Inspect's `precomputed_scores`: a record per sample that has one, as JSON Lines.

A rating is the value as it is. Of a pair it is the share that the second response wins, from 0 to
1, as AlpacaEval counts it: the first is then the baseline. A sample without a score has no record,
and Inspect leaves it unscored: a value is what a record must have.

**Source**: inspect_ai 0.3.285, `scorer/_precomputed.py`: `id`, `value`, and optionally `epoch`,
`answer`, `explanation`, `metadata`; one record per sample and epoch; JSON Lines only by the
extension `.jsonl`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.records import Case, Verdict
from autoj.reports.exports.alpaca_eval import preference_of
from autoj.reports.exports.base import JudgedRun


def write(run: JudgedRun, path: Path) -> None:
    """A record per case with a score.

    Raises:
        ConfigError: the file is not named `….jsonl`, or the run picks from N or compares critiques.
        DataError: a rated case has several responses, or two cases are of one sample.
    """
    if Path(path.stem).suffix.lower() != ".jsonl":
        raise ConfigError(
            f"{path.stem}: Inspect reads JSON Lines only from a file with the extension .jsonl"
        )
    if run.spec.task not in ("judge", "rate"):
        raise ConfigError(
            f"{run.folder.path} is a run of autoj {run.spec.task}, which scores no samples",
            hint="Use --format jsonl, which holds any run.",
        )
    write_records(path, _records(run))


def _records(run: JudgedRun) -> Iterator[dict[str, Any]]:
    seen: set[tuple[str, int | None]] = set()
    for case, verdict in run.verdicts():
        value = _value(case, verdict, run)
        if value is None:
            run.notes["samples have no score (failed, unreadable or undecided): left out"] += 1
            continue
        sample, epoch = str(case.meta.get("sample_id", case.id)), case.meta.get("epoch")
        if (sample, epoch) in seen:
            raise DataError(
                f"two cases are of sample {sample!r}; `meta.epoch` tells them apart",
                path=run.folder.path,
                field="id",
            )
        seen.add((sample, epoch))
        run.n_rows += 1
        explained = next((text for text in verdict.critiques if text is not None), None)
        yield {
            "id": sample,
            "value": value,
            **({} if epoch is None else {"epoch": epoch}),
            "answer": case.responses[-1].text,
            **({} if explained is None else {"explanation": explained}),
            "metadata": {"judge": verdict.judge, "protocol": run.spec.protocol},
        }


def _value(case: Case, verdict: Verdict, run: JudgedRun) -> float | None:
    if run.spec.paired:
        share = preference_of(verdict)
        return None if share is None else share - 1
    if len(verdict.ratings) != 1:
        raise DataError(
            f"case {case.id!r} has {len(verdict.ratings)} rated responses, and a sample of "
            "Inspect has one",
            path=run.folder.path,
            field="responses",
        )
    return verdict.ratings[0]
