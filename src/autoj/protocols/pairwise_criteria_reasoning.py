"""`pairwise-criteria-reasoning`: the same, where exam questions are answered before comparing."""

from autoj.protocols.pairwise_criteria import PairwiseCriteria

__all__ = ["PROTOCOL"]

PROTOCOL = PairwiseCriteria(name="pairwise-criteria-reasoning", answers_first=True)
