"""An audit from its plan to its card: `autoj audit` as one call."""

from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from pathlib import Path

from autoj.audit.card import audit_card, save_plan
from autoj.audit.cost import Workload, estimate_workload
from autoj.audit.plan import AuditPlan
from autoj.backends.base import Backend
from autoj.metrics.result import Result
from autoj.runs import open_run
from autoj.runs.budget import Budget, Caps
from autoj.runs.opening import discarded_if_unused
from autoj.runs.place import check_place
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.engine import load_engine
from autoj.tasks.judge import judge


def run_audit(
    plan: AuditPlan,
    root: Path,
    *,
    caps: Caps = (None, None),
    backend: Backend | None = None,
    watch: Watch = SILENT,
) -> Result:
    """Judge all cases of an audit, and compute its card; resume where an earlier session stopped.

    Args:
        plan: from `plan_audit`.
        root: the audit's folder, for a run of each part.
        caps: the most US dollars and the most requests.
        backend: runs the judge; None loads it, and frees it.
        watch: told what the audit will cost before it is asked, and how far it is.

    Returns:
        The card, as `audit_card` reads it from the folder at any time.

    Raises:
        ConfigError: the folder holds other things than an audit.
        SpecMismatch: a run of the folder was made with other settings or other data.
        Unfinished: a cap stopped the audit before its end.
        BackendError: the engine broke down; what was judged is kept.
    """
    card = plan.parts[0].spec.judge
    Budget(*caps).check(card)
    check_place(root, [part.name for part in plan.parts])
    with _started(plan, root, backend, watch) as engine:
        # Each counts what the folder's ledgers hold, so the first few count in the second, too.
        workload = estimate_workload(root, plan, engine, Budget(*caps))
        _announce(plan, workload, watch)
        save_plan(root, plan)
        budget = Budget(*caps)
        for part in plan.parts:
            place = root / part.name
            run = judge(part.cases, part.spec, place, backend=engine, budget=budget, watch=watch)
            run.check_whole()
    return audit_card(root)


def _started(
    plan: AuditPlan, root: Path, backend: Backend | None, watch: Watch
) -> AbstractContextManager[Backend]:
    """Opens the run of each part, and then loads the judge; a start that fails leaves no folder."""
    with ExitStack() as made:
        for part in plan.parts:
            made.enter_context(discarded_if_unused(root / part.name))
            # What another run's folder or a bad row would end, it ends before the judge is loaded.
            with open_run(root / part.name, part.spec, part.cases):
                pass
        if backend is not None:
            return nullcontext(backend)
        return closing(load_engine(plan.parts[0].spec.judge, watch))


def _announce(plan: AuditPlan, workload: Workload, watch: Watch) -> None:
    watch.message(
        f"{len(plan.sampled):,} of {plan.n_set:,} cases, drawn by seed {plan.seed}; each probe is "
        f"made of at most {len(plan.probed):,} of them"
    )
    text = (
        f"{workload.n_questions:,} questions, {workload.n_judgments:,} of them distinct; "
        f"{workload.n_left:,} requests still to make"
    )
    if workload.n_left:
        text += f": about {workload.prompt_tokens:,} prompt tokens"
    if workload.seconds is not None:
        text += f", and about {_minutes(workload.seconds)} at the speed of the first few"
    watch.message(text)


def _minutes(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
