r"""Heads of an embedded judge's adapter: what its states know of people's votes beyond its answers.

    python -m benchmarks.choice_heads read rating votes.jsonl right.jsonl held.jsonl --out states
    python -m benchmarks.choice_heads fit rating --states states --votes votes --right right \
        --validation held --out rating.safetensors
    python -m benchmarks.choice_heads add rating.safetensors comparison.safetensors \
        --adapter src/autoj/judges/embedded-1.5b-adapter/adapter_model.safetensors

`read` asks the judge about each pair, for a rating of both responses or for a `comparison` in both
orders, and keeps the choices' log-probabilities with the state that they follow from, in a file per
50 pairs, so that it may be stopped at any time. `fit` learns a head from them in seconds, says what
it is worth, and writes it. `add` puts heads into an adapter's file and prints its new revision.

Files are of native rows with labels `a`, `b` and `tie`; ratings pass over ties. Of `--votes` people
chose, so that even a much better response loses at times; of `--right` one is right. Pairs that the
judge was trained on tell nothing: its answers about these are learnt by heart.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.choice_heads import comparisons, ratings
from benchmarks.choice_heads.adding import add_heads, save_head
from benchmarks.choice_heads.reading import Read, joined, load_read, read


def main() -> None:
    """Reads states, fits a head to those that were read, or adds heads to an adapter."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    tasks = parser.add_subparsers(dest="task", required=True)
    reads = tasks.add_parser("read")
    reads.add_argument("asked", choices=("rating", "comparison"))
    reads.add_argument("data", type=Path, nargs="+")
    reads.add_argument("--judge", default="embedded-1.5b")
    reads.add_argument("--out", type=Path, required=True)
    fits = tasks.add_parser("fit")
    fits.add_argument("asked", choices=("rating", "comparison"))
    fits.add_argument("--states", type=Path, required=True)
    fits.add_argument("--votes", nargs="+", required=True)
    fits.add_argument("--right", nargs="+", required=True)
    fits.add_argument("--validation", nargs="+", default=[])
    fits.add_argument("--share-right", type=float, default=1.0)
    fits.add_argument("--share-ties", type=float, default=0.25)
    fits.add_argument("--penalties", type=float, nargs="+", default=[30.0, 3.0])
    fits.add_argument("--sure", type=float, default=0.8)
    fits.add_argument("--out", type=Path)
    adds = tasks.add_parser("add")
    adds.add_argument("heads", type=Path, nargs="+")
    adds.add_argument("--adapter", type=Path, required=True)
    asked = parser.parse_args()
    if asked.task == "read":
        asked.out.mkdir(parents=True, exist_ok=True)
        for data in asked.data:
            read(asked.judge, asked.asked, data, asked.out)
    elif asked.task == "add":
        print(add_heads(asked.adapter, asked.heads))
    elif asked.asked == "rating":
        _fit_ratings(asked)
    else:
        _fit_comparisons(asked)


def _fit_ratings(asked: argparse.Namespace) -> None:
    votes, right = (ratings.decided(_all(asked, names)) for names in (asked.votes, asked.right))
    penalty = asked.penalties[0]
    weight, bias = ratings.fit(votes, right, share_right=asked.share_right, penalty=penalty)
    for name in (*asked.votes, *asked.right, *asked.validation):
        pairs = ratings.decided(_all(asked, [name]))
        seen = "" if name in asked.validation else ", which it was fitted to"
        print(_told(f"{name} without", ratings.figures(pairs, np.zeros_like(weight), 0.0)))
        print(_told(f"{name} with{seen}", ratings.figures(pairs, weight, bias)))
    if asked.out is not None:
        save_head("rating", weight[None], np.array([bias]), asked.out)


def _fit_comparisons(asked: argparse.Namespace) -> None:
    votes, right = _all(asked, asked.votes), _all(asked, asked.right)
    order, tie = asked.penalties
    settings = comparisons.Fitting(
        share_right=asked.share_right, penalties=(order, tie), share_ties=asked.share_ties
    )
    held_out = comparisons.held_out(votes, right, settings)
    for name, pairs, scored in zip(("votes", "right"), (votes, right), held_out, strict=True):
        print(_told(f"{name} without", comparisons.figures(pairs)))
        print(_told(f"{name} with, held out", comparisons.figures(scored)))
    print(comparisons.sureness(held_out[0], asked.sure))
    weight, bias = comparisons.fit(votes, right, settings)
    for name in asked.validation:
        pairs = _all(asked, [name])
        print(_told(f"{name} without", comparisons.figures(pairs)))
        print(_told(f"{name} with", comparisons.figures(comparisons.moved(pairs, weight, bias))))
    if asked.out is not None:
        save_head("comparison", weight, bias, asked.out)


def _all(asked: argparse.Namespace, names: list[str]) -> Read:
    return joined([load_read(asked.states, asked.asked, name) for name in names])


def _told(name: str, found: dict[str, float]) -> str:
    values = " ".join(f"{key} {value:.3f}" for key, value in found.items() if key != "n")
    return f"{name} ({found['n']:.0f}): {values}"


if __name__ == "__main__":
    main()
