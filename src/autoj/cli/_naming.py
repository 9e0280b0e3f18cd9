"""From flags to what names the scenarios of rows that name none."""

from __future__ import annotations

from autoj.datasets.base import Cases
from autoj.runs.naming import named_by
from autoj.scenarios.classifier import ScenarioClassifier, load_classifier

__all__ = ["find_classifier", "with_classifier"]

_DEFAULT = "fast"


def find_classifier(classify: bool, name: str | None) -> ScenarioClassifier | None:
    """The classifier that `--classify` or `--classifier NAME` wants; None where neither is given.

    Raises:
        UnknownComponent: there is none of that name.
        MissingExtra: it needs packages that are not installed.
        DataError: its folder is damaged.
    """
    return load_classifier(name or _DEFAULT) if classify or name is not None else None


def with_classifier(cases: Cases, classifier: ScenarioClassifier | None) -> Cases:
    """The data set, named by a classifier where there is one."""
    return cases if classifier is None else named_by(cases, classifier)
