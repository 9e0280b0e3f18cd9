"""Writes a calibration or a threshold into a card's file; the rest of its text stays."""

import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from autoj.errors import ConfigError
from autoj.judges.cards import FOLDER_CARD, load_card
from autoj.records import Calibration, JudgeCard, SureThreshold

_CALIBRATION, _UNSURE = "calibration", "unsure"
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
    _write_fitted(path, judge, _CALIBRATION, protocol, calibration)


def write_sure_threshold(
    path: Path, judge: JudgeCard, protocol: str, threshold: SureThreshold
) -> None:
    """Writes the threshold of unsure verdicts of a protocol into a card's file.

    Args:
        path: the card's file.
        judge: the judge that the threshold was fitted to.
        protocol: the protocol of its verdicts.
        threshold: replaces the protocol's own, if the card has one.

    Raises:
        DataError: the file is missing or is not a card.
        ConfigError: it is the card of another judge, has another calibration than the judge that
            the threshold was fitted to, or cannot be written.
    """
    card = load_card(str(path))
    if card.calibration.get(protocol) != judge.calibration.get(protocol):
        raise ConfigError(
            f"{path} has another calibration of {protocol} than the run that the threshold was "
            "fitted to",
            hint="Repeat the command that made the run with this card: it asks nothing again.",
        )
    _write_fitted(path, judge, _UNSURE, protocol, threshold)


def _write_fitted(
    path: Path, judge: JudgeCard, key: str, protocol: str, found: Calibration | SureThreshold
) -> None:
    """Writes what was fitted to a protocol under a key of a card's file."""
    _check_same(path, judge, load_card(str(path)))
    # Bytes, to preserve the line endings.
    text = path.read_bytes().decode("utf-8")
    content = yaml.safe_load(text)
    fitted = {name: value for name, value in asdict(found).items() if value not in (None, {})}
    content[key] = {**content.get(key, {}), protocol: fitted}
    if key == _CALIBRATION and content.get(_UNSURE, {}).pop(protocol, None) is not None:
        # It was fitted to the confidences of the calibration that is replaced.
        content = {name: value for name, value in content.items() if value or name != _UNSURE}
    edited = _spliced(text, content, key)
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


def _spliced(text: str, content: dict[str, Any], name: str) -> str:
    """The text with the block of a key replaced, or added at its end."""
    block = _dumped({name: content[name]})
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)
    for key, value in root.value:
        if key.value == name:
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
