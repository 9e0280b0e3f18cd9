"""`single-criteria-reasoning`: answers exam questions itself before it criticises."""

from autoj.protocols.single_criteria import SingleCriteria

__all__ = ["PROTOCOL"]

PROTOCOL = SingleCriteria(name="single-criteria-reasoning", answers_first=True)
