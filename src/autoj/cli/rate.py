"""`autoj rate`: a critique and a rating of each response."""

from __future__ import annotations

from autoj.cli import _console, _options
from autoj.cli._run import find_cases, run
from autoj.judges import load_card
from autoj.runs import make_spec

__all__ = ["rate"]


def rate(
    data: _options.Data = None,
    judge: _options.JudgeName = "embedded",
    protocol: _options.ProtocolName = None,
    out: _options.Out = None,
    critique: _options.WantsCritique = None,
    on_overflow: _options.Overflow = "error",
    max_tokens: _options.MaxTokens = None,
    limit: _options.Limit = None,
    by: _options.By = None,
    format: _options.Format = None,
    skip_bad_rows: _options.SkipBadRows = False,
    reject_empty: _options.RejectEmpty = False,
    as_json: _options.Json = False,
) -> None:
    """Rate each response from 1 to 10, with a critique.

    Killed at any moment, the same command goes on where it stopped.

    Example: autoj rate responses.jsonl --limit 20
    """
    _console.set_json(as_json)
    spec = make_spec(
        "rate",
        load_card(judge),
        protocol=protocol,
        critique=critique,
        max_tokens=max_tokens,
        on_overflow=on_overflow,
        reject_empty=reject_empty,
        skip_bad_rows=skip_bad_rows,
        limit=limit,
    )
    run(spec, find_cases(data, None, None, format), out, by, as_json)
