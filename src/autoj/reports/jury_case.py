"""One case of a jury: every judge's judgments, one below the other, and the jury's verdict."""

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from autoj.reports import render
from autoj.reports.case import case_view, judgment_parts, subject_parts
from autoj.reports.text import visible_text
from autoj.reports.verdict_cells import winner_text
from autoj.runs import CaseRecord
from autoj.tasks.jury import JuryCase
from autoj.verdicts.jury import JURY_RULES, EscalatedVerdict, JuryVerdict

_MEAN = "Mean of the votes"


def stored_case_view(found: CaseRecord | JuryCase, n_lines: int | None = None) -> RenderableType:
    """A case of a run or of a jury, with its judgments.

    Args:
        found: its rows.
        n_lines: the most lines of the query and of each response; None shows all.
    """
    if isinstance(found, JuryCase):
        return jury_case_view(found, n_lines)
    return case_view(found, n_lines)


def jury_case_view(found: JuryCase, n_lines: int | None = None) -> RenderableType:
    """A case with the judgments of all judges.

    Args:
        found: its rows in the judges' runs.
        n_lines: the most lines of the query and of each response; None shows all.
    """
    parts = subject_parts(found.case, n_lines)
    for name, record in found.judges:
        parts += [Rule(visible_text(f"Judge {name}"), align="left"), *judgment_parts(record)]
    parts.append(Rule("Jury", align="left"))
    if found.verdict is None:
        parts.append(Text("The jury has not decided yet.", style="yellow"))
    else:
        parts.append(_decision(found, found.verdict))
    return Group(*parts)


def _decision(found: JuryCase, verdict: JuryVerdict) -> Text:
    if verdict.ratings:
        mean = ", ".join(render.number(rating, 2) for rating in verdict.ratings)
        return Text(f"Mean rating: {mean}")
    text = Text("Winner: ").append_text(winner_text(verdict, found.case))
    if verdict.rule is not None:
        text.append(f" ({JURY_RULES[verdict.rule]})")
    if verdict.probabilities is not None:
        a, b, tie = verdict.probabilities
        of = f"Of {verdict.decided_by}" if isinstance(verdict, EscalatedVerdict) else _MEAN
        text.append(f"\n{of}: P(a) {a:.3f}, P(b) {b:.3f}, P(tie) {tie:.3f}")
    return text
