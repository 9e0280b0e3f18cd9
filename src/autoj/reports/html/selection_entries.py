"""A query of a selection on a page: its responses by rating, the pick first, and its matches."""

from collections.abc import Iterator, Sequence

from autoj.records import Case
from autoj.reports import render
from autoj.reports.html.listing import EntryText, PageEntry, PageTable, shown
from autoj.reports.text import page_text
from autoj.tasks.selection_folder import Selection
from autoj.verdicts.critique_faults import marked_critiques
from autoj.verdicts.knockout import MATCH_RULES, Match
from autoj.verdicts.selection import PICK_RULES

_CLOSE = 0.5
"""The largest lead, in points of rating, of a pick that is close."""
SHOW = {
    "none": "no pick",
    "level": "picked among equals",
    "close": f"lead of at most {_CLOSE:g}",
    "beaten": "another has a higher reference score",
    "unreadable": "a judgment was unreadable",
    "failed": "a request failed",
    "truncated": "a response was cut to fit",
}
"""Kinds of queries, in words."""
FAULTS = {"none", "unreadable", "failed"}
_NOBODY = "(no pick)"


def selection_kinds(found: Selection) -> tuple[str, ...]:
    """The kinds of `SHOW` that a query is one of."""
    scores = [response.reference_score for response in found.case.responses]
    verdict, pick = found.verdict, found.picked
    holds = {
        "none": pick is None,
        "level": pick is not None and pick.rule in ("output probability", "first"),
        "close": found.gap is not None and found.gap <= _CLOSE,
        "beaten": pick is not None and (_lost(scores, pick.selected) or 0) > 0,
        "unreadable": verdict.n_unreadable > 0,
        "failed": verdict.n_failed > 0,
        "truncated": verdict.n_truncated > 0,
    }
    return tuple(name for name, its in holds.items() if its)


def _lost(scores: Sequence[float | None], selected: int) -> float | None:
    """The reference score of the best response less that of the pick."""
    mine = scores[selected]
    known = [score for score in scores if score is not None]
    return None if mine is None else max(known) - mine


def selection_entry(found: Selection, scalar: bool) -> PageEntry:
    """A query with its responses, its pick and the reason.

    Args:
        found: its pick with what is behind it.
        scalar: True where ratings have no scale.
    """
    case, verdict, pick = found.case, found.verdict, found.picked
    kinds = selection_kinds(found)
    selected = None if pick is None else pick.selected
    scores = [response.reference_score for response in case.responses]
    lost = None if selected is None else _lost(scores, selected)
    picked = _NOBODY if selected is None else response_name(case, selected)
    model = _NOBODY if pick is None else shown(pick.model or "(no model named)")
    facts = [("picked", picked if pick is None else f"{picked}: {PICK_RULES[pick.rule]}")]
    if found.gap is not None:
        facts.append(("lead over the next", render.number(found.gap, 3 if scalar else 2)))
    if lost is not None:
        facts.append(("reference score lost", render.number(lost, 3)))
    critiques = [
        (at, critique.text + ("" if critique.mark is None else f" [{critique.mark}]"))
        for at, critique in enumerate(marked_critiques(case, verdict))
        if critique is not None
    ]
    order = _by_rating(found)
    return PageEntry(
        id=shown(case.id),
        query=page_text(case.query),
        summary=" · ".join([f"{picked} of {len(case.responses)}", *(SHOW[kind] for kind in kinds)]),
        values={
            "show": kinds,
            "picked": (model,),
            "rule": () if pick is None else (pick.rule,),
            "scenario": () if case.scenario is None else (shown(case.scenario),),
        },
        numbers={
            "unsure": 0.0 if found.gap is None else 1 / (1 + found.gap),
            "lost": -1.0 if lost is None else lost,
        },
        tags=(
            *(() if case.scenario is None else ((shown(case.scenario), False),)),
            *((SHOW[kind], kind in FAULTS) for kind in kinds),
        ),
        facts=tuple(facts),
        tables=tuple(_tables(found, order, scalar)),
        texts=(
            *(
                EntryText(
                    heading=response_name(found.case, at) + (", picked" if at == selected else ""),
                    text=page_text(case.responses[at].text),
                    chosen=at == selected,
                )
                for at in order
            ),
            *(
                EntryText(
                    heading=f"Critique of {response_name(found.case, at)}", text=page_text(critique)
                )
                for at, critique in critiques
            ),
        ),
    )


def response_name(case: Case, at: int) -> str:
    """A response by its number from 1, with the model that wrote it."""
    model = case.responses[at].model
    return f"Response {at + 1}" + ("" if model is None else f" ({shown(model)})")


def _by_rating(found: Selection) -> list[int]:
    """The responses, the pick first, then by rating, those without one last."""
    selected = None if found.picked is None else found.picked.selected
    ratings = found.verdict.ratings or (None,) * len(found.case.responses)

    def place(at: int) -> tuple[bool, bool, float, int]:
        rating = ratings[at]
        return (at != selected, rating is None, -(rating or 0.0), at)

    return sorted(range(len(ratings)), key=place)


def _tables(found: Selection, order: Sequence[int], scalar: bool) -> Iterator[PageTable]:
    responses, ratings = found.case.responses, found.verdict.ratings
    scored = any(response.reference_score is not None for response in responses)
    headings: tuple[str, ...] = ("response",)
    headings += ("rating",) if ratings else ()
    headings += ("reference score",) if scored else ()
    if len(headings) > 1:
        rows = []
        for at in order:
            row = [response_name(found.case, at)]
            if ratings:
                row.append(render.number(ratings[at], 3 if scalar else 2))
            if scored:
                row.append(render.number(responses[at].reference_score, 3))
            rows.append(tuple(row))
        yield PageTable(headings=headings, rows=tuple(rows))
    if found.matches:
        headings = ("round", "first", "second", "goes on", "because", "P(first)", "P(second)")
        matches = tuple(_match(match) for match in found.matches)
        yield PageTable(headings=headings, rows=matches, n_texts=5)


def _match(match: Match) -> tuple[str, ...]:
    shares = match.verdict.probabilities
    return (
        str(match.round),
        *(f"response {at + 1}" for at in match.pair),
        "both" if match.winner is None else f"response {match.winner + 1}",
        MATCH_RULES[match.rule],
        *(render.number(None if shares is None else shares[at], 3) for at in (0, 1)),
    )
