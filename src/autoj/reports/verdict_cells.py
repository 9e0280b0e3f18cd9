"""Cells of a verdict: its winner, ratings, votes and probabilities; and counts of wins."""

from collections.abc import Mapping
from typing import Literal

from rich.text import Text

from autoj.records import Case, Estimate, SureThreshold, Verdict
from autoj.reports import render
from autoj.reports.text import visible_text
from autoj.runs.authors import Authors
from autoj.verdicts.only import is_wrong
from autoj.verdicts.sureness import is_unsure


def winner_cell(verdict: Verdict) -> Text:
    """Its winner, or the reason that it has none."""
    if verdict.winner is not None:
        return Text(f"{verdict.winner}?" if is_unsure(verdict) else verdict.winner, style="bold")
    if verdict.rule == "split":
        return Text("split", style="yellow")
    return Text("failed" if verdict.n_failed else "unknown", style="yellow")


def threshold_text(threshold: SureThreshold) -> str:
    """The sentence that explains the mark of unsure verdicts.

    >>> threshold_text(SureThreshold(below=0.62, right=0.85, n=1200, fitted_on="val.jsonl"))
    'unsure, with a confidence below 0.62; fitted for 85.0 % right of the rest, on 1,200 pairs of \
val.jsonl'
    """
    text = f"unsure, with a confidence below {threshold.below:g}"
    if threshold.right is not None:
        text += f"; fitted for {render.percent(threshold.right)} right of the rest"
        text += "" if threshold.n is None else f", on {threshold.n:,} pairs"
        text += f" of {threshold.fitted_on}" if threshold.fitted_on else ""
    return text


def winner_text(verdict: Verdict, case: Case) -> Text:
    """The winner with its author, and the label if that is another."""
    text = winner_cell(verdict)
    if verdict.winner in ("a", "b") and len(case.responses) == 2:
        name = case.responses["ab".index(verdict.winner)].model
        if name:
            text.append_text(visible_text(f", {name}"))
    if is_wrong(case, verdict):
        text.append(f"; the label is {case.label} ✗", style="bold red")
    return text


def why_unrated(verdict: Verdict) -> str:
    """The reason of a missing rating; "no rating" if some failed and some are unreadable.

    >>> why_unrated(Verdict(case_id="1", judge="j", ratings=(None,), n_failed=1))
    'failed'
    """
    if verdict.n_failed and verdict.n_unreadable:
        return "no rating"
    return "failed" if verdict.n_failed else "unreadable"


def rating_cell(
    rating: float | None,
    digits: int = 1,
    deviation: float | None = None,
    *,
    missing: str = "unreadable",
) -> Text:
    """A rating, with the standard deviation of its samples if there are several.

    Args:
        rating: None if it is missing.
        digits: after the point.
        deviation: of its samples.
        missing: the text of a missing rating, from `why_unrated`.
    """
    if rating is None:
        return Text(missing, style="yellow")
    spread = "" if deviation is None else f" ± {render.number(deviation, digits)}"
    return Text(f"{render.number(rating, digits)}{spread}")


def ratings_text(verdict: Verdict) -> str:
    """The ratings of both responses of a pair."""
    return ", ".join(render.number(rating, 2) for rating in verdict.ratings)


def votes_text(verdict: Verdict) -> str:
    """Per order, the share of its readable samples that agree with the majority."""
    return ", ".join(render.number(share, 2) for share in verdict.vote_shares)


def probability_cells(verdict: Verdict) -> list[str]:
    """The probabilities of a, b and a tie."""
    return [render.number(share, 3) for share in verdict.probabilities or (None, None, None)]


_NAME_COLUMNS = 24
"""Columns of a model's name in a label, at most."""


def side_name(side: Literal["a", "b"], authors: Authors, most_columns: int = _NAME_COLUMNS) -> str:
    """The model behind a or b, shortened; else the letter.

    >>> side_name("a", Authors(a="airoboros-33b", b="vicuna-7b")), side_name("a", Authors())
    ('airoboros-33b', 'a')
    """
    name = authors.name(side)
    if name is None:
        return side
    text = visible_text(" ".join(name.split()))
    text.truncate(most_columns, overflow="ellipsis")
    return text.plain


def side_names(authors: Authors) -> str | None:
    """The models behind a and b, or the reason that there is no such model; None if none is named.

    >>> side_names(Authors(a="x", b="y", n_a=1, n_b=1)), side_names(Authors(n_a=3, n_b=1))
    ('a is x, b is y', 'several models wrote them (a 3, b 1)')
    """
    if authors.a is not None and authors.a == authors.b:
        return f"both are {authors.a}"
    named = [f"{side} is {name}" for side in ("a", "b") if (name := authors.name(side))]
    if named:
        return ", ".join(named)
    if max(authors.n_a, authors.n_b) > 1:
        return f"several models wrote them (a {authors.n_a:,}, b {authors.n_b:,})"
    return "not every response names its model" if authors.n_a or authors.n_b else None


def figure_label(estimate: Estimate, authors: Authors) -> str:
    """The label of a figure on a line; a win rate is that of the model behind a."""
    label = render.ESTIMATE_LABELS[estimate.name]
    if estimate.name != "win rate" or authors.name("a") is None:
        return label
    return label.replace("of a", f"of {side_name('a', authors)}")


def label_cell(case: Case, verdict: Verdict) -> Text:
    """The human label; a verdict that names another winner is marked as wrong."""
    if case.label is None:
        return Text(render.MISSING)
    if not isinstance(case.label, str):
        return Text(render.number(case.label, 1))
    if is_wrong(case, verdict):
        return Text(f"{case.label} ✗", style="bold red")
    return Text(case.label)


def wins_text(winners: Mapping[str, int]) -> str:
    """The numbers of wins of a and b, and of ties.

    >>> wins_text({"a": 1200, "tie": 1, "unknown": 2})
    'a 1,200, b 0, ties 1, no winner 2'
    """
    text = f"a {winners.get('a', 0):,}, b {winners.get('b', 0):,}, ties {winners.get('tie', 0):,}"
    unknown = winners.get("unknown", 0)
    return text + (f", no winner {unknown:,}" if unknown else "")
