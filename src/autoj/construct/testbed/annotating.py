"""Annotation: a person sees pairs one by one, blind to models and order, and each answer is kept.

Both what comes first and what stands on which side are drawn by the seed, for each annotator and
pair anew, so that neither position nor fatigue favours a model. An answer is appended at once; the
last one to a pair counts.
"""

import hashlib
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import orjson

from autoj.construct.teacher import drawn_by
from autoj.construct.testbed.folder import ANNOTATORS, DrawnPair, Testbed
from autoj.errors import ConfigError, DataError
from autoj.jsonl import Appender, encode_summed, read_records
from autoj.records import Case, Shown, Winner
from autoj.runs.place import locked
from autoj.system_errors import storage_error
from autoj.verdicts.own_frame import to_winner

ANSWERS = "answers.jsonl"
Via: TypeAlias = Literal["terminal", "label-studio"]
Choice: TypeAlias = Literal["1", "2", "tie", "skip"]
"""An answer on the page: a response, a tie, or that it cannot be judged."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAnswer:
    """A person's answer about a pair: a line of `answers.jsonl`."""

    case_id: str
    winner: Winner | None
    """The better response in the order of the case; None where the person skipped the pair."""
    shown: tuple[int, int]
    """Response indices from left to right."""
    pair: str
    """The `pair_digest` of what was shown."""
    via: Via
    answered: str | None = None
    """The time, ISO 8601; None where it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A pair as a person sees it: nothing says who wrote what."""

    case_id: str
    scenario: str | None
    query: str
    responses: tuple[str, str]
    """From left to right."""
    shown: tuple[int, int]
    """Their indices in the case."""
    pair: str
    """The pair's `pair_digest`."""


def page_of(case: Case, annotator: str, seed: int) -> Page:
    """The page of a pair for an annotator; the sides are drawn by the seed.

    >>> from autoj.records import Response
    >>> case = Case(id="1", query="Why?", cluster="why", scenario="chitchat",
    ...             responses=(Response(text="So."), Response(text="No.")))
    >>> page_of(case, "anna", 0).responses, page_of(case, "ben", 0).responses
    (('So.', 'No.'), ('No.', 'So.'))
    """
    swapped = drawn_by(seed, f"sides {annotator} {case.id}")[0] % 2 == 1
    left, right = shown = (1, 0) if swapped else (0, 1)
    return Page(
        case_id=case.id,
        scenario=case.scenario,
        query=case.query,
        responses=(case.responses[left].text, case.responses[right].text),
        shown=shown,
        pair=pair_digest(case),
    )


def pair_digest(case: Case) -> str:
    """A fingerprint of a pair's texts: 16 hex digits. Answers to other texts do not count."""
    texts = [case.query, *(response.text for response in case.responses)]
    return hashlib.sha256(orjson.dumps(texts)).hexdigest()[:16]


def answer_of(page: Page, choice: Choice, via: Via, answered: str | None) -> PairAnswer:
    """The answer that a choice on a page states."""
    shown: dict[Choice, Shown] = {"1": "1", "2": "2", "tie": "tie"}
    winner = to_winner(shown[choice], page.shown) if choice in shown else None
    return PairAnswer(
        case_id=page.case_id,
        winner=winner,
        shown=page.shown,
        pair=page.pair,
        via=via,
        answered=answered,
    )


