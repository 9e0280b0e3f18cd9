"""Bodies of chat completions: messages whose marks of turns are broken up, and forced openings.

A chat server renders the turns itself. If it can continue an unfinished turn of the assistant
(`scoring: prefill`), an opening is forced that way. If not, the judge is asked in words to continue
from the opening, or to write a choice and nothing else.
"""

import re
from typing import Any

from autoj.backends._control import family_marks_broken_up
from autoj.backends.openai.scoring import short_names
from autoj.backends.openai.settings import Settings
from autoj.records import Request

_CHINESE = re.compile("[\u4e00-\u9fff]")
# Room for a judge that repeats the opening before it states its choice.
_ASKED_TOKENS = 16
# Room for a choice whose characters are several tokens each.
_FORCED_TOKENS = 8

_CHOOSE = {
    "en": (
        "\n\nWrite no critique now. State your verdict alone, as the end of this line:\n"
        "{prefix}…\nIt can end in {choices}. Write {names} for these, one of them and nothing else."
    ),
    "zh": (
        "\n\n现在不要写评论，只给出结论，即补全下面这一行：\n{prefix}……\n"
        "可选的结尾是{choices}。请对应地只写{names}中的一个，不要写任何其他内容。"
    ),
}
_OPEN = {
    "en": "\n\nBegin your answer with exactly these words and go on from them:\n{prefix}",
    "zh": "\n\n请以下面的文字原样开头，并接着往下写：\n{prefix}",
}
_JOINTS = {"en": (", ", " or "), "zh": ("、", "或")}


def body_of(request: Request, model: str, settings: Settings, begun: str = "") -> dict[str, Any]:
    """Builds the body of a chat completion.

    Args:
        request: the request.
        model: the server's name for the model.
        settings: the settings of the server.
        begun: the beginning of the answer, after the prefix; for servers that prefill.
    """
    messages = [
        {"role": turn.role, "content": family_marks_broken_up(turn.content)}
        for turn in request.messages
    ]
    body = {**settings.extra_body, "model": model, "messages": messages}
    if request.prefix is not None and settings.scoring == "prefill":
        messages.append({"role": "assistant", "content": request.prefix + begun})
        body |= {"continue_final_message": True, "add_generation_prompt": False}
    elif request.prefix is not None:
        messages[-1] = {"role": "user", "content": _asked_in_words(request)}
    if request.choices is not None:
        body |= {"logprobs": True, "top_logprobs": settings.top_logprobs, "temperature": 0.0}
        body[settings.max_tokens_parameter] = (
            _FORCED_TOKENS if settings.scoring == "prefill" else _ASKED_TOKENS
        )
    else:
        body |= _decoding(request, settings)
    return {name: value for name, value in body.items() if name not in settings.omit}


def _decoding(request: Request, settings: Settings) -> dict[str, Any]:
    """The decoding parameters; defaults of servers are left out."""
    decoding = request.decoding
    body: dict[str, Any] = {
        "temperature": decoding.temperature,
        settings.max_tokens_parameter: decoding.max_tokens,
    }
    if decoding.top_p != 1:
        body["top_p"] = decoding.top_p
    if decoding.temperature > 0:
        body["seed"] = decoding.seed + request.sample
    if settings.text_logprobs:
        body["logprobs"] = True
    if request.stop:
        body["stop"] = list(request.stop)
    if decoding.repetition_penalty != 1 and settings.repetition_penalty is not None:
        body[settings.repetition_penalty] = decoding.repetition_penalty
    return body


def _asked_in_words(request: Request) -> str:
    last = family_marks_broken_up(request.messages[-1].content)
    prefix = request.prefix or ""
    language = "zh" if _CHINESE.search(prefix) else "en"
    if request.choices is None:
        return last + _OPEN[language].format(prefix=prefix)
    choices = [f'"{choice.strip()}"' for choice in request.choices]
    return last + _CHOOSE[language].format(
        prefix=prefix,
        choices=_listed(choices, language),
        names=_listed(list(short_names(request.choices)), language),
    )


def _listed(names: list[str], language: str) -> str:
    joint, last_joint = _JOINTS[language]
    return joint.join(names[:-1]) + last_joint + names[-1]


def without_opening(text: str, request: Request) -> str:
    """Removes the forced opening and all from the first stop string on.

    Args:
        text: an answer, which may repeat an opening that was asked for in words.
        request: its request.
    """
    if request.prefix is not None and text.lstrip().startswith(request.prefix):
        text = text.lstrip()[len(request.prefix) :]
    cuts = [place for string in request.stop if (place := text.find(string)) >= 0]
    return text[: min(cuts)] if cuts else text
