"""Plain values of YAML, and the refusal of what means something else in every program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autoj.errors import DataError
from autoj.yaml_files import compose_text, plain_value

HERE = Path("mine.yaml")


def value(text: str) -> Any:
    root = compose_text(text, HERE)
    assert root is not None
    return plain_value(root, HERE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "a"), ("'5'", "5"), ("!!str 5", "5"), ("5", 5), ("-1_000", -1000), ("0", 0),
        ("1.5", 1.5), (".5", 0.5), ("1.5e3", "1.5e3"), ("1.5e+3", 1500.0), ("1e-5", "1e-5"),
        ("~", None), ("", None), ("yes", True), ("Off", False), ("[1, [a]]", [1, ["a"]]),
        ("{a: {b: 1}}", {"a": {"b": 1}}), ("{}", {}), ("1234e567", "1234e567"),
        ("9223372036854775807", 9223372036854775807), ("é中", "é中"),
    ],
)  # fmt: skip
def test_plain_values_are_read(text: str, expected: Any) -> None:
    if text:
        found = value(text)
        assert (found, type(found)) == (expected, type(expected))
    assert value(f"k: {text}") == {"k": expected}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2024-02-30", "dates are not read here, found '2024-02-30'"),
        ("2024-01-01", "dates are not read here"),
        ("0777", "whole number in decimals"),
        ("0x1F", "whole number in decimals"),
        ("12:30:45", "whole number in decimals"),
        ("9" * 5000, "whole number in decimals, of 64 bits"),
        ("9223372036854775808", "of 64 bits"),
        (".inf", "finite number"),
        (".nan", "finite number"),
        ("1:30.5", "finite number"),
        ("9.9e+999", "finite number"),
        ("!!int x", "whole number"),
        ("!!bool x", "true or false"),
        ("!!float x", "finite number"),
        ("!!timestamp x", "dates are not"),
        ("!!binary aGk=", "the tag !!binary is not known here"),
        ("!!set {a}", "the tag !!set is not known here"),
        ("!!python/object/apply:os.system [true]", "the tag !!python/object/apply:os.system"),
        ("!include x", "the tag !include is not known here"),
        ("=", "the tag !!value"),
        ('"\\0"', "null character"),
    ],
)
def test_what_is_no_plain_value_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(DataError) as told:
        value(f"a: 1\nb:\n  c: [2, {text}]\n")
    assert said in told.value.reason
    assert (told.value.line, told.value.field) == (3, "b.c.1")
    assert len(str(told.value)) < 300


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\n<<: {b: 2}", r"merge keys \(<<\) are not read here"),
        ("a: 1\n5: b", "expected a name as a key, found '5'"),
        ("a: 1\nno: b", "expected a name as a key, found 'no'"),
        ("a: 1\n[x]: b", "expected a name as a key, found a list"),
        ("b: 1\nb: 2", "the key is already used in line 1"),
        ("a: 1\n" + "x" * 201 + ": 1", "a key has 201 characters; the most is 200"),
    ],
)
def test_odd_keys_are_refused(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said) as told:
        value(text)
    assert told.value.line == 2


def test_an_alias_repeats_a_value() -> None:
    assert value("a: &a {b: 1}\nc: *a\n") == {"a": {"b": 1}, "c": {"b": 1}}
