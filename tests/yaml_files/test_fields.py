"""The first wrong field of a file is told with its line and the nearest name."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field

from autoj.errors import DataError
from autoj.yaml_files import read_fields


class Wheel(BaseModel):
    model_config = ConfigDict(extra="forbid")
    spokes: int = Field(ge=8)
    rim: str = "steel"


class Bicycle(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    wrapper: str
    wheels: tuple[Wheel, ...] = ()
    spare: dict[str, Wheel] = {}
    front: Wheel | None = None


GOOD = "name: a\nwrapper: b\n"


def fault(folder: Path, text: str) -> DataError:
    path = folder / "bicycle.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError) as told:
        read_fields(path, Bicycle, "bicycle")
    return told.value


def test_a_good_file_is_a_record(tmp_path: Path) -> None:
    path = tmp_path / "bicycle.yaml"
    path.write_text(GOOD + "wheels: [{spokes: 36}]\n", "utf-8")
    assert read_fields(path, Bicycle, "bicycle").wheels == (Wheel(spokes=36),)


@pytest.mark.parametrize(
    ("text", "line", "field", "said"),
    [
        ("name: a\nwraper: b\n", 2, "wraper", "unknown field; did you mean wrapper?"),
        (GOOD + "colour: red\n", 3, "colour", "unknown field; the fields are name, wrapper"),
        (GOOD + "wheels:\n- spoke: 36\n", 4, "wheels.0.spoke", "did you mean spokes?"),
        (GOOD + "spare: {a: {rimm: x}}\n", 3, "spare.a.rimm", "did you mean rim?"),
        (GOOD + "front: {spoks: 9}\n", 3, "front.spoks", "did you mean spokes?"),
        ("name: a\n", None, "wrapper", "Field required"),
        (GOOD + "wheels:\n- spokes: 7\n", 4, "wheels.0.spokes", "or equal to 8, found 7"),
        (GOOD + "wheels: [1, 2]\n", 3, "wheels.0", "found 1"),
        (GOOD + f"front: {{spokes: '{'9' * 30}'}}\n", 3, "front.spokes", "64 bits at most"),
    ],
)
def test_a_wrong_field_is_told_with_its_line(
    tmp_path: Path, text: str, line: int | None, field: str, said: str
) -> None:
    told = fault(tmp_path, text)
    assert (told.line, told.field) == (line, field)
    assert said in told.reason


def test_a_long_value_is_shortened(tmp_path: Path) -> None:
    told = fault(tmp_path, f"name: [{', '.join(['x' * 1000] * 100)}]\nwrapper: b\n")
    assert len(told.reason) < 600


@pytest.mark.parametrize(
    ("text", "found"), [("", "nothing"), ("[a]", "a list"), ("word", "'word'")]
)
def test_what_is_no_mapping_is_told(tmp_path: Path, text: str, found: str) -> None:
    told = fault(tmp_path, text)
    assert told.reason == f"is not a bicycle: expected fields such as name, wrapper; found {found}"


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such bicycle"):
        read_fields(tmp_path / "none.yaml", Bicycle, "bicycle")
