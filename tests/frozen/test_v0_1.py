"""Holds that folders which version 0.1 wrote (`v0_1/`) are shown, resumed, joined and exported.

`v0_1/` is data and is never written anew: it holds a run of each kind (`WRITTEN` says by which
command), the files and cards that they were made of, and exports of two. What `show` prints of them
is recorded in `expected/v0_1-*`, like all that commands print (`AUTOJ_RECORD=1`).
"""

from __future__ import annotations

import json

import pytest

from autoj.jsonl import encode
from tests.frozen import script
from tests.frozen.harness import HERE, compare, normalised, prepare, run, transcript, written

FOLDERS = HERE / "v0_1"
WRITTEN = {
    "judged": "autoj judge pairs.jsonl --judge verdict.yaml --out judged",
    "critiqued": "autoj judge pairs.jsonl --judge writer.yaml --out critiqued",
    "followed": "autoj judge pairs.jsonl --judge sure.yaml --critique --limit 4 --out followed",
    "rated": "autoj rate rated.jsonl --judge writer.yaml --out rated",
    "selected": "autoj select candidates.jsonl --judge sure.yaml --out selected",
    "met": "autoj select candidates.jsonl --judge sure.yaml --by pairs --out met",
    "jury": "autoj judge pairs.jsonl --judge verdict.yaml,two.yaml,three.yaml --out jury",
    "classified": "autoj classify queries.jsonl --judge namer.yaml --out classified",
    "named": "autoj judge pairs.jsonl --judge verdict.yaml --classify --limit 4 --out named",
    "calibrated": "autoj judge pairs.jsonl --judge calibrated.yaml --out calibrated",
    "sampled": "autoj judge pairs.jsonl --judge writer.yaml --samples 3 --temperature 0.7 "
    "--limit 3 --out sampled",
    "shard-1": "autoj judge pairs.jsonl --judge verdict.yaml --shard 1/2 --out shard-1",
    "shard-2": "autoj judge pairs.jsonl --judge verdict.yaml --shard 2/2 --out shard-2",
}
"""Finished runs, by the commands that wrote them."""
UNFINISHED = {
    "stopped": ("autoj judge pairs.jsonl --judge verdict.yaml --out stopped", 5),
    "failed": ("autoj judge pairs.jsonl --judge failing.yaml --out failed", 4),
}
"""Runs with questions that have no answer: one stopped by Ctrl-C, one whose judge fails at some."""
CASES = {"rated": "many", "selected": "equal", "met": "four", "classified": "plan"}
STABLE = ("cases.jsonl", "plan.jsonl", "follow.jsonl", "ledger.jsonl")
EXPORTS = {
    "critiqued.csv": "critiqued --format csv",
    "critiqued.jsonl": "critiqued --format jsonl",
    "critiqued.alpaca_eval.json": "critiqued --format alpaca_eval",
    "critiqued.mt_bench.jsonl": "critiqued --format mt_bench",
    "followed.reward_bench.json": "followed --format reward_bench",
    "rated.csv": "rated --format csv",
    "rated.mt_bench.jsonl": "rated --format mt_bench",
}
"""Files of `v0_1/exports/`, and what `autoj export` was given for them."""


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """The working folder: a copy of the folders of 0.1."""
    prepare(monkeypatch, tmp_path, FOLDERS)
    return tmp_path


def asked(command: str) -> tuple[int, int]:
    """The exit code of a command and how many questions it asked."""
    script.N_ASKED[0] = 0
    code, _, _ = run(command)
    return code, script.N_ASKED[0]


def lines(path) -> list[bytes]:
    return sorted(path.read_bytes().splitlines())


def verdicts(path, scenarios: dict[str, str | None]) -> list[dict]:
    """A run's verdicts with the scenarios of its cases, which version 0.1 left out."""
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    for row in rows:
        for verdict in (row, *row.get("judges", ())):
            verdict["scenario"] = verdict["scenario"] or scenarios[row["case_id"]]
    return sorted(rows, key=lambda row: row["case_id"])


