"""Tables of a run: its verdicts, and its figures."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.metrics.rows import response_labels
from autoj.records import BudgetedVerdict, Calibration, Case, Estimate, Verdict
from autoj.reports import render
from autoj.reports.case import first_critique
from autoj.reports.cost import cost_record, cost_text, session_record
from autoj.reports.scenario_sources import Breakdown, is_worth_telling, naming_table, naming_text
from autoj.reports.summary import RunSummary, SecondOrders, summarise, summary_record
from autoj.reports.verdict_cells import (
    figure_label,
    label_cell,
    probability_cells,
    rating_cell,
    ratings_text,
    side_names,
    threshold_text,
    votes_text,
    why_unrated,
    winner_cell,
    wins_text,
)
from autoj.runs import RunCounts, RunSpec, resolve_run
from autoj.runs.cost import Cost
from autoj.runs.second_order import SecondOrder
from autoj.tasks.run import Run
from autoj.verdicts.critique_faults import shown_critiques


def verdict_table(pairs: Iterable[tuple[Case, Verdict]], spec: RunSpec) -> render.Listing:
    """One line per case: its verdict with its probabilities."""
    return _pair_table(pairs, spec) if spec.paired else _rating_table(pairs, spec)


def _pair_table(pairs: Iterable[tuple[Case, Verdict]], spec: RunSpec) -> render.Listing:
    # Sampled completions have no probabilities; the shares of their votes replace them.
    votes = spec.has_orders and spec.n_draws > 1
    sure = ("votes",) if votes else ("P(a)", "P(b)", "P(tie)")
    last = "orders" if spec.has_orders else "a, b rated"
    listed = list(pairs)
    label = ("label",) if any(case.label is not None for case, _ in listed) else ()
    listing = render.Listing(
        render.Column.text("case", 16),
        *map(render.Column.word, ("winner", *label, *sure, last)),
        render.Column.text("query", (23 if spec.has_orders else 19) - 7 * len(label), grows=True),
    )
    for case, verdict in listed:
        listing.add(
            case.id,
            winner_cell(verdict),
            *([label_cell(case, verdict)] if label else []),
            *([votes_text(verdict)] if votes else probability_cells(verdict)),
            _orders(verdict) if spec.has_orders else ratings_text(verdict),
            case.query,
        )
    return listing


def _rating_table(pairs: Iterable[tuple[Case, Verdict]], spec: RunSpec) -> render.Listing:
    one_draw = spec.n_draws == 1
    digits = 3 if spec.protocol == "scalar" else 1
    listed = list(pairs)
    has_labels = any(label is not None for case, _ in listed for label in _numbers(case))
    listing = render.Listing(
        render.Column.text("case", 16),
        render.Column.text("response", 14),
        render.Column.word("rating" if one_draw else "rating ± sd"),
        *([render.Column.number("label")] if has_labels else []),
        render.Column.text("query", (32 if one_draw else 26) - 7 * has_labels, grows=True),
    )
    for case, verdict in listed:
        missing = why_unrated(verdict)
        spreads = verdict.rating_sds or [None] * len(verdict.ratings)
        labels = [render.number(label, digits) for label in _numbers(case)]
        for index, (rating, spread) in enumerate(zip(verdict.ratings, spreads, strict=True)):
            name = case.responses[index].model or f"{index + 1}"
            cell = rating_cell(rating, digits, spread, missing=missing)
            listing.add(case.id, name, cell, *labels[index : index + has_labels], case.query)
        if not verdict.ratings:
            listing.add(case.id, None, "failed", *labels[:has_labels], case.query)
    return listing


def _numbers(case: Case) -> list[float | None]:
    """The labels of rated responses that are numbers."""
    return [label if isinstance(label, float) else None for label in response_labels(case)]


def _orders(verdict: Verdict) -> str:
    if isinstance(verdict, BudgetedVerdict) and verdict.n_orders == 1 and verdict.first_confidence:
        return "first sure"
    return {True: "agree", False: "differ", None: "-"}[verdict.consistent]


_SCORED_BY = {
    "token ids": "exactly, by the numbers of their tokens",
    "prompt": "exactly, each as the end of a prompt",
    "likeliest": "among the likeliest tokens",
}


def scored_by_text(counts: object) -> str | None:
    """The ways in which a server has scored choices, as `run.json` counts them; None without any.

    >>> scored_by_text({"likeliest": 2, "token ids": 1200})
    'exactly, by the numbers of their tokens 1,200; among the likeliest tokens 2'
    """
    if not isinstance(counts, Mapping) or not counts:
        return None
    # A stranger's run.json may state anything.
    known = [(said, counts.get(way)) for way, said in _SCORED_BY.items()]
    return "; ".join(f"{said} {n:,}" for said, n in known if type(n) is int) or None


def run_view(run: Run, summary: RunSummary, n_shown: int) -> RenderableType:
    """A run: its first verdicts, its figures with its speed, and a critique."""
    listed = list(islice(run, n_shown))
    return Group(
        render.with_more(
            verdict_table(listed, run.spec),
            summary.n_judged - len(listed),
            run.path / "verdicts.jsonl",
        ),
        *_foot(run.spec),
        Text(),
        summary_table(summary, run.spec, run.counts, run.cost, _scored_by(run)),
        Text(),
        *first_critique(listed),
    )


def run_record(run: Run, summary: RunSummary) -> dict[str, Any]:
    """A run with this session's counts as plain values."""
    return {
        "run": str(run.path),
        "summary": summary_record(summary),
        **session_record(run),
        "verdicts": list(run.folder.verdicts()),
        **_cut_critiques(run, summary),
    }


