"""Evaluates critiques of responses with a planted error and of their clean twins.

The figures of a `Result`, by name:

- `planted errors named`: the share of planted errors that the critique names; MetaCritique's
  recall, as each row has one thing to say;
- `clean twins accused`: the share of clean twins whose critique claims an error;
- `named, twin spared`: the share of rows with the first and without the second: a critic that
  complains of everything has none;
- `precision`: the share of all claimed errors, of both responses, that name the planted one;
- `F1`: the harmonic mean of precision and `planted errors named`;
- `quotations held`: the share of quotations that stand in the response or the query;
- `argues for its verdict`: the share of ratings of at most 4 whose critique mostly finds fault, and
  of at least 7 whose critique mostly praises; ratings between them are unscored;
- `clean twin rated higher`: an equal rating counts half.

A critique that failed or could not be read is unscored everywhere, and never a miss.

**Source:** the frame of precision, recall and F1 is S. Sun et al., "The Critique of Critique"
(MetaCritique, 2024), which lets GPT-4 judge atomic units; here rules compare with known errors.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from autoj.bench.critique_quality.matching import Reading, read_planted_critique
from autoj.bench.critique_quality.planted import PlantedError
from autoj.metrics import SHARES, Floats, Ints, from_totals
from autoj.metrics.base import proportion_of
from autoj.metrics.result import Result
from autoj.metrics.rows import cluster_number
from autoj.records import Estimate, Verdict, normalise_query
from autoj.verdicts.claims import stance_of
from autoj.verdicts.critique_faults import HIGH, LOW

BENCH = "critique-quality"
"""The name of these results."""
Side: TypeAlias = Literal["planted", "clean"]
_TEMPLATE = (
    "The response is mostly clear, but it contains an error and leaves out important details. "
    "Some of its statements are inaccurate, so it should be checked before it is used."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A critic's text on one response, with its rating; None where there is none."""

    critique: str | None
    rating: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPair:
    """A critic's texts on a row's two responses."""

    planted: Written
    clean: Written


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """A row with the readings of its two critiques."""

    row: PlantedError
    written: WrittenPair
    planted: Reading | None
    clean: Reading | None


_Score: TypeAlias = Callable[[_Scored], float | None]


def pairs_of(verdicts: Sequence[Verdict]) -> list[WrittenPair]:
    """The critiques of a run on the cases of `planted_cases`, row by row.

    Args:
        verdicts: in the cases' order: a row's planted response, then its clean twin.
    """
    written = [
        Written(
            critique=each.critiques[0] if each.critiques else None,
            rating=each.ratings[0] if each.ratings else None,
        )
        for each in verdicts
    ]
    return [
        WrittenPair(planted=planted, clean=clean)
        for planted, clean in zip(written[::2], written[1::2], strict=True)
    ]


def shuffled(pairs: Sequence[WrittenPair], seed: int = 0) -> list[WrittenPair]:
    """Each row with the critiques of another one: the baseline of naming by chance.

    Args:
        pairs: a critic's texts; of at least two rows each gets another's.
        seed: of the order.
    """
    order = list(range(len(pairs)))
    random.Random(seed).shuffle(order)
    donors = dict(zip(order, order[1:] + order[:1], strict=True))
    return [pairs[donors[index]] for index in range(len(pairs))]


def template_pairs(rows: Sequence[PlantedError]) -> list[WrittenPair]:
    """One general complaint about every response."""
    same = Written(critique=_TEMPLATE)
    return [WrittenPair(planted=same, clean=same)] * len(rows)


def echoed_pairs(rows: Sequence[PlantedError]) -> list[WrittenPair]:
    """Every response repeated as a whole, called wrong: it holds each name and points nowhere."""
    return [
        WrittenPair(
            planted=Written(critique=f"This is wrong: {row.planted}"),
            clean=Written(critique=f"This is wrong: {row.clean}"),
        )
        for row in rows
    ]


def evaluate(
    rows: Sequence[PlantedError],
    pairs: Sequence[WrittenPair],
    *,
    critic: str,
    source: str,
    notes: tuple[str, ...] = (),
) -> Result:
    """The figures of a critic's texts, overall, by kind of error and by group.

    Args:
        rows: the planted errors.
        pairs: the critic's texts on each.
        critic: its name.
        source: the origin of the texts, in words.
        notes: caveats.
    """
    scored = [_scored(row, pair) for row, pair in zip(rows, pairs, strict=True)]
    return Result(
        bench=BENCH,
        judge=critic,
        source=source,
        n_cases=len(rows),
        estimates=_figures(scored),
        parts={
            name: parts
            for name, part_of in (("kind", _kind), ("group", _group))
            if (parts := _parts(scored, part_of))
        },
        notes=notes,
        details={
            "cases": [
                {
                    "id": each.row.id,
                    "named": None if each.planted is None else each.planted.names_error,
                    "accused": None if each.clean is None else each.clean.accuses,
                    "planted": None if each.planted is None else each.planted.n_claims,
                    "clean": None if each.clean is None else each.clean.n_claims,
                }
                for each in scored
            ]
        },
    )


