"""Mistakes of a response that counting and adding up show, and the sentence that names one.

Small judges do not count. So what a query asks for in numbers (points, sentences, words), a word
that it forbids, and the sums that a response states are checked by rules. Each rule passes over
what it cannot be sure of: a request in several parts, a range, a text with a list in it.
"""

import re
from collections.abc import Iterator
from math import isclose

_NUMBERS = tuple(
    re.findall(
        r"\w+",
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen twenty",
    )
)
_COUNT = rf"(?P<count>\d{{1,4}}|{'|'.join(_NUMBERS[1:])})"
_LONGEST_QUERY = 2_000
_LONGEST_RESPONSE = 20_000
"""Characters; longer texts are seldom what a short request is about, and take long to read."""

_QUOTED = re.compile(r"\"[^\"]{1,2000}\"|“[^”]{1,2000}”|```.{1,2000}?```", re.S)
_SEVERAL = re.compile(
    r"\b(?:then|after(?:wards| that)|followed by|also|finally|each|every|per|both|title|headline"
    r"|subject|reason|or|paragraphs?|stanzas?|lines?|bullets?|steps?|table|code|function|script"
    r"|story|dialogue|and (?:give|say|add|list|explain|tell|name|state|provide|translate|include"
    r"|end|write|show))\b",
    re.IGNORECASE,
)
"""A request for more than one thing, or for a text that is not plain prose."""
_BOUND = (
    r"(?P<bound>exactly|only|just|precisely|at most|no more than|not more than|up to|under"
    r"|max(?:imum)?(?: of)?|fewer than|less than)"
)
_SENTENCES_ASKED = re.compile(
    rf"\b(?:in|with|using|into|to|be|of)\s+(?:{_BOUND}\s+)?{_COUNT}\s+"
    r"(?:short |simple |complete |single |plain |concise |brief ){0,2}sentences?\b",
    re.IGNORECASE,
)
_WORDS_ASKED = re.compile(rf"\b{_BOUND}\s+{_COUNT}\s+words?\b(?!\s+(?:each|per))", re.IGNORECASE)
_WORDS_OR_LESS = re.compile(
    rf"\b{_COUNT}\s+words?\s+or\s+(?:less|fewer)\b|\bwithin\s+(?P<within>\d{{1,4}})\s+words\b",
    re.IGNORECASE,
)
_AT_MOST = re.compile(r"most|more|up|max", re.IGNORECASE)
_BELOW = re.compile(r"under|fewer|less", re.IGNORECASE)
_POINTS_ASKED = re.compile(
    r"\b(?:list|name|give|suggest|provide|recommend|identify|share|tell|state|mention|what are)\b"
    rf"(?: me| us)?(?: the| exactly| at least| a list of| a list with){{0,2}}\s+{_COUNT}\s+"
    r"(?!or\b|to\b|of\b|words?\b|sentences?\b|paragraphs?\b|pages?\b|lines?\b|letters?\b|stanzas?\b"
    r"|seconds?\b|minutes?\b|hours?\b|days?\b|weeks?\b|months?\b|years?\b|times?\b|stars?\b)[a-z]",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?m)^(?P<indent>[ \t]*)(?P<mark>\d{1,3}[.)]|[-*•])[ \t]+(?=\S)")
_FORBIDDEN = re.compile(
    r"\b(?:without|avoid(?:ing)?|do not|don't|never|may not|must not|cannot)\s+"
    r"(?:us(?:e|ing) |mention(?:ing)? |say(?:ing)? |includ(?:e|ing) |contain(?:ing)? )?"
    r"(?:the )?(?:word|term|phrase)\s+[\"“'](?P<word>\w[\w -]{0,28}\w)[\"”']",
    re.IGNORECASE,
)

_PREFACE = re.compile(r"\A\s*(?:sure|certainly|of course|absolutely|here(?:'s| is| are))\b", re.I)
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|vs|etc|approx|No|Inc|Ltd|Co|e\.g|i\.e|a\.m|p\.m|U\.S|U\.K|[A-Z])\."
)
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]*_]*(?=\s|\Z)")

