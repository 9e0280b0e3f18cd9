"""The format of a file of criteria: its entries with their lines, and its errors.

```yaml
description: The user wants a match told from the goal line.   # shown to judges
group: General Communication                                   # optional
aliases: [goalkeeper_report]                                   # optional
basic: !include autoj:shared/basic       # the key is only a label
writing: !include ../shared/ours.yaml

saves:                                   # the criterion's name
  content: Every save is told with its minute and what it prevented.
  weight: 4                              # 1 to 5; 3 if it is left out
  type: content                          # content, format, style or basic
stated limits: ~                         # removes a criterion that an include brings in
```

Criteria and includes may also be nested one level deeper under a label, as under `extended:` in the
files of the original release.
"""

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import yaml

from autoj.errors import DataError
from autoj.scenarios.criteria import (
    DEFAULT_WEIGHT,
    HIGHEST_WEIGHT,
    LOWEST_WEIGHT,
    TYPES,
    Criterion,
    CriterionType,
)
from autoj.yaml_files import INT, MAP, NULL, STR, compose, kind_of, line_of, name_of

_INCLUDE = "!include"
_FACTS = ("description", "group")
_ALIASES = "aliases"
_FIELDS = ("content", "weight", "type")
_ENTRY = "a criterion (content, weight and type) or an !include"


