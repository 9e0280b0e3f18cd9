r"""What the last state of an embedded judge knows of people's votes beyond its ratings.

`read` asks the judge for the rating of both responses of each pair, and keeps the ten
log-probabilities and the state that they follow from, in a file per 50 pairs, so that it may be
stopped at any time. `fit` learns from them in seconds a rating head (`backends._rating_head`), says
how right the ratings are with it and without, and puts it into an adapter's file.

    python -m benchmarks.rating_head read votes.jsonl right.jsonl held.jsonl facts.jsonl \
        --out states
    python -m benchmarks.rating_head fit --states states --votes votes --right right \
        --validation held facts --into adapter/adapter_model.safetensors

Files are of native rows with labels `a` and `b`; ties are passed over. Of `--votes` people chose
one, so that even a much better response loses at times; of `--right` one is right. Pairs that the
judge was trained on tell nothing: its ratings of them are learnt by heart.
"""

from __future__ import annotations

import argparse
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors import safe_open
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, softmax

from autoj.backends import load_backend
from autoj.backends._rating_head import BIAS, SHARPNESS, WEIGHT, RatingHead
from autoj.backends.embedded import EmbeddedBackend
from autoj.backends.embedded.beginnings import arranged, in_batches
from autoj.datasets import open_cases
from autoj.errors import ConfigError
from autoj.jsonl import sha256_of
from autoj.judges import load_card
from autoj.protocols import single_verdict
from autoj.records import Case, JudgeCard, Request

Floats: TypeAlias = npt.NDArray[np.floating[Any]]

_PAIRS_A_FILE = 50
_RATINGS = np.arange(1, 11)
VOTES_SLOPE, RIGHT_SLOPE = 0.4, 1.0
"""Log-odds of a point between two ratings: that the better one is voted for, that it is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Decided pairs as a judge reads each of their responses."""

    states: Floats
    """[n, 2, width], of the winner and the loser."""
    logprobs: Floats
    """[n, 2, 10]"""
    n_characters: Floats
    """[n, 2]"""

    def __len__(self) -> int:
        return len(self.states)

    def ratings(self, head: RatingHead | None) -> tuple[Floats, Floats]:
        """The expected ratings, [n, 2], and their variances."""
        scores = self.logprobs if head is None else head.apply(self.logprobs, self.states)
        shares = softmax(scores, axis=-1)
        means = shares @ _RATINGS
        return means, shares @ _RATINGS**2 - means**2


def read(card: JudgeCard, data: Path, out: Path) -> None:
    """Reads both responses of each pair of a file; what is there already is not read again.

    Raises:
        ConfigError: what is there is of another judge, or of another file of this name.
    """
    engine = load_backend(card)
    assert isinstance(engine, EmbeddedBackend)
    # The folder of the merged weights, whose name is the same with another head.
    made = f"{engine._folder.parent.name}/{engine._folder.name} {sha256_of(data)}"
    cases = [case for _, case in open_cases(data).readable() if case.label in ("a", "b")]
    for start in range(0, len(cases), _PAIRS_A_FILE):
        file = out / f"{data.stem}.{start}.npz"
        if file.exists():
            if str(np.load(file)["made"]) != made:
                raise ConfigError(f"{file} is of another judge, or of another {data.name}")
            continue
        begun = time.perf_counter()
        requests = [
            _request(case, number, index, card)
            for number, case in enumerate(cases[start : start + _PAIRS_A_FILE])
            for index in (0 if case.label == "a" else 1, 1 if case.label == "a" else 0)
        ]
        found, n_tokens = {}, 0
        for batch in in_batches(arranged([(each, engine._trie(each)) for each in requests])):
            tries = [trie for _, trie in batch]
            n_tokens += sum(trie.n_tokens for trie in tries)
            for (request, _), scores in zip(batch, engine._scorer().read(tries), strict=True):
                found[request.key] = scores
        ordered = [found[each.key] for each in requests]
        draft = out / "draft.npz"
        np.savez(
            draft,
            made=made,
            states=np.array([each.state for each in ordered], np.float16),
            logprobs=np.array([each.logprobs for each in ordered]),
            n_characters=[len(each.messages[0].content) for each in requests],
        )
        draft.rename(file)
        seconds = time.perf_counter() - begun
        print(f"{file}: {len(requests)} responses, {n_tokens / seconds:.0f} tokens/s", flush=True)


def _request(case: Case, number: int, index: int, card: JudgeCard) -> Request:
    body = single_verdict.PROTOCOL.build(case, (index,))
    return Request(
        key=f"{number} {index}",
        judge=card.name,
        case_id=case.id,
        protocol="single-verdict",
        shown=(index,),
        messages=body.messages,
        prefix=body.prefix,
        choices=body.choices,
        decoding=card.decoding,
    )


def load_pairs(states: Path, *names: str) -> Pairs:
    """The pairs of data files that were read.

    Raises:
        FileNotFoundError: of one, none were.
    """
    files: list[Path] = []
    for name in names:
        named = re.compile(rf"{re.escape(name)}\.\d+\.npz")
        found = sorted(file for file in states.iterdir() if named.fullmatch(file.name))
        if not found:
            raise FileNotFoundError(f"{states}: nothing of {name} was read")
        files += found
    parts = [np.load(file) for file in files]
    joined = {
        key: np.concatenate([part[key].astype(float) for part in parts])
        for key in ("states", "logprobs", "n_characters")
    }
    return Pairs(
        **{key: values.reshape(-1, 2, *values.shape[1:]) for key, values in joined.items()}
    )


