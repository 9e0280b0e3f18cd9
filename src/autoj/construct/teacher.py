"""The teacher of a construction: a judge whose answers become training data, in runs."""

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from autoj.backends.base import Backend, Limits, OnText
from autoj.backends.base import Outcome as Answer
from autoj.construct.stages import Spent
from autoj.datasets.base import cases_of
from autoj.errors import BackendError, Unfinished, UnknownComponent
from autoj.jsonl import read_records
from autoj.judges import load_card
from autoj.records import Case, Failure, JudgeCard, Judgment, Request, Unreadable
from autoj.runs import RunFolder, RunSpec
from autoj.runs.budget import Budget, price_usd
from autoj.runs.files import LEDGER
from autoj.runs.ledger import RecordedAnswer
from autoj.runs.resolving import read_outcomes
from autoj.runs.reuse import LedgerAnswers
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios import Library
from autoj.tasks.engine import load_engine
from autoj.tasks.judge import judge

_MOST_FAILED = 0.5
"""A run with a larger share of failed requests is not read: the teacher is down."""
_OVERFLOW = "ContextOverflow"


class Teacher:
    """A judge that is asked in several runs; its engine is loaded once, when a question is open.

    Args:
        name: a judge's name, card, or `backend:model`.
        budget: the caps, over all stages.
        watch: told of progress.
        earlier: runs that were set aside (`construct.folder`): what they asked is taken from
            there.

    Raises:
        UnknownComponent: there is no such judge.
        DataError: an earlier run is damaged.
    """

    def __init__(
        self, name: str, budget: Budget, watch: Watch = SILENT, earlier: Sequence[Path] = ()
    ) -> None:
        self._card = load_card(name)
        self._budget, self._watch = budget, watch
        self._earlier = tuple(earlier)
        self._known = LedgerAnswers(earlier) if earlier else None

    def ask(self, cases: Sequence[Case], spec: RunSpec, path: Path) -> RunFolder:
        """Asks about cases, in a run that resumes where an earlier session stopped.

        Args:
            cases: the cases.
            spec: the settings.
            path: the run's folder.

        Raises:
            Unfinished: a cap was reached.
            BackendError: the engine broke down, or most requests failed; the same call resumes.
        """
        named = cases_of(cases, name=path.name)
        run = judge(
            named,
            spec,
            path,
            backend=self,
            budget=self._budget,
            watch=self._watch,
            known=self._known,
        )
        if run.stopped:
            raise Unfinished(self._budget.summary())
        _check_answered(run.folder)
        return run.folder

    def count(self, path: Path, spent: Spent, *, earlier: bool = False) -> None:
        """Counts what a run has spent; an answer that it took from an earlier run cost nothing.

        Args:
            path: the run's folder.
            spent: receives the counts.
            earlier: True for a run that this session did not open, to count it against the caps.
        """
        for answer in read_records(path / LEDGER, RecordedAnswer):
            if answer.reused:
                continue
            spent.n_requests += 1
            spent.prompt_tokens += answer.prompt_tokens
            spent.completion_tokens += answer.completion_tokens
            cost = price_usd(self._card, answer.prompt_tokens, answer.completion_tokens)
            if cost is not None:
                spent.usd = (spent.usd or 0.0) + cost
            if earlier:
                self._budget.count_earlier(self._card, (answer,))

    def count_set_aside(self, spent: Spent) -> None:
        """Counts what the earlier runs have spent, also against the caps."""
        for path in self._earlier:
            self.count(path, spent, earlier=True)

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
        """Frees the engine, if it was loaded, and closes the earlier runs."""
        if self._known is not None:
            self._known.close()
        if "_engine" in self.__dict__:
            self._engine.close()

    @cached_property
    def _engine(self) -> Backend:
        return load_engine(self._card, self._watch)


def _check_answered(folder: RunFolder) -> None:
    """Refuses to read a run that mostly failed, such as one with a wrong key.

    Pairs that are too long for the teacher are no failures of its own.

    Raises:
        BackendError: it did; the same command asks the failed requests again.
    """
    outcomes = [item for _, found in read_outcomes(folder, folder.spec()) for item in found]
    failed = [item for item in outcomes if isinstance(item, Failure) and item.error != _OVERFLOW]
    if len(failed) > _MOST_FAILED * len(outcomes):
        raise BackendError(
            f"the teacher failed on {len(failed):,} of {len(outcomes):,} requests; the last "
            f"error: {failed[-1].message}",
            hint="Nothing was dropped. Once it is back, the same command asks them again.",
        )


def fault_of(
    outcome: Judgment | Failure | None, case: Case, most_characters: int
) -> tuple[str, str | None] | None:
    """The reason for which an answer is of no use, with details; None for a good one.

    Args:
        outcome: the teacher's answer.
        case: the case that it was asked about.
        most_characters: the most characters of an answer.
    """
    if not isinstance(outcome, Judgment):
        if outcome is None:
            return "not asked", None
        too_long = outcome.error == _OVERFLOW
        return ("too long for the teacher" if too_long else "teacher failed"), outcome.message
    text = outcome.completion.text
    if outcome.completion.finish == "filtered":
        return "filtered", None
    if not text.strip():
        return "empty reply", None
    if outcome.completion.finish == "length":
        return "cut off", f"after {outcome.completion.completion_tokens:,} tokens"
    if len(text) > most_characters:
        return "reply too long", f"{len(text):,} characters"
    if isinstance(outcome.reading, Unreadable):
        return "no readable verdict", outcome.reading.reason
    if not _in_script(text, case.language):
        return "reply in another language", None
    return None


def scenario_fault(case: Case, library: Library) -> tuple[str, str | None] | None:
    """The reason for which no criteria fit a case, with details; None where some do."""
    if case.scenario is None:
        return "no scenario", None
    try:
        library.find(case.scenario)
    except UnknownComponent:
        return "unknown scenario", case.scenario
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


def drawn_by(seed: int, name: str) -> bytes:
    """A key that puts names into an order that follows from the seed alone."""
    return hashlib.sha256(f"{seed} {name}".encode("utf-8", "surrogatepass")).digest()