def scenarios_of(place) -> dict[str, str | None]:
    """The scenario of each case of a run."""
    rows = [json.loads(line) for line in (place / "cases.jsonl").read_bytes().splitlines()]
    return {row["id"]: row["scenario"] for row in rows}


@pytest.mark.parametrize("name", [*WRITTEN, *UNFINISHED])
def test_a_folder_is_shown_as_ever(name, folder):
    commands = [f"autoj show {name}", f"autoj show {name} --json"]
    place = f"{name}/judges/two" if name == "jury" else name
    case = CASES.get(name, "sum" if "shard" not in name else None)
    if case is not None:
        commands += [f"autoj show {place} {case}", f"autoj show {place} {case} --json"]
    found = {"transcript.txt": transcript(commands, folder)}
    compare(found, HERE / "expected" / f"v0_1-{name}")
    assert written(folder, FOLDERS) == {}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_finished_run_asks_nothing_and_stays_as_it_is(name, folder):
    assert asked(WRITTEN[name]) == (0, 0)
    changed = written(folder, FOLDERS)
    assert [path for path in changed if path.rpartition("/")[2] in STABLE] == []
    first = "jury/judges/two" if name == "jury" else name
    scenarios = scenarios_of(FOLDERS / first)
    if name == "classified":
        # The judge's answers are scenarios: none is taken from the case.
        scenarios = dict.fromkeys(scenarios)
    before = verdicts(FOLDERS / name / "verdicts.jsonl", scenarios)
    # Nothing is filled in here: what was written now has the scenarios by itself.
    nothing = dict.fromkeys(scenarios)
    assert verdicts(folder / name / "verdicts.jsonl", nothing) == before


def test_a_stopped_run_asks_what_is_missing_and_ends_as_if_it_had_not_stopped(folder):
    command, n_before = UNFINISHED["stopped"]
    whole = FOLDERS / "judged"
    n_all = len(lines(whole / "ledger.jsonl"))
    assert len(lines(folder / "stopped" / "ledger.jsonl")) == n_before
    assert asked(command) == (0, n_all - n_before)
    for name in ("cases.jsonl", "plan.jsonl", "ledger.jsonl"):
        assert lines(folder / "stopped" / name) == lines(whole / name)
    scenarios = scenarios_of(whole)
    now = verdicts(folder / "stopped" / "verdicts.jsonl", scenarios)
    assert now == verdicts(whole / "verdicts.jsonl", scenarios)


def test_a_run_with_failures_asks_those_again(folder):
    command, n_failed = UNFINISHED["failed"]
    ledger = lines(folder / "failed" / "ledger.jsonl")
    assert asked(command) == (1, n_failed)
    assert lines(folder / "failed" / "ledger.jsonl") == ledger


def test_shards_join_to_the_whole(folder):
    assert asked("autoj merge shard-1 shard-2 --out whole") == (0, 0)
    for name in ("cases.jsonl", "plan.jsonl", "ledger.jsonl"):
        assert lines(folder / "whole" / name) == lines(FOLDERS / "judged" / name)
    scenarios = scenarios_of(FOLDERS / "judged")
    now = verdicts(folder / "whole" / "verdicts.jsonl", scenarios)
    assert now == verdicts(FOLDERS / "judged" / "verdicts.jsonl", scenarios)


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_are_the_same_bytes(name, folder):
    assert run(f"autoj export {EXPORTS[name]} --out {name}")[0] == 0
    now, before = ((root / name).read_bytes().decode() for root in (folder, FOLDERS / "exports"))
    if name == "critiqued.jsonl":
        # Version 0.1 wrote null over the scenario that the row had.
        scenarios = scenarios_of(FOLDERS / "critiqued")
        rows = [json.loads(line) for line in before.splitlines()]
        before = "".join(encode(row | {"scenario": scenarios[row["id"]]}).decode() for row in rows)
    assert normalised(now, folder) == normalised(before, folder)