def _cut_critiques(run: Run, summary: RunSummary) -> dict[str, Any]:
    """The critiques that are cut, by case and place, as they are shown; empty without any."""
    if not summary.critique_faults:
        return {}
    found = [
        {"case_id": case.id, "index": index, "text": each.text, "faults": each.faults}
        for case, verdict in run
        for index, each in enumerate(shown_critiques(case, verdict))
        if each is not None and each.faults
    ]
    return {"cut_critiques": found}


def summarise_stored(
    run: Run, breakdown: Breakdown | None, n_listed: int
) -> tuple[RunSummary, list[tuple[Case, Verdict]]]:
    """The figures of a run and its first cases, in one pass over its answers, read anew.

    Args:
        run: the run, finished or not.
        breakdown: of the figures.
        n_listed: the most cases to give.
    """
    listed: list[tuple[Case, Verdict]] = []

    def judged() -> Iterator[tuple[Case, Verdict]]:
        for pair in resolve_run(run.folder, run.spec):
            if len(listed) < n_listed:
                listed.append(pair)
            yield pair

    return summarise(judged(), run.spec, run.n_cases, breakdown), listed


def stored_record(run: Run, summary: RunSummary) -> dict[str, Any]:
    """A stored run as plain values, with its cost where one is known."""
    cost = {} if run.cost is None else cost_record(run.cost)
    return {"run": str(run.path), "summary": summary_record(summary), **cost}


def stored_view(
    run: Run, summary: RunSummary, listed: Iterable[tuple[Case, Verdict]]
) -> RenderableType:
    """Some cases of a stored run with their verdicts, and its figures."""
    table = verdict_table(listed, run.spec)
    foot = _foot(run.spec)
    figures = summary_table(summary, run.spec, cost=run.cost, scored_by=_scored_by(run))
    return Group(table, *foot, Text(), figures)


def _scored_by(run: Run) -> str | None:
    return scored_by_text(run.folder.settings().get("scored_by"))


def _foot(spec: RunSpec) -> list[RenderableType]:
    """The explanation of the mark of unsure verdicts, where the run has any."""
    # A verdict of one order has no confidence.
    one_order = spec.has_orders and spec.orders != "both"
    if spec.sure_threshold is None or one_order:
        return []
    return render.notes([f"?: {threshold_text(spec.sure_threshold)}."])


