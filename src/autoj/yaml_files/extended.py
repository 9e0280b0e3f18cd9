"""YAML files that extend another: its fields, with their own laid over them."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from autoj.errors import DataError
from autoj.yaml_files.nodes import STR, compose

_KEY = "extends"


def compose_extended(path: Path, missing: str, _above: Sequence[Path] = ()) -> yaml.Node | None:
    """Parses a file to its root node, laid over that of the file which its `extends` names.

    A mapping in both is merged field by field; any other value, such as a list, is replaced.

    Args:
        path: the file; `extends` is a path seen from its folder.
        missing: the message where there is no such file.

    Raises:
        DataError: a file cannot be read, or the files extend each other in a circle.
    """
    place = path.resolve()
    if place in _above:
        raise DataError("extends itself, by way of others", path=path, field=_KEY)
    root = compose(path, missing)
    if not isinstance(root, yaml.MappingNode):
        return root
    own = [(key, value) for key, value in root.value if key.value != _KEY]
    named = [value for key, value in root.value if key.value == _KEY]
    if not named:
        return root
    if len(named) > 1 or named[0].tag != STR:
        raise DataError("expected one path of a file", path=path, field=_KEY)
    below = compose_extended(path.parent / named[0].value, missing, (*_above, place))
    if not isinstance(below, yaml.MappingNode):
        raise DataError(f"extends {named[0].value!r}, which has no fields", path=path, field=_KEY)
    root.value = own
    return _merged(below, root)


def _merged(below: yaml.MappingNode, above: yaml.MappingNode) -> yaml.MappingNode:
    """A mapping laid over another; its fields keep their lines."""
    values = {key.value: (key, value) for key, value in below.value}
    for key, value in above.value:
        other = values.get(key.value, (key, None))[1]
        if isinstance(other, yaml.MappingNode) and isinstance(value, yaml.MappingNode):
            value = _merged(other, value)
        values[key.value] = (key, value)
    above.value = list(values.values())
    return above
