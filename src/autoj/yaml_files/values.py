"""Plain values of YAML nodes: those of JSON, and nothing that only some programs understand."""

import re
from pathlib import Path
from typing import Any

import yaml

from autoj.errors import DataError
from autoj.yaml_files import nodes

_BOOL, _FLOAT, _MERGE, _SEQ, _TIME = (
    nodes.TAG + name for name in ("bool", "float", "merge", "seq", "timestamp")
)
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9_]{0,24})")
_REAL = re.compile(r"[-+]?[0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
# Neither can stand in a path or in a file of UTF-8.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_QUOTE = "Put it into quotation marks if it is a text."
_EXPECTED = {
    nodes.STR: "the text has a null character or half of a character",
    _BOOL: "expected true or false",
    nodes.INT: "expected a whole number in decimals, of 64 bits at most",
    _FLOAT: "expected a finite number in decimals",
    _TIME: "dates are not read here",
}


def read_values(path: Path, missing: str | None = None) -> Any:
    """Reads a file as plain values; None for an empty file.

    Args:
        path: the file.
        missing: the message where there is no such file.

    Raises:
        DataError: as for `compose` and `plain_value`.
    """
    root = nodes.compose(path, missing)
    return None if root is None else plain_value(root, path)


def plain_value(node: yaml.Node, path: Path, field: str | None = None) -> Any:
    """The value of a node and of all below it, as JSON knows it.

    Dates, binary data and other objects of YAML are refused, and so are merge keys, numbers that
    are not finite or longer than 64 bits, and a key that is given twice: each is a mistake more
    often than not, and means something else in every program.

    Args:
        node: from `compose`, so within its limits.
        path: its file, for messages.
        field: its place in the file, such as `options.extra_body`; None for the root.

    Raises:
        DataError: a value is none of these.
    """
    if isinstance(node, yaml.MappingNode) and node.tag == nodes.MAP:
        return _mapping(node, path, field)
    if isinstance(node, yaml.SequenceNode) and node.tag == _SEQ:
        items = enumerate(node.value)
        return [plain_value(item, path, _inside(field, number)) for number, item in items]
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, path, field)
    said = f"the tag {nodes.tag_of(node)} is not known here"
    raise DataError(said, path=path, line=nodes.line_of(node), field=field)


def _inside(field: str | None, part: object) -> str:
    return str(part) if field is None else f"{field}.{part}"


def _mapping(node: yaml.MappingNode, path: Path, field: str | None) -> dict[str, Any]:
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        name = _key(key, path, field)
        place = _inside(field, name)
        if name in values:
            said = f"the key is already used in line {lines[name]}"
            raise DataError(said, path=path, line=nodes.line_of(key), field=place)
        lines[name] = nodes.line_of(key)
        values[name] = plain_value(value, path, place)
    return values


def _key(key: yaml.Node, path: Path, field: str | None) -> str:
    hint = None
    if key.tag == _MERGE:
        said = "merge keys (<<) are not read here; write the fields out"
    elif not isinstance(key, yaml.ScalarNode):
        said = f"expected a name as a key, found {nodes.kind_of(key)}"
    elif len(key.value) > nodes.MOST_NAME:
        said = f"a key has {len(key.value):,} characters; the most is {nodes.MOST_NAME}"
    elif key.tag != nodes.STR:
        said, hint = f"expected a name as a key, found {nodes.kind_of(key)}", _QUOTE
    else:
        return str(_scalar(key, path, field))
    raise DataError(said, path=path, line=nodes.line_of(key), field=field, hint=hint)


def _scalar(node: yaml.ScalarNode, path: Path, field: str | None) -> Any:
    text = node.value
    if node.tag == nodes.STR and not _NO_TEXT.search(text):
        return text
    if node.tag == nodes.NULL:
        return None
    if node.tag == _BOOL and text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if node.tag == nodes.INT and (number := _whole(text)) is not None:
        return number
    if node.tag == _FLOAT and (real := _real(text)) is not None:
        return real
    said = _EXPECTED.get(node.tag, f"the tag {nodes.tag_of(node)} is not known here")
    raise DataError(
        f"{said}, found {nodes.kind_of(node)}",
        path=path,
        line=nodes.line_of(node),
        field=field,
        hint=None if node.tag == nodes.STR else _QUOTE,
    )


def _whole(text: str) -> int | None:
    """A number of 64 bits in decimals; None for any other text, such as octal numbers and times."""
    if not _DECIMAL.fullmatch(text):
        return None
    number = int(text.replace("_", ""))
    return number if abs(number) < 1 << 63 else None


def _real(text: str) -> float | None:
    """A finite number in decimals; None for any other text."""
    if not _REAL.fullmatch(text):
        return None
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
