"""Rewards for trainers that have no word for a judgment that failed: an error is raised."""

from __future__ import annotations

import functools

from autoj.api import Judge
from autoj.errors import BackendError
from autoj.records import Verdict


@functools.cache
def loaded_judge(name: str) -> Judge:
    """Loads a judge once per process: trainers call a function again for each batch.

    Args:
        name: what `Judge.load` takes.
    """
    return Judge.load(name)


def rating_of(verdict: Verdict) -> float:
    """The rating of a response, 1.0 to 10.0.

    Raises:
        BackendError: its judgment failed or could not be read.
    """
    (rating,) = verdict.ratings
    if rating is None:
        what = "failed" if verdict.n_failed else "could not be read"
        raise BackendError(f"the judgment of {verdict.case_id} {what}, so it has no reward")
    return rating
