"""Lets a teacher judge pairs in waves, until each scenario has its quota (paper, section 3.3).

A wave asks, of each scenario, for as many pairs as it still lacks, so nothing is asked that cannot
be kept. Every wave is a run in a folder of its own:

```
waves/001/                  the run, with its ledger
waves/001/outcomes.jsonl    its pairs with the kept judgments, or with the reason they were dropped
```
`outcomes.jsonl` closes a wave: the next one is drawn from what it says, also after a kill.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj import critiques
from autoj.construct.invented import invention_fault
from autoj.construct.recipe import JudgePairs
from autoj.construct.reformatting import NotReformattable, reformat
from autoj.construct.stages import Dropped, Outcome, Spent
from autoj.construct.teacher import Teacher, drawn_by, fault_of, scenario_fault
from autoj.errors import ConfigError
from autoj.jsonl import read_records, write_records
from autoj.judges import load_card
from autoj.records import WINNERS, Case, Decision, Failure, Judgment, Winner
from autoj.runs import RunFolder, RunSpec, make_spec
from autoj.runs.resolving import read_outcomes
from autoj.verdicts.own_frame import to_winner

WAVES, OUTCOMES = "waves", "outcomes.jsonl"
_NO_SCENARIO = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line of a wave's outcomes."""

    case: Case
    reason: str | None = None
    """None for a kept row."""
    detail: str | None = None


def pair_spec(stage: JudgePairs, scenarios: Path | None = None) -> RunSpec:
    """Makes the settings of a teacher's runs over pairs.

    Args:
        stage: names the judge, the protocol and the orders.
        scenarios: the user's own; None uses ours.

    Raises:
        UnknownComponent: there is no such judge or protocol.
        ConfigError: the protocol writes no judgments of pairs.
    """
    spec = make_spec(
        "judge",
        load_card(stage.teacher),
        protocol=stage.protocol,
        critique=False,
        max_tokens=stage.max_tokens,
        orders=stage.orders,
        scenarios=scenarios,
    )
    if not spec.has_orders or spec.chosen_protocol().gives_probabilities:
        raise ConfigError(
            f"protocol {stage.protocol!r} writes no judgments of pairs",
            hint="A teacher needs one such as pairwise-criteria or pairwise.",
        )
    return spec


def judge_pairs(
    cases: Sequence[Case],
    stage: JudgePairs,
    spec: RunSpec,
    teacher: Teacher,
    folder: Path,
    *,
    seed: int,
    spent: Spent,
) -> Iterator[Outcome]:
    """Asks for judgments until every scenario has its quota or has no pairs left.

    Args:
        cases: pairs; those without a label take the teacher's decision as theirs. Rows of single
            responses go on as they are.
        stage: states the quota and the filters.
        spec: the settings, from `pair_spec`.
        teacher: the judge.
        folder: the stage's folder.
        seed: the seed of the order in which a scenario's pairs are asked about.
        spent: receives the counts of all waves.

    Yields:
        Each case, with the judgment in `meta.judgment`, or the reason it was dropped; pairs that no
        quota needed are dropped as "quota reached".

    Raises:
        Unfinished: a cap was reached; the same call with a higher one resumes.
        BackendError: most requests of a wave failed.
    """
    yield from (case for case in cases if len(case.responses) != 2)
    pairs: list[Case] = []
    for case in cases:
        if len(case.responses) != 2:
            continue
        if spec.needs_scenario and (fault := scenario_fault(case, spec.library)) is not None:
            yield Dropped(id=case.id, reason=fault[0], detail=fault[1], case=case)
        else:
            pairs.append(case)
    waiting = _by_scenario(pairs, seed)
    n_kept: Counter[str] = Counter()
    number = 0
    while wave := _drawn(waiting, n_kept, stage.quota):
        number += 1
        path = folder / WAVES / f"{number:03d}"
        for row in _wave(wave, path, stage, spec, teacher, spent):
            if row.reason is None:
                n_kept[row.case.scenario or _NO_SCENARIO] += 1
                yield row.case
            else:
                yield Dropped(id=row.case.id, reason=row.reason, detail=row.detail, case=row.case)
    for rest in waiting.values():
        for case in rest:
            yield Dropped(id=case.id, reason="quota reached", case=case)


def _by_scenario(cases: Sequence[Case], seed: int) -> dict[str, deque[Case]]:
    """The cases of each scenario, in an order that follows from the seed and their ids."""
    grouped: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        grouped[case.scenario or _NO_SCENARIO].append(case)
    return {
        name: deque(sorted(its, key=lambda case: drawn_by(seed, case.id)))
        for name, its in sorted(grouped.items())
    }


def _drawn(waiting: dict[str, deque[Case]], n_kept: Counter[str], quota: int) -> list[Case]:
    """The next pairs to ask about: what each scenario lacks."""
    return [
        its.popleft()
        for name, its in waiting.items()
        for _ in range(min(quota - n_kept[name], len(its)))
    ]


def _wave(
    cases: list[Case],
    path: Path,
    stage: JudgePairs,
    spec: RunSpec,
    teacher: Teacher,
    spent: Spent,
) -> Iterator[_Row]:
    """Judges a wave, or reads the outcomes of one that is closed."""
    is_closed = (path / OUTCOMES).is_file()
    if not is_closed:
        run = teacher.ask(cases, spec, path)
        write_records(path / OUTCOMES, _judged(run, stage, spec))
    teacher.count(path, spent, earlier=is_closed)
    return read_records(path / OUTCOMES, _Row)


def _judged(folder: RunFolder, stage: JudgePairs, spec: RunSpec) -> Iterator[_Row]:
    for case, outcomes in read_outcomes(folder, spec):
        yield _judged_case(case, outcomes, stage, spec)


def _judged_case(
    case: Case, outcomes: Sequence[Judgment | Failure | None], stage: JudgePairs, spec: RunSpec
) -> _Row:
    """A case with its judgment, or with the reason it is dropped."""
    decided: list[tuple[Winner, Judgment, Decision]] = []
    for outcome in outcomes:
        if (fault := fault_of(outcome, case, stage.most_characters)) is not None:
            return _Row(case=case, reason=fault[0], detail=fault[1])
        assert isinstance(outcome, Judgment)
        assert isinstance(outcome.reading, Decision)
        winner = to_winner(outcome.reading.shown, outcome.asked.shown)
        decided.append((winner, outcome, outcome.reading))
    winner, judgment, decision = decided[0]
    if any(other != winner for other, _, _ in decided):
        named = ", ".join(other for other, _, _ in decided)
        return _Row(case=case, reason="orders disagree", detail=named)
    if case.label in WINNERS and case.label != winner and not stage.keep_disagreeing:
        return _Row(
            case=case, reason="disagrees with the label", detail=f"{winner}, label {case.label}"
        )
    try:
        made = reformat(judgment.completion.text, decision.shown)
    except NotReformattable as error:
        return _Row(case=case, reason="cannot be reformatted", detail=str(error))
    written = critiques.render(made)
    if stage.invented_quotations == "drop" and (
        found := invention_fault(written, case, spec.library)
    ):
        return _Row(case=case, reason=found[0], detail=found[1])
    meta = {**case.meta, "judgment": written, "teacher": spec.judge.name}
    return _Row(case=replace(case, label=winner, meta=meta))
