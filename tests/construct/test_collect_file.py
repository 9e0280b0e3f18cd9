"""The stage collect run alone: its files, whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj.construct import stages
from autoj.construct.collect_file import CollectedFile, collect_recipe, collect_to_file
from autoj.construct.recipe import Collect, PairFile
from autoj.construct.stages import Dropped, StageSummary
from autoj.datasets import open_cases, open_queries
from autoj.errors import Cancelled, ConfigError, DataError
from autoj.jsonl import read_records, write_records
from autoj.records import Case
from autoj.runs.watch import SILENT, Watch

from ..scripted import Killed

FILES = Path(__file__).parents[1] / "datasets" / "files"


def _rows(n_rows: int) -> list[dict[str, Any]]:
    return [
        {"id": number, "query": f"Why {number}?", "responses": ["So.", "No."], "label": "a"}
        for number in range(n_rows)
    ]


def _collect(
    out: Path, *data: Path, queries: bool = False, watch: Watch = SILENT, **settings: Any
) -> CollectedFile:
    stage = Collect.model_validate({"stage": "collect", **settings})
    recipe = collect_recipe([str(path) for path in data], PairFile(data=""), stage)
    return collect_to_file(recipe, out, queries=queries, watch=watch)


def test_rows_and_drops_sum_to_what_was_read(tmp_path: Path) -> None:
    rows = [*_rows(5), *_rows(2), {"query": 7}, {"query": "q", "responses": ["x" * 200_000, "y"]}]
    write_records(tmp_path / "own.jsonl", rows)
    done = _collect(tmp_path / "new" / "pairs.jsonl", tmp_path / "own.jsonl", FILES / "shp.jsonl")
    assert {path.name for path in done.path.parent.iterdir()} == {
        "pairs.jsonl", "pairs.dropped.jsonl", "pairs.summary.json",
    }  # fmt: skip
    kept = [row.case for row in open_cases(done.path).read()]
    dropped = list(read_records(done.dropped, Dropped))
    (summary,) = read_records(done.path.parent / "pairs.summary.json", StageSummary)
    assert summary == done.summary
    assert summary.dropped == {"same id": 2, "cannot be read": 1, "too long": 1}
    assert (summary.n_in, summary.n_kept) == (len(rows) + 2, len(kept)) == (11, 7)
    assert all(isinstance(case, Case) for case in kept)
    assert [item.id for item in dropped] == ["own/0", "own/1", "own:8", "own/line-9"]


def test_queries_are_rows_that_are_read_as_queries(tmp_path: Path) -> None:
    done = _collect(tmp_path / "queries.jsonl", FILES / "sharegpt.jsonl", queries=True)
    opened = open_queries(done.path)
    assert opened.format == "queries"
    assert [row.case.query for row in opened.read() if isinstance(row.case, Case)] == [
        "Name three herbs.",
        "Why is tea bitter?",
    ]
    row = json.loads(done.path.read_text().splitlines()[0])
    assert row["id"] == "sharegpt/QWhabcd_0"
    assert not {"responses", "label"} & row.keys()


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder in ("cooking", "gardens", "again/gardens"):
        (tmp_path / folder).mkdir(parents=True)
        write_records(tmp_path / folder / "train.jsonl", _rows(1))
    write_records(tmp_path / "cooking-train.jsonl", _rows(1))
    paths = [tmp_path / name / "train.jsonl" for name in ("cooking", "gardens", "again/gardens")]
    done = _collect(tmp_path / "pairs.jsonl", *paths, tmp_path / "cooking-train.jsonl", paths[1])
    assert [source["name"] for source in done.summary.notes["sources"]] == [
        "cooking-train-1", "gardens-train", "gardens-train-3", "cooking-train", "gardens-train-5",
    ]  # fmt: skip
    assert done.summary.n_kept == 5


class _Stopper(Watch):
    def __init__(self) -> None:
        self.n_done = 0

    def progress(self, what: str, n_done: int, n_total: int) -> None:
        self.n_done = n_done

    def cancelled(self) -> bool:
        return self.n_done == 3


def test_a_cancelled_collection_leaves_the_files_that_were_there(tmp_path: Path) -> None:
    write_records(tmp_path / "own.jsonl", _rows(5))
    out = tmp_path / "new" / "pairs.jsonl"
    with pytest.raises(Cancelled):
        _collect(out, tmp_path / "own.jsonl", watch=_Stopper())
    assert list(out.parent.iterdir()) == []
    _collect(out, tmp_path / "own.jsonl")
    before = out.read_bytes()
    with pytest.raises(Cancelled):
        _collect(out, tmp_path / "own.jsonl", watch=_Stopper(), shuffle=False)
    assert out.read_bytes() == before
    # Without its summary nobody takes the old rows for those of the new settings.
    assert {path.name for path in out.parent.iterdir()} == {"pairs.jsonl", "pairs.dropped.jsonl"}


def test_a_collection_killed_at_any_row_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_records(tmp_path / "own.jsonl", _rows(4))
    real = stages.native_row
    for n_rows in range(4):
        n_written = 0

        def dying(case: Case, last: int = n_rows) -> dict[str, Any]:
            nonlocal n_written
            if n_written == last:
                raise Killed
            n_written += 1
            return real(case)

        out = tmp_path / str(n_rows) / "pairs.jsonl"
        with monkeypatch.context() as patched:
            patched.setattr(stages, "native_row", dying)
            with pytest.raises(Killed):
                _collect(out, tmp_path / "own.jsonl")
        assert list(out.parent.iterdir()) == []


def test_nothing_kept_is_an_error_that_names_the_first_reason(tmp_path: Path) -> None:
    write_records(tmp_path / "own.jsonl", [{**row, "label": None} for row in _rows(3)])
    out = tmp_path / "pairs.jsonl"
    with pytest.raises(DataError, match="no row of 3 was kept; the first, own/0: no label"):
        _collect(out, tmp_path / "own.jsonl")
    assert len(list(read_records(tmp_path / "pairs.dropped.jsonl", Dropped))) == 3


def test_a_data_set_whose_columns_changed_is_told_with_them(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (FILES / "shp.jsonl").read_text().splitlines()]
    for row in rows:
        row["preferred"] = row.pop("labels")
    write_records(tmp_path / "shp.jsonl", rows)
    with pytest.raises(DataError, match=r"cannot be read \(labels: is missing; .*'preferred'"):
        _collect(tmp_path / "pairs.jsonl", tmp_path / "shp.jsonl")


@pytest.mark.parametrize("name", ["pairs.csv", "pairs", ".jsonl", "folder.jsonl", "own.jsonl"])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_read(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    write_records(tmp_path / "own.jsonl", _rows(1))
    with pytest.raises(ConfigError, match="--out"):
        _collect(tmp_path / name, tmp_path / "own.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.jsonl", "own.jsonl"]


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    write_records(tmp_path / "own.jsonl", _rows(1))
    with pytest.raises(DataError, match="cannot be written"):
        _collect(tmp_path / "own.jsonl" / "pairs.jsonl", tmp_path / "own.jsonl")
