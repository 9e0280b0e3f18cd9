"""`pairwise-criteria-reasoning`: answers exam questions itself before it compares."""

from autoj.protocols.pairwise_criteria import PairwiseCriteria

__all__ = ["PROTOCOL"]

PROTOCOL = PairwiseCriteria(name="pairwise-criteria-reasoning", answers_first=True)
