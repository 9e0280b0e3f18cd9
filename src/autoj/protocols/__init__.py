"""Protocols: each builds a judge's prompt and reads the answer; its prompt text is beside it.

A user's own is the file of a prompt (`autoj.prompts`), and a protocol like any other.
"""

import hashlib
import os
from pathlib import Path

import orjson

from autoj.prompts import read_text
from autoj.protocols._lock import digest_prompts
from autoj.protocols._own import OwnProtocol
from autoj.protocols._own_files import protocol_from
from autoj.protocols._shipped import PROMPT_SUFFIX, load_shipped, protocol_names
from autoj.protocols._shown import NOT_SHOWN, file_of, prompt_of
from autoj.protocols.base import (
    JudgeProtocol,
    is_by_case,
    is_by_criteria,
    is_by_menu,
    is_by_reference,
)
from autoj.records import Case, JudgeCard
from autoj.scenarios import Library

__all__ = [
    "NOT_SHOWN",
    "OwnProtocol",
    "asked_by",
    "by_scenarios",
    "digest_prompts",
    "file_of",
    "find_protocol",
    "load_protocol",
    "load_shipped",
    "needs_reference",
    "needs_scenario",
    "prompt_of",
    "protocol_from",
    "protocol_names",
    "protocols_of",
    "reader_for",
]


def load_protocol(name: str) -> JudgeProtocol:
    """Loads a protocol by its name or an alias, or from the file of a prompt.

    Args:
        name: a protocol's name, an alias such as the original release's `pairwise_tie`, or the path
            of a prompt's file (`….md`).

    Raises:
        UnknownComponent: no protocol has this name.
        ConfigError: it is code of another package that was not allowed, or no protocol.
        DataError: the file is missing, or is no prompt.

    >>> load_protocol("zh_single").name
    'single-zh'
    """
    if name.endswith(PROMPT_SUFFIX) or os.sep in name:
        return protocol_from(read_text(Path(name).expanduser()), Path(name))
    return load_shipped(name)


def protocols_of(card: JudgeCard) -> tuple[JudgeProtocol, ...]:
    """The protocols that a card names: prompts of its own first.

    Raises:
        UnknownComponent: it names an unknown one.
        DataError: a prompt of its own has a fault.
    """
    place = Path(card.folder or "") / f"{card.name}.yaml"
    own = (protocol_from(text, place) for text in card.prompts)
    return (*own, *map(load_shipped, card.protocols))


def find_protocol(card: JudgeCard, name: str) -> JudgeProtocol:
    """Finds a judge's protocol: a prompt of its card by its name, else as `load_protocol`.

    Raises:
        UnknownComponent: no protocol has this name.
        DataError: a prompt's file is missing or has a fault.
    """
    own = (protocol for protocol in protocols_of(card) if isinstance(protocol, OwnProtocol))
    return next((protocol for protocol in own if protocol.name == name), None) or load_protocol(
        name
    )


def asked_by(text: str, path: Path) -> dict[str, str]:
    """The digests of what a judge is asked by a prompt's file, without the way its answer is read.

    Args:
        text: the file's text.
        path: the file, for messages.

    Raises:
        DataError: it is no prompt.
    """
    protocol = protocol_from(text, path)
    prompt, forced = protocol.prompt, protocol.forced
    parts = {
        "kind": prompt.kind,
        "system": prompt.system,
        "user": prompt.user,
        "prefix": forced.prefix,
        "choices": forced.choices,
        "stop": forced.stop,
    }
    return {
        name: hashlib.sha256(orjson.dumps(part)).hexdigest()[:12] for name, part in parts.items()
    }


def needs_scenario(protocol: JudgeProtocol) -> bool:
    """True where a protocol judges by the criteria of a case's scenario, so that it needs one.

    >>> needs_scenario(load_protocol("pairwise-criteria")), needs_scenario(load_protocol("single"))
    (True, False)
    """
    return is_by_criteria(protocol)


def needs_reference(protocol: JudgeProtocol) -> bool:
    """True where a protocol shows a case's reference answer, so that it needs one.

    >>> needs_reference(load_protocol("single-reference")), needs_reference(load_protocol("single"))
    (True, False)
    """
    return is_by_reference(protocol) and protocol.needs_reference


def by_scenarios(protocol: JudgeProtocol, library: Library) -> JudgeProtocol:
    """The protocol with other scenarios than ours; unchanged where it uses none."""
    if is_by_menu(protocol):
        return protocol.with_menu(library)
    return protocol.with_library(library) if is_by_criteria(protocol) else protocol


def reader_for(protocol: JudgeProtocol, case: Case) -> JudgeProtocol:
    """The protocol that reads the answers about a case: the same, unless reading depends on it."""
    return protocol.for_case(case) if is_by_case(protocol) else protocol
