"""The factors of a judgment that a teacher wrote: in lists, headings, tables, prose or JSON."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from autoj.construct.response_names import EITHER
from autoj.critiques import Factor, Language

# No two neighbours of these may match the same spaces: a teacher's long gap would take hours.
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(?P<name>\S.*)$")
_BOLD_LINE = re.compile(r"^\s*\*\*(?P<name>[^*\n]{1,80})\*\*\s*(?:[:：]\s*)?$")
_COLON_LINE = re.compile(r"^\s*(?P<name>[^:：.。\n]{1,60})[:：]\s*$")
_MARKER = r"(?:[-*•‣▪–](?=\s)|\(?[0-9]{1,2}[.)、）](?![0-9])|\(?[a-z][.)](?=\s)|[①-⑳])"
_ITEM = re.compile(rf"^(?P<indent>\s*){_MARKER}\s*(?P<text>\S.*)$")
_NAMED = re.compile(
    r"^(?:\*\*|__)?(?P<name>[^:：*_\n]{1,80}?)(?:\*\*|__)?\s*"
    r"(?:[:：]\s*(?:\*\*|__)?|\s[—–-]\s)\s*(?P<text>\S.*)$",
    re.DOTALL,
)
_BOLD_NAMED = re.compile(
    r"^(?:\*\*|__)(?P<name>[^*_\n]{1,80}?)(?P<mark>[:：.]?)(?:\*\*|__)\s*(?P<after>[:：—–-]?)\s*"
    r"(?P<text>\S.*)$",
    re.DOTALL,
)
_NUMBER = re.compile(r"^\(?[0-9]{1,2}[.)、]\s*")
_BULLET = re.compile(r"^\s*(?:[-*•‣▪–]|\(?[0-9]{1,2}[.)、](?![0-9])|\(?[a-z][.)](?=\s))\s+")
_TABLE_ROW = re.compile(r"^\s*\|(?P<cells>.+)\|\s*$")
_TABLE_RULE = re.compile(r"^\s*\|[\s|:-]+\|\s*$")
_NAME_KEYS = ("name", "factor", "criterion", "aspect", "title")
_TEXT_KEYS = ("explanation", "reason", "comparison", "analysis", "comment", "description", "text")
_LATEST_START = 200
_UNNAMED: dict[Language, str] = {"en": "overall", "zh": "整体"}
_GENERIC = re.compile(
    r"\b(?:factors?|criteri\w+|comparison|compar\w+|assess\w*|analysis|conclusion|decision|verdict|"
    r"summary|evaluation|judge?ment|review|overall|differences?|considerations?|points?)\b"
    r"|因素|标准|比较|分析|结论|决定|总结|评估",
    re.IGNORECASE,
)
# "Factor 1: depth": the name is what follows.
_LABEL = re.compile(
    r"(?:key |main |distinguishing )?(?:factor|criterion|aspect|point|difference|dimension)"
    r"(?: name)?\s*#?[0-9]{0,2}",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\*\*|__|`(?=[^`]*`)|(?<=[^`])`")
_MOST_WORDS = 8
_ENDS = (".", "!", "?", ";", ":", ",", "。", "！", "？", "；", "：")


def listed_factors(text: str, language: Language) -> Iterator[Factor]:
    """The factors of a text without its decision, those of one heading one after the other."""
    reader = _ListReader(language=language)
    header: list[str] = []
    for line in [*text.split("\n"), ""]:
        if (row := _TABLE_ROW.match(line)) is None:
            header = []
            yield from reader.read(line)
            continue
        cells = [flat(cell) for cell in row["cells"].split("|")]
        if _TABLE_RULE.match(line):
            continue
        if not header:
            header = cells
        elif (made := _row_factor(header, cells)) is not None:
            yield made
    yield from reader.finish()


def json_of(text: str) -> Any | None:
    """The JSON object or list that a text is or holds; None where there is none."""
    start = min((at for at in (text.find("{"), text.find("[{")) if at >= 0), default=-1)
    if start < 0 or start > _LATEST_START:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and value else None


def json_factors(value: Any, language: Language, name: str = "") -> Iterator[Factor]:
    """The factors of a value, under the name of the key that holds it."""
    match value:
        case str() if value.strip():
            generic = is_generic(name) and len(name.split()) < 3
            called = unnamed(language) if not name or generic else name
            yield Factor(name=flat(called).replace(":", " "), explanation=flat(value))
        case dict():
            titles = [value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)]
            texts = [value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)]
            if titles and texts:
                yield from json_factors(texts[0], language, titles[0])
                return
            for key, inner in value.items():
                if "decision" in key.lower() or "winner" in key.lower():
                    continue
                called = name if key in _TEXT_KEYS and name else key.replace("_", " ")
                yield from json_factors(inner, language, called)
        case list():
            for inner in value:
                yield from json_factors(inner, language, name)


def unnamed(language: Language) -> str:
    """The name of a factor that has none."""
    return _UNNAMED[language]


def is_generic(name: str) -> bool:
    """True for a heading such as "Key differences", which is no factor's name."""
    return _GENERIC.search(name) is not None


