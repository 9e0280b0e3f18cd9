"""A person's pass over guessed scenarios: what is typed about each row, and what follows.

The session shows nothing and reads nothing: a terminal, or a test, does. Each answer is in
`reviews.jsonl` before the next row comes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autoj.construct.review.answers import REVIEWS, Answer, Review, read_reviews
from autoj.errors import UnknownComponent
from autoj.jsonl import Appender
from autoj.records import Case
from autoj.scenarios import Library
from autoj.scenarios.seeds import query_digest
from autoj.scenarios.taxonomy import plain_name

_MOST_LISTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer to what was typed."""

    shows: Literal["row", "names", "query", "help", "nothing"] = "nothing"
    """The next thing to show: the current row, the names to choose from, the whole query, the help,
    or nothing."""
    said: str | None = None
    """A message."""
    quits: bool = False


class ReviewSession:
    """A pass over drawn rows: those without an answer first, then those that were skipped.

    Args:
        folder: the stage's folder.
        rows: the drawn rows.
        library: the scenarios that a row may be given.

    Raises:
        DataError: the file of earlier answers is damaged, or cannot be written.
    """

    def __init__(self, folder: Path, rows: Sequence[Case], library: Library) -> None:
        self._library = library
        self._answers = read_reviews(folder)
        open_rows = [row for row in rows if self.answer_to(row) is None]
        skipped = [row for row in rows if self._is(row, "skipped")]
        done = [
            row for row in rows if not (self.answer_to(row) is None or self._is(row, "skipped"))
        ]
        # Earlier answers stand before the first row, where "back" finds them.
        self._rows = [*done, *open_rows, *skipped]
        self._at = len(done)
        self._kept = Appender(folder / REVIEWS)
        self.names: tuple[str, ...] = ()
        """The scenarios that a number chooses from."""
        self._list_group()

    def __enter__(self) -> "ReviewSession":
        return self

    def __exit__(self, *error: object) -> None:
        self._kept.close()

    @property
    def current(self) -> Case | None:
        """The row to answer about; None after the last one."""
        return self._rows[self._at] if self._at < len(self._rows) else None

    @property
    def number(self) -> int:
        """The current row's number, from 1."""
        return self._at + 1

    @property
    def number_in_scenario(self) -> tuple[int, int]:
        """The current row's number among those with the same guess, and the number of these."""
        guess = self._rows[self._at].scenario
        same = [at for at, row in enumerate(self._rows) if row.scenario == guess]
        return same.index(self._at) + 1, len(same)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def n_open(self) -> int:
        """Rows without an answer; skipped ones have none."""
        return sum(self.answer_to(row) is None or self._is(row, "skipped") for row in self._rows)

    def answer_to(self, row: Case) -> Review | None:
        """The last answer about a row's query; None where there is none."""
        return self._answers.get(query_digest(row.query))

    def answer(self, typed: str) -> Reply:
        """Answers about the current row.

        Args:
            typed: nothing where the guess is right; the number of a listed scenario, or a part of a
                scenario's name; `x` drops the query, `s` skips it, `b` goes back to the one before,
                `v` shows the whole query, `?` all names, `q` quits.
        """
        row = self.current
        said = typed.strip()
        assert row is not None
        assert row.scenario is not None
        match said.casefold():
            case "":
                return self._keep(row, "right", row.scenario)
            case "x":
                return self._keep(row, "dropped", None)
            case "s":
                return self._keep(row, "skipped", None)
            case "b":
                return self._back()
            case "q":
                return Reply(quits=True)
            case "v":
                return Reply(shows="query")
            case "?":
                self.names = self._library.names()
                return Reply(shows="help")
        return self._named(row, said)

    def _is(self, row: Case, answer: Answer) -> bool:
        found = self.answer_to(row)
        return found is not None and found.answer == answer

    def _keep(self, row: Case, answer: Answer, scenario: str | None) -> Reply:
        assert row.scenario is not None
        review = Review(
            id=row.id,
            query_sha256=query_digest(row.query),
            guessed=row.scenario,
            answer=answer,
            scenario=scenario,
        )
        self._kept.append(review)
        self._answers[review.query_sha256] = review
        self._at += 1
        self._list_group()
        return Reply(shows="row", said=scenario if answer == "renamed" else None)

    def _back(self) -> Reply:
        if self._at == 0:
            return Reply(said="this is the first row")
        self._at -= 1
        self._list_group()
        return Reply(shows="row")

    def _named(self, row: Case, said: str) -> Reply:
        """The answer to a number or to a part of a name."""
        if said.isdecimal():
            number = int(said) if len(said) < 6 else 0
            if not 1 <= number <= len(self.names):
                return Reply(said=f"there is no number {said}: they go from 1 to {len(self.names)}")
            return self._rename(row, self.names[number - 1])
        name = meant_name(said, self._library)
        if name is not None:
            return self._rename(row, name)
        near = near_names(said, self._library)
        if not near:
            return Reply(said=f"no scenario has {said!r} in its name or description; ? lists all")
        self.names = tuple(near[:_MOST_LISTED])
        return Reply(shows="names")

    def _rename(self, row: Case, name: str) -> Reply:
        return self._keep(row, "right" if name == row.scenario else "renamed", name)

    def _list_group(self) -> None:
        """Lists the scenarios of the guess's group: a wrong guess is mostly near."""
        row = self.current
        self.names = () if row is None else group_names(str(row.scenario), self._library)


def group_names(scenario: str, library: Library) -> tuple[str, ...]:
    """The scenarios of a scenario's group, itself included; all where it is unknown."""
    try:
        group = library.find(scenario).group
    except UnknownComponent:
        return library.names()
    return tuple(name for name in library.names() if library.find(name).group == group)


def meant_name(said: str, library: Library) -> str | None:
    """The scenario that a text names: by its name, an alias, or a part that no other name has.

    >>> from autoj.scenarios import shipped_library
    >>> meant_name("small talk", shipped_library()), meant_name("lyrics", shipped_library())
    ('chitchat', 'writing_song_lyrics')
    """
    try:
        return library.find(said).name
    except UnknownComponent:
        named = [name for name in library.names() if plain_name(said) in name]
    return named[0] if len(named) == 1 else None


def near_names(said: str, library: Library) -> list[str]:
    """The scenarios with a text in their name, then those with it in their description."""
    named = [name for name in library.names() if plain_name(said) in name]
    text = said.casefold()
    described = [
        name for name in library.names() if text in library.find(name).description.casefold()
    ]
    return list(dict.fromkeys([*named, *described]))