def fit(votes: Pairs, right: Pairs, *, share_right: float, penalty: float) -> RatingHead:
    """A head by which the preferred response is the higher rated one, and ratings spread as before.

    Args:
        votes: pairs that people decided.
        right: pairs of which one response is right.
        share_right: the weight of one of these beside one of the former.
        penalty: of the squared weight, in units of the states' standard deviations; the loss is
            a mean over pairs.
    """
    both = [votes, right]
    every = np.concatenate([pairs.states.reshape(-1, pairs.states.shape[-1]) for pairs in both])
    mean, spread = every.mean(0), every.std(0) + 1e-6
    slopes = np.repeat([VOTES_SLOPE, RIGHT_SLOPE], [len(pairs) for pairs in both])
    weights = np.repeat([1.0, share_right], [len(pairs) for pairs in both])
    weights /= weights.sum()
    joined = Pairs(
        states=np.concatenate([(pairs.states - mean) / spread for pairs in both]),
        logprobs=np.concatenate([pairs.logprobs for pairs in both]),
        n_characters=np.concatenate([pairs.n_characters for pairs in both]),
    )

    def loss(weight: Floats) -> tuple[float, Floats]:
        ratings, variances = joined.ratings(RatingHead(weight=weight, bias=0.0))
        margins = slopes * (ratings[:, 0] - ratings[:, 1])
        pulls = -weights * slopes * expit(-margins)
        by_state = np.einsum("n,nr,nrw->w", pulls, variances * [1, -1], joined.states)
        value = float(weights @ np.logaddexp(0, -margins) + penalty * weight @ weight)
        return value, by_state + 2 * penalty * weight

    found = minimize(loss, np.zeros(len(mean)), jac=True, method="L-BFGS-B").x / spread
    head = RatingHead(weight=found, bias=float(-found @ mean))
    return replace(head, sharpness=_sharpness(votes, head))


def _sharpness(votes: Pairs, head: RatingHead) -> float:
    """The sharpness from 0.5 to 2 by which ratings of votes vary most nearly as without a head."""
    wanted = votes.ratings(None)[0].std()

    def apart(sharpness: float) -> float:
        return float((votes.ratings(replace(head, sharpness=sharpness))[0].std() - wanted) ** 2)

    return float(minimize_scalar(apart, bounds=(0.5, 2.0), method="bounded").x)


def figures(pairs: Pairs, head: RatingHead | None) -> dict[str, float]:
    """The accuracy of the ratings, their log-loss at the best slope, and how far they spread."""
    ratings, _ = pairs.ratings(head)
    margins = ratings[:, 0] - ratings[:, 1]
    losses = [np.logaddexp(0, -slope * margins).mean() for slope in np.geomspace(0.02, 4, 60)]
    return {
        "accuracy": float((margins > 0).mean()),
        "log_loss": float(min(losses)),
        "mean": float(ratings.mean()),
        "sd": float(ratings.std()),
        "n": len(pairs),
        "longer": float((np.sign(margins) == np.sign(-np.diff(pairs.n_characters)[:, 0])).mean()),
    }


def put_head(adapter: Path, head: RatingHead) -> str:
    """Puts a head into an adapter's weights file, in place of one that it has.

    Args:
        adapter: the weights file.
        head: the head.

    Returns:
        The card's new `adapter_revision`.
    """
    from safetensors.torch import load_file, save_file
    from torch import tensor

    with safe_open(adapter, framework="pt") as opened:
        metadata: dict[str, str] = opened.metadata()
    tensors = {
        WEIGHT: tensor(head.weight.tolist()),
        BIAS: tensor([head.bias]),
        SHARPNESS: tensor([head.sharpness]),
    }
    draft = adapter.with_name(f".{adapter.name}.draft")
    save_file(load_file(adapter) | tensors, draft, metadata)
    draft.chmod(adapter.stat().st_mode)  # the library lets nobody else read it
    draft.rename(adapter)
    return f"sha256:{sha256_of(adapter)}"


def _told(name: str, found: dict[str, float]) -> str:
    values = " ".join(f"{key} {value:.3f}" for key, value in found.items() if key != "n")
    return f"{name} ({found['n']:.0f}): {values}"


def main() -> None:
    """Reads states, or fits a head to those that were read."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    tasks = parser.add_subparsers(dest="task", required=True)
    reads = tasks.add_parser("read")
    reads.add_argument("data", type=Path, nargs="+")
    reads.add_argument("--judge", default="embedded-1.5b")
    reads.add_argument("--out", type=Path, required=True)
    fits = tasks.add_parser("fit")
    fits.add_argument("--states", type=Path, required=True)
    fits.add_argument("--votes", nargs="+", required=True)
    fits.add_argument("--right", nargs="+", required=True)
    fits.add_argument("--validation", nargs="+", default=[])
    fits.add_argument("--share-right", type=float, default=0.3)
    fits.add_argument("--penalty", type=float, default=30.0)
    fits.add_argument("--into", type=Path)
    asked = parser.parse_args()
    if asked.task == "read":
        asked.out.mkdir(parents=True, exist_ok=True)
        for data in asked.data:
            read(load_card(asked.judge), data, asked.out)
        return
    votes, right = (load_pairs(asked.states, *names) for names in (asked.votes, asked.right))
    head = fit(votes, right, share_right=asked.share_right, penalty=asked.penalty)
    for name in (*asked.votes, *asked.right, *asked.validation):
        pairs = load_pairs(asked.states, name)
        seen = "" if name in asked.validation else ", which it was fitted to"
        print(_told(f"{name} without", figures(pairs, None)))
        print(_told(f"{name} with{seen}", figures(pairs, head)))
    if asked.into is not None:
        print(put_head(asked.into, head))


if __name__ == "__main__":
    main()
