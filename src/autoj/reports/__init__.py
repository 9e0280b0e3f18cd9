"""What a run came to, for eyes and for machines: summaries first, then tables that show them."""

from autoj.reports.summary import Breakdown, RunSummary, summarise

__all__ = ["Breakdown", "RunSummary", "summarise"]
