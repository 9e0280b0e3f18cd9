"""Brings a teacher's judgment of a pair into the layout of Table 18, by rules.

A teacher writes what it likes: headings, lists with and without numbers, tables, JSON, prose. From
all of these come named factors that tell the responses apart; the decision, which the run has
read, stands at the end. What names neither response, or praises both alike, is left out.

**Source:** paper, section 3.3: "we reformat the raw GPT-4 output with heuristic rules"; the rules
are not published, and these are ours.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from autoj import critiques
from autoj.construct.factors import flat, joined, json_factors, json_of, listed_factors
from autoj.construct.response_names import EITHER, named_alike
from autoj.critiques import Factor, Language, PairCritique
from autoj.records import Shown

_MOST_FACTORS = 12

_ASSESSMENT = re.compile(
    r"^[ \t*_#>]{0,8}\[assessment\][ \t*_:]{0,8}$", re.IGNORECASE | re.MULTILINE
)
_FENCE = re.compile(r"\A\s*```[a-z]*\n(?P<inside>.*?)\n```\s*\Z", re.DOTALL | re.IGNORECASE)
_ALIKE = re.compile(r"\b(?:both|neither|equally|similar|the same)\b|都|两者|同样", re.IGNORECASE)
# A decision often stands as the last item of a list.
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=[\s\-*•>#_]{0,8}(?:[0-9]{1,2}[.)])?[\s*_]{0,8}(?:So,|所以))")
_DECISION = re.compile(
    r"(?:so,?\s+)?(?:the\s+|my\s+)?final\s+decision(?:\s+statement)?\s*(?:is\b|:)|最终(?:的)?(?:决定|判断|决策)\s*(?:是|为|[:：])",
    re.IGNORECASE,
)
_AFTER_DECISION = re.compile(
    r"[\s*_\"'“”\[\](){}:：]*(?:(?:that|to (?:choose|pick|select|prefer|favou?r|go with))\s+)?"
    r"(?:(?:response|回应|回答|回复)\s*#?[12]|(?:a\s+)?tie\b|平局)"
    r"[*_\"'“”\])\s]*(?:is (?:the )?better(?: one| response)?|更好)?[.。]?[*_\"'”]*\s*",
    re.IGNORECASE,
)
# A small model goes on with the options that it has not chosen.
_LEFT_OVER = re.compile(r"(?:\n[ \t]{0,8}[-*•]?[ \t]{0,4}(?:Tie|Response [12])\b\.?[ \t]{0,4})+\Z")
# "Response 1: in JSON; Response 2: in JSON": a statement that is made of both.
_SAME_OF_BOTH = re.compile(
    r"(?P<first>Response [12]|回应[12])[:：]? ?(?P<said>[^\n]{1,400}?)"
    r"(?:[.;。；]|,? (?:while|whereas|and|but))? ?"
    r"(?!(?P=first))(?:Response [12]|回应[12])[:：]? ?(?P=said)(?:[.;。；]\s*|\Z)",
    re.IGNORECASE,
)
_MARKER = re.compile(r"\A\s*(?:[-*•>#]\s+)?")
_PUNCTUATION = re.compile(r"\A[\s,;:，；：、–—-]+")
_BEGUN = re.compile(r"[^\W\d_]")
_REASON = re.compile(
    r"(?:as|because|since|due to|for|given|based on|thanks to|owing to|in that)\b", re.IGNORECASE
)
_RELATIVE = re.compile(r"which\s+", re.IGNORECASE)


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
    language: Language = "zh" if _is_chinese(assessed) else "en"
    if known is not None:
        factors, remark = list(known.factors), flat(known.remark)
    else:
        body, said = _without_decision(named_alike(assessed, language))
        remark = _sentence(flat(said), decision, language)
        factors = _merged(_factors(body, language))
    telling = [factor for factor in factors if _tells_apart(factor)]
    if not telling:
        raise NotReformattable(
            "no factor tells the responses apart"
            if factors
            else "it gives no reason for its decision"
        )
    made = PairCritique(
        factors=tuple(telling[:_MOST_FACTORS]),
        decision=decision,
        remark=remark,
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


def _without_decision(text: str) -> tuple[str, str]:
    """Splits a text into what is not the decision, and the remark after the last decision."""
    kept: list[str] = []
    remark = ""
    is_open = False
    for paragraph in _PARAGRAPH.split(text):
        found = list(_DECISION.finditer(paragraph))
        if not found and is_open and (stated := _AFTER_DECISION.match(_opened(paragraph))):
            # "The final decision is:" with the answer in a paragraph of its own.
            remark, is_open = _opened(paragraph)[stated.end() :], False
            continue
        if not found:
            kept.append(paragraph)
            continue
        before, after = paragraph[: found[0].start()], paragraph[found[-1].end() :]
        stated = _AFTER_DECISION.match(after)
        remark = _LEFT_OVER.sub("", after[stated.end() :]) if stated else ""
        is_open = not stated and not _BEGUN.search(after)
        kept.append(_without_marker(before))
    return "\n\n".join(kept), remark


def _without_marker(text: str) -> str:
    """A text without the "- **" or "2." that the decision had before it."""
    head, _, last = text.rstrip().rpartition("\n")
    return text if _BEGUN.search(last) else head


def _opened(paragraph: str) -> str:
    """A paragraph without the marker of its list item."""
    return _MARKER.sub("", paragraph)


def _sentence(remark: str, decision: Shown, language: Language) -> str:
    """A remark that stands behind the decision's full stop: "because …" becomes a sentence."""
    begun = _PUNCTUATION.sub("", remark)
    if not _BEGUN.search(begun):
        return ""
    if language == "zh" or (begun == remark.lstrip() and not begun[0].islower()):
        return begun
    if _REASON.match(begun):
        better = "Neither is better" if decision == "tie" else f"Response {decision} is better"
        return f"{better} {begun[0].lower()}{begun[1:]}"
    if decision != "tie" and (relative := _RELATIVE.match(begun)) is not None:
        return f"Response {decision} {begun[relative.end() :]}"
    return ""


def _factors(text: str, language: Language) -> Iterator[Factor]:
    """The factors of a text without its decision."""
    if (value := json_of(text)) is not None:
        return json_factors(value, language)
    return listed_factors(text, language)


def _merged(factors: Iterable[Factor]) -> list[Factor]:
    """Joins those of one name: what a teacher says of each response in turn is one factor.

    What it says twice stands once.
    """
    texts: dict[str, dict[str, None]] = {}
    for factor in factors:
        texts.setdefault(factor.name, {})[factor.explanation] = None
    return [
        _without_the_same(Factor(name=name, explanation=joined(its))) for name, its in texts.items()
    ]


def _without_the_same(factor: Factor) -> Factor:
    """A factor without the statements that it makes of both responses alike."""
    return replace(factor, explanation=_SAME_OF_BOTH.sub("", factor.explanation).strip())


def _tells_apart(factor: Factor) -> bool:
    """True where a factor is about one of the responses."""
    n_named = len(set(EITHER.findall(factor.explanation)))
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
