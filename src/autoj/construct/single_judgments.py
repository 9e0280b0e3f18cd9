"""Lets a teacher judge single responses by divide and conquer (paper, section 3.3).

A response is criticised by its scenario's criteria and without them, and a third request joins both
critiques and rates:

```
with-criteria/, without-criteria/   runs of critiques
critiques.jsonl                     the responses that have both; it closes the two runs
merged/                             the run that joins and rates
outcomes.jsonl                      the rated responses, or the reasons they were dropped
```
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.construct.invented import invention_fault
from autoj.construct.recipe import JudgeSingles
from autoj.construct.stages import Dropped, Outcome, Spent
from autoj.construct.teacher import Teacher, drawn_by, fault_of, scenario_fault
from autoj.critiques import closed_by_rating, strip_rating
from autoj.jsonl import read_records, write_records
from autoj.judges import load_card
from autoj.records import Case, Critique, Failure, Judgment, Rating
from autoj.runs import RunFolder, RunSpec, make_spec
from autoj.runs.resolving import read_outcomes

WITH, WITHOUT, MERGED = "with-criteria", "without-criteria", "merged"
CRITIQUES, OUTCOMES = "critiques.jsonl", "outcomes.jsonl"
_PROTOCOLS = {
    WITH: "single-critique-criteria", WITHOUT: "single-critique", MERGED: "single-merge",
}  # fmt: skip
_MARK = r"[ \t]{0,3}(?:#{1,6}[ \t]{0,3}|\*\*)?"
_AFTER = r"(?:\*\*)?[ \t]{0,3}[:：]?(?:\*\*)?[ \t]{0,3}"
# "### Meta-Critique" above it: Table 12 asks for one, and small models announce it.
_OPENING = re.compile(
    rf"\A{_MARK}(?:(?:meta|merged|combined|final|overall)[- ]?)?"
    rf"(?:critique|evaluation|assessment|review){_AFTER}(?:\n|\Z)",
    re.IGNORECASE,
)
# "### Final Rating" below it, once the rating itself is taken off.
_CLOSING = re.compile(
    rf"(?:\n|\A){_MARK}(?:(?:final|overall)[ \t])?(?:rating|score){_AFTER}\Z", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line of the outcomes, and of the critiques."""

    case: Case
    reason: str | None = None
    """None for a response that is kept."""
    detail: str | None = None


def single_specs(stage: JudgeSingles, scenarios: Path | None = None) -> dict[str, RunSpec]:
    """Makes the settings of the three runs, by their folders' names.

    Args:
        stage: names the judge.
        scenarios: the user's own; None uses ours.

    Raises:
        UnknownComponent: there is no such judge.
    """
    card = load_card(stage.teacher)
    return {
        name: make_spec(
            "rate",
            card,
            protocol=protocol,
            critique=False,
            max_tokens=stage.max_tokens,
            scenarios=scenarios,
        )
        for name, protocol in _PROTOCOLS.items()
    }


def judge_singles(
    cases: Sequence[Case],
    stage: JudgeSingles,
    specs: dict[str, RunSpec],
    teacher: Teacher,
    folder: Path,
    *,
    seed: int,
    spent: Spent,
) -> Iterator[Outcome]:
    """Adds rated responses to the rows, balanced over scenarios and over expected quality.

    Args:
        cases: rows; they go on as they are.
        stage: states the quota and the filters.
        specs: the settings, from `single_specs`.
        teacher: the judge.
        folder: the stage's folder.
        seed: the seed of the draw of responses.
        spent: receives the counts of all runs.

    Yields:
        The rows, then the rated responses with ids `…#1` or `…#2`, the rating as the label and the
        judgment in `meta.judgment`, or the reasons they were dropped.

    Raises:
        Unfinished: a cap was reached; the same call with a higher one resumes.
        BackendError: most requests of a run failed.
    """
    yield from cases
    chosen: list[Case] = []
    for case in _responses(cases, stage, seed):
        if (fault := scenario_fault(case, specs[WITH].library)) is not None:
            yield Dropped(id=case.id, reason=fault[0], detail=fault[1], case=case)
        else:
            chosen.append(case)
    if not chosen:
        return
    for row in _judged(chosen, stage, specs, teacher, folder, spent):
        if row.reason is None:
            yield row.case
        else:
            yield Dropped(id=row.case.id, reason=row.reason, detail=row.detail, case=row.case)


def without_titles(critique: str) -> str:
    r"""A critique without a title above it and without one that announces the rating.

    Args:
        critique: the text before the rating.

    >>> without_titles("### Meta-Critique\n\nIt names no source.\n\n### Final Rating")
    'It names no source.'
    """
    bare = _OPENING.sub("", critique.strip())
    return _CLOSING.sub("", bare.rstrip()).strip()


