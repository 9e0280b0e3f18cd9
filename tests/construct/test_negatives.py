"""Pairs that need no teacher: their shares, what they say of themselves, and what is thinned."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from autoj.construct.negatives import add_negatives, wanted_kinds
from autoj.construct.pipeline import construct
from autoj.construct.recipe import DAMAGE_SHARES, ConstructRecipe, Negatives
from autoj.construct.stages import Dropped, Outcome
from autoj.construct.thinning import says_longer, says_overlap
from autoj.records import Case, Response, normalise_query

N = 120


def case(number: int) -> Case:
    """A pair with all that can be damaged; its query states a constraint in every third one."""
    query = f"Tell me about bridge {number} of Bern"
    if number % 3 == 0:
        query += ". Answer in at most 60 words."
    text = (
        f"The bridge of Bern was finished in {1800 + number}. It is {100 + number} metres long, "
        "and engineers such as Barry and Jones said that steel is stronger than stone. "
    )
    return Case(
        id=f"{number}",
        query=query,
        responses=(
            Response(text=text + "It is painted each year. " * (number % 4)),
            Response(text=f"Bridge {number} is about stone. " * (1 + number % 5)),
        ),
        label=("a", "b", "tie")[number % 3] if number % 2 else "a",
        scenario="open_question",
        cluster=normalise_query(query),
    )


CASES = [case(number) for number in range(N)]
EMBEDDINGS = (
    np.eye(8, dtype=np.float32)[[number % 2 for number in range(N)]]
    + np.random.default_rng(0).normal(scale=0.25, size=(N, 8))
).astype(np.float32)


def stage(**settings: Any) -> Negatives:
    return Negatives.model_validate({"stage": "negatives", **settings})


def made_by(wanted: Negatives, seed: int = 0) -> tuple[list[Outcome], dict[str, Any]]:
    notes: dict[str, Any] = {}
    outcomes = list(add_negatives(CASES, wanted, EMBEDDINGS, seed, notes))
    assert outcomes[:N] == CASES
    return outcomes[N:], notes


def test_each_rule_is_right_half_of_the_time_and_what_went_is_named() -> None:
    made, notes = made_by(stage(borrowed=0.5, both_borrowed=0.1, damaged=0.5))
    kept = [item for item in made if isinstance(item, Case)]
    dropped = [item for item in made if isinstance(item, Dropped)]
    assert kept
    assert dropped
    assert {item.reason for item in dropped} <= {"decided by length", "decided by word overlap"}
    assert all(item.case is not None and item.detail for item in dropped)
    decided = [item for item in kept if item.label != "tie"]
    assert sum(map(says_longer, decided)) == sum(map(says_overlap, decided)) == 0
    assert [one["value"] for one in notes["rules"]["after"]] == [0.5, 0.5]
    assert notes["rules"]["before"][0]["n"] > notes["rules"]["after"][0]["n"]
    for kind, counts in notes["made"].items():
        assert counts["n_kept"] == sum(item.meta["made"] == kind for item in kept)
        assert counts["n_kept"] <= counts["n_made"] <= counts["n_wanted"]
    assert made_by(stage(borrowed=0.5, both_borrowed=0.1, damaged=0.5))[0] == made


def test_each_row_says_how_it_was_made() -> None:
    made, _ = made_by(stage(borrowed=0.2, both_borrowed=0.1, damaged=0.5, thin=0))
    by_id = {one.id: one for one in CASES}
    kinds = Counter()
    for item in made:
        assert isinstance(item, Case)
        origin = by_id[item.meta["made_of"]]
        assert (item.query, item.scenario) == (origin.query, origin.scenario)
        assert item.id == f"{origin.id}+{item.meta['made']}"
        kinds[item.meta["made"]] += 1
        if item.meta["made"] == "constraint_broken":
            assert item.meta["constraint"] == "at most 60 words"
    assert {"borrowed", "both_borrowed", "constraint_broken", "padded"} <= set(kinds)
    assert len({item.id for item in made}) == len(made)


def test_the_shares_of_a_recipe_hold() -> None:
    shares = {"padded": 2.0, "cut_off": 1.0, "changed_numbers": 1.0}
    made, notes = made_by(stage(borrowed=0, both_borrowed=0, damaged=0.4, damages=shares, thin=0))
    assert Counter(item.meta["made"] for item in made if isinstance(item, Case)) == {
        "padded": 24, "cut_off": 12, "changed_numbers": 12,
    }  # fmt: skip
    assert notes["made"]["padded"] == {"n_wanted": 24, "n_made": 24, "n_kept": 24}
    assert notes["made"]["borrowed"]["n_wanted"] == 0
    assert set(wanted_kinds(stage(), 100)) == {"borrowed", "both_borrowed", *DAMAGE_SHARES}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"damages": {"scratched": 1}}, "damages.scratched"),
        ({"damages": {"padded": -1}}, "greater than or equal to 0"),
        ({"damages": {"padded": 0}}, "at least one kind"),
        ({"thin": 1.5}, "less than or equal to 1"),
    ],
)
def test_shares_that_cannot_be(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        stage(**settings)


def test_in_is_kept_and_dropped_and_made_is_extra(recipe: ConstructRecipe, tmp_path: Path) -> None:
    """Over all stages, by the ids of their rows, also with several sources."""
    other = recipe.sources[0].model_copy(update={"name": "other", "limit": 30})
    both = recipe.model_copy(update={"sources": (*recipe.sources, other)})
    done = construct(both, tmp_path / "out")
    before: set[str] | None = None
    for number, summary in enumerate(done.summaries, start=1):
        folder = done.stage(str(number))
        kept = [one.id for one in folder.kept()]
        dropped = [one.id for one in folder.dropped()]
        after = set(kept) | set(dropped)
        assert len(after) == len(kept) + len(dropped)
        assert (len(kept), len(dropped)) == (summary.n_kept, sum(summary.dropped.values()))
        assert summary.n_in + summary.n_made == len(after)
        if before is not None:
            assert before <= after
            assert len(before) == summary.n_in
            assert len(after - before) == summary.n_made
        before = set(kept)
    assert {one.id.partition("/")[0] for one in done.stage("collect").kept()} == {"own", "other"}
