"""Breaks up control tokens in judged text, so that no response ends its turn or opens another.

A tokenizer turns some strings into single tokens that steer its model, wherever they stand in a
text. Judged text is data: such a string is broken up by a space after its first character, as
`autoj.chat` breaks up a wrapper's own marks. A text without one is not touched.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Normalise: TypeAlias = Callable[[str], str]

# Marks of the families of models that servers run: an engine that sends text to one does not know
# its tokenizer. DeepSeek's bars are full-width.
_FAMILIES = (
    r"<\|[^<>|\s]{1,40}\|>",  # ChatML, Llama 3, Phi, Zephyr, GLM, Granite, Command R
    r"<｜[^<>｜\n]{1,40}｜>",  # DeepSeek
    r"\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|TOOL_NAME|ARGS"
    r"|CALL_ID|THINK|IMG|IMG_BREAK|IMG_END|PREFIX|MIDDLE|SUFFIX|CONTROL_[0-9]{1,4}|gMASK|sMASK|MASK"
    r"|CLS|SEP|PAD|UNK)\]",  # Llama 2, Mistral, GLM, BERT
    r"<</?SYS>>|</?s>|<(?:unk|pad|bos|eos|mask|cls|sep|sop|eop)>",  # Llama 2, T5, GLM
    r"<(?:start|end)_of_(?:turn|image)>",  # Gemma
    r"</?think>|</?tool_(?:call|calls|response|sep)>",  # reasoning and tools: Qwen, DeepSeek
    r"<(?:fim_[a-z]{3,6}|repo_?name|file_sep|file_?name|gh_stars|issue_[a-z]{5,7}"
    r"|jupyter_[a-z]{4,6}|empty_output)>",  # StarCoder, SmolLM2
)
_FAMILY = re.compile("|".join(_FAMILIES))
# A token that its tokenizer does not call special is data where it is a word, a blank or HTML.
_SHAPED = re.compile(rf"{_FAMILY.pattern}|</?[A-Za-z]+(?:_[A-Za-z0-9]+)+>|<[|｜].*[|｜]>")


def control_tokens(tokenizer: Any) -> list[str]:
    """The strings that a tokenizer of transformers turns into tokens that steer its model.

    These are its special tokens, named or not (Llama 3 names two of 256), and the others that were
    added to its vocabulary in the shape of a mark, such as Qwen's `<tool_call>`.
    """
    added = tokenizer.added_tokens_decoder.values()
    marks = [
        str(token.content) for token in added if token.special or _SHAPED.fullmatch(token.content)
    ]
    return sorted({*map(str, tokenizer.all_special_tokens), *marks})


def is_shaped_as_a_mark(token: str) -> bool:
    """True for a string such as `<|user|>`, `[INST]` or `<tool_call>`.

    >>> [is_shaped_as_a_mark(token) for token in ("<end_of_turn>", "<table>", "[x]")]
    [True, False, False]
    """
    return _SHAPED.fullmatch(token) is not None


def any_of(marks: Iterable[str]) -> re.Pattern[str] | None:
    """Matches the first character of each mark, wherever one begins, also within another."""
    known = sorted({mark for mark in marks if len(mark) > 1 and not mark.isspace()})
    if not known:
        return None
    firsts = "".join(sorted({re.escape(mark[0]) for mark in known}))
    return re.compile(f"(?=[{firsts}])(?={'|'.join(map(re.escape, known))})(.)", re.DOTALL)


def broken_up(
    text: str, control: re.Pattern[str] | None, normalise: Normalise | None = None
) -> str:
    """A text whose control strings are broken up.

    Args:
        text: a judged text.
        control: from `any_of`.
        normalise: the tokenizer's normaliser, where it looks for tokens after it. A text that would
            become a control string by it is normalised here, and broken up then.

    >>> broken_up("<<unk>unk> is <unk>", any_of(["<unk>"]))
    '<< unk>unk> is < unk>'
    """
    if control is None:
        return text
    broken = control.sub(r"\1 ", text)
    if normalise is not None and control.search(normal := normalise(broken)) is not None:
        return control.sub(r"\1 ", normal)
    return broken


def family_marks_broken_up(text: str) -> str:
    """A text for a server's model, whose tokenizer is not known: the marks of all known families.

    >>> family_marks_broken_up("So.<|im_end|> [/INST] a[0] <b>")
    'So.< |im_end|> [ /INST] a[0] <b>'
    """
    return _ANY_FAMILY.sub(r"\1 ", text)


_ANY_FAMILY = re.compile(rf"(?=[<\[])(?={_FAMILY.pattern})(.)")


def normaliser(tokenizer: Any) -> Normalise | None:
    """A tokenizer's normaliser, where some of its control tokens are looked for after it."""
    inner = getattr(tokenizer, "backend_tokenizer", None)
    normal = getattr(inner, "normalizer", None)
    added = tokenizer.added_tokens_decoder.values()
    if normal is None or not any(token.normalized for token in added):
        return None
    normalise: Normalise = normal.normalize_str
    return normalise
