"""Sentences of a leaderboard: the baselines that each measured judge beats or does not beat."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from autoj.bench.leaderboard.board import Clearing
from autoj.reports import render


def clearing_lines(clearings: Sequence[Clearing]) -> list[tuple[bool, str]]:
    """A sentence for each measured judge and figure on the baselines that it beats.

    Returns:
        True if it beats all of them, and the sentence.
    """

    def key(clearing: Clearing) -> tuple[str, str, str]:
        return clearing.judge, clearing.source, clearing.figure

    return [
        (all(one.clears for one in found), _sentence(*names, found))
        for names, group in groupby(clearings, key=key)
        for found in [list(group)]
    ]


def _sentence(judge: str, source: str, figure: str, clearings: Sequence[Clearing]) -> str:
    beaten = " and ".join(clearing.trivial for clearing in clearings if clearing.clears)
    unbeaten = ", ".join(_against(clearing) for clearing in clearings if not clearing.clears)
    said = [f"does not beat the baseline {unbeaten}"] if unbeaten else []
    said += [f"beats {beaten}"] if beaten else []
    how = "" if clearings[0].difference is not None else " (intervals compared, not cases)"
    return f"{judge} ({source}) on {figure}: {'; '.join(said)}{how}."


def _against(clearing: Clearing) -> str:
    found = clearing.difference
    if found is None or found.value is None:
        return clearing.trivial
    unit = " points" if render.is_share(clearing.figure) else ""
    return f"{clearing.trivial} ({render.estimate_cell(found, signed=True)}{unit})"
