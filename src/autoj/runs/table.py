"""A run as rows of plain values: one per pair, or one per response where each was rated."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Literal, TypeAlias

from autoj.records import BudgetedVerdict, Case, MarkedVerdict, Response, Verdict
from autoj.runs.spec import RunSpec

ColumnKind: TypeAlias = Literal["text", "number", "whole", "flag"]

_CASE: Mapping[str, ColumnKind] = {"id": "text", "query": "text"}
_ABOUT: Mapping[str, ColumnKind] = {"scenario": "text", "source": "text", "judge": "text"}
_PAIR: Mapping[str, ColumnKind] = {
    **_CASE,
    "response_a": "text", "response_b": "text", "model_a": "text", "model_b": "text",
    "label": "text",
    **_ABOUT,
    "winner": "text", "consistent": "flag", "rule": "text",
    "order_1_winner": "text", "order_2_winner": "text",
    "p_a": "number", "p_b": "number", "p_tie": "number",
    "rating_a": "number", "rating_b": "number",
    "critique_1": "text", "critique_2": "text",
    "n_unreadable": "whole", "n_failed": "whole", "n_truncated": "whole",
}  # fmt: skip
_MARK: Mapping[str, ColumnKind] = {"confidence": "number", "unsure": "flag"}
_BUDGET: Mapping[str, ColumnKind] = {
    "n_orders": "whole", "first_confidence": "number", "first_sure": "flag", "drawn": "flag",
}  # fmt: skip
_RESPONSE: Mapping[str, ColumnKind] = {
    **_CASE,
    "response_number": "whole", "response": "text", "model": "text", "label": "number",
    **_ABOUT,
    "rating": "number", "rating_sd": "number", "selected": "flag", "critique": "text",
}  # fmt: skip


def columns_of(spec: RunSpec) -> Mapping[str, ColumnKind]:
    """The columns of a run's rows, in order."""
    if not _is_pairs(spec):
        return _RESPONSE
    if spec.second_order is not None:
        return {**_PAIR, **_MARK, **_BUDGET}
    return _PAIR if spec.sure_threshold is None else {**_PAIR, **_MARK}


def _is_pairs(spec: RunSpec) -> bool:
    return spec.task in ("judge", "compare")


def flat_rows(case: Case, verdict: Verdict, spec: RunSpec) -> Iterator[dict[str, Any]]:
    """The rows of a case; unknown values are None."""
    head = {
        "id": case.id,
        "query": case.query,
        "scenario": case.scenario,
        "source": case.source,
        "judge": verdict.judge,
    }
    found = [_pair(case, verdict)] if _is_pairs(spec) else _responses(case, verdict)
    for row in found:
        yield head | row


def compared(case: Case) -> tuple[Response, ...]:
    """The subject of a pair's verdict: two responses, or two critiques of one."""
    if len(case.responses) == 2 or len(case.critiques) != 2:
        return case.responses
    critics = case.meta.get("critics")
    names = critics if isinstance(critics, list) and len(critics) == 2 else (None, None)
    return tuple(
        Response(text=text, model=name) for text, name in zip(case.critiques, names, strict=True)
    )


def _pair(case: Case, verdict: Verdict) -> dict[str, Any]:
    a, b = compared(case)
    chances = verdict.probabilities or (None, None, None)
    return {
        "response_a": a.text,
        "response_b": b.text,
        "model_a": a.model,
        "model_b": b.model,
        "label": case.label if isinstance(case.label, str) else None,
        "winner": verdict.winner,
        "consistent": verdict.consistent,
        "rule": verdict.rule,
        "order_1_winner": _at(verdict.winners, 0),
        "order_2_winner": _at(verdict.winners, 1),
        **dict(zip(("p_a", "p_b", "p_tie"), chances, strict=True)),
        "rating_a": _at(verdict.ratings, 0),
        "rating_b": _at(verdict.ratings, 1),
        "critique_1": _at(verdict.critiques, 0),
        "critique_2": _at(verdict.critiques, 1),
        "n_unreadable": verdict.n_unreadable,
        "n_failed": verdict.n_failed,
        "n_truncated": verdict.n_truncated,
        **_mark(verdict),
    }


def _mark(verdict: Verdict) -> dict[str, Any]:
    if not isinstance(verdict, MarkedVerdict):
        return {}
    found: dict[str, Any] = {"confidence": verdict.confidence, "unsure": verdict.unsure}
    if isinstance(verdict, BudgetedVerdict):
        found |= {name: getattr(verdict, name) for name in _BUDGET}
    return found


def _responses(case: Case, verdict: Verdict) -> Iterator[dict[str, Any]]:
    label = case.label if len(case.responses) == 1 and isinstance(case.label, float) else None
    for index, response in enumerate(case.responses):
        yield {
            "response_number": index + 1,
            "response": response.text,
            "model": response.model,
            "label": label,
            "rating": _at(verdict.ratings, index),
            "rating_sd": _at(verdict.rating_sds, index),
            "selected": None if verdict.selected is None else verdict.selected == index,
            "critique": _at(verdict.critiques, index),
        }


def _at(values: tuple[Any, ...], index: int) -> Any:
    return values[index] if index < len(values) else None


def full_row(case: Case, verdict: Verdict) -> dict[str, Any]:
    """A case with its whole verdict, as a native row, which `autoj` reads as a case again."""
    found = asdict(verdict)
    found.pop("case_id")
    return {
        "id": case.id,
        "query": case.query,
        "responses": [
            {name: value for name, value in asdict(response).items() if value is not None}
            for response in case.responses
        ],
        "label": case.label,
        "scenario": case.scenario,
        "source": case.source,
        "meta": dict(case.meta),
        **found,
    }
