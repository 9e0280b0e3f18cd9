"""The forms that a judge's weights are exported in, each with the fields of its card.

```
merged         one model in transformers' layout, the adapter merged into it
adapter        a LoRA adapter that approximates fully trained weights as closely as its rank allows
gguf           one float16 file for llama.cpp and engines built on it; -q8_0 and -q4_0 pack it
openvino       a folder that the embedded engine runs, in float16; -int8 and -int4 pack it
gptq awq w4a16 4 bits for vLLM and transformers (training.judge.quantise)
```
"""

import importlib.util
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson

from autoj.backends._adapters import read_adapter
from autoj.backends.embedded import OPENVINO_WEIGHTS
from autoj.backends.embedded.dense import write_dense
from autoj.backends.embedded.weights import fetch_weights
from autoj.backends.hf.models import load_model
from autoj.backends.hf.templates import PIN as TEMPLATE_PIN
from autoj.chat import TEMPLATE
from autoj.errors import ConfigError, MissingExtra
from autoj.jsonl import sha256_of
from autoj.judges import load_card
from autoj.records import JudgeCard
from autoj.training.judge.calibration_texts import encode_texts
from autoj.training.judge.cards import ADAPTER, adapter_fields, base_metadata, pin
from autoj.training.judge.folder import TrainingFolder
from autoj.training.judge.gguf_files import Packing, pack_gguf, write_gguf
from autoj.training.judge.low_rank import low_rank_adapter
from autoj.training.judge.quantise import (
    Scheme,
    check_compressor,
    check_nncf,
    compress,
    pack_openvino,
    write_openvino,
)
from autoj.training.judge.rows import TrainingRow
from autoj.training.judge.settings import quietly

Format: TypeAlias = Literal[
    "merged", "adapter", "gguf", "gguf-q8_0", "gguf-q4_0", "openvino", "openvino-int8",
    "openvino-int4", "gptq", "awq", "w4a16",
]  # fmt: skip

ROUNDED: tuple[Format, ...] = (
    "gguf-q8_0", "gguf-q4_0", "openvino-int8", "openvino-int4", "gptq", "awq", "w4a16",
)  # fmt: skip
"""The forms whose weights are rounded to fewer bits than 16."""

CALIBRATED: tuple[Format, ...] = ("gptq", "awq")
"""The forms that cannot be made without calibration texts; `openvino-int4` can use them."""

LIBRARIES: Mapping[Format, str] = {
    "merged": "transformers", "adapter": "peft", "gptq": "transformers", "awq": "transformers",
    "w4a16": "transformers", "gguf": "gguf", "gguf-q8_0": "gguf", "gguf-q4_0": "gguf",
    "openvino": "openvino", "openvino-int8": "openvino", "openvino-int4": "openvino",
}  # fmt: skip
"""The library that loads each form, by its name on the Hub."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A judge to export."""

    card: JudgeCard
    content: Mapping[str, Any]
    """The fields of its card's file."""
    settings: Mapping[str, Any] | None
    """Those of its training (`train.json`); None where there are none."""
    figures: Mapping[str, float]
    """Results on the validation file of its training."""
    rows: tuple[TrainingRow, ...] | None = None
    """The rows that calibration texts are made of; None where none were given."""

    def trained(self) -> Mapping[str, Any]:
        """The settings of its training.

        Raises:
            ConfigError: there are none.
        """
        if self.settings is None:
            raise ConfigError(
                f"{self.card.name} has no train.json, which says what it was trained from and on: "
                "only a folder written by autoj train has one, or an adapter exported from one"
            )
        return self.settings


def check_form(original: Original, format: Format, *, compared: bool) -> None:
    """Checks, before anything heavy is loaded, that a judge can be exported in a form.

    Args:
        original: the judge.
        format: the form.
        compared: whether its verdicts will be compared with the judge's.

    Raises:
        ConfigError: it cannot.
        MissingExtra: the form's packages are not installed.
    """
    card = original.card
    if card.backend == "scalar" and format != "merged":
        raise ConfigError(f"a reward model can only be exported as merged, not as {format}")
    if card.backend not in ("hf", "vllm", "embedded", "scalar"):
        raise ConfigError(
            f"{card.name} runs on {card.backend!r}: there are no weights to export here"
        )
    if format == "adapter" and card.adapter is not None:
        raise ConfigError(f"{card.name} is an adapter already")
    if format.startswith("openvino") and card.wrapper == TEMPLATE:
        raise ConfigError(
            f"{card.name} is asked through its tokenizer's own chat template, which the embedded "
            "engine does not read",
            hint="Export it as gguf or merged.",
        )
    needed = {"gguf"} if format.startswith("gguf") else set()
    # A GGUF file is compared in the engine that its card names.
    if format.startswith("openvino") or (needed and compared and card.wrapper != TEMPLATE):
        needed |= {"openvino_genai"}
    if any(importlib.util.find_spec(name) is None for name in needed):
        raise MissingExtra("embedded", f"export-model --format {format}")
    if format in ("gptq", "awq", "w4a16"):
        check_compressor(format)
    if format == "openvino-int4":
        check_nncf()


def write_form(
    original: Original, format: Format, out: Path, scratch: Path, *, rank: int
) -> tuple[dict[str, Any], float | None]:
    """Writes a judge's weights in a form.

    Args:
        original: the judge, after `check_form`.
        format: the form.
        out: the folder to write into.
        scratch: an empty folder for what is needed on the way.
        rank: the rank of `adapter`.

    Returns:
        The fields of the card that changed, and for `adapter` the share of the squared change of
        the weights that it keeps, from 0 to 1; None for the others.

    Raises:
        ConfigError: the weights have no such form.
        BackendError: an engine could not read or write them.
        OSError: the disk is full.
    """
    if format == "adapter":
        return _adapter(original, out, rank)
    return _WRITERS[format](original, out, scratch), None


