"""Conversion of a teacher's prose about a pair to the factors of Table 18, by rules alone.

Older judgments are reviews in prose ("Assistant 1 …"). Their statements about one response become
a list of named factors. Praise of both, the closing decision and score tables do not tell the
responses apart and are left out.

**Source:** paper, section 3.2 and Table 18: judgments are brought into one layout before training.
"""

import re
from itertools import takewhile

from autoj import critiques
from autoj.critiques import Factor, PairCritique
from autoj.records import Shown

_ASPECTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"\b(?:{words})", re.IGNORECASE))
    for name, words in (
        ("accuracy", r"accura|inaccura|incorrect|correct|error|mistake|factual|wrong|false"),
        ("following the request", r"instruction|request|asked|does not address|off-topic|format\b"),
        ("completeness", r"complete|incomplete|comprehensive|missing|omit|cover|truncat|cut off"),
        ("detail", r"detail|depth|in-depth|specific|example|elaborat|thorough|brief|concise"),
        ("relevance", r"relevan|irrelevan|focus"),
        ("structure", r"structur|organi[sz]|format|bullet|numbered|step-by-step|sections?\b"),
        ("clarity", r"clear|clarity|concise|readab|understand|confus|coheren"),
        ("creativity", r"creativ|imaginat|vivid|engaging|original"),
        ("tone", r"tone|polite|professional\b|friendly|empath|persua"),
        ("code", r"code\b|function\b|algorithm|efficien|implementation"),
        ("helpfulness", r"helpful|useful|practical|actionable"),
    )
)
_ASSISTANT = re.compile(r"\b(?:AI )?Assistant(?P<s>'?s)?(?= ?#?[12]\b)", re.IGNORECASE)
_OTHER_NAMES = re.compile(r"\bAssistant (?P<letter>[AB])\b")
_ONE_RESPONSE = re.compile(r"\bResponse [12]\b")
_BOTH = re.compile(
    r"\bboth\b|\bResponse 1 and (?:Response )?2\b|\bResponses 1 and 2\b", re.IGNORECASE
)
_CLOSING = re.compile(
    r"^(?:in conclusion|in summary|overall|based on|considering|therefore|thus|given|so,|my choice|"
    r"taking|in terms of the overall|to summari[sz]e|final)"
    r"|\bI (?:would|will|choose|believe|rate)\b|\bmy (?:choice|evaluation|rating)"
    r"|\bis (?:the )?(?:slightly )?better\.?$",
    re.IGNORECASE,
)
_SCORE = re.compile(r"\b[0-9]{1,2}(?:\.[0-9])? ?/ ?(?:5|10)\b|^\W*[0-9][0-9 .,]*$")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z\"'(])")
_FEWEST_LETTERS = 25
_MOST_FACTORS = 5


def pair_factors(judgment: str) -> tuple[Factor, ...]:
    r"""Extracts the factors of a pair's judgment; empty where there are none.

    Args:
        judgment: prose, or the layout of Table 18, whose factors are kept as they are.

    >>> found = pair_factors("Both are fine. Assistant 1 gives more detail. Assistant 1 wins.\n1")
    >>> [(factor.name, factor.explanation) for factor in found]
    [('detail', 'Response 1 gives more detail.')]
    """
    parsed = critiques.parse(judgment)
    if parsed is not None:
        return parsed.factors
    grouped: dict[str, list[str]] = {}
    for sentence in _sentences(judgment):
        grouped.setdefault(_aspect(sentence), []).append(sentence)
    grouped.pop("", None)
    factors = [
        Factor(name=name, explanation=" ".join(sentences)) for name, sentences in grouped.items()
    ]
    return tuple(factors[:_MOST_FACTORS])


_REFERENCE = re.compile(r"\breference\b", re.IGNORECASE)
_RATED = re.compile(r"\[\[|\brating\s*:|\bI (?:would )?(?:rate|give)\b|\brate it\b", re.IGNORECASE)
_THE_ASSISTANTS = re.compile(
    r"\b(?P<the>the )?(?:AI )?assistant's (?:answer|response|reply)\b", re.IGNORECASE
)
_THE_ASSISTANT = re.compile(r"\bthe (?:AI )?assistant\b", re.IGNORECASE)


