"""Summaries of runs, and the tables that show them."""

from autoj.reports.scenario_sources import Breakdown
from autoj.reports.summary import RunSummary, summarise

__all__ = ["Breakdown", "RunSummary", "summarise"]
