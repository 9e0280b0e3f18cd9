"""The kind of run that a folder holds."""

from __future__ import annotations

from pathlib import Path

JURY_FILE = "jury.json"
"""What the folder of a jury has in place of `run.json`."""


def is_jury(path: Path) -> bool:
    """Whether a folder is a jury's."""
    return (path / JURY_FILE).is_file()
