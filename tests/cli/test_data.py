"""`autoj data` as a user meets it: lists, paths, counts, JSON, exit codes and errors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner, Result

from autoj.cli import _console
from autoj.cli.data import data_app
from autoj.datasets import catalog
from autoj.errors import ConfigError, DataError, UnknownComponent

ROWS = [{"query": "Name a river.", "response": "The Oder."}, {"query": "Why?", "response": "So."}]
LONG = "Tell me in a few words how a bicycle stays upright when it is ridden slowly"
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("AUTOJ_DATA", raising=False)
    app = typer.Typer()
    app.add_typer(data_app, name="data")
    runner = CliRunner()

    def command(*arguments: object) -> Result:
        return runner.invoke(app, ["data", *map(str, arguments)])

    yield command
    _console.set_json(False)


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A catalogue of two sets that lie at addresses of this machine; gives their content."""
    content = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
    (tmp_path / "source").write_bytes(content)
    entry: dict[str, Any] = {
        "what": "Rivers [bold]and[/bold] reasons",
        "licence": "MIT",
        "path": "made/one.jsonl",
        "url": (tmp_path / "source").as_uri(),
        "checksum": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "size_bytes": len(content),
    }
    loose = {**entry, "path": "made/loose.jsonl", "checksum": None}
    hand = {"what": "x", "licence": "MIT", "path": "made/hand.jsonl", "by_hand": "Write it."}
    entries = {"one": entry, "loose": loose, "hand": hand}
    path = tmp_path / "catalog.yaml"
    path.write_text(yaml.safe_dump(entries, sort_keys=False), encoding="utf-8")
    monkeypatch.setattr(catalog, "_CATALOG", path)
    return content


def written(folder: Path, name: str, *queries: str) -> Path:
    path = folder / name
    rows = ({"query": query, "response": "r"} for query in queries)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_list_says_what_is_here_and_what_can_be_had(run: Run, listed: bytes) -> None:
    before = run("list")
    assert before.exit_code == 0
    lines = [line.split() for line in before.stdout.splitlines()]
    assert [(line[0], line[1]) for line in lines if line[0] in {"one", "loose", "hand"}] == [
        ("one", "no"),
        ("loose", "unverified"),
        ("hand", "by"),
    ]
    # What the catalogue says is no markup, and its licence is shown.
    assert "[bold]and[/bold]" in before.stdout
    assert "MIT" in before.stdout
    run("get", "one")
    assert ["one", "yes"] in [line.split()[:2] for line in run("list").stdout.splitlines()]


def test_list_for_a_machine(run: Run, listed: bytes) -> None:
    one, loose, hand = json.loads(run("list", "--json").stdout)
    assert (one["name"], one["verified"], one["here"]) == ("one", True, None)
    assert one["size_bytes"] == len(listed)
    assert one["files"][0]["checksum"]["kind"] == "sha256"
    assert (loose["verified"], hand["verified"], hand["by_hand"]) == (False, False, "Write it.")


def test_the_shipped_catalogue_is_listed(run: Run) -> None:
    listed = run("list")
    assert listed.exit_code == 0
    for name in catalog.data_names():
        assert name in listed.stdout
    assert max(map(len, listed.stdout.splitlines())) <= 100


def test_get_prints_the_path_alone_on_stdout(run: Run, listed: bytes, tmp_path: Path) -> None:
    got = run("get", "one")
    assert got.exit_code == 0
    path = Path(got.stdout.strip())
    assert path == tmp_path / "cache" / "data" / "made" / "one.jsonl"
    assert path.read_bytes() == listed
    assert "licence MIT" in got.stderr
    (tmp_path / "source").unlink()
    assert run("get", "one").stdout == got.stdout
    assert json.loads(run("get", "one", "--json").stdout) == {"one": str(path)}


def test_get_into_a_folder_of_ones_own(run: Run, listed: bytes, tmp_path: Path) -> None:
    got = run("get", "one", "loose", "--to", "own", "--unverified")
    assert got.exit_code == 0
    assert [Path(line) for line in got.stdout.split()] == [
        Path("own/made/one.jsonl"),
        Path("own/made/loose.jsonl"),
    ]
    assert (tmp_path / "own" / "made" / "one.jsonl").read_bytes() == listed


def test_a_misspelt_name_ends_the_command_before_anything_is_fetched(
    run: Run, listed: bytes, tmp_path: Path
) -> None:
    got = run("get", "one", "ones")
    assert isinstance(got.exception, UnknownComponent)
    assert not (tmp_path / "cache").exists()


def test_what_cannot_be_verified_is_refused(run: Run, listed: bytes) -> None:
    got = run("get", "loose")
    assert isinstance(got.exception, ConfigError)
    assert "--unverified" in str(got.exception)


