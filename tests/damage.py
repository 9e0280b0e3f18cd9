"""Run folders as version 0.1 left them, and ways to damage the files of a folder."""

from __future__ import annotations

import json
from pathlib import Path


def without_digests(path: Path) -> None:
    """Take the digests out of a folder's `run.json`, which version 0.1 did not write."""
    record = json.loads((path / "run.json").read_bytes())
    for name in ("sha256", "files"):
        record.pop(name, None)
    (path / "run.json").write_text(json.dumps(record))
