"""Rows and files that unpack to more than a limit are told, in little memory; others are read."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from autoj.datasets import open_cases, open_queries
from autoj.errors import ConfigError, DataError
from autoj.records import Case

MB = 1_000_000
GOOD = b'{"query": "q", "response": "r"}\n'
HEAD = b"query,response_a,response_b\nq,x,y\n"


@pytest.fixture(autouse=True)
def one_megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOJ_MAX_ROW_MB", "1")
    monkeypatch.setenv("AUTOJ_MAX_JSON_MB", "2")


def outcomes(path: Path) -> list[tuple[int, str]]:
    """The line of each row, and "case" or its error."""
    return [
        (line, "case" if isinstance(case, Case) else case.reason)
        for line, case in open_cases(path).read()
    ]


LONG = b"x" * (MB + 1)
LINES = b"x" * 99 + b"\n"
TOO_LONG = "the row has more than 1 MB"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("line.jsonl", GOOD + b'{"query": "' + LONG + b'"}\n' + GOOD, [1, -2, 3]),
        ("last.jsonl", GOOD + LONG, [1, -2]),
        ("cell.csv", HEAD + b'q,"' + LONG + b'",y\nq,x,y\n', [2, -3, 4]),
        (
            "lines.csv",
            HEAD + b'q,"' + (b"x" * 99 + b"\n") * 20_000 + b'",y\nq,x,y\n',
            [2, -3, 20_004],
        ),
        ("bare.csv", HEAD + b"q," + LONG + b",y\nq,x,y\n", [2, -3, 4]),
        ("quotes.csv", HEAD + b'q,"' + b'""' * MB + b'",y\nq,x,y\n', [2, -3, 4]),
        ("open.csv", HEAD + b'q,"' + b"q,x,y\n" * 300_000, [2, -3]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_row_that_is_too_long_is_a_bad_row_and_the_others_are_read(
    tmp_path: Path, name: str, content: bytes, expected: list[int], packed: bool
) -> None:
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(content) if packed else content)
    assert outcomes(path) == [(abs(line), "case" if line > 0 else TOO_LONG) for line in expected]


def test_a_row_of_the_very_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(GOOD.strip() + b" " * (MB - len(GOOD)) + b"\n" + GOOD)
    assert outcomes(path) == [(1, "case"), (2, "case")]


def test_a_line_of_text_that_is_too_long_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "queries.txt"
    path.write_bytes(b"Why?\n" + LONG + b"\nHow?\n")
    rows = [row.case for row in open_queries(path).read()]
    assert [isinstance(case, Case) for case in rows] == [True, False, True]


@pytest.mark.parametrize(
    "content", [b"[" + GOOD * 3, b"[" + (GOOD.strip() + b",") * 70_000 + GOOD + b"]"]
)
def test_a_json_list_that_is_too_long_says_what_to_do(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.json.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(DataError) as told:
        open_cases(path)
    if len(content) > 2 * MB:
        assert told.value.reason == "is one JSON value of more than 2 MB"
        assert "jq -c '.[]'" in str(told.value.hint)


def test_a_long_json_file_of_a_row_a_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes((GOOD.strip() + b" " * 900 + b"\n") * 3000)
    assert len(outcomes(path)) == 3000


def test_a_list_of_millions_of_values_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autoj.inputs.json_rows._MOST_VALUES", 1000)
    path = tmp_path / "rows.json"
    path.write_bytes(b"[" + b"[]," * 1001 + b"[]]")
    with pytest.raises(DataError, match="values"):
        open_cases(path)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(GOOD + b'{"query": [' + b"1," * 1001 + b"1]}\n")
    assert [line for line, said in outcomes(path) if "values" in said] == [2]


def test_millions_of_blank_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    for name, good in (("rows.jsonl", GOOD), ("rows.csv", HEAD)):
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress(good + b"\n" * 2 * MB + good.splitlines()[-1]))
        first = good.count(b"\n")
        assert [line for line, _ in outcomes(path)] == [first, first + 2 * MB + 1]


def test_rows_of_parquet_have_the_limit_too(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    row = {"query": "q", "response": "r"}
    path = tmp_path / "rows.parquet"
    rows = [row, {**row, "response": "x" * (MB + 1)}, *[row] * 50]
    parquet.write_table(arrow.Table.from_pylist(rows), path)
    assert [line for line, said in outcomes(path) if said == TOO_LONG] == [2]
    assert len(outcomes(path)) == 52
    parquet.write_table(arrow.Table.from_pylist(rows[1:2] * 3), path, use_dictionary=False)
    with pytest.raises(DataError, match="in one of its parts the row has more than 1 MB"):
        open_cases(path)


def test_a_table_of_nested_rows_of_parquet_that_are_deep_is_told(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    kind = arrow.string()
    value: object = "x"
    for _ in range(105):
        kind, value = arrow.list_(kind), [value]
    schema = arrow.schema([("query", arrow.string()), ("response", arrow.string()), ("meta", kind)])
    rows = [{"query": "q", "response": "r", "meta": value}]
    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.Table.from_pylist(rows, schema), path)
    with pytest.raises(DataError, match=r"nested deeper than 100 levels|not a Parquet file"):
        open_cases(path)


@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5", "١", "9" * 5000])
def test_a_limit_that_is_no_number_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("AUTOJ_MAX_ROW_MB", text)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(GOOD)
    with pytest.raises(ConfigError, match="AUTOJ_MAX_ROW_MB: expected a number of megabytes"):
        open_cases(path)


@pytest.mark.parametrize(
    ("head", "tool"),
    [(b"(\xb5/\xfd", "zstdcat"), (b"BZh9", "bzcat"), (b"\xfd7zXZ\x00", "xzcat")],
)
def test_other_packings_are_told_with_their_tool(tmp_path: Path, head: bytes, tool: str) -> None:
    path = tmp_path / "rows.jsonl.zst"
    path.write_bytes(head + b"\x00" * 20)
    with pytest.raises(DataError, match=r"is compressed, and only \.gz is read") as told:
        open_cases(path)
    assert f"{tool} FILE | autoj judge -" in str(told.value.hint)


def test_a_gzip_file_needs_no_ending(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(gzip.compress(GOOD))
    assert outcomes(path) == [(1, "case")]


PEAK = """
import resource, sys
from pathlib import Path
from autoj.datasets import open_cases
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for row in open_cases(Path(sys.argv[1])).read():
    pass
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.parametrize("name", ["rows.jsonl.gz", "rows.csv.gz"])
def test_a_bomb_takes_little_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    good, begin = (GOOD, b'{"query": "') if "jsonl" in name else (HEAD, b'q,"')
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(good + begin)
        for _ in range(80):
            stream.write(b"x" * MB)
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True
    )
    # 80 MB unpacked; the limit of a row is 1 MB here.
    assert float(done.stdout) < 40
