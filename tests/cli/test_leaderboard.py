"""`autoj leaderboard` as a user meets it: tables of 80 columns, JSON, CSV, errors."""

from __future__ import annotations

import csv
import json
import os

import pytest
import typer
from typer.testing import CliRunner

from autoj.bench.base import set_digest
from autoj.bench.leaderboard.board import BaselineComparison
from autoj.cli.leaderboard import leaderboard
from autoj.datasets import open_cases
from autoj.errors import DataError, UnknownComponent
from autoj.jsonl import write_records
from autoj.metrics.result import Result, save_result
from autoj.records import Estimate
from autoj.reports.leaderboard import baseline_lines

app = typer.Typer()
app.command()(leaderboard)


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("AUTOJ_DATA", raising=False)
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))

    def command(*arguments: object):
        return CliRunner().invoke(app, [*map(str, arguments)])

    return command


@pytest.fixture
def result_file(tmp_path, eval_p_file):
    """A judge that is worse than naming the longer response, with a hostile name."""
    names = ("agreement", "consistency", "accuracy")
    result = Result(
        bench="eval-p",
        judge="evil\x1b[31m judge",
        source="predictions mine.jsonl",
        n_cases=30,
        estimates=tuple(
            Estimate(name=name, value=0.4, low=0.3, high=0.5, n=30, n_clusters=30) for name in names
        ),
        details={"set": set_digest(row.case for row in open_cases(eval_p_file).read())},
    )
    folder = tmp_path / "runs" / "mine"
    folder.mkdir(parents=True)
    save_result(folder / "eval-p.json", result)
    return folder / "eval-p.json"


@pytest.fixture
def eval_p_file(monkeypatch, tmp_path, run):
    path = tmp_path / "data" / "autoj" / "testdata_pairwise.jsonl"
    path.parent.mkdir(parents=True)
    write_records(
        path,
        [
            {
                "prompt": f"Question {number}?",
                "response 1": "Short.",
                "response 2": "This one is longer.",
                "label": 0 if number % 5 == 0 else 1,
                "scenario": ("planning", "code_generation")[number % 2],
            }
            for number in range(30)
        ],
    )
    monkeypatch.setenv("AUTOJ_DATA", str(tmp_path / "data"))
    return path


BENCHES = ["eval-p", "eval-c", "eval-r", "system-level"]


@pytest.mark.parametrize("bench", BENCHES)
def test_each_board_fits_a_terminal_and_cites_its_sources(run, bench):
    found = run(bench)
    assert found.exit_code == 0
    assert max(map(len, found.stdout.splitlines())) <= 80
    assert "published" in found.stdout
    assert "[1] " in found.stdout
    assert f"no {bench}.json in runs" in found.stderr


@pytest.mark.parametrize("bench", ["eval-p", "eval-c", "eval-r"])
def test_each_board_fits_a_terminal_with_the_real_data(run, monkeypatch, data_folder, bench):
    monkeypatch.setenv("AUTOJ_DATA", str(data_folder))
    found = run(bench)
    assert found.exit_code == 0
    assert max(map(len, found.stdout.splitlines())) <= 80
    assert "baseline" in found.stdout


def test_measured_judges_stand_beside_and_are_told_what_they_do_not_clear(
    run, result_file, eval_p_file
):
    found = run("eval-p")
    assert found.exit_code == 0
    lines = found.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    (line,) = [line for line in lines if "measured" in line and "judge" in line][:1]
    assert "40.0 [30, 50]" in line
    assert "\x1b" not in found.stdout
    text = " ".join(found.stdout.split())
    assert "on agreement: does not beat the baseline longest, random, majority; beats first" in text
    assert "* in-sample" in text
    assert "Moss-RM [" in text
    assert "Rate each response alone, so have no agreement: ScalarRM, Moss-RM" in text


def test_by_group_has_the_columns_of_table_1(run, eval_p_file):
    found = run("eval-p", "--by", "group")
    lines = found.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == [
        "judge", "what", "Summ", "Exam", "Code", "Rewr", "Crea", "Func", "Comm", "NLP", "all",
    ]  # fmt: skip
    (auto_j,) = [line for line in lines if line.startswith("Auto-J ")]
    assert auto_j.split()[2:] == [
        "published", "45.8", "38.9", "47.5", "49.2", "59.7", "61.7", "55.2", "57.6", "55.0",
    ]  # fmt: skip


@pytest.mark.parametrize("bench", ["eval-p", "eval-c"])
def test_by_seen_shows_both_settings(run, bench):
    found = run(bench, "--by", "seen")
    assert found.exit_code == 0
    assert max(map(len, found.stdout.splitlines())) <= 80
    assert ["judge", "what", "seen", "unseen", "complete"] in map(
        str.split, found.stdout.splitlines()
    )
    assert "setting 1" in found.stdout
    assert "setting 2" in found.stdout


