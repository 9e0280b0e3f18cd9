"""Damaged run folders of every kind: told, never a traceback, never fewer rows without a word."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from autoj.jsonl import decode, whole_lines

from ..damage import DAMAGES, damage_file, without_digests
from ..frozen.harness import HERE, prepare, run

COMMANDS = {
    "judged": "judge pairs.jsonl --judge verdict.yaml --limit 5",
    "followed": "judge pairs.jsonl --judge sure.yaml --critique --limit 4",
    "written": "judge pairs.jsonl --judge writer.yaml --samples 2 --temperature 1 --limit 3",
    "failed": "judge pairs.jsonl --judge failing.yaml --limit 5",
    "stopped": "judge pairs.jsonl --judge verdict.yaml --max-requests 5",
    "skipped": "judge bad.jsonl --judge verdict.yaml --skip-bad-rows",
    "rated": "rate rated.jsonl --judge verdict.yaml --critique",
    "picked": "select candidates.jsonl --judge sure.yaml",
    "met": "select candidates.jsonl --judge sure.yaml --by pairs",
    "classified": "classify queries.jsonl --judge namer.yaml",
    "jury": "judge pairs.jsonl --judge verdict.yaml,two.yaml --limit 4",
    "shard": "judge pairs.jsonl --judge verdict.yaml --shard 1/2",
    "other-shard": "judge pairs.jsonl --judge verdict.yaml --shard 2/2",
}
"""A folder of each kind, by the command that makes it and goes on with it."""
SHARED = ("shard", "other-shard")
MERGED = "judge pairs.jsonl --judge verdict.yaml"
UNTOLD = {"timings.jsonl", "run.lock", "bad_rows.jsonl"}
"""Files that no verdict follows from."""


@dataclass(frozen=True)
class Whole:
    """A folder that nothing happened to, with what commands say of it."""

    command: str
    shown: str
    state: dict[str, list[object]]


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Iterator[tuple[Path, dict[str, Whole]]]:
    """Folders of every kind, once with digests and once as version 0.1 would have left them."""
    folder = tmp_path_factory.mktemp("base")
    with pytest.MonkeyPatch.context() as patch:
        prepare(patch, folder, HERE / "inputs")
        for name, command in COMMANDS.items():
            code, _, said = run(f"autoj {command} --out {name}")
            assert code in (0, 1), said
        assert run(f"autoj merge {' '.join(SHARED)} --out merged")[0] == 0
        commands = {**COMMANDS, "merged": MERGED}
        for name in list(commands):
            shutil.copytree(folder / name, folder / f"old-{name}")
            commands[f"old-{name}"] = commands[name]
            for settings in (folder / f"old-{name}").rglob("run.json"):
                without_digests(settings.parent)
        found = {
            name: Whole(
                command=f"autoj {command} --out {name}",
                shown=run(f"autoj show {name} --json")[1],
                state=verdicts_of(folder / name),
            )
            for name, command in commands.items()
        }
        yield folder, found


def verdicts_of(path: Path) -> dict[str, list[object]]:
    """The verdicts in a folder and in the runs below it."""
    return {
        file.relative_to(path).as_posix(): [_decoded(line) for line in whole_lines(file)]
        for name in ("verdicts.jsonl", "picks.jsonl", "scenarios.jsonl")
        for file in sorted(path.rglob(name))
        if file.parent.name != "damaged"
    }


def _decoded(line: bytes) -> object:
    """A line's value; a line that a command left damaged is no value of any verdict."""
    try:
        return decode(line)
    except ValueError:
        return line


def n_rows(state: dict[str, list[object]]) -> dict[str, int]:
    return {name: len(rows) for name, rows in state.items()}


def damaged_commands(
    base: tuple[Path, dict[str, Whole]], n_times: int, seed: int
) -> Iterator[tuple[str, list[str]]]:
    """Damages folders at random; gives each command with what is wrong about its outcome."""
    folder, wholes = base
    draw = random.Random(seed)
    for number in range(n_times):
        name = draw.choice(sorted(wholes))
        path = folder / name
        shutil.copytree(path, folder / "kept")
        try:
            files = sorted(file for file in path.rglob("*.json*") if file.name not in UNTOLD)
            file, how = draw.choice(files), draw.choice(sorted(DAMAGES))
            told = f"{number}: {file.relative_to(folder)}, {how}"
            if damage_file(file, how, draw):
                yield from _outcomes(folder, name, wholes[name], told, draw)
        finally:
            shutil.rmtree(path)
            (folder / "kept").rename(path)


