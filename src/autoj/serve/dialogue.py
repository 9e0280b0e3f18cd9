"""Finds the query and the response in a trainer's text, which has the marks of a chat template.

A trainer sends a prompt and its continuation decoded with special tokens. The response is what the
policy wrote, and may hold the same marks: so it is cut out after the prompt, and never after the
last mark that is found.
"""

import re
from dataclasses import dataclass

from autoj.serve.problems import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    """The marks of one family of chat templates."""

    user: re.Pattern[str]
    """A user's turn; group 1 is its text. One that is not closed ends with the text, so that many
    of them are read in one pass."""
    opening: str
    """Opens the model's answer."""
    ends: tuple[str, ...]
    """End the model's answer."""


_FORMATS = (
    _Format(
        user=re.compile(r"<\|im_start\|>user\n(.*?)(?:<\|im_end\|>|\Z)", re.DOTALL),
        opening="<|im_start|>assistant\n",
        ends=("<|im_end|>", "<|endoftext|>"),
    ),
    _Format(
        user=re.compile(
            r"<\|start_header_id\|>user<\|end_header_id\|>\n\n(.*?)(?:<\|eot_id\|>|\Z)", re.DOTALL
        ),
        opening="<|start_header_id|>assistant<|end_header_id|>\n\n",
        ends=("<|eot_id|>", "<|end_of_text|>"),
    ),
    _Format(
        user=re.compile(r"<start_of_turn>user\n(.*?)(?:<end_of_turn>|\Z)", re.DOTALL),
        opening="<start_of_turn>model\n",
        ends=("<end_of_turn>", "<eos>"),
    ),
    _Format(
        user=re.compile(
            r"\[INST\](?:\s*<<SYS>>(?:(?!\[/INST\]).)*?<</SYS>>)?(.*?)(?:\[/INST\]|\Z)", re.DOTALL
        ),
        opening="[/INST]",
        ends=("</s>",),
    ),
)
_PADDING = ("<pad>", "<|pad|>", "<|endoftext|>", "[PAD]", "<|finetune_right_pad_id|>")
_BEGINNING = ("<s>", "<bos>", "<|begin_of_text|>")


def cut_response(text: str, prompt: str | None, field: str) -> tuple[str, str]:
    r"""The query and the response of a prompt with its continuation.

    Args:
        text: both, decoded with special tokens.
        prompt: the prompt alone, with or without special tokens; None where it is not sent.
        field: the field of the text, for the message.

    Raises:
        Problem: the place where the response begins is not certain.

    >>> chat = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    >>> cut_response(chat + "Hello!<|im_end|>", chat, "query.0")
    ('Hi', 'Hello!')
    """
    text = _without_start(text)
    if prompt is not None and prompt.strip():
        given = _without_start(prompt)
        if text.startswith(given):
            asked = next((its for its in _FORMATS if its.opening in given), None)
            return _query(given, asked), _response(text[len(given) :], asked)
    # A mark of another family may be the policy's: there must be one in all.
    found = [its for its in _FORMATS if its.opening in text]
    if len(found) != 1 or text.count(found[0].opening) != 1:
        raise Problem(
            status=422,
            field=field,
            detail=f"{field}: it is not certain where the response begins; send the prompt that "
            "the text begins with in `prompts`",
        )
    used = found[0]
    before, _, after = text.partition(used.opening)
    return _query(before + used.opening, used), _response(after, used)


def _without_start(text: str) -> str:
    for mark in (*_PADDING, *_BEGINNING):
        while text.startswith(mark):
            text = text[len(mark) :]
    return text


def _query(prompt: str, used: _Format | None) -> str:
    turns = [] if used is None else used.user.findall(prompt)
    return (turns[-1] if turns else prompt).strip()


def _response(text: str, used: _Format | None) -> str:
    """The text without the marks that end it; marks inside it are the policy's, and stay."""
    ends = (*_PADDING, *(() if used is None else used.ends), "</s>")
    text = text.strip()
    while found := next((mark for mark in ends if text.endswith(mark)), None):
        text = text[: -len(found)].rstrip()
    return text