def test_json_is_alone_on_stdout(run, result_file, eval_p_file):
    found = run("eval-p", "--json")
    board = json.loads(found.stdout)
    (section,) = board["sections"]
    statuses = {row["status"] for row in section["rows"]}
    assert statuses == {"published", "measured", "trivial"}
    (moss,) = [row for row in section["rows"] if row["judge"] == "Moss-RM"]
    assert (moss["kind"], moss["generative"], moss["in_sample"]) == ("single", False, True)
    assert moss["figures"]["averaged accuracy"]["text"] == "54.31"
    assert "searched on Eval-P itself" in moss["sources"][0]["note"]
    beats = {one["baseline"]: one["beats"] for one in board["against_baselines"]}
    assert list(beats) == ["longest", "first", "random", "majority"]
    assert not beats["longest"]
    assert beats["first"]


def test_csv_has_a_row_per_figure(run, result_file, eval_p_file, tmp_path):
    run("eval-p", "--by", "group", "--csv", tmp_path / "board.csv")
    with (tmp_path / "board.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    (gpt4,) = [
        row
        for row in rows
        if (row["judge"], row["figure"], row["part"]) == ("GPT-4", "agreement", "Code")
    ]
    assert (gpt4["value"], gpt4["printed"], gpt4["low"]) == ("0.683", "68.3", "")
    assert "Table 1" in gpt4["sources"]
    (longest,) = [
        row
        for row in rows
        if (row["judge"], row["figure"], row["part"]) == ("longest", "agreement", "Code")
    ]
    assert float(longest["low"]) < float(longest["value"]) < float(longest["high"])


def test_csv_holds_no_control_characters_and_no_formulas(run, result_file, tmp_path):
    text = result_file.read_bytes()
    names = ["=HYPERLINK(1)", "+1+1", "-1+1", "@SUM(1)", "\tx", "plain"]
    files = [tmp_path / f"{place}.json" for place in range(len(names))]
    for path, name in zip(files, names, strict=True):
        path.write_bytes(text.replace(b'"evil\\u001b[31m judge"', json.dumps(name).encode()))
    arguments = [part for path in (result_file, *files) for part in ("--result", path)]
    assert run("eval-p", *arguments, "--csv", "board.csv").exit_code == 0
    with (tmp_path / "board.csv").open(newline="") as stream:
        found = {row["judge"] for row in csv.DictReader(stream) if row["status"] == "measured"}
    assert found == {
        r"evil\x1b[31m judge", "plain", *(f"'{name}" for name in names if name != "plain"),
    }  # fmt: skip
    assert run("eval-r", "--csv", "numbers.csv").exit_code == 0
    with (tmp_path / "numbers.csv").open(newline="") as stream:
        numbers = [(row["value"], row["printed"]) for row in csv.DictReader(stream)]
    assert ("-0.05", "-0.05") in numbers


def test_the_result_flag_replaces_the_runs(run, result_file, tmp_path):
    other = tmp_path / "other.json"
    other.write_bytes(result_file.read_bytes().replace(b"judge", b"judge"))
    found = run("eval-p", "--result", other, "--json")
    measured = [
        row
        for row in json.loads(found.stdout)["sections"][0]["rows"]
        if row["status"] == "measured"
    ]
    assert [row["sources"][0]["cite"].split(":")[0] for row in measured] == [str(other)]


def test_errors_name_the_file(run, result_file, tmp_path):
    result_file.write_text("not json")
    found = run("eval-p")
    assert isinstance(found.exception, DataError)
    assert os.path.join("runs", "mine", "eval-p.json") in str(found.exception)
    missing = run("eval-p", "--result", "none.json")
    assert "none.json: there is no such file" in str(missing.exception)
    nowhere = run("eval-p", "--runs", "nowhere")
    assert "nowhere: there is no such folder" in str(nowhere.exception)
    unsorted = run("eval-p", "--runs", tmp_path, "--sort", "agreemnt")
    assert isinstance(unsorted.exception, UnknownComponent)
    unwritable = run("eval-p", "--runs", tmp_path, "--csv", tmp_path / "no" / "x.csv")
    assert "cannot write" in str(unwritable.exception)


def test_sentences_about_baselines():
    def compared(baseline, value, beats, figure="agreement"):
        estimate = Estimate(
            name=figure, value=value, low=value - 0.02, high=value + 0.02, n=9, n_clusters=9
        )
        return BaselineComparison(
            judge="j",
            source="f",
            baseline=baseline,
            figure=figure,
            difference=estimate,
            beats=beats,
        )

    lines = baseline_lines(
        [
            compared("longest", -0.028, False),
            compared("first", 0.4, True),
            compared("longest", 0.1, True, "best of 8"),
        ]
    )
    assert lines == [
        (
            False,
            "j (f) on agreement: does not beat the baseline longest (-2.8 [-4.8, -0.8] points); "
            "beats first.",
        ),
        (True, "j (f) on best of 8: beats longest."),
    ]
