"""`autoj show`, `runs` and `diff` as a user meets them, on runs that version 0.1 wrote."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

FROZEN = Path(__file__).parents[1] / "frozen" / "v0_1"


@pytest.fixture(autouse=True)
def runs(run, tmp_path):
    """The working folder: a copy of the runs."""
    shutil.copytree(FROZEN, tmp_path, dirs_exist_ok=True)


def cases_of(out: str) -> list[str]:
    """The first words of the lines of the first table."""
    lines = out.split("\n\n")[0].splitlines()
    return [line.split()[0] for line in lines[1:]]


def test_a_label_stands_beside_the_verdict_and_what_is_wrong_is_marked(run):
    code, out, _ = run("show", "judged")
    assert code == 0
    table = out.split("\n\n")[0].splitlines()
    assert table[0].split()[:3] == ["case", "winner", "label"]
    marked = [line.split()[0] for line in table if "✗" in line]
    assert marked == ["plan", "even"] == cases_of(run("show", "judged", "--only", "wrong")[1])
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("folder", "only", "cases", "says"),
    [
        ("judged", "wrong", ["plan", "even"], "2 of 5 cases: the verdict names another winner"),
        ("judged", "disagree", ["sum", "hostile", "winter"], "3 of 7 cases: the two orders"),
        ("judged", "unsure", ["hostile", "winter"], "2 of 7 cases: the confidence is below"),
        ("critiqued", "unreadable", None, "of 7 cases: an answer states no verdict"),
        ("failed", "failed", None, "of 7 cases: a request got no answer"),
        ("selected", "close", None, "cases: the two highest ratings differ by 0.5 or less"),
        ("jury", "disagree", None, "5 of 7 cases: the two orders, or the judges of a jury"),
        ("jury", "wrong", ["plan", "even"], "2 of 5 cases"),
    ],
)
def test_cases_of_one_kind(run, folder, only, cases, says):
    code, out, _ = run("show", folder, "--only", only)
    assert code == 0
    assert says in " ".join(out.split())
    if cases is not None:
        assert cases_of(out) == cases
    record = json.loads(run("show", folder, "--only", only, "--json")[1])
    assert record["n"] == len(record["cases"])
    if cases is not None:
        assert [item["case"]["id"].split()[0] for item in record["cases"]] == cases


def test_more_cases_than_are_listed_are_counted(run):
    _, out, _ = run("show", "judged", "--only", "disagree", "--first", 1)
    assert cases_of(out)[:1] == ["sum"]
    assert "2 more; --first 3 lists all" in out
    assert "3 of 7 cases" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("judged", "--only", "close"), "no case has two ratings on the scale 1 to 10"),
        (("rated", "--only", "wrong"), "no case has a label that names a winner"),
        (("calibrated", "--only", "disagree"), "no case was asked in two orders"),
        (("classified", "--only", "failed"), "--only cannot be used here"),
        (("met", "--only", "wrong"), "--only cannot be used here"),
        (("judged", "sum", "--only", "wrong"), "give one of a case, --only and --convention"),
        (("judged", "--only", "bad"), "'bad' is not one of"),
        (("jury", "--convention", "all"), "is a jury's folder"),
        (("jury", "nobody"), "there is no case 'nobody'"),
    ],
)
def test_what_cannot_be_shown_is_said(run, arguments, message):
    code, _, err = run("show", *arguments)
    assert code == 2
    assert message in " ".join(err.split())
    # The library that checks the values of flags has words of its own before this.
    assert "Value error" not in err


def test_a_case_of_a_jury_has_the_judgments_of_all_judges(run):
    code, out, _ = run("show", "jury", "plan")
    assert code == 0
    for text in ("Judge verdict", "Judge two", "Judge three", "the label is a ✗", "Mean of the"):
        assert text in out
    assert out.count("a then b") == 3
    assert out.count("Plan a day in Oslo.") == 1
    record = json.loads(run("show", "jury", "plan", "--json")[1])
    assert [name for name, _ in record["judges"]] == ["verdict", "two", "three"]
    assert record["verdict"]["winner"] == "b"


def test_a_jury_that_has_not_decided_shows_what_was_judged(run):
    Path("jury/verdicts.jsonl").unlink()
    shutil.rmtree("jury/judges/three")
    code, out, _ = run("show", "jury", "plan")
    assert code == 0
    assert "Judge two" in out
    assert "The jury has not decided yet." in out


def test_a_wider_terminal_shows_more_of_the_query(run, monkeypatch):
    rows = json.loads(Path("pairs.jsonl").read_text().splitlines()[0])
    assert rows["query"].startswith("Plan")
    longest = {}
    for columns in (80, 140):
        monkeypatch.setenv("COLUMNS", str(columns))
        out = run("show", "judged")[1]
        assert max(map(len, out.splitlines())) <= columns
        longest[columns] = max(map(len, (line.rstrip() for line in out.splitlines())))
    assert longest[140] > longest[80]


def test_runs_are_listed_beside_damaged_and_foreign_folders(run):
    Path("broken").mkdir()
    Path("broken/run.json").write_text("{")
    code, out, _ = run("runs", ".")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    for text in ("agreement 40.0 %", "5 answers", "damaged: broken/run.json", "it has no run.json"):
        assert text in " ".join(out.split())
    entries = json.loads(run("runs", ".", "--json")[1])
    assert {entry["state"] for entry in entries} == {"run", "damaged", "no run"}
    assert len(entries) == len([path for path in Path().iterdir() if path.is_dir()])


def test_before_the_first_run_there_is_nothing_to_list(run):
    assert run("runs")[:2] == (0, "There are no runs here.\n")
    assert json.loads(run("runs", "--json")[1]) == []
    code, _, err = run("runs", "nowhere")
    assert code == 2
    assert "there is no such folder" in err


def test_two_runs_are_compared(run):
    code, out, _ = run("diff", "judged", "jury")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    said = " ".join(out.split())
    for text in ("different winner 1 of 7", "same winner 85.7 %", "Cohen's kappa", "both 3, only"):
        assert text in said
    assert cases_of(out) == ["hostile"]
    record = json.loads(run("diff", "judged", "jury", "--json")[1])
    assert (record["n_both"], record["n_differing"]) == (7, 1)
    assert run("diff", "judged", "exports")[0] == 2


def test_a_win_rate_names_the_model_that_wrote_all_first_responses(run):
    rows = [json.loads(line) for line in Path("pairs.jsonl").read_text().splitlines()]
    for row in rows:
        row["responses"] = [
            {"text": "quality 8: x", "model": "airoboros-33b"},
            {"text": "quality 3: y", "model": "vicuna-7b"},
        ]
    Path("named.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = run("judge", "named.jsonl", "--judge", "sure.yaml", "--out", "both")
    assert code == 0
    assert "win rate of airoboros-33b (ties half)" in out
    assert "a is airoboros-33b, b is vicuna-7b" in out
    assert "win rate of airoboros-33b" in run("show", "both", "--convention", "all")[1]
    assert "win rate of a " not in out
    mixed = run("show", "judged")[1]
    assert "win rate of a (ties half)" in mixed
    assert "not every response names its model" in mixed