_FIGURE = r"\d{1,12}(?:,\d{3}){0,3}(?:\.\d{1,9})?"
_SIGN = r"(?:\s*(?:[+×*·÷−/]|\\times|\\cdot|\\div)\s*|\s+[x–-]\s+)"
_EQUATION = re.compile(
    rf"(?<![\w.,])(?P<left>[$£€]?{_FIGURE}(?:{_SIGN}[$£€]?{_FIGURE}){{1,8}})\s*=\s*"
    rf"[$£€]?(?P<right>{_FIGURE})(?![\w%!^²³°]|[.,]\d|{_SIGN}\S|\s*(?:r|rem\w*|mod\w*|[({{\\/])\b|\s*[(\\=/])"
)
_BEFORE_SUM = re.compile(
    r"(?:[-+×*·÷−–/^(){}\[\]<>%²³√\\]|\b(?:of|to|by|plus|minus|times|over|and|than|mod|per)|\d\s)\s*\Z"
)
"""What a sum follows that is not the whole of it."""
_UNSURE = re.compile(
    r"\b(?:not|wrong|false|incorrect|mistake\w*|error\w*|instead|if|suppose|claim\w*|mod\w*|binary|hex\w*"
    r"|octal|base|clock|joke|about|approximately|roughly|around)\b|n't\b|≈|~|≠",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\"[^\"\n]+\" is wrong: it comes to [\d,.-]+\.(?=\s|\Z)"
    r"|The response has the forbidden word \"[^\"\n]+\"\."
    r"|The (?:response|list) has (?:only )?[\w,]+ (?:words?|sentences?|points?), which breaks the"
    r" (?:request for|limit of) [\w,]+\."
)


def mistake_by_rules(query: str, response: str) -> str | None:
    r"""The sentence of a critique that names what a rule finds wrong; None where none does.

    Args:
        query: the last turn that the response answers, in English.
        response: the response; texts above 20,000 characters are not read.

    >>> mistake_by_rules("Name the three primary colours.", "- red\n- blue")
    'The list has only two points, which breaks the request for three.'
    >>> mistake_by_rules("What is left?", "10 - 7 = 4, so four are left.")
    '"10 - 7 = 4" is wrong: it comes to 3.'
    """
    if len(query) > _LONGEST_QUERY or len(response) > _LONGEST_RESPONSE or not response.strip():
        return None
    asked = _QUOTED.sub(" ", query)
    return (
        _wrong_sum(query, response)
        or _forbidden(query, response)
        or _points(asked, response)
        or _sentences(asked, response)
        or _words(asked, response)
    )


def beyond_mistake(critique: str) -> str:
    """A critique without the sentence at its beginning that `mistake_by_rules` wrote, if any.

    >>> beyond_mistake("The response has 60 words, which breaks the limit of 50. Clear.")
    ' Clear.'
    """
    found = _SAID.match(critique)
    return critique if found is None else critique[found.end() :]


def _wrong_sum(query: str, response: str) -> str | None:
    """An equation of plain numbers whose sides differ."""
    for found in _EQUATION.finditer(response):
        start = found.start()
        line = response[response.rfind("\n", 0, start) + 1 :].split("\n", 1)[0]
        if (
            _BEFORE_SUM.search(response[max(0, start - 12) : start])
            or _UNSURE.search(line)
            or found[0] in query
            or "\n" in found[0]
        ):
            continue
        value = _value(found["left"])
        if value is None or _may_be(value, found["left"], found["right"]):
            continue
        # Between dollar signs stands a formula.
        said = found[0].lstrip("$") if response[found.end() :][:1] == "$" else found[0]
        return f'"{said}" is wrong: it comes to {_written(value)}.'
    return None


def _value(text: str) -> float | None:
    """The value of numbers with signs between them, products before sums; None without one."""
    parts = re.findall(rf"{_FIGURE}|\\times|\\cdot|\\div|[-+×*·÷−–/x]", text)
    total, product, sign = 0.0, _number(parts[0]), 1.0
    for operator, figure in zip(parts[1::2], parts[2::2], strict=True):
        number = _number(figure)
        if operator in "+-−–":
            total, product, sign = total + sign * product, number, 1.0 if operator == "+" else -1.0
        elif operator in ("÷", "/", "\\div"):
            if number == 0:
                return None
            product /= number
        else:
            product *= number
    return total + sign * product


def _may_be(value: float, left: str, right: str) -> bool:
    """True where a stated result is the value, rounded or cut to the digits that it has."""
    stated = _number(right)
    n_decimals = len(right.partition(".")[2])
    is_rounded = n_decimals or "." in left or re.search(r"[/÷]|\\div", left)
    step = 10.0**-n_decimals if is_rounded else 0.0
    return abs(value - stated) < step or isclose(value, stated, rel_tol=1e-9)


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _written(value: float) -> str:
    return f"{round(value, 4):,.10g}"


