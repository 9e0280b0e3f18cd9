"""Keys in a card, where they do not belong: every run's folder holds its card."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from autoj.errors import DataError

# Fields in which somebody would write a key; `max_tokens` and the like are none.
_KEY_FIELD = re.compile(
    r"(?:x[-_])?(?:api|access|auth|secret|private|bearer)?[-_]?(?:key|token|secret|password)"
    r"|(?:proxy[-_])?authorization|bearer|passwd|credentials?",
    re.IGNORECASE,
)
# The beginnings of keys of well-known providers, and what a header of one looks like.
_KEY = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-]{8,}|\b(?:hf|ghp|gho|github_pat|xox[bp]|glpat)[_-][A-Za-z0-9_]{8,}"
    r"|\bAKIA[0-9A-Z]{12,}|\bAIza[\w\-]{20,}|\bBearer\s+\S{8,}"
)
_HINT = (
    "Put the key into an environment variable, and its name into options.api_key_variable "
    "(backend openai)."
)


def check_no_secrets(options: Mapping[str, Any], path: Path) -> None:
    """Checks that a card's options hold no key, nor a URL with a user, a password or a query.

    Args:
        options: the card's options.
        path: its file, for messages, which do not repeat what was found.

    Raises:
        DataError: they do; nothing was written yet.
    """
    for place, name, value in _texts(options, ("options",)):
        if _KEY_FIELD.fullmatch(name) and value:
            said = "a key does not belong in a card, which is copied into every run's folder"
        elif _KEY.search(value):
            said = "this looks like a key, which does not belong in a card"
        elif _holds_more_than_an_address(value):
            said = "a URL must not contain a user, password or query, which may be a key"
        else:
            continue
        raise DataError(said, path=path, field=".".join(place), hint=_HINT)


def _texts(value: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yields every text with its place and the name of its nearest field."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts(inner, (*place, str(name)))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner, place)
    elif isinstance(value, str):
        yield place, place[-1], value


def _holds_more_than_an_address(text: str) -> bool:
    if "://" not in text or any(character.isspace() for character in text):
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        # A broken URL is shown nowhere: what reads the option refuses it.
        return "@" in text
    return "@" in parts.netloc or bool(parts.query)
