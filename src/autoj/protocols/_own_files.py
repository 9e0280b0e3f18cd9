"""Makes protocols of prompts' files, and finds the shipped protocols that they read as."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from autoj.errors import DataError, UnknownComponent
from autoj.prompts import Prompt, read_prompt
from autoj.prompts.answers import Choices, Like
from autoj.protocols._own import OwnCriteriaProtocol, OwnProtocol
from autoj.protocols._shipped import load_shipped, protocol_names
from autoj.protocols.base import JudgeProtocol, RequestBody, is_by_case
from autoj.records import Case, Response

_ANY = Case(
    id="any", query="", cluster="", scenario="others", reference="",
    responses=(Response(text=""), Response(text="")),
)  # fmt: skip


@lru_cache(maxsize=256)
def protocol_from(text: str, path: Path) -> OwnProtocol:
    """The protocol of a prompt's file.

    Args:
        text: the file's text, as `prompts.read_text` gives it.
        path: the file, for messages.

    Raises:
        DataError: the file is no prompt, has a shipped protocol's name, or reads as one that does
            not fit.
    """
    prompt = read_prompt(text, path)
    if prompt.name in protocol_names():
        raise DataError(
            f"{prompt.name!r} is the name of a protocol of autoj, which stays as it is",
            path=path,
            field="name",
            hint=f"Choose another, such as my-{prompt.name}.",
        )
    like, forced = None, RequestBody(messages=())
    match prompt.answer:
        case Like(protocol=name):
            like, forced = _liked(prompt, name, path)
        case Choices(choices=choices, prefix=prefix):
            offered = tuple(choice for choice, _ in choices)
            forced = RequestBody(messages=(), prefix=prefix, choices=offered)
    made = OwnCriteriaProtocol if prompt.placeholders & {"criteria", "scenario"} else OwnProtocol
    return made(prompt=prompt, source=text, like=like, forced=forced)


def _liked(prompt: Prompt, name: str, path: Path) -> tuple[JudgeProtocol, RequestBody]:
    """The shipped protocol that a prompt reads as, and what that forces and scores."""
    if name not in protocol_names():
        unknown = UnknownComponent("protocol", name, protocol_names())
        raise DataError(unknown.message, path=path, field="answer.like", hint=unknown.hint)
    like = load_shipped(name)
    alone = prompt.kind == "single"
    wanted = "response" if alone else "pair"
    if like.subject != wanted or like.reads_alone != alone or is_by_case(like):
        raise DataError(
            f"the answer to a {prompt.kind} prompt cannot be read as that to {name!r}",
            path=path,
            field="answer.like",
            hint="autoj prompts list names the protocols of each kind.",
        )
    body = like.build(_ANY, (0,) if alone else (0, 1))
    if body.messages[-1].role == "assistant":
        raise DataError(f"{name!r} writes no answer", path=path, field="answer.like")
    return like, replace(body, messages=())
