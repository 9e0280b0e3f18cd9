"""Runs, verdicts and estimates as HTML for a notebook.

A notebook puts this HTML into its own page, without a policy that forbids scripts: every text is
spelled out as on a report's page and escaped, and formulas in judged text are not typeset.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import islice

from autoj.notebook import InNotebook
from autoj.records import Case, Estimate, MarkedVerdict, Verdict
from autoj.reports import render
from autoj.reports.text import page_text
from autoj.reports.verdict_cells import ratings_text, winner_cell
from autoj.tasks.jury import JuryRun
from autoj.tasks.run import Run
from autoj.tasks.runs import RunEntry, list_runs
from autoj.verdicts.jury import JURY_RULES, JuryVerdict
from autoj.verdicts.resolve import RULES

_N_SHOWN = 5
_QUERY_CHARACTERS = 120
_RULES = {**RULES, **JURY_RULES}
# MathJax typesets formulas in whatever a cell prints, but for these classes (of its versions 2, 3).
_CLASSES = "autoj tex2jax_ignore mathjax_ignore"
_CELL = "text-align: left; white-space: pre-wrap; unicode-bidi: isolate; vertical-align: top"


def html_of(value: InNotebook) -> str:
    """A run, a jury's run, a verdict or an estimate as HTML; another value as its plain text."""
    match value:
        case Estimate():
            return _table(("figure", "value", "95 % interval", "n"), [_estimate_row(value)])
        case Verdict():
            return _facts(_verdict_facts(value))
        case Run() | JuryRun():
            return _run(value)
        case _:
            return _div(f"<pre>{_text(repr(value))}</pre>")


def _estimate_row(estimate: Estimate) -> tuple[str, str, str, str]:
    n = f"{estimate.n:,}"
    if estimate.n_clusters != estimate.n:
        n += f" on {estimate.n_clusters:,} queries"
    if estimate.n_unscored:
        n += f", {estimate.n_unscored:,} unscored"
    label = render.ESTIMATE_LABELS.get(estimate.name, estimate.name)
    interval = render.estimate_interval(estimate) or estimate.reason or render.MISSING
    return label, render.estimate_value(estimate), interval, n


def _verdict_facts(verdict: Verdict) -> Iterator[tuple[str, str]]:
    yield "case", verdict.case_id
    yield "judge", verdict.judge
    yield "outcome", _outcome(verdict)
    if verdict.rule is not None:
        yield "because", _RULES.get(verdict.rule, verdict.rule)
    if verdict.probabilities is not None:
        a, b, tie = (render.percent(share) for share in verdict.probabilities)
        yield "probabilities", f"a {a}, b {b}, tie {tie}"
    if isinstance(verdict, MarkedVerdict) and verdict.unsure:
        yield "unsure", f"its confidence is {render.number(verdict.confidence, 3)}"
    if verdict.n_unreadable or verdict.n_failed:
        yield render.lost(verdict.n_unreadable, verdict.n_failed)
    if isinstance(verdict, JuryVerdict):
        for own in verdict.judges:
            yield own.judge, _outcome(own)
    for number, critique in enumerate(verdict.critiques, start=1):
        if critique is not None:
            yield "critique" if len(verdict.critiques) == 1 else f"critique {number}", critique


def _outcome(verdict: Verdict) -> str:
    """Its winner, pick, ratings or scenario, or the reason that it has none."""
    if verdict.selected is not None:
        return f"response {verdict.selected + 1} is picked"
    if verdict.ratings and verdict.winner is None:
        return f"rated {ratings_text(verdict)}"
    if verdict.rule is None and verdict.scenario is not None:
        return f"scenario {verdict.scenario}"
    winner = winner_cell(verdict).plain
    return f"{winner}, rated {ratings_text(verdict)}" if verdict.ratings else winner


def _run(run: Run | JuryRun) -> str:
    (entry,) = list_runs(run.path)
    facts = _facts(_entry_facts(entry))
    if entry.n_judged == 0:
        return facts
    listed: Iterable[tuple[Case, Verdict]] = islice(run, _N_SHOWN)
    rows = [
        (case.id, " ".join(case.query[:_QUERY_CHARACTERS].split()), _label(case), _outcome(verdict))
        for case, verdict in listed
    ]
    more = entry.n_judged - len(rows)
    note = f"<p>and {more:,} more: to_pandas() has all.</p>" if more else ""
    return _div(facts + _table(("case", "query", "label", "outcome"), rows) + note)


def _entry_facts(entry: RunEntry) -> Iterator[tuple[str, str]]:
    yield "run", entry.path
    if entry.reason is not None:
        yield entry.state, entry.reason
        return
    yield "judge", entry.judge or render.MISSING
    if entry.protocol is not None:
        yield "protocol", entry.protocol
    n_cases = entry.n_judged if entry.n_cases is None else entry.n_cases
    yield "cases judged", f"{entry.n_judged:,} of {n_cases:,}"
    if entry.n_unreadable or entry.n_failed:
        yield render.lost(entry.n_unreadable, entry.n_failed)
    if entry.figure is not None:
        label, *cells = _estimate_row(entry.figure)
        yield label, "{} {}, n={}".format(*cells)


def _label(case: Case) -> str:
    return render.MISSING if case.label is None else str(case.label)


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"<tr>{_cell('th', name)}{_cell('td', value)}</tr>" for name, value in facts)
    return _div(f"<table>{rows}</table>")


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(_cell("th", heading) for heading in headings)
    body = "".join(f"<tr>{''.join(_cell('td', cell) for cell in row)}</tr>" for row in rows)
    return _div(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _cell(tag: str, text: str) -> str:
    return f'<{tag} style="{_CELL}">{_text(text)}</{tag}>'


def _div(inner: str) -> str:
    return f'<div class="{_CLASSES}">{inner}</div>'


def _text(text: str) -> str:
    found = page_text(text)
    cut = f" … {found.n_cut:,} more characters" if found.n_cut else ""
    return escape(found.text + cut)
