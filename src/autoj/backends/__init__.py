"""Engines: turn requests into completions. Each is a file, or a folder of that name."""

from collections.abc import Callable
from typing import Any

from autoj import components
from autoj.backends.base import Backend, Reader
from autoj.errors import ConfigError, MissingExtra
from autoj.records import JudgeCard

__all__ = ["load_backend", "load_reader"]


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
    backend: Backend = _module(card).load(card, **options)
    return backend


def load_reader(card: JudgeCard) -> Reader | None:
    """Loads a judge as far as planning a run needs it, where that takes no model and no key.

    Returns:
        None where the engine itself must be loaded, as it alone counts its tokens.

    Raises:
        MissingExtra, UnknownComponent: as of `load_backend`.
    """
    load: Callable[[JudgeCard], Reader] | None = getattr(_module(card), "load_reader", None)
    return None if load is None else load(card)


def _module(card: JudgeCard) -> Any:
    if not components.is_known("backends", card.backend):
        raise MissingExtra(
            card.backend,
            f"judge {card.name!r} runs on the {card.backend!r} backend, which",
            note=f"the backends of this version are {', '.join(components.names('backends'))}",
        )
    module = components.load("backends", card.backend)
    if not callable(getattr(module, "load", None)):
        raise ConfigError(f"judge {card.name!r}: module {card.backend!r} is no backend: no `load`")
    return module
