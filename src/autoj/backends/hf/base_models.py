"""Locates the model of a card: a folder, a GGUF file or a name on the hub."""

import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.backends._hub import find_in_hub
from autoj.backends.embedded.weights import fetch_weights, names_source
from autoj.errors import ConfigError, MissingExtra
from autoj.fetching import OnFetch
from autoj.jsonl import sha256_of
from autoj.records import JudgeCard

_WEIGHTS = "model.safetensors"
# Messages of transformers and the hub's client for names or files that will never exist.
_UNKNOWN = (
    "is not a valid model identifier",
    "Repository Not Found",
    "Can't load the configuration of",
    "does not appear to have a file named",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The location of a base."""

    name: str
    """A folder, or a name on the hub."""
    local: bool
    gguf: str | None = None
    """The file in that folder, where it is a GGUF file."""
    weights: Path | None = None
    """The file with all weights, where there is a single local one."""
    unreached: str | None = None
    """The reason why the hub cannot be asked, so that only its cache is looked into."""


def find_base(card: JudgeCard, on_fetch: OnFetch | None = None) -> Base:
    """Locates a card's model.

    Args:
        card: its model is a folder, a `.gguf` file, a name on the hub, or a shipped card's weights,
            whose source is in its options.
        on_fetch: called with the progress of fetching a shipped card's weights.

    Raises:
        MissingExtra: a package that reads GGUF files is not installed.
        ConfigError: there is no such folder or file, or it is not the one that the card pins.
        Unavailable: a shipped card's weights could not be fetched, or the hub cannot be asked.
    """
    path = card.locate(card.model)
    if card.model.endswith(".gguf") or names_source(card):
        for package in ("gguf", "accelerate"):
            if importlib.util.find_spec(package) is None:
                raise MissingExtra("hf", f"the GGUF file of judge {card.name!r}")
        own = card.model.endswith(".gguf")
        file = fetch_weights(replace(card, model=str(path)) if own else card, on_fetch)
        base = Base(name=str(file.parent), local=True, gguf=file.name, weights=file)
    elif path.is_dir():
        single = path / _WEIGHTS
        base = Base(name=str(path), local=True, weights=single if single.is_file() else None)
    elif card.model.startswith(("/", ".", "~")):
        raise ConfigError(f"judge {card.name!r}: there is no folder {str(path)!r}")
    else:
        return Base(name=card.model, local=False, unreached=find_in_hub(card))
    _check_revision(card, base.weights)
    return base


def is_unknown(error: BaseException) -> bool:
    """True where the hub knows no model of a name; else it may only be out of reach.

    >>> is_unknown(OSError("me/mine is not a local folder and is not a valid model identifier"))
    True
    """
    return any(words in str(error) for words in _UNKNOWN)


def _check_revision(card: JudgeCard, weights: Path | None) -> None:
    digest = (card.revision or "").removeprefix("sha256:")
    if weights is None or digest == card.revision or not digest:
        return
    found = sha256_of(weights)
    if found != digest:
        raise ConfigError(
            f"judge {card.name!r}: {weights} is not the file that its card pins: expected sha256 "
            f"{digest}, found {found}"
        )
