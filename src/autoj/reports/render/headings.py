"""Labels and column headings of figures, and headings of groups, one for all reports."""

ESTIMATE_LABELS = {
    "win rate": "win rate of a (ties half)",
    "win rate, corrected by the labels": "the same, corrected by labels",
    "consistency": "consistency (both orders agree)",
    "accuracy": "accuracy (first order = label)",
    "agreement": "agreement (both orders = label)",
    "consistency, both asked": "consistency, both asked",
    "agreement, both asked": "agreement, both asked",
    "win rate, all in full": "win rate, all in full",
    "verdict accuracy, all in full": "accuracy, all in full",
    "consistency, all in full": "consistency, all in full",
    "agreement, all in full": "agreement, all in full",
    "averaged accuracy": "accuracy (verdict = label)",
    "verdict accuracy": "accuracy (verdict = label)",
    "mean rating": "mean rating (1-10)",
    "mean score": "mean score (no fixed scale)",
    "correlation": "Pearson with the labels",
}
"""Labels of a run's figures on a line, by the figures' names."""

ESTIMATE_HEADINGS = {
    "win rate": "win rate",
    "win rate, corrected by the labels": "corrected",
    "consistency": "consistency",
    "accuracy": "accuracy",
    "agreement": "agreement",
    "consistency, both asked": "consistency,\nboth asked",
    "agreement, both asked": "agreement,\nboth asked",
    "averaged accuracy": "verdict\naccuracy",
    "verdict accuracy": "verdict\naccuracy",
    "mean rating": "mean rating",
    "mean score": "mean score",
    "correlation": "Pearson",
    "same winner": "same winner",
    "kappa": "Cohen's kappa",
    "pearson": "Pearson",
    "spearman": "Spearman",
}
"""Headings of a run's and a jury's figures in a table, by the figures' names."""

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
"""The paper's short names of the groups (Table 1), at most four letters each, in its order."""
