"""`autoj check`: what is whole, what is not, and the repair."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ..damage import without_digests
from ..frozen.harness import HERE, prepare, run

JUDGE = "autoj judge pairs.jsonl --judge sure.yaml --critique --limit 4 --out run"


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path) -> Path:
    """A working folder with a finished run in `run`."""
    prepare(monkeypatch, tmp_path, HERE / "inputs")
    assert run(JUDGE)[0] == 0
    return tmp_path


def states(name: str = "run") -> tuple[int, dict[str, str]]:
    code, out, _ = run(f"autoj check {name} --json")
    (found,) = json.loads(out)["folders"]
    return code, {file["name"]: file["state"] for file in found["files"]}


def edit(path: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def test_a_finished_run_is_whole():
    code, found = states()
    assert code == 0
    assert found.pop("timings.jsonl") == "no digest"
    assert set(found.values()) == {"whole"}
    assert len(found) == 7


def test_a_folder_of_the_first_version_has_no_digests():
    without_digests(Path("run"))
    code, found = states()
    assert code == 0
    # Its ledger has the checksums of lines, as nothing else was taken out.
    assert set(found.values()) == {"no digest"}


@pytest.mark.parametrize(
    "name", ["cases.jsonl", "plan.jsonl", "follow.jsonl", "ledger.jsonl", "verdicts.jsonl"]
)
def test_a_line_that_is_gone_is_found_and_repaired(name):
    verdicts = Path("run/verdicts.jsonl").read_bytes()
    edit(Path("run") / name, lambda lines: lines[:1] + lines[2:])
    code, found = states()
    assert (code, found[name]) == (1, "damaged")
    run("autoj check run --repair")
    assert run(JUDGE)[0] == 0
    assert states()[0] == 0
    assert Path("run/verdicts.jsonl").read_bytes() == verdicts


def test_a_changed_answer_is_set_aside_and_asked_again():
    edit(Path("run/ledger.jsonl"), lambda lines: [lines[0].replace(b"stop", b"stup"), *lines[1:]])
    code, _, err = run("autoj show run")
    assert code == 2
    assert "run/ledger.jsonl:1: is damaged: the line differs from its checksum" in err
    assert "autoj check run" in err
    code, _, err = run("autoj check run --repair")
    assert code == 0
    assert "1 damaged line set aside" in err
    assert Path("run/damaged/ledger.jsonl").read_bytes().count(b"\n") == 1
    assert run(JUDGE)[0] == 0
    assert states()[0] == 0


def test_settings_that_were_changed_are_told_and_written_anew():
    path = Path("run/run.json")
    path.write_text(path.read_text().replace('"orders": "both"', '"orders": "one"'))
    code, _, err = run("autoj show run")
    assert code == 2
    assert "run.json: is damaged: its content differs from the digest in it" in err
    assert run("autoj check run --repair")[0] == 1
    assert run(JUDGE)[0] == 0
    assert states()[0] == 0


def test_a_deleted_plan_loses_no_verdict():
    """Version 0.1 wrote no verdicts then, and said nothing."""
    for with_digests in (True, False):
        if not with_digests:
            without_digests(Path("run"))
        verdicts = Path("run/verdicts.jsonl").read_bytes()
        Path("run/plan.jsonl").unlink()
        assert run("autoj show run")[0] == 2
        assert run(JUDGE)[0] == 0
        assert Path("run/verdicts.jsonl").read_bytes() == verdicts


def test_cases_that_are_read_again_leave_the_other_digests():
    before = json.loads(Path("run/run.json").read_bytes())["files"]
    edit(Path("run/cases.jsonl"), lambda lines: lines[:-1])
    assert run(JUDGE)[0] == 0
    assert json.loads(Path("run/run.json").read_bytes())["files"] == before


def test_a_jury_that_was_interrupted_is_not_damaged(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    jury = "autoj judge pairs.jsonl --judge verdict.yaml,two.yaml --out jury"
    assert run(f"{jury} --max-requests 20")[0] != 0
    assert Path("jury/jury.json").is_file()
    code, out, _ = run("autoj check jury --json")
    (found,) = (each for each in json.loads(out)["folders"] if each["path"] == "jury")
    assert found["whole"]
    assert found["files"][-1]["reason"] == "there is none: some of its judges have not finished"
    assert code == 0
    assert run(jury)[0] == 0
    Path("jury/verdicts.jsonl").unlink()
    code, out, _ = run("autoj check jury --json")
    (found,) = (each for each in json.loads(out)["folders"] if each["path"] == "jury")
    assert (code, found["whole"], found["files"][-1]["state"]) == (1, False, "missing")


def test_half_of_the_cases_are_read_from_the_data_again():
    for with_digests in (True, False):
        if not with_digests:
            without_digests(Path("run"))
        edit(Path("run/cases.jsonl"), lambda lines: lines[: len(lines) // 2])
        assert run("autoj show run")[0] == 2
        code, _, err = run(JUDGE)
        assert code == 0
        assert "the cases are read from the data again" in err
        assert Path("run/verdicts.jsonl").read_bytes().count(b"\n") == 4


def test_a_flipped_bit_after_a_key_leaves_no_case_unjudged_for_ever():
    """The quotation mark after the key: the line had the key by its place and not by its field."""
    verdicts = Path("run/verdicts.jsonl").read_bytes()

    def flip(lines: list[bytes]) -> list[bytes]:
        return [lines[0][:72] + b"#" + lines[0][73:], *lines[1:]]

    edit(Path("run/ledger.jsonl"), flip)
    assert run(JUDGE)[0] == 2
    run("autoj check run --repair")
    assert run(JUDGE)[0] == 0
    assert Path("run/verdicts.jsonl").read_bytes() == verdicts


def test_all_runs_in_a_folder_are_checked():
    assert run("autoj select candidates.jsonl --judge sure.yaml --by pairs --out met")[0] == 0
    Path("met/picks.jsonl").unlink()
    code, out, _ = run("autoj check . --json")
    found = json.loads(out)
    assert code == 1
    assert {folder["path"]: folder["whole"] for folder in found["folders"]} == {
        "met": False, "met/pairs": True, "run": True,
    }  # fmt: skip
    assert run("autoj check . --repair")[0] == 0
    assert Path("met/picks.jsonl").is_file()


def test_a_folder_without_a_run_is_refused(tmp_path):
    code, _, err = run("autoj check mine")
    assert code == 2
    assert "holds no run" in err


@pytest.mark.parametrize(
    "command",
    [
        "autoj judge bad.jsonl --judge verdict.yaml",
        "autoj judge pairs.jsonl --judge nowhere.yaml",
        "autoj judge pairs.jsonl --judge openai:nobody",
        "autoj judge bad.jsonl --judge verdict.yaml,two.yaml",
        "autoj select bad.jsonl --judge verdict.yaml --by pairs",
        "autoj classify broken.jsonl --judge namer.yaml",
        "autoj audit --on pairs.jsonl --judge openai:nobody --limit 4",
    ],
)
def test_a_start_that_fails_leaves_no_folder(command, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert run(command)[0] in (2, 3)
    assert not Path("runs").exists()


def test_a_start_that_fails_with_judgments_keeps_them(monkeypatch):
    monkeypatch.setenv("STOPS_AFTER", "3")
    run("autoj judge pairs.jsonl --judge verdict.yaml --out other")
    assert Path("other/ledger.jsonl").read_bytes().count(b"\n") == 3
