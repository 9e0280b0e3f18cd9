"""The fields of a file, checked against a pydantic model: the first wrong one is told."""

import difflib
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from autoj.errors import DataError
from autoj.yaml_files.nodes import compose, kind_of, line_of
from autoj.yaml_files.values import plain_value

M = TypeVar("M", bound=BaseModel)

_MOST_LISTED = 12
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 2, 80, 80


class FaultAt(ValueError):
    """A fault that a model's validator finds inside of what it looks at."""

    def __init__(self, said: str, *place: str | int) -> None:
        """States the fault, and its place below the model: fields and positions."""
        super().__init__(said)
        self.place = place


def read_fields(path: Path, model: type[M], what: str) -> M:
    """Reads a YAML file as a record.

    Args:
        path: the file.
        model: the fields that it may have.
        what: the name of such a file, for messages: "judge card", "recipe".

    Raises:
        DataError: the file cannot be read, or a field is wrong; with its line.
    """
    return check_fields(compose(path, f"there is no such {what}"), path, model, what)


def check_fields(root: yaml.Node | None, path: Path, model: type[M], what: str) -> M:
    """Makes a record of a file's root node, for a file that is only partly YAML.

    Args:
        root: from `compose` or `compose_text`.
        path: the file, for messages.
        model: the fields that it may have.
        what: the name of such a file, for messages.

    Raises:
        DataError: a field is wrong; with its line.
    """
    if not isinstance(root, yaml.MappingNode):
        found = "nothing" if root is None else kind_of(root)
        needed = [name for name, field in model.model_fields.items() if field.is_required()]
        raise DataError(
            f"is not a {what}: expected fields such as {', '.join(needed[:3])}; found {found}",
            path=path,
        )
    try:
        record = model.model_validate(plain_value(root, path))
    except ValidationError as error:
        place, said = first_fault(error, model)
        raise _field_error(said, place, path, root) from None
    for place in _places_of_long_numbers(record.model_dump(), ()):
        raise _field_error("expected a number of 64 bits at most", place, path, root)
    return record


def first_fault(error: ValidationError, model: type[BaseModel]) -> tuple[tuple[Any, ...], str]:
    """The place and the message of the first error; an unknown field comes before a missing one.

    A field that is missing is often one that is misspelt.

    Args:
        error: pydantic's error.
        model: the model that refused the value.
    """
    errors = error.errors(include_url=False)
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    place, said = first["loc"], first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        return place, _unknown(str(place[-1]), _fields_at(model, place[:-1]))
    if first["type"] in ("missing", "value_error"):
        cause = first.get("ctx", {}).get("error")
        return place + (cause.place if isinstance(cause, FaultAt) else ()), said
    return place, f"{said}, found {_SHORT.repr(first['input'])}"


def _field_error(said: str, place: Sequence[Any], path: Path, root: yaml.Node) -> DataError:
    field = ".".join(str(part) for part in place) or None
    node = _node_at(root, place)
    return DataError(said, path=path, line=None if node is None else line_of(node), field=field)


def _places_of_long_numbers(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Finds numbers that no file of a run can hold: pydantic reads them from text, too."""
    if isinstance(value, dict):
        items: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, tuple | list):
        items = enumerate(value)
    else:
        if isinstance(value, int) and abs(value) >= 1 << 63:
            yield place
        return
    for part, inner in items:
        yield from _places_of_long_numbers(inner, (*place, part))


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"unknown field; did you mean {near[0]}?"
    listed = ", ".join(known[:_MOST_LISTED]) + (", …" if len(known) > _MOST_LISTED else "")
    return f"unknown field; the fields are {listed}"


def _fields_at(model: type[BaseModel], place: Sequence[Any]) -> list[str]:
    """The names of the fields at a place; parts that name no field are keys, numbers and tags."""
    choices: list[type[BaseModel]] = []
    for part in place:
        field = model.model_fields.get(part) if isinstance(part, str) else None
        if field is not None:
            choices = list(_models_in(field.annotation))
            model = next(iter(choices), model)
        else:
            model = next((choice for choice in choices if _has_tag(choice, part)), model)
    return list(model.model_fields)


def _has_tag(model: type[BaseModel], tag: object) -> bool:
    """True where a model is the one of a union that a field's only value tells."""
    return any(get_args(field.annotation) == (tag,) for field in model.model_fields.values())


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


def _node_at(root: yaml.Node, place: Sequence[Any]) -> yaml.Node | None:
    """The key or the item at a place; None where the file does not have it."""
    value: yaml.Node = root
    found: yaml.Node | None = None
    for part in place:
        if isinstance(value, yaml.MappingNode):
            pair = next((pair for pair in value.value if pair[0].value == part), None)
            if pair is not None:
                found, value = pair
            elif all(inner.value != part for _, inner in value.value):
                return None
            # Otherwise it is the tag of a union's member, which the file has as a value.
        elif isinstance(value, yaml.SequenceNode) and isinstance(part, int):
            found = value = value.value[part]
        else:
            return found
    return found
