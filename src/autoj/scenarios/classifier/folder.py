"""A scenario classifier loaded by its name or from its folder, as training writes it.

The folder holds `weights.npz` (plain arrays) and `card.yaml` (their description).
"""

import zipfile
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from autoj.errors import DataError, UnknownComponent
from autoj.jsonl import sha256_of
from autoj.scenarios.classifier.base import ScenarioClassifier
from autoj.scenarios.classifier.features import BLOCKS, HashedFeatures
from autoj.scenarios.classifier.linear import LinearClassifier, LinearWeights
from autoj.scenarios.classifier.minilm import N_DIMENSIONS
from autoj.scenarios.classifier.sentences import N_ENDS, SentenceEncoder
from autoj.yaml_files import read_fields

SHIPPED = ("fast", "best")
DATA = Path(__file__).parent.parent / "data" / "classifier"
"""The shipped classifiers and their recipe."""
CARD = "card.yaml"
WEIGHTS = "weights.npz"
_LEVELS = 127
"""The largest integer that a weight of the table is rounded to."""
_CHANGE = "encoder/"
"""The prefix of the names of the encoder's LoRA updates."""
_MADE_BY = "A classifier's folder is written by `autoj train classifier --out`."
_AGAIN = "Train it again with this version: `autoj train classifier --data FILE --out FOLDER`."


def load_classifier(name: str = "fast") -> ScenarioClassifier:
    """Loads a scenario classifier.

    Args:
        name: "fast" (n-grams, no further packages), "best" (sentence embeddings too, with the
            extra `classifier`), or a folder written by `autoj train classifier`.

    Raises:
        UnknownComponent: there is no classifier of that name.
        MissingExtra: it needs the extra `classifier`.
        DataError: the folder is damaged or not a classifier's.

    >>> load_classifier().classify(["Translate to French: good morning"])[0].scenario
    'text_to_text_translation'
    """
    if name in SHIPPED:
        return _shipped(name)
    folder = Path(name)
    if not folder.is_dir() and not (folder / CARD).is_file():
        raise UnknownComponent("classifier", name, SHIPPED)
    return read_folder(folder)


class ClassifierCard(BaseModel):
    """The content of a classifier's folder, and its training data."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    kind: Literal["classifier"] = "classifier"
    title: str
    tier: Literal["fast", "best"]
    labels: tuple[str, ...] = Field(min_length=2, max_length=1000)
    features: dict[str, float]
    """The weight of each block."""
    n_bits: int = Field(ge=8, le=22)
    weights_sha256: str
    licence: str | None
    seed: int
    data: dict[str, str]
    """The sha256 of each training file, by its name."""
    n_queries: int
    """The number of training queries."""
    figures: dict[str, float]
    """Results on held-out queries of the training data."""


def write_card(path: Path, card: ClassifierCard) -> None:
    """Writes the card as YAML, in the order of its fields."""
    text = yaml.safe_dump(card.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    path.write_text(text, encoding="utf-8")


def write_weights(
    path: Path,
    features: HashedFeatures,
    weights: LinearWeights,
    changes: Mapping[str, NDArray[np.float32]] | None = None,
) -> None:
    """Writes the arrays; the table is quantised to 8 bits, with a scale per row.

    Args:
        path: the file.
        features: the features, with the idf of each n-gram.
        weights: the trained weights of n-grams and embeddings.
        changes: the LoRA updates of the sentence encoder; None in the tier `fast`.
    """
    used = np.flatnonzero(np.abs(weights.table).max(axis=1))
    rows = weights.table[used]
    scales = np.abs(rows).max(axis=1, keepdims=True) / _LEVELS
    arrays = {
        "rows": used.astype(np.uint32),
        "table": np.rint(rows / scales).astype(np.int8),
        "scales": scales[:, 0].astype(np.float32),
        "rarity": features.idf[used].astype(np.float32),
        "dense": weights.dense.astype(np.float16),
        "bias": weights.bias.astype(np.float32),
        "sharpness": np.array([weights.inverse_temperature], np.float64),
        **{f"{_CHANGE}{name}": array.astype(np.float16) for name, array in (changes or {}).items()},
    }
    _write_archive(path, arrays)


def _write_archive(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes like `numpy.savez_compressed`, but equal arrays give equal bytes at any time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def read_folder(folder: Path, name: str | None = None) -> LinearClassifier:
    """Loads the classifier of a folder.

    Args:
        folder: the folder with the two files.
        name: the classifier's name; default: its title.

    Raises:
        DataError: a file is missing, damaged or not a classifier's.
        MissingExtra: the packages for sentence embeddings are not installed.
    """
    card = _read_card(folder / CARD)
    path = folder / WEIGHTS
    digest = sha256_of(path)
    if digest != card.weights_sha256:
        raise DataError(
            f"is damaged: its sha256 is {digest}, but the card has {card.weights_sha256}",
            path=path,
        )
    features, weights, encoder = _read_weights(path, card)
    return LinearClassifier(
        name=name or card.title,
        digest=f"sha256:{digest}",
        labels=card.labels,
        features=features,
        weights=weights,
        encoder=encoder,
    )


@cache
def _shipped(name: str) -> ScenarioClassifier:
    return read_folder(DATA / name, name)


def _read_card(path: Path) -> ClassifierCard:
    try:
        card = read_fields(path, ClassifierCard, what="classifier's card")
    except DataError as error:
        said = f"is not the card of a classifier: {error.reason}" if error.field else error.reason
        raise DataError(
            said, path=path, line=error.line, field=error.field, hint=error.hint or _MADE_BY
        ) from None
    unknown = [block for block in card.features if block not in BLOCKS]
    if unknown:
        raise DataError(
            f"has features unknown to this version: {', '.join(unknown)}",
            path=path,
            field="features",
            hint=f"Known are {', '.join(BLOCKS)}. Train it again with this version.",
        )
    return card


def _read_weights(
    path: Path, card: ClassifierCard
) -> tuple[HashedFeatures, LinearWeights, SentenceEncoder | None]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        used, n_columns = arrays["rows"], 1 << card.n_bits
        table = np.zeros((n_columns, len(card.labels)), np.float32)
        table[used] = arrays["table"] * arrays["scales"][:, None]
        idf = np.zeros(n_columns, np.float32)
        idf[used] = arrays["rarity"]
        weights = LinearWeights(
            table=table,
            dense=arrays["dense"].astype(np.float32),
            bias=arrays["bias"],
            inverse_temperature=float(arrays["sharpness"][0]),
        )
        changes = {
            name.removeprefix(_CHANGE): array.astype(np.float32)
            for name, array in arrays.items()
            if name.startswith(_CHANGE)
        }
        encoder = SentenceEncoder(changes) if card.tier == "best" else None
    except (OSError, ValueError, KeyError, IndexError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"is not the weights of a classifier ({error})", path=path) from None
    n_labels = len(card.labels)
    n_dense = N_ENDS * N_DIMENSIONS if card.tier == "best" else 0
    if (weights.dense.shape, weights.bias.shape) != ((n_dense, n_labels), (n_labels,)):
        raise DataError("the arrays do not fit the card's labels and tier", path=path, hint=_AGAIN)
    if bool(changes) != (card.tier == "best"):
        raise DataError(
            f"has {'updates' if changes else 'no updates'} of the sentence encoder, but its tier "
            f"is {card.tier!r}",
            path=path,
            hint=_AGAIN,
        )
    features = HashedFeatures(weights=card.features, n_bits=card.n_bits, idf=idf)
    return features, weights, encoder
