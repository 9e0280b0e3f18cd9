"""`pairwise-verdict-zh`: `pairwise-verdict` in Chinese."""

from autoj.protocols.pairwise import PairwiseVerdict

PROTOCOL = PairwiseVerdict(name="pairwise-verdict-zh", language="zh")
