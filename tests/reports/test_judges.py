"""Judges' cards as tables: what each needs, and all that one says."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Group

from autoj.records import Calibration
from autoj.reports.judges import card_table, judges_table

from ..scripted import CARD
from .pages import check_pages, page, rows


def test_pages():
    def view(name: str) -> Group:
        card = replace(CARD, name=name, title=name)
        return Group(judges_table([card]), card_table(card))

    check_pages(view, "4,096 tokens")


def test_a_judge_says_what_it_needs():
    needs = [rows(page(judges_table([replace(CARD, backend=name)])))[1][3:] for name in (
        "scripted", "vllm", "later",
    )]  # fmt: skip
    assert [" ".join(words) for words in needs] == [
        "nothing more", "autoj[vllm]", "autoj[later], in a later version",
    ]  # fmt: skip


def test_what_a_card_does_not_say_has_no_line():
    text = page(card_table(CARD))
    assert "calibrated" not in text
    fitted = {"pairwise-verdict": Calibration(temperature=1.5, tie=0.25, fitted_on="votes")}
    text = " ".join(page(card_table(replace(CARD, calibration=fitted))).split())
    assert "pairwise-verdict: temperature 1.5, half tie band 0.25 (fitted on votes)" in text
