"""Loading of a classifier by its name, or from a folder written by training."""

from functools import cache
from pathlib import Path

from autoj.errors import UnknownComponent
from autoj.scenarios.classifier.base import ScenarioClassifier
from autoj.scenarios.classifier.folder import CARD, read_folder

SHIPPED = ("fast", "best")
DATA = Path(__file__).parent.parent / "data" / "classifier"
"""The shipped classifiers and their recipe."""


def load_classifier(name: str = "fast") -> ScenarioClassifier:
    """Loads a scenario classifier.

    Args:
        name: "fast" (n-grams, no further packages), "best" (sentence embeddings too, with the
            extra `classifier`), or a folder written by `autoj train classifier`.

    Raises:
        UnknownComponent: there is no classifier of that name.
        MissingExtra: it needs the extra `classifier`.
        DataError: the folder is damaged or not a classifier's.

    >>> load_classifier().classify(["Translate to French: good morning"])[0].scenario
    'text_to_text_translation'
    """
    if name in SHIPPED:
        return _shipped(name)
    folder = Path(name)
    if not folder.is_dir() and not (folder / CARD).is_file():
        raise UnknownComponent("classifier", name, SHIPPED)
    return read_folder(folder)


@cache
def _shipped(name: str) -> ScenarioClassifier:
    return read_folder(DATA / name, name)
