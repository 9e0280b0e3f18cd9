"""The answers of earlier runs, as a table."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.reports import render
from autoj.runs.cache import CachedModel

_SECONDS_PER_DAY = 86_400


def cache_view(path: Path, models: Sequence[CachedModel], n_bytes: int) -> RenderableType:
    """The file of answers with its size, and what it has of each model."""
    n_answers = sum(model.n_answers for model in models)
    head = render.facts(
        [
            ("answers", render.count(n_answers)),
            ("size", size_text(n_bytes)),
            ("file", str(path)),
        ]
    )
    if not models:
        return head
    listing = render.Listing(
        render.Column.text("model"),
        render.Column.text("server"),
        *map(render.Column.number, ("answers", "size", "oldest", "newest")),
    )
    for model in models:
        ages = (_age(model.oldest), _age(model.newest))
        size = size_text(model.n_bytes)
        listing.add(model.model, model.place, model.n_answers, size, *ages)
    return Group(head, Text(), listing)


def cache_record(path: Path, models: Sequence[CachedModel], n_bytes: int) -> dict[str, Any]:
    """The same for a machine."""
    return {
        "file": str(path),
        "n_bytes": n_bytes,
        "n_answers": sum(model.n_answers for model in models),
        "models": [asdict(model) for model in models],
    }


def size_text(n_bytes: int) -> str:
    """A size in megabytes, or in kilobytes below one.

    >>> size_text(2_345_678), size_text(20_480)
    ('2.3 MB', '20 kB')
    """
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.0f} kB"


def _age(when: float) -> str:
    days = int(max(time.time() - when, 0.0) // _SECONDS_PER_DAY)
    return "today" if days == 0 else f"{days:,} day{'s' if days > 1 else ''}"
