"""Brings a teacher's judgment of a pair into the layout of Table 18, by rules.

A teacher writes what it likes: headings, lists with and without numbers, tables, JSON, prose. From
all of these come named factors that tell the responses apart; the decision, which the run has
read, stands at the end. What names neither response, or praises both alike, is left out.

**Source:** paper, section 3.3: "we reformat the raw GPT-4 output with heuristic rules"; the rules
are not published, and these are ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from autoj import critiques
from autoj.critiques import Factor, PairCritique
from autoj.records import Shown

_MOST_FACTORS = 12
_UNNAMED = {"en": "overall", "zh": "整体"}

_ASSESSMENT = re.compile(
    r"^[ \t*_#>]{0,8}\[assessment\][ \t*_:]{0,8}$", re.IGNORECASE | re.MULTILINE
)
_FENCE = re.compile(r"\A\s*```[a-z]*\n(?P<inside>.*?)\n```\s*\Z", re.DOTALL | re.IGNORECASE)

# Other names of the two responses, as (pattern, what comes before the number).
_ORDINALS = {
    "1": "1", "2": "2", "a": "1", "b": "2", "one": "1", "two": "2", "first": "1", "second": "2",
    "一": "1", "二": "2",
}  # fmt: skip
_NOUN = r"(?:response|answer|assistant|reply|output)"
_NAMES = (
    re.compile(rf"\b(?:the |The )?(?P<which>first|second) {_NOUN}(?![a-z])", re.IGNORECASE),
    re.compile(
        rf"\b(?:AI )?{_NOUN} ?#?\(?(?P<which>1|2|one|two|A|B)\)?(?![\w.]?[\w])", re.IGNORECASE
    ),
)
_NAMES_ZH = (
    re.compile(r"第(?P<which>一|二)个?(?:回应|回答|回复|答案|助手)"),
    # "回答一个问题" answers a question, and names nothing.
    re.compile(
        r"(?:回应|回答|回复|答案|助手)\s*"
        r"(?P<which>[12]|[一二](?![个下些种次点般样直定系旦起切条句道段位者])|[AB](?![A-Za-z]))"
    ),
)
_EITHER = re.compile(r"\bResponses? [12]\b|回应[12]")
_ALIKE = re.compile(r"\b(?:both|neither|equally|similar|the same)\b|都|两者|同样", re.IGNORECASE)

# No two neighbours of these may match the same spaces: a teacher's long gap would take hours.
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(?P<name>\S.*)$")
_BOLD_LINE = re.compile(r"^\s*\*\*(?P<name>[^*\n]{1,80})\*\*\s*(?:[:：]\s*)?$")
_COLON_LINE = re.compile(r"^\s*(?P<name>[^:：.。\n]{1,60})[:：]\s*$")
_ITEM = re.compile(
    r"^(?P<indent>\s*)(?:[-*•‣▪–](?=\s)|\(?[0-9]{1,2}[.)、）](?![0-9])|\(?[a-z][.)](?=\s)|[①-⑳])"
    r"\s*(?P<text>\S.*)$"
)
_NAMED = re.compile(
    r"^(?:\*\*|__)?(?P<name>[^:：*_\n]{1,80}?)(?:\*\*|__)?\s*"
    r"(?:[:：]\s*(?:\*\*|__)?|\s[—–-]\s)\s*(?P<text>\S.*)$",
    re.DOTALL,
)
_BOLD_NAMED = re.compile(
    r"^(?:\*\*|__)(?P<name>[^*_\n]{1,80}?)[:：.]?(?:\*\*|__)\s*[:：—–-]?\s*(?P<text>\S.*)$",
    re.DOTALL,
)
_GENERIC = re.compile(
    r"\b(?:factors?|criteri\w+|comparison|compar\w+|assess\w*|analysis|conclusion|decision|verdict|"
    r"summary|evaluation|judge?ment|review|overall|differences?|considerations?|points?)\b"
    r"|因素|标准|比较|分析|结论|决定|总结|评估",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"(?:so,?\s+)?(?:the\s+|my\s+)?final\s+decision(?:\s+statement)?\s*(?:is\b|:)|最终(?:的)?(?:决定|判断|决策)\s*(?:是|为|[:：])",
    re.IGNORECASE,
)
_AFTER_DECISION = re.compile(
    r"[\s*_\"'“”\[\](){}:：]*(?:that\s+)?(?:(?:response|回应|回答|回复)\s*#?[12]|(?:a\s+)?tie\b|平局)"
    r"[*_\"'“”\])\s]*(?:is better|更好)?[.。]?[*_\"'”]*\s*",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\*\*|__|`(?=[^`]*`)|(?<=[^`])`")
_TABLE_ROW = re.compile(r"^\s*\|(?P<cells>.+)\|\s*$")
_TABLE_RULE = re.compile(r"^\s*\|[\s|:-]+\|\s*$")


class NotReformattable(Exception):
    """A text that cannot be brought into the layout; its message is the reason."""


def reformat(text: str, decision: Shown) -> PairCritique:
    r"""Brings a judgment into the layout of Table 18.

    Args:
        text: the teacher's completion.
        decision: the decision that was read from it.

    Returns:
        A critique that `critiques.parse` reads back from what `critiques.render` writes.

    Raises:
        NotReformattable: it has no factor that tells the responses apart.

    >>> found = reformat("**Depth**: The first response explains why; Answer B does not.\n\n"
    ...                  "So, the final decision is Response 1.", "1")
    >>> found.factors[0].explanation
    'Response 1 explains why; Response 2 does not.'
    """
    assessed = _assessment(text)
    known = critiques.parse(assessed)
    language: critiques.Language = "zh" if _is_chinese(assessed) else "en"
    if known is not None:
        factors, remark = list(known.factors), known.remark
    else:
        body, remark = _without_decision(name_responses(assessed, language))
        factors = _merged(_factors(body, language))
    telling = [factor for factor in factors if _tells_apart(factor)]
    if not telling:
        raise NotReformattable(
            "no factor names a response" if factors else "it gives no reason for its decision"
        )
    made = PairCritique(
        factors=tuple(telling[:_MOST_FACTORS]),
        decision=decision,
        remark=_flat(remark),
        language=language,
    )
    read_back = critiques.parse(critiques.render(made))
    if read_back != made:
        raise NotReformattable("its words cannot be told from the layout's own")
    return made


def _assessment(text: str) -> str:
    """The text after the teacher's own answer, out of a fence around all of it."""
    marks = list(_ASSESSMENT.finditer(text))
    after = text[marks[-1].end() :] if marks else text
    fenced = _FENCE.match(after)
    return (fenced["inside"] if fenced else after).replace("\r\n", "\n").strip()


