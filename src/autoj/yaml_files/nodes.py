"""YAML files as nodes with line numbers, within limits of size, depth and aliases.

Nodes are composed here, from the events of the parser, because the library's own composer recurses
without end and builds whatever an alias repeats.
"""

import stat
from pathlib import Path
from typing import Any

import yaml

from autoj.errors import DataError

MOST_BYTES = 1 << 20
"""The size limit of a file."""
MOST_DEPTH = 32
"""The most levels of lists and mappings."""
MOST_VALUES = 20_000
"""The most values in a file; what an alias repeats is counted again."""
MOST_NAME = 200
"""The most characters of a key."""

TAG = "tag:yaml.org,2002:"
INT, MAP, NULL, STR = (TAG + name for name in ("int", "map", "null", "str"))
# libyaml's parser is ten times as fast and is part of PyYAML's wheels.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_SAID = 200


def compose(path: Path, missing: str | None = None) -> yaml.Node | None:
    """Parses a file to its root node; None for an empty file.

    Args:
        path: the file.
        missing: the message where there is no such file.

    Raises:
        DataError: the file cannot be opened, is not UTF-8 or not YAML, or is beyond a limit.
    """
    data = _read(path, missing)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError("is not YAML: it is not UTF-8", path=path, line=line) from None
    return compose_text(text, path)


def compose_text(text: str, path: Path, first_line: int = 1) -> yaml.Node | None:
    """Parses a text to its root node; None for an empty text.

    Args:
        text: YAML.
        path: the file that it stands in, for messages.
        first_line: the number of its first line in that file.

    Raises:
        DataError: the text is not YAML or is beyond a limit.
    """
    text = "\n" * (first_line - 1) + text
    loader = None
    try:
        loader = _LOADER(text)
        return _Composer(loader, path).root()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise _not_yaml(said, path, mark.line + 1 if mark else first_line) from None
    except yaml.YAMLError as error:
        # A character that YAML does not allow, such as a control character, has no mark.
        line = text[: getattr(error, "position", 0)].count("\n") + 1
        raise _not_yaml(str(getattr(error, "reason", error)), path, line) from None
    finally:
        if loader is not None:
            loader.dispose()


def line_of(node: yaml.Node) -> int:
    """The first line of a node, counted from 1."""
    return int(node.start_mark.line) + 1


def name_of(key: yaml.Node) -> str | None:
    """A key as a name; None where it is not one, such as a number or a very long text."""
    if not isinstance(key, yaml.ScalarNode) or key.tag != STR or len(key.value) > MOST_NAME:
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
    return f"{tag_of(node)} {shown!r}" if node.tag.startswith("!") else repr(shown)


class _Composer:
    """Builds nodes from the parser's events, within the limits."""

    def __init__(self, loader: Any, path: Path) -> None:
        self._loader = loader
        self._path = path
        self._n_values = 0
        self._named: dict[str, tuple[yaml.Node, int] | None] = {}
        """The node of each anchor and its number of values; None while it is being read."""

    def root(self) -> yaml.Node | None:
        self._loader.get_event()
        if self._loader.check_event(yaml.StreamEndEvent):
            return None
        self._loader.get_event()
        root = self._node(1)
        self._loader.get_event()
        event = self._loader.get_event()
        if not isinstance(event, yaml.StreamEndEvent):
            raise _not_yaml(
                "expected a single document in the stream, but found another document",
                self._path,
                event.start_mark.line + 1,
            )
        return root

    def _node(self, depth: int) -> yaml.Node:
        event = self._loader.get_event()
        line = event.start_mark.line + 1
        if depth > MOST_DEPTH + 1:
            raise DataError(
                f"is nested deeper than {MOST_DEPTH} levels", path=self._path, line=line
            )
        if isinstance(event, yaml.AliasEvent):
            return self._repeated(str(event.anchor), line)
        n_before = self._n_values
        self._count(1, line)
        if event.anchor is not None:
            self._named[event.anchor] = None
        node = self._new(event, depth)
        if event.anchor is not None:
            self._named[event.anchor] = node, self._n_values - n_before
        return node

    def _new(self, event: Any, depth: int) -> yaml.Node:
        begin, end = event.start_mark, event.end_mark
        if isinstance(event, yaml.ScalarEvent):
            tag = self._tag(yaml.ScalarNode, event, event.value)
            return yaml.ScalarNode(tag, event.value, begin, end, event.style)
        items: list[Any] = []
        node: yaml.Node
        if isinstance(event, yaml.SequenceStartEvent):
            tag = self._tag(yaml.SequenceNode, event, None)
            node = yaml.SequenceNode(tag, items, begin, None)
            while not self._loader.check_event(yaml.SequenceEndEvent):
                items.append(self._node(depth + 1))
        else:
            tag = self._tag(yaml.MappingNode, event, None)
            node = yaml.MappingNode(tag, items, begin, None)
            while not self._loader.check_event(yaml.MappingEndEvent):
                key = self._node(depth + 1)
                items.append((key, self._node(depth + 1)))
        node.end_mark = self._loader.get_event().end_mark
        return node

    def _tag(self, kind: type[yaml.Node], event: Any, value: str | None) -> str:
        if event.tag is not None and event.tag != "!":
            return str(event.tag)
        return str(self._loader.resolve(kind, value, event.implicit))

    def _repeated(self, anchor: str, line: int) -> yaml.Node:
        if anchor not in self._named:
            raise _not_yaml("found undefined alias", self._path, line)
        named = self._named[anchor]
        if named is None:
            raise DataError("an alias stands inside what it names", path=self._path, line=line)
        self._count(named[1], line)
        return named[0]

    def _count(self, n_values: int, line: int) -> None:
        self._n_values += n_values
        if self._n_values > MOST_VALUES:
            raise DataError(
                f"has more than {MOST_VALUES:,} values (what an alias repeats is counted again)",
                path=self._path,
                line=line,
            )


def _read(path: Path, missing: str | None) -> bytes:
    """The bytes of a regular file within the limit; a pipe could keep its reader waiting."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            raise DataError("cannot be opened: it is not a file", path=path)
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        said = missing or f"cannot be opened: {error.strerror}"
        raise DataError(said, path=path) from None
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", path=path) from None
    except ValueError:
        raise DataError("cannot be opened: the path has a null character", path=path) from None
    if len(data) > MOST_BYTES:
        raise DataError(f"is larger than {MOST_BYTES:,} bytes", path=path)
    return data


def _not_yaml(said: str, path: Path, line: int) -> DataError:
    short = said if len(said) <= _MOST_SAID else said[:_MOST_SAID] + "…"
    return DataError(f"is not YAML: {short}", path=path, line=line)


def tag_of(node: yaml.Node) -> str:
    """A tag as it is written in a file."""
    tag = node.tag.replace(TAG, "!!", 1)
    return tag if len(tag) <= 40 else tag[:39] + "…"