@dataclass(frozen=True, slots=True, kw_only=True)
class Include:
    """An entry that brings in the criteria of another file."""

    target: str
    """The path as written in the file."""
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """An entry that removes a criterion which an include brings in."""

    name: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A property of the scenario as a whole, such as its description."""

    text: str
    line: int


Entry: TypeAlias = Criterion | Include | Dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaFile:
    """The valid content of a file."""

    path: Path
    description: Fact | None = None
    group: Fact | None = None
    aliases: tuple[Fact, ...] = ()
    entries: tuple[Entry, ...] = ()
    """In the order of the file; the names of criteria are unique."""


def read_criteria_file(path: Path, report: Callable[[DataError], None]) -> CriteriaFile:
    """Reads a file; its errors are reported and the entries concerned left out.

    Args:
        path: the file.
        report: called with each error, which names file, line and what was expected.
    """
    return _Reading(path, report).read()


class _Reading:
    """Reads one file and collects its entries."""

    def __init__(self, path: Path, report: Callable[[DataError], None]) -> None:
        self._path = path
        self._report = report

    def read(self) -> CriteriaFile:
        facts: dict[str, list[Fact]] = {}
        aliases: list[Fact] = []
        entries: list[Entry | None] = []
        for name, line, value in self._pairs(self._root()):
            if name in _FACTS and isinstance(value, yaml.ScalarNode):
                facts[name] = self._facts([value], name)
            elif name == _ALIASES and isinstance(value, yaml.SequenceNode):
                aliases += self._facts(value.value, name)
            elif _is_section(value):
                entries += [self._entry(*inner) for inner in self._pairs(value)]
            else:
                entries.append(self._entry(name, line, value))
        return CriteriaFile(
            path=self._path,
            description=next(iter(facts.get("description", ())), None),
            group=next(iter(facts.get("group", ())), None),
            aliases=tuple(aliases),
            entries=tuple(self._with_distinct_names(entries)),
        )

    def _fault(
        self, message: str, line: int, field: str | None = None, hint: str | None = None
    ) -> None:
        self._report(DataError(message, path=self._path, line=line, field=field, hint=hint))

    def _root(self) -> yaml.Node | None:
        try:
            root = compose(self._path)
        except DataError as fault:
            self._report(fault)
            return None
        if root is None:
            self._fault(f"the file is empty; expected names, each with {_ENTRY}", 1)
        elif not isinstance(root, yaml.MappingNode):
            expected = f"expected names, each with {_ENTRY}"
            self._fault(f"{expected}; found {kind_of(root)}", line_of(root))
            return None
        return root

    def _pairs(self, mapping: yaml.Node | None) -> Iterator[tuple[str, int, yaml.Node]]:
        """Yields the names of a mapping, each with its line and its value."""
        lines: dict[str, int] = {}
        for key, value in () if mapping is None else mapping.value:
            name, line = name_of(key), line_of(key)
            if name is None:
                self._fault(f"expected a name, found {kind_of(key)}", line)
            elif name in lines:
                self._fault(f"the name is already used in line {lines[name]}", line, name)
            else:
                lines[name] = line
                yield name, line, value

    def _with_distinct_names(self, entries: list[Entry | None]) -> Iterator[Entry]:
        lines: dict[str, int] = {}
        for entry in entries:
            if isinstance(entry, Criterion | Dropped):
                if entry.name in lines:
                    said = f"the name is already used in line {lines[entry.name]}"
                    self._fault(said, entry.line, entry.name)
                    continue
                lines[entry.name] = entry.line
            if entry is not None:
                yield entry

    def _facts(self, nodes: list[yaml.Node], field: str) -> list[Fact]:
        texts = ((self._text(node, field), line_of(node)) for node in nodes)
        return [Fact(text=text, line=line) for text, line in texts if text is not None]

    def _entry(self, name: str, line: int, value: yaml.Node) -> Entry | None:
        if value.tag == _INCLUDE:
            return self._include(name, value)
        if value.tag == NULL:
            return Dropped(name=name, line=line)
        if isinstance(value, yaml.MappingNode) and value.tag == MAP:
            return self._criterion(name, line, value)
        hint = f"The only tag allowed here is {_INCLUDE}." if value.tag[:1] == "!" else None
        self._fault(f"expected {_ENTRY}, found {kind_of(value)}", line_of(value), name, hint)
        return None

    def _include(self, name: str, value: yaml.Node) -> Include | None:
        if isinstance(value, yaml.ScalarNode) and (target := value.value.strip()):
            return Include(target=target, line=line_of(value))
        found = "nothing" if isinstance(value, yaml.ScalarNode) else kind_of(value)
        self._fault(f"expected a path after {_INCLUDE}, found {found}", line_of(value), name)
        return None

    def _criterion(self, name: str, line: int, mapping: yaml.Node) -> Criterion | None:
        fields: dict[str, yaml.Node] = {}
        for field, field_line, value in self._pairs(mapping):
            if field in _FIELDS:
                fields[field] = value
                continue
            near = difflib.get_close_matches(field, _FIELDS, n=1)
            hint = f"Did you mean {near[0]}?" if near else None
            self._fault(f"expected {_ENTRY}, found the field {field!r}", field_line, name, hint)
        for field in _FIELDS:
            if field not in fields and field != "weight":
                self._fault(f"the criterion has no {field}", line, name)
        content = self._text(fields.get("content"), f"{name}.content")
        weight = (
            self._weight(fields["weight"], f"{name}.weight")
            if "weight" in fields
            else DEFAULT_WEIGHT
        )
        kind = self._type(fields.get("type"), f"{name}.type")
        if content is None or weight is None or kind is None:
            return None
        return Criterion(
            name=name, content=content, weight=weight, type=kind, path=self._path, line=line
        )

    def _text(self, node: yaml.Node | None, field: str) -> str | None:
        """Reads one paragraph of text; line breaks become spaces."""
        if node is None:
            return None
        if isinstance(node, yaml.ScalarNode) and node.tag == STR and node.value.strip():
            return " ".join(node.value.split())
        self._fault(f"expected text, found {kind_of(node)}", line_of(node), field)
        return None

    def _weight(self, node: yaml.Node, field: str) -> int | None:
        scale = range(LOWEST_WEIGHT, HIGHEST_WEIGHT + 1)
        if node.tag == INT and node.value in map(str, scale):
            return int(node.value)
        expected = f"expected a whole number from {LOWEST_WEIGHT} to {HIGHEST_WEIGHT}"
        self._fault(f"{expected}, found {kind_of(node)}", line_of(node), field)
        return None

    def _type(self, node: yaml.Node | None, field: str) -> CriterionType | None:
        if node is None:
            return None
        for known in TYPES:
            if node.tag == STR and node.value == known:
                return known
        expected = f"expected one of {', '.join(TYPES)}"
        self._fault(f"{expected}; found {kind_of(node)}", line_of(node), field)
        return None


def _is_section(value: yaml.Node) -> bool:
    """True where a mapping is a label over entries and not an entry itself."""
    if not isinstance(value, yaml.MappingNode) or value.tag != MAP or not value.value:
        return False
    return all(
        isinstance(inner, yaml.MappingNode)
        or inner.tag == _INCLUDE
        or (inner.tag == NULL and name_of(key) not in _FIELDS)
        for key, inner in value.value
    )
