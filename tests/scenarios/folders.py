"""Small folders of scenarios for tests."""

from __future__ import annotations

from pathlib import Path


def criterion(name: str, content: str = "", weight: int = 3, kind: str = "content") -> str:
    """A criterion as a file has it."""
    said = content or f"It is {name}."
    return f"{name}:\n  content: {said}\n  weight: {weight}\n  type: {kind}\n"


def write(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
