"""Every record that is written to a file comes back from its line the same."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj import jsonl, records
from autoj.records import normalise_query

WRITTEN = [
    "Asked", "Case", "CaseOutline", "Completion", "Estimate", "Failure", "JudgeCard", "Request",
    "BudgetedVerdict", "MarkedVerdict", "ScoredCompletion", "Verdict", "WrittenCompletion",
]  # fmt: skip
PARTS = {
    "Calibration", "CorrectionCheck", "Decoding", "Message", "Proofreading", "PublishedFigure",
    "Response", "ResponseOutline", "SureThreshold",
}  # fmt: skip
# A judgment is never written: its completion is, and is read again.
IN_MEMORY = {"Critique", "Decision", "Judgment", "Label", "Rating", "Score", "Unreadable"}

SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=5),
    bool: st.booleans(),
    int: st.integers(-(2**53), 2**53),
    float: st.floats(allow_nan=False, allow_infinity=False),
    NoneType: st.none(),
}
json_object = st.dictionaries(
    st.text(max_size=5), st.recursive(st.one_of(*SIMPLE.values()), st.lists, max_leaves=3)
)


@functools.cache
def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type; every field of a record varies, those with defaults too."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in SIMPLE:
        return SIMPLE[kind]
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{name: values_of(hint) for name, hint in hints.items()})
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, UnionType):
        return st.one_of(*map(values_of, inner))
    if origin is tuple and inner[-1] is Ellipsis:
        return st.lists(values_of(inner[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values_of, inner))
    assert origin is Mapping, kind
    if inner[1] is not Any:
        return st.dictionaries(st.text(max_size=5), values_of(inner[1]), max_size=2)
    return json_object


@pytest.mark.parametrize("name", WRITTEN)
@given(data=st.data())
def test_a_record_comes_back_from_its_line_the_same(name: str, data: st.DataObject) -> None:
    kind = getattr(records, name)
    record = data.draw(values_of(kind))
    line = jsonl.encode(record)
    assert line.count(b"\n") == 1
    assert jsonl.decode_as(kind, line) == record


@pytest.mark.parametrize("line", [b"{}\n", b"[]\n", b"\n", b'{"key": 1}\n', b'{"key": "k"\n'])
def test_a_line_that_is_no_record_is_an_error(line: bytes) -> None:
    with pytest.raises(ValueError, match="Failure"):
        jsonl.decode_as(records.Failure, line)


def test_no_record_is_forgotten_here() -> None:
    kinds = {
        name
        for name, found in vars(records).items()
        if isinstance(found, type) and found.__module__ == records.__name__
    }
    assert kinds == {*WRITTEN, *PARTS, *IN_MEMORY}


@pytest.mark.parametrize("name", sorted({*WRITTEN, *PARTS, *IN_MEMORY}))
def test_records_are_frozen_slotted_and_keyword_only(name: str) -> None:
    kind = getattr(records, name)
    assert kind.__dataclass_params__.frozen
    assert "__slots__" in vars(kind)
    assert all(field.kw_only for field in dataclasses.fields(kind))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is 2 + 2?", "what is 2+2"),
        ("ÉTÉ  !", "été"),
        ("Straße", "STRASSE"),
        ("天气？", "天气"),
    ],
)
def test_queries_that_differ_in_case_and_marks_are_the_same(one: str, other: str) -> None:
    assert normalise_query(one) == normalise_query(other)


@pytest.mark.parametrize(("one", "other"), [("2 + 2", "2 + 3"), ("?", "!"), ("été", "ete")])
def test_queries_that_differ_in_letters_or_hold_none_are_not(one: str, other: str) -> None:
    assert normalise_query(one) != normalise_query(other)


@given(query=st.text(min_size=1))
def test_a_normalised_query_is_never_empty_and_stays_as_it_is(query: str) -> None:
    normal = normalise_query(query)
    assert normal
    assert normalise_query(normal) == normal
