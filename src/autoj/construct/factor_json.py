"""The factors of a judgment that a teacher wrote as JSON."""

import json
from collections.abc import Iterator
from typing import Any

from autoj.construct.factor_names import flat, is_generic, unnamed
from autoj.critiques import Factor, Language

_NAME_KEYS = ("name", "factor", "criterion", "aspect", "title")
_TEXT_KEYS = ("explanation", "reason", "comparison", "analysis", "comment", "description", "text")
_LATEST_START = 200


def json_of(text: str) -> Any | None:
    """The JSON object or list that a text is or holds; None where there is none."""
    start = min((at for at in (text.find("{"), text.find("[{")) if at >= 0), default=-1)
    if start < 0 or start > _LATEST_START:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and value else None


def json_factors(value: Any, language: Language, name: str = "") -> Iterator[Factor]:
    """The factors of a value, under the name of the key that holds it."""
    match value:
        case str() if value.strip():
            generic = is_generic(name) and len(name.split()) < 3
            called = unnamed(language) if not name or generic else name
            yield Factor(name=flat(called).replace(":", " "), explanation=flat(value))
        case dict():
            titles = [value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)]
            texts = [value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)]
            if titles and texts:
                yield from json_factors(texts[0], language, titles[0])
                return
            for key, inner in value.items():
                if "decision" in key.lower() or "winner" in key.lower():
                    continue
                called = name if key in _TEXT_KEYS and name else key.replace("_", " ")
                yield from json_factors(inner, language, called)
        case list():
            for inner in value:
                yield from json_factors(inner, language, name)
