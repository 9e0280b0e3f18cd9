"""Scenarios in a run's settings: the user's own, and the classifier that names those of rows."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import orjson

from autoj.errors import DataError
from autoj.scenarios import Library, load_library, shipped_library
from autoj.scenarios.classifier import SHIPPED, ScenarioClassifier, load_classifier

OnUnknownScenario: TypeAlias = Literal["error", "others", "keep"]
"""The treatment of a row whose scenario is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedClassifier:
    """The classifier that names the scenarios of rows without one."""

    name: str
    digest: str
    """The digest of its weights."""
    path: str | None = None
    """The folder of a user's own classifier; None where the name is enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnScenarios:
    """A user's folder of scenarios."""

    path: str
    digest: str
    """sha256 of the content of its scenarios and ours together; the folder's path is not part of
    it."""


def find_classifier(name: str) -> UsedClassifier:
    """Finds a classifier by its name or folder, for a run's settings.

    Raises:
        UnknownComponent: there is no such classifier.
        MissingExtra: it needs packages that are not installed.
        DataError: its folder is damaged.
    """
    classifier = load_classifier(name)
    path = None if name in SHIPPED else name
    return UsedClassifier(name=classifier.name, digest=classifier.digest, path=path)


def classifier_of(used: UsedClassifier) -> ScenarioClassifier:
    """The classifier that a run's settings name.

    Raises:
        DataError: its weights are gone or have changed since the settings were made.
    """
    classifier = load_classifier(used.path or used.name)
    if classifier.digest != used.digest:
        raise DataError(
            "the classifier has changed since the run's settings were made",
            path=used.path or used.name,
            hint="Undo the change, or start the command again.",
        )
    return classifier


def find_own_scenarios(folder: Path) -> OwnScenarios:
    """Reads and checks a user's folder of scenarios.

    Raises:
        DataError: the folder is invalid.
    """
    library = load_library(folder)
    return OwnScenarios(path=str(folder), digest=_digest(library))


def _digest(library: Library) -> str:
    """The digest of a library: of all that a judge may read of its scenarios, and their names."""
    said = [
        (
            scenario.name,
            scenario.group,
            scenario.description,
            [(item.name, item.content, item.type) for item in scenario.criteria],
        )
        for scenario in map(library.find, library.names())
    ]
    content = [said, sorted(library.aliases().items())]
    return f"sha256:{hashlib.sha256(orjson.dumps(content)).hexdigest()}"


def library_of(own: OwnScenarios | None) -> Library:
    """The scenarios of a run.

    Args:
        own: the user's, from the run's settings; None is ours alone.

    Raises:
        DataError: the folder is gone or has changed since.
    """
    return shipped_library() if own is None else _library(own)


@cache
def _library(own: OwnScenarios) -> Library:
    library = load_library(Path(own.path))
    if _digest(library) != own.digest:
        raise DataError(
            "the scenarios have changed since the run began",
            path=own.path,
            hint="Undo the change, or start a new run with another --out.",
        )
    return library
