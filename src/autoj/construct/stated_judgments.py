"""Judgments that the rows of a source bring along, such as those of the paper's release.

A judgment is in a row's `target_output` (the release) or in `meta.judgment` (native rows). One of a
pair is taken where it is in the layout of Table 18 and states the label; without it, the pair may
still be judged. A row with one response is a row at all only by its judgment, so that one is
dropped with its row where it has no rating.
"""

from dataclasses import replace

from autoj import critiques
from autoj.critiques import closed_by_rating, strip_rating
from autoj.protocols import load_protocol
from autoj.records import Case, Rating, Winner

_LABELS: dict[str, Winner] = {"1": "a", "2": "b", "tie": "tie"}


def with_own_judgment(case: Case) -> Case:
    """A row with its judgment, if it has one to take, in `meta.judgment` alone."""
    meta = dict(case.meta)
    found = meta.pop("judgment", None)
    if found is None and len(case.critiques) == 1:
        (found,) = case.critiques
    is_text = isinstance(found, str) and bool(found.strip())
    if is_text and (len(case.responses) == 1 or _states_label(found, case)):
        meta["judgment"] = found
    return replace(case, meta=meta, critiques=())


def _states_label(judgment: str, case: Case) -> bool:
    found = critiques.parse(judgment)
    return found is not None and _LABELS[found.decision] == case.label


def rated(case: Case) -> Case | tuple[str, str | None]:
    """A row of one response with its judgment closed as the judge's prompt asks for it.

    Args:
        case: a row with `meta.judgment`.

    Returns:
        The row, with the rating as its label where it has none, or the reason for which its
        judgment is of no use, with details.
    """
    judgment = case.meta["judgment"]
    judged = (case.query, case.responses[0].text)
    protocol = load_protocol("single-zh" if case.language == "zh" else "single")
    reading = protocol.parse(judgment, judged)
    if not isinstance(reading, Rating):
        return "no readable rating", getattr(reading, "reason", None)
    if case.label not in (None, reading.value):
        return "disagrees with the label", f"{reading.value:g}, label {case.label}"
    critique = strip_rating(judgment).strip()
    if critique == judgment.strip():
        return "the rating is not at the end", None
    if not critique:
        return "no critique", None
    closed = closed_by_rating(critique, reading.value, case.language)
    return replace(case, label=reading.value, meta={**case.meta, "judgment": closed})
