"""`autoj classify`, and naming scenarios for judging, as a user meets them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.errors import UnknownComponent
from autoj.jsonl import write_records
from autoj.records import Request

from ..classifiers import WordClassifier
from ..scripted import CARD, Recorder, by_hash

JUDGE = replace(
    CARD, protocols=(*CARD.protocols, "pairwise-criteria", "single-criteria", "scenario")
)
ROWS = [
    {"id": "plan", "query": "Plan it.", "responses": ["x", "y"], "label": "a"},
    {"id": "row", "query": "Hi!", "responses": ["x", "y"], "label": "b", "scenario": "Small talk"},
    {"id": "sum", "query": "A sum.", "responses": ["x", "y"], "label": "tie"},
]


def load_stand_in(name: str = "fast") -> WordClassifier:
    if name not in ("fast", "best"):
        raise UnknownComponent("classifier", name, ("fast", "best"))
    return WordClassifier(name=name, digest=f"sha256:{name}")


def answer(request: Request) -> str | tuple[float, ...]:
    if request.protocol != "scenario":
        return by_hash(request)
    return "Planning" if "Plan" in request.messages[-1].content else "banana"


@pytest.fixture
def judges(monkeypatch: pytest.MonkeyPatch) -> list[Recorder]:
    """Every judge is a scripted one, and every classifier a stand-in; gives the judges loaded."""
    loaded: list[Recorder] = []

    def load_backend(card, **options):
        loaded.append(Recorder(answer, card=card))
        return loaded[-1]

    for module in ("tasks.escalation", "cli.select", "cli.classify"):
        monkeypatch.setattr(
            f"autoj.{module}.load_card", lambda name: replace(JUDGE, name=name, model=name)
        )
    monkeypatch.setattr("autoj.tasks.engine.load_backend", load_backend)
    for module in ("cli.classify", "runs.scenario_settings"):
        monkeypatch.setattr(f"autoj.{module}.load_classifier", load_stand_in)
    return loaded


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    write_records(path, ROWS)
    return path


def lines(path: str | Path) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_each_query_gets_a_row_and_the_counts_a_table(run, rows, judges) -> None:
    code, out, err = run("classify", rows)
    assert code == 0
    assert "runs/rows-scenarios-fast.jsonl" in err
    assert max(map(len, out.splitlines())) <= 80
    cells = [line.split() for line in out.splitlines()]
    assert ["Exam", "Questions", "1", "33.3", "%", "0.90", "0", "(0.0", "%)"] in cells
    assert ["chitchat", "1", "33.3", "%", "0.30", "1", "(100.0", "%)"] in cells
    assert ["all", "3", "100.0", "%", "0.70", "1", "(33.3", "%)"] in cells
    assert "same as in the row  100.0 %" in out
    found = lines("runs/rows-scenarios-fast.jsonl")
    assert [(row["id"], row["scenario"], row["probability"]) for row in found] == [
        ("plan", "planning", 0.9),
        ("row", "chitchat", 0.3),
        ("sum", "math_reasoning", 0.9),
    ]
    assert found[1]["row_scenario"] == "chitchat"
    assert found[0]["digest"] == "sha256:fast"
    assert judges == []


def test_flags_say_where_how_many_and_how_sure(run, rows, judges) -> None:
    code, out, _ = run(
        "classify", rows, "--out", "a/b.jsonl", "--top", 4, "--limit", 2, "--confidence", 0.95,
        "--classifier", "best", "--json",
    )  # fmt: skip
    assert code == 0
    result = json.loads(out)
    assert (result["rows"], result["summary"]["n"]) == ("a/b.jsonl", 2)
    assert result["summary"]["whole"]["n_below"] == 2
    (first, _) = lines("a/b.jsonl")
    assert (first["classifier"], len(first["alternatives"])) == ("best", 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--judge", "j", "--classifier", "fast"), "cannot be used together"),
        (("--protocol", "scenario"), "need --judge"),
        (("--max-requests", "3"), "need --judge"),
        (("--classifier", "fats"), "Did you mean fast"),
        (("--out", "."), "is a folder"),
        (("--judge", "j", "--protocol", "pairwise"), "judges a pair"),
        (("--judge", "j", "--out", "rows.jsonl"), "is a file"),
        (("--map", "id=number"), "--map must name the column of the query"),
    ],
)
def test_flags_that_make_no_sense_are_told(run, rows, judges, arguments, message) -> None:
    code, out, err = run("classify", rows, *arguments)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())


def test_the_file_that_is_read_is_not_written_over(run, rows, judges) -> None:
    before = rows.read_bytes()
    code, _, err = run("classify", rows, "--out", rows)
    assert code == 2
    assert "is the file that is read" in err
    assert rows.read_bytes() == before


def test_bad_rows_are_counted(run, tmp_path, judges) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"query": "Plan."}\n{"query": 7}\n')
    code, _, err = run("classify", path)
    assert code == 2
    assert "q.jsonl:2:query: expected a string" in err
    code, out, err = run("classify", path, "--skip-bad-rows")
    assert code == 0
    assert "1 bad rows are left out" in err
    assert "planning" in out


def test_a_judge_names_scenarios_in_a_run_that_goes_on(run, rows, judges) -> None:
    arguments = ("classify", rows, "--judge", "j", "--out", "r")
    code, out, _ = run(*arguments, "--max-requests", 1)
    assert code == 1
    assert "3 (2 not asked yet)" in out
    code, out, _ = run(*arguments)
    assert code == 0
    assert sum(len(judge.asked) for judge in judges) == 3
    assert "unreadable, failed  2 and 0" in out
    assert [row["scenario"] for row in lines("r/scenarios.jsonl")] == ["planning", None, None]
    assert "banana" in lines("r/scenarios.jsonl")[1]["reason"]
    # A table of a judge's shows no probabilities.
    assert "mean probability" not in out
    assert run("show", "r")[1] == out
    _, case, _ = run("show", "r", "plan")
    assert "the query     scenario planning" in case
    assert "Scenario: planning" in case
    code, _, err = run("export", "r", "--format", "csv", "--out", "e.csv")
    assert code == 2
    assert "scenarios.jsonl" in err


PAIRS = ("--judge", "j", "--protocol", "pairwise-verdict")


@pytest.mark.parametrize("by", ["scenario", "group"])
def test_judging_breaks_down_by_named_scenarios_and_says_how_they_were_named(
    run, rows, judges, by
) -> None:
    code, out, _ = run("judge", rows, *PAIRS, "--classify", "--by", by, "--out", "r")
    assert code == 0
    text = " ".join(out.split())
    assert "1 from the file, 2 by the classifier fast (mean probability 0.90)" in text
    how = out.split("origin of scenarios")[1]
    part = "math_reasoning" if by == "scenario" else "Exam Questions"
    assert f"{part} 0 1 0.90" in " ".join(how.split())
    assert max(map(len, out.splitlines())) <= 80
    _, shown, _ = run("show", "r", "--by", by)
    assert how.strip() in shown
    _, case, _ = run("show", "r", "plan")
    assert "scenario planning (by the classifier fast, probability 0.90)" in case


def test_without_classify_nothing_is_named(run, rows, judges) -> None:
    _, out, _ = run("judge", rows, *PAIRS, "--by", "group", "--out", "r")
    assert "1 from the file, 2 without one" in " ".join(out.split())
    assert "classifier" not in out
    assert [row["scenario"] for row in lines("r/cases.jsonl")] == [None, "chitchat", None]


def test_another_classifier_does_not_go_on_with_a_run(run, rows, judges) -> None:
    assert run("judge", rows, *PAIRS, "--classify", "--out", "r")[0] == 0
    code, _, err = run("judge", rows, *PAIRS, "--classifier", "best", "--out", "r")
    assert code == 2
    assert "classifier.name: was 'fast', is now 'best'" in err


def test_criteria_are_asked_by_named_scenarios(run, rows, judges) -> None:
    arguments = ("judge", rows, "--judge", "j", "--protocol", "pairwise-criteria")
    code, _, err = run(*arguments)
    assert code == 2
    assert "rows.jsonl:1:scenario" in err
    assert "--classify" in err
    assert run(*arguments, "--classify", "--samples", 3, "--temperature", 1)[0] == 0
    systems = {request.case_id: request.messages[0].content for request in judges[-1].asked}
    assert "The user wants" in systems["plan"]
    assert len(set(systems.values())) == 3


@pytest.mark.parametrize("command", ["rate", "select"])
def test_rating_and_picking_name_scenarios_too(run, rows, judges, command) -> None:
    arguments = (command, rows, "--judge", "j", "--protocol", "single-verdict", "--classify")
    code, out, _ = run(*arguments, "--out", "r")
    assert code == 0
    assert "2 by the classifier fast" in " ".join(out.split())
    assert [row["scenario"] for row in lines("r/cases.jsonl")] == [
        "planning", "chitchat", "math_reasoning",
    ]  # fmt: skip


def test_a_jury_says_how_scenarios_were_named(run, rows, judges) -> None:
    code, out, _ = run(
        "judge", rows, "--judge", "j,k", "--protocol", "pairwise-verdict", "--classify",
        "--by", "group", "--out", "r",
    )  # fmt: skip
    text = " ".join(out.split())
    assert "2 by the classifier fast" in text, (code, text)
    assert "Exam Questions 0 1 0.90" in text


def test_unknown_scenarios_are_errors_others_or_kept(run, rows, judges) -> None:
    write_records(rows, [{**ROWS[0], "scenario": "planing"}])
    criteria = ("judge", rows, "--judge", "j", "--protocol", "pairwise-criteria")
    code, _, err = run(*criteria)
    assert code == 2
    assert "rows.jsonl:1:scenario: there is no scenario 'planing'" in err
    assert "Did you mean planning" in err
    code, out, _ = run(*criteria, "--unknown-scenario", "others", "--out", "o")
    assert code == 0
    assert "1 unknown in the file and counted as others" in " ".join(out.split())
    assert lines("o/cases.jsonl")[0]["scenario"] == "others"
    code, _, err = run("judge", rows, *PAIRS)
    assert code == 2
    assert "Did you mean planning" in err
    code, out, _ = run("judge", rows, *PAIRS, "--unknown-scenario", "keep")
    assert code == 0
    assert "1 from the file (1 of them unknown names)" in " ".join(out.split())


def test_scenarios_of_ones_own_are_broken_down_by_their_own_groups(run, rows, judges) -> None:
    write_records(rows, [{**ROWS[0], "scenario": "match report"}])
    Path("mine").mkdir()
    Path("mine/match_report.yaml").write_text(
        "description: The user wants a match told.\ngroup: Sport\n"
        "saves: {content: Every save is told., weight: 4, type: content}\n"
    )
    arguments = ("judge", rows, "--judge", "j", "--protocol", "pairwise-criteria")
    code, out, _ = run(*arguments, "--scenarios", "mine", "--by", "group", "--out", "r")
    assert code == 0
    assert "Sport" in out
    assert "Every save is told." in judges[-1].asked[0].messages[0].content
    # The folder is not needed to look at the run.
    Path("mine").rename("gone")
    assert "Sport" in run("show", "r", "--by", "group")[1]


def test_the_shipped_classifier_names_any_text(run, tmp_path) -> None:
    path = tmp_path / "odd.txt"
    queries = [
        "Translate into French: good morning.",
        "😀😀😀",
        "word " * 100_000,
        "帮我写一封邮件",
    ]
    path.write_text("\n".join(queries), encoding="utf-8")
    code, _, _ = run("classify", path, "--out", "odd.jsonl")
    assert code == 0
    found = lines("odd.jsonl")
    assert found[0]["scenario"] == "text_to_text_translation"
    assert len(found) == len(queries)
    assert all(row["group"] is not None and 0 < row["probability"] <= 1 for row in found)
