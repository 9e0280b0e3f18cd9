"""Leaderboard rows of baselines, which read nothing or only lengths, computed on the data."""

from collections.abc import Sequence

from autoj.bench.base import Figures, broken_down, group_name
from autoj.bench.eval_c.evaluate import figures as critique_figures
from autoj.bench.eval_c.files import Critiques
from autoj.bench.eval_p.evaluate import figures
from autoj.bench.leaderboard.board import BoardRow, Parts, by_name, in_order, ours
from autoj.critiques import strip_rating
from autoj.metrics import Row, accuracy
from autoj.metrics.base import Rows
from autoj.metrics.rows import pair_row
from autoj.records import WINNERS, Case, Estimate, Verdict, Winner
from autoj.verdicts.baselines import BASELINE_JUDGES, baseline_verdicts
from autoj.verdicts.resolve import settle

_BANDS = tuple(step / 100 for step in range(101))


def pair_baselines(cases: Sequence[Case], *, by_group: bool = False) -> list[BoardRow]:
    """The baselines on labelled pairs, and `longest` with its best tie band in hindsight.

    Args:
        cases: pairs with labels.
        by_group: whether figures by group are wanted, too.
    """
    rows = [
        _pair_row(cases, baseline_verdicts(name, cases), name, (does,), by_group=by_group)
        for name, (does, _) in BASELINE_JUDGES.items()
    ]
    return [*rows, longest_in_hindsight(cases, by_group=by_group)]


def longest_in_hindsight(cases: Sequence[Case], *, by_group: bool = False) -> BoardRow:
    """`longest` with the tie band that suits these very labels best: in-sample, so not a judge.

    Lengths that differ by no more than a share of the longer one are a tie; the share is searched
    from 0 to 1 by 0.01, and the least of equals is taken. It is the most that length and labels
    together can give, and the comparison for a reward model's in-sample tie threshold.

    Args:
        cases: pairs with labels.
        by_group: whether figures by group are wanted, too.
    """
    lengths = [_lengths(case) for case in cases]

    def winners(band: float) -> list[Winner]:
        return [_longer(first, second, band) for first, second in lengths]

    def n_right(band: float) -> int:
        return sum(winner == case.label for winner, case in zip(winners(band), cases, strict=True))

    band = max(_BANDS, key=n_right)
    note = (
        f"lengths that differ by at most {band:.0%} of the longer one are a tie, chosen in "
        "hindsight on these very labels: in-sample"
    )
    return _pair_row(
        cases,
        [_sure(case, winner) for case, winner in zip(cases, winners(band), strict=True)],
        "longest, best tie band",
        (note,),
        in_sample=True,
        by_group=by_group,
    )


def _sure(case: Case, winner: Winner) -> Verdict:
    """The verdict of a judge that gives the same one in both orders."""
    a, b, tie = (float(winner == each) for each in WINNERS)
    return settle(
        Verdict(
            case_id=case.id, judge="longest", winners=(winner, winner), probabilities=(a, b, tie)
        )
    )


def _lengths(case: Case) -> tuple[int, int]:
    first, second = (len(response.text.strip()) for response in case.responses)
    return first, second


def _longer(first: int, second: int, band: float) -> Winner:
    if abs(first - second) <= band * max(first, second):
        return "tie"
    return "a" if first > second else "b"


def _pair_row(
    cases: Sequence[Case],
    verdicts: Sequence[Verdict],
    name: str,
    notes: tuple[str, ...],
    *,
    in_sample: bool = False,
    by_group: bool,
) -> BoardRow:
    rows = [pair_row(case, verdict) for case, verdict in zip(cases, verdicts, strict=True)]
    decided = accuracy.compute([row for row in rows if row.label in ("a", "b")])
    if name == "longest" and decided.value is not None:
        notes += (f"right on {decided.value:.1%} of the pairs not labelled a tie",)
    return BoardRow(
        judge=name,
        status="trivial",
        kind="pairwise",
        generative=False,
        in_sample=in_sample,
        figures=by_name(figures(rows)),
        parts=_by_group(rows, figures) if by_group else {},
        sources=(ours(f"computed on {len(cases):,} cases"),),
        notes=notes,
    )


def _by_group(rows: Sequence[Row], figures_of: Figures) -> Parts:
    parts = broken_down(rows, figures_of, {"group": lambda row: group_name(row.scenario)})
    return {breakdown: in_order(found) for breakdown, found in parts.items()}


def longer_critique_row(first: Critiques, second: Critiques, cases: Sequence[Case]) -> BoardRow:
    """The length baseline: wins if the longer critique always won, ratings taken off.

    Args:
        first: the critic that wins or loses.
        second: the critic it is compared with.
        cases: what both wrote about, in the same order; one that lacks a critique is unscored.
    """
    rows = [
        pair_row(case, _by_length(case, one, other))
        for case, one, other in zip(cases, first.texts, second.texts, strict=True)
    ]
    return BoardRow(
        judge=first.critic,
        status="trivial",
        kind="single",
        figures=by_name(_votes(rows)),
        parts=_by_group(rows, _votes),
        sources=(ours(f"computed on {len(cases):,} cases"),),
        notes=("lengths are in characters, without the rating",),
    )


def _votes(rows: Rows) -> tuple[Estimate, ...]:
    return critique_figures(rows, both_orders=False)


def _by_length(case: Case, one: str | None, other: str | None) -> Verdict:
    winner: Winner | None = None
    if one is not None and other is not None:
        ours, theirs = (len(strip_rating(text).strip()) for text in (one, other))
        winner = "tie" if ours == theirs else "a" if ours > theirs else "b"
    return settle(Verdict(case_id=case.id, judge="longest", winners=(winner,)))
