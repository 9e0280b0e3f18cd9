"""Judgments to a verdict, and verdicts to a verdict: pure functions without files or engines."""
