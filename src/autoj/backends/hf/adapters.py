"""LoRA adapters in PEFT's layout: verified, applied to a base, and merged into dense weights.

An adapter is useless on other weights than those that it was trained on, without any sign of it. So
its file is checked against the card (`adapter_revision`), and the digest of the base in its
metadata (`base_sha256`) against the loaded base. PEFT supports more kinds of LoRA than
`autoj.backends._adapters` merges by itself, and others' adapters name no base; both are accepted.
"""

import json
import warnings
from pathlib import Path
from typing import Any

from autoj.backends._adapter_config import CONFIG_FILE
from autoj.backends._adapters import BASE_FIELD, WEIGHTS_FILE
from autoj.backends._loading import in_short
from autoj.backends.hf.memory import does_not_fit, is_out_of_memory
from autoj.errors import ConfigError
from autoj.jsonl import sha256_of
from autoj.records import JudgeCard


def check_adapter(card: JudgeCard, base: Path | None) -> Path:
    """The folder of a card's adapter, after checking that it is complete and fits the base.

    Args:
        card: a card with an adapter.
        base: the base's weights file; None where it is not a single file.

    Raises:
        ConfigError: a file is missing or damaged, is not the one that the card pins, or was trained
            on other weights.
    """
    folder = card.locate(str(card.adapter))
    weights = folder / WEIGHTS_FILE
    for path in (folder / CONFIG_FILE, weights):
        if not path.is_file():
            raise ConfigError(
                f"judge {card.name!r}: there is no {path}",
                hint=f"An adapter is a folder with {CONFIG_FILE} and {WEIGHTS_FILE}.",
            )
    _check_kind(folder / CONFIG_FILE)
    if card.adapter_revision is not None:
        _check_digest(weights, card.adapter_revision, f"the card of judge {card.name!r} pins")
    trained_on = _metadata(weights).get(BASE_FIELD)
    if trained_on is not None and base is not None:
        _check_digest(base, trained_on, f"{weights} was trained on")
    return folder


def lay_adapter(model: Any, folder: Path) -> Any:
    """Applies an adapter to a model: merged into dense weights, separate on quantised ones.

    Args:
        model: the base, of transformers.
        folder: the result of `check_adapter`.

    Raises:
        ConfigError: the adapter does not fit the model, or memory is too small to merge it.
    """
    import peft

    try:
        with warnings.catch_warnings():
            # Warnings about old names in PEFT and transformers do not concern the user. Missing
            # weights of an adapter, which then have no effect, are only a warning, too.
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message=".*missing adapter keys.*")
            laid = peft.PeftModel.from_pretrained(
                model, str(folder), torch_device=str(model.device)
            )
        _check_all_used(folder, laid)
        if getattr(model, "is_quantized", False):
            return laid.eval()
        return laid.merge_and_unload(safe_merge=True).eval()
    except (KeyError, MemoryError, RuntimeError, TypeError, UserWarning, ValueError) as error:
        if is_out_of_memory(error):
            raise does_not_fit(f"the adapter in {folder}", str(model.device), error) from None
        raise ConfigError(
            f"the adapter in {folder} does not fit {type(model).__name__}: {in_short(error)}"
        ) from None


def _check_all_used(folder: Path, laid: Any) -> None:
    """Refuses an adapter with factors that its settings do not name: PEFT leaves them out, silent.

    Factors of a layer that this model does not have are those of an older layout of it, such as
    experts one by one, which PEFT puts together.

    Raises:
        ConfigError: the file has factors of a layer of this model that are not laid on it.
    """
    import peft
    import safetensors

    used = peft.get_peft_model_state_dict(laid, save_embedding_layers=False)
    layers = {name for name, _ in laid.named_modules()}
    with safetensors.safe_open(folder / WEIGHTS_FILE, framework="pt") as opened:
        names: list[str] = opened.keys()
    unused = [
        name
        for name in names
        if name not in used and ".lora_" in name and name.partition(".lora_")[0] in layers
    ]
    if unused:
        raise ConfigError(
            f"the adapter in {folder} has {len(unused):,} factors that its {CONFIG_FILE} does not "
            f"name, such as {unused[0]}: it would be applied in part",
            hint="Copy both files of the adapter again from where it was trained.",
        )


def _check_kind(path: Path) -> None:
    try:
        kind = json.loads(path.read_text(encoding="utf-8"))["peft_type"]
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise ConfigError(f"{path} is not a PEFT configuration: {error!r}") from None
    if kind != "LORA":
        raise ConfigError(f"{path}: peft_type must be 'LORA', found {kind!r}")


def _check_digest(path: Path, expected: str, who: str) -> None:
    wanted = expected.removeprefix("sha256:")
    found = sha256_of(path)
    if found != wanted:
        raise ConfigError(
            f"{path} is not the file that {who}: expected sha256 {wanted}, found {found}"
        )


def _metadata(path: Path) -> dict[str, str]:
    import safetensors

    try:
        with safetensors.safe_open(path, framework="pt") as opened:
            return dict(opened.metadata() or {})
    except (OSError, safetensors.SafetensorError) as error:
        raise ConfigError(
            f"{path} is damaged: {error}", hint="Copy or train the adapter again."
        ) from None
