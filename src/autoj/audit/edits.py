"""Format edits that keep a response's content, so that any preference is for the format.

Each edit is a pure function of the text. Code blocks, tables and headings stay as they are, byte
for byte; a text that an edit cannot be applied to gives `NoEdit` with the reason.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from autoj.critiques import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class NoEdit:
    """A text that an edit cannot be applied to."""

    reason: str


Edit: TypeAlias = Callable[[str], str]

_Kind: TypeAlias = Literal["prose", "item", "code", "other"]
"""Running text; an item of a list; code; a blank line, a table, a heading and the like."""

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
_INDENTED = re.compile(r"(?: {4}|\t)")
_ITEM = re.compile(r"(?:\s{0,12}(?:[-*+•·–]|\d{1,3}[.)、．])|\s{0,3}[A-Za-z][.)])\s+|\d{1,3}[、．]")
_OTHER = re.compile(r"\s*(?:#{1,6}\s|>|\||<|\$\$|\\\[|={3,}|-{3,}|\*{3,}|\[\^?[^\]\n]{1,40}\]:)")


def _lines(text: str) -> list[tuple[str, _Kind]]:
    """The lines of a text, each with its kind; a code block that is not closed goes on to the end.

    Only line feeds end a line: what else may look like one stays inside its line.
    """
    found: list[tuple[str, _Kind]] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark["mark"].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            found.append((line, "code"))
        elif mark:
            fence = mark["mark"]
            found.append((line, "code"))
        else:
            found.append((line, _kind(line)))
    return found


def _kind(line: str) -> _Kind:
    if not any(character.isalnum() for character in line):
        return "other"
    if _ITEM.match(line):
        return "item"
    if _INDENTED.match(line):
        return "code"
    return "other" if _OTHER.match(line) else "prose"


# Latin stops need a space after them; full-width ones end a sentence wherever they stand.
_STOP = re.compile(
    r"[.!?…]{1,8}[\"'”’)\]*_]{0,4}(?=\s)|[。！？]{1,8}[\"'”’」』）)\]*_]{0,4}(?=.)", re.DOTALL
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|cf|al|e\.g|i\.e|approx|Inc|Ltd|Fig)|"
    r"(?:^|[\s(])(?:[A-Za-z]|\d{1,3}))\.\Z",
    re.IGNORECASE,
)
_INLINE_CODE = re.compile(r"`[^`]{1,2000}`")


def _sentences(line: str) -> list[tuple[int, int]]:
    """The spans of a line's sentences, without the marker of a list item."""
    marker = _ITEM.match(line)
    start = marker.end() if marker else 0
    code = [found.span() for found in _INLINE_CODE.finditer(line)]
    cuts = [
        found.end()
        for found in _STOP.finditer(line, start)
        if not any(low < found.end() < high for low, high in code)
        and not _goes_on(line, found.end())
    ]
    spans = zip([start, *cuts], [*cuts, len(line)], strict=True)
    return [span for low, high in spans if (span := _trimmed(line, low, high)) is not None]


def _goes_on(line: str, end: int) -> bool:
    """True where a stop belongs to an abbreviation, or no sentence begins after it."""
    if _ABBREVIATION.search(line, max(0, end - 12), end):
        return True
    following = line[end : end + 40].lstrip()[:1]
    return following.islower()


def _trimmed(line: str, low: int, high: int) -> tuple[int, int] | None:
    piece = line[low:high]
    if not any(character.isalnum() for character in piece):
        return None
    return low + len(piece) - len(piece.lstrip()), low + len(piece.rstrip())


def text_language(text: str) -> Language:
    """The language of a text, English or Chinese: Chinese where a fifth of it is Han.

    >>> text_language("你好, world")
    'zh'
    """
    letters = [character for character in text if character.isalpha()]
    n_han = sum("\u4e00" <= character <= "\u9fff" for character in letters)
    return "zh" if n_han * 5 > len(letters) else "en"


def _bullets(text: str) -> str:
    """Each paragraph of two sentences or more becomes a list of its sentences."""
    parts: list[str] = []
    for line, kind in _lines(text):
        spans = _sentences(line) if kind == "prose" else []
        parts += [f"- {line[low:high]}" for low, high in spans] if len(spans) > 1 else [line]
    return "\n".join(parts)


