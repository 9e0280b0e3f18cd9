"""One case of a run with its judgments, verdict and critiques."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from autoj.calibration import style_lead
from autoj.records import (
    BudgetedVerdict,
    Case,
    Decision,
    Failure,
    Judgment,
    Label,
    MarkedVerdict,
    Rating,
    Score,
    Unreadable,
    Verdict,
    Winner,
)
from autoj.reports import render
from autoj.reports.text import visible_text
from autoj.reports.verdict_cells import rating_cell, why_unrated, winner_text
from autoj.runs import CaseRecord
from autoj.runs.naming import naming_of
from autoj.verdicts.critique_faults import ShownCritique, marked_critiques
from autoj.verdicts.own_frame import to_winner
from autoj.verdicts.resolve import RULES


def first_critique(pairs: Iterable[tuple[Case, Verdict]]) -> list[RenderableType]:
    """The first critique of some verdicts, as an example; empty without one."""
    for case, verdict in pairs:
        for critique in marked_critiques(case, verdict):
            if critique is not None:
                return _critique_block(f"Critique of case {case.id}", critique)
    return []


def _critique_block(title: str, critique: ShownCritique) -> list[RenderableType]:
    marks = [] if critique.mark is None else render.notes([f"[{critique.mark}]"])
    marks = [Padding(mark, (0, 0, 0, 2)) for mark in marks]
    return [*(_block(title, critique.text, None) if critique.text else [Text(title)]), *marks]


def case_view(record: CaseRecord, n_lines: int | None = None) -> RenderableType:
    """A case with its judgments.

    Args:
        record: its rows in the run.
        n_lines: the most lines of the query and of each response; None shows all.
    """
    return Group(
        *subject_parts(record.case, n_lines),
        Rule("Judgments", align="left", style="dim"),
        *judgment_parts(record),
    )


def subject_parts(case: Case, n_lines: int | None) -> list[RenderableType]:
    """The subject of a judgment: the query and the responses.

    Args:
        case: it.
        n_lines: the most lines of each; None shows all.
    """
    parts: list[RenderableType] = [_heading(case)]
    parts += _block("Query", case.query, n_lines)
    names = ["Response a", "Response b"] if len(case.responses) == 2 else []
    for index, response in enumerate(case.responses):
        name = names[index] if names else f"Response {index + 1}"
        title = f"{name} ({response.model})" if response.model else name
        parts += _block(title, response.text, n_lines)
    return parts


def judgment_parts(record: CaseRecord) -> list[RenderableType]:
    """A judge's judgments of a case, its verdict and its critiques."""
    verdict = record.verdict
    parts: list[RenderableType] = [_judgments(record)]
    if verdict is None:
        return [*parts, Text("This case is not judged yet.", style="yellow")]
    parts.append(_verdict_lines(verdict, record))
    if record.paired and any(verdict.critiques):
        parts += render.notes(["In critiques, Response 1 is a and Response 2 is b."])
    for critique in marked_critiques(record.case, verdict):
        if critique is not None:
            parts += _critique_block("Critique", critique)
    return parts


def _heading(case: Case) -> Text:
    text = visible_text(f"Case {case.id}", style="bold")
    for name, value in (("scenario", case.scenario), ("label", case.label)):
        if value is not None:
            text.append_text(visible_text(f"  {name} {value}", style="dim"))
        if name == "scenario" and (naming := naming_of(case)) is not None:
            text.append_text(visible_text(f" ({_named(naming)})", style="dim"))
    return text


def _named(naming: Mapping[str, Any]) -> str:
    """The origin of a scenario that the row does not name."""
    if naming["by"] == "own name":
        return "unknown name"
    if naming["by"] == "unknown":
        return f"its row names {naming['row']!r}, an unknown scenario"
    guess = f", called {naming['guess']!r}" if "guess" in naming else ""
    return (
        f"by the classifier {naming['classifier']}, probability {naming['probability']:.2f}{guess}"
    )


def _block(title: str, body: str, n_lines: int | None) -> list[RenderableType]:
    lines = body.strip("\n").split("\n")
    shown = "\n".join(lines[:n_lines]) if body.strip() else "(empty)"
    parts: list[RenderableType] = [
        Rule(visible_text(title), align="left", style="dim"),
        Padding(visible_text(shown), (0, 0, 0, 2)),
    ]
    if n_lines is not None and len(lines) > n_lines:
        parts += render.notes([f"  … {len(lines) - n_lines} more lines; --full shows them"])
    return parts


