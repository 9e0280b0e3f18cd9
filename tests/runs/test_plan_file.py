"""Plans that are written again: whole at every moment, and with the rows of cases not reached."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.errors import StorageFull
from autoj.jsonl import read_records, whole_lines
from autoj.records import Asked
from autoj.runs.plan_file import PlanWriter, earlier_rows

from .test_kill_points import ended_at

CASES = ("one", "two", "three", "four")


def row(case_id: str, shown: tuple[int, ...] = (0, 1)) -> Asked:
    return Asked(
        case_id=case_id, judge="j", protocol="p", shown=shown, sample=0, scored=True,
        truncated=False, key=("0" if shown == (0, 1) else "1") * 64,
    )  # fmt: skip


def both(case_id: str) -> list[Asked]:
    return [row(case_id), row(case_id, (1, 0))]


FIRST = [row(case_id) for case_id in CASES]
# The second and the fourth are unsure.
WHOLE = [*FIRST[:1], *both("two"), FIRST[2], *both("four")]


def write(path: Path, rows: Iterable[Asked], *, finish: bool = True) -> None:
    with closing(PlanWriter(path)) as writer:
        for each in rows:
            writer.write(each)
        if finish:
            writer.finish()


def rows_in(path: Path) -> list[Asked]:
    return list(read_records(path, Asked))


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.jsonl"
    write(path, FIRST)
    assert rows_in(path) == FIRST
    return path


def test_a_plan_is_written_again_with_more_and_with_fewer_rows(plan: Path) -> None:
    for rows in (WHOLE, WHOLE, FIRST, FIRST[:2]):
        write(plan, rows)
        assert rows_in(plan) == rows
        assert [file.name for file in plan.parent.iterdir()] == ["plan.jsonl"]


def test_a_process_that_is_killed_anywhere_leaves_no_shorter_plan(plan: Path) -> None:
    n_points = 0
    while ended_at(n_points, lambda: write(plan, WHOLE)):
        assert rows_in(plan) in (FIRST, WHOLE)
        write(plan, FIRST)
        n_points += 1
    assert n_points > len(WHOLE)
    assert rows_in(plan) == WHOLE


@pytest.mark.parametrize("n_written", range(len(WHOLE) + 1))
def test_what_is_not_reached_keeps_its_rows(plan: Path, n_written: int) -> None:
    write(plan, WHOLE[:n_written], finish=False)
    found, reached = rows_in(plan), {each.case_id for each in WHOLE[:n_written]}
    assert found[:n_written] == WHOLE[:n_written]
    rest = [each for each in FIRST if each.case_id not in reached]
    assert found[len(found) - len(rest) :] == rest
    write(plan, WHOLE)
    assert rows_in(plan) == WHOLE


@pytest.mark.parametrize("before", [WHOLE, [each for id_ in CASES for each in both(id_)]])
@pytest.mark.parametrize("n_written", range(len(FIRST) + 1))
def test_second_orders_that_are_no_longer_wanted_are_left_out(
    plan: Path, before: list[Asked], n_written: int
) -> None:
    write(plan, before)
    write(plan, FIRST[:n_written], finish=False)
    found = [each.case_id for each in rows_in(plan)]
    assert found == sorted(found, key=CASES.index)
    rest = [each for each in before if each.case_id not in CASES[:n_written]]
    assert rows_in(plan)[len(found) - len(rest) :] == rest
    write(plan, FIRST)
    assert rows_in(plan) == FIRST


def test_cases_that_the_plan_lacks_are_put_in_their_place(plan: Path) -> None:
    write(plan, [FIRST[0], FIRST[3]])
    write(plan, FIRST[:2], finish=False)
    assert rows_in(plan) == [*FIRST[:2], FIRST[3]]


def test_a_damaged_rest_is_left_out(plan: Path) -> None:
    lines = list(whole_lines(plan))
    plan.write_bytes(b"".join([*lines[:2], b"damaged\n", *lines[3:]]))
    write(plan, WHOLE[:3], finish=False)
    assert rows_in(plan) == WHOLE[:3]


@pytest.mark.parametrize("damage", [b"damaged\n", b'{"case_id": 3}\n', b"", b"\xff\n"])
def test_earlier_rows_end_before_the_first_damaged_one(plan: Path, damage: bytes) -> None:
    lines = list(whole_lines(plan))
    plan.write_bytes(b"".join([*lines[:2], damage, lines[3][:-9] + b"\n"]))
    assert list(earlier_rows(plan)) == FIRST[:2]


@pytest.mark.parametrize("key", ["x", "", "f" * 63, "F" * 64 + "x", "0x" + "1" * 62])
def test_earlier_rows_end_before_a_row_whose_key_is_none(plan: Path, key: str) -> None:
    write(plan, [*FIRST[:2], replace(FIRST[2], key=key), FIRST[3]])
    assert list(earlier_rows(plan)) == FIRST[:2]


def test_a_full_disk_leaves_the_plan_as_it_was(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, n_written = os.write, 0

    def full(handle: int, data: bytes) -> int:
        nonlocal n_written
        n_written += 1
        if n_written == 2:
            raise OSError(28, "No space left on device")
        return real(handle, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StorageFull):
        write(plan, WHOLE)
    assert rows_in(plan) == FIRST
    assert [file.name for file in plan.parent.iterdir()] == ["plan.jsonl"]
