"""The readiness of a judge on this machine, told without its libraries and without a network."""

import os
import re
import shutil
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

from autoj.fetching import weights_file
from autoj.records import JudgeCard

_PROVIDER_KEY = "OPENAI_API_KEY"
_ON_A_GPU = ("vllm",)
_FROM_THE_HUB = ("hf", "scalar", "vllm")
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+).*; .*extra == ['\"]([^'\"]+)['\"]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """All that a judge lacks on this machine, as far as can be told without loading it."""

    lacks: tuple[str, ...] = ()
    """Things that must be there first, such as "autoj[vllm]", "a GPU" or "$OPENAI_API_KEY"."""
    fetches: bool = False
    """True where its first start fetches weights."""
    fetch_bytes: int | None = None
    """Their size; None where the card does not state it."""
    server: str | None = None
    """The address of a server that must be running; nobody has asked it."""

    @classmethod
    def of(cls, card: JudgeCard) -> "Readiness":
        """Tells what a judge lacks on this machine.

        Args:
            card: the judge.
        """
        lacks = [f"autoj[{card.backend}]"] if _is_missing(card.backend) else []
        if card.backend in _ON_A_GPU and not has_gpu():
            lacks.append("a GPU")
        variable = _key_variable(card)
        if variable is not None and not os.environ.get(variable):
            lacks.append(f"${variable}")
        fetches = _fetches(card)
        size = card.options.get("size_bytes")
        return cls(
            lacks=tuple(lacks),
            fetches=fetches,
            fetch_bytes=size if fetches and isinstance(size, int) else None,
            server=_server(card) if variable is None else None,
        )

    @property
    def ready(self) -> bool:
        """True where nothing is lacking; weights may still be fetched, and a server be down."""
        return not self.lacks


@cache
def has_gpu() -> bool:
    """True where the driver of an NVIDIA or AMD GPU is installed; no library is loaded."""
    devices = (Path("/dev/nvidiactl"), Path("/dev/kfd"))
    return any(map(Path.exists, devices)) or shutil.which("nvidia-smi") is not None


@cache
def _extras() -> dict[str, list[str]]:
    """The packages of each extra, as the installed package declares them."""
    found: dict[str, list[str]] = {}
    for line in metadata.requires("autoj") or ():
        if (parts := _REQUIREMENT.match(line)) is not None:
            found.setdefault(parts[2], []).append(parts[1])
    return found


@cache
def _is_missing(backend: str) -> bool:
    """True where a package of a backend's extra is not installed."""
    for package in _extras().get(backend, ()):
        try:
            metadata.version(package)
        except metadata.PackageNotFoundError:
            return True
    return False


def _key_variable(card: JudgeCard) -> str | None:
    """The environment variable that must hold a key; None where no key is needed."""
    if card.backend != "openai":
        return None
    named = card.options.get("api_key_variable")
    if isinstance(named, str):
        return named
    return _PROVIDER_KEY if _address(card) is None else None


def _server(card: JudgeCard) -> str | None:
    """The host of a judge's own server; None for judges without one."""
    if card.backend != "openai" or (address := _address(card)) is None:
        return None
    try:
        return urlsplit(address).netloc.rpartition("@")[2] or None
    except ValueError:
        return None


def _address(card: JudgeCard) -> str | None:
    address = card.options.get("base_url") or os.environ.get("OPENAI_BASE_URL")
    return address if isinstance(address, str) else None


def _fetches(card: JudgeCard) -> bool:
    if card.backend == "embedded" and card.revision is not None:
        kept = weights_file(card.revision.removeprefix("sha256:"))
        return not (kept.is_file() or card.locate(card.model).exists())
    if card.backend not in _FROM_THE_HUB or card.locate(card.model).exists():
        return False
    return not (_hub_cache() / f"models--{card.model.replace('/', '--')}" / "snapshots").is_dir()


def _hub_cache() -> Path:
    """The folder in which the Hub's own library keeps models, by its documented variables."""
    if (chosen := os.environ.get("HF_HUB_CACHE")) is not None:
        return Path(chosen)
    home = os.environ.get("HF_HOME")
    return (Path(home) if home else Path.home() / ".cache" / "huggingface") / "hub"