def _forbidden(query: str, response: str) -> str | None:
    for found in _FORBIDDEN.finditer(query):
        word = found["word"].strip(" .,;")
        stands = re.search(
            rf"(?<![\w\"“'*]){re.escape(word)}(?![\w\"”'*])", response, re.IGNORECASE
        )
        if word and stands is not None:
            return f'The response has the forbidden word "{stands[0]}".'
    return None


def _points(asked: str, response: str) -> str | None:
    """A list that is shorter than was asked for."""
    requests = list(_POINTS_ASKED.finditer(asked))
    if len(requests) != 1 or re.search(
        r"\b(?:or|to)\s*\Z|\d\s*[-–]\s*\Z", asked[: requests[0].start("count")]
    ):
        return None
    n_asked = _counted(requests[0]["count"])
    items = list(_ITEM.finditer(response))
    outer = min((len(item["indent"]) for item in items), default=0)
    marks = [item["mark"] for item in items if len(item["indent"]) == outer]
    is_numbered = {mark[0].isdigit() for mark in marks}
    if len(is_numbered) != 1 or not 2 <= len(marks) < n_asked:
        return None
    if is_numbered == {True} and [int(mark[:-1]) for mark in marks] != list(
        range(1, len(marks) + 1)
    ):
        return None
    n_points = _spelt(len(marks))
    return f"The list has only {n_points} points, which breaks the request for {_spelt(n_asked)}."


def _sentences(asked: str, response: str) -> str | None:
    """Another number of sentences than was asked for, in plain prose."""
    requests = list(_SENTENCES_ASKED.finditer(asked))
    if len(requests) != 1 or _SEVERAL.search(asked) or not _is_prose(response):
        return None
    text = _ABBREVIATION.sub("x", response.strip())
    # The last one may have no full stop.
    n_found = len(_SENTENCE_END.findall(text)) + (_SENTENCE_END.search(text[-4:]) is None)
    return _beyond(requests[0]["bound"] or "", requests[0]["count"], [n_found], "sentence")


def _words(asked: str, response: str) -> str | None:
    """More words than were allowed, or another number than was asked for."""
    requests = [*_WORDS_ASKED.finditer(asked), *_WORDS_OR_LESS.finditer(asked)]
    if len(requests) != 1 or not _is_prose(response):
        return None
    if _SEVERAL.search(_WORDS_OR_LESS.sub(" ", asked)):
        return None
    groups = requests[0].groupdict()
    count = groups["count"] or groups["within"]
    return _beyond(groups.get("bound") or "at most", count, list(_word_counts(response)), "word")


def _beyond(bound: str, count: str, found: list[int], unit: str) -> str | None:
    """The sentence about a number that is not as asked; None where it is, by one way to count."""
    n_asked, least = _counted(count), min(found)
    if not _AT_MOST.search(bound) and not _BELOW.search(bound):
        if least <= n_asked <= max(found):
            return None
        return _breaks("response", _spelt(least), unit + "s" * (least != 1), "request for", n_asked)
    if least < n_asked or (least == n_asked and _AT_MOST.search(bound)):
        return None
    return _breaks("response", _spelt(least), unit + "s" * (least != 1), "limit of", n_asked)


def _breaks(what: str, found: str, unit: str, kind: str, n_asked: int) -> str:
    return f"The {what} has {found} {unit}, which breaks the {kind} {_spelt(n_asked)}."


def _word_counts(text: str) -> Iterator[int]:
    """The number of words by the ways to count that people use."""
    spaced = [word for word in text.split() if any(map(str.isalnum, word))]
    yield len(spaced)
    yield len(re.findall(r"[^\W_]+(?:['’.,][^\W_]+)*", text))
    yield len(re.findall(r"[^\W_]+(?:['’.,-][^\W_]+)*", text))


def _is_prose(response: str) -> bool:
    """True for sentences in one paragraph, and nothing that introduces them."""
    text = response.strip()
    return not any(mark in text for mark in '\n:;"“') and _PREFACE.search(text) is None


def _counted(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS.index(text.lower())


def _spelt(number: int) -> str:
    return _NUMBERS[number] if number <= 12 else f"{number:,}"
