"""Audits of judges of known bias: their cards against their true figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autoj.audit.card import audit_card, save_plan
from autoj.audit.cases import PLAIN
from autoj.audit.plan import audit_spec, plan_audit
from autoj.backends.scripted import ScriptedBackend
from autoj.critiques import decision_sentence
from autoj.datasets import open_cases
from autoj.errors import DataError
from autoj.metrics.result import Result
from autoj.records import SHOWN, Estimate, JudgeCard, Request
from autoj.runs import judge_run, open_run
from benchmarks.known_judges import KnownJudge, Reply
from benchmarks.known_pairs import write_known_pairs

__all__ = ["Check", "audit_known", "checks"]


def audit_known(
    root: Path, judge: KnownJudge, *, n: int = 400, n_probed: int = 80, seed: int = 0
) -> Result:
    """Audit a known judge on pairs made for it.

    Args:
        root: a folder for the pairs and the runs.
        judge: one of `KNOWN_JUDGES`.
        n: the number of pairs.
        n_probed: the number of pairs that probes are made of.
        seed: the seed of the pairs, the draws and so the judge's replies.
    """
    root.mkdir(parents=True, exist_ok=True)
    path = root / "known_pairs.jsonl"
    write_known_pairs(path, n, seed)
    card = JudgeCard(
        name=judge.name,
        title=judge.what,
        backend="scripted",
        model=f"{judge.name} {seed}",
        protocols=(judge.protocol,),
    )
    plan = plan_audit(open_cases(path), audit_spec(card), n_sample=n, n_probed=n_probed, seed=seed)
    cases = {
        (part.name, case.id): case
        for part in plan.parts
        for _, case in part.cases.read()
        if not isinstance(case, DataError)
    }
    plain = {case.id: case for case in cases.values() if case.meta["probe"] == PLAIN}
    by_id = {case.id: case for case in cases.values()}
    backend = ScriptedBackend(
        card, lambda request: _answer(judge.reply(by_id[request.case_id], request, plain), request)
    )
    for part in plan.parts:
        with open_run(root / part.name, part.spec, part.cases) as folder:
            judge_run(folder, part.spec, backend)
    save_plan(root, plan)
    return audit_card(root)


def _answer(reply: Reply, request: Request) -> str | tuple[float, ...]:
    if reply == "?":
        return "Both have their merits."
    shown, probability = reply if isinstance(reply, tuple) else (reply, 0.98)
    if request.choices is None:
        return decision_sentence(shown)
    rest = (1 - probability) / 2
    return tuple(math.log(probability if page == shown else rest) for page in SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A known figure beside the audit's estimate."""

    name: str
    true: float
    found: Estimate

    @property
    def inside(self) -> bool:
        """True where the interval has the true value; without one, where the estimate equals it."""
        value, low, high = self.found.value, self.found.low, self.found.high
        if value is None:
            return False
        return (
            (value if low is None else low) - 1e-9
            <= self.true
            <= (value if high is None else high) + 1e-9
        )

    @property
    def certain(self) -> bool:
        """True where the estimate equals the true value, as for a deterministic judge."""
        return self.found.value is not None and abs(self.found.value - self.true) < 1e-9


def checks(judge: KnownJudge, result: Result) -> list[Check]:
    """All figures of a judge that are known, beside its card's.

    An expected calibration error has no interval: a calibrated judge's own is held against the
    range that the card gives for such judges.
    """
    true = dict(judge.true)
    if judge.calibrated:
        error = _figure(result, "expected calibration error").value
        assert error is not None
        true["calibrated/expected calibration error"] = error
    return [
        Check(name=name, true=value, found=_figure(result, name)) for name, value in true.items()
    ]


def _figure(result: Result, name: str) -> Estimate:
    breakdown, slash, part = name.partition("/")
    found: Sequence[Estimate | None] = (
        result.parts[breakdown][part] if slash else [result.estimate(name)]
    )
    assert found[0] is not None
    return found[0]
