"""Prompts: a list of ours, and one with what a judge would read."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.protocols import NOT_SHOWN, OwnProtocol, needs_reference, needs_scenario
from autoj.protocols.base import JudgeProtocol, RequestBody
from autoj.records import Case, Response
from autoj.reports import render
from autoj.reports.text import visible_text

_KINDS = {"pair": "pairwise", "response": "single"}
_EXAMPLE = Case(
    id="example",
    query="What is the boiling point of water at sea level?",
    cluster="example",
    scenario="others",
    reference="100 °C (212 °F).",
    responses=(Response(text="100 °C."), Response(text="About 90 °C, {query}")),
    critiques=("Right.", "Short."),
)
"""Its braces show that texts are not read as templates."""


def prompts_table(protocols: Iterable[JudgeProtocol]) -> render.Listing:
    """The protocols with their kinds, and whether they can be written as a file."""
    columns = map(render.Column.prose, ("answer", "as a file"))
    listing = render.Listing(render.Column.word("name"), render.Column.word("kind"), *columns)
    for protocol in protocols:
        reason = NOT_SHOWN.get(protocol.name)
        listing.add(
            protocol.name, _kind(protocol), _answer(protocol), f"no: {reason}" if reason else "yes"
        )
    return listing


def outline_record(protocol: JudgeProtocol) -> dict[str, Any]:
    """A protocol as plain values."""
    return {
        "name": protocol.name,
        "kind": _kind(protocol),
        "language": protocol.language,
        "gives_probabilities": protocol.gives_probabilities,
        "needs_reference": needs_reference(protocol),
        "needs_scenario": needs_scenario(protocol),
        "no_file_because": NOT_SHOWN.get(protocol.name),
    }


def prompt_view(protocol: JudgeProtocol) -> RenderableType:
    """A prompt of a user's own: its facts, and the messages about an example."""
    body = _example_body(protocol)
    facts = [
        ("name", protocol.name),
        ("kind", _kind(protocol)),
        ("answer", _answer(protocol)),
        ("rows need", ", ".join(_needs(protocol)) or None),
        ("opens with", body.prefix),
        ("choices", None if body.choices is None else ", ".join(map(repr, body.choices))),
    ]
    parts: list[RenderableType] = [render.facts((name, said) for name, said in facts if said)]
    for message in body.messages:
        parts += [Text(), Text(f"{message.role}, of an example:", style="bold")]
        parts.append(visible_text(message.content))
    return Group(*parts)


def prompt_record(protocol: JudgeProtocol) -> dict[str, Any]:
    """The same as plain values."""
    return outline_record(protocol) | {"example": asdict(_example_body(protocol))}


def _example_body(protocol: JudgeProtocol) -> RequestBody:
    if protocol.subject == "query":
        return protocol.build(_EXAMPLE, ())
    return protocol.build(_EXAMPLE, (0,) if protocol.reads_alone else (0, 1))


def _kind(protocol: JudgeProtocol) -> str:
    return _KINDS.get(protocol.subject, protocol.subject)


def _needs(protocol: JudgeProtocol) -> list[str]:
    wanted = {"a reference": needs_reference(protocol), "a scenario": needs_scenario(protocol)}
    return [name for name, needed in wanted.items() if needed]


def _answer(protocol: JudgeProtocol) -> str:
    if _example_body(protocol).messages[-1].role == "assistant":
        return "a score"
    ways = "scored choices" if protocol.gives_probabilities else "a text"
    if isinstance(protocol, OwnProtocol) and protocol.scale_note is not None:
        ways += f"; {protocol.scale_note}"
    return ways