def _responses(cases: Sequence[Case], stage: JudgeSingles, seed: int) -> list[Case]:
    """Responses of each scenario; of its pairs in turn the better one and the other one."""
    grouped: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if len(case.responses) == 2 and case.scenario is not None and _is_drawn_from(case, stage):
            grouped[case.scenario].append(case)
    drawn: list[tuple[int, str, Case]] = []
    for scenario, its in sorted(grouped.items()):
        its.sort(key=lambda case: drawn_by(seed, f"single {case.id}"))
        for at, case in enumerate(its[: stage.quota]):
            better = 1 if case.label == "b" else 0
            index = better if at % 2 == 0 else 1 - better
            response = replace(
                case,
                id=f"{case.id}#{index + 1}",
                responses=(case.responses[index],),
                label=None,
                meta={"made": "single", "made_of": case.id},
            )
            drawn.append((at, scenario, response))
    # The first one of each scenario, then the second one of each: a total is balanced, too.
    drawn.sort(key=lambda item: item[:2])
    return [response for _, _, response in drawn[: stage.total]]


def _is_drawn_from(case: Case, stage: JudgeSingles) -> bool:
    return not stage.sources or case.id.partition("/")[0] in stage.sources


def _judged(
    chosen: list[Case],
    stage: JudgeSingles,
    specs: dict[str, RunSpec],
    teacher: Teacher,
    folder: Path,
    spent: Spent,
) -> Iterator[_Row]:
    """Asks what is open, and reads the outcomes."""
    has_critiques = (folder / CRITIQUES).is_file()
    if not has_critiques:
        by_criteria = teacher.ask(chosen, specs[WITH], folder / WITH)
        alone = teacher.ask(chosen, specs[WITHOUT], folder / WITHOUT)
        write_records(folder / CRITIQUES, _criticised(by_criteria, alone, stage))
    for name in (WITH, WITHOUT):
        teacher.count(folder / name, spent, earlier=has_critiques)
    rows = list(read_records(folder / CRITIQUES, _Row))
    criticised = [row.case for row in rows if row.reason is None]
    yield from (row for row in rows if row.reason is not None)
    if not criticised:
        return
    is_closed = (folder / OUTCOMES).is_file()
    if not is_closed:
        merged = teacher.ask(criticised, specs[MERGED], folder / MERGED)
        write_records(folder / OUTCOMES, _rated(merged, stage, specs[MERGED]))
    teacher.count(folder / MERGED, spent, earlier=is_closed)
    yield from read_records(folder / OUTCOMES, _Row)


def _criticised(by_criteria: RunFolder, alone: RunFolder, stage: JudgeSingles) -> Iterator[_Row]:
    """Each response with its two critiques, or with the reason that one is of no use."""
    both = zip(
        read_outcomes(by_criteria, by_criteria.spec()),
        read_outcomes(alone, alone.spec()),
        strict=True,
    )
    for (case, first), (_, second) in both:
        texts: list[str] = []
        for outcome in (*first, *second):
            if (fault := fault_of(outcome, case, stage.most_characters)) is not None:
                yield _Row(case=case, reason=fault[0], detail=fault[1])
                break
            assert isinstance(outcome, Judgment)
            assert isinstance(outcome.reading, Critique)
            texts.append(outcome.reading.text)
        else:
            yield _Row(case=replace(case, critiques=tuple(texts)))


def _rated(folder: RunFolder, stage: JudgeSingles, spec: RunSpec) -> Iterator[_Row]:
    for case, (outcome,) in read_outcomes(folder, folder.spec()):
        yield _rated_case(case, outcome, stage, spec)


def _rated_case(
    case: Case, outcome: Judgment | Failure | None, stage: JudgeSingles, spec: RunSpec
) -> _Row:
    """A response with its judgment, or with the reason it is dropped."""
    bare = replace(case, critiques=())
    if (fault := fault_of(outcome, case, stage.most_characters)) is not None:
        return _Row(case=bare, reason=fault[0], detail=fault[1])
    assert isinstance(outcome, Judgment)
    assert isinstance(outcome.reading, Rating)
    text, value = outcome.completion.text.strip(), outcome.reading.value
    critique = strip_rating(text)
    if critique == text:
        return _Row(case=bare, reason="the rating is not at the end")
    critique = without_titles(critique)
    if not critique:
        return _Row(case=bare, reason="no critique")
    if stage.invented_quotations == "drop" and (
        found := invention_fault(critique, bare, spec.library)
    ):
        return _Row(case=bare, reason=found[0], detail=found[1])
    judgment = closed_by_rating(critique, value)
    meta = {**case.meta, "judgment": judgment, "teacher": spec.judge.name}
    return _Row(case=replace(bare, label=value, meta=meta))
