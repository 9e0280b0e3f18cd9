"""Every figure of every meta-evaluation on 1, 2, 3 and 5 cases: on its scale, or a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autoj.audit.measures import above_baselines, calibrated_error
from autoj.audit.plan import audit_spec, plan_audit
from autoj.audit.run import run_audit
from autoj.bench.eval_c import evaluate as eval_c
from autoj.bench.eval_p import evaluate as eval_p
from autoj.bench.eval_p.paired import compare
from autoj.bench.eval_r import evaluate as eval_r
from autoj.bench.eval_r.selection import RatedCandidates
from autoj.bench.leaderboard.against_baselines import is_above_zero
from autoj.bench.scenario_classifier import evaluate as scenario_classifier
from autoj.bench.scenario_classifier.comparison import compare_all
from autoj.bench.scenario_classifier.guesses import classify, classify_by_baseline
from autoj.bench.system_level.evaluate import evaluate_ratings
from autoj.bench.system_level.model_table import ModelRow
from autoj.bench.system_level.query_ratings import collect
from autoj.datasets import open_cases
from autoj.jsonl import write_records
from autoj.metrics import SHARES
from autoj.metrics.result import Result
from autoj.metrics.rows import pair_row
from autoj.records import WINNERS, Case, Estimate, Response, Verdict, normalise_query
from autoj.verdicts.resolve import settle

from ..intervals import SIZES, check
from ..scripted import CARD, Recorder
from .models import judged
from .scenario_sets import ROWS, FirstWord, query_set

SIGNED = (-1.0, 1.0)
SIGNED_NAMES = (
    "kappa", "bias", "above", "flips", "pearson", "spearman", "kendall", "correlation",
)  # fmt: skip


def check_result(result: Result) -> None:
    parts = [found for its in result.parts.values() for part in its.values() for found in part]
    for estimate in (*result.estimates, *parts):
        check_named(estimate)


def check_named(estimate: Estimate) -> None:
    span = SIGNED if any(name in estimate.name for name in SIGNED_NAMES) else SHARES
    check(estimate, (0.0, 2.0) if estimate.name == "calibration" else span)


def pairs(n: int, seed: int) -> tuple[list[Case], list[Verdict]]:
    draw = np.random.default_rng([n, seed])
    cases, verdicts = [], []
    for number in range(n):
        winners = tuple(WINNERS[int(draw.integers(3))] for _ in range(2))
        a, b, tie = draw.dirichlet((1, 1, 1)).tolist()
        cases.append(
            Case(
                id=str(number),
                query=f"Question {number}?",
                cluster=normalise_query(f"Question {number}?"),
                responses=(Response(text="x" * 3), Response(text="x" * int(draw.integers(1, 6)))),
                label=WINNERS[int(draw.integers(3))],
            )
        )
        verdicts.append(
            settle(
                Verdict(case_id=str(number), judge="j", winners=winners, probabilities=(a, b, tie))
            )
        )
    return cases, verdicts


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("seed", range(4))
def test_pairs_and_critiques(n: int, seed: int) -> None:
    cases, verdicts = pairs(n, seed)
    rows = [pair_row(*one) for one in zip(cases, verdicts, strict=True)]
    for estimate in (*eval_p.figures(rows), *eval_c.figures(rows, both_orders=True)):
        check_named(estimate)
    for result in eval_p.baseline_results(cases):
        check_result(result)
    _, others = pairs(n, seed + 100)
    for found in compare(cases, verdicts, others):
        check(found.overall.estimate, SIGNED)
    plain = list(zip(cases, verdicts, strict=True))
    for estimate in above_baselines(plain).values():
        check(estimate, SIGNED)
        # One query beats nobody.
        assert n > 1 or not is_above_zero(estimate)
    error = calibrated_error(plain)
    assert error is not None
    check(error)


@pytest.mark.parametrize("n", SIZES)
def test_the_audit(n: int, tmp_path: Path) -> None:
    cases, _ = pairs(n, 0)
    rows = [
        {
            "id": case.id,
            "query": case.query,
            "responses": [f"First answer to {case.id}.", f"Another, longer one, to {case.id}."],
            "label": case.label,
        }
        for case in cases
    ]
    write_records(tmp_path / "pairs.jsonl", rows)
    spec = audit_spec(CARD, protocol="pairwise-verdict")
    plan = plan_audit(open_cases(tmp_path / "pairs.jsonl"), spec, n_sample=n, n_probed=n, seed=0)
    check_result(run_audit(plan, tmp_path / "audit", backend=Recorder()))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("scale", [(0.0, 1.0), (1.0, 10.0), None])
def test_best_of_n(n: int, scale: tuple[float, float] | None) -> None:
    draw = np.random.default_rng(n)
    low, high = scale or (-5.0, 40.0)
    cases = [
        Case(
            id=str(number),
            query=f"Question {number}?",
            cluster=normalise_query(f"Question {number}?"),
            responses=tuple(
                Response(text="x" * int(draw.integers(1, 9)), reference_score=float(score))
                for score in draw.uniform(low, high, 4)
            ),
        )
        for number in range(n)
    ]
    ratings = [tuple(draw.uniform(1, 10, 4).tolist()) for _ in cases]
    judge = RatedCandidates(judge="j", source="by hand", ratings=ratings)
    results = [*eval_r.evaluate(cases, [judge], (2, 4), "drawn")]
    results += eval_r.baseline_results(cases, (2, 4), [judge])
    for result in results:
        for estimate in result.estimates:
            check(estimate, scale if estimate.name.startswith("best of") else SIGNED)
    for found in results[0].details["comparisons"]:
        for lead in found.less.values():
            check(lead.estimate, scale and (scale[0] - scale[1], scale[1] - scale[0]))


@pytest.mark.parametrize("n_queries", SIZES)
def test_ranks_of_models(n_queries: int) -> None:
    draw = np.random.default_rng(n_queries)
    for n_models in (2, 3, 5):
        names = "abcde"[:n_models]
        ratings = draw.uniform(1, 10, (n_queries, n_models))
        reference = [
            ModelRow(
                key=name, title=name, rating=None, reference=float(number), mean_length=None,
                rated_by="rating",
            )
            for number, name in enumerate(names)
        ]  # fmt: skip
        found = collect(judged(ratings, names), Path("run"))
        for estimate in found.means:
            check(estimate, (1.0, 10.0))
        for estimate in evaluate_ratings(found, reference, judge="j", source="run").estimates:
            check(estimate, SIGNED)


@pytest.mark.parametrize("n", SIZES)
def test_scenario_classifiers(n: int, tmp_path: Path) -> None:
    data = query_set(tmp_path / "set.jsonl", ROWS[:n])
    one = classify(FirstWord(), data.cases, lambda *done: None)
    other = classify_by_baseline("majority", data.cases)
    for classified in (one, other):
        check_result(scenario_classifier.evaluate(data, classified))
    for found in compare_all(data, [one, other]):
        for difference in found.differences:
            check(difference.estimate, SIGNED)
