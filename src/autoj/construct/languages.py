"""The languages of texts, identified by `py3langid`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from autoj.errors import MissingExtra

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

Identify: TypeAlias = Callable[[str], tuple[str, float]]
"""From a text to the code of its language and the probability of that, 0 to 1."""
# Varieties of Chinese that share their script with it: of the release's 960 Chinese responses, 29
# were taken for Wu and 2 for Cantonese, and none is.
_SAME = {"wuu": "zh", "yue": "zh"}


def load_identifier() -> Identify:
    """Loads the identifier of a text's language among all that the library knows.

    Raises:
        MissingExtra: py3langid is not installed.
    """
    identifier = _model()

    def identify(text: str) -> tuple[str, float]:
        language, confidence = identifier.classify(text)
        return _SAME.get(language, str(language)), float(confidence)

    return identify


def known_languages() -> list[str]:
    """The codes of all languages that texts are told apart by, sorted.

    Raises:
        MissingExtra: py3langid is not installed.
    """
    return sorted({str(code) for code in _model().nb_classes} - set(_SAME))


@cache
def _model() -> LanguageIdentifier:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        raise MissingExtra("construct", "languages in a construction") from None
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
