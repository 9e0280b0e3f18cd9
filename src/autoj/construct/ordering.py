"""The order of a pair's responses: exchanged with all that depends on it, and drawn by a seed."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from autoj.critiques import swap_responses
from autoj.records import Case, Winner

_SWAPPED: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}
_PER_RESPONSE = ("models", "reference_scores")
"""Lists of `meta` with a value per response."""


def with_drawn_order(case: Case, seed: int) -> Case:
    """A pair in the order that its id and the seed draw: as it stands, or exchanged.

    One with a judgment of its own stays as it is: no teacher sees it, the mix shows such pairs in
    both orders, and a text need not be rewritten before that.
    """
    if len(case.responses) != 2 or "judgment" in case.meta:
        return case
    digest = hashlib.sha256(f"{seed} order {case.id}".encode("utf-8", "surrogatepass")).digest()
    return swapped(case) if digest[0] % 2 else case


def swapped(case: Case) -> Case:
    """A pair with its responses exchanged, and its label, its judgment and `meta` with them.

    Of `meta` this exchanges the fields that stand in pairs (`score_a`, `score_b`) and the lists of
    models and reference scores. Twice is the identity.

    >>> from autoj.records import Response
    >>> case = Case(id="1", query="Why?", cluster="why", label="a",
    ...             responses=(Response(text="So."), Response(text="No.")),
    ...             meta={"score_a": 1, "score_b": 0})
    >>> swapped(case).label, swapped(case).meta
    ('b', {'score_a': 0, 'score_b': 1})
    """
    label = None if case.label is None else _SWAPPED[cast(Winner, case.label)]
    return replace(case, responses=case.responses[::-1], label=label, meta=_swapped_meta(case.meta))


def _swapped_meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: meta[_twin(name, meta)] for name in meta}
    for name in _PER_RESPONSE:
        if isinstance(found.get(name), list) and len(found[name]) == 2:
            found[name] = found[name][::-1]
    if isinstance(found.get("judgment"), str):
        found["judgment"] = swap_responses(found["judgment"])
    return found


def _twin(name: str, meta: Mapping[str, Any]) -> str:
    """The field of the other response; the same one for a field that belongs to none."""
    for side, other in (("_a", "_b"), ("_b", "_a"), ("_A", "_B"), ("_B", "_A")):
        if name.endswith(side) and (twin := name.removesuffix(side) + other) in meta:
            return twin
    return name
