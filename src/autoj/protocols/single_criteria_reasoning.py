"""`single-criteria-reasoning`: the same, where exam questions are answered before criticising."""

from autoj.protocols.single_criteria import SingleCriteria

__all__ = ["PROTOCOL"]

PROTOCOL = SingleCriteria(name="single-criteria-reasoning", answers_first=True)
