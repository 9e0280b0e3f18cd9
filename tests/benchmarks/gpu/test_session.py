"""The session for a GPU machine, tried on the CPU with tiny models."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed: no trl")

from benchmarks.gpu import session, session_report

from ...training import toy

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The arguments of a smoke run, without its results."""
    folder = tmp_path_factory.mktemp("session")
    base = toy.make_model(folder / "base")
    rows = toy.write_rows(folder / "rows.jsonl", toy.pair_rows(6))
    weights = [f"--weights={name}={base}" for name in session.RECIPES]
    return ["--smoke", *weights, "--data", str(rows)]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Parts that only note that they ran."""
    ran: list[str] = []

    def part(name: str) -> Any:
        def do(_: Any) -> dict[str, Any]:
            ran.append(name)
            if name == "b":
                raise RuntimeError("CUDA out of memory.")
            return {"closing_line": f"{name} is done"}

        return do

    monkeypatch.setattr(session, "PARTS", {name: (2.0, part(name)) for name in "abc"})
    return ran


@pytest.mark.slow
def test_a_smoke_run_does_all_parts_and_reports_them(tmp_path: Path, smoke: list[str]) -> None:
    out = tmp_path / "results"
    assert session.main([str(out), *smoke, "--minutes", "60"]) == 0
    report = (out / "report.md").read_text()
    assert "Its figures mean nothing" in report
    assert "failed" not in report
    found = {part: json.loads((out / f"{part}.json").read_text()) for part in session.PARTS}
    assert found["tests"]["status"] == 0
    titles = [row["title"] for row in found["13b-bf16"]["rows"]]
    assert titles[1:3] == ["critiques in batches", "verdicts in batches"]
    for name in session.RECIPES:
        assert found[f"train-{name}"]["speed"]["tokens_per_second"] > 0
        assert (out / f"{name}-curve.csv").is_file()
    assert not list(out.glob("**/*.safetensors"))


def test_a_part_of_its_own_process_leaves_its_file(tmp_path: Path, smoke: list[str]) -> None:
    out = tmp_path / "results"
    out.mkdir()
    command = [sys.executable, "-m", "benchmarks.gpu.session", str(out), *smoke, "--only"]
    told = subprocess.run([*command, "1.5b-4bit"], cwd=session.ROOT, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert "seconds" in json.loads((out / "1.5b-4bit.json").read_text())


def test_what_is_done_is_not_done_again_and_a_failure_stops_nothing(
    tmp_path: Path, quick: list[str]
) -> None:
    out = tmp_path / "results"
    assert session.main([str(out), "--smoke"]) == 0
    assert quick == ["a", "b", "c"]
    assert "failed: RuntimeError: CUDA out of memory." in (out / "report.md").read_text()
    (out / "c.json").unlink()
    assert session.main([str(out), "--smoke"]) == 0
    assert quick == ["a", "b", "c", "c"]


def test_a_short_call_does_one_part_and_says_that_more_are_left(
    tmp_path: Path, quick: list[str]
) -> None:
    given = [str(tmp_path / "results"), "--smoke", "--minutes", "1"]
    assert [session.main(given) for _ in range(3)] == [session.MORE_LEFT, session.MORE_LEFT, 0]
    assert quick == ["a", "b", "c"]
    assert session.main([*given, "--all"]) == 0


def test_a_part_is_not_killed_before_its_own_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []

    def run(command: list[str], timeout: float, **_: Any) -> Any:
        given.append(timeout - 60 * float(command[command.index("--minutes") + 1]))
        return subprocess.CompletedProcess(command, 0, stderr="")

    monkeypatch.setattr(session.subprocess, "run", run)
    settings = session.Session(
        results=tmp_path, work=tmp_path, weights={}, data=(), smoke=False, until=1e12
    )
    assert session.run_child(settings, "tests")
    assert given == [pytest.approx(90)]


@pytest.mark.parametrize("goes_on", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_training_without_time_is_left_to_the_next_call(
    tmp_path: Path, smoke: list[str], goes_on: bool
) -> None:
    given = [str(tmp_path / "results"), *smoke, "--only", "train-135m"]
    (tmp_path / "results").mkdir()
    assert session.main([*given, "--minutes", "0"]) == session.MORE_LEFT
    assert not (tmp_path / "results" / "train-135m.json").exists()
    if goes_on:
        assert session.main([*given, "--minutes", "60"]) == 0


def test_without_a_gpu_it_does_not_begin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(SystemExit):
        session.main([str(tmp_path / "results")])
    assert "--smoke" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_results_that_are_too_large_to_send_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_report, "MAX_BYTES", 10)
    (tmp_path / "a").write_bytes(b"0" * 11)
    with pytest.raises(SystemExit, match="more than"):
        session_report.check_size(tmp_path)
