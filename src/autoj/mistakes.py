"""Mistakes of a response that counting and adding up show, and the sentence that names one.

Small judges do not count. So plain requests (a number of points, sentences or words, a word that is
not to be used) and the sums that a response states are checked by rules. A rule that may be wrong
says nothing: requests are read where a sentence of the query begins with them, counts have a lowest
and a highest reading, and sums have to stand by themselves.
"""

import re
from collections.abc import Iterator
from fractions import Fraction

_NUMBERS = tuple(
    re.findall(
        r"\w+",
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen twenty",
    )
)
_COUNT = rf"(?P<count>\d{{1,4}}|{'|'.join(_NUMBERS[1:])})"
# Without ASCII, letters that fold to those of "six" and digits of other writings would match.
_FLAGS = re.IGNORECASE | re.ASCII
_LONGEST_QUERY = 2_000
_LONGEST_RESPONSE = 20_000
"""Characters; longer texts are seldom what a short request is about, and take long to read."""

_QUOTED = re.compile(r"\"[^\"]{1,2000}\"|“[^”]{1,2000}”|```.{1,2000}?```", re.S)
_POLITE = r"(?:please\s+|now\s+|(?:can|could|would|will)\s+you\s+(?:please\s+)?)?"
_STARTS = re.compile(r"(?:\A|[.!?\n])\s*\Z")
"""The end of the sentence before a request."""
_TASK = re.compile(
    rf"(?:\A|[.!?\n])\s*{_POLITE}(?:answer|explain|describe|summari[sz]e|sum up|write|tell|give"
    r"|define|compare|rewrite|rephrase|say|state|respond|reply|condense|shorten|in|using|limit|keep|use)\b"
    r"[^.!?\n]*\Z",
    _FLAGS,
)
"""A sentence that asks for a text, up to what it says of its length."""
_OF_A_TEXT = re.compile(
    r"\b(?:translat\w+|rewrite this sentence|sql|bash|code|script|function|program)\b", _FLAGS
)
"""A request that speaks of another text, or of one in which nothing can be counted."""
_SEVERAL = re.compile(
    r"\b(?:then|after(?:wards| that)|followed by|also|finally|each|every|per|both|title|headline"
    r"|subject|reason|or|to|how many|paragraphs?|stanzas?|lines?|bullets?|steps?|table|story"
    r"|dialogue|and (?:give|say|add|list|explain|tell|name|state|provide|include|end|write"
    r"|show))\b",
    _FLAGS,
)
"""A request for more than one thing, or for a text that is not plain prose."""
_BOUND = (
    r"(?P<bound>exactly|only|just|precisely|at most|no more than|not more than|up to|under"
    r"|max(?:imum)?(?: of)?|fewer than|less than)"
)
_NO_BOUND_BEHIND = (
    r"(?!\s+(?:max\w*|at|or|each|per|that|which|of|for|long|meaning|you|with|a day)\b)"
)
_SENTENCES_ASKED = re.compile(
    rf"\b(?:in|with|using|into)\s+(?:{_BOUND}\s+)?{_COUNT}\s+"
    r"(?:short |simple |complete |single |plain |concise |brief ){0,2}sentences?\b"
    r"(?!\s+(?:max\w*|at|or|each|per)\b)",
    _FLAGS,
)
_WORDS_ASKED = re.compile(rf"\b{_BOUND}\s+{_COUNT}\s+words?\b{_NO_BOUND_BEHIND}", _FLAGS)
_WORDS_OR_LESS = re.compile(
    rf"\b{_COUNT}\s+words?\s+or\s+(?:less|fewer)\b{_NO_BOUND_BEHIND}", _FLAGS
)
_AT_MOST = re.compile(r"most|more|up|max", _FLAGS)
_BELOW = re.compile(r"under|fewer|less", _FLAGS)

