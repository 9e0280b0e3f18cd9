"""Weights in 4 or 8 bits by the libraries that quantise them: llm-compressor, OpenVINO's NNCF.

```
w4a16  4 bits by rounding to the nearest value; needs no texts
gptq   4 bits, each column's rounding error made up for by the columns after it, as texts weigh them
awq    4 bits, columns that texts use most scaled up before they are rounded
```

All three write one layout (compressed-tensors), which vLLM and transformers read; groups of weights
in a row share a scale, and the projection to the vocabulary stays as it is.

**Source:** Frantar et al. 2022 (arXiv 2210.17323); Lin et al. 2023 (arXiv 2306.00978).
"""

import importlib.util
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from autoj.backends._loading import in_short
from autoj.backends.embedded import OPENVINO_WEIGHTS
from autoj.errors import BackendError, ConfigError, MissingExtra

Scheme: TypeAlias = Literal["gptq", "awq", "w4a16"]

# Sizes that the kernels of vLLM take, the coarsest and smallest first.
_GROUPS = (128, 64, 32)
_OPENVINO_MODEL = "openvino_model.xml"
_ONE_MAKER = (
    "gptq is written by llm-compressor; GPT-QModel is not asked for, as it has no package for "
    "Python 3.11"
)


def check_compressor(scheme: Scheme) -> None:
    """Checks that llm-compressor is installed.

    Raises:
        MissingExtra: it is not.
    """
    if importlib.util.find_spec("llmcompressor") is None:
        note = "in an environment of its own: it holds transformers back"
        raise MissingExtra(
            "quantize",
            f"export-model --format {scheme}",
            note=f"{note}; {_ONE_MAKER}" if scheme == "gptq" else note,
        )


def compress(
    folder: Path, out: Path, scheme: Scheme, texts: Sequence[Sequence[int]] | None
) -> None:
    """Quantises the matrices of a language model's layers to 4 bits.

    Args:
        folder: the model and its tokenizer in transformers' layout, without an adapter.
        out: the folder to write, in the same layout.
        scheme: the method.
        texts: token ids to calibrate on; None for `w4a16`, which takes none.

    Raises:
        ConfigError: the model's matrices cannot be grouped, or the method does not know the model.
    """
    # Its tokenizer's threads and datasets' processes would wait for each other.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import loguru
    import transformers
    from llmcompressor import oneshot

    from datasets import Dataset

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    settings: dict[str, Any] = {}
    if texts is not None:
        columns = {"input_ids": texts, "attention_mask": [[1] * len(text) for text in texts]}
        settings = {
            "dataset": Dataset.from_dict(columns),
            "num_calibration_samples": len(texts),
            "max_seq_length": max(map(len, texts)),
            "batch_size": 1,  # sequences are cut to the shortest of a batch
        }
    recipe = compressor_recipe(scheme, group_size(model))
    # After its modules are imported, which turn their log on; its progress stays.
    loguru.logger.disable("llmcompressor")
    try:
        with _without_pinning():
            oneshot(
                model=model, processor=tokenizer, recipe=recipe, output_dir=str(out), **settings
            )
    except (ValueError, RuntimeError, AttributeError, NotImplementedError) as error:
        raise ConfigError(
            f"llm-compressor cannot quantise this {model.config.model_type} model by {scheme}: "
            f"{in_short(error)}"
        ) from error


@contextmanager
def _without_pinning() -> Iterator[None]:
    """Lets `awq` run without a GPU: release 0.14 pins memory for copies to one all the same."""
    import torch
    from llmcompressor.pipelines.cache import IntermediatesCache

    if torch.accelerator.is_available():
        yield
        return
    pinning = IntermediatesCache.pin_memory
    IntermediatesCache.pin_memory = lambda *_: None
    try:
        yield
    finally:
        IntermediatesCache.pin_memory = pinning


