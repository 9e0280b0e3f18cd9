"""Lets a teacher judge pairs in waves, until each scenario has its quota (paper, section 3.3).

A wave asks, of each scenario, for as many pairs as it still lacks, so nothing is asked that cannot
be kept. Every wave is a run in a folder of its own:

```
waves/001/                  the run, with its ledger
waves/001/outcomes.jsonl    its pairs with the kept judgments, or with the reason they were dropped
```
`outcomes.jsonl` closes a wave: the next one is drawn from what it says, also after a kill.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from autoj import critiques
from autoj.backends.base import Backend, Limits, OnText
from autoj.backends.base import Outcome as Answer
from autoj.construct.recipe import JudgePairs
from autoj.construct.reformatting import NotReformattable, reformat
from autoj.construct.stages import Dropped, Outcome, Spent
from autoj.datasets.base import cases_of
from autoj.errors import BackendError, ConfigError, Unfinished
from autoj.jsonl import read_records, write_records
from autoj.judges import load_card
from autoj.records import (
    WINNERS,
    Case,
    Completion,
    Decision,
    Failure,
    JudgeCard,
    Judgment,
    Request,
    Unreadable,
    Winner,
)
from autoj.runs import RunFolder, RunSpec, make_spec
from autoj.runs.budget import Budget, price_usd
from autoj.runs.resolving import read_outcomes
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.engine import load_engine
from autoj.tasks.judge import judge
from autoj.verdicts.resolve import to_winner

WAVES, OUTCOMES = "waves", "outcomes.jsonl"
_NO_SCENARIO = ""
_MOST_FAILED = 0.5
"""A wave with a larger share of failed requests is not closed: the teacher is down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line of a wave's outcomes."""

    case: Case
    reason: str | None = None
    """None for a kept row."""
    detail: str | None = None


class Teacher:
    """A judge that is asked in waves; its engine is loaded once, when a question is open."""

    def __init__(
        self, stage: JudgePairs, scenarios: Path | None = None, watch: Watch = SILENT
    ) -> None:
        """Makes the settings of its runs.

        Args:
            stage: names the judge, the protocol and the orders.
            scenarios: the user's own; None uses ours.
            watch: told of progress.

        Raises:
            UnknownComponent: there is no such judge or protocol.
            ConfigError: the protocol writes no judgments of pairs.
        """
        self.watch = watch
        self._card = load_card(stage.teacher)
        self.spec = make_spec(
            "judge",
            self._card,
            protocol=stage.protocol,
            critique=False,
            max_tokens=stage.max_tokens,
            orders=stage.orders,
            on_overflow="error",
            scenarios=scenarios,
        )
        if not self.spec.has_orders or self.spec.chosen_protocol().gives_probabilities:
            raise ConfigError(
                f"protocol {stage.protocol!r} writes no judgments of pairs",
                hint="A teacher needs one such as pairwise-criteria or pairwise.",
            )

    @property
    def card(self) -> JudgeCard:
        """The judge."""
        return self._engine.card

    @property
    def limits(self) -> Limits:
        """The engine's abilities."""
        return self._engine.limits

    def complete(
        self, requests: Iterable[Request], on_text: OnText | None = None
    ) -> Iterator[Answer]:
        """Answers requests."""
        return self._engine.complete(requests, on_text)

    def count_tokens(self, text: str) -> int:
        """Counts the tokens of a text."""
        return self._engine.count_tokens(text)

    def close(self) -> None:
        """Frees the engine, if it was loaded."""
        if "_engine" in self.__dict__:
            self._engine.close()

    @cached_property
    def _engine(self) -> Backend:
        return load_engine(self._card, self.watch)


def judge_pairs(
    cases: Sequence[Case],
    stage: JudgePairs,
    teacher: Teacher,
    folder: Path,
    *,
    seed: int,
    budget: Budget,
    spent: Spent,
) -> Iterator[Outcome]:
    """Asks for judgments until every scenario has its quota or has no pairs left.

    Args:
        cases: pairs; those without a label take the teacher's decision as theirs.
        stage: states the quota and the filters.
        teacher: the judge.
        folder: the stage's folder.
        seed: the seed of the order in which a scenario's pairs are asked about.
        budget: the caps, over all stages.
        spent: receives the counts of all waves.

    Yields:
        Each case, with the judgment in `meta.judgment`, or the reason it was dropped; pairs that no
        quota needed are dropped as "quota reached".

    Raises:
        Unfinished: a cap was reached; the same call with a higher one resumes.
        BackendError: most requests of a wave failed.
    """
    waiting = _by_scenario(cases, seed)
    n_kept: Counter[str] = Counter()
    number = 0
    while wave := _drawn(waiting, n_kept, stage.quota):
        number += 1
        for row in _wave(wave, folder / WAVES / f"{number:03d}", stage, teacher, budget, spent):
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
        name: deque(sorted(its, key=lambda case: _drawn_by(seed, case.id)))
        for name, its in sorted(grouped.items())
    }


