"""AlpacaEval's `annotations.json`: a list of pairs with a preference from 1 to 2.

1 is the first response, 2 the second, 1.5 a tie; between them, 1 + P(second) + P(tie) / 2 where the
judge gave probabilities. AlpacaEval reports the win rate of `output_2`, which is the case's second
response. A pair without a winner has null, which AlpacaEval leaves out of its figures.

**Source**: tatsu-lab/alpaca_eval, results/*/*/annotations.json, metrics/helpers.py and
annotators/pairwise_evaluator.py; the same layout is in allenai/reward-bench,
bon_eval/*/annotations/*/*/*/annotations.json.
"""

from pathlib import Path
from typing import Any

from autoj.datasets._preferences import encode
from autoj.jsonl import encode as encode_json
from autoj.records import Case, Verdict
from autoj.reports.exports.base import JudgedRun, name_of

# A conflict of both orders that counts as a tie is one, whatever the probabilities are.
_DISCRETE_RULES = ("tie",)


def write(run: JudgedRun, path: Path) -> None:
    """The list of all pairs that are judged.

    Raises:
        ConfigError: the run does not compare pairs of responses.
    """
    run.need_pairs("AlpacaEval")
    with path.open("wb") as stream:
        stream.write(b"[")
        for case, verdict in run.verdicts():
            stream.write(b",\n" if run.n_rows else b"\n")
            stream.write(encode_json(_row(case, verdict)).rstrip())
            run.n_rows += 1
            if verdict.winner is None:
                told = "pairs have no winner (failed, unreadable or undecided): preference is null"
                run.notes[told] += 1
        stream.write(b"\n]\n")


def preference_of(verdict: Verdict) -> float | None:
    """A verdict as a number from 1 (the first response) to 2 (the second); None without a winner.

    >>> preference_of(Verdict(case_id="1", judge="j", winner="b", probabilities=(0.2, 0.7, 0.1)))
    1.75
    """
    if verdict.winner is None:
        return None
    if verdict.probabilities is None or verdict.rule in _DISCRETE_RULES:
        code = encode("alpaca-eval", verdict.winner)
        assert isinstance(code, float)
        return code
    _, second, tie = verdict.probabilities
    return min(max(1 + second + tie / 2, 1.0), 2.0)


def _row(case: Case, verdict: Verdict) -> dict[str, Any]:
    first, second = case.responses
    dataset = {"dataset": case.meta["dataset"]} if "dataset" in case.meta else {}
    return {
        **dataset,
        "instruction": case.query,
        "output_1": first.text,
        "generator_1": name_of(case, 0),
        "output_2": second.text,
        "generator_2": name_of(case, 1),
        "annotator": verdict.judge,
        "preference": preference_of(verdict),
    }
