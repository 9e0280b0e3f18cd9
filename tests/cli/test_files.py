"""Files of every kind from the command line: what is said of them, and what ends it."""

from __future__ import annotations

import csv
import importlib.util
import json
from pathlib import Path

import pytest

from autoj.jsonl import write_records
from autoj.runs import RunFolder

from ..scripted import Recorder

ROWS = [
    {"question": f"Q{n}?", "one": f"First {n}.", "two": f"Second {n}.", "winner": "one"}
    for n in range(3)
]
MAP = "query=question,a=one,b=two,label=winner"


@pytest.fixture
def judge(tmp_path, monkeypatch):
    """Judges with a script: the engine is never loaded."""
    monkeypatch.setattr("autoj.tasks.engine.load_backend", lambda card, **options: Recorder())
    return ("--judge", "scripted:script", "--protocol", "pairwise-verdict")


def csv_file(path: Path, rows=ROWS) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def outputs(path: Path, model: str, queries) -> Path:
    rows = [{"instruction": q, "output": f"{q} {model}", "generator": model} for q in queries]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def cases_of(folder) -> list:
    return list(RunFolder.existing(Path(folder)).cases())


def test_a_csv_with_columns_of_other_names_is_judged_by_a_map(run, judge, tmp_path):
    path = csv_file(tmp_path / "pairs.csv")
    code, _, err = run("judge", path, "--map", MAP, *judge, "--out", "r")
    assert code == 0
    assert "pairs.csv as mapped columns" in err
    cases = cases_of("r")
    assert [case.query for case in cases] == ["Q0?", "Q1?", "Q2?"]
    assert {case.label for case in cases} == {"a"}
    # Another map makes other cases, so the same folder is refused.
    code, _, err = run("judge", path, "--map", "query=question,a=two,b=one", *judge, "--out", "r")
    assert code == 2
    assert "data.derivation" in err


def test_a_map_may_come_in_several_options(run, judge, tmp_path):
    path = csv_file(tmp_path / "pairs.csv")
    parts = ("--map", "query=question", "--map", "a=one", "--map", "b=two")
    assert run("judge", path, *parts, *judge, "--out", "r")[0] == 0
    assert len(cases_of("r")) == 3


def test_responses_of_a_parquet_file_are_rated(run, judge, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.Table.from_pylist(ROWS), path)
    judge = (*judge[:2], "--protocol", "single-verdict")
    code, _, err = run("rate", path, "--map", "query=question,response=one", *judge, "--out", "r")
    assert code == 0
    assert "rows.parquet as mapped columns" in err
    assert [len(case.responses) for case in cases_of("r")] == [1, 1, 1]


def test_a_saved_data_set_is_judged_and_its_run_is_named_for_it(run, judge, tmp_path):
    datasets = pytest.importorskip("datasets")
    folder = tmp_path / "mine"
    rows = [{"prompt": f"q{n}", "chosen": "Yes.", "rejected": "No."} for n in range(2)]
    datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)}).save_to_disk(str(folder))
    code, _, err = run("judge", f"hf-dataset:{folder}:test", *judge)
    assert code == 0
    assert "as reward-bench" in err
    (made,) = Path("runs").iterdir()
    assert made.name.startswith("mine-test-")
    # The same command goes on with the same run.
    assert "no new requests were needed" in run("judge", f"hf-dataset:{folder}:test", *judge)[2]
    code, _, err = run("judge", f"hf-dataset:{folder}:dev", *judge)
    assert code == 2
    assert "has no split 'dev'; it has: test" in err


def test_a_column_that_a_data_set_lacks_is_named_with_those_it_has(run, judge, tmp_path):
    datasets = pytest.importorskip("datasets")
    folder = tmp_path / "mine"
    datasets.Dataset.from_list(ROWS).save_to_disk(str(folder))
    name = f"hf-dataset:{folder}"
    code, out, err = run("judge", name, "--map", "query=question,a=one,b=too", *judge, "--out", "r")
    assert (code, out) == (2, "")
    assert "there is no column 'too'; did you mean 'two'?" in err
    assert "The columns are 'question', 'one', 'two', 'winner'" in err
    assert "Traceback" not in err
    assert not Path("r").exists()


def test_two_models_outputs_must_match_or_be_joined_inner(run, judge, tmp_path):
    a = outputs(tmp_path / "a.json", "m1", ["p", "q", "r"])
    b = outputs(tmp_path / "b.json", "m2", ["q", "r", "s"])
    two = ("judge", "--a", a, "--b", b, *judge)
    code, _, err = run(*two, "--out", "r")
    assert code == 2
    assert "1 of 3 queries of" in err
    assert "('p')" in err
    assert "--join inner uses the 2" in err
    assert not Path("r").exists()
    code, _, err = run(*two, "--join", "inner", "--out", "r")
    assert code == 0
    assert "left out: 1 of 3 queries" in err
    cases = cases_of("r")
    assert [case.query for case in cases] == ["q", "r"]
    assert [[r.model for r in case.responses] for case in cases] == [["m1", "m2"]] * 2


