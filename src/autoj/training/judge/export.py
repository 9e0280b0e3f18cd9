"""A judge's weights in the formats that other engines read.

```
merged    one model in transformers' layout, the adapter merged into it
gguf      one float16 file for llama.cpp and engines built on it
openvino  the folder that the embedded backend runs
adapter   a LoRA adapter that approximates fully trained weights, as closely as its rank allows
```
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson

from autoj.backends._adapters import Adapter, read_adapter
from autoj.backends.embedded.dense import write_dense
from autoj.backends.embedded.model import convert
from autoj.backends.embedded.weights import fetch_weights
from autoj.backends.hf.models import load_model
from autoj.errors import ConfigError, DataError
from autoj.jsonl import sha256_of
from autoj.judges import load_card
from autoj.judges.cards import FOLDER_CARD
from autoj.records import JudgeCard
from autoj.training.judge.cards import ADAPTER, adapter_fields, base_metadata, pin
from autoj.training.judge.folder import TrainingFolder
from autoj.training.judge.low_rank import low_rank_adapter
from autoj.training.judge.model_card import render_model_card
from autoj.yaml_files import read_values

Format: TypeAlias = Literal["merged", "gguf", "openvino", "adapter"]

_LIBRARIES: dict[Format, str] = {
    "merged": "transformers", "gguf": "gguf", "openvino": "openvino", "adapter": "peft",
}  # fmt: skip


def export_model(judge: Path, out: Path, format: Format, *, rank: int = 32) -> float | None:
    """Writes a trained judge's weights, its card and its model card.

    Args:
        judge: the folder that training wrote.
        out: a new folder.
        format: the format of the weights.
        rank: the rank of `adapter`.

    Returns:
        For `adapter`, the share of the squared change of the weights that it keeps, from 0 to 1;
        None for the other formats, which are exact.

    Raises:
        DataError: `judge` is not a finished training, or `out` is not empty.
        ConfigError: the judge cannot be exported to this format.
    """
    training = TrainingFolder(judge)
    if not training.is_finished:
        raise DataError(f"is not a finished training: it has no {FOLDER_CARD}", path=judge)
    if out.is_file() or (out.exists() and any(out.iterdir())):
        raise DataError("the folder is not empty", path=out, hint="Choose a new folder.")
    if not training.has_settings:
        raise DataError(
            "has no train.json: only a folder written by autoj train, or an adapter exported from "
            "one, can be exported",
            path=judge,
        )
    card = load_card(str(judge))
    if card.backend == "scalar" and format != "merged":
        raise ConfigError(f"a reward model can only be exported as merged, not as {format}")
    # An existing folder is complete: an export that is killed or fails leaves a draft beside it.
    draft = out.with_name(f".{out.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    try:
        if format == "adapter":
            changed, share = _adapter(card, training, draft, rank)
        else:
            changed, share = _WRITERS[format](card, training, draft), None
        _write_cards(training, draft, changed, format)
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.exists():
            out.rmdir()
        draft.rename(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return share


def _write_cards(
    training: TrainingFolder, out: Path, changed: dict[str, Any], format: Format
) -> None:
    content = read_values(training.card)
    for name in ("adapter", "adapter_revision", "revision", "options"):
        content.pop(name, None)
    # The rank changes ratings, so figures and calibration of before do not hold for the new judge.
    figures = training.figures() if format != "adapter" else {}
    if format == "adapter":
        content.pop("calibration", None)
    content |= changed
    TrainingFolder(out).write_card(content)
    text = render_model_card(content, training.settings(), figures, library=_LIBRARIES[format])
    (out / "README.md").write_text(text, encoding="utf-8")


def _merged(card: JudgeCard, training: TrainingFolder, out: Path) -> dict[str, Any]:
    if card.backend == "scalar":
        shutil.copytree(card.locate(card.model), out / "model")
        return {
            "model": "./model", "revision": card.revision, "options": dict(card.options),
        }  # fmt: skip
    tokenizer, model = load_model(replace(card, backend="hf"))
    model.save_pretrained(out / "model")
    tokenizer.save_pretrained(out / "model")
    return {"backend": "hf", "model": "./model", "revision": pin(out / "model")}


def _gguf(card: JudgeCard, training: TrainingFolder, out: Path) -> dict[str, Any]:
    weights, adapter = _gguf_base(card, training)
    write_dense(weights, out / "model.gguf", adapter)
    revision = pin(out / "model.gguf")
    return {"backend": "embedded", "model": "./model.gguf", "revision": revision}


def _openvino(card: JudgeCard, training: TrainingFolder, out: Path) -> dict[str, Any]:
    changed = _gguf(card, training, out)
    shutil.move(str(convert(out / "model.gguf")), str(out / "openvino"))
    return changed


def _gguf_base(card: JudgeCard, training: TrainingFolder) -> tuple[Path, Adapter]:
    """The GGUF file that a judge was trained from, and the adapter trained on it."""
    base = load_card(training.settings()["recipe"]["base"]["judge"])
    if base.backend != "embedded":
        raise ConfigError(
            f"{card.name} was not trained from a GGUF file; only judges that were can be exported "
            "as gguf",
            hint="Export it as merged and convert the folder with llama.cpp's "
            "convert_hf_to_gguf.py.",
        )
    if card.adapter is None:
        raise ConfigError(
            f"{card.name} has full weights, not an adapter; export it as an adapter first",
            hint="Run autoj export-model … --format adapter, then export that folder as gguf.",
        )
    weights = fetch_weights(base)
    adapter = read_adapter(
        card.locate(card.adapter),
        revision=card.adapter_revision,
        base_sha256=sha256_of(weights),
        judge=card.name,
    )
    return weights, adapter


def _adapter(
    card: JudgeCard, training: TrainingFolder, out: Path, rank: int
) -> tuple[dict[str, Any], float]:
    if card.adapter is not None:
        raise ConfigError(f"{card.name} is an adapter already")
    base = _untrained(load_card(training.settings()["recipe"]["base"]["judge"]))
    _, trained = load_model(card)
    _, before = load_model(replace(base, backend="hf"))
    share = low_rank_adapter(before, trained, rank, out / ADAPTER, base_metadata(base))
    # The training's record is copied, so that this folder can be exported further.
    (out / "train.json").write_bytes(orjson.dumps(training.settings()))
    return adapter_fields(base, out), share


def _untrained(base: JudgeCard) -> JudgeCard:
    """The first base of a chain of trainings: an adapter approximates all of them together."""
    if base.adapter is not None:
        return replace(base, adapter=None, adapter_revision=None)
    if base.folder is None or not TrainingFolder(Path(base.folder)).has_settings:
        return base
    settings = TrainingFolder(Path(base.folder)).settings()
    return _untrained(load_card(settings["recipe"]["base"]["judge"]))


_WRITERS: dict[Format, Callable[[JudgeCard, TrainingFolder, Path], dict[str, Any]]] = {
    "merged": _merged, "gguf": _gguf, "openvino": _openvino,
}  # fmt: skip
