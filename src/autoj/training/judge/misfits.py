"""The error of data that an objective of a recipe cannot learn from."""

from collections.abc import Iterable, Sequence

from autoj.errors import ConfigError
from autoj.training.judge.plans import RowKinds, SamplePlan
from autoj.training.judge.recipe import Objective

_PAIRS_RECIPE = "recipes/pairs.yaml"


def no_row_fits(objective: Objective, plans: Iterable[SamplePlan]) -> ConfigError:
    """States what an objective needs, what the data hold, and the recipe that fits them.

    Args:
        objective: the first objective of a recipe without a sample.
        plans: the data's.
    """
    kinds = [plan.kinds for plan in plans]
    return ConfigError(
        f"no row of the data fits objective {objective.kind!r} ({objective.protocol}), which "
        f"needs {_needs(objective)}; the data hold {_held(kinds)}",
        hint=_hint(objective, kinds),
    )


def _needs(objective: Objective) -> str:
    if objective.kind == "scenario":
        return "queries with a scenario"
    pair = objective.subject == "pair"
    rows = "pairs with a label (a, b or tie)" if pair else "single responses with a rating as label"
    if objective.kind == "judgment":
        rows = "pairs" if pair else "single responses"
    if objective.kind in ("judgment", "critique"):
        rows += ", with a judgment in `target_output` or `meta.judgment`"
    return rows + (f", in language {objective.language!r}" if objective.language else "")


def _held(kinds: Sequence[RowKinds]) -> str:
    counted = [
        (sum(found.labelled_pairs for found in kinds), "pairs with a label"),
        (sum(found.other_pairs for found in kinds), "pairs without one"),
        (sum(found.rated for found in kinds), "single responses with a rating"),
        (sum(found.unrated for found in kinds), "single responses without one"),
        (sum(found.others for found in kinds), "rows with another number of responses"),
    ]
    n_judged = sum(found.judged for found in kinds)
    listed = ", ".join(f"{n:,} {what}" for n, what in counted if n) or "no rows"
    return f"{listed}; {n_judged:,} of them with a judgment"


def _hint(objective: Objective, kinds: Sequence[RowKinds]) -> str:
    if any(found.labelled_pairs for found in kinds) and not objective.compares_ratings:
        return f"Pairs with labels alone are what {_PAIRS_RECIPE} trains on."
    if any(found.rated for found in kinds) and objective.compares_ratings:
        return (
            "Set pairs_from_ratings in the recipe, which makes pairs of rated responses to one "
            "query, or take an objective that learns ratings (decision, single-verdict)."
        )
    return (
        "Take the objective out of the recipe, or add rows that it can learn from "
        "(docs/reference/recipes.md)."
    )
