"""Limits on the size of users' files, after unpacking.

A compressed file of 1 MB may unpack to 1 GB. Three limits keep memory and disk free, each in MB of
1,000,000 bytes, each changed by an environment variable:

```
AUTOJ_MAX_ROW_MB       64    a row: a line of JSONL or text, a record of CSV, a row of Parquet
AUTOJ_MAX_JSON_MB      512   a file that is one JSON value, which is read as a whole
AUTOJ_MAX_STREAM_MB    8000  the copy of a stream
```
"""

import os
import re
from pathlib import Path

from autoj.errors import ConfigError, DataError

_DEFAULT_MB = {"ROW": 64, "JSON": 512, "STREAM": 8000}


def row_limit() -> int:
    """The most bytes of a row."""
    return _limit("ROW")


def json_limit() -> int:
    """The most bytes of a file that is one JSON value."""
    return _limit("JSON")


def stream_limit() -> int:
    """The most bytes of a stream's copy."""
    return _limit("STREAM")


def _limit(what: str) -> int:
    name = f"AUTOJ_MAX_{what}_MB"
    text = os.environ.get(name) or str(_DEFAULT_MB[what])
    # At most nine digits, so that a number of bytes stays one that Python's readers accept.
    if not re.fullmatch(r"[1-9]\d{0,8}", text, re.ASCII):
        raise ConfigError(f"{name}: expected a number of megabytes, such as 64, found {text!r}")
    return int(text) * 1_000_000


def too_long(path: Path, line: int | None, limit: int | None = None) -> DataError:
    """The error of a row that is longer than the limit."""
    return DataError(
        f"the row has more than {(limit or row_limit()) / 1e6:,.0f} MB",
        path=path,
        line=line,
        hint="AUTOJ_MAX_ROW_MB=N before the command raises the limit to N megabytes.",
    )
