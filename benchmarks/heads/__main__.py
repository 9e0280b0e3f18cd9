r"""Heads of an embedded judge's adapter (`backends._heads`), fitted on two cores.

`read` asks the judge for the rating of both responses of each pair, or to compare them in both
orders, and keeps the choices' log-probabilities and the state that they follow from, in a file for
each 25 pairs, so that it may be stopped at any time. `ratings` and `comparisons` fit a head to them
in seconds, say what it does, and put it into an adapter's file.

    python -m benchmarks.heads read ratings votes.jsonl right.jsonl facts.jsonl --out states
    python -m benchmarks.heads ratings --states states --votes votes --right right \
        --validation facts --into adapter/adapter_model.safetensors
    python -m benchmarks.heads read comparisons votes.jsonl facts.jsonl --out states
    python -m benchmarks.heads comparisons --states states --pairs votes --validation facts \
        --into adapter/adapter_model.safetensors

Files are of native rows; those with a label `a` or `b` are read, for comparisons also ties.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from autoj.backends._heads import COMPARISON, RATING
from autoj.judges import load_card
from benchmarks.heads import comparisons, ratings
from benchmarks.heads.adding import put_head
from benchmarks.heads.reading import QUESTIONS, Pairs, load_pairs, read


def _told(name: str, found: dict[str, float]) -> str:
    values = " ".join(f"{key} {value:.3f}" for key, value in found.items() if key != "n")
    return f"{name} ({found['n']:.0f}): {values}"


def _read(asked: argparse.Namespace) -> None:
    asked.out.mkdir(parents=True, exist_ok=True)
    for data in asked.data:
        for line in read(load_card(asked.judge), asked.question, data, asked.out):
            print(line, flush=True)


def _fit_ratings(asked: argparse.Namespace) -> None:
    def load(*names: str) -> Pairs:
        return load_pairs(asked.states, "ratings", *names).winners_first()

    votes, right = load(*asked.votes), load(*asked.right)
    head = ratings.fit(votes, right, share_right=asked.share_right, penalty=asked.penalty)
    for name in (*asked.votes, *asked.right, *asked.validation):
        pairs = load(name)
        seen = "" if name in asked.validation else ", which it was fitted to"
        print(_told(f"{name} without", ratings.figures(pairs, None)))
        print(_told(f"{name} with{seen}", ratings.figures(pairs, head)))
    if asked.into is not None:
        print(put_head(asked.into, RATING, head))


def _fit_comparisons(asked: argparse.Namespace) -> None:
    pairs = load_pairs(asked.states, "comparisons", *asked.pairs)
    fitted = comparisons.fit(pairs, asked.penalty)
    print(_told("fitted to, without", comparisons.figures(pairs.logprobs, pairs)))
    print(_told("... held out in ten parts", comparisons.figures(fitted.held_out, pairs)))
    print(f"sharpness {fitted.head.sharpness:.3f}")
    for name in asked.validation:
        pairs = load_pairs(asked.states, "comparisons", name)
        scores = fitted.head.apply(pairs.logprobs, pairs.states)
        print(_told(f"{name} without", comparisons.figures(pairs.logprobs, pairs)))
        print(_told(f"{name} with", comparisons.figures(scores, pairs)))
    if asked.into is not None:
        print(put_head(asked.into, COMPARISON, fitted.head))


def main() -> None:
    """Reads states, or fits a head to those that were read."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    tasks = parser.add_subparsers(dest="task", required=True)
    reads = tasks.add_parser("read")
    reads.add_argument("question", choices=list(QUESTIONS))
    reads.add_argument("data", type=Path, nargs="+")
    reads.add_argument("--judge", default="embedded-1.5b")
    reads.add_argument("--out", type=Path, required=True)
    reads.set_defaults(run=_read)
    of_ratings = tasks.add_parser("ratings")
    of_ratings.add_argument("--votes", nargs="+", required=True)
    of_ratings.add_argument("--right", nargs="+", required=True)
    of_ratings.add_argument("--share-right", type=float, default=0.3)
    of_ratings.add_argument("--penalty", type=float, default=30.0)
    of_ratings.set_defaults(run=_fit_ratings)
    of_comparisons = tasks.add_parser("comparisons")
    of_comparisons.add_argument("--pairs", nargs="+", required=True)
    of_comparisons.add_argument("--penalty", type=float, default=3000.0)
    of_comparisons.set_defaults(run=_fit_comparisons)
    for fits in (of_ratings, of_comparisons):
        fits.add_argument("--states", type=Path, required=True)
        fits.add_argument("--validation", nargs="+", default=[])
        fits.add_argument("--into", type=Path)
    asked = parser.parse_args()
    asked.run(asked)


if __name__ == "__main__":
    main()