def _is_chinese(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    n_chinese = sum("\u3400" <= character <= "\u9fff" for character in letters)
    return n_chinese > 0.3 * max(1, len(letters))


def name_responses(text: str, language: critiques.Language) -> str:
    """Calls the responses "Response 1" and "Response 2" (or their Chinese names) throughout."""
    for pattern in _NAMES:
        text = pattern.sub(lambda found: f"Response {_ORDINALS[found['which'].lower()]}", text)
    if language == "zh":
        for pattern in _NAMES_ZH:
            text = pattern.sub(lambda found: f"回应{_ORDINALS[found['which'].lower()]}", text)
    return text


def _without_decision(text: str) -> tuple[str, str]:
    """Splits a text into what is not the decision, and the remark after the last decision."""
    kept: list[str] = []
    remark = ""
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:So,|所以))", text):
        found = list(_DECISION.finditer(paragraph))
        if not found:
            kept.append(paragraph)
            continue
        before, after = paragraph[: found[0].start()], paragraph[found[-1].end() :]
        stated = _AFTER_DECISION.match(after)
        remark = after[stated.end() :] if stated else ""
        kept.append(before)
    return "\n\n".join(kept), remark


@dataclass(slots=True)
class _Part:
    """A factor while its lines are read."""

    name: str
    lines: list[str]
    indent: int


def _factors(text: str, language: critiques.Language) -> Iterator[Factor]:
    """The factors of a text without its decision."""
    if (value := _json_of(text)) is not None:
        yield from _json_factors(value, "", language)
        return
    heading = ""
    part: _Part | None = None
    header: list[str] = []
    for line in [*text.split("\n"), ""]:
        if (row := _TABLE_ROW.match(line)) is not None:
            cells = [_flat(cell) for cell in row["cells"].split("|")]
            if _TABLE_RULE.match(line):
                continue
            if not header:
                header = cells
            elif (made := _row_factor(header, cells)) is not None:
                yield made
            continue
        header = []
        title = _title(line)
        item = None if title is not None else _ITEM.match(line)
        if part is not None and item is not None and len(item["indent"]) > part.indent:
            part.lines.append(item["text"])
        elif title is None and item is None and line.strip() and part is not None:
            part.lines.append(line.strip())
        elif title is not None or item is not None or not line.strip():
            if not line.strip() and part is not None and part.name and not part.lines:
                continue
            if part is not None:
                yield from _finished(part, heading, language)
                part = None
            if title is not None:
                heading = title
            elif item is not None:
                part = _begun(item["text"], len(item["indent"]))
        else:
            part = _begun(line.strip(), 0)
    if part is not None:
        yield from _finished(part, heading, language)


