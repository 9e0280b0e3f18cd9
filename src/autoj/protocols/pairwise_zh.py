"""`pairwise-zh`: the better of two responses, in Chinese (the bilingual release)."""

from autoj.protocols.pairwise import Pairwise

__all__ = ["PROTOCOL"]

PROTOCOL = Pairwise(name="pairwise-zh", aliases=("zh_pairwise_tie", "zh_pairwise"), language="zh")