_POINTS_ASKED = re.compile(
    rf"{_POLITE}\b(?:list|name|give|suggest|provide|recommend|identify|share|tell|state|mention)"
    rf"(?: me| us)?(?: the| exactly| a list of)?\s+{_COUNT}\s+"
    r"(?:main |key |different |best |good |common |famous |important |popular |interesting "
    r"|possible |creative |new |short |simple |unique |other |real |healthy |easy |top |major "
    r"|basic |useful |practical |primary |natural |great |most [a-z]+ ){0,2}"
    r"(?!words|sentences|paragraphs|pages|lines|letters|stanzas|seconds|minutes|hours|days|weeks"
    r"|months|years|times|stars|percents|points|pros|cons|syllables)(?:[a-z]{2,}[^s\W]s|people)\b",
    _FLAGS,
)
_BOUNDED = re.compile(
    rf"\b(?:or (?:fewer|less|more|so)|at most|at least|max|up to|if|as many|bonus"
    rf"|don't|do not|summari[sz]e|and (?:an?|{'|'.join(_NUMBERS[1:])}|\d+))\b",
    _FLAGS,
)
_MOST_POINTS = 20
"""A larger number is mostly a year or part of a name."""
_ITEM = re.compile(r"(?P<mark>\d{1,3}[.)]|[-*•])[ \t]+(?=\S)")
_NO_ITEM = re.compile(r"\W|\d|\Z")
_FORBIDDEN = re.compile(
    r"\b(?:without|avoid|do not|don't|never)\s+"
    r"(?:us(?:e|ing)\s+|mention(?:ing)?\s+|say(?:ing)?\s+|includ(?:e|ing)\s+)?"
    r"(?:the\s+)?(?:word|term|phrase)\s+[\"“'](?P<word>\w[\w' -]{0,28}\w)[\"”']"
    r"(?=\s*(?:[.,;!)\n]|\Z))",
    _FLAGS,
)
_SPOKEN_OF = re.compile(r"\b(?:I|we|they|he|she|it|one|why|how|what|who|does|did)\b|\?", _FLAGS)
_REFUSES = re.compile(
    r"\A\s*(?:sure|certainly|of course|absolutely|here(?:'s| is| are)|sorry"
    r"|I(?:'m| am) (?:sorry|unable)|I (?:can't|cannot|won't)|as an ai)\b",
    _FLAGS,
)
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|Mt|Gen|Lt|Col|Capt|Sgt|Rev|Sen|Rep|Gov|Hon|Fig|Ave|Corp|Bros"
    r"|vs|etc|approx|incl|No|Inc|Ltd|Co|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Vol|pp?|al|ca?"
    r"|e\.g|i\.e|a\.m|p\.m|[A-Za-z])\."
)
_SURE_END = re.compile(r"[.!?…][\"'”’*_]*\s+(?=[\"'“‘*_]*[A-Z])")
_MAYBE_END = re.compile(r"[.!?…]+[\"'”’)\]*_]*(?=\s|\Z)")

_FIGURE = r"\d{1,12}(?:,\d{3}){0,3}(?:\.\d{1,9})?"
_SIGN = r"(?:[ \t]{0,2}(?:[+×*·÷−]|\\times|\\cdot|\\div)[ \t]{0,2}|[ \t]{1,2}[x/–-][ \t]{1,2})"
_EQUATION = re.compile(
    rf"(?<![\w.,:\"“'‘])(?P<left>[$£€]?{_FIGURE}(?:{_SIGN}[$£€]?{_FIGURE}){{1,6}})[ \t]{{0,2}}="
    rf"[ \t]{{0,2}}[$£€]?(?P<right>{_FIGURE})(?=[ \t]*(?:,(?!\d)|[;)!\n$]|\.(?!\d)|\Z))",
    re.ASCII,
)
_MOST_EQUATIONS = 50
_MOST_QUOTED = 60
_BEFORE_SUM = re.compile(
    r"(?:\A|[\n;:,(=$>]|[^.]\.|\b(?:is|are|be|gives?|get|so|then|have|because|since|makes|as"
    r"|and so))[ \t]*\Z",
    _FLAGS,
)
"""Comes before a sum that stands by itself."""
_UNSURE = re.compile(
    r"\b(?:not|wrong|false|incorrect|mistake\w*|error\w*|instead|if|suppose|claim\w*|joke|about"
    r"|approximately|roughly|around|nearly|almost|rounded|right answer|left to right)\b"
    r"|n't\b|[≈~≠?]",
    re.IGNORECASE,
)
_NEAR = 200
_OTHER_ARITHMETIC = re.compile(
    r"\b(?:mod(?:ulo)?|binary|hex(?:adecimal)?|octal|base|clock|xor|boolean|strings?)\b|Z_",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\"[^\"\n]+\" is wrong: it comes to [\d,.]+\.(?=\s|\Z)"
    r"|The response has the forbidden word \"[^\"\n]+\"\."
    r"|The (?:response|list) has (?:only )?[\w,]+ (?:words?|sentences?|points?), which breaks the"
    r" (?:request for|limit of) [\w,]+\."
)


