"""Summaries of runs, and the tables that show them."""
