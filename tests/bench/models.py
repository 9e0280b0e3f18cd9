"""Runs over the outputs of made-up models."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoj.records import Case, Response, Verdict, normalise_query


def judged(ratings: np.ndarray[Any, Any], names: str, n_set: int = 0) -> list[tuple[Case, Verdict]]:
    """Cases of one response each: `[n_queries, n_models]` ratings; not a number is unreadable."""
    found = []
    for number, row in enumerate(ratings):
        for name, rating in zip(names, row, strict=True):
            query = f"Question {number}?"
            case = Case(
                id=f"{name}/{number}",
                query=query,
                cluster=normalise_query(query),
                responses=(Response(text="x" * (ord(name) % 7 + 1), model=name),),
                meta={"n_set_queries": n_set} if n_set else {},
            )
            is_known = bool(np.isfinite(rating))
            verdict = Verdict(
                case_id=case.id,
                judge="j",
                ratings=(float(rating) if is_known else None,),
                n_unreadable=int(not is_known),
            )
            found.append((case, verdict))
    return found