def mistake_by_rules(query: str, response: str) -> str | None:
    r"""The sentence of a critique that names what a rule finds wrong; None where none does.

    Args:
        query: the last turn that the response answers, in English; one of more than 2,000
            characters is not read.
        response: the whole response; nor is one of more than 20,000.

    >>> mistake_by_rules("Name the three primary colours.", "- red\n- blue")
    'The list has only two points, which breaks the request for three.'
    >>> mistake_by_rules("What is left?", "10 - 7 = 4, so four are left.")
    '"10 - 7 = 4" is wrong: it comes to 3.'
    """
    if len(query) > _LONGEST_QUERY or len(response) > _LONGEST_RESPONSE or not response.strip():
        return None
    asked = _QUOTED.sub(" ", query)
    if (found := _wrong_sum(query, response)) or _OF_A_TEXT.search(asked):
        return found
    return (
        _forbidden(query, response)
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
    if _EQUATION.search(query) or _OTHER_ARITHMETIC.search(f"{query}\n{response}"):
        return None
    for number, found in enumerate(_EQUATION.finditer(response)):
        if number == _MOST_EQUATIONS:
            return None
        start, end = found.span()
        value = _value(found["left"])
        if value is None or _may_be(value, found["left"], found["right"]):
            continue
        near = response[max(0, start - _NEAR) : end + _NEAR]
        before = response[max(0, start - 12) : start]
        # Between dollar signs stands a formula.
        said = found[0].lstrip("$") if response[end : end + 1] == "$" else found[0]
        if len(said) > _MOST_QUOTED or _UNSURE.search(near) or not _BEFORE_SUM.search(before):
            continue
        return f'"{said}" is wrong: it comes to {_written(value)}.'
    return None


def _value(text: str) -> Fraction | None:
    """The value of numbers with signs between them, products before sums.

    None where it is not plain: a division by zero, one beside a sum (a mean without its brackets),
    a difference below zero (a range), points that may divide thousands, or a huge number.
    """
    parts = re.findall(rf"{_FIGURE}|\\times|\\cdot|\\div|[-+×*·÷−–/x]", text, re.ASCII)
    total, product, sign = Fraction(0), _number(parts[0]), 1
    for operator, figure in zip(parts[1::2], parts[2::2], strict=True):
        number = _number(figure)
        if operator in "+-−–":
            total, product, sign = total + sign * product, number, 1 if operator == "+" else -1
        elif operator in ("÷", "/", "\\div"):
            if number == 0 or set("+-−–") & set(parts[1::2]):
                return None
            product /= number
        else:
            product *= number
    total += sign * product
    is_plain = Fraction(1, 1000) < total < 10**12 and not re.search(r"\.\d{3}(?!\d)", text)
    return total if is_plain else None


def _may_be(value: Fraction, left: str, right: str) -> bool:
    """True where a stated result is the value, rounded or cut to the digits that it has.

    Factors with decimals may be rounded themselves: a two-hundredth of the value is let pass.
    """
    difference = abs(value - _number(right))
    n_decimals = len(right.partition(".")[2])
    is_rounded = n_decimals or "." in left or re.search(r"[/÷]|\\div", left)
    step = Fraction(1, 10**n_decimals) if is_rounded else Fraction(0)
    has_factor = "." in left and re.search(r"[×*·x/÷\\]", left) is not None
    return difference == 0 or difference < step or (has_factor and difference <= value / 200)


def _number(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def _written(value: Fraction) -> str:
    if value.denominator == 1:
        return f"{value.numerator:,}"
    return f"{float(value):,.4f}".rstrip("0").rstrip(".")


def _forbidden(query: str, response: str) -> str | None:
    """A word that the query forbids, where the response uses it."""
    for found in _FORBIDDEN.finditer(query):
        sentence = re.split(r"[.!?\n]", query[: found.start()])[-1]
        word = re.escape(found["word"])
        if _SPOKEN_OF.search(sentence) or query[found.end() :].lstrip(")\n ")[:1] == "?":
            continue
        # After "the word" or in quotation marks it is spoken of, and not used.
        if re.search(rf"\b(?:word|term|phrase)s?\b[^\n]{{0,20}}{word}", response, _FLAGS):
            continue
        used = rf"(?<![\w\"“‘'*-]){word}(?![\w\"”’'*-])"
        if (stands := re.search(used, response, re.IGNORECASE)) is not None:
            return f'The response has the forbidden word "{stands[0]}".'
    return None


def _points(asked: str, response: str) -> str | None:
    """A list that is shorter than was asked for."""
    requests = list(_POINTS_ASKED.finditer(asked))
    if len(requests) != 1 or _BOUNDED.search(asked):
        return None
    n_asked, n_points = _counted(requests[0]["count"]), _count_points(response)
    if not _STARTS.search(asked[: requests[0].start()]) or n_asked > _MOST_POINTS:
        return None
    if n_points is None or not 2 <= n_points < n_asked:
        return None
    return _breaks("list", f"only {_spelt(n_points)}", "points", "request for", n_asked)


def _count_points(response: str) -> int | None:
    """The points of a response that is one list, maybe between a line before it and prose after it.

    None where it is none, or where a point may be several.
    """
    lines = [line for line in response.splitlines() if line.strip()]
    items = [_ITEM.match(line) for line in lines]
    at = [index for index, item in enumerate(items) if item is not None]
    marks = [item["mark"] for item in items if item is not None]
    if not at or at[0] > 1 or len({mark[-1] for mark in marks}) != 1:
        return None
    for index, line in enumerate(lines):
        is_inside = at[0] < index < at[-1]
        is_own = line[0].isspace() if is_inside else _NO_ITEM.match(line) is None
        if items[index] is None and not is_own:
            return None
    numbers = [int(mark[:-1]) for mark in marks if mark[:-1]]
    if numbers:
        return len(marks) if numbers == list(range(1, len(marks) + 1)) else None
    bullets = [lines[index] for index in range(at[-1] + 1)]
    return None if any(re.search(r"[,;/&]|\band\b", line) for line in bullets) else len(marks)


def _sentences(asked: str, response: str) -> str | None:
    """Another number of sentences than was asked for, in plain prose."""
    requests = list(_SENTENCES_ASKED.finditer(asked))
    if len(requests) != 1 or not _is_plain_request(asked, requests[0]) or not _is_prose(response):
        return None
    text = response.strip()
    fewest = 1 + len(_SURE_END.findall(_ABBREVIATION.sub("x", text)))
    most = len(_MAYBE_END.findall(text)) + (_MAYBE_END.search(text[-3:]) is None)
    counts = [fewest, max(fewest, most)]
    return _beyond(requests[0]["bound"] or "", requests[0]["count"], counts, "sentence")


def _words(asked: str, response: str) -> str | None:
    """More words than were allowed, or another number than was asked for."""
    requests = [*_WORDS_ASKED.finditer(asked), *_WORDS_OR_LESS.finditer(asked)]
    if len(requests) != 1 or not _is_prose(response) or "words)" in response:
        return None
    if not _is_plain_request(asked, requests[0]):
        return None
    bound = requests[0].groupdict().get("bound") or "at most"
    return _beyond(bound, requests[0]["count"], list(_word_counts(response)), "word")


def _is_plain_request(asked: str, request: re.Match[str]) -> bool:
    """True where a sentence asks for a text of a length, and the query for nothing else."""
    rest = asked[: request.start()] + " " + asked[request.end() :]
    return bool(_TASK.search(asked[: request.end()])) and not _SEVERAL.search(rest)


def _beyond(bound: str, count: str, found: list[int], unit: str) -> str | None:
    """The sentence about a number that is not as asked; None where it is, by one way to count.

    Args:
        bound: the words before the number that is asked for.
        count: that number.
        found: the numbers by each way to count, the usual one first, which is the one that is told.
        unit: what is counted.
    """
    n_asked, least, usual = _counted(count), min(found), found[0]
    units = unit + "s" * (usual != 1)
    if not _AT_MOST.search(bound) and not _BELOW.search(bound):
        if least <= n_asked <= max(found):
            return None
        return _breaks("response", _spelt(usual), units, "request for", n_asked)
    if least < n_asked or (least == n_asked and _AT_MOST.search(bound)):
        return None
    return _breaks("response", _spelt(usual), units, "limit of", n_asked)


def _breaks(what: str, found: str, unit: str, kind: str, n_asked: int) -> str:
    return f"The {what} has {found} {unit}, which breaks the {kind} {_spelt(n_asked)}."


def _word_counts(text: str) -> Iterator[int]:
    """The number of words by the ways to count that people use."""
    spaced = [word for word in text.split() if any(map(str.isalnum, word))]
    yield len(spaced)
    yield len(text.split())
    yield len([word for word in spaced if word.casefold() != "and"])
    yield len(re.findall(r"[^\W_]+(?:['’.,][^\W_]+)*", text))


def _is_prose(response: str) -> bool:
    """True for sentences in one paragraph, with nothing that introduces or refuses them."""
    text = response.strip()
    return not any(mark in text for mark in '\n:;"“[') and _REFUSES.search(text) is None


def _counted(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS.index(text.lower())


def _spelt(number: int) -> str:
    return _NUMBERS[number] if number <= 12 else f"{number:,}"
