"""Files of criteria: what is read from them, and what is said of those of another shape."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.errors import DataError
from autoj.scenarios.criteria import Criterion
from autoj.scenarios.criteria_files import CriteriaFile, Dropped, Include, read_criteria_file

GOOD = """\
# A comment.
description: >-
  The user wants
  a match report.
group: Sports
aliases: [report, "the match"]
basic: !include shared/basic.yaml

saves:
  content: |
    Every save
    has its minute.
  weight: 4
  type: content
left out: ~
"""


def read(path: Path, text: str | bytes) -> tuple[CriteriaFile, list[DataError]]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    faults: list[DataError] = []
    return read_criteria_file(path, faults.append), faults


def said(faults: list[DataError]) -> list[tuple[int | None, str | None, str]]:
    return [(fault.line, fault.field, fault.reason) for fault in faults]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report.yaml"


def test_a_file_is_read_with_its_lines(path: Path) -> None:
    file, faults = read(path, GOOD)
    assert faults == []
    assert file.description is not None
    assert file.group is not None
    assert (file.description.text, file.group.text) == ("The user wants a match report.", "Sports")
    assert [(alias.text, alias.line) for alias in file.aliases] == [("report", 6), ("the match", 6)]
    assert file.entries == (
        Include(target="shared/basic.yaml", line=7),
        Criterion(
            name="saves",
            content="Every save has its minute.",
            weight=4,
            type="content",
            path=path,
            line=9,
        ),
        Dropped(name="left out", line=15),
    )


def test_the_original_releases_layout_is_read(path: Path) -> None:
    text = (
        'basic-writing:\n  !include "./somewhere/basic.yaml"\n\nextended:\n  structure:\n'
        "    content: It has one.\n    weight: 3\n    type: format\n  layout:\n"
        "    content: It has another.\n    weight: 2\n    type: style\n"
    )
    file, faults = read(path, text)
    assert faults == []
    assert [getattr(entry, "name", "include") for entry in file.entries] == [
        "include", "structure", "layout",
    ]  # fmt: skip
    assert [entry.line for entry in file.entries] == [2, 5, 9]


def test_what_tells_of_a_scenario_may_be_the_name_of_a_criterion(path: Path) -> None:
    fields = "\n  content: It is.\n  weight: 1\n  type: style\n"
    file, faults = read(path, f"description:{fields}group:{fields}aliases:{fields}")
    assert faults == []
    assert [getattr(entry, "name", None) for entry in file.entries] == [
        "description", "group", "aliases",
    ]  # fmt: skip
    assert file.description is file.group is None


CRITERION = "  content: It is.\n  weight: 3\n  type: content\n"
WRONG = [
    ("", 1, None, "is empty; expected names, each with a criterion (content, weight and type)"),
    ("# nothing\n\n", 1, None, "is empty"),
    ("\n- one\n", 2, None, "found a list"),
    ("just words\n", 1, None, "found 'just words'"),
    ("a: [1, 2]\n", 1, "a", "or an !include, found a list"),
    ("\na: words\n", 2, "a", "found 'words'"),
    ("a: {}\n", 1, "a", "the criterion has no content"),
    ("a:\n  content: It is.\n  weight:\n  type: style\n", 3, "a.weight", "number from 1 to 5"),
    ("a:\n  content: It is.\n  weight: 3\n", 1, "a", "the criterion has no type"),
    ("a:\n  content: 5\n  weight: 3\n  type: style\n", 2, "a.content", "text, found '5'"),
    ("a:\n  content: ''\n  weight: 3\n  type: style\n", 2, "a.content", "text, found nothing"),
    ("a:\n  content: ~\n  weight: 3\n  type: style\n", 2, "a.content", "text, found '~'"),
    ("a:\n  content: yes\n  weight: 3\n  type: style\n", 2, "a.content", "found 'yes'"),
    ("a:\n  content: It.\n  weight: 0\n  type: style\n", 3, "a.weight", "from 1 to 5, found '0'"),
    ("a:\n  content: It.\n  weight: 6\n  type: style\n", 3, "a.weight", "from 1 to 5, found '6'"),
    ("a:\n  content: It.\n  weight: 2.5\n  type: style\n", 3, "a.weight", "a whole number"),
    ("a:\n  content: It.\n  weight: '3'\n  type: style\n", 3, "a.weight", "a whole number"),
    ("a:\n  content: It.\n  weight: [3]\n  type: style\n", 3, "a.weight", "found a list"),
    ("a:\n  content: It.\n  weight: true\n  type: style\n", 3, "a.weight", "found 'true'"),
    ("a:\n  content: It.\n  weight: 3\n  type: Content\n", 4, "a.type", "found 'Content'"),
    ("a:\n  content: It.\n  weight: 3\n  type: [style]\n", 4, "a.type", "found a list"),
    (f"a:\n{CRITERION}  wieght: 3\n", 5, "a", "the field 'wieght'"),
    (f"a:\n{CRITERION}  type: style\n", 5, "type", "the name is already used in line 4"),
    (f"a:\n{CRITERION}a:\n{CRITERION}", 5, "a", "the name is already used in line 1"),
    (f"a:\n{CRITERION}x:\n  a: ~\n", 6, "a", "the name is already used in line 1"),
    (f"5:\n{CRITERION}", 1, None, "expected a name, found '5'"),
    (f"'':\n{CRITERION}", 1, None, "expected a name, found nothing"),
    (f"? [a, b]\n: ~\nc:\n{CRITERION}", 1, None, "expected a name, found a list"),
    (f"a: &base\n{CRITERION}b:\n  <<: *base\n", 6, None, "expected a name, found '<<'"),
    ("a: !include\n", 1, "a", "expected a path after !include, found nothing"),
    ("a: !include [x]\n", 1, "a", "expected a path after !include, found a list"),
    ("a: !inclde x.yaml\n", 1, "a", "found !inclde 'x.yaml'"),
    ("description: 7\n", 1, "description", "expected text, found '7'"),
    ("aliases: [one, [two]]\n", 1, "aliases", "expected text, found a list"),
    ("a: b: c\n", 1, None, "is not YAML: mapping values are not allowed"),
    ("a:\n  content: 'It\n  weight: 3\n", 4, None, "is not YAML"),
    ("a: *nowhere\n", 1, None, "is not YAML: found undefined alias"),
    ("a: 1\n---\nb: 2\n", 2, None, "is not YAML: expected a single document"),
    ("a:\n\tb: 1\n", 2, None, "is not YAML"),
    (b"a: 1\nb: \xff\n", 2, None, "is not UTF-8"),
    (b"a: 1\nb: \x07\n", 2, None, "is not YAML: "),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "field", "words"), WRONG, ids=lambda value: repr(value))
def test_another_shape_is_told_with_line_and_what_was_expected(
    path: Path, text: str | bytes, line: int, field: str | None, words: str
) -> None:
    file, faults = read(path, text)
    assert any(
        (where, name) == (line, field) and words in message for where, name, message in said(faults)
    ), said(faults)
    assert all(fault.path == path for fault in faults)
    assert all(isinstance(entry, Criterion | Include | Dropped) for entry in file.entries)


def test_hints_name_what_was_probably_meant(path: Path) -> None:
    _, faults = read(path, f"a:\n{CRITERION}  wieght: 3\n")
    assert faults[0].hint == "Did you mean weight?"
    _, faults = read(path, "a: !inclde x.yaml\n")
    assert faults[0].hint == "The only tag allowed here is !include."


def test_all_faults_of_a_file_are_told_and_the_rest_is_read(path: Path) -> None:
    text = f"a: 1\nb:\n  weight: 9\nsound:\n{CRITERION}c: !include\n"
    file, faults = read(path, text)
    assert [line for line, _, _ in said(faults)] == [1, 2, 2, 3, 8]
    assert [getattr(entry, "name", None) for entry in file.entries] == ["sound"]


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    faults: list[DataError] = []
    file = read_criteria_file(tmp_path / "none.yaml", faults.append)
    assert file.entries == ()
    assert "cannot be opened: No such file" in faults[0].reason


def test_a_byte_order_mark_and_windows_lines_change_nothing(path: Path) -> None:
    plain, _ = read(path, GOOD)
    marked, faults = read(path, b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert faults == []
    assert marked == plain


YAML = st.lists(
    st.sampled_from(
        ["a", "b", ":", " ", "\n", "  ", "- ", "content", "weight: 3", "type: style", "!include x",
         "~", "[", "]", "{", "}", "'", '"', "|", ">-", "&x", "*x", "<<", "#", "? ", "!t", "5", "\t",
         "---", "\ufeff", "\x07", "é"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(text=st.one_of(YAML, st.text()))
def test_any_text_is_read_or_told(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    data = text.encode("utf-8", "surrogatepass")
    file, faults = read(path, data)
    assert file.entries or file.description or file.group or file.aliases or faults
    assert all(fault.line is not None and fault.line >= 1 for fault in faults)


def test_a_criterion_without_a_weight_has_the_middle_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("a:\n  content: It is.\n  type: style\n", encoding="utf-8")
    faults: list[DataError] = []
    (entry,) = read_criteria_file(path, faults.append).entries
    assert faults == []
    assert isinstance(entry, Criterion)
    assert entry.weight == 3
