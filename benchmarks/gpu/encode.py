"""Tokenises the samples of a training once, so that a GPU does not wait for it.

    python -m benchmarks.gpu.encode recipes/embedded-0.5b.yaml mix/*.jsonl --out samples.pkl.xz

Judges with the same tokenizer can be trained on the same file. The samples are pickled: read only
files of your own.
"""

from __future__ import annotations

import argparse
import lzma
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

from autoj.backends.hf.encoding import Encoder
from autoj.backends.hf.models import load_model
from autoj.judges import load_card
from autoj.records import JudgeCard
from autoj.runs.watch import Watch
from autoj.training.judge.recipe import Recipe, read_recipe
from autoj.training.judge.sample_files import TrainingData, encode_training_data, read_outline
from autoj.training.judge.samples import SampleEncoder

_MESSAGE_SAMPLES = 1000


class _Printing(Watch):
    def progress(self, what: str, n_done: int, n_total: int) -> None:
        if n_done % _MESSAGE_SAMPLES == 0:
            print(f"{what}: {n_done:,} of {n_total:,}", flush=True)


def open_pickle(path: Path, mode: str) -> IO[bytes]:
    """Opens a pickle; one whose name ends in `.xz` is compressed."""
    if path.suffix == ".xz":
        return cast("IO[bytes]", lzma.open(path, mode))
    return cast("IO[bytes]", path.open(mode))


def encode(
    recipe: Recipe,
    data: Sequence[Path],
    *,
    tokenizer: Path | None = None,
    budget_tokens: int | None = None,
) -> TrainingData:
    """Tokenises samples as `autoj train` does, with a message each thousand.

    Args:
        recipe: its base is a card's name; that card states the wrapper.
        data: files of rows; rows that cannot be used are left out.
        tokenizer: a folder with the base's tokenizer; None loads the whole base.
        budget_tokens: the number of tokens to train on; None takes all epochs.
    """
    card = load_card(recipe.base.judge)
    wrapper = recipe.base.wrapper or card.wrapper
    outline = read_outline(recipe, data, None, lenient=True)
    encoder = SampleEncoder(recipe, card, Encoder(_tokenizer(card, tokenizer), wrapper))
    return encode_training_data(
        outline, recipe, encoder, budget_tokens=budget_tokens, watch=_Printing()
    )


def _tokenizer(card: JudgeCard, folder: Path | None) -> Any:
    if folder is None:
        return load_model(card, "cpu")[0]
    import transformers

    return transformers.AutoTokenizer.from_pretrained(folder)


def main() -> None:
    """Write the samples."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("data", type=Path, nargs="+", help="files of rows")
    parser.add_argument("--tokenizer", type=Path, help="a folder; the base's own otherwise")
    parser.add_argument("--budget-tokens", type=int)
    parser.add_argument("--out", type=Path, required=True, help="a pickle: .pkl or .pkl.xz")
    given = parser.parse_args()
    found = encode(
        read_recipe(given.recipe),
        given.data,
        tokenizer=given.tokenizer,
        budget_tokens=given.budget_tokens,
    )
    with open_pickle(given.out, "wb") as stream:
        pickle.dump(found, stream)
    print(
        f"{len(found.samples):,} samples, {found.n_tokens:,} tokens; {found.n_too_long:,} too long"
    )


if __name__ == "__main__":
    main()
