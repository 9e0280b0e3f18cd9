"""The table of a fitted calibration: its parameters, and verdicts before and after."""

from __future__ import annotations

from dataclasses import replace

from autoj.calibration.fitting import CalibrationFit
from autoj.calibration.likelihood import FileFigures
from autoj.records import Calibration
from autoj.reports.calibrate import calibration_view
from autoj.runs import make_spec

from ..scripted import CARD
from .pages import check_pages, page, rows

FIGURES = FileFigures(log_loss=1.25, brier=0.5, accuracy=1.0, decided=0.625)


def fit(**its) -> CalibrationFit:
    found = CalibrationFit(
        calibration=Calibration(temperature=1.5, tie=1.0, surface={"length": 0.125}),
        n={"a": 700, "b": 500, "tie": 34},
        n_left_out=1200,
        tie_share=0.25,
        before=replace(FIGURES, log_loss=None, brier=None),
        after=FIGURES,
        held_out=FIGURES,
    )
    return replace(found, **its)


def view(name: str = "plain", **its):
    card = replace(CARD, name=name)
    found = fit(**its)
    return calibration_view(
        replace(found, calibration=replace(found.calibration, fitted_on=name)),
        make_spec("judge", card),
    )


def test_pages():
    check_pages(view, "100.0 %", "62.5 %", "1.2500", "0.5000", "1,234")


def test_figures_stand_before_after_and_held_out():
    lines = rows(page(view()))
    assert ["accuracy", "of", "the", "verdict", *("100.0", "%") * 3] in lines
    assert ["log-loss", "(nats)", "-", "1.2500", "1.2500"] in lines
    assert "held" not in page(view(held_out=None)).split("are in-sample")[0]
    assert "Too few pairs or queries to hold some out" in " ".join(
        page(view(held_out=None)).split()
    )


def test_ties_are_told_as_they_were_weighted():
    assert "2.8 % in the file, weighted to 25.0 %" in page(view())
    assert "2.8 %, as in the file" in page(view(tie_share=34 / 1234))


def test_a_tie_band_is_told_or_why_there_is_none():
    assert "1: a tie is the likeliest for differences up to" in page(view())
    assert "1: no pair is a tie" in page(view(reason="no pair is a tie"))
    assert "length +0.125" in page(view())