def is_label(name: str) -> bool:
    """True for a word that announces a factor, such as "Factor 2"."""
    return _LABEL.fullmatch(name) is not None


def is_name(text: str) -> bool:
    """True for a text that can be the name of a factor: a few words and no sentence."""
    return len(text.split()) <= _MOST_WORDS and not text.endswith((".", "!", "?", "。"))


def flat(text: str) -> str:
    """A text on one line, without emphasis."""
    return " ".join(_MARKUP.sub("", text).split())


def joined(texts: Iterable[str]) -> str:
    """Texts one behind the other, with a semicolon where one ends without a mark."""
    whole = ""
    for text in texts:
        gap = " " if not whole or whole.endswith(_ENDS) else "; "
        whole += (gap if whole else "") + text
    return whole


@dataclass(slots=True)
class _Part:
    """A factor while its lines are read."""

    name: str
    lines: list[str]
    indent: int


@dataclass(slots=True, kw_only=True)
class _ListReader:
    """Reads lines one after the other; a factor is ready when the next one begins."""

    language: Language
    heading: str = ""
    part: _Part | None = None
    is_told: bool = False
    """True where the response that the heading names was put before a text."""

    def read(self, line: str) -> Iterator[Factor]:
        """Takes a line, and yields the factor that it ends."""
        title = _title(line)
        item = None if title is not None else _ITEM.match(line)
        if self.part is not None:
            if item is not None and len(item["indent"]) > self.part.indent:
                self.part.lines.append(item["text"])
                return
            if title is None and item is None and line.strip():
                self.part.lines[-1] += f" {line.strip()}"
                return
        yield from self.finish()
        if title is not None:
            self.heading, self.is_told = title, False
        elif item is not None:
            self.part = _begun(item["text"], len(item["indent"]))
        elif line.strip():
            self.part = _begun(line.strip(), 0)

    def finish(self) -> Iterator[Factor]:
        """Yields the factor that is being read; a name alone becomes the heading of the next."""
        part, self.part = self.part, None
        if part is None:
            return
        lines = [bare for line in part.lines if (bare := flat(_BULLET.sub("", line)))]
        name = part.name
        if name and is_label(name) and lines:
            name = ""
            if is_name(lines[0]) and not EITHER.search(lines[0]):
                name, lines = lines[0].rstrip(":："), lines[1:]
                if not lines:
                    self.heading, self.is_told = name, False
        if lines:
            yield self._made(name, joined(lines))

    def _made(self, name: str, text: str) -> Factor:
        heading = self.heading
        if EITHER.search(name):
            text, name = text if text.startswith(name) else f"{name}: {text}", ""
        if EITHER.search(heading):
            text = self._told(text, is_named=bool(name))
        elif not name and heading and not is_generic(heading):
            name = heading
        if name and is_generic(name) and not heading and len(name.split()) < 3:
            name = ""
        name = name.replace(":", " ").strip()
        return Factor(name=name or unnamed(self.language), explanation=text)

    def _told(self, text: str, *, is_named: bool) -> str:
        """A text under the heading of one response, with that name where it lacks one."""
        is_about_one = len(set(EITHER.findall(self.heading))) == 1
        if EITHER.search(text) or not is_about_one or (self.is_told and not is_named):
            return text
        self.is_told = True
        return f"{self.heading}: {text}"


def _title(line: str) -> str | None:
    """The title that a line is; None for another line."""
    # "- **Tone**:" with nothing behind it is a title, too.
    bare = _BULLET.sub("", line, count=1)
    for pattern in (_HEADING, _BOLD_LINE, _COLON_LINE):
        found = pattern.match(line) or pattern.match(bare)
        if found is not None:
            name = flat(found["name"]).rstrip("# ")
            return _NUMBER.sub("", _BULLET.sub("", name)).rstrip(":：")
    return None


def _begun(text: str, indent: int) -> _Part:
    named = _BOLD_NAMED.match(text)
    if named is not None and EITHER.search(named["name"]):
        # "**Response 1** is clear" is a sentence; "**Response 1**: clear" has a name.
        named = named if named["mark"] or named["after"] else None
    elif named is None:
        named = _NAMED.match(text)
    if named is None or len(named["name"].split()) > 8:
        return _Part("", [text], indent)
    return _Part(flat(named["name"]), [named["text"]], indent)


def _row_factor(header: list[str], cells: list[str]) -> Factor | None:
    """The factor of a table's row, with the columns' headings before its cells."""
    if len(cells) != len(header) or len(cells) < 2 or not cells[0]:
        return None
    told = [
        f"{title}: {cell.rstrip('.')}"
        for title, cell in zip(header[1:], cells[1:], strict=True)
        if cell
    ]
    if not told:
        return None
    return Factor(name=cells[0].replace(":", " "), explanation="; ".join(told) + ".")
