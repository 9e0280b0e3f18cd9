"""Planned samples: the objectives that each row serves, and the errors of rows.

This needs no tokenizer and no model, so bad data is reported before anything heavy is loaded.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autoj.errors import DataError
from autoj.protocols import load_protocol
from autoj.protocols.single import RATINGS
from autoj.records import WINNERS, Case, Decision, Rating, Reading, Unreadable, Winner
from autoj.runs.plan import critique_page
from autoj.training.judge.prose import closing_number, pair_factors, single_critique
from autoj.training.judge.recipe import Objective, Recipe
from autoj.training.judge.rows import EXCHANGED, TrainingRow, compare_together, winner_of
from autoj.verdicts.own_frame import to_winner


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A sample to encode."""

    row: TrainingRow
    objective: int
    """The index of its objective in the recipe."""
    case: Case
    """The row's case, or that case with its responses swapped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKinds:
    """The numbers of rows by what they hold."""

    labelled_pairs: int
    other_pairs: int
    rated: int
    """Single responses with a rating as their label."""
    unrated: int
    others: int
    """Rows with another number of responses."""
    judged: int
    """Rows of any kind with a judgment."""


def row_kinds(rows: Sequence[TrainingRow]) -> RowKinds:
    """Counts rows by what they hold."""
    pairs = [row.case for row in rows if len(row.case.responses) == 2]
    singles = [row.case for row in rows if len(row.case.responses) == 1]
    n_labelled = sum(case.label in WINNERS for case in pairs)
    n_rated = sum(isinstance(case.label, float) for case in singles)
    return RowKinds(
        labelled_pairs=n_labelled,
        other_pairs=len(pairs) - n_labelled,
        rated=n_rated,
        unrated=len(singles) - n_rated,
        others=len(rows) - len(pairs) - len(singles),
        judged=sum(row.judgment is not None for row in rows),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePlan:
    """The samples that the rows of a file give."""

    samples: tuple[Planned, ...]
    n_rows: int
    kinds: RowKinds
    n_unused: int
    """Valid rows that serve no objective."""
    bad_rows: tuple[DataError, ...]

    def counts(self) -> Counter[int]:
        """Counts the samples of each objective."""
        return Counter(sample.objective for sample in self.samples)


def plan_samples(
    rows: Sequence[TrainingRow], recipe: Recipe, *, augment: bool, lenient: bool
) -> SamplePlan:
    """Plans the samples of rows.

    A row serves every objective whose needs it meets: a label or a judgment, and as many responses.

    Args:
        rows: the rows of a file.
        recipe: states the objectives.
        augment: whether pairs are shown in both orders and single responses repeated; not for
            validation.
        lenient: whether to leave out and count rows whose judgment cannot be read.

    Raises:
        DataError: a judgment is unreadable or contradicts its row's label, unless `lenient`.

    **Source:** section 4 of the paper: each pair in both orders, singles repeated as often.
    """
    compares = [
        index for index, objective in enumerate(recipe.objectives) if objective.compares_ratings
    ]
    compared: list[TrainingRow] = []
    swap = augment and recipe.swap_pairs
    shows_pairs = any(_is_swapped(objective) for objective in recipe.objectives)
    n_copies = 2 if swap and recipe.balance and shows_pairs else 1
    planned: list[Planned] = []
    bad_rows: list[DataError] = []
    n_unused = 0
    for row in rows:
        mine: list[Planned] = []
        errors: list[DataError] = []
        is_compared = bool(compares) and len(row.case.responses) == 2 and row.case.label in WINNERS
        if is_compared:
            compared.append(row)
        for index, objective in enumerate(recipe.objectives):
            if index in compares:
                continue
            try:
                if _serves(row, objective):
                    cases = _versions(row.case, objective, swap, n_copies)
                    mine += [Planned(row=row, objective=index, case=case) for case in cases]
            except DataError as error:
                if not lenient:
                    raise
                errors.append(error)
        # A row counts once, even if it is bad for several objectives.
        bad_rows += errors[:1]
        n_unused += not (mine or is_compared or errors)
        planned += mine
    planned += [
        Planned(row=group, objective=index, case=group.case)
        for group in compare_together(compared, recipe.compare_together)
        for index in compares
    ]
    return SamplePlan(
        samples=tuple(planned),
        n_rows=len(rows),
        kinds=row_kinds(rows),
        n_unused=n_unused,
        bad_rows=tuple(bad_rows),
    )


def _is_swapped(objective: Objective) -> bool:
    """True where an objective shows both responses of a pair on one page, in random order."""
    if objective.subject != "pair":
        return False
    return not load_protocol(objective.protocol).reads_alone


def _versions(case: Case, objective: Objective, swap: bool, n_copies: int) -> list[Case]:
    """Repeats and swaps a case as an objective is trained on it."""
    if len(case.responses) < 2:
        return [case] * n_copies
    if objective.kind == "critique" and not _is_swapped(objective):
        page = critique_page(load_protocol(objective.protocol), winner_of(case))
        return [case if page == (0, 1) else swapped(case)]
    return [case, swapped(case)] if swap and _is_swapped(objective) else [case]


def _serves(row: TrainingRow, objective: Objective) -> bool:
    """True where a row has the responses and the label or judgment that an objective needs.

    Raises:
        DataError: its judgment cannot be read or contradicts its label.
    """
    n_wanted = {"pair": 2, "response": 1, "query": 0}.get(objective.subject)
    if n_wanted is None or len(row.case.responses) != n_wanted:
        return False
    if objective.language not in (None, row.case.language):
        return False
    if objective.kind == "scenario":
        return row.case.scenario is not None
    if objective.kind == "decision":
        return _label_fits(row, objective)
    if row.judgment is None:
        return False
    if objective.kind == "critique":
        if not (_label_fits(row, objective) and _has_critique(row)):
            return False
        _check_stated(row, row.judgment)
        return True
    _check_judgment(row, load_protocol(objective.protocol).parse(row.judgment))
    return True


def _label_fits(row: TrainingRow, objective: Objective) -> bool:
    label = row.case.label
    if objective.subject == "pair":
        return label in WINNERS
    if not isinstance(label, float):
        return False
    if not RATINGS[0] <= label <= RATINGS[-1]:
        raise row.error(f"expected a rating from 1 to 10, found {label:g}", "label")
    return True


def _has_critique(row: TrainingRow) -> bool:
    """True where a judgment gives reasons; a bare decision is valid but has no critique."""
    assert row.judgment is not None
    pair = len(row.case.responses) == 2
    return bool(pair_factors(row.judgment) if pair else single_critique(row.judgment))


def _check_stated(row: TrainingRow, judgment: str) -> None:
    """Checks that a critique argues for the label, as far as its judgment states a decision."""
    pair = len(row.case.responses) == 2
    reading = load_protocol("pairwise" if pair else "single").parse(judgment)
    if pair and isinstance(reading, Unreadable):
        # A review in prose ends with a number, or states no decision.
        stated = closing_number(judgment)
        if stated is None:
            return
        reading = Decision(shown=stated)
    _check_judgment(row, reading)


def _check_judgment(row: TrainingRow, reading: Reading) -> None:
    if isinstance(reading, Unreadable):
        raise row.error(f"the judgment cannot be read: {reading.reason}")
    stated = _stated(reading)
    if row.case.label is not None and stated != row.case.label:
        raise row.error(
            f"the judgment states {stated!r}, but the label is {row.case.label!r}", "label"
        )


def _stated(reading: Reading) -> Winner | float | None:
    match reading:
        case Decision(shown=shown):
            return to_winner(shown, (0, 1))
        case Rating(value=value):
            return value
        case _:
            return None


def swapped(case: Case) -> Case:
    """Swaps the responses of a pair and, if it has one, its label."""
    label = None if case.label is None else EXCHANGED[winner_of(case)]
    return replace(case, responses=case.responses[::-1], label=label)