def summary_table(
    summary: RunSummary,
    spec: RunSpec,
    counts: RunCounts | None = None,
    cost: Cost | None = None,
    scored_by: str | None = None,
) -> RenderableType:
    """The figures of a run; with `counts`, also this session's speed; with `cost`, its dollars."""
    rows = [("judge", f"{spec.judge.name} ({spec.protocol})"), ("cases", _cases(summary))]
    if spec.critic is not None:
        rows.insert(1, ("critiques", f"of {spec.critic.name}"))
    if spec.paired:
        rows.append(("wins", wins_text(summary.winners)))
        if (names := side_names(summary.authors)) is not None:
            rows.append(("a and b", names))
    if spec.calibration is not None:
        rows.append(("probabilities", _calibrated(spec.calibration)))
    if scored_by is not None:
        rows.append(("choices scored", scored_by))
    if spec.n_draws > 1:
        rows.append(("samples", _draws(summary, spec)))
    if spec.second_order is not None and summary.second_orders is not None:
        rows.append(("second orders", _second_orders(summary.second_orders, spec.second_order)))
    rows += [
        (figure_label(each, summary.authors), render.estimate_line(each))
        for each in summary.estimates
    ]
    rows.append(render.lost(summary.n_unreadable, summary.n_failed))
    if summary.n_truncated:
        rows.append(("truncated", f"{summary.n_truncated:,} judgments had a response cut to fit"))
    if summary.critique_faults:
        counted = [f"{n:,} {fault}" for fault, n in sorted(summary.critique_faults.items())]
        rows.append(("critiques cut", "; ".join(counted)))
    if summary.naming is not None and is_worth_telling(summary.naming, bool(summary.parts)):
        rows.append(("scenarios", naming_text(summary.naming)))
    if counts is not None and (counts.n_answered or counts.n_reused):
        rows.append(("this session", _speed(counts)))
    if (spent := cost_text(cost, spec.judge)) is not None:
        rows.append(("cost", spent))
    tables: list[RenderableType] = [render.facts(rows)]
    if summary.parts:
        tables += [Text(), _parts_table(summary.parts)]
    if summary.naming_parts:
        in_order = {part: summary.naming_parts[part] for part in summary.parts}
        tables += [Text(), naming_table(in_order)]
    return Group(*tables)


def _calibrated(calibration: Calibration) -> str:
    return (
        f"calibrated: temperature {calibration.temperature:g}, tie {calibration.tie:g}"
        + (", with style features of the responses" if calibration.surface else "")
        + (f", fitted on {calibration.fitted_on}" if calibration.fitted_on else "")
    )


def _draws(summary: RunSummary, spec: RunSpec) -> str:
    text = f"{spec.n_draws:,} of each question"
    if summary.vote_share is not None:
        share = render.percent(summary.vote_share)
        text += f"; {share} of the readable ones agree with their vote"
    if summary.n_split:
        text += f"; {summary.n_split:,} votes without a majority"
    if summary.rating_sd is not None:
        text += f"; standard deviation of a rating {summary.rating_sd:.2f} on average"
    return text


def _second_orders(counts: SecondOrders, rule: SecondOrder) -> str:
    n_pairs = counts.n_unsure + counts.n_drawn + counts.n_saved
    text = (
        f"{counts.n_unsure:,} asked where the first is below {rule.below:g}, {counts.n_drawn:,} of "
        f"a random {render.percent(rule.always_full)} of all pairs, {counts.n_saved:,} saved"
    )
    if n_pairs:
        text += f" ({render.percent(counts.n_saved / (2 * n_pairs))} of the calls)"
    return text


def _cases(summary: RunSummary) -> str:
    missing = summary.n_cases - summary.n_judged
    return render.count(summary.n_cases) + (f" ({missing:,} not judged yet)" if missing else "")


def _speed(counts: RunCounts) -> str:
    reused = f"{counts.n_reused:,} reused from earlier runs"
    if not counts.n_answered:
        return reused
    per_minute = counts.n_answered / max(counts.seconds, 1e-9) * 60
    time = render.seconds(counts.seconds)
    return (
        f"{counts.n_answered:,} judgments in {time}, {per_minute:,.0f}/min; "
        f"{counts.prompt_tokens:,} tokens read, {counts.completion_tokens:,} written"
        + (f"; {reused}" if counts.n_reused else "")
    )


def _parts_table(parts: Mapping[str, tuple[Estimate, ...]]) -> render.Listing:
    names = dict.fromkeys(each.name for its in parts.values() for each in its)
    return render.figures(
        render.Column.prose("", 30),
        {name: render.ESTIMATE_HEADINGS[name] for name in names},
        [render.FigureRow(name=part, estimates=its) for part, its in parts.items()],
        spacing="indented",
    )