def test_overlap_counts_and_shows(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # a test folder's path is long
    a = written(tmp_path, "a.jsonl", "Why?", LONG, "Name a \x1b[31mriver.")
    b = written(tmp_path, "b.jsonl", f"Please: {LONG}.", "why", "Who?", "WHY?")
    found = run("overlap", a, b)
    assert found.exit_code == 0
    table = [line.split() for line in found.stdout.splitlines()[1:3]]
    assert [row[1:3] for row in table] == [["3", "2"], ["4", "3"]]
    assert "1 of 2 have the same text" in found.stdout
    assert "by n-grams" in found.stdout
    assert "a.jsonl:2" in found.stdout
    assert "b.jsonl:1" in found.stdout
    assert "\x1b" not in found.stdout
    assert "a.jsonl:1" not in run("overlap", a, b, "--show", 0).stdout


def test_overlap_by_text_alone_and_for_a_machine(run: Run, tmp_path: Path) -> None:
    a = written(tmp_path, "a.jsonl", "Why?", LONG)
    b = written(tmp_path, "b.jsonl", f"Please: {LONG}.", "why")
    found = json.loads(run("overlap", a, b, "--ngrams", 0, "--json").stdout)
    assert found == {
        "n_a": 2,
        "n_b": 2,
        "n_shared_a": 1,
        "n_shared_b": 1,
        "n_same_text": 1,
        "ngrams": None,
        "threshold": 0.7,
        "shared": [{"a": f"{a}:1", "b": f"{b}:2", "share": 1.0, "by": "text"}],
    }


def test_overlap_reads_all_kinds_of_files_of_a_folder(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra `data` is not installed")
    import pyarrow
    from pyarrow import parquet

    folder = tmp_path / "mixed"
    (folder / "deeper").mkdir(parents=True)
    (folder / "one.csv").write_text("query,response\nWhy?,So.\n", encoding="utf-8")
    (folder / "two.tsv").write_text("query\tresponse\nWho?\tShe.\n", encoding="utf-8")
    (folder / "three.jsonl").write_text(json.dumps(ROWS[0]) + "\n", encoding="utf-8")
    table = pyarrow.table({"query": ["When?"], "response": ["Now."]})
    parquet.write_table(table, folder / "deeper" / "four.parquet")
    (folder / "README.md").write_text("Not data.", encoding="utf-8")
    found = json.loads(run("overlap", folder, written(tmp_path, "b.jsonl", "why"), "--json").stdout)
    assert (found["n_a"], found["n_shared_a"]) == (4, 1)
    assert found["shared"][0]["a"].endswith("one.csv:2")


def test_overlap_of_a_folder_without_data_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    found = run("overlap", "empty", written(tmp_path, "b.jsonl", "why"), "--json")
    assert isinstance(found.exception, DataError)
    assert "holds no file of a kind that is read" in str(found.exception)


def test_overlap_takes_names_and_folders(run: Run, listed: bytes, tmp_path: Path) -> None:
    run("get", "one", "--to", "own")
    folder = run("overlap", "own", written(tmp_path, "b.jsonl", "why"), "--json")
    assert json.loads(folder.stdout)["n_a"] == 2
    assert json.loads(folder.stdout)["n_shared_a"] == 1
    run("get", "one")
    named = run("overlap", "one", "own", "--json")
    assert json.loads(named.stdout)["n_shared_a"] == 2


def test_a_row_of_several_cases_asks_its_query_once(run: Run, tmp_path: Path) -> None:
    row = {"id": 1, "prompt": "Why?", "chosen": ["x"] * 3, "rejected": ["y"] * 3}
    (tmp_path / "rm.json").write_text(json.dumps([row, {**row, "id": 2}]), encoding="utf-8")
    found = run("overlap", "rm.json", written(tmp_path, "b.jsonl", "why"), "--json")
    assert json.loads(found.stdout)["n_a"] == 2


def test_rows_that_cannot_be_read_are_told_and_left_out(run: Run, tmp_path: Path) -> None:
    a = written(tmp_path, "a.jsonl", "Why?", " ")
    found = run("overlap", a, a, "--json")
    assert json.loads(found.stdout)["n_a"] == 1
    assert "1 rows could not be read" in found.stderr
    nothing = written(tmp_path, "nothing.jsonl", " ")
    assert isinstance(run("overlap", nothing, a).exception, DataError)
    assert isinstance(run("overlap", "missing.jsonl", a).exception, DataError)


def test_a_threshold_that_makes_no_sense_is_refused(run: Run, tmp_path: Path) -> None:
    a = written(tmp_path, "a.jsonl", "Why?")
    assert isinstance(run("overlap", a, a, "--threshold", 2).exception, ConfigError)
