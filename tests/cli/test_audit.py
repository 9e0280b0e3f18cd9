"""`autoj audit` as a user meets it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer
from benchmarks.known_pairs import write_known_pairs
from typer.testing import CliRunner

from autoj.cli import audit as command
from autoj.errors import ConfigError, DataError, SpecMismatch
from autoj.jsonl import whole_lines
from autoj.records import Failure

from ..scripted import Killed, Recorder, by_hash


@pytest.fixture
def app():
    app = typer.Typer()
    app.command()(command.audit)
    return app


@pytest.fixture
def backends(monkeypatch) -> list[Recorder]:
    """The backends that were loaded; each answers by the request alone."""
    loaded: list[Recorder] = []

    def load(card):
        loaded.append(Recorder(by_hash, card))
        return loaded[-1]

    monkeypatch.setattr("autoj.tasks.engine.load_backend", load)
    return loaded


@pytest.fixture
def run(app, backends, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    write_known_pairs(Path("set.jsonl"), 24, seed=0)
    Path("judge.yaml").write_text(
        "title: A script\nbackend: scripted\nmodel: script\nwrapper: none\n"
        "protocols: [pairwise-verdict, single-verdict]\ncontext_tokens: 4096\n"
    )

    def call(*arguments, judge="judge.yaml"):
        flags = [*arguments, *(("--judge", judge, "--on", "set.jsonl") if judge else ())]
        return CliRunner().invoke(app, [*map(str, flags), "--probes", "6"])

    return call


def test_the_card_is_shown_with_its_cost_before_and_kept(run, backends):
    done = run("--limit", "20", "--out", "audit")
    assert done.exit_code == 0, done.exception
    assert "20 of 24 cases, drawn by seed 0; each probe is made of at most 6 of them" in done.stderr
    n_asked = len(backends[0].asked)
    told = f"{n_asked:,} of them distinct"
    assert f" questions, {told}; {n_asked:,} requests still to make: about" in done.stderr
    (n_questions,) = re.findall(r"([\d,]+) questions, ", done.stderr)
    # The card reports what was announced, and the plans hold it.
    assert f"questions  {n_questions}, {told}" in done.stdout
    plans = [list(whole_lines(path)) for path in Path("audit").glob("*/plan.jsonl")]
    assert sum(map(len, plans)) == int(n_questions.replace(",", ""))
    assert "at the speed of the first few" in done.stderr
    for text in ("position bias", "bullets", "harmless", "test-retest", "probability of the verd"):
        assert text in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    card = json.loads(Path("audit/audit.json").read_bytes())
    assert card["bench"] == "audit"
    assert len(card["details"]["sampled"]) == 20


def test_a_second_start_asks_nothing_and_gives_the_same_card(run, backends):
    first = run("--json")
    second = run("--json")
    assert first.exit_code == second.exit_code == 0
    assert backends[1].asked == []
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert "; 0 requests still to make" in second.stderr
    (folder,) = Path("runs").iterdir()
    assert folder.name.startswith("audit-set-judge-")


def test_a_finished_audit_is_read_again_without_a_judge(run, backends):
    first = run("--out", "audit", "--json")
    again = run("--run", "audit", "--json", "--save", "card.json", judge=None)
    assert again.exit_code == 0
    assert json.loads(again.stdout) == json.loads(first.stdout)
    assert json.loads(Path("card.json").read_bytes()) == json.loads(first.stdout)
    assert len(backends) == 1


def test_killed_it_goes_on(run, backends, monkeypatch):
    whole = run("--out", "whole", "--json")
    n_whole = len(backends[0].asked)

    def dies(card):
        backends.append(Recorder(by_hash, card, dies_after=n_whole // 2))
        return backends[-1]

    with monkeypatch.context() as patch:
        patch.setattr("autoj.tasks.engine.load_backend", dies)
        with pytest.raises(Killed):
            run("--out", "killed")
    resumed = run("--out", "killed", "--json")
    assert len(backends[1].asked) + len(backends[2].asked) == n_whole
    found, wanted = json.loads(resumed.stdout), json.loads(whole.stdout)
    assert found["estimates"] == wanted["estimates"]


def test_another_seed_does_not_go_on_with_the_same_folder(run, backends):
    run("--out", "audit", "--limit", "10")
    done = run("--out", "audit", "--limit", "10", "--seed", "1")
    assert isinstance(done.exception, SpecMismatch)
    # It is found before a judge is loaded.
    assert len(backends) == 1


def test_what_it_cannot_do_it_says(run):
    assert isinstance(run(judge=None).exception, ConfigError)
    assert isinstance(run("--run", "nowhere", judge=None).exception, DataError)


def test_a_damaged_plan_is_told_with_its_file(run):
    run("--out", "audit", "--limit", "6")
    Path("audit/audit_plan.json").write_text("{}")
    done = run("--run", "audit", judge=None)
    assert isinstance(done.exception, DataError)
    assert "audit_plan.json: is not the plan of an audit" in str(done.exception)


def test_a_judge_of_single_responses_is_audited_too(run):
    done = run("--protocol", "single-verdict", "--out", "audit")
    assert done.exit_code == 0, done.exception
    assert "Not applicable: each response is rated alone." in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_failed_judgments_are_on_the_card_and_in_the_exit_code(run, monkeypatch):
    def answer(request):
        if request.key[0] in "01":
            return Failure(
                key=request.key, error="Refused", message="no", retryable=False, attempts=1
            )
        return by_hash(request)

    monkeypatch.setattr("autoj.tasks.engine.load_backend", lambda card: Recorder(answer, card))
    done = run("--out", "audit")
    assert done.exit_code == 1
    assert "judgments failed" in done.stdout
    card = json.loads(Path("audit/audit.json").read_bytes())
    (failed,) = (found for found in card["estimates"] if found["name"] == "failed")
    assert 0 < failed["value"] < 0.3
    assert any(found["n_unscored"] and found["bounds"] for found in card["estimates"])


def test_a_cap_stops_the_audit_and_a_higher_one_goes_on(run, backends):
    whole = run("--limit", "10", "--out", "whole", "--json")
    n_all = len(backends[0].asked)
    for cap in (3, 40):
        done = run("--limit", "10", "--out", "part", "--max-requests", cap)
        assert done.exit_code == 1
        assert done.stdout == ""
        assert f"--max-requests {cap} is reached" in done.stderr
        assert not Path("part/audit.json").exists()
    asked = [len(backend.asked) for backend in backends[1:]]
    assert asked == [3, 37]
    done = run("--limit", "10", "--out", "part", "--max-requests", n_all, "--json")
    assert done.exit_code == 0
    assert len(backends[-1].asked) == n_all - 40
    assert json.loads(done.stdout)["estimates"] == json.loads(whole.stdout)["estimates"]


def test_a_cap_on_money_needs_prices(run, backends):
    done = run("--max-usd", "1")
    assert isinstance(done.exception, ConfigError)
    assert "needs prices" in str(done.exception)
    assert backends == []
