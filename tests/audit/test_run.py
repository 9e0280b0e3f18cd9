"""`audit.run`: an audit from its plan to its card by one call that prints nothing."""

from __future__ import annotations

import pytest
from benchmarks.known_pairs import write_known_pairs

from autoj.audit.card import audit_card
from autoj.audit.plan import audit_spec, plan_audit
from autoj.audit.run import run_audit
from autoj.datasets import open_cases
from autoj.errors import Unfinished
from autoj.tasks.default_paths import audit_folder

from ..scripted import CARD, Killed, Recorder
from ..watches import Notes


@pytest.fixture
def data(tmp_path):
    write_known_pairs(tmp_path / "known.jsonl", 20, seed=0)
    return open_cases(tmp_path / "known.jsonl")


@pytest.fixture
def plan(data):
    spec = audit_spec(CARD, protocol="pairwise-verdict")
    return plan_audit(data, spec, n_sample=12, n_probed=4, seed=3)


def test_the_cost_is_told_before_and_the_card_is_what_the_folder_holds(plan, tmp_path, capsys):
    notes, engine = Notes(), Recorder()
    card = run_audit(plan, tmp_path / "audit", backend=engine, watch=notes)
    drawn, cost = notes.messages[:2]
    assert drawn.startswith(
        "12 of 20 cases, drawn by seed 3; each probe is made of at most 4 of them"
    )
    n_asked = len(engine.asked)
    n_questions = card.details["n_questions"]
    assert cost.startswith(
        f"{n_questions:,} questions, {n_asked:,} of them distinct; {n_asked:,} requests still to "
        "make: about"
    )
    assert card == audit_card(tmp_path / "audit")
    assert card.details["n_judgments"] == n_asked
    assert {what for what, _, _ in notes.progress_of}
    assert capsys.readouterr() == ("", "")


def test_a_second_call_asks_nothing_and_a_killed_one_goes_on(plan, tmp_path):
    with pytest.raises(Killed):
        run_audit(plan, tmp_path / "audit", backend=Recorder(dies_after=15))
    rest, none_left = Recorder(), Recorder()
    card = run_audit(plan, tmp_path / "audit", backend=rest)
    assert len(rest.asked) == card.details["n_judgments"] - 15
    assert run_audit(plan, tmp_path / "audit", backend=none_left) == card
    assert none_left.asked == []


def test_a_cap_ends_it_before_a_card_is_made_of_a_part(plan, tmp_path):
    with pytest.raises(Unfinished, match="5 of 36 verdicts"):
        run_audit(plan, tmp_path / "audit", caps=(None, 10), backend=Recorder())


def test_the_judge_is_loaded_once_and_freed(plan, tmp_path, monkeypatch):
    loaded: list[Recorder] = []
    closed: list[Recorder] = []

    def load(card):
        loaded.append(Recorder(card=card))
        return loaded[-1]

    monkeypatch.setattr("autoj.tasks.engine.load_backend", load)
    monkeypatch.setattr(Recorder, "close", lambda self: closed.append(self), raising=False)
    run_audit(plan, tmp_path / "audit")
    assert len(loaded) == 1
    assert closed == loaded


def test_the_default_folder_is_the_same_for_the_same_plan_alone(plan, data):
    first = plan.parts[0]
    place = audit_folder(first.spec, first.cases, data)
    assert place.name.startswith("audit-known-script-")
    other = plan_audit(data, first.spec, n_sample=12, n_probed=4, seed=4).parts[0]
    assert audit_folder(other.spec, other.cases, data) != place
