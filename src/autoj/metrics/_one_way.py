"""Shares that a full verdict can only lower, from a cheap verdict on all cases and some full ones.

A pair whose first order is sure counts as consistent until both orders are asked. So the share that
asking everything would give is the cheap one, less the cases that would fall, of which a random
sample is known. Where few of the sample fall, their spread says little, and an interval by the
normal or Student's distribution is too narrow. Here the cases that fall are a share with an
interval of its own.

**Source:** the estimate is that of double sampling for stratification (W. G. Cochran, Sampling
Techniques, 1977, chapter 12); its two intervals, of all cases and of the sample, are joined as in
G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures", Statistics in
Medicine 27 (2008).
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from autoj.metrics._intervals import Floats, Ints, effective_size, jeffreys, wilson
from autoj.records import Estimate


def one_way_share(
    name: str,
    cheap: Floats,
    full: Floats,
    open_ones: NDArray[np.bool_],
    clusters: Ints,
    *,
    undefined: str,
) -> Estimate:
    """Estimates the share that full verdicts on all cases would give.

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
