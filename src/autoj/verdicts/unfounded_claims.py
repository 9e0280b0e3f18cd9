"""Claims of an error that a judge's critique has no ground for.

A small judge that has looked for a mistake in a good response and found none may still claim one:
of the claims that the shipped one adds of its own, nearly all are false (`experiments/LOG.md`).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from autoj.corrections import beyond_finding
from autoj.critiques import strip_rating
from autoj.mistakes import beyond_mistake
from autoj.verdicts.claims import Sentence, fold_text, open_quotation, read_sentences

OMITTED = "[unfounded claim not shown]"
"""Stands for what is left out of a critique."""
NOTHING_LEFT = "It names nothing that is surely wrong."
"""Stands where nothing is left of one."""

_BUT = re.compile(r",\s{1,3}but\b")
_NO_END = re.compile(r"\b(?:mr|mrs|ms|dr|st|no|vs|e\.g|i\.e)\.\Z|(?:\A|\s)\d{1,3}\.\Z|:\W{0,9}\Z")
"""Ends no sentence, or announces the next one."""
# Not among the denials of `claims`: by these, benches of stored runs are counted.
_HARMLESS = re.compile(
    r"\b(?:errors?|mistakes?|faults?): none\b|\b(?:zero|avoids?|free (?:of|from)) (?:\w+ ){0,2}?"
    r"(?:errors?|mistakes?|bugs?)(?: (?:and|or) \w+)?\b|\berror-free\b"
    r"|\b(?:miss|omit|ignore|lack|break|skip)(?:e?s)? (?:nothing|no)\b"
    # Of code, and not "a reader will catch the error in it".
    r"|(?<!will )(?<!would )(?<!can )(?<!could )(?<!may )(?<!might )(?<!\bi )"
    r"\b(?:catch|handl|prevent|detect|check(?:s|ing)? for|guard(?:s|ing)? against)(?:e?s|e|ing)? "
    r"(?:(?:any|all|such|possible|potential|common|input|division|type|value|key|network) )?"
    r"(?:errors|failures|bugs|mistakes)\b(?! in\b)"
)
"""Words for an error that say that there is none."""
# "The name is right and the date is wrong", but not "it says which one is right and …".
_AND_WRONG = re.compile(
    r"\b(?:is|are|was|were) (?:also )?(?:right|correct|accurate|true|fine),? and (?:[\w'-]+ ){1,7}?"
    r"(?:is|are|was|were) (?:also )?(?:wrong|incorrect|inaccurate|mistaken)\b"
)
_ABOUT = re.compile(
    r"\b(?:that|whether|why|how|when|if|where|which|what|who|because|since|as"
    r"|(?:say|state|explain|point|note|mention|show|call|tell|mark|identifie|find|see)s|said)\b"
)
_OF_THE_FINDING = re.compile(r"[\s\"'*-]*(?:this|that|which)\b")
_QUOTED = re.compile(r'"([^"\n]+)"')


def without_unfounded_claims(critique: str) -> str:
    """A critique without claims of an error but the finding at its beginning and what explains it.

    A sentence that claims an error is left out, with those behind it, which explain it, up to the
    next one that praises. Of "It is right, but …" the praise stays, and so does the rating at the
    end. A sentence that praises and neither denies nor contrasts claims none: "It rightly says that
    this is false."

    Args:
        critique: the text, with the mistake that was found at its beginning, if one was.

    Returns:
        The critique, with `OMITTED` where something was left out; the same text where nothing was.

    >>> without_unfounded_claims("The sum is right, but the unit is wrong. It is km.")
    'The sum is right. [unfounded claim not shown]'
    >>> without_unfounded_claims("Wrong answer. It is clear.")
    '[unfounded claim not shown] It is clear.'
    >>> without_unfounded_claims("Wrong answer.")
    'It names nothing that is surely wrong. [unfounded claim not shown]'
    """
    prose = strip_rating(critique)
    rest = beyond_mistake(beyond_finding(prose))
    finding = prose[: len(prose) - len(rest)]
    left = "".join(_left(rest, finding)).strip()
    if OMITTED not in left:
        return critique
    if left == OMITTED and not finding:
        left = f"{NOTHING_LEFT} {OMITTED}"
    return f"{finding} {left}".strip() + critique[len(prose) :]


def what_stays(begun: str) -> str:
    """The beginning of a critique that stays whether claims without ground are left out or not.

    Args:
        begun: a critique that is still being written. Its last sentence may go on and claim an
            error yet, and so may one with an open quotation.

    >>> what_stays("The sum is right. The unit is clear, bu")
    'The sum is right.'
    >>> what_stays("The sum is right, but the unit is wrong. It is km. The")
    'The sum is right'
    """
    whole = list(_whole(read_sentences(begun[: open_quotation(begun)])))[:-1]
    if not whole:
        return ""
    last = whole[-1][-1]
    sure = begun[: last.start + len(last.text)]
    kept, _, _ = without_unfounded_claims(sure).partition(OMITTED)
    pairs = zip(sure, kept.removeprefix(NOTHING_LEFT), strict=False)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _left(rest: str, finding: str) -> Iterator[str]:
    """The parts of a critique behind its finding, with a mark for each that is left out."""
    end, omits = 0, False
    for number, sentences in enumerate(_whole(read_sentences(rest))):
        start = sentences[0].start
        # A semicolon ends a sentence together with the space behind it.
        gap = rest[end:start] or ("" if rest[:start].endswith(" ") else " ")
        end = sentences[-1].start + len(sentences[-1].text)
        explains = number == 0 and _OF_THE_FINDING.match(sentences[0].text) is not None
        if finding and (explains or _names(sentences, finding)):
            omits = False
        elif any(map(_claims_error, sentences)):
            praise = _praise(rest[start:end], sentences)
            yield f"{gap}{praise}" if praise else ""
            yield "" if omits and not praise else f" {OMITTED}"
            omits = True
            continue
        elif omits and not any(each.praises for each in sentences):
            continue
        omits = False
        yield f"{gap}{rest[start:end]}"


def _whole(sentences: Sequence[Sentence]) -> Iterator[tuple[Sentence, ...]]:
    """Sentences; what ends with an abbreviation, a number of a list or a colon goes with the next.

    Each is a tuple of those that belong together.
    """
    begun: list[Sentence] = []
    for each in sentences:
        begun.append(each)
        if _NO_END.search(each.text) is None:
            yield tuple(begun)
            begun.clear()
    if begun:
        yield tuple(begun)


def _claims_error(sentence: Sentence) -> bool:
    """True for a sentence that says of the response that something is wrong with it."""
    if not sentence.claims_error:
        return False
    return any(
        each.claims_error and (not each.praises or each.contrasts or _ends_in_a_fault(each))
        for each in read_sentences(_HARMLESS.sub(" ", sentence.text))
    )


def _ends_in_a_fault(sentence: Sentence) -> bool:
    """True where one thing is praised and another one called wrong, without a contrast."""
    found = _AND_WRONG.search(sentence.own_words)
    return found is not None and _ABOUT.search(sentence.own_words, 0, found.start()) is None


def _names(sentences: Sequence[Sentence], finding: str) -> bool:
    """True where one of the words that a finding quotes is spoken of again."""
    quoted = {re.escape(text) for text in _QUOTED.findall(fold_text(finding))}
    named = re.compile(rf"(?<!\w)(?:{'|'.join(quoted)})(?!\w)") if quoted else None
    return named is not None and any(named.search(each.text) for each in sentences)


def _praise(text: str, sentences: Sequence[Sentence]) -> str:
    """The praise of a sentence before its "but", as a sentence; empty where there is none."""
    found = _BUT.search(sentences[0].own_words) if len(sentences) == 1 else None
    clause = "" if found is None else text[: found.start()]
    read = read_sentences(clause)
    is_praise = bool(read) and all(
        each.praises and not each.contrasts and not each.claims_error for each in read
    )
    return f"{clause}." if is_praise else ""
