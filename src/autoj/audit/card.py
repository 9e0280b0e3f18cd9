"""The audit card: how far to trust a judge, and which biases to expect, from stored verdicts.

`autoj.audit.plan` makes the runs. Everything here reads their folders and calls no model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autoj.audit.cases import IDENTICAL, PLAIN, injection_probe
from autoj.audit.edits import EDITS
from autoj.audit.measures import (
    Judged,
    above_baselines,
    calibrated_error,
    length_figures,
    people_figures,
    position_figures,
    probability_figures,
    reading_figures,
)
from autoj.audit.plan import AuditPlan, StoredPlan
from autoj.audit.probe_measures import (
    format_bias,
    identical_pairs,
    injection_figures,
    retest,
)
from autoj.audit.words import (
    CALIBRATED,
    accuracy_words,
    baseline_words,
    calibration_error_words,
    edit_words,
    figure_words,
    injection_words,
)
from autoj.errors import DataError
from autoj.jsonl import decode_as, write_records
from autoj.metrics.calibration import reliability
from autoj.metrics.result import Result
from autoj.metrics.rows import pair_row
from autoj.records import Case, Estimate, Verdict
from autoj.runs import RunFolder, RunSpec, resolve_run

PLAN = "audit_plan.json"
"""The file that makes a folder an audit's."""


def save_plan(root: Path, plan: AuditPlan) -> None:
    """Keep beside the runs what was drawn: seed, ids, and what was left out."""
    root.mkdir(parents=True, exist_ok=True)
    write_records(root / PLAN, [plan.record()])


def read_plan(root: Path) -> StoredPlan:
    """Reads the plan that `save_plan` kept.

    Raises:
        DataError: the folder is not an audit's, or the file has no plan.
    """
    try:
        return decode_as(StoredPlan, (root / PLAN).read_bytes())
    except OSError:
        raise DataError(f"is not an audit's folder: it has no {PLAN}", path=root) from None
    except ValueError as error:
        raise DataError(f"is not the plan of an audit ({error})", path=root / PLAN) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """The verdicts of an audit's runs."""

    spec: RunSpec
    everything: Sequence[tuple[Case, Verdict]]
    probes: Mapping[str, Sequence[tuple[Case, Verdict]]]
    """The cases of the runs but the repeated one, by probe."""
    repeated: Sequence[tuple[Case, Verdict]]
    n_questions: int
    """Each order of each case."""
    n_judgments: int
    """Equal questions of a run count once."""

    def of(self, *probes: str) -> Judged:
        """The cases of some probes."""
        return [pair for probe in probes for pair in self.probes.get(probe, ())]


def _read(root: Path, plan: StoredPlan) -> _Stored:
    probes: dict[str, list[tuple[Case, Verdict]]] = {}
    everything: list[tuple[Case, Verdict]] = []
    repeated: list[tuple[Case, Verdict]] = []
    n_questions = n_judgments = 0
    for part in plan.parts:
        keys = [asked.key for asked in RunFolder.existing(root / part).plan()]
        n_questions += len(keys)
        n_judgments += len(set(keys))
        for case, verdict in _judged(root / part):
            everything.append((case, verdict))
            if part == "repeated":
                repeated.append((case, verdict))
            else:
                probes.setdefault(str(case.meta.get("probe")), []).append((case, verdict))
    if [case.id for case, _ in probes.get(PLAIN, ())] != list(plan.sampled):
        raise DataError(
            "does not match the runs beside it: it is another audit's plan", path=root / PLAN
        )
    return _Stored(
        spec=RunFolder.existing(root / "pairs").spec(),
        everything=everything,
        probes=probes,
        repeated=repeated,
        n_questions=n_questions,
        n_judgments=n_judgments,
    )


def _judged(path: Path) -> Iterator[tuple[Case, Verdict]]:
    """A run's cases with their verdicts, read anew from its ledger.

    Raises:
        DataError: the run is not there or not finished.
    """
    folder = RunFolder.existing(path)
    n_judged = 0
    for pair in resolve_run(folder, folder.spec()):
        n_judged += 1
        yield pair
    n_cases = folder.n_cases()
    if n_judged < n_cases:
        raise DataError(
            f"is not finished: {n_judged:,} of {n_cases:,} cases are judged",
            path=path,
            hint="Repeat the autoj audit command that started it to finish it.",
        )


