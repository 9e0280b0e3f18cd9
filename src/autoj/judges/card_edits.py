"""Writes a calibration into a card's file, and leaves the rest of its text as it is."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from autoj.errors import ConfigError
from autoj.judges.cards import FOLDER_CARD, load_card
from autoj.records import Calibration, JudgeCard

__all__ = ["find_card", "write_calibration"]

_KEY = "calibration"
# Fields in which two cards of the same judge must agree, where both have them.
_PINS = ("backend", "model", "revision", "adapter", "adapter_revision")


def find_card(path: Path) -> Path:
    """The file of a card: the path itself, or the `judge.yaml` of a judge's folder.

    Raises:
        ConfigError: the folder holds none, or the path is not that of a card.
    """
    if not path.is_dir():
        # A bare name would mean a shipped card.
        if path.suffix not in (".yaml", ".yml"):
            raise ConfigError(f"{path}: expected a card's file (….yaml) or a judge's folder")
        return path
    if not (path / FOLDER_CARD).is_file():
        raise ConfigError(f"{path}: the folder has no {FOLDER_CARD}")
    return path / FOLDER_CARD


def write_calibration(
    path: Path, judge: JudgeCard, protocol: str, calibration: Calibration
) -> None:
    """Writes the calibration of a protocol into a card's file, atomically.

    The text around it stays as it is, comments too. A card in an unusual layout, where that is not
    safe, is rewritten with the same content and without its comments.

    Args:
        path: the card's file.
        judge: the judge that the calibration was fitted to.
        protocol: the protocol whose preferences it calibrates.
        calibration: replaces the protocol's own, if the card has one.

    Raises:
        DataError: the file is missing or is not a card.
        ConfigError: it is the card of another judge, or cannot be written.
    """
    _check_same(path, judge, load_card(str(path)))
    # Bytes, to preserve the line endings.
    text = path.read_bytes().decode("utf-8")
    content = yaml.safe_load(text)
    fitted = {name: value for name, value in asdict(calibration).items() if value not in (None, {})}
    content[_KEY] = {**content.get(_KEY, {}), protocol: fitted}
    edited = _spliced(text, content)
    try:
        same = yaml.safe_load(edited) == content
    except yaml.YAMLError:
        same = False
    _replace(path, edited if same else _dumped(content))


def _check_same(path: Path, judge: JudgeCard, card: JudgeCard) -> None:
    for name in _PINS:
        ours, theirs = getattr(judge, name), getattr(card, name)
        if ours is not None and theirs is not None and ours != theirs:
            raise ConfigError(
                f"{path} is the card of another judge: its {name} is {theirs!r}, and the "
                f"calibration was fitted to a judge whose {name} is {ours!r}"
            )


def _spliced(text: str, content: dict[str, Any]) -> str:
    """The text with the block of calibrations replaced, or added at its end."""
    block = _dumped({_KEY: content[_KEY]})
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)
    for key, value in root.value:
        if key.value == _KEY:
            # A block ends at the next key; comments and blank lines on their own lines before that
            # are not part of it.
            old = text[key.start_mark.index : value.end_mark.index]
            end = key.start_mark.index + len(_without_trailing_comments(old))
            return text[: key.start_mark.index] + block.rstrip("\n") + text[end:]
    return text + ("" if text.endswith("\n") else "\n") + block


def _without_trailing_comments(block: str) -> str:
    lines = block.split("\n")
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "\n".join(lines)


def _dumped(content: dict[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


def _replace(path: Path, text: str) -> None:
    """Writes a file atomically, through a link and with its permissions."""
    place = path.resolve()
    draft = place.with_name(place.name + ".draft")
    try:
        with draft.open("w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        shutil.copymode(place, draft)
        draft.replace(place)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ConfigError(f"{path}: the card cannot be written: {error.strerror}") from None