def test_mt_bench_is_judged_by_turn(run, judge, tmp_path):
    write_records(
        tmp_path / "question.jsonl",
        [{"question_id": 81, "category": "math", "turns": ["One?", "Two?"]}],
    )
    for model in ("m1", "m2"):
        choices = [{"index": 0, "turns": [f"1 {model}", f"2 {model}"]}]
        row = {"question_id": 81, "model_id": model, "choices": choices}
        write_records(tmp_path / f"{model}.jsonl", [row])
    two = ("--questions", "question.jsonl", "--a", "m1.jsonl", "--b", "m2.jsonl")
    assert run("judge", *two, *judge, "--out", "r1")[0] == 0
    assert run("judge", *two, "--turn", "2", *judge, "--out", "r2")[0] == 0
    assert cases_of("r1")[0].responses[1].text == "1 m2"
    assert cases_of("r2")[0].responses[1].text == "1 m2\n\nUser: Two?\n\nAssistant: 2 m2"
    rate = ("rate", "m1.jsonl", "--questions", "question.jsonl", "--turn", "2")
    assert run(*rate, *judge[:2], "--protocol", "single-verdict", "--out", "r3")[0] == 0
    assert cases_of("r3")[0].query == "User: One?\n\nAssistant: 1 m1\n\nUser: Two?"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pairs.csv",), "fit no known format"),
        (("pairs.csv", "--map", "query=questio,a=one,b=two"), "did you mean 'question'?"),
        (("pairs.csv", "--map", "quary=question"), "Did you mean query"),
        (("pairs.csv", "--map", MAP, "--format", "table"), "cannot be used together"),
        (("pairs.csv", "--a", "pairs.csv"), "give one file of cases, or two files"),
        (("--a", "pairs.csv"), "give one file of cases, or two files"),
        (("pairs.csv", "--map", MAP, "--join", "inner"), "--join needs two files"),
        (("pairs.csv", "--map", MAP, "--turn", "2"), "--turn needs --questions"),
        (
            ("pairs.csv", "--questions", "pairs.csv", "--map", MAP),
            "--questions and --map cannot be used together",
        ),
        (("short.csv", "--map", MAP), "short.csv:3: has 2 cells, but the header names 4"),
        (("latin.csv", "--map", MAP), "latin.csv:2: is not UTF-8"),
        (("empty.csv",), "empty.csv: is empty"),
        pytest.param(
            ("bad.parquet",),
            "bad.parquet: is damaged or not a Parquet file",
            marks=pytest.mark.skipif(
                importlib.util.find_spec("pyarrow") is None, reason="the extra `data` is missing"
            ),
        ),
        (("none.csv",), "none.csv: there is no such file"),
        pytest.param(
            ("hf-dataset:a:b:c:d",),
            "is not the name of a data set",
            marks=pytest.mark.skipif(
                importlib.util.find_spec("datasets") is None, reason="the extra `data` is missing"
            ),
        ),
    ],
)
def test_bad_input_ends_in_one_line_that_names_it(run, judge, tmp_path, arguments, said):
    csv_file(tmp_path / "pairs.csv")
    head = "question,one,two,winner\n"
    (tmp_path / "short.csv").write_text(head + "q,x,y,one\nq,x\n", encoding="utf-8")
    (tmp_path / "latin.csv").write_bytes(head.encode() + b"caf\xe9,x,y,one\n")
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nonsense")
    code, out, err = run("judge", *arguments, *judge, "--out", "r")
    assert code == 2
    assert said in err
    assert out == ""
    assert "Traceback" not in err
    assert not (tmp_path / "r" / "run.json").exists()


def test_a_bad_record_can_be_skipped_and_is_listed(run, judge, tmp_path):
    head = "question,one,two,winner\n"
    path = tmp_path / "short.csv"
    path.write_text(head + "q,x,y,one\nq,x\nr,x,y,two\n", encoding="utf-8")
    code, _, err = run("judge", path, "--map", MAP, "--skip-bad-rows", *judge, "--out", "r")
    assert code == 0
    assert "1 bad rows were left out" in err
    (bad,) = (json.loads(line) for line in Path("r/bad_rows.jsonl").read_bytes().splitlines())
    assert bad["line"] == 3
    assert len(cases_of("r")) == 2


def test_escapes_in_column_names_and_cells_do_not_reach_the_terminal(run, judge, tmp_path):
    path = tmp_path / "hostile.csv"
    path.write_text("\x1b[2Jname,b\nx,y\n", encoding="utf-8")
    for arguments in ((path,), (path, "--map", "query=nam,a=b,b=b")):
        code, out, err = run("judge", *arguments, *judge)
        assert code == 2
        assert "\x1b[2J" not in out + err


@pytest.mark.parametrize("command", ["judge", "rate"])
def test_escapes_in_what_is_judged_and_in_a_judges_words_do_not_either(
    run, tmp_path, monkeypatch, command
):
    hostile = "\x1b[2J\x1b]0;owned\x07[bold]x[/bold]\u202e"
    said = f"- {hostile}: it is clear.\n\nSo, the final decision is Response 1. Rating: [[7]]"
    engine = Recorder(lambda request: said)
    monkeypatch.setattr("autoj.tasks.engine.load_backend", lambda card, **options: engine)
    row = {"id": hostile, "query": hostile, "responses": [hostile, "b"]}
    write_records(tmp_path / "rows.jsonl", [row])
    protocol = "pairwise" if command == "judge" else "single"
    flags = ("--judge", "scripted:script", "--protocol", protocol)
    code, out, err = run(command, "rows.jsonl", *flags)
    assert code == 0
    assert "it is clear" in out
    assert not {"\x1b", "\x07", "\u202e"} & set(out + err)