def check_annotator(name: str) -> str:
    """Checks the name of an annotator, which becomes a folder's.

    Raises:
        ConfigError: it has other characters than letters, digits, `.`, `_` and `-`.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is no name of an annotator",
            hint="Use up to 64 letters, digits, dots, dashes and underscores, such as anna.",
        )
    return name


def annotators(testbed: Testbed) -> tuple[str, ...]:
    """The names of those who have answered, sorted."""
    return tuple(
        sorted(path.parent.name for path in testbed.path.glob(f"{ANNOTATORS}/*/{ANSWERS}"))
    )


def read_answers(testbed: Testbed, annotator: str) -> list[PairAnswer]:
    """All answers of an annotator in the order in which they were given.

    Raises:
        DataError: the file is damaged.
    """
    try:
        return list(read_records(_folder(testbed, annotator) / ANSWERS, PairAnswer))
    except DataError as error:
        raise DataError(
            error.reason,
            path=error.path,
            line=error.line,
            hint="Delete that line: its pair is shown to the annotator again.",
        ) from None


def last_answers(answers: Sequence[PairAnswer]) -> dict[str, PairAnswer]:
    """The answers that count, by case id: the last of each pair."""
    return {answer.case_id: answer for answer in answers}


def _folder(testbed: Testbed, annotator: str) -> Path:
    return testbed.path / ANNOTATORS / check_annotator(annotator)


class Annotation:
    """An annotator at work: the pairs that are open, and the way back.

    Args:
        testbed: the testbed.
        annotator: a name.
        cases: the ids of pairs to show; None shows all that wait for people.
    """

    def __init__(
        self, testbed: Testbed, annotator: str, cases: frozenset[str] | None = None
    ) -> None:
        self.annotator = check_annotator(annotator)
        seed = testbed.settings().seed
        pairs = [pair for pair in testbed.pairs() if _is_asked(pair, cases)]
        pairs.sort(key=lambda pair: drawn_by(seed, f"turn {annotator} {pair.case.id}"))
        self._pages = [page_of(pair.case, annotator, seed) for pair in pairs]
        known = last_answers(read_answers(testbed, annotator))
        self._answered = {
            page.case_id: known[page.case_id]
            for page in self._pages
            if page.case_id in known and known[page.case_id].pair == page.pair
        }
        # What is answered stands first, so that there is a way back to it.
        self._pages.sort(key=lambda page: page.case_id not in self._answered)
        self._at = len(self._answered)
        self._path = _folder(testbed, annotator)
        self._file: Appender | None = None

    @property
    def n_pages(self) -> int:
        """Pairs that this annotator is asked about."""
        return len(self._pages)

    @property
    def n_answered(self) -> int:
        """Those of them that are answered or skipped."""
        return len(self._answered)

    @property
    def number(self) -> int:
        """The number of the present page, from 1."""
        return self._at + 1

    def page(self) -> Page | None:
        """The present page; None where all are answered."""
        return self._pages[self._at] if self._at < len(self._pages) else None

    def earlier(self) -> PairAnswer | None:
        """The answer to the present page; None where it has none yet."""
        page = self.page()
        return None if page is None else self._answered.get(page.case_id)

    @contextmanager
    def opened(self) -> "Iterator[Annotation]":
        """Opens the annotator's file for the block.

        Raises:
            RunBusy: the annotator is at work elsewhere.
            StorageFull: the disk is full.
        """
        try:
            self._path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, self._path) from error
        with locked(self._path):
            self._file = Appender(self._path / ANSWERS, encode_summed)
            try:
                yield self
            finally:
                self._file.close()
                self._file = None

    def answer(self, choice: Choice) -> None:
        """Keeps the answer to the present page, and turns to the next open one.

        Raises:
            StorageFull: the disk is full; earlier answers are kept.
        """
        page = self.page()
        assert page is not None
        self.keep(answer_of(page, choice, "terminal", time.strftime("%Y-%m-%dT%H:%M:%S%z")))
        while (page := self.page()) is not None and page.case_id in self._answered:
            self._at += 1

    def keep(self, answer: PairAnswer) -> None:
        """Appends an answer that was given here or elsewhere."""
        assert self._file is not None
        self._file.append(answer)
        self._answered[answer.case_id] = answer

    def back(self) -> bool:
        """Turns to the page before; False where there is none."""
        if self._at == 0:
            return False
        self._at -= 1
        return True


def _is_asked(pair: DrawnPair, cases: frozenset[str] | None) -> bool:
    return pair.waits and (cases is None or pair.case.id in cases)
