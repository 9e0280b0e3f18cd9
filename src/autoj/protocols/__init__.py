"""Protocols: each builds a judge's prompt and reads the answer; its prompt text is beside it."""

from __future__ import annotations

from functools import cache

from autoj import components
from autoj.errors import ConfigError, UnknownComponent
from autoj.protocols._lock import digest_prompts
from autoj.protocols.base import ByCriteria, JudgeProtocol
from autoj.scenarios import Library

__all__ = ["by_scenarios", "digest_prompts", "load_protocol", "needs_scenario", "protocol_names"]


def protocol_names() -> tuple[str, ...]:
    """The names of all protocols, sorted."""
    return components.names("protocols")


@cache
def load_protocol(name: str) -> JudgeProtocol:
    """Loads a protocol by its name or an alias, such as the original release's `pairwise_tie`.

    Raises:
        UnknownComponent: no protocol has this name.
        ConfigError: it is code of another package that was not allowed, or no protocol.

    >>> load_protocol("zh_single").name
    'single-zh'
    """
    if components.is_known("protocols", name):
        found: JudgeProtocol | None = getattr(components.load("protocols", name), "PROTOCOL", None)
        if found is None:
            raise ConfigError(f"module {name!r} has no PROTOCOL")
        return found
    shipped = [load_protocol(known) for known in protocol_names()]
    for protocol in shipped:
        if name in protocol.aliases:
            return protocol
    raise UnknownComponent("protocol", name, [*protocol_names(), *_aliases(shipped)])


def needs_scenario(protocol: JudgeProtocol) -> bool:
    """True where a protocol judges by the criteria of a case's scenario, so that it needs one.

    >>> needs_scenario(load_protocol("pairwise-criteria")), needs_scenario(load_protocol("single"))
    (True, False)
    """
    return isinstance(protocol, ByCriteria)


def by_scenarios(protocol: JudgeProtocol, library: Library) -> JudgeProtocol:
    """The protocol with other scenarios than ours; unchanged where it uses none."""
    return protocol.with_library(library) if isinstance(protocol, ByCriteria) else protocol


def _aliases(protocols: list[JudgeProtocol]) -> list[str]:
    return [alias for protocol in protocols for alias in protocol.aliases]