def _title(line: str) -> str | None:
    """The title that a line is; None for another line."""
    bare = line.strip()
    numbered = re.sub(r"^\(?[0-9]{1,2}[.)、]\s*", "", bare)
    for pattern in (_HEADING, _BOLD_LINE, _COLON_LINE):
        found = pattern.match(line) or pattern.match(numbered)
        if found is not None:
            return re.sub(r"^\(?[0-9]{1,2}[.)、]\s*", "", _flat(found["name"]).rstrip("# ")).rstrip(
                ":："
            )
    return None


def _begun(text: str, indent: int) -> _Part:
    named = _BOLD_NAMED.match(text) or _NAMED.match(text)
    if named is None or len(named["name"].split()) > 8:
        return _Part("", [text], indent)
    return _Part(_flat(named["name"]), [named["text"]], indent)


def _finished(part: _Part, heading: str, language: critiques.Language) -> Iterator[Factor]:
    lines = [line for line in part.lines if line.strip()]
    if not lines:
        return
    text = _flat(" ".join(_BULLET.sub("", line) for line in lines))
    name = part.name
    if _EITHER.search(name):
        text, name = f"{name}: {text}", ""
    if not name and heading and not _GENERIC.search(heading) and not _EITHER.search(heading):
        name = heading
    if not name and _EITHER.fullmatch(heading) and not _EITHER.search(text):
        text = f"{heading}: {text}"
    if name and _GENERIC.search(name) and not heading:
        name = name if len(name.split()) > 2 else _UNNAMED[language]
    yield Factor(name=name.replace(":", " ").strip() or _UNNAMED[language], explanation=text)


def _merged(factors: Iterator[Factor]) -> list[Factor]:
    """Joins neighbours of one name: what a teacher lists under one heading is one factor."""
    joined: list[Factor] = []
    for factor in factors:
        if joined and joined[-1].name == factor.name:
            before = joined.pop().explanation
            gap = " " if before.endswith((".", "!", "?", "。", "！", "？")) else "; "
            factor = replace(factor, explanation=f"{before}{gap}{factor.explanation}")
        joined.append(factor)
    return joined


_BULLET = re.compile(r"^\s*(?:[-*•‣▪–]|\(?[0-9]{1,2}[.)、](?![0-9])|\(?[a-z][.)](?=\s))\s+")


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


def _json_of(text: str) -> Any | None:
    """The JSON object or list that a text is or holds; None where there is none."""
    start = min((at for at in (text.find("{"), text.find("[{")) if at >= 0), default=-1)
    if start < 0 or start > 200:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and value else None


_NAME_KEYS = ("name", "factor", "criterion", "aspect", "title")
_TEXT_KEYS = ("explanation", "reason", "comparison", "analysis", "comment", "description", "text")


def _json_factors(value: Any, name: str, language: critiques.Language) -> Iterator[Factor]:
    match value:
        case str() if value.strip():
            generic = _GENERIC.search(name) and len(name.split()) < 3
            called = _UNNAMED[language] if not name or generic else name
            yield Factor(name=_flat(called).replace(":", " "), explanation=_flat(value))
        case dict():
            titles = [value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)]
            texts = [value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)]
            if titles and texts:
                yield from _json_factors(texts[0], titles[0], language)
                return
            for key, inner in value.items():
                if "decision" in key.lower() or "winner" in key.lower():
                    continue
                called = name if key in _TEXT_KEYS and name else key.replace("_", " ")
                yield from _json_factors(inner, called, language)
        case list():
            for inner in value:
                yield from _json_factors(inner, name, language)


def _tells_apart(factor: Factor) -> bool:
    """True where a factor is about one of the responses."""
    if not factor.explanation:
        return False
    n_named = len(set(_EITHER.findall(factor.explanation)))
    return n_named > 0 and (n_named == 1 or not _only_alike(factor.explanation))


def _only_alike(text: str) -> bool:
    """True for a single sentence that says the same of both."""
    n_sentences = len([part for part in re.split(r"[.!?。！？]\s*", text) if part.strip()])
    return (
        n_sentences == 1
        and _ALIKE.search(text) is not None
        and not re.search(
            r"\b(?:but|while|whereas|however|more|less|better|worse)\b|但|而|更",
            text,
            re.IGNORECASE,
        )
    )


def _flat(text: str) -> str:
    """A text on one line, without emphasis."""
    return " ".join(_MARKUP.sub("", text).split())
