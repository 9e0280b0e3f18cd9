"""`pairwise-zh`: which of two responses is better, in Chinese (the bilingual release)."""

from autoj.protocols.pairwise import Pairwise

__all__ = ["PROTOCOL"]

PROTOCOL = Pairwise(name="pairwise-zh", aliases=("zh_pairwise_tie", "zh_pairwise"), language="zh")
