"""The learning curve: every figure logged in training, as a table and as a picture."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Not of interest in a curve: speeds and totals of one evaluation or of the whole run.
_LEFT_OUT = ("runtime", "per_second", "flos", "entropy", "num_tokens", "mean_token_accuracy")


def write_curve(path: Path, history: Sequence[Mapping[str, Any]]) -> None:
    """Writes the trainer's log as CSV, one line per step; the file is replaced atomically.

    Args:
        path: the file.
        history: the trainer's `state.log_history`.
    """
    rows: dict[int, dict[str, Any]] = {}
    for entry in history:
        row = rows.setdefault(int(entry["step"]), {"step": int(entry["step"])})
        row.update({name: value for name, value in entry.items() if _is_figure(name)})
    columns = ["step", *sorted({name for row in rows.values() for name in row} - {"step"})]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows[step] for step in sorted(rows))
    draft = path.with_suffix(".draft")
    draft.write_text(text.getvalue(), encoding="utf-8")
    draft.replace(path)


def _is_figure(name: str) -> bool:
    return name != "step" and not any(part in name for part in _LEFT_OUT)


def write_picture(path: Path, history: Sequence[Mapping[str, Any]], title: str) -> None:
    """Draws the losses and the validation accuracy by step.

    Args:
        path: the PNG file.
        history: the trainer's `state.log_history`.
        title: the title above the picture.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    FigureCanvasAgg(figure)
    losses, shares = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    for name in _names(history):
        steps, values = _series(history, name)
        if name.endswith("_right"):
            shares.plot(steps, values, marker="o", label=name.removeprefix("eval_"))
        elif name.endswith("loss"):
            marker = "o" if name.startswith("eval") else None
            losses.plot(steps, values, marker=marker, label=name.replace("eval_", "validation "))
    losses.set(ylabel="loss", title=title)
    shares.set(ylabel="validation accuracy", xlabel="step", ylim=(0, 1))
    for axes in (losses, shares):
        if axes.lines:
            axes.legend(fontsize="small")
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def _names(history: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted({name for entry in history for name in entry if _is_figure(name)})


def _series(history: Sequence[Mapping[str, Any]], name: str) -> tuple[list[int], list[float]]:
    points = [(int(entry["step"]), float(entry[name])) for entry in history if name in entry]
    return [step for step, _ in points], [value for _, value in points]
