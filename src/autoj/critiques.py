"""Pairwise critiques in parts, after Table 18 of the paper: factors, decision, remark.

`parse` and `render` are inverses of each other; `swap_responses` exchanges the names of the two
responses, which turns a critique of (first, second) into one of (second, first).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from autoj.records import Shown

Language: TypeAlias = Literal["en", "zh"]

FACTORS_HEADING: dict[Language, str] = {
    "en": "1. The key factors to distinguish these two responses:",
    "zh": "1. 区分两个回应的关键因素：",
}
DECISION_HEADING: dict[Language, str] = {"en": "2. The final decision:", "zh": "2. 最终决定："}
DECISION_OPENING: dict[Language, str] = {
    "en": "So, the final decision is",
    "zh": "所以，最终决定是",
}
RATING_OPENING: dict[Language, str] = {"en": "Rating: [[", "zh": "评分: [["}
"""The text that a rating follows, as the prompts of single responses ask for it."""
RATING_CHOICES = tuple(f"{rating}]]" for rating in range(1, 11))
"""The text behind it, for each rating; the brackets close it, since "1" also begins "10"."""
_NAMES: dict[Language, dict[Shown, str]] = {
    "en": {"1": " Response 1", "2": " Response 2", "tie": " Tie"},
    "zh": {"1": "回应1", "2": "回应2", "tie": "平局"},
}
_STOP: dict[Language, str] = {"en": ".", "zh": "。"}
_COLON: dict[Language, str] = {"en": ": ", "zh": "："}
_GAP: dict[Language, str] = {"en": " ", "zh": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """A key factor that distinguishes the two responses."""

    name: str
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCritique:
    """A critique in the layout of Table 18."""

    factors: tuple[Factor, ...]
    decision: Shown
    remark: str = ""
    """A short summary after the decision; may be empty."""
    language: Language = "en"


def decision_names(language: Language = "en") -> dict[Shown, str]:
    """The text of each decision after the opening, with its leading space if it has one.

    >>> decision_names()["tie"]
    ' Tie'
    """
    return dict(_NAMES[language])


def decision_sentence(decision: Shown, language: Language = "en") -> str:
    """The sentence that states a decision.

    >>> decision_sentence("2")
    'So, the final decision is Response 2.'
    """
    return DECISION_OPENING[language] + _NAMES[language][decision] + _STOP[language]


def render(critique: PairCritique) -> str:
    """The critique as the judge would write it.

    >>> print(render(PairCritique(factors=(Factor(name="tone", explanation="Colder."),),
    ...                           decision="1", remark="It is close.")))
    1. The key factors to distinguish these two responses:
    <BLANKLINE>
    - tone: Colder.
    <BLANKLINE>
    2. The final decision:
    <BLANKLINE>
    So, the final decision is Response 1. It is close.
    """
    language = critique.language
    factors = [f"- {_render_factor(factor, language)}" for factor in critique.factors]
    closing = decision_sentence(critique.decision, language)
    if critique.remark:
        closing += _GAP[language] + critique.remark
    return "\n\n".join([FACTORS_HEADING[language], *factors, DECISION_HEADING[language], closing])


def _render_factor(factor: Factor, language: Language) -> str:
    if not factor.name:
        return factor.explanation
    return f"{factor.name}{_COLON[language]}{factor.explanation}"


_HEADINGS: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\A\s*(?:1\.\s*)?The key factors to distinguish these two responses\s*:(?P<factors>.*)"
        r"\n[ \t]*(?:2\.[ \t]*)?The final decision\s*:\s*So, the final decision is\s+"
        r"(?P<decision>Response 1|Response 2|Tie)\b\.?(?P<remark>.*)\Z",
        re.DOTALL | re.IGNORECASE,
    ),
    "zh": re.compile(
        r"\A\s*(?:1\.\s*)?区分(?:这)?两个回应的关键因素\s*[:：](?P<factors>.*)"
        r"\n[ \t]*(?:2\.[ \t]*)?最终决定\s*[:：]\s*所以[，,]\s*最终决定是\s*"
        r"(?P<decision>回应\s*1|回应\s*2|平局)。?(?P<remark>.*)\Z",
        re.DOTALL,
    ),
}
_FACTOR = re.compile(r"^[ \t]*[-*•][ \t]+", re.MULTILINE)
_DECISIONS: dict[str, Shown] = {
    "response1": "1", "response2": "2", "tie": "tie", "回应1": "1", "回应2": "2", "平局": "tie",
}  # fmt: skip


def parse(text: str) -> PairCritique | None:
    """Parses the layout of Table 18; None for text in another layout.

    A decision inside a factor or a remark is prose: the headings say where the decision is.
    """
    for language, pattern in _HEADINGS.items():
        if (found := pattern.match(text)) is not None:
            return PairCritique(
                factors=parse_factors(found["factors"]),
                decision=_DECISIONS[re.sub(r"\s", "", found["decision"]).lower()],
                remark=found["remark"].strip(),
                language=language,
            )
    return None


def parse_factors(text: str) -> tuple[Factor, ...]:
    """The factors of a list with one "- name: explanation" a line.

    >>> parse_factors("- tone: Response 2 is colder.")[0].name
    'tone'
    """
    pieces = [piece.strip() for piece in _FACTOR.split(text)]
    return tuple(_parse_factor(piece) for piece in pieces if piece)


def _parse_factor(piece: str) -> Factor:
    found = re.match(r"(?P<name>[^:：\n]*)[:：]\s*(?P<explanation>.*)\Z", piece, re.DOTALL)
    if found is None:
        return Factor(name="", explanation=piece)
    return Factor(name=found["name"].strip(), explanation=found["explanation"].strip())


# "Response 1" or "回应1". The first letter is looked for by itself, which is four times as fast as
# trying the whole pattern everywhere.
_NAMED = re.compile(
    r"(?P<word>[rR回](?:(?<=[rR])(?<!\w[rR])(?i:esponses?)[ \t\u00a0]*#?|(?<=回)[应复答][ \t]*))"
    r"(?P<number>[12])(?![0-9]|\.[0-9]|(?i:st|nd))"
)
_LISTED = re.compile(
    r"(?P<joint>[ \t]*(?:\band\b|\bor\b|[/&和与、或])[ \t]*)"
    r"(?P<number>[12])(?![0-9A-Za-z_]|\.[0-9])"
)
_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？\n]?")
_PLACE = r"(?:[Ff]irst|FIRST|1st|[Ss]econd|SECOND|2nd)"
_PLACE_ZH = r"第[一二12][个条份]"
_PLACED_RESPONSE = re.compile(
    rf"\b{_PLACE}(?=(?: (?:and|or) (?:the )?{_PLACE})? (?:[Rr]esponse|RESPONSE|[Rr]eply)\b"
    rf"|(?: (?:and|or) (?:the )?{_PLACE})? (?:[Rr]esponses|RESPONSES|[Rr]eplies)\b)"
    rf"|{_PLACE_ZH}(?=回应|回复|回答)"
)
# Words after "the first" or "the former" that are no noun, so that it stands for a response.
_ALONE = (
    r"(?=\Z|[.,;:!?)\n*'’]|--| (?:is|was|does|did|has|had|can|could|would|should|may|one|but|while"
    r"|and|or|than|in|on|by|for|with|because|also|only|merely|simply|just|even|still|not|fails"
    r"|lacks|gives|offers|provides|contains|includes|misses|mentions|explains|answers|focuses|goes"
    r"|covers|ignores|uses|adds|makes|shows|seems|remains|wins)\b)"
)
_ALONE_ZH = r"(?=\Z|[，。；：、！？\n更较好差则的是没有在而也只还不提给])"
_PLACED = re.compile(
    rf"{_PLACED_RESPONSE.pattern}|\b(?<=[Tt]he ){_PLACE}{_ALONE}|{_PLACE_ZH}{_ALONE_ZH}"
)
_MENTIONED = re.compile(
    rf"(?P<named>{_NAMED.pattern}|{_PLACED_RESPONSE.pattern})"
    r"|(?P<together>\b(?:[Bb]oth|[Tt]wo) (?:responses|replies)\b|两个(?:回应|回复|回答))"
    rf"|(?P<relative>(?<=[Tt]he )(?:former|latter){_ALONE}|[前后]者)"
)
_RELATIVE_WORDS = ("former", "latter", "前者", "后者")
# To look for these letters takes a hundredth of the time of the patterns above.
_PLACE_LETTERS = (
    "irst", "FIRST", "1st", "econd", "SECOND", "2nd", "former", "latter", "前者", "后者", "第",
)  # fmt: skip
_OTHER = {"1": "2", "2": "1"}
_OTHER_WORD = dict(
    pair
    for one, other in (
        ("first", "second"), ("First", "Second"), ("FIRST", "SECOND"), ("1st", "2nd"),
        ("former", "latter"), ("前者", "后者"),
        ("第一个", "第二个"), ("第一条", "第二条"), ("第一份", "第二份"),
        ("第1个", "第2个"), ("第1条", "第2条"), ("第1份", "第2份"),
    )
    for pair in ((one, other), (other, one))
)  # fmt: skip


def swap_responses(text: str) -> str:
    """Exchanges the names of the two responses in a critique: "Response 1", "the first response".

    "The former" and "the latter" are exchanged where they stand for "both responses". Where they
    stand for responses that were named before them, the exchanged names have changed their meaning.
    Swapping twice restores the text.

    **Source:** section 4 of the paper, which swaps the order of each training pair.

    >>> swap_responses("Response 1 beats Response 2; Responses 1 and 2 are polite.")
    'Response 2 beats Response 1; Responses 2 and 1 are polite.'
    >>> swap_responses("The first response is long, the second is not.")
    'The second response is long, the first is not.'
    """
    swapped = _swapped_numbers(text)
    if not _may_refer(swapped):
        return swapped
    lines = swapped.splitlines(True)
    return "".join(_swapped_relatives(line) if _may_refer(line) else line for line in lines)


def _may_refer(text: str) -> bool:
    """False for most texts: they lack the letters of every word for a place, such as "former"."""
    return any(letters in text for letters in _PLACE_LETTERS)


def _swapped_numbers(text: str) -> str:
    pieces: list[str] = []
    position = 0
    for at in _numbers(text):
        pieces += text[position:at], _OTHER[text[at]]
        position = at + 1
    return "".join([*pieces, text[position:]])


def count_responses(text: str) -> tuple[int, int]:
    """The number of times that a critique names the first response, and the second one.

    >>> count_responses("Response 1 beats Response 2; Responses 1 and 2 are polite.")
    (2, 2)
    >>> count_responses("回应1比回应2好，回应1更短。")
    (2, 1)
    """
    named = [text[at] for at in _numbers(text)]
    return named.count("1"), named.count("2")


def _numbers(text: str) -> Iterator[int]:
    """The positions of the digits that name a response."""
    position = 0
    while (found := _NAMED.search(text, position)) is not None:
        yield found.start("number")
        position = found.end()
        # "Responses 1 and 2": the second number has no noun of its own.
        if (listed := _LISTED.match(text, position)) is not None:
            yield listed.start("number")
            position = listed.end()


def closed_by_rating(critique: str, rating: float, language: Language = "en") -> str:
    r"""A critique of one response with its rating at the end, as the judge would write it.

    >>> closed_by_rating("Too short.", 3)
    'Too short.\n\nRating: [[3]]'
    """
    return f"{critique}\n\n{RATING_OPENING[language]}{rating:g}]]"


def _swapped_relatives(line: str) -> str:
    """A paragraph with "the former" exchanged where "both responses" is the last mention."""
    # Most paragraphs have none of these words; to look for them takes a tenth of the search below.
    if not any(word in line for word in _RELATIVE_WORDS):
        return _swapped_places(line)
    pieces: list[str] = []
    position = 0
    stands_for_both = False
    for found in _MENTIONED.finditer(line):
        if found["relative"] is None:
            stands_for_both = found["together"] is not None
        elif stands_for_both:
            pieces += line[position : found.start()], _OTHER_WORD[found[0]]
            position = found.end()
    return _swapped_places("".join([*pieces, line[position:]]))


def _swapped_places(line: str) -> str:
    """A paragraph with "the first response" exchanged, and "the second" in the same sentence."""
    # Most paragraphs name neither, and need not be cut into sentences.
    if _PLACED_RESPONSE.search(line) is None:
        return line
    return "".join(
        _PLACED.sub(lambda found: _OTHER_WORD[found[0]], sentence)
        if _PLACED_RESPONSE.search(sentence)
        else sentence
        for sentence in _SENTENCE.findall(line)
    )


_CLOSING_RATING = re.compile(r"[\[［【]{2}[^\[\]［］【】\n]{1,20}[\]］】]{2}[*_]{0,3}\s?[.。]?\Z")
# A rating without brackets is not read as one, but it still reveals the rating.
_CLOSING_NUMBER = re.compile(
    r"(?:\A|\n)[ \t*_#]{0,5}(?:(?:overall |final )?rating|评分|打分|评级)"
    r"[*_ ]{0,5}[:：][*_ \t]{0,5}[0-9]{1,2}(?:\.[0-9]{1,2})?(?:[ \t]?/[ \t]?10)?[*_]{0,3}[.。]?\Z",
    re.IGNORECASE,
)
_RATING_NAME = re.compile(
    r"(?:\b(?:overall |final )?rating|评分|打分|评级)[*_ ]{0,5}[:：]?[*_ ]{0,5}\Z", re.IGNORECASE
)


def strip_rating(text: str) -> str:
    r"""A critique without its closing rating.

    >>> strip_rating("Too short.\n\nRating: [[3]]")
    'Too short.'
    """
    bare = text.rstrip()
    # Only the tail is searched: a judge's text may be long and is not trusted.
    found = _CLOSING_RATING.search(bare, max(0, len(bare) - 40))
    if found is None:
        number = _CLOSING_NUMBER.search(bare, max(0, len(bare) - 60))
        return text if number is None else bare[: number.start()].rstrip(" \t\n*_#")
    head = bare[: found.start()]
    name = _RATING_NAME.search(head, max(0, len(head) - 40))
    return (head if name is None else head[: name.start()]).rstrip(" \t\n*_#")


_LEAST_QUOTED, _MOST_QUOTED = 4, 300
# A short one is matched, too: its second mark would open the text between it and the next one.
_QUOTED = re.compile(
    "|".join(
        f"{opening}([^{closing}\\n]{{1,{_MOST_QUOTED}}}){closing}"
        for opening, closing in ('""', "“”", "«»", "「」", "``")
    )
)
_QUOTED_EDGES = " .,;:!?…。，"


class Quoted(NamedTuple):
    """A quotation of a critique, and the place of its quotation mark."""

    text: str
    """Without quotation marks and punctuation around it."""
    start: int


def quotations(critique: str) -> list[Quoted]:
    """The quotations of a critique, in order.

    One of fewer than 4 characters is a word in quotation marks; one of more than 300 is two
    unpaired marks.

    >>> quotations('It says "46 desks." and "no".')
    [Quoted(text='46 desks', start=8)]
    """
    found = (
        Quoted(next(filter(None, each.groups())).strip(_QUOTED_EDGES), each.start())
        for each in _QUOTED.finditer(critique)
    )
    return [each for each in found if len(each.text) >= _LEAST_QUOTED]