def single_critique(judgment: str) -> str:
    """Extracts the critique of one response, with the judge's own names; empty where there is none.

    Removed are the closing rating, which the protocol writes; sentences that compare with a
    reference answer, which the judge never sees; and an answer of the teacher's own that follows.
    >>> single_critique("The assistant's answer is short. The reference is longer.")
    'The response is short.'
    """
    prose = takewhile(_is_prose, critiques.strip_rating(judgment).split("\n\n"))
    paragraphs = [
        " ".join(
            sentence.strip()
            for sentence in _SENTENCE.split(paragraph.strip())
            if not (_REFERENCE.search(sentence) or _RATED.search(sentence))
        )
        for paragraph in prose
    ]
    text = "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
    named = _THE_ASSISTANTS.sub(lambda found: _like(found[0], "the response"), text)
    return _THE_ASSISTANT.sub(lambda found: _like(found[0], "the response"), named)


def _is_prose(paragraph: str) -> bool:
    """True where a paragraph is about the response: neither code nor the start of an answer."""
    return "```" not in paragraph and not paragraph.rstrip().endswith(":")


def _like(old: str, new: str) -> str:
    """Capitalises a name like the one that it replaces."""
    return new.capitalize() if old[0].isupper() else new


def closing_number(judgment: str) -> Shown | None:
    """Reads the decision of a review that ends with a line of 1, 2 or 3 (a tie); else None.

    >>> closing_number("Assistant 2 is clearer." + chr(10) + "2"), closing_number("Fine.")
    ('2', None)
    """
    last = judgment.rstrip().rpartition("\n")[2].strip()
    numbers: dict[str, Shown] = {"1": "1", "2": "2", "3": "tie"}
    return numbers.get(last)


def render_factors(factors: tuple[Factor, ...]) -> str:
    """Renders the list alone, as `critiques.render` writes it."""
    whole = critiques.render(PairCritique(factors=factors, decision="tie"))
    listed = whole.removeprefix(critiques.FACTORS_HEADING["en"])
    return listed[: listed.rindex(critiques.DECISION_HEADING["en"])].strip()


def _sentences(judgment: str) -> list[str]:
    """Finds the sentences about one response, with the judge's own names for the responses."""
    named = _OTHER_NAMES.sub(lambda found: f"Assistant {'AB'.index(found['letter']) + 1}", judgment)
    named = _ASSISTANT.sub(lambda found: "Responses" if found["s"] == "s" else "Response", named)
    sentences: list[str] = []
    about = None
    for paragraph in named.split("\n"):
        if _SCORE.search(paragraph):
            continue
        for sentence in _SENTENCE.split(paragraph.strip()):
            bare = sentence.strip(" -*•\t")
            subject = _NAMED_SUBJECT.match(bare)
            if _CLOSING.search(bare) or _BOTH.search(bare):
                about = None
            elif subject is not None and len(bare) >= _FEWEST_LETTERS:
                sentences.append(bare)
                about = subject["name"]
            elif _ONE_RESPONSE.search(bare) is not None:
                # "Their answer … than Response 1": only the whole text tells whose answer is meant.
                about = None
            elif about is not None and (told := _continued(bare, about)) is not None:
                sentences.append(told)
    return sentences


_CONNECTIVE = (
    r"^(?:(?:However|Additionally|Furthermore|Moreover|Also|On the other hand|In contrast|"
    r"In comparison|While|Although|Meanwhile),? )?"
)
_NAMED_SUBJECT = re.compile(_CONNECTIVE + r"(?P<name>Response [12])\b", re.IGNORECASE)
_SUBJECT = re.compile(
    _CONNECTIVE
    + r"(?:(?P<text>The (?:answer|response|assistant)|It|This (?:answer|response)|They))\b(?!')",
    re.IGNORECASE,
)


def _continued(sentence: str, about: str) -> str | None:
    """Names the response that a sentence continues to speak of; None where that is not certain."""
    found = _SUBJECT.match(sentence)
    if found is None or len(sentence) < _FEWEST_LETTERS:
        return None
    return f"{about}{sentence[found.end('text') :]}"


def _aspect(sentence: str) -> str:
    """Finds the aspect whose word comes first; empty if there is none."""
    found = [
        (match.start(), name) for name, pattern in _ASPECTS if (match := pattern.search(sentence))
    ]
    return min(found)[1] if found else ""
