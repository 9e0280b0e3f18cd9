"""`autoj export-model`: a judge's weights for other engines, and in fewer bits."""

from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.cli._progress import watching
from autoj.training.judge.export import MAX_MOVED, N_PAIRS
from autoj.training.judge.export import export_model as write_export
from autoj.training.judge.forms import Format


def export_model(
    judge: Annotated[
        Path,
        typer.Argument(
            help="The folder that autoj train wrote; or a judge's name or card whose weights can "
            "be had here."
        ),
    ],
    format: Annotated[
        Format,
        _options.output(
            metavar="FORM",
            help="merged (transformers), adapter (LoRA, from whole trained weights), gguf "
            "(llama.cpp), openvino (the embedded engine); fewer bits: gguf-q8_0, gguf-q4_0, "
            "openvino-int8, openvino-int4, and for vLLM gptq, awq, w4a16.",
        ),
    ],
    out: Annotated[Path, _options.output(help="A new folder.")],
    rank: Annotated[int, _options.output(min=1, help="The rank of an adapter.")] = 32,
    calibration: Annotated[
        list[Path] | None,
        _options.computing(
            help="A file that the judge was trained on: gptq and awq weigh its texts, "
            "openvino-int4 may. Repeat it for more. A benchmark's file is refused."
        ),
    ] = None,
    validation: Annotated[
        Path | None,
        _options.computing(
            help="Pairs to compare verdicts on, with or without labels; needed for fewer bits."
        ),
    ] = None,
    limit: Annotated[
        int, _options.computing(min=1, help="The most of these pairs, drawn by a fixed seed.")
    ] = N_PAIRS,
    max_moved: Annotated[
        float,
        _options.accepted(
            min=0, max=1, help="The share of verdicts that may move; beyond it nothing is kept."
        ),
    ] = MAX_MOVED,
) -> None:
    """Write a judge in another form: one model, GGUF, OpenVINO, an adapter, or in fewer bits.

    The folder has the judge's card and a model card in the Hub's format, so --judge OUT works. With
    --validation it is compared with the judge itself, verdict by verdict.

    Example: autoj export-model judges/mine --format merged --out judges/mine-merged
    """
    with watching() as watch:
        made = write_export(
            judge, out, format, rank=rank, calibration=calibration or (), validation=validation,
            max_moved=max_moved, limit=limit, watch=watch,
        )  # fmt: skip
    _console.print_message(made.sentence(rank))
