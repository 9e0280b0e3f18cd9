"""The data set that a caller names."""

from __future__ import annotations

import pytest

from autoj.errors import ConfigError
from autoj.jsonl import write_records
from autoj.tasks.cases import open_named

from ..watches import Notes


@pytest.fixture
def files(tmp_path):
    """A file of pairs, and two files of responses whose queries differ in one."""
    places = [tmp_path / name for name in ("pairs.jsonl", "a.jsonl", "b.jsonl")]
    write_records(places[0], [{"id": "1", "query": "Why?", "responses": ["So.", "No."]}])
    for place, queries in zip(places[1:], (("Why?", "How?"), ("Why?",)), strict=True):
        write_records(place, [{"instruction": query, "output": place.stem} for query in queries])
    return places


def test_one_file_is_opened_and_the_watch_is_told_how_it_was_recognised(files):
    watch = Notes()
    cases = open_named(files[0], watch=watch)
    assert [case.query for _, case in cases.readable()] == ["Why?"]
    assert watch.messages == [f"reading {files[0]} as native"]


def test_two_files_are_joined_and_what_the_join_leaves_out_is_told(files):
    watch = Notes()
    _, a, b = files
    cases = open_named(None, a, b, join="inner", watch=watch)
    ((_, case),) = cases.readable()
    assert [response.text for response in case.responses] == ["a", "b"]
    assert watch.messages[0].startswith(f"reading {a} and {b} as ")
    assert len(watch.messages) == 2
    assert "1" in watch.messages[1]


@pytest.mark.parametrize(
    ("named", "settings", "said"),
    [
        ((), {}, "give one file of cases, or two"),
        ((1,), {}, "give one file of cases, or two"),
        ((0, 1, 2), {}, "give one file of cases, or two"),
        ((0,), {"turn": 2}, "--turn needs --questions"),
        ((0,), {"join": "inner"}, "--join needs two files"),
    ],
)
def test_what_cannot_be_used_together_is_refused(files, named, settings, said):
    places = [files[index] if index in named else None for index in range(3)]
    with pytest.raises(ConfigError, match=said):
        open_named(*places, **settings)


@pytest.mark.parametrize("given", [{"format": "native"}, {"columns": ["query=q"]}])
def test_questions_have_a_layout_of_their_own(files, given):
    with pytest.raises(ConfigError, match=r"--questions and --(map|format) cannot"):
        open_named(files[0], questions=files[1], **given)