# A word of some length, or a Chinese clause, that is no part of an address or of other markup.
_PHRASE = re.compile(r"(?<![\w*$/@.:#&=\\-])[^\W\d_]{4,24}(?![\w*$/@:=\\-])")
_MARKED_UP = re.compile(r"[*`$<]|\]\(|__|://")


def _bold(text: str) -> str:
    """The longest word (or Chinese clause) of each sentence stands in bold."""
    return _rewrite(text, _bold_line)


def _bold_line(line: str) -> str:
    pieces: list[str] = []
    position = 0
    # In a line with markup, more of it could change what is there.
    for low, high in [] if _MARKED_UP.search(line) else _sentences(line):
        phrases = list(_PHRASE.finditer(line, low, high))
        if phrases:
            phrase = max(phrases, key=lambda found: found.end() - found.start())
            pieces += line[position : phrase.start()], f"**{phrase[0]}**"
            position = phrase.end()
    return "".join([*pieces, line[position:]])


_HEADING: dict[Language, str] = {"en": "## Part {}", "zh": "## 第{}部分"}


def _headings(text: str) -> str:
    """A numbered heading stands before each paragraph."""
    heading = _HEADING[text_language(text)]
    parts: list[str] = []
    number, before = 0, "other"
    for line, kind in _lines(text):
        if kind == "prose" and before != "prose":
            number += 1
            parts += [""] if parts and parts[-1].strip() else []
            parts += [heading.format(number), ""]
        parts.append(line)
        before = kind
    return "\n".join(parts)


_PADDING: dict[Language, str] = {
    "en": "I hope that this is useful to you. Please let me know if anything is unclear, or if "
    "there is something else that you would like to ask. Thank you for your question.",
    "zh": "希望以上内容对您有所帮助。如果有任何不清楚的地方，或者您还有其他想问的，请随时告诉我。"
    "感谢您的提问。",
}


def _padding(text: str) -> str:
    """Three sentences without content close the text."""
    return f"{text.rstrip()}\n\n{_PADDING[text_language(text)]}"


_EMOJI = ("✨", "👍", "😊", "✅", "🎉")


def _emoji(text: str) -> str:
    """An emoji stands after each sentence, those of lists too."""
    drawn = _forever(_EMOJI)

    def decorate(line: str) -> str:
        pieces: list[str] = []
        position = 0
        for _, high in _sentences(line):
            pieces += line[position:high], " ", next(drawn)
            position = high
        return "".join([*pieces, line[position:]])

    return _rewrite(text, decorate)


def _forever(items: tuple[str, ...]) -> Iterator[str]:
    while True:
        yield from items


def _rewrite(text: str, line_edit: Edit) -> str:
    """Edit the lines of running text and of lists, and no others."""
    return "\n".join(
        line_edit(line) if kind in ("prose", "item") else line for line, kind in _lines(text)
    )


EDITS: Mapping[str, tuple[str, Edit, str]] = {
    "bullets": ("sentences as a list", _bullets, "no paragraph has two sentences"),
    "bold": ("words in bold", _bold, "no sentence has a word to set in bold"),
    "headings": ("a heading before each paragraph", _headings, "there is no paragraph"),
    "padding": ("three empty phrases at the end", _padding, "the text is empty"),
    "emoji": ("an emoji after each sentence", _emoji, "there is no sentence"),
}
"""Each edit's description, its function, and the reason to give where it changes nothing."""


def apply_edit(name: str, text: str) -> str | NoEdit:
    r"""A text with another format and the same content.

    Args:
        name: one of `EDITS`.
        text: a response; it may hold anything.

    **Source:** biases of this kind are named by L. Zheng et al., "Judging LLM-as-a-judge" (2023),
    section 3.3 (length), and J. Park et al., "OffsetBias" (2024); the edits are our own.

    >>> print(apply_edit("bullets", "It is late. We should go."))
    - It is late.
    - We should go.
    >>> apply_edit("bullets", "Yes.")
    NoEdit(reason='no paragraph has two sentences')
    """
    _, edit, why_not = EDITS[name]
    if not text.strip():
        return NoEdit(reason="the text is empty")
    # What is added below a code block that was never closed would be code.
    if name == "padding" and _lines(text.rstrip() + "\n\n_")[-1][1] == "code":
        return NoEdit(reason="the text ends inside a code block")
    edited = edit(text)
    return NoEdit(reason=why_not) if edited == text else edited
