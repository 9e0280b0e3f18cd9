"""Kinds of files, and errors of files that cannot be opened, with what may have been meant."""

import os
import re
from pathlib import Path

import orjson

from autoj.errors import DataError
from autoj.system_errors import system_advice

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/", re.IGNORECASE)
_HUB_URL = re.compile(r"https?:/+(?:www\.)?huggingface\.co/datasets/([^/?#]+/[^/?#]+)")
_HUB_FILE = re.compile(r"hf:/+datasets/([^/@?#]+/[^/@?#]+)")
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)
ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".pq", ".txt")
"""Endings of files that are read; all but Parquet may have `.gz` after them."""
_SPREADSHEET = b"PK\x03\x04"
_MARKS = (b"\xff\xfe", b"\xfe\xff")
_MARK = b"\xef\xbb\xbf"


def cannot_read(error: OSError, path: Path) -> DataError:
    """The error of a file that cannot be opened or read, with advice."""
    if isinstance(error, FileNotFoundError):
        return no_such_file(path)
    if isinstance(error, IsADirectoryError):
        return DataError("is a folder, not a file", path=path, hint=_folder_hint(path))
    reason = error.strerror or str(error)
    return DataError(f"cannot be read: {reason}", path=path, hint=system_advice(error))


def _folder_hint(path: Path) -> str | None:
    if (path / "run.json").is_file() or (path / "jury.json").is_file():
        return f"It is the folder of a run: autoj show {path}"
    found = next((name for name in os.listdir(path) if Path(name).suffix in ENDINGS), None)
    return None if found is None else f"Name a file in it, such as {path / found}"


def no_such_file(path: Path) -> DataError:
    """The error of a path that leads nowhere, and what may have been meant: a URL, a Hub name."""
    text = str(path)
    if (found := _HUB_URL.match(text) or _HUB_FILE.match(text)) is not None:
        return DataError(
            "is the address of a data set, not a file", path=path, hint=_by_name(found[1])
        )
    if (url := _URL.match(text)) is not None:
        address = text.replace(url[0], f"{url[0]}/", 1)
        return DataError(
            "is an address, not a file",
            path=address,
            hint="Download it first and name the file; data sets of the Hugging Face Hub are read "
            "by name: hf-dataset:owner/name.",
        )
    # A name on the Hub has no folder here, and no ending that says a kind of file.
    hub_like = _HUB_NAME.fullmatch(text) and not path.parent.exists()
    if hub_like and path.suffix.lower() not in (*ENDINGS, ".gz"):
        return DataError("there is no such file", path=path, hint=_by_name(text))
    return DataError("there is no such file", path=path)


def ending_of(head: bytes) -> str:
    r"""The ending that a file's name would have, from its first bytes.

    Args:
        head: the beginning of the file, unpacked; the first line or more.

    >>> ending_of(b'{"query": "q"}\n'), ending_of(b'[{"query": "q"}]'), ending_of(b"query,a\n")
    ('.jsonl', '.json', '.csv')
    """
    if head.startswith(b"PAR1"):
        return ".parquet"
    if head.startswith(_SPREADSHEET):
        return ".xlsx"
    if head.startswith(_MARKS):
        # The reader of tables says what is wrong with UTF-16.
        return ".csv"
    text = head.removeprefix(_MARK).lstrip()
    if text.startswith(b"["):
        return ".json"
    first, newline, _ = text.partition(b"\n")
    if text.startswith(b"{"):
        return ".jsonl" if not newline or _is_json(first) else ".json"
    if b"," in first or b";" in first:
        return ".csv"
    return ".tsv" if b"\t" in first else ".txt"


def _by_name(name: str) -> str:
    return f"A data set of the Hugging Face Hub is read by its name: hf-dataset:{name}"


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except ValueError:
        return False
    return True
