"""A YAML file as nodes that know their lines, and the words for what stands where."""

from __future__ import annotations

from pathlib import Path

import yaml

from autoj.errors import DataError

__all__ = ["INT", "MAP", "NULL", "STR", "compose", "kind_of", "line_of", "name_of"]

_TAG = "tag:yaml.org,2002:"
INT, MAP, NULL, STR = (_TAG + name for name in ("int", "map", "null", "str"))
# libyaml's parser takes a tenth of the time and is in PyYAML's wheels.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def compose(path: Path) -> yaml.Node | None:
    """A file's root node; None where the file holds nothing.

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
        # What the reader cannot take, such as a control character, has a position and no mark.
        line = text[: getattr(error, "position", 0)].count("\n") + 1
        said = str(getattr(error, "reason", error))
        raise DataError(f"is not YAML: {said}", path=path, line=line) from None
    return root


def line_of(node: yaml.Node) -> int:
    """Where a node begins, counted from 1."""
    return int(node.start_mark.line) + 1


def name_of(key: yaml.Node) -> str | None:
    """A key as a name; None where it is none, such as a number or an empty text."""
    if not isinstance(key, yaml.ScalarNode) or key.tag != STR:
        return None
    return " ".join(key.value.split()) or None


def kind_of(node: yaml.Node) -> str:
    """What a node is, in a reader's words."""
    if isinstance(node, yaml.MappingNode):
        return "a mapping" if node.value else "an empty mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    if not node.value.strip():
        return "nothing"
    shown = node.value if len(node.value) <= 40 else node.value[:39] + "…"
    return f"{node.tag} {shown!r}" if node.tag.startswith("!") else repr(shown)
