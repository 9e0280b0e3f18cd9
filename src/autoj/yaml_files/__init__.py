"""YAML files read as data: no objects are built, and size, depth and aliases are limited.

Cards, recipes, scenarios and prompts may be a stranger's. `read_fields` reads a record,
`read_values` plain values, and `compose` nodes with their lines.
"""

from autoj.yaml_files.extended import compose_extended
from autoj.yaml_files.fields import FaultAt, check_fields, first_fault, read_fields
from autoj.yaml_files.nodes import (
    INT,
    MAP,
    NULL,
    STR,
    compose,
    compose_text,
    kind_of,
    line_of,
    name_of,
)
from autoj.yaml_files.values import plain_value, read_values

__all__ = [
    "INT",
    "MAP",
    "NULL",
    "STR",
    "FaultAt",
    "check_fields",
    "compose",
    "compose_extended",
    "compose_text",
    "first_fault",
    "kind_of",
    "line_of",
    "name_of",
    "plain_value",
    "read_fields",
    "read_values",
]
