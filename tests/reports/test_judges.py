"""Judges' cards as tables: what each needs, and all that one says."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Group

from autoj.judges.readiness import Readiness
from autoj.records import Calibration
from autoj.reports.judges import card_table, judges_table

from ..scripted import CARD
from .pages import check_pages, page, rows


def test_pages():
    def view(name: str) -> Group:
        card = replace(CARD, name=name, title=name)
        return Group(judges_table([card]), card_table(card))

    check_pages(view, "4,096 tokens")


def test_a_card_says_what_its_judge_needs():
    texts = {
        "scripted": "nothing more",
        "vllm": "autoj[vllm]",
        "later": "autoj[later], in a later version",
    }
    for backend, text in texts.items():
        (needs,) = [
            line.split("needs", 1)[1].strip()
            for line in page(card_table(replace(CARD, backend=backend))).splitlines()
            if line.split()[:1] == ["needs"]
        ]
        assert needs == text


def test_a_list_of_judges_says_which_can_run_here(monkeypatch):
    states = {
        "here": (Readiness(), "yes"),
        "far": (Readiness(lacks=("autoj[vllm]", "a GPU")), "needs autoj[vllm] and a GPU"),
        "small": (Readiness(fetches=True, fetch_bytes=98_362_432), "yes, fetches 98 MB first"),
        "unknown": (Readiness(fetches=True), "yes, fetches its weights first"),
        "served": (Readiness(server="127.0.0.1:8000"), "yes, if 127.0.0.1:8000 answers"),
    }
    monkeypatch.setattr(Readiness, "of", lambda card: states[card.name][0])
    cards = [replace(CARD, name=name, title="t") for name in states]
    shown = {words[0]: " ".join(words[2:]) for words in rows(page(judges_table(cards)))[1:]}
    assert shown == {name: text for name, (_, text) in states.items()}


def test_what_a_card_does_not_say_has_no_line():
    text = page(card_table(CARD))
    assert "calibrated" not in text
    fitted = {"pairwise-verdict": Calibration(temperature=1.5, tie=0.25, fitted_on="votes")}
    text = " ".join(page(card_table(replace(CARD, calibration=fitted))).split())
    assert "pairwise-verdict: temperature 1.5, half tie band 0.25 (fitted on votes)" in text
