"""YAML files as nodes with line numbers, and descriptions of nodes for messages."""

from __future__ import annotations

from pathlib import Path

import yaml

from autoj.errors import DataError

__all__ = ["INT", "MAP", "NULL", "STR", "compose", "kind_of", "line_of", "name_of"]

_TAG = "tag:yaml.org,2002:"
INT, MAP, NULL, STR = (_TAG + name for name in ("int", "map", "null", "str"))
# libyaml's parser is ten times as fast and is part of PyYAML's wheels.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def compose(path: Path) -> yaml.Node | None:
    """Parses a file to its root node; None for an empty file.

    Raises:
        DataError: the file cannot be opened, or is not UTF-8 or not YAML.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
        root: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", path=path) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError("is not UTF-8", path=path, line=line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(part for part in (error.context, error.problem) if part)
        line = mark.line + 1 if mark else 1
        raise DataError(f"is not YAML: {said}", path=path, line=line) from None
    except yaml.YAMLError as error:
        # A character that YAML does not allow, such as a control character, has no mark.
        line = text[: getattr(error, "position", 0)].count("\n") + 1
        said = str(getattr(error, "reason", error))
        raise DataError(f"is not YAML: {said}", path=path, line=line) from None
    return root


def line_of(node: yaml.Node) -> int:
    """The first line of a node, counted from 1."""
    return int(node.start_mark.line) + 1


def name_of(key: yaml.Node) -> str | None:
    """A key as a name; None where it is not one, such as a number or an empty text."""
    if not isinstance(key, yaml.ScalarNode) or key.tag != STR:
        return None
    return " ".join(key.value.split()) or None


def kind_of(node: yaml.Node) -> str:
    """Describes a node for a message."""
    if isinstance(node, yaml.MappingNode):
        return "a mapping" if node.value else "an empty mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    if not node.value.strip():
        return "nothing"
    shown = node.value if len(node.value) <= 40 else node.value[:39] + "…"
    return f"{node.tag} {shown!r}" if node.tag.startswith("!") else repr(shown)
