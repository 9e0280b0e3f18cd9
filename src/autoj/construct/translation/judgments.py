"""Translated judgments, rendered so that the target language's protocols read the same verdict."""

from collections.abc import Sequence

from autoj import critiques
from autoj.construct.reformatting import NotReformattable, reformat
from autoj.construct.response_names import named_alike
from autoj.construct.translation.checks import Fault
from autoj.critiques import Language, PairCritique, closed_by_rating, strip_rating
from autoj.protocols import load_protocol
from autoj.records import Case, Decision, Rating


def verdict_of(case: Case) -> str | float | None:
    """The verdict of a row's judgment: "1", "2" or "tie", or a rating; None where it has none."""
    judgment = case.meta.get("judgment")
    if not isinstance(judgment, str):
        return None
    if len(case.responses) == 2:
        parsed = critiques.parse(judgment)
        return None if parsed is None else parsed.decision
    return _verdict(judgment, case, case.language)


def rendered(judgment: str, translation: str, verdict: str | float, made: Case) -> str | Fault:
    """A translated judgment in the layout of its language, or the reason it is of no use.

    Args:
        judgment: the original.
        translation: the teacher's text.
        verdict: the original's verdict, from `verdict_of`.
        made: the row with its query and responses in the language, which the judgment may quote.
    """
    is_pair = len(made.responses) == 2
    named = named_alike(translation, made.language) if is_pair else translation.strip()
    found = _verdict(named, made, made.language)
    if found is None:
        return "no readable verdict", None
    if found != verdict:
        return "verdict changed", f"{found} for {verdict}"
    laid_out = (
        _pair(judgment, named, made.language)
        if is_pair
        else _single(named, float(found), made.language)
    )
    if isinstance(laid_out, str) and _verdict(laid_out, made, made.language) != verdict:
        return "cannot be reformatted", "its verdict could not be read again"
    return laid_out


def _single(translation: str, rating: float, language: Language) -> str | Fault:
    """The critique of one response, closed by its rating."""
    critique = strip_rating(translation).strip()
    if critique == translation:
        return "the rating is not at the end", None
    if not critique:
        return "no critique", None
    return closed_by_rating(critique, rating, language)


def _pair(judgment: str, translation: str, language: Language) -> str | Fault:
    """The critique of a pair, with all factors and names of responses of the original."""
    original = critiques.parse(judgment)
    assert original is not None
    try:
        critique = reformat(translation, original.decision)
    except NotReformattable as error:
        return "cannot be reformatted", str(error)
    if critique.language != language:
        return "reply in another language", None
    return _lost(original, critique) or critiques.render(critique)


def _lost(original: PairCritique, critique: PairCritique) -> Fault | None:
    """The factors or names of responses that a translated critique has more or fewer of."""
    n_factors, n_kept = len(original.factors), len(critique.factors)
    if n_kept != n_factors:
        return "factors changed", f"{n_kept} for {n_factors}"
    for before, after in zip(_parts(original), _parts(critique), strict=True):
        counts = critiques.count_responses(before), critiques.count_responses(after)
        for name, (wanted, found) in enumerate(zip(*counts, strict=True), start=1):
            if found != wanted:
                detail = f"response {name} is named {found} times for {wanted}: {after[:40]!r}"
                return "references changed", detail
    return None


def _parts(critique: PairCritique) -> list[str]:
    """The texts of a critique: its factors and its remark."""
    return [*(f"{each.name}: {each.explanation}" for each in critique.factors), critique.remark]


def _verdict(text: str, case: Case, language: str) -> str | float | None:
    """The verdict that the protocol of a language reads from a judgment; None for none."""
    kind = "pairwise" if len(case.responses) == 2 else "single"
    protocol = load_protocol(f"{kind}-zh" if language == "zh" else kind)
    reading = protocol.parse(text, _judged(case))
    if isinstance(reading, Decision):
        return reading.shown
    return reading.value if isinstance(reading, Rating) else None


def _judged(case: Case) -> Sequence[str]:
    return (case.query, *(response.text for response in case.responses))
