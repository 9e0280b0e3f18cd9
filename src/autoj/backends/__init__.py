"""Engines: turn requests into completions. Each is a file, or a folder of that name."""

from __future__ import annotations

from typing import Any

from autoj import components
from autoj.backends.base import Backend
from autoj.errors import ConfigError, MissingExtra
from autoj.records import JudgeCard

__all__ = ["load_backend"]


def load_backend(card: JudgeCard, **options: Any) -> Backend:
    """Loads the engine that runs a judge; the heavy imports happen here.

    Args:
        card: the judge.
        options: keyword arguments of its backend's `load`.

    Raises:
        MissingExtra: its packages are not installed.
        UnknownComponent: there is no such backend.
        ConfigError: it is code of another package that was not allowed, or no backend.
    """
    if not components.is_known("backends", card.backend):
        raise MissingExtra(
            card.backend,
            f"judge {card.name!r} runs on the {card.backend!r} backend, which",
            note=f"the backends of this version are {', '.join(components.names('backends'))}",
        )
    module = components.load("backends", card.backend)
    if not callable(getattr(module, "load", None)):
        raise ConfigError(f"judge {card.name!r}: module {card.backend!r} is no backend: no `load`")
    backend: Backend = module.load(card, **options)
    return backend
