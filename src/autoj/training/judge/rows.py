"""Rows of training files: a case, its position, and the judgment that the data have of it."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from pathlib import Path

from autoj.datasets import open_cases
from autoj.errors import DataError
from autoj.records import WINNERS, Case, Response, Winner, normalise_query
from autoj.scenarios import resolve_scenario
from autoj.training.classifier.queries import read_scenario_queries

EXCHANGED: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}
"""The label of a pair after its responses are swapped."""


@dataclass(frozen=True, slots=True)
class ComparedResponses:
    """The labels that people gave to two of a row's responses."""

    first: int
    second: int
    """`first` and `second` are indices of responses."""
    shares: tuple[float, float, float]
    """The shares of labels for the first, the second, and a tie; they sum to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRow:
    """A case to train on."""

    case: Case
    path: Path
    line: int
    """Counted from 1."""
    comparisons: tuple[ComparedResponses, ...] = ()
    """The labels of pairs, where several responses are compared together."""

    @property
    def judgment(self) -> str | None:
        """The critique with its decision or rating; None where the data have none.

        Its field is the release's `target_output`, or `meta.judgment` of a native row.
        """
        if self.case.critiques:
            return self.case.critiques[0]
        judgment = self.case.meta.get("judgment")
        return judgment if isinstance(judgment, str) and judgment.strip() else None

    def error(self, message: str, field: str | None = None) -> DataError:
        """Makes an error about this row."""
        return DataError(
            f"case {self.case.id!r}: {message}",
            path=self.path,
            line=self.line,
            field=field,
            hint="Use --skip-bad-rows to leave out such rows and count them.",
        )


def training_file(path: Path) -> Path:
    """The file to train on: that of a construction's folder `train/`, else the path itself.

    A folder without it stays as it is, for the reader to say what is wrong with it.
    """
    inside = path / "train.jsonl"
    return inside if inside.is_file() else path


def read_rows(path: Path, bad_rows: list[DataError] | None = None) -> Iterator[TrainingRow]:
    """Reads the rows of a training file, in any format that `autoj judge` reads.

    Args:
        path: the file.
        bad_rows: collects the errors of unreadable rows; None raises the first.

    Raises:
        DataError: the file or a row cannot be read.
    """
    n_rows = 0
    for line, item in open_cases(path).read():
        if isinstance(item, Case):
            n_rows += 1
            yield TrainingRow(case=item, path=path, line=line)
        elif bad_rows is None:
            item.hint = item.hint or "Use --skip-bad-rows to leave out such rows and count them."
            raise item
        else:
            bad_rows.append(item)
    if n_rows == 0:
        raise DataError("is empty: it holds no rows", path=path)


def read_query_rows(path: Path) -> Iterator[TrainingRow]:
    """Reads queries with their scenarios, as rows without a response.

    Args:
        path: a file as `read_scenario_queries` reads it.

    Raises:
        DataError: the file or a row cannot be read.
    """
    found = read_scenario_queries([path])
    for number, (query, scenario) in enumerate(
        zip(found.queries, found.scenarios, strict=True), start=1
    ):
        case = Case(
            id=str(number),
            query=query,
            responses=(),
            cluster=normalise_query(query),
            scenario=scenario,
        )
        yield TrainingRow(case=case, path=path, line=number)


def without_scenarios(rows: Sequence[TrainingRow], scenarios: Sequence[str]) -> list[TrainingRow]:
    """Leaves out the rows of scenarios that a judge is not to be trained on.

    Args:
        rows: rows that name their scenario.
        scenarios: names of the taxonomy, in any spelling.

    Raises:
        DataError: a row names no scenario, so it may be of one of these.

    **Source:** paper, Appendix C, settings 1 and 2 of unseen scenarios.
    """
    unwanted = {resolve_scenario(name) for name in scenarios}
    for row in rows:
        if row.case.scenario is None:
            raise DataError(
                f"case {row.case.id!r} names no scenario, and the recipe holds some out",
                path=row.path,
                line=row.line,
                field="scenario",
                hint="Name the scenarios of all rows: autoj classify FILE --out RUN.",
            )
    return [row for row in rows if row.case.scenario not in unwanted]


def pairs_from_ratings(
    rows: Sequence[TrainingRow], gap: float, per_query: int, seed: int
) -> list[TrainingRow]:
    """Makes pairs of responses to one query whose ratings differ.

    Args:
        rows: rows of any kind; those with one rated response are paired.
        gap: the minimum difference of two ratings; the higher-rated response is the better one.
        per_query: the cap on pairs of one query, drawn from all of them.
        seed: the seed of the draw.

    Returns:
        One row per pair; the better response is the first one in every other row.
    """
    generator = random.Random(seed)
    rated = [row for row in rows if len(row.case.responses) == 1 and _rating(row) is not None]
    rated.sort(key=lambda row: row.case.cluster)
    pairs: list[TrainingRow] = []
    for _, group in groupby(rated, key=lambda row: row.case.cluster):
        apart = [
            (one, other)
            for one, other in combinations(list(group), 2)
            if abs(_known(one) - _known(other)) >= gap and one.case.query == other.case.query
        ]
        for one, other in generator.sample(apart, min(per_query, len(apart))):
            pairs.append(_pair(one, other, flip=len(pairs) % 2 == 1))
    return pairs


def compare_together(rows: Sequence[TrainingRow], most: int) -> list[TrainingRow]:
    """Groups labelled pairs about one query, so that each response is read once.

    Nine responses with all their comparisons are 36 pairs, or 72 texts to read; grouped, they are
    nine texts with 36 comparisons. Labels of the same two responses are combined into shares.

    Args:
        rows: labelled pairs.
        most: the cap on responses of one row, 2 or more; 2 only combines repeated pairs.

    Returns:
        Rows without a label of their own, ordered by the first occurrence of their queries. Pairs
        of equal texts are left out.

    **Source:** Ouyang et al. 2022 (arXiv 2203.02155), section 3.5: all comparisons of one prompt as
    one element of a batch.
    """
    by_query: dict[object, list[TrainingRow]] = defaultdict(list)
    for row in rows:
        case = row.case
        by_query[(case.query, case.history, case.reference, case.language)].append(row)
    return [group for about_one in by_query.values() for group in _together(about_one, most)]


def _together(rows: Sequence[TrainingRow], most: int) -> Iterator[TrainingRow]:
    """Yields rows with all comparisons of one query, each with at most `most` responses."""
    texts: dict[str, Response] = {}
    counts: dict[tuple[str, str], Counter[Winner]] = defaultdict(Counter)
    # The row that errors of a pair refer to.
    origins: dict[tuple[str, str], TrainingRow] = {}
    for row in rows:
        one, other = row.case.responses
        if one.text == other.text:
            continue
        texts.setdefault(one.text, one)
        texts.setdefault(other.text, other)
        winner = winner_of(row.case)
        if (other.text, one.text) in counts:
            one, other, winner = other, one, EXCHANGED[winner]
        counts[one.text, other.text][winner] += 1
        origins.setdefault((one.text, other.text), row)
    left = set(counts)
    for start in counts:
        if start not in left:
            continue
        members = _joined(start, left, most)
        inside = [pair for pair in counts if pair in left and set(pair) <= set(members)]
        left.difference_update(inside)
        place = {text: at for at, text in enumerate(members)}
        yield replace(
            origins[start],
            case=replace(
                origins[start].case,
                responses=tuple(texts[text] for text in members),
                label=None,
                critiques=(),
                meta={},
            ),
            comparisons=tuple(
                ComparedResponses(place[one], place[other], _shares(counts[one, other]))
                for one, other in inside
            ),
        )


def _joined(start: tuple[str, str], left: set[tuple[str, str]], most: int) -> list[str]:
    """Adds to a pair the responses that bring in the most of the comparisons left."""
    members = list(start)
    while len(members) < most:
        gains: Counter[str] = Counter()
        for one, other in sorted(left):
            if (one in members) != (other in members):
                gains[other if one in members else one] += 1
        if not gains:
            break
        members.append(gains.most_common(1)[0][0])
    return members


def _shares(counts: Counter[Winner]) -> tuple[float, float, float]:
    first, second, neither = (counts[winner] / counts.total() for winner in WINNERS)
    return first, second, neither


def winner_of(case: Case) -> Winner:
    """The label of a pair that has one."""
    assert case.label in WINNERS
    return case.label


def _rating(row: TrainingRow) -> float | None:
    return row.case.label if isinstance(row.case.label, float) else None


def _known(row: TrainingRow) -> float:
    rating = _rating(row)
    assert rating is not None
    return rating


def _pair(one: TrainingRow, other: TrainingRow, *, flip: bool) -> TrainingRow:
    better, worse = (one, other) if _known(one) > _known(other) else (other, one)
    first, second = (worse, better) if flip else (better, worse)
    case = replace(
        first.case,
        id=f"{first.case.id}+{second.case.id}",
        responses=(first.case.responses[0], second.case.responses[0]),
        label="b" if flip else "a",
        critiques=(),
        meta={},
    )
    return replace(first, case=case)