def group_size(model: Any) -> int:
    """The largest size of groups that divides the rows of all matrices to quantise.

    Raises:
        ConfigError: there is none.
    """
    import torch

    widths = {
        module.in_features
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and name.rpartition(".")[2] != "lm_head"
    }
    for size in _GROUPS:
        if widths and all(width % size == 0 for width in widths):
            return size
    raise ConfigError(
        f"this {model.config.model_type} model's rows ({', '.join(map(str, sorted(widths)))} "
        f"weights) cannot be divided into groups of {', '.join(map(str, _GROUPS))}",
        hint="Export it as gguf-q8_0 or openvino-int8.",
    )


def compressor_recipe(scheme: Scheme, size: int) -> list[Any]:
    """The recipe of llm-compressor for a method.

    Args:
        scheme: the method.
        size: the weights of a row that share a scale.
    """
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    from llmcompressor.modifiers.gptq import GPTQModifier
    from llmcompressor.modifiers.quantization import QuantizationModifier
    from llmcompressor.modifiers.transform.awq import AWQModifier

    weights = QuantizationArgs(
        num_bits=4,
        type="int",
        # Scales that texts have chosen leave weights that are not centred.
        symmetric=scheme != "awq",
        strategy="group",
        group_size=size,
    )
    groups = {"group_0": QuantizationScheme(targets=["Linear"], weights=weights)}
    common = {"config_groups": groups, "ignore": ["lm_head"]}
    if scheme == "gptq":
        return [GPTQModifier(**common)]
    rounding = QuantizationModifier(**common)
    return [AWQModifier(), rounding] if scheme == "awq" else [rounding]


def check_nncf() -> None:
    """Checks that NNCF is installed.

    Raises:
        MissingExtra: it is not.
    """
    if importlib.util.find_spec("nncf") is None:
        raise MissingExtra("quantize", "export-model --format openvino-int4")


def write_openvino(gguf: Path, out: Path) -> None:
    """Writes the model of a GGUF file in OpenVINO's format, in the packing that the file has.

    Args:
        gguf: the file, alone in its folder.
        out: the folder to write.

    Raises:
        BackendError: OpenVINO cannot read the file, or could not write.
    """
    import openvino_genai

    try:
        openvino_genai.LLMPipeline(str(gguf), "CPU", enable_save_ov_model=True)
    except (RuntimeError, IndexError) as error:  # IndexError: without a tokenizer, for one
        raise BackendError(f"OpenVINO cannot read the judge as GGUF: {error}") from error
    if not gguf.with_name(OPENVINO_WEIGHTS).is_file():
        raise BackendError("OpenVINO wrote no model; is the disk full?")
    out.mkdir()
    for file in gguf.parent.glob("openvino_*"):
        shutil.move(str(file), str(out / file.name))


def pack_openvino(folder: Path, out: Path, texts: Iterable[Sequence[int]] | None) -> None:
    """Packs a model in OpenVINO's format into 4 bits, its vocabulary into 8.

    Args:
        folder: the model and its tokenizer, in 16 bits.
        out: the folder to write.
        texts: token ids on which the scales are chosen; None rounds without texts.
    """
    import nncf
    import openvino

    nncf.set_log_level("ERROR")
    settings: dict[str, Any] = {}
    if texts is not None:
        inputs = [_inputs(text) for text in texts]
        settings = {
            "dataset": nncf.Dataset(inputs), "subset_size": len(inputs), "scale_estimation": True,
        }  # fmt: skip
    model = openvino.Core().read_model(folder / _OPENVINO_MODEL)
    packed = nncf.compress_weights(
        model, mode=nncf.CompressWeightsMode.INT4_ASYM, group_size=32, **settings
    )
    out.mkdir()
    openvino.save_model(packed, out / _OPENVINO_MODEL)
    for file in folder.glob("openvino_*tokenizer.*"):
        shutil.copy(file, out)


def _inputs(text: Sequence[int]) -> dict[str, Any]:
    n = len(text)
    return {
        "input_ids": np.array([text], np.int64),
        "attention_mask": np.ones((1, n), np.int64),
        "position_ids": np.arange(n, dtype=np.int64)[None],
        "beam_idx": np.zeros(1, np.int32),
    }
