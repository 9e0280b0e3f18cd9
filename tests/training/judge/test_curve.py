"""The loss curve as a table and as a picture."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from autoj.training.judge.curve import write_curve, write_picture

HISTORY = [
    {"step": 1, "loss": 4.0, "learning_rate": 0.1},
    {"step": 2, "loss": 2.0, "learning_rate": 0.05},
    {"step": 2, "eval_loss": 3.0, "eval_single_right": 0.5, "eval_runtime": 7.0},
    {"step": 2, "train_runtime": 9.0, "total_flos": 1e9},
]


def test_the_table_has_a_line_a_step_and_no_speeds(tmp_path: Path) -> None:
    write_curve(tmp_path / "curve.csv", HISTORY)
    with (tmp_path / "curve.csv").open() as stream:
        one, two = csv.DictReader(stream)
    assert one == {
        "step": "1", "loss": "4.0", "learning_rate": "0.1", "eval_loss": "",
        "eval_single_right": "",
    }  # fmt: skip
    assert (two["loss"], two["eval_loss"], two["eval_single_right"]) == ("2.0", "3.0", "0.5")
    assert [path.name for path in tmp_path.iterdir()] == ["curve.csv"]


def test_the_picture_shows_losses_and_what_was_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = pytest.importorskip("matplotlib.figure")
    drawn = []
    real = figures.Figure.savefig

    def savefig(figure, path, **settings):  # type: ignore[no-untyped-def]
        drawn.append(figure)
        real(figure, path, **settings)

    monkeypatch.setattr(figures.Figure, "savefig", savefig)
    write_picture(tmp_path / "curve.png", HISTORY, "My judge")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    losses, shares = drawn[0].axes
    assert losses.get_title() == "My judge"
    assert {line.get_label(): list(line.get_ydata()) for line in losses.lines} == {
        "loss": [4.0, 2.0],
        "validation loss": [3.0],
    }
    assert [line.get_label() for line in shares.lines] == ["single_right"]
