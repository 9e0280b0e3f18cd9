"""The texts of a row that a teacher translates, and what its answers make of them."""

from dataclasses import dataclass, replace
from typing import TypeAlias

from autoj.construct.languages import Identify
from autoj.construct.recipe import TranslatedField
from autoj.construct.teacher import fault_of
from autoj.construct.translation.checks import Fault, has_words, kept_fault, reply_fault
from autoj.construct.translation.code import SetAside, put_back, set_aside
from autoj.construct.translation.judgments import rendered, verdict_of
from autoj.critiques import Language
from autoj.records import Case, Critique, Failure, Judgment, Response

Answer: TypeAlias = Judgment | Failure | None
"""The outcome of a request."""

_MOST_CHARACTERS = 200_000
"""A reply that is longer is not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text of a row."""

    field: TranslatedField
    place: str
    """Its name for a reader, such as "response 2"."""
    whole: str
    aside: SetAside
    asked: Case | None
    """The case that the teacher is asked about; None for a text without words to translate."""


def texts_of(case: Case, field: TranslatedField, to: Language) -> tuple[Text, ...]:
    """The texts of a row in a field; none where it has no judgment."""
    match field:
        case "query":
            return (_text(case, field, field, case.query, to),)
        case "responses":
            numbered = enumerate(case.responses, start=1)
            return tuple(
                _text(case, field, f"response {number}", response.text, to)
                for number, response in numbered
            )
        case "judgment":
            found = case.meta.get("judgment")
            return (_text(case, field, field, found, to),) if isinstance(found, str) else ()


def _text(case: Case, field: TranslatedField, place: str, whole: str, to: Language) -> Text:
    aside = set_aside(whole)
    asked = replace(
        case,
        id=f"{case.id}:{place.replace(' ', '-')}",
        responses=(Response(text=aside.text),),
        label=None,
        language=to,
        meta={},
    )
    needed = has_words(aside.text, to)
    return Text(field=field, place=place, whole=whole, aside=aside, asked=asked if needed else None)


def translation_of(
    text: Text, answer: Answer, case: Case, made: Case, identify: Identify
) -> str | Fault:
    """The translation of a text, or the reason for which there is none.

    Args:
        text: the text.
        answer: the teacher's; None where it was not asked.
        case: the row.
        made: its translation so far: of a judgment, with the query and the responses.
        identify: identifies languages.
    """
    if text.asked is None:
        return text.whole
    if (fault := fault_of(answer, text.asked, _MOST_CHARACTERS)) is not None:
        # An answer of the protocol is unreadable only where there is nothing in its marks.
        return ("empty reply", None) if fault[0] == "no readable verdict" else fault
    assert isinstance(answer, Judgment)
    assert isinstance(answer.reading, Critique)
    found = put_back(answer.reading.text, text.aside)
    if found is None:
        return "code changed", "a sign that stands for it is lost, or is there twice"
    if (fault := reply_fault(text.whole, found, made.language, identify)) is not None:
        return fault
    if text.field == "judgment":
        verdict = verdict_of(case)
        assert verdict is not None
        laid_out = rendered(text.whole, found, verdict, made)
        if not isinstance(laid_out, str):
            return laid_out
        found = laid_out
    return kept_fault(text.whole, found) or found
