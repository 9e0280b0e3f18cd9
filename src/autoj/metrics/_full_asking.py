"""Figures that asking every question would give, where only some were asked.

A cheap verdict stands for most pairs: that of one order, or of a cheap judge. Which pairs were
asked more depends on the answers, so the figures of those pairs are those of hard pairs. A random
share is asked in full whatever the cheap verdict says, and corrects the cheap figure of all pairs.

**Source:** `metrics._prediction_powered`: the cheap verdict is the prediction, and the full one of
the random share is the label. Figures of both orders can only fall by the second one, and have
intervals of their own (`one_way_share`).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from autoj.metrics import agreement, consistency, win_rate
from autoj.metrics._intervals import SHARES, Floats, Ints, effective_size, jeffreys, wilson
from autoj.metrics._prediction_powered import prediction_powered_of
from autoj.metrics.base import Row, Score, is_right
from autoj.records import Estimate

_NONE_DRAWN = "no pair of the random share has a verdict of all questions"
_NONE_SURE_DRAWN = "no pair of the random share has a sure first order and a verdict of both"
_ORDERS = ("consistency, all in full", "agreement, all in full")
"""Figures that take both orders: a sure first one stands for two that agree."""
_FIGURES: Mapping[str, Score] = {
    "win rate, all in full": win_rate.share,
    "verdict accuracy, all in full": is_right,
    "consistency, all in full": consistency.share,
    "agreement, all in full": lambda row: None if row.label is None else agreement.share(row),
}
"""Figures by name, each as a share of a case."""


@dataclass(slots=True)
class FullAsking:
    """Adds up pairs whose cheap verdict is known, and the full one of some."""

    orders: bool
    """True where the full verdict is from both orders, so that these have figures of their own."""
    _clusters: array[int] = field(default_factory=lambda: array("q"))
    _sure: array[int] = field(default_factory=lambda: array("b"))
    _cheap: dict[str, array[float]] = field(default_factory=dict)
    _full: dict[str, array[float]] = field(default_factory=dict)

    def add(self, cheap: Row, full: Row | None, *, sure: bool) -> None:
        """Counts a pair.

        Args:
            cheap: its row as if it had been asked by the rule alone.
            full: its row from all questions, if it was drawn to be asked them; None for a pair
                that was not drawn, even where the rule asked all of it.
            sure: True where the rule leaves it at the cheap verdict; else `cheap` is the full one.
        """
        self._clusters.append(cheap.cluster)
        self._sure.append(sure)
        for name, share in _FIGURES.items():
            for kept, row in ((self._cheap, cheap), (self._full, full)):
                value = None if row is None else share(row)
                kept.setdefault(name, array("d")).append(np.nan if value is None else value)

    def estimates(self) -> tuple[Estimate, ...]:
        """The figures that asking all pairs in full would give, with 95 % intervals over queries.

        A figure without any value, as accuracy without labels, is left out.
        """
        clusters = np.array(self._clusters, dtype=np.int64)
        sure = np.array(self._sure, dtype=np.bool_)
        found = []
        for name, kept in self._cheap.items():
            cheap = np.array(kept, dtype=np.float64)
            needs_orders = name in _ORDERS
            if np.isnan(cheap).all() or (needs_orders and not self.orders):
                continue
            full = np.array(self._full[name], dtype=np.float64)
            found.append(
                one_way_share(name, cheap, full, sure, clusters, undefined=_NONE_SURE_DRAWN)
                if needs_orders
                else prediction_powered_of(
                    name, cheap, full, clusters, span=SHARES, undefined=_NONE_DRAWN
                )
            )
        return tuple(found)


def one_way_share(
    name: str,
    cheap: Floats,
    full: Floats,
    open_ones: NDArray[np.bool_],
    clusters: Ints,
    *,
    undefined: str,
) -> Estimate:
    """Estimates the share that full verdicts on all cases would give, where they can only lower it.

    A pair whose first order is sure counts as consistent until both orders are asked. So the share
    that asking everything would give is the cheap one, less the cases that would fall, of which a
    random sample is known. Where few of the sample fall, their spread says little, and an interval
    by the normal or Student's distribution is too narrow. Here the cases that fall are a share with
    an interval of its own.

    **Source:** the estimate is that of double sampling for stratification (W. G. Cochran, Sampling
    Techniques, 1977, chapter 12); its two intervals, of all cases and of the sample, are joined as
    in G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures",
    Statistics in Medicine 27 (2008).

    Args:
        name: the figure's name.
        cheap: `[n]`, 1 or 0 by the cheap verdict; not a number where it is unscored.
        full: `[n]`, 1 or 0 by the full verdict, at most `cheap`; not a number where the case was
            not drawn.
        open_ones: `[n]`, True where the cheap verdict is not the full one, so that it may fall.
        clusters: `[n]`, a number shared by the cases of one query.
        undefined: the reason to give where none of those that may fall was drawn.
    """
    scored = ~np.isnan(cheap)
    n, n_unscored = int(scored.sum()), int((~scored).sum())
    cheap, full, clusters = cheap[scored], full[scored], clusters[scored]
    may_fall = open_ones[scored] & (cheap > 0)
    drawn = may_fall & ~np.isnan(full)
    # By the cheap verdicts: cases of one query are as alike in the full ones.
    n_clusters, size = effective_size(cheap, clusters)
    nothing = Estimate(
        name=name, value=None, n=n, n_clusters=n_clusters, n_unscored=n_unscored, reason=undefined
    )
    if may_fall.any() and not drawn.any():
        return nothing
    value, below, above = float(cheap.mean()), 0.0, 0.0
    if may_fall.any():
        fallen = 1 - full[drawn]
        share, weight = float(fallen.mean()), float(may_fall.mean())
        low, high = jeffreys(share, effective_size(fallen, clusters[drawn])[1])
        value -= weight * share
        # A sample of all cases that may fall leaves nothing unknown.
        unknown = weight**2 * (1 - drawn.sum() / may_fall.sum())
        below, above = unknown * (high - share) ** 2, unknown * (share - low) ** 2
    low, high = wilson(value, size)
    return replace(
        nothing,
        value=value,
        low=max(0.0, value - math.sqrt((value - low) ** 2 + below)),
        high=min(1.0, value + math.sqrt((high - value) ** 2 + above)),
        reason=None,
    )
