"""Sentences of a leaderboard: the baselines that each measured judge beats or does not beat."""

from collections.abc import Sequence
from itertools import groupby

from autoj.bench.leaderboard.board import BaselineComparison
from autoj.reports import render


def baseline_lines(against_baselines: Sequence[BaselineComparison]) -> list[tuple[bool, str]]:
    """A sentence for each measured judge and figure on the baselines that it beats.

    Returns:
        True if it beats all of them, and the sentence.
    """

    def key(compared: BaselineComparison) -> tuple[str, str, str]:
        return compared.judge, compared.source, compared.figure

    return [
        (all(one.beats for one in found), _sentence(*names, found))
        for names, group in groupby(against_baselines, key=key)
        for found in [list(group)]
    ]


def _sentence(
    judge: str, source: str, figure: str, comparisons: Sequence[BaselineComparison]
) -> str:
    beaten = " and ".join(compared.baseline for compared in comparisons if compared.beats)
    unbeaten = ", ".join(_against(compared) for compared in comparisons if not compared.beats)
    said = [f"does not beat the baseline {unbeaten}"] if unbeaten else []
    said += [f"beats {beaten}"] if beaten else []
    how = "" if comparisons[0].difference is not None else " (intervals compared, not cases)"
    return f"{judge} ({source}) on {figure}: {'; '.join(said)}{how}."


def _against(compared: BaselineComparison) -> str:
    found = compared.difference
    if found is None or found.value is None:
        return compared.baseline
    unit = " points" if render.is_share(compared.figure) else ""
    return f"{compared.baseline} ({render.estimate_cell(found, signed=True)}{unit})"
