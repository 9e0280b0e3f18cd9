"""The command line as a user meets it: tables, JSON, exit codes and errors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autoj.backends import scripted
from autoj.backends.scripted import ScriptedBackend
from autoj.datasets import open_cases
from autoj.jsonl import whole_lines, write_records
from autoj.records import Request
from autoj.runs import judge_run, make_spec, open_run

from ..scripted import CARD, Recorder, by_hash

PAIR = {"id": "one", "query": "Why?", "responses": ["Because.", "No reason."], "label": "a"}


@pytest.fixture
def recorded(tmp_path, cases, pair_spec) -> str:
    """A judge that replays a recorded run of the pairs file."""
    spec = pair_spec(critique=True)
    with open_run(tmp_path / "old", spec, cases) as folder:
        judge_run(folder, spec, Recorder())
    return f"scripted:{tmp_path / 'old'}"


def test_judge_prints_verdicts_figures_and_how_to_see_more(run, recorded, pairs_file):
    code, out, err = run(
        "judge", pairs_file, "--judge", recorded, "--protocol", "pairwise-verdict", "--critique"
    )
    assert code == 0
    assert "pairs.jsonl as native" in err
    for text in ("case-0", "win rate of a", "consistency", "agreement", "n=8", "Critique of case"):
        assert text in out
    assert max(map(len, out.splitlines())) <= 80
    (folder,) = Path("runs").iterdir()
    assert f"autoj show {Path('runs') / folder.name} CASE" in err


def test_a_second_start_asks_nothing_and_says_so(run, recorded, pairs_file):
    arguments = ("judge", pairs_file, "--judge", recorded, "--protocol", "pairwise-verdict")
    first = run(*arguments)
    second = run(*arguments)
    assert first[0] == second[0] == 0
    assert "no new requests were needed" in second[2]
    assert "no new requests were needed" not in first[2]


def test_a_cap_on_requests_stops_a_run_and_a_higher_one_goes_on(run, recorded, pairs_file):
    arguments = ("judge", pairs_file, "--judge", recorded, "--protocol", "pairwise-verdict")
    code, _, err = run(*arguments, "--out", "r", "--max-requests", "3")
    assert code == 1
    assert "--max-requests 3 is reached" in err
    assert len(list(whole_lines(Path("r/ledger.jsonl")))) == 3
    assert run(*arguments, "--out", "r")[0] == run(*arguments, "--out", "whole")[0] == 0
    ledgers = [sorted(whole_lines(Path(name, "ledger.jsonl"))) for name in ("r", "whole")]
    assert ledgers[0] == ledgers[1]
    code, _, err = run(*arguments, "--out", "s", "--max-usd", "1")
    assert code == 2
    assert "needs prices" in err


def test_json_is_alone_on_stdout(run, recorded, pairs_file):
    arguments = ("judge", pairs_file, "--judge", recorded, "--protocol", "pairwise-verdict")
    code, out, _ = run(*arguments, "--json", "--out", "r")
    assert code == 0
    result = json.loads(out)
    assert result["run"] == "r"
    assert result["summary"]["n_judged"] == len(result["verdicts"]) == 8
    assert {row["case_id"] for row in result["verdicts"]} >= {"case-0", "twins"}
    for row in result["verdicts"]:
        assert sum(row["probabilities"]) == pytest.approx(1)


def test_failures_give_exit_code_1_and_are_counted(run, recorded, tmp_path):
    path = tmp_path / "new.jsonl"
    write_records(path, [PAIR])
    code, out, _ = run("judge", path, "--judge", recorded, "--protocol", "pairwise-verdict")
    assert code == 1
    assert "0 and 2" in out
    assert "failed" in out


def test_figures_break_down(run, recorded, pairs_file):
    rows = [json.loads(line) for line in pairs_file.read_text().splitlines()]
    for row, scenario in zip(rows, ["planning", "chitchat", "my_own"], strict=False):
        row["scenario"] = scenario
    write_records(pairs_file, rows)
    arguments = ("judge", pairs_file, "--judge", recorded, "--protocol", "pairwise-verdict")
    arguments += ("--unknown-scenario", "keep")
    _, by_scenario, _ = run(*arguments, "--by", "scenario")
    assert "planning" in by_scenario
    _, by_group, _ = run(*arguments, "--by", "group")
    assert "Communication" in by_group
    assert "taxonomy)" in by_group


def test_show_reads_a_run_and_a_case_in_80_columns(run, recorded, pairs_file):
    folder = recorded.removeprefix("scripted:")
    code, out, _ = run("show", folder)
    assert code == 0
    assert "win rate of a" in out
    code, out, _ = run("show", folder, "case-1")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    for text in ("Question 1?", "First answer 1.", "a then b", "b then a", "Winner:", "Critique"):
        assert text in out
    code, out, _ = run("show", folder, "case-1", "--json")
    assert json.loads(out)["verdict"]["case_id"] == "case-1"


def test_show_names_each_of_many_rated_responses(run, tmp_path):
    path = tmp_path / "many.jsonl"
    write_records(path, [{"id": "many", "query": "Why?", "responses": ["x", "y", "z"]}])
    spec = make_spec("rate", CARD)
    with open_run(tmp_path / "rated", spec, open_cases(path)) as folder:
        judge_run(folder, spec, Recorder())
    code, out, _ = run("show", "rated", "many")
    assert code == 0
    assert "response 3" in out
    assert "Rating: " in out


def test_an_unknown_case_proposes_the_nearest(run, recorded):
    code, _, err = run("show", recorded.removeprefix("scripted:"), "case-11")
    assert code == 2
    assert "Did you mean case-1" in err


def test_judges_lists_cards_and_shows_one(run):
    code, out, _ = run("judges")
    assert code == 0
    assert "autoj-13b" in out
    assert "runs here" in out
    code, out, _ = run("judges", "show", "autoj-13b")
    assert code == 0
    assert "54.96" in out
    assert "GAIR/autoj-13b" in out
    first = json.loads(run("judges", "--json")[1])[0]
    assert first["name"] == "autoj-13b"
    assert first["runs_here"]["ready"] is (first["runs_here"]["lacks"] == [])
    assert json.loads(run("judges", "show", "embedded", "--json")[1])["backend"] == "embedded"


def test_hostile_text_neither_moves_the_cursor_nor_is_markup(run, tmp_path, pair_spec):
    path = tmp_path / "hostile.jsonl"
    hostile = "\x1b[2J\x1b]0;owned\x07[bold red]x[/bold red][/nothing]\u202egnp"
    write_records(path, [{**PAIR, "id": hostile, "query": hostile, "responses": [hostile, "b"]}])
    spec = pair_spec()
    with open_run(tmp_path / "hostile", spec, open_cases(path)) as folder:
        judge_run(folder, spec, Recorder())
    for arguments in (("show", "hostile"), ("show", "hostile", hostile)):
        code, out, _ = run(*arguments)
        assert code == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(out)
        assert "\\x1b" in out
    assert "[bold red]x[/bold red][/nothing]" in out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"responses": ["a", "b"]}', "rows.jsonl:1:query: is missing"),
        ('{"query": "Why?", "responses": "ab"}', "rows.jsonl:1:responses: expected a list"),
        ('{"query": " ", "responses": ["a", "b"]}', "rows.jsonl:1:query: the query is empty"),
        ('{"query": 7, "responses": ["a", "b"]}', "rows.jsonl:1:query: expected a string"),
        ('{"query": "Why?", "responses": ["a", 7]}', "rows.jsonl:1:responses[1]: expected a str"),
        ("{not json", "rows.jsonl:1: is not JSON"),
        ("[1, 2]", "rows.jsonl:1: expected a JSON object, found list"),
        ("", "rows.jsonl: is empty"),
        ('{"text": "x"}', "rows.jsonl:1: the fields 'text' fit no known format"),
        (
            '{"query": "q", "responses": ["a", "b"], "prompt": "p", "response": "r"}',
            "fit several formats: autoj-critique, native",
        ),
    ],
)
def test_bad_files_are_named_with_line_and_field(run, tmp_path, content, message):
    path = tmp_path / "rows.jsonl"
    path.write_text(content)
    code, out, err = run("judge", path)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert "Traceback" not in err


def test_text_that_is_not_utf_8_is_named(run, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(json.dumps(PAIR).encode() + b'\n{"query": "caf\xe9"}\n')
    code, _, err = run("judge", path)
    assert code == 2
    assert "rows.jsonl:2: is not UTF-8" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("judge", "none.jsonl"), "none.jsonl: there is no such file"),
        (("judge",), "give one file of cases, or two files"),
        (("judge", "p.jsonl", "--judge", "embeded"), "Did you mean embedded"),
        (("judge", "p.jsonl", "--protocol", "pairwize"), "Did you mean pairwise"),
        (("judge", "p.jsonl", "--judge", "vlm:x"), "Did you mean vllm"),
        (("judge", "p.jsonl", "--judge", "autoj-13b"), "pip install 'autoj[vllm]'"),
        (("judge", "p.jsonl", "--format", "nativ"), "Did you mean native"),
        (("rate", "p.jsonl", "--protocol", "pairwise"), "judges a pair"),
        (("show", "."), "is not a run folder"),
        (("judges", "show", "autoj-13"), "Did you mean autoj-13b"),
        (("judge", "p.jsonl", "--limit", "0"), "--limit"),
    ],
)
def test_mistakes_get_a_message_and_exit_code_2(run, tmp_path, arguments, message):
    write_records(tmp_path / "p.jsonl", [PAIR])
    code, _, err = run(*arguments)
    assert code == 2
    assert message in " ".join(err.split())
    assert "Traceback" not in err


def test_errors_are_json_where_a_machine_listens(run):
    code, out, _ = run("judge", "none.jsonl", "--json")
    assert code == 2
    assert json.loads(out)["error"]["kind"] == "DataError"


def test_other_settings_for_a_run_show_the_difference(run, recorded, pairs_file):
    arguments = ("judge", pairs_file, "--judge", recorded, "--protocol", "pairwise-verdict")
    assert run(*arguments, "--out", "r")[0] == 0
    code, _, err = run(*arguments, "--out", "r", "--orders", "one")
    assert code == 2
    assert "orders: was 'both', is now 'one'" in err


def test_bad_rows_can_be_skipped(run, recorded, pairs_file):
    with pairs_file.open("a") as stream:
        stream.write("broken\n")
    arguments = ("judge", pairs_file, "--judge", recorded, "--protocol", "pairwise-verdict")
    code, _, err = run(*arguments, "--out", "r")
    assert code == 2
    assert "--skip-bad-rows" in err
    code, _, err = run(*arguments, "--out", "r", "--skip-bad-rows")
    assert code == 0
    assert "1 bad rows were left out" in err
    assert "is not JSON" in (Path("r") / "bad_rows.jsonl").read_text()


def test_two_files_are_joined_on_the_query(run, recorded, tmp_path):
    for name, answer in (("a", "Yes."), ("b", "No.")):
        rows = [{"query": f"Question {number}?", "response": answer} for number in range(3)]
        write_records(tmp_path / f"{name}.jsonl", rows)
    code, _, err = run(
        "judge", "--a", "a.jsonl", "--b", "b.jsonl", "--judge", recorded, "--out", "r"
    )
    assert "native joined with native" in err
    assert code == 1  # the replayed run never saw these
    cases = [json.loads(line) for line in whole_lines(Path("r") / "cases.jsonl")]
    assert [response["text"] for response in cases[0]["responses"]] == ["Yes.", "No."]


def test_python_m_autoj_is_the_same_command():
    result = subprocess.run(
        [sys.executable, "-m", "autoj", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("autoj ")


@pytest.mark.parametrize("command", ["judge", "rate", "show", "judges"])
def test_each_command_has_help_with_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"Example: autoj {command}" in " ".join(out.split())


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(run, pairs_file, monkeypatch):
    asked: list[Request] = []

    def interrupted(request: Request) -> object:
        asked.append(request)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return by_hash(request)

    monkeypatch.setattr(scripted, "load", lambda card: ScriptedBackend(card, interrupted))
    code, _, err = run(
        "judge", pairs_file, "--out", "r", "--judge", "scripted:x", "--protocol", "pairwise-verdict"
    )
    assert code == 130
    assert "the same command resumes from there" in err
    assert "Traceback" not in err
    assert len(list(whole_lines(Path("r") / "ledger.jsonl"))) == 2