def _outcomes(
    folder: Path, name: str, whole: Whole, told: str, draw: random.Random
) -> Iterator[tuple[str, list[str]]]:
    case = draw.choice(["plan", "sum", "translate", "equal", "one", "nobody"])
    others = [f"autoj show {name} {case}", f"autoj export {name} --format csv --out out.csv"]
    if name.removeprefix("old-") in SHARED:
        others.append(f"autoj merge {name} --out joined")
    is_old = name.startswith("old-")
    repair = [f"autoj check {name} --repair"] if draw.random() < 0.5 else []
    for command in [
        f"autoj check {name}", f"autoj show {name} --json", draw.choice(others), *repair,
        whole.command,
    ]:  # fmt: skip
        for left in ("joined", "out.csv"):
            shutil.rmtree(folder / left, ignore_errors=True)
            (folder / left).unlink(missing_ok=True)
        code, out, err = run(command)
        wrong = []
        if code == 4 or "Traceback" in err:
            wrong.append(err[-1500:])
        if code in (0, 1) and command.endswith("--json") and not same_rows(name, out, whole.shown):
            wrong.append(f"shown otherwise without a word: {out[:1000]}")
        if command == f"autoj check {name}" and code == 0 and not is_old and _must_be_seen(told):
            wrong.append(f"taken for whole:\n{out}")
        if command == whole.command and repair and code not in (0, 1) and not is_old:
            wrong.append(f"does not go on after a repair: {err[-1500:]}")
        if code in (0, 1) and command == whole.command and "earlier file is kept" not in err:
            state = verdicts_of(folder / name)
            if "stopped" in name:
                # A cap may leave the answers of one more case: equal texts are asked once.
                if any(
                    row not in state[path] for path, rows in whole.state.items() for row in rows
                ):
                    wrong.append("a verdict is lost")
            elif is_old:
                lost = {
                    path: n for path, n in n_rows(whole.state).items()
                    if n_rows(state).get(path) != n
                }  # fmt: skip
                if lost:
                    wrong.append(f"goes on to {n_rows(state)}, not {n_rows(whole.state)}")
            elif state != whole.state:
                wrong.append("goes on to other verdicts without a word")
        yield f"{told}; {command}; exit {code}", wrong


def _must_be_seen(told: str) -> bool:
    """True for all damage but to the order of answers, and to what has no digest of its own."""
    file, _, how = told.partition(", ")
    if file.endswith("jury.json"):
        return False
    if file.endswith("run.json"):
        # Spaces and fields that are there twice change nothing of what it says.
        return how not in ("a byte doubled", "a byte gone", "a line doubled", "two lines joined")
    if file.endswith("failures.jsonl"):
        # The last failure of a key counts.
        return "doubled" not in how and "end" not in how and how != "reversed"
    return not (file.endswith("ledger.jsonl") and how in ("reversed", "a line moved to the end"))


def same_rows(name: str, shown: str, expected: str) -> bool:
    """True where a folder is shown as it was; without digests, where the number of rows is."""
    if not name.startswith("old-"):
        return shown == expected
    return _counts(decode(shown.encode())) == _counts(decode(expected.encode()))


def _counts(value: object) -> list[object]:
    if not isinstance(value, dict):
        return []
    found: list[object] = [len(item) for item in value.values() if isinstance(item, list)]
    summary = value.get("summary")
    if isinstance(summary, dict):
        found += [summary.get("n_cases"), summary.get("n_judged")]
    return found


def check_all(base: tuple[Path, dict[str, Whole]], n_times: int, seed: int) -> None:
    counts: Counter[str] = Counter()
    faults = []
    for command, wrong in damaged_commands(base, n_times, seed):
        counts[command.rpartition("; ")[2]] += 1
        faults += [f"{command}\n{what}" for what in wrong]
    assert not faults, f"{len(faults)} of {sum(counts.values())} commands\n" + "\n\n".join(
        faults[:10]
    )
    assert sum(counts.values()) >= n_times


def test_damage_is_told_and_loses_nothing(base):
    check_all(base, 40, seed=0)


@pytest.mark.slow
def test_much_damage_is_told_and_loses_nothing(base):
    check_all(base, 700, seed=1)
