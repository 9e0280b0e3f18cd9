"""CSV, TSV, Parquet and data sets of Hugging Face hold each format as JSON lines do."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj import inputs, jsonl
from autoj.datasets import format_names, open_cases, parse_map
from autoj.datasets._delimited import read_delimited
from autoj.errors import DataError, MissingExtra, install_command
from autoj.records import Case

FILES = Path(__file__).parent / "files"
PAIRS = [
    {"query": "Why?", "response_a": 'She said "no".', "response_b": "a,b\n\nc", "label": "b"},
    {"query": "Ünï?", "response_a": "", "response_b": "=1+1", "label": ""},
]
every_format = pytest.mark.parametrize("name", format_names())


def rows_of(name: str) -> list[dict[str, Any]]:
    return [row for _, row in inputs.read_rows(FILES / f"{name}.jsonl") if isinstance(row, dict)]


def read(path: Path, format: str | None = None) -> list[Case | DataError]:
    return [row.case for row in open_cases(path, format).read()]


def write_csv(path: Path, rows: list[dict[str, Any]], **dialect: Any) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), **dialect)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@every_format
def test_each_format_is_read_out_of_parquet_too(tmp_path: Path, name: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    n_tested = 0
    for number, row in enumerate(rows_of(name)):
        path = tmp_path / f"{number}.parquet"
        try:
            parquet.write_table(arrow.Table.from_pylist([row]), path)
        except arrow.ArrowException:  # lists of several types, which Parquet does not have
            continue
        n_tested += 1
        assert open_cases(path).format == name
        assert read(path) == read(write_lines(tmp_path / f"{number}.jsonl", [row]))
    assert n_tested


@every_format
def test_each_format_is_read_out_of_a_saved_data_set_too(tmp_path: Path, name: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    datasets = pytest.importorskip("datasets")
    rows = rows_of(name)[:1]
    folder = tmp_path / "saved"
    datasets.Dataset(arrow.Table.from_pylist(rows)).save_to_disk(str(folder))
    expected = read(write_lines(tmp_path / "rows.jsonl", rows))
    for path in (folder, Path(f"hf-dataset:{folder}")):
        assert open_cases(path).format == name
        assert read(path) == expected


@every_format
def test_each_format_of_flat_rows_is_read_out_of_csv_too(tmp_path: Path, name: str) -> None:
    flat = [
        row
        for row in rows_of(name)
        if all(isinstance(value, str | int | float | None) for value in row.values())
    ]
    for number, row in enumerate(flat):
        path = write_csv(tmp_path / f"{number}.csv", [row])
        assert open_cases(path).format == name
        (found,) = read(path)
        (expected,) = read(write_lines(tmp_path / f"{number}.jsonl", [row]))
        assert isinstance(found, Case)
        assert isinstance(expected, Case)
        # Rows that have no id are numbered by their line, and a table's first is its header.
        assert replace(found, id=expected.id) == expected


def test_labels_in_tables_are_numbers_and_responses_are_not(tmp_path: Path) -> None:
    rows = [{"query": "q", "response": "8", "label": label} for label in ("8", "7.5", "")]
    cases = read(write_csv(tmp_path / "rated.csv", rows))
    assert [case.label for case in cases if isinstance(case, Case)] == [8.0, 7.5, None]
    assert [case.responses[0].text for case in cases if isinstance(case, Case)] == ["8"] * 3
    path = write_csv(tmp_path / "pairs.csv", [{"q": "q", "label": "4", "b": "5"}])
    (case,) = (
        row.case for row in open_cases(path, columns=parse_map(["query=q,a=label,b=b"])).read()
    )
    assert isinstance(case, Case)
    assert [response.text for response in case.responses] == ["4", "5"]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_texts_come_back_out_of_tables_as_they_were(tmp_path: Path, ending: str) -> None:
    path = write_csv(tmp_path / "plain.csv", PAIRS, delimiter="\t" if ending == ".tsv" else ",")
    content = path.read_bytes()
    named = tmp_path / f"pairs{ending}"
    named.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    opened = open_cases(named)
    assert opened.format == "table"
    rows = list(opened.read())
    cases = [row.case for row in rows if isinstance(row.case, Case)]
    assert [case.query for case in cases] == ["Why?", "Ünï?"]
    assert [[response.text for response in case.responses] for case in cases] == [
        ['She said "no".', "a,b\n\nc"],
        ["", "=1+1"],
    ]
    assert [case.label for case in cases] == ["b", None]
    # The second record begins below the three lines of the first.
    assert [row.line for row in rows] == [2, 5]


@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\x00"))] * 2),
        min_size=1,
    )
)
def test_any_text_survives_csv(tmp_path_factory: pytest.TempPathFactory, texts: Any) -> None:
    path = tmp_path_factory.mktemp("csv") / "texts.csv"
    rows = [{"one": one, "two": two} for one, two in texts]
    write_csv(path, rows, quoting=csv.QUOTE_ALL)
    assert [row for _, row in read_delimited(path)] == rows


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_csv_whose_header_has_no_comma_has_another_delimiter(
    tmp_path: Path, delimiter: str
) -> None:
    path = write_csv(tmp_path / "pairs.csv", PAIRS, delimiter=delimiter)
    assert [case.query for case in read(path) if isinstance(case, Case)] == ["Why?", "Ünï?"]


def test_a_byte_order_mark_is_no_part_of_a_columns_name(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "pairs.csv", PAIRS)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert open_cases(path).format == "table"


def test_cells_longer_than_pythons_default_limit_are_read(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "long.csv", [{**PAIRS[0], "response_a": "x" * 300_000}])
    (case,) = read(path)
    assert isinstance(case, Case)
    assert len(case.responses[0].text) == 300_000


HEAD = b"query,response_a,response_b\n"


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b"", None, "is empty: it holds no rows"),
        (b"\n\n", None, "is empty: it holds no rows"),
        (HEAD, None, "is empty: it holds no rows"),
        (b"query,query\nq,r\n", 1, "two columns are named 'query'"),
        (b"qu\xe9ry,response_a\nq,r\n", 1, "is not UTF-8 (byte 3 of the line is 0xe9)"),
        ("query,response_a\n".encode("utf-16"), None, "is UTF-16, not UTF-8"),
        (b"query,response_a\rq,r\r", 1, "a carriage return outside quotes"),
    ],
)
def test_a_table_that_cannot_be_read_at_all_is_one_error(
    tmp_path: Path, content: bytes, line: int | None, said: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as told:
        open_cases(path)
    assert (told.value.path, told.value.line) == (path, line)
    assert said in told.value.reason


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (b"q,x\n", "has 2 cells, but the header names 3 columns"),
        (b"q,x,y,z\n", "has 4 cells, but the header names 3 columns"),
        (b"q,na\xefve,y\n", "is not UTF-8 (byte 5 of the line is 0xef)"),
        (b'q,"x"x,y\n', "is not CSV"),
        (b"q,x\rx,y\n", "a carriage return outside quotes"),
    ],
)
def test_a_bad_record_is_told_with_its_line_and_the_others_are_read(
    tmp_path: Path, record: bytes, said: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(HEAD + b'q,"x\nx",y\n' + record + b"q,x,y\n")
    first, wrong, last = open_cases(path).read()
    assert isinstance(first.case, Case)
    assert isinstance(last.case, Case)
    assert isinstance(wrong.case, DataError)
    assert (wrong.case.path, wrong.case.line) == (path, 4)
    assert said in wrong.case.reason
    assert last.line == 5


def test_a_quote_that_is_never_closed_is_told_and_takes_no_other_rows(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(HEAD + b'q,x,y\nq,"x,y\nq,x,y\n\nq,"x\n2",y\n')
    first, wrong, third, last = open_cases(path).read()
    assert isinstance(first.case, Case)
    assert isinstance(wrong.case, DataError)
    assert (wrong.line, wrong.case.line) == (3, 3)
    assert [third.line, last.line] == [4, 6]
    assert isinstance(third.case, Case)
    assert isinstance(last.case, Case)


def test_a_stray_quote_takes_its_own_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(HEAD + b'q,"x,y\nq,x,y\nr,"so, so",y\ns,x,y\n')
    rows = list(open_cases(path).read())
    assert [row.line for row in rows] == [2, 3, 4, 5]
    assert [isinstance(row.case, Case) for row in rows] == [False, True, True, True]


def test_stray_quotes_in_each_line_do_not_make_reading_quadratic(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(HEAD + b"q,x,y\n" + b'q,"x,y\n' * 20_001)
    first, *others = open_cases(path).read()
    assert isinstance(first.case, Case)
    assert all(isinstance(row.case, DataError) for row in others)
    assert len(others) == 20_001 - 9_500


@pytest.mark.parametrize("name", ["none.csv", "none.tsv.gz", "none.parquet"])
def test_a_missing_file_is_told(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match="there is no such file"):
        open_cases(tmp_path / name)


def test_a_spreadsheet_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a spreadsheet; save it as CSV"):
        open_cases(tmp_path / "pairs.xlsx")


def test_a_half_gzip_file_is_told(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "pairs.csv", PAIRS)
    half = tmp_path / "half.csv.gz"
    half.write_bytes(gzip.compress(path.read_bytes())[:-12])
    with pytest.raises(DataError, match="the gzip file is damaged or incomplete"):
        list(read_delimited(half))


def test_large_tables_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(HEAD + b"q,x,y\n" * 1000 + b"\xff\n")
    rows = open_cases(path).read()
    assert isinstance(next(rows).case, Case)
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_pylist([PAIRS[0]] * 5000)
    parquet.write_table(table, tmp_path / "long.parquet", row_group_size=1000)
    whole = (tmp_path / "long.parquet").read_bytes()
    # Damage in the last row group is met when it is reached.
    (tmp_path / "bad.parquet").write_bytes(_damaged(whole, parquet, tmp_path / "long.parquet"))
    lazily = open_cases(tmp_path / "bad.parquet").read()
    assert isinstance(next(lazily).case, Case)
    with pytest.raises(
        DataError, match=r"bad\.parquet: is damaged or not a Parquet file after row"
    ):
        list(lazily)


def _damaged(content: bytes, parquet: Any, path: Path) -> bytes:
    """A Parquet file whose last row group begins with nonsense."""
    with parquet.ParquetFile(path) as file:
        group = file.metadata.row_group(file.metadata.num_row_groups - 1)
        start = min(
            group.column(0).dictionary_page_offset or 1 << 60, group.column(0).data_page_offset
        )
    return content[:start] + b"\xff" * 40 + content[start + 40 :]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"query,response\n", b"PAR1" + b"\0" * 100])
def test_what_is_no_parquet_file_is_told(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "bad.parquet"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"bad\.parquet: is damaged or not a Parquet file") as told:
        open_cases(path)
    assert "\n" not in told.value.reason


def test_values_that_json_lacks_are_made_plain(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    from datetime import datetime
    from decimal import Decimal

    meta = {"at": datetime(2024, 5, 1), "cost": Decimal("1.5"), "raw": b"x", "nan": float("nan")}
    path = tmp_path / "rows.parquet"
    row = {"query": "q", "response": "r", "meta": meta}
    parquet.write_table(arrow.Table.from_pylist([row]), path)
    (case,) = read(path)
    assert isinstance(case, Case)
    assert case.meta == {"at": "2024-05-01T00:00:00", "cost": 1.5, "raw": "x", "nan": None}
    assert jsonl.decode_as(Case, jsonl.encode(case)) == case


def test_packages_that_are_missing_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "datasets", None)
    for path in (tmp_path / "rows.parquet", Path("hf-dataset:owner/name")):
        with pytest.raises(MissingExtra) as told:
            open_cases(path)
        assert told.value.hint == install_command("data")


@pytest.fixture
def splits(tmp_path: Path) -> Path:
    """A data set with two splits, saved."""
    datasets = pytest.importorskip("datasets")
    folder = tmp_path / "splits"
    datasets.DatasetDict(
        {
            name: datasets.Dataset.from_list(
                [{"query": f"{name} {n}", "response": "r"} for n in range(3)]
            )
            for name in ("train", "test")
        }
    ).save_to_disk(str(folder))
    return folder


def test_a_split_is_named_where_there_are_several(splits: Path) -> None:
    opened = open_cases(Path(f"hf-dataset:{splits}:test"))
    cases = [row.case for row in opened.read()]
    assert [case.query for case in cases if isinstance(case, Case)] == [
        "test 0",
        "test 1",
        "test 2",
    ]
    assert opened.name == "splits-test"
    assert opened.paths
    assert all(path.is_file() and path.is_relative_to(splits / "test") for path in opened.paths)


def test_a_split_that_is_not_there_is_told_with_those_that_are(splits: Path) -> None:
    for path, said in (
        (splits, "has several splits: train, test"),
        (Path(f"hf-dataset:{splits}:dev"), "has no split 'dev'; it has: train, test"),
    ):
        with pytest.raises(DataError) as told:
            open_cases(path)
        assert said in told.value.reason


def test_a_data_set_without_splits_has_none_to_name(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = [{"query": "q", "response": "r"}]
    datasets.Dataset.from_list(rows).save_to_disk(str(tmp_path / "one"))
    with pytest.raises(DataError, match="has no split 'test'"):
        open_cases(Path(f"hf-dataset:{tmp_path / 'one'}:test"))


@pytest.mark.parametrize("name", ["hf-dataset:", "hf-dataset:a::b", "hf-dataset:a:b:c:d"])
def test_a_name_that_is_none_is_told(name: str) -> None:
    pytest.importorskip("datasets")
    with pytest.raises(DataError, match="is not the name of a data set"):
        open_cases(Path(name))


def test_a_damaged_data_set_is_told_in_one_line(splits: Path) -> None:
    for file in (splits / "test").glob("*.arrow"):
        file.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="cannot be loaded") as told:
        open_cases(Path(f"hf-dataset:{splits}:test"))
    assert "\n" not in told.value.reason


def test_a_set_that_is_a_script_is_read_from_the_hubs_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for config, split in (
        ("comparisons", "train"),
        ("comparisons", "validation"),
        ("axis", "test"),
    ):
        (tmp_path / config / split).mkdir(parents=True)
        rows = [{"query": f"{config} {split}", "response": "r"}]
        parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / config / split / "0.parquet")
    real, asked = datasets.load_dataset, []

    def load(name: str, config: str | None = None, **settings: Any) -> Any:
        asked.append((name, config, settings))
        if settings["revision"] != "refs/convert/parquet":
            raise RuntimeError("Dataset scripts are no longer supported, but found name.py")
        return real(str(tmp_path), data_dir=settings["data_dir"])

    monkeypatch.setattr(datasets, "load_dataset", load)
    (case,) = read(Path("hf-dataset:owner/name:comparisons:train"))
    assert isinstance(case, Case)
    assert case.query == "comparisons train"
    assert asked[:2] == [
        ("owner/name", "comparisons", {"revision": None}),
        ("owner/name", None, {"data_dir": "comparisons", "revision": "refs/convert/parquet"}),
    ]


def test_a_revision_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    asked = []

    def load(name: str, config: str | None = None, **settings: Any) -> Any:
        asked.append((name, settings["revision"]))
        raise RuntimeError("Dataset scripts are no longer supported, but found name.py")

    monkeypatch.setattr(datasets, "load_dataset", load)
    with pytest.raises(DataError, match="scripts are no longer supported"):
        open_cases(Path("hf-dataset:owner/name@v0:train"))
    assert asked == [("owner/name", "v0")]