def audit_card(root: Path) -> Result:
    """The card of an audit whose runs are finished.

    Args:
        root: the audit's folder.

    Returns:
        Figures over all cases in `estimates`; in `parts` the lead in accuracy by baseline,
        format bias by edit, flip rate by style and a calibrated judge's calibration error; a line
        of plain words for each, the reliability bins, the seed and the ids in `details`.

    Raises:
        DataError: the folder is not an audit's, its plan is damaged or another's, or a run of it is
            not finished.
    """
    plan = read_plan(root)
    stored = _read(root, plan)
    plain, paired = stored.of(PLAIN), stored.spec.has_orders
    injections = [name for name in stored.probes if name.startswith(injection_probe(""))]
    flips, by_style = injection_figures(plain, stored.of(*injections))
    estimates = [
        *people_figures(plain, paired=paired),
        *position_figures(plain, paired=paired),
        *length_figures(plain),
        *identical_pairs(stored.of(IDENTICAL), paired=paired),
        *flips,
        retest(plain, stored.repeated),
        *reading_figures(stored.everything),
        *probability_figures(plain),
    ]
    calibrated = calibrated_error(plain)
    parts: dict[str, dict[str, tuple[Estimate, ...]]] = {
        "trivial": {name: (found,) for name, found in above_baselines(plain).items()},
        "format": {edit: (format_bias(stored.of(edit)),) for edit in EDITS},
        "injection": by_style,
        "calibrated": {} if calibrated is None else {calibrated.name: (calibrated,)},
    }
    return Result(
        bench="audit",
        judge=stored.spec.judge.name,
        source=f"run {root} ({stored.spec.protocol})",
        n_cases=len(plain),
        estimates=tuple(estimates),
        parts=parts,
        notes=_notes(plan, stored.spec),
        details={
            "words": _words(estimates, parts),
            "reliability": [asdict(found) for found in _reliability(plain)],
            "n_questions": stored.n_questions,
            "n_judgments": stored.n_judgments,
            "n_failed": sum(verdict.n_failed for _, verdict in stored.everything),
            "seed": plan.seed,
            "n_set": plan.n_set,
            "sampled": plan.sampled,
            "probed": plan.probed,
            "left_out": plan.left_out,
        },
    )


def _reliability(plain: Judged) -> Sequence[Any]:
    return reliability([pair_row(case, verdict) for case, verdict in plain])


def _words(
    estimates: Sequence[Estimate], parts: Mapping[str, Mapping[str, tuple[Estimate, ...]]]
) -> dict[str, dict[str, str]]:
    above = {name: found for name, (found,) in parts["trivial"].items()}
    calibrated = next((found for (found,) in parts["calibrated"].values()), None)
    compared = {
        "accuracy": lambda found: accuracy_words(found, above),
        "expected calibration error": lambda found: calibration_error_words(found, calibrated),
    }
    return {
        "estimates": {
            found.name: compared.get(found.name, figure_words)(found) for found in estimates
        },
        "trivial": {name: baseline_words(name, found) for name, found in above.items()},
        "format": {edit: edit_words(edit, found) for edit, (found,) in parts["format"].items()},
        "injection": {
            style: injection_words(style, found) for style, (found,) in parts["injection"].items()
        },
        "calibrated": dict.fromkeys(parts["calibrated"], CALIBRATED),
    }


def _notes(plan: StoredPlan, spec: RunSpec) -> tuple[str, ...]:
    drawn = (
        f"{len(plan.sampled):,} of {plan.n_set:,} cases, drawn by seed {plan.seed}; "
        f"{len(plan.probed):,} of them probed."
    )
    if spec.has_orders:
        return (drawn, "Each pair is judged in both orders.")
    ties = "equal ratings are a tie" if spec.calibration is None else "ties by its calibration"
    return (drawn, f"Each response is rated alone; {ties}.")