def baselines(rows: Sequence[PlantedError], pairs: Sequence[WrittenPair] | None) -> list[Result]:
    """The results of texts that read nothing.

    Args:
        rows: the planted errors.
        pairs: a critic's texts, which are shuffled; None leaves that baseline out.
    """
    found = [
        ("template", "one general complaint about every response", template_pairs(rows)),
        ("echo", 'the response itself after "This is wrong"', echoed_pairs(rows)),
    ]
    if pairs is not None and len(pairs) > 1:
        found.insert(0, ("shuffled", "the critiques of other rows", shuffled(pairs)))
    return [
        _without_cases(evaluate(rows, its, critic=name, source=source))
        for name, source, its in found
    ]


def _without_cases(result: Result) -> Result:
    return replace(result, details={})


def _scored(row: PlantedError, pair: WrittenPair) -> _Scored:
    def reading(written: Written, side: Side) -> Reading | None:
        if written.critique is None:
            return None
        return read_planted_critique(written.critique, row, side)

    return _Scored(
        row=row,
        written=pair,
        planted=reading(pair.planted, "planted"),
        clean=reading(pair.clean, "clean"),
    )


def _kind(scored: _Scored) -> str | None:
    return scored.row.kind


def _group(scored: _Scored) -> str | None:
    return scored.row.group


def _parts(
    scored: Sequence[_Scored], part_of: Callable[[_Scored], str | None]
) -> dict[str, tuple[Estimate, ...]]:
    found: dict[str, list[_Scored]] = {}
    for each in scored:
        if (name := part_of(each)) is not None:
            found.setdefault(name, []).append(each)
    return {name: _figures(its) for name, its in sorted(found.items())}


def _figures(scored: Sequence[_Scored]) -> tuple[Estimate, ...]:
    return (
        _share("planted errors named", scored, [_named]),
        _share("clean twins accused", scored, [_accused]),
        _share("named, twin spared", scored, [_tells_apart]),
        _ratio("precision", scored, _claims, _precision, "no critique claims an error"),
        _ratio("F1", scored, _claims, _f1, "no critique claims an error"),
        _ratio("quotations held", scored, _quotations, _held, "no critique quotes anything"),
        _share("argues for its verdict", scored, [_argues("planted"), _argues("clean")]),
        _share("clean twin rated higher", scored, [_rated_higher]),
    )


def _share(name: str, scored: Sequence[_Scored], scores: Sequence[_Score]) -> Estimate:
    """The mean of some scores of each row."""
    found = [(each, score(each)) for each in scored for score in scores]
    known = [(each, value) for each, value in found if value is not None]
    values = np.array([value for _, value in known], dtype=np.float64)
    return proportion_of(
        name, values, _clusters([each for each, _ in known]), len(found) - len(known)
    )


def _ratio(
    name: str,
    scored: Sequence[_Scored],
    adds: Callable[[Reading, Reading], tuple[float, ...]],
    statistic: Callable[[Floats], Floats],
    undefined: str,
) -> Estimate:
    """A figure of totals over the rows of which both critiques are there."""
    known = [
        (each, adds(each.planted, each.clean))
        for each in scored
        if each.planted is not None and each.clean is not None
    ]
    return from_totals(
        name,
        np.array([totals for _, totals in known], dtype=np.float64),
        _clusters([each for each, _ in known]),
        statistic,
        span=SHARES,
        # As for other F1s: the scale is Fisher's, cut at 0.
        fisher=True,
        undefined=undefined,
        n_unscored=len(scored) - len(known),
    )


def _clusters(scored: Sequence[_Scored]) -> Ints:
    numbers = [cluster_number(normalise_query(each.row.query)) for each in scored]
    return np.array(numbers, dtype=np.int64)


def _named(scored: _Scored) -> float | None:
    return None if scored.planted is None else float(scored.planted.names_error)


def _accused(scored: _Scored) -> float | None:
    return None if scored.clean is None else float(scored.clean.accuses)


def _tells_apart(scored: _Scored) -> float | None:
    if scored.planted is None or scored.clean is None:
        return None
    return float(scored.planted.names_error and not scored.clean.accuses)


def _argues(side: Side) -> _Score:
    def score(scored: _Scored) -> float | None:
        written = scored.written.planted if side == "planted" else scored.written.clean
        if written.critique is None or written.rating is None:
            return None
        if LOW < written.rating < HIGH:
            return None
        wanted = "fault" if written.rating <= LOW else "praise"
        return float(stance_of(written.critique) == wanted)

    return score


def _rated_higher(scored: _Scored) -> float | None:
    clean, planted = scored.written.clean.rating, scored.written.planted.rating
    if clean is None or planted is None:
        return None
    return 0.5 if clean == planted else float(clean > planted)


def _claims(planted: Reading, clean: Reading) -> tuple[float, ...]:
    """Right claims, all claims, errors that are named, rows."""
    return planted.n_right, planted.n_claims + clean.n_claims, float(planted.names_error), 1.0


def _precision(totals: Floats) -> Floats:
    return totals[..., 0] / totals[..., 1]


def _f1(totals: Floats) -> Floats:
    precision, recall = _precision(totals), totals[..., 2] / totals[..., 3]
    both = precision + recall
    # Nothing right at all is an F1 of 0, not one that is undefined.
    safe = np.where(both == 0, 1.0, both)
    return np.asarray(2 * precision * recall / safe)


def _quotations(planted: Reading, clean: Reading) -> tuple[float, ...]:
    """Quotations that are held, and all."""
    return (
        planted.n_quotations_held + clean.n_quotations_held,
        planted.n_quotations + clean.n_quotations,
    )


def _held(totals: Floats) -> Floats:
    return totals[..., 0] / totals[..., 1]
