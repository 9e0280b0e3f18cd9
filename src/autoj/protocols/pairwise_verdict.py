"""`pairwise-verdict`: the better of two responses, at the cost of reading alone."""

from autoj.protocols.pairwise import PairwiseVerdict

__all__ = ["PROTOCOL"]

PROTOCOL = PairwiseVerdict(name="pairwise-verdict")
