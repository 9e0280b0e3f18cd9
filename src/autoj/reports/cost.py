"""The cost of a run as text."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from autoj.records import JudgeCard
from autoj.reports import render
from autoj.runs.cost import Cost
from autoj.tasks.run import Run


def cost_text(cost: Cost | None, card: JudgeCard) -> str | None:
    """The cost of a run; None for a judge of this machine whose card states no prices.

    Args:
        cost: None where the card states no prices.
        card: the judge.

    >>> card = JudgeCard(name="mine", title="Mine", backend="openai", model="m")
    >>> cost_text(Cost(session_usd=0.2, run_usd=0.9, expected_usd=1.1), card)
    '$0.90 of about $1.10; $0.20 in this session'
    >>> cost_text(None, card)
    "not known: the card of judge 'mine' states no prices"
    """
    if cost is None:
        if card.backend != "openai":
            return None
        return f"not known: the card of judge {card.name!r} states no prices"
    text = spent_text(cost.run_usd, cost.expected_usd)
    if 0 < cost.session_usd < cost.run_usd:
        text += f"; {render.usd(cost.session_usd)} in this session"
    return text


def spent_text(spent_usd: float, expected_usd: float | None) -> str:
    """The money spent, and that of the whole run where it is expected to be more.

    >>> spent_text(0.9, 1.1), spent_text(0.9, None)
    ('$0.90 of about $1.10', '$0.90')
    """
    if expected_usd is None or render.usd(expected_usd) == render.usd(spent_usd):
        return render.usd(spent_usd)
    return f"{render.usd(spent_usd)} of about {render.usd(expected_usd)}"


def jury_cost_text(costs: Mapping[str, Cost | None]) -> str | None:
    """The cost of a jury; None where no judge's card states prices.

    Args:
        costs: of each judge by its name; None where its card states no prices.

    >>> jury_cost_text({"one": Cost(session_usd=0.5, run_usd=0.5), "two": None})
    '$0.50, without two: no prices in the card'
    """
    known = [cost.run_usd for cost in costs.values() if cost is not None]
    if not known:
        return None
    without = [name for name, cost in costs.items() if cost is None]
    text = render.usd(sum(known))
    if not without:
        return text
    cards = "cards" if len(without) > 1 else "card"
    return f"{text}, without {', '.join(without)}: no prices in the {cards}"


def jury_cost_record(costs: Mapping[str, Cost | None]) -> dict[str, Any]:
    """The costs of a jury's judges under `costs` of `--json`, by their names."""
    return {"costs": {name: None if cost is None else asdict(cost) for name, cost in costs.items()}}


def cost_record(cost: Cost | None) -> dict[str, Any]:
    """The cost of a run under `cost` of `--json`; null where the card states no prices."""
    return {"cost": None if cost is None else asdict(cost)}


def session_record(run: Run) -> dict[str, Any]:
    """This session's counts of a run, and its cost, as plain values."""
    return {"session": asdict(run.counts), **cost_record(run.cost)}