def _drawn_by(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode("utf-8", "surrogatepass")).digest()


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
    teacher: Teacher,
    budget: Budget,
    spent: Spent,
) -> Iterator[_Row]:
    """Judges a wave, or reads the outcomes of one that is closed."""
    if not (path / OUTCOMES).is_file():
        run = judge(
            cases_of(cases, name=path.name),
            teacher.spec,
            path,
            backend=teacher,
            budget=budget,
            watch=teacher.watch,
        )
        if run.stopped:
            raise Unfinished(budget.summary())
        _check_answered(run.folder)
        write_records(path / OUTCOMES, _judged(run.folder, stage, teacher.spec))
    else:
        budget.count_earlier(teacher.spec.judge, _answers(path))
    _count(path, teacher.spec, spent)
    return read_records(path / OUTCOMES, _Row)


def _answers(path: Path) -> Iterator[Completion]:
    return read_records(path / "ledger.jsonl", Completion)


def _count(path: Path, spec: RunSpec, spent: Spent) -> None:
    for answer in _answers(path):
        spent.n_requests += 1
        spent.prompt_tokens += answer.prompt_tokens
        spent.completion_tokens += answer.completion_tokens
        cost = price_usd(spec.judge, answer.prompt_tokens, answer.completion_tokens)
        if cost is not None:
            spent.usd = (spent.usd or 0.0) + cost


def _check_answered(folder: RunFolder) -> None:
    """Refuses to close a wave that mostly failed.

    Raises:
        BackendError: it did; the same command asks the failed requests again.
    """
    outcomes = [item for _, found in read_outcomes(folder) for item in found]
    failed = [item for item in outcomes if isinstance(item, Failure) and item.retryable]
    if len(failed) > _MOST_FAILED * len(outcomes):
        raise BackendError(
            f"the teacher failed on {len(failed):,} of {len(outcomes):,} requests; the last "
            f"error: {failed[-1].message}",
            hint="Nothing was dropped. Once it is back, the same command asks them again.",
        )


def _judged(folder: RunFolder, stage: JudgePairs, spec: RunSpec) -> Iterator[_Row]:
    for case, outcomes in read_outcomes(folder):
        yield _judged_case(case, outcomes, stage, spec.judge.name)


def _judged_case(
    case: Case, outcomes: Sequence[Judgment | Failure | None], stage: JudgePairs, teacher: str
) -> _Row:
    """A case with its judgment, or with the reason it is dropped."""
    decided: list[tuple[Winner, Judgment, Decision]] = []
    for outcome in outcomes:
        if (fault := _fault(outcome, case, stage)) is not None:
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
    meta = {**case.meta, "judgment": critiques.render(made), "teacher": teacher}
    return _Row(case=replace(case, label=winner, meta=meta))


def _fault(
    outcome: Judgment | Failure | None, case: Case, stage: JudgePairs
) -> tuple[str, str | None] | None:
    """The reason for which an answer is of no use; None for a good one."""
    if not isinstance(outcome, Judgment):
        if outcome is None:
            return "not asked", None
        too_long = outcome.error == "ContextOverflow"
        return ("too long for the teacher" if too_long else "teacher failed"), outcome.message
    text = outcome.completion.text
    if outcome.completion.finish == "filtered":
        return "filtered", None
    if not text.strip():
        return "empty reply", None
    if outcome.completion.finish == "length":
        return "cut off", f"after {outcome.completion.completion_tokens:,} tokens"
    if len(text) > stage.most_characters:
        return "reply too long", f"{len(text):,} characters"
    if isinstance(outcome.reading, Unreadable):
        return "no readable decision", outcome.reading.reason
    if not _in_script(text, case.language):
        return "reply in another language", None
    return None


def _in_script(text: str, language: str) -> bool:
    """True where most letters are of the language's script: Latin, or Chinese as well."""
    letters = [character for character in text if character.isalpha()]
    if not letters:
        return True
    n_latin = sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    n_han = sum("\u3400" <= letter <= "\u9fff" for letter in letters)
    n_fitting = n_latin if language == "en" else n_latin + n_han
    return n_fitting > 0.7 * len(letters)
