"""From flags to the classifier that names the scenarios of rows that name none."""

from __future__ import annotations

from autoj.scenarios.classifier import ScenarioClassifier, load_classifier

__all__ = ["find_classifier"]

_DEFAULT = "fast"


def find_classifier(classify: bool, name: str | None) -> ScenarioClassifier | None:
    """The classifier that `--classify` or `--classifier NAME` wants; None where neither is given.

    Raises:
        UnknownComponent: there is none of that name.
        MissingExtra: it needs packages that are not installed.
        DataError: its folder is damaged.
    """
    return load_classifier(name or _DEFAULT) if classify or name is not None else None