def _judgments(record: CaseRecord) -> render.Listing:
    listing = render.Listing(*map(render.Column.prose, ("prompt shows", "reading", "tokens")))
    drawn = len({asked.sample for asked, _ in record.judgments}) > 1
    for asked, outcome in record.judgments:
        page = _page(asked.shown) if record.paired else _alone(asked.shown)
        page += f", sample {asked.sample + 1}" if drawn else ""
        tokens: render.Cell = None
        if isinstance(outcome, Judgment):
            completion = outcome.completion
            tokens = f"{completion.prompt_tokens:,} + {completion.completion_tokens:,}"
            tokens += ", truncated" if asked.truncated else ""
            reading = _reading(outcome)
        elif isinstance(outcome, Failure):
            reading = visible_text(f"failed: {outcome.message}", style="red")
        else:
            reading = Text("no answer yet", style="dim")
        listing.add(page, reading, tokens)
    return listing


def _page(shown: tuple[int, ...]) -> str:
    page = " then ".join("ab"[index] for index in shown)
    return page + (" alone" if len(shown) == 1 else "")


def _alone(shown: tuple[int, ...]) -> str:
    return f"response {shown[0] + 1}" if shown else "the query"


def _reading(judgment: Judgment) -> Text:
    reading = judgment.reading
    if isinstance(reading, Decision):
        text = f"Response {reading.shown}" if reading.shown != "tie" else "Tie"
        winner = to_winner(reading.shown, judgment.asked.shown)
        if winner != "tie":
            text += f", which is {winner}"
        if reading.probabilities is not None:
            text += " ({:.3f} / {:.3f} / tie {:.3f})".format(*reading.probabilities)
        return Text(text)
    if isinstance(reading, Rating):
        return Text(f"rating {reading.value:.2f}")
    if isinstance(reading, Label):
        return visible_text(f"scenario {reading.name}")
    if isinstance(reading, Score):
        return Text(f"score {reading.value:.4f}")
    if isinstance(reading, Unreadable):
        return visible_text(f"unreadable: {reading.reason}", style="yellow")
    return Text("critique")


def _verdict_lines(verdict: Verdict, record: CaseRecord) -> Text:
    digits = 2 if record.paired else 1
    spreads = verdict.rating_sds or [None] * len(verdict.ratings)
    cells = zip(verdict.ratings, spreads, strict=True)
    missing = why_unrated(verdict)
    ratings = Text(", ").join(
        [rating_cell(rating, digits, spread, missing=missing) for rating, spread in cells]
    )
    if verdict.rating_sds:
        ratings.append(" (mean ± standard deviation of the samples)")
    if not record.paired and not verdict.ratings:
        return visible_text(f"Scenario: {verdict.scenario or 'not known'}")
    if not record.paired:
        return Text("Rating: ").append_text(ratings)
    text = Text("Winner: ").append_text(winner_text(verdict, record.case))
    if verdict.rule is not None:
        text.append(f" ({RULES[verdict.rule]})")
    pages = dict.fromkeys(asked.shown for asked, _ in record.judgments)
    for page, winner, share in zip(pages, verdict.winners, verdict.vote_shares, strict=False):
        text.append(f"\nVote on {_page(page)}: {_vote(winner, share)}")
    if verdict.ratings:
        text.append("\nRatings of a and b: ").append_text(ratings)
    if record.calibration is not None and record.calibration.surface:
        lead = style_lead(record.case, record.calibration.surface)
        text.append(f"\nStyle features (length, layout, markup) add to a: {lead:+.2f}")
    if verdict.probabilities is not None:
        a, b, tie = verdict.probabilities
        how = "Averaged over the orders" if verdict.winners else "Calibrated"
        if record.calibration is not None and len(verdict.winners) == 2:
            how += " and calibrated"
        text.append(f"\n{how}: P(a) {a:.3f}, P(b) {b:.3f}, P(tie) {tie:.3f}")
    if isinstance(verdict, BudgetedVerdict):
        text.append(f"\n{_orders_asked(verdict)}")
    if isinstance(verdict, MarkedVerdict) and verdict.confidence is not None:
        mark = "unsure (?)" if verdict.unsure else "sure"
        text.append(f"\nConfidence: {verdict.confidence:.3f}, which the judge's card calls {mark}")
    return text


def _orders_asked(verdict: BudgetedVerdict) -> str:
    if verdict.first_confidence is None:
        first = "the first gives no probabilities"
    else:
        sure = "sure" if verdict.first_sure else "unsure"
        first = f"the first is {sure}, with {verdict.first_confidence:.3f}"
    drawn = "; the pair is of the random share that is asked in full" if verdict.drawn else ""
    return f"Orders asked: {verdict.n_orders} of 2, {first}{drawn}"


def _vote(winner: Winner | None, share: float | None) -> str:
    if share is None:
        return "too few readable samples"
    percent = render.percent(share)
    if winner is None:
        return f"no majority; at most {percent} of the readable samples agree"
    return f"{winner}, by {percent} of the readable samples"