def _on_hf(original: Original, folder: Path, **fields: Any) -> dict[str, Any]:
    """The fields of a card of a model in transformers' layout."""
    pinned = original.card.options.get(TEMPLATE_PIN)
    options = {} if pinned is None else {"options": {TEMPLATE_PIN: pinned}}
    return {"backend": "hf", "model": "./model", "revision": pin(folder), **options, **fields}


def _merged(original: Original, out: Path, scratch: Path) -> dict[str, Any]:
    card = original.card
    if card.backend == "scalar":
        shutil.copytree(card.locate(card.model), out / "model")
        return _on_hf(
            original, out / "model", backend="scalar", revision=card.revision,
            options=dict(card.options),
        )  # fmt: skip
    _save_merged(card, out / "model")
    return _on_hf(original, out / "model")


def _save_merged(card: JudgeCard, folder: Path) -> Any:
    tokenizer, model = load_model(replace(card, backend="hf"))
    with quietly():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return tokenizer


def _compressed(scheme: Scheme) -> Callable[[Original, Path, Path], dict[str, Any]]:
    def write(original: Original, out: Path, scratch: Path) -> dict[str, Any]:
        tokenizer = _save_merged(original.card, scratch / "model")
        compress(scratch / "model", out / "model", scheme, _texts(original, tokenizer, scheme))
        return _on_hf(original, out / "model")

    return write


def _texts(original: Original, tokenizer: Any, format: Format) -> list[list[int]] | None:
    if original.rows is None or format == "w4a16":
        return None
    return encode_texts(original.rows, dict(original.trained()), original.card, tokenizer)


def _gguf(packing: Packing | None) -> Callable[[Original, Path, Path], dict[str, Any]]:
    def write(original: Original, out: Path, scratch: Path) -> dict[str, Any]:
        file = out / "model.gguf"
        _write_packed(original.card, file, scratch, packing)
        if original.card.wrapper == TEMPLATE:  # the embedded engine has no templates
            return _on_hf(original, file, model="./model.gguf")
        return {"backend": "embedded", "model": "./model.gguf", "revision": pin(file)}

    return write


def _openvino(packing: Packing | None) -> Callable[[Original, Path, Path], dict[str, Any]]:
    def write(original: Original, out: Path, scratch: Path) -> dict[str, Any]:
        (scratch / "from").mkdir()
        _write_packed(original.card, scratch / "from" / "model.gguf", scratch, packing)
        write_openvino(scratch / "from" / "model.gguf", out / "openvino")
        return _on_openvino(out)

    return write


def _openvino_int4(original: Original, out: Path, scratch: Path) -> dict[str, Any]:
    (scratch / "half").mkdir()
    _openvino(None)(original, scratch / "half", scratch)
    texts = None
    if original.rows is not None:
        tokenizer, _ = load_model(replace(original.card, backend="hf"))
        texts = _texts(original, tokenizer, "openvino-int4")
    pack_openvino(scratch / "half" / "openvino", out / "openvino", texts)
    return _on_openvino(out)


def _on_openvino(out: Path) -> dict[str, Any]:
    revision = pin(out / "openvino" / OPENVINO_WEIGHTS)
    return {"backend": "embedded", "model": "./openvino", "revision": revision}


def _write_packed(card: JudgeCard, file: Path, scratch: Path, packing: Packing | None) -> None:
    """Writes a judge as a GGUF file: in float16, and from that in fewer bits."""
    half = file if packing is None else scratch / "half.gguf"
    if card.backend == "embedded":
        weights = fetch_weights(card)
        adapter = None
        if card.adapter is not None:
            adapter = read_adapter(
                card.locate(card.adapter),
                revision=card.adapter_revision,
                base_sha256=sha256_of(weights),
                judge=card.name,
            )
        write_dense(weights, half, adapter)
    else:
        tokenizer, model = load_model(replace(card, backend="hf"))
        write_gguf(model, tokenizer, half)
    if packing is not None:
        pack_gguf(half, file, packing)
        half.unlink()


def _adapter(original: Original, out: Path, rank: int) -> tuple[dict[str, Any], float]:
    settings = original.trained()
    base = _untrained(load_card(settings["recipe"]["base"]["judge"]))
    _, trained = load_model(original.card)
    _, before = load_model(replace(base, backend="hf"))
    share = low_rank_adapter(before, trained, rank, out / ADAPTER, base_metadata(base))
    # The training's record is copied, so that this folder can be exported further.
    (out / "train.json").write_bytes(orjson.dumps(settings))
    return adapter_fields(base, out), share


def _untrained(base: JudgeCard) -> JudgeCard:
    """The first base of a chain of trainings: an adapter approximates all of them together."""
    if base.adapter is not None:
        return replace(base, adapter=None, adapter_revision=None)
    if base.folder is None or not TrainingFolder(Path(base.folder)).has_settings:
        return base
    settings = TrainingFolder(Path(base.folder)).settings()
    return _untrained(load_card(settings["recipe"]["base"]["judge"]))


_WRITERS: dict[Format, Callable[[Original, Path, Path], dict[str, Any]]] = {
    "merged": _merged,
    "gguf": _gguf(None),
    "gguf-q8_0": _gguf("Q8_0"),
    "gguf-q4_0": _gguf("Q4_0"),
    "openvino": _openvino(None),
    "openvino-int8": _openvino("Q8_0"),
    "openvino-int4": _openvino_int4,
    "gptq": _compressed("gptq"),
    "awq": _compressed("awq"),
    "w4a16": _compressed("w4a16"),
}
