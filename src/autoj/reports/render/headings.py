"""Labels of figures and headings of groups, one for all reports."""

from __future__ import annotations

ESTIMATE_LABELS = {
    "win rate": "win rate of a (ties half)",
    "win rate, corrected by the labels": "the same, corrected by labels",
    "consistency": "consistency (both orders agree)",
    "accuracy": "accuracy (first order = label)",
    "agreement": "agreement (both orders = label)",
    "averaged accuracy": "accuracy (verdict = label)",
    "verdict accuracy": "accuracy (verdict = label)",
    "mean rating": "mean rating (1-10)",
    "mean score": "mean score (on no scale)",
    "correlation": "Pearson with the labels",
}
"""Estimates of a run by their names, as a line's label says them."""

GROUP_HEADINGS = {
    "Summarization": "Summ",
    "Exam Questions": "Exam",
    "Code": "Code",
    "Rewriting": "Rewr",
    "Creative Writing": "Crea",
    "Functional Writing": "Func",
    "General Communication": "Comm",
    "NLP Tasks": "NLP",
}
"""The paper's short names of the groups (Table 1), of four letters at most, in its order."""
