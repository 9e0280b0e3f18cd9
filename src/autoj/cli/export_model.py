"""`autoj export-model`: a trained judge's weights for other engines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.training.judge.export import Format
from autoj.training.judge.export import export_model as write_export


def export_model(
    judge: Annotated[Path, typer.Argument(help="The folder that autoj train wrote.")],
    format: Annotated[
        Format,
        _options.output(
            help="merged (transformers), gguf (llama.cpp), openvino (the embedded engine), or "
            "adapter (LoRA, from whole trained weights)."
        ),
    ],
    out: Annotated[Path, _options.output(help="A new folder.")],
    rank: Annotated[int, _options.output(min=1, help="The rank of an adapter.")] = 32,
) -> None:
    """Write a trained judge as one model, a GGUF file, an OpenVINO folder or an adapter.

    The folder has the judge's card and a model card in the Hub's format, so --judge OUT works.

    Example: autoj export-model judges/mine --format merged --out judges/mine-merged
    """
    share = write_export(judge, out, format, rank=rank)
    kept = "" if share is None else f"; rank {rank} keeps {share:.1%} of what training changed"
    _console.print_message(f"{format} is in {out}{kept}")
