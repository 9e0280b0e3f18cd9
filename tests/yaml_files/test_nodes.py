"""YAML as nodes: lines, and limits of size, depth and aliases."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autoj.errors import DataError
from autoj.yaml_files import compose, compose_text, line_of
from autoj.yaml_files.nodes import MOST_BYTES, MOST_DEPTH, MOST_VALUES
from tests.yaml_files.mutants import BOMB, DEEP

HERE = Path("front.md")


def test_a_node_knows_its_line_in_the_file_around_it() -> None:
    root = compose_text("name: mine\nkind: pairwise\n", HERE, first_line=2)
    assert root is not None
    assert [line_of(key) for key, _ in root.value] == [2, 3]
    with pytest.raises(DataError, match=r"front\.md:4: is not YAML") as told:
        compose_text("name: mine\nkind: a: b\n", HERE, first_line=3)
    assert told.value.line == 4


def test_an_empty_text_has_no_root() -> None:
    assert compose_text("", HERE) is None
    assert compose_text("# only a comment\n", HERE) is None


@pytest.mark.parametrize("text", DEEP)
def test_deep_nesting_is_refused(text: str) -> None:
    # The first is ours, the second that of PyYAML since 6.0.4, which counts brackets.
    said = f"nested deeper than {MOST_DEPTH} levels|maximum nesting depth"
    with pytest.raises(DataError, match=said):
        compose_text(text, HERE)


def test_the_deepest_nesting_that_is_allowed_is_read() -> None:
    assert compose_text("[" * MOST_DEPTH + "1" + "]" * MOST_DEPTH, HERE) is not None
    with pytest.raises(DataError, match="nested deeper"):
        compose_text("[" * (MOST_DEPTH + 1) + "1" + "]" * (MOST_DEPTH + 1), HERE)


def test_what_aliases_repeat_counts_again() -> None:
    with pytest.raises(DataError, match=f"more than {MOST_VALUES:,} values"):
        compose_text(BOMB, HERE)
    # One alias of a small mapping is fine.
    assert compose_text("a: &a {b: 1}\nc: *a\n", HERE) is not None


def test_many_values_are_refused() -> None:
    with pytest.raises(DataError, match=f"more than {MOST_VALUES:,} values"):
        compose_text("- a\n" * (MOST_VALUES + 1), HERE)


@pytest.mark.parametrize("text", ["&a [*a]", "&a {b: *a}", "&a {b: [*a]}"])
def test_an_alias_inside_what_it_names_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="an alias stands inside what it names"):
        compose_text(text, HERE)


def test_an_alias_of_nothing_is_not_yaml() -> None:
    with pytest.raises(DataError, match=r"front\.md:2: is not YAML: found undefined alias"):
        compose_text("a: 1\nb: *c\n", HERE)


def test_a_large_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    with path.open("wb") as stream:
        stream.truncate(10 * MOST_BYTES)
    with pytest.raises(DataError, match=f"is larger than {MOST_BYTES:,} bytes"):
        compose(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(DataError, match="it is not a file"):
        compose(tmp_path / "pipe.yaml")


def test_a_path_with_a_null_character_is_told() -> None:
    with pytest.raises(DataError, match="null character"):
        compose(Path("a\0b.yaml"))
