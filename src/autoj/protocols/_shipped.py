"""Finds the protocols of this package, and modules of others, by name."""

from functools import cache

from autoj import components
from autoj.errors import ConfigError, UnknownComponent, shortened
from autoj.protocols.base import JudgeProtocol

PROMPT_SUFFIX = ".md"
"""The ending of a prompt's file."""


def protocol_names() -> tuple[str, ...]:
    """The names of all protocols, sorted."""
    return components.names("protocols")


@cache
def load_shipped(name: str) -> JudgeProtocol:
    """Loads a protocol by its name or an alias; a name with a dot is a module of another package.

    Raises:
        UnknownComponent: no protocol has this name.
        ConfigError: it is code of another package that was not allowed, the file of a prompt, or no
            protocol.
    """
    if name.endswith(PROMPT_SUFFIX):
        raise ConfigError(
            f"{shortened(name, 200)!r} is the file of a prompt, and not the name of a protocol",
            hint="A card names such files under `prompt:`; the flag --prompt takes one, too.",
        )
    if components.is_known("protocols", name):
        found: JudgeProtocol | None = getattr(components.load("protocols", name), "PROTOCOL", None)
        if found is None:
            raise ConfigError(f"module {name!r} has no PROTOCOL")
        return found
    shipped = [load_shipped(known) for known in protocol_names()]
    for protocol in shipped:
        if name in protocol.aliases:
            return protocol
    aliases = [alias for protocol in shipped for alias in protocol.aliases]
    raise UnknownComponent("protocol", name, [*protocol_names(), *aliases])
