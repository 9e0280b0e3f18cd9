"""Figures on Eval-C from the paper and the release, each with its source; none is measured here.

`data/published_eval_c.yaml` holds the figures as they were printed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from autoj.records import normalise_query

_FILE = Path(__file__).parents[1] / "data" / "published_eval_c.yaml"
OVERALL = "Overall"
"""The name of all cases together, among the groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedVotes:
    """A published count of a critic's critiques found better than another's."""

    critic: str
    against: str
    """The critic whose critiques they were compared with."""
    judged_by: str
    """"gpt-4" or "human"."""
    group: str
    """A group of scenarios, or `OVERALL`."""
    win: float
    tie: float
    lose: float
    unit: Literal["cases", "percent"]
    """The unit of `win`, `tie` and `lose`."""
    source: str
    """The place of publication, such as "paper, Table 22"."""

    @property
    def shares(self) -> tuple[float, float, float]:
        """Win, tie and lose as shares of all, 0 to 1.

        >>> published_against("ChatGPT")[0].shares[0]
        1.0
        """
        total = self.win + self.tie + self.lose
        return self.win / total, self.tie / total, self.lose / total


@cache
def published_eval_c() -> tuple[PublishedVotes, ...]:
    """All published figures: Table 22 by group and overall (Fig. 3), and the README's leaderboard.

    **Source:** the paper's Table 22 and Fig. 3; the README of the release.
    """
    sections: list[dict[str, Any]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return tuple(row for section in sections for row in _rows(section))


def _rows(section: dict[str, Any]) -> Iterator[PublishedVotes]:
    for against, by_group in section.get("by_against_and_group", {}).items():
        for group, votes in by_group.items():
            yield _row(section, votes, critic=section["critic"], against=against, group=group)
    for critic, votes in section.get("by_critic", {}).items():
        yield _row(section, votes, critic=critic, against=section["against"], group=OVERALL)


def _row(section: dict[str, Any], votes: list[float], **names: str) -> PublishedVotes:
    win, tie, lose = votes
    source = section["source"]
    if names["group"] == OVERALL:
        source = section.get("source_of_overall", source)
    return PublishedVotes(
        judged_by=section["judged_by"],
        win=win,
        tie=tie,
        lose=lose,
        unit=section["unit"],
        source=source,
        **names,
    )


def published_against(against: str) -> tuple[PublishedVotes, ...]:
    """The published figures of comparisons with a critic, however its name is written.

    >>> {row.against for row in published_against("chat-gpt")}
    {'ChatGPT'}
    """
    wanted = normalise_query(against)
    return tuple(row for row in published_eval_c() if normalise_query(row.against) == wanted)
