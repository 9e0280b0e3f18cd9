"""Adds pairs whose label needs neither people nor a teacher, in the shares that a recipe states."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, pairwise
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autoj.construct.borrowing import Borrowing, borrowed_pairs
from autoj.construct.constraints import break_constraint
from autoj.construct.damage import DAMAGES
from autoj.construct.recipe import DamageKind, Negatives
from autoj.construct.stages import Dropped, Outcome
from autoj.construct.thinning import accuracy_of_rules, thin
from autoj.records import Case, Response, Winner
from autoj.scenarios.classifier.sentences import SentenceEncoder, model_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKind:
    """The made pairs of one kind."""

    n_wanted: int
    """By the shares of the recipe."""
    n_made: int
    n_kept: int
    """After those that a rule decides were thinned."""


def check_encoder(stage: Negatives) -> None:
    """Checks that responses can be borrowed, where a stage wants any.

    Raises:
        MissingExtra: the sentence encoder is not installed.
    """
    if stage.borrows:
        model_folder()


def embed_queries(cases: Sequence[Case]) -> NDArray[np.float32]:
    """Embeds the queries of cases: [n_cases, n_dimensions].

    Raises:
        MissingExtra: the sentence encoder is not installed.
    """
    return SentenceEncoder().embed([case.query for case in cases])


def pairs_among(cases: Sequence[Case]) -> list[Case]:
    """The rows with two responses."""
    return [case for case in cases if len(case.responses) == 2]


def add_negatives(
    cases: Sequence[Case],
    stage: Negatives,
    embeddings: NDArray[np.float32] | None,
    seed: int,
    notes: dict[str, Any],
) -> Iterator[Outcome]:
    """The cases, and after them the pairs that are made of them.

    Args:
        cases: rows; those of single responses go on as they are.
        stage: the share of each kind of pair.
        embeddings: [n_pairs, n_dimensions], of the pairs' queries; None where nothing is borrowed.
        seed: the seed of all draws.
        notes: receives `made`, a `MadeKind` for each kind, and `rules`: the accuracy of each rule
            among the made pairs, `before` and `after` thinning.

    Yields:
        Cases; a made one has `meta.made`, its kind, and `meta.made_of`, the id of its origin. Made
        pairs that a rule decides are dropped.
    """
    yield from cases
    pairs = pairs_among(cases)
    wanted = wanted_kinds(stage, len(pairs))
    made: list[Case] = []
    if embeddings is not None:
        borrowing = Borrowing(n_against_own=wanted["borrowed"], n_ties=wanted["both_borrowed"])
        for pair in borrowed_pairs(pairs, embeddings, borrowing, seed):
            origin = pair.id.rpartition("+")[0]
            made.append(replace(pair, meta={**pair.meta, "made_of": origin}))
    damaged = Counter({kind: wanted[kind] for kind in stage.damages})
    made += _damaged(pairs, damaged, Random(seed))
    kept: list[Case] = []
    for item in thin(made, stage.thin, seed):
        if isinstance(item, Case):
            kept.append(item)
            yield item
        else:
            yield Dropped(id=item.case.id, reason=item.reason, detail=item.detail, case=item.case)
    n_made, n_kept = _by_kind(made), _by_kind(kept)
    notes["made"] = {
        kind: asdict(MadeKind(n_wanted=n, n_made=n_made[kind], n_kept=n_kept[kind]))
        for kind, n in wanted.items()
    }
    notes["rules"] = {
        "before": [asdict(one) for one in accuracy_of_rules(made)],
        "after": [asdict(one) for one in accuracy_of_rules(kept)],
    }


def wanted_kinds(stage: Negatives, n_pairs: int) -> dict[str, int]:
    """The number of pairs of each kind that a stage asks for, of so many pairs."""
    whole = sum(stage.damages.values()) or 1.0
    n_damaged = round(stage.damaged * n_pairs)
    # Rounded sums, not shares, add up to the number of all.
    ends = [round(n_damaged * end / whole) for end in accumulate(stage.damages.values(), initial=0)]
    return {
        "borrowed": round(stage.borrowed * n_pairs),
        "both_borrowed": round(stage.both_borrowed * n_pairs),
        **{
            kind: end - start
            for kind, (start, end) in zip(stage.damages, pairwise(ends), strict=True)
        },
    }


def _by_kind(cases: Sequence[Case]) -> Counter[object]:
    return Counter(case.meta["made"] for case in cases)


def _damaged(
    cases: Sequence[Case], wanted: Counter[DamageKind], generator: Random
) -> Iterator[Case]:
    """Pairs of a preferred response and its damaged copy; of each case at most one.

    Args:
        cases: pairs.
        wanted: the number of pairs of each kind; it is counted down.
        generator: the source of all draws.
    """
    for case in generator.sample(cases, len(cases)):
        if not +wanted:
            return
        better = _preferred(case)
        if better is None:
            continue
        for kind in _in_drawn_order(+wanted, generator):
            if (found := _damaged_copy(kind, case.query, better.text, generator)) is not None:
                wanted[kind] -= 1
                worse, meta = found
                yield _pair(case, better, Response(text=worse), kind, meta, generator)
                break


def _in_drawn_order(wanted: Counter[DamageKind], generator: Random) -> list[DamageKind]:
    """The kinds that are still wanted, in a random order that favours what is wanted most."""
    order = sorted(wanted, key=lambda kind: generator.random() ** (1 / wanted[kind]), reverse=True)
    # Few queries state a constraint, so those that do are not spent on another kind.
    return sorted(order, key=lambda kind: kind != "constraint_broken")


def _damaged_copy(
    kind: DamageKind, query: str, text: str, generator: Random
) -> tuple[str, dict[str, str]] | None:
    """A damaged copy and more about it; None where the text has nothing to damage in that way."""
    if kind == "constraint_broken":
        broken = break_constraint(query, text, generator)
        return None if broken is None else (broken[0], {"constraint": broken[1]})
    copy = DAMAGES[kind](text, generator)
    return None if copy is None or copy == text else (copy, {})


def _pair(
    case: Case,
    better: Response,
    worse: Response,
    kind: str,
    meta: dict[str, str],
    generator: Random,
) -> Case:
    first = generator.random() < 0.5
    label: Winner = "a" if first else "b"
    return replace(
        case,
        id=f"{case.id}+{kind}",
        responses=(better, worse) if first else (worse, better),
        label=label,
        meta={"made": kind, "made_of": case.id, **meta},
    )


def _preferred(case: Case) -> Response | None:
    if case.label == "a":
        return case.responses[0]
    return case.responses[1] if case.label == "b" else None
