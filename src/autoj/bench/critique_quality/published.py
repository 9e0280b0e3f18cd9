"""Published figures of critiques in the frame of MetaCritique, on other data than ours."""

from dataclasses import dataclass

SOURCE = "MetaCritique (Sun et al., 2024): units judged by GPT-4, on data of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScores:
    """A critic's published figures; None where only F1 is stated."""

    critic: str
    precision: float | None
    recall: float | None
    f1: float


PUBLISHED = (
    PublishedScores(critic="Auto-J", precision=0.764, recall=0.707, f1=0.711),
    PublishedScores(critic="GPT-3.5", precision=None, recall=None, f1=0.687),
    PublishedScores(critic="SelFee", precision=None, recall=None, f1=0.542),
)
"""Shares, 0 to 1."""
