"""Rows of any layout become cases by a map of columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj.datasets import open_cases, parse_map
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.records import Case, Response


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def mapped(path: Path, text: str) -> list[Case]:
    cases = [row.case for row in open_cases(path, columns=parse_map([text])).read()]
    assert not [case for case in cases if isinstance(case, DataError)]
    return [case for case in cases if isinstance(case, Case)]


def test_a_pair_is_made_of_the_columns_that_are_named(tmp_path: Path) -> None:
    row = {
        "question": "Why?", "answer_1": "So.", "answer_2": "No.", "winner": "answer_2",
        "who": {"one": "m1", "two": "m2"}, "nr": 7, "kind": "planning", "key": "Because.",
    }  # fmt: skip
    text = (
        "query=question,a=answer_1,b=answer_2,label=winner,model_a=who.one,model_b=who.two,"
        "id=nr,scenario=kind,reference=key,source=kind"
    )
    (case,) = mapped(written(tmp_path, row), text)
    assert case == Case(
        id="7",
        query="Why?",
        responses=(Response(text="So.", model="m1"), Response(text="No.", model="m2")),
        cluster="why",
        label="b",
        scenario="planning",
        source="planning",
        reference="Because.",
    )


def test_paths_reach_into_lists_from_both_ends_and_a_dot_may_be_a_part_of_a_name(
    tmp_path: Path,
) -> None:
    row = {"chat": [{"content": "q"}, {"content": "x"}, {"content": "y"}], "a.b": "z"}
    (case,) = mapped(written(tmp_path, row), "query=chat.0.content,a=chat.-1.content,b=a.b")
    assert (case.query, [response.text for response in case.responses]) == ("q", ["y", "z"])


def test_one_response_has_a_rating_for_a_label_and_many_come_as_a_list(tmp_path: Path) -> None:
    path = written(tmp_path, {"q": "q", "r": "x", "s": "7.5"}, {"q": "q", "r": "x", "s": ""})
    assert [case.label for case in mapped(path, "query=q,response=r,label=s")] == [7.5, None]
    (case,) = mapped(written(tmp_path, {"q": "q", "r": ["x", "y", "z"]}), "query=q,responses=r")
    assert [response.text for response in case.responses] == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", "a"), ("B", "b"), ("Tie", "tie"), ("model_a", "a"), ("tie (bothbad)", "tie"),
        ("x", "a"), ("y", "b"), ("m2", "b"), ("", None), (None, None),
    ],
)  # fmt: skip
def test_labels_in_words_are_sides_columns_or_models(
    tmp_path: Path, value: str | None, expected: str | None
) -> None:
    row = {"q": "q", "x": "1", "y": "2", "w": value, "n": "m1", "m": "m2"}
    text = "query=q,a=x,b=y,label=w,model_a=n,model_b=m"
    (case,) = mapped(written(tmp_path, row), text)
    assert case.label == expected


@pytest.mark.parametrize(
    ("codes", "values", "expected"),
    [
        ("1/2/0", [1, 2, 0, "1", 2.0], ["a", "b", "tie", "a", "b"]),
        ("0/1", [0, 1, None], ["a", "b", None]),
        ("A>B/B>A/A=B", ["B>A", "A=B"], ["b", "tie"]),
    ],
)
def test_codes_of_labels_are_said_in_the_order_a_b_tie(
    tmp_path: Path, codes: str, values: list[Any], expected: list[str | None]
) -> None:
    path = written(tmp_path, *({"q": "q", "x": "1", "y": "2", "w": value} for value in values))
    cases = mapped(path, f"query=q,a=x,b=y,label=w:{codes}")
    assert [case.label for case in cases] == expected


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("label=w", 1, "--map label=w:1/2/0"),
        ("label=w", True, "found bool True"),
        ("label=w", ["a"], "found list"),
        ("label=w:1/2", 0, "expected 1 (a), 2 (b), found int 0"),
        ("label=w:1/2", True, "found bool True"),
    ],
)
def test_a_label_that_means_nothing_is_told(
    tmp_path: Path, text: str, value: Any, said: str
) -> None:
    path = written(tmp_path, {"q": "q", "x": "1", "y": "2", "w": value})
    ((_, error),) = open_cases(path, columns=parse_map([f"query=q,a=x,b=y,{text}"])).read()
    assert isinstance(error, DataError)
    assert (error.line, error.field) == (1, "w")
    assert said in error.reason


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "query=question,a=answr_1,b=two",
            "there is no column 'answr_1'; did you mean 'answer_1'?",
        ),
        ("query=zzz,a=answer_1,b=two", "The columns are 'question', 'answer_1', 'two', 'deep'"),
        ("query=question,a=answer_1,b=deep.thre", "no 'thre' in 'deep'; did you mean 'three'?"),
        ("query=question,a=answer_1,b=deep.list.3", "'deep.list' has 1 items and no item 3"),
        ("query=question,a=answer_1,b=deep.list.x", "expected an item's number"),
        ("query=question,a=answer_1,b=two.three", "expected an object with fields"),
        ("query=question,a=answer_1,b=two,label=who", "(--map label)"),
    ],
)
def test_a_column_that_is_missing_ends_it_at_once_with_those_that_are_there(
    tmp_path: Path, text: str, said: str
) -> None:
    deep = {"three": "z", "list": ["x"]}
    path = written(tmp_path, {"question": "q", "answer_1": "x", "two": "y", "deep": deep})
    with pytest.raises(DataError) as told:
        open_cases(path, columns=parse_map([text]))
    assert said in told.value.reason
    assert told.value.path == path


def test_a_column_that_some_rows_leave_out_is_not_missing(tmp_path: Path) -> None:
    path = written(tmp_path, {"q": "q", "r": "x"}, {"q": "q", "r": "x", "s": 3}, {"q": "q"})
    first, second, third = open_cases(
        path, columns=parse_map(["query=q,response=r,label=s"])
    ).read()
    assert isinstance(first.case, Case)
    assert isinstance(second.case, Case)
    assert (first.case.label, second.case.label) == (None, 3.0)
    assert isinstance(third.case, DataError)
    assert (third.case.line, third.case.field) == (3, "r")


@pytest.mark.parametrize(
    ("texts", "kind", "said"),
    [
        (["query"], ConfigError, "expected TARGET=COLUMN, found 'query'"),
        (["query="], ConfigError, "expected TARGET=COLUMN"),
        (["quary=q"], UnknownComponent, "no target of --map 'quary'"),
        (["a=x,b=y"], ConfigError, "must name the column of the query"),
        (["query=q"], ConfigError, "either a and b"),
        (["query=q,a=x"], ConfigError, "either a and b"),
        (["query=q,a=x,b=y,response=z"], ConfigError, "either a and b"),
        (["query=q,query=r,response=x"], ConfigError, "names query twice: 'q' and 'r'"),
        (["query=q,a=x,b=y,label=w:1/1"], ConfigError, "one code has two meanings"),
        (["query=q,response=x,label=w:1/2"], ConfigError, "label codes need a pair"),
    ],
)
def test_a_map_that_makes_no_sense_is_told(
    texts: list[str], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        parse_map(texts)


def test_a_column_may_hold_a_comma_and_maps_may_come_in_parts() -> None:
    columns = parse_map(["query=what, exactly?,a=x", "b=y=z"]).columns
    assert columns == {"query": "what, exactly?", "a": "x", "b": "y=z"}


def test_another_map_makes_another_run(tmp_path: Path) -> None:
    path = written(tmp_path, {"q": "q", "x": "1", "y": "2"})
    one, other = (
        open_cases(path, columns=parse_map([text])).derivation
        for text in ("query=q,a=x,b=y", "b=x,query=q,a=y")
    )
    assert (one, other) == ("map a=x,b=y,query=q", "map a=y,b=x,query=q")


def test_a_map_and_a_format_exclude_each_other(tmp_path: Path) -> None:
    path = written(tmp_path, {"q": "q", "r": "x"})
    with pytest.raises(ConfigError, match="cannot be used together"):
        open_cases(path, "native", parse_map(["query=q,response=r"]))
