"""`single-criteria-reasoning`: answers exam questions itself before it criticises."""

from autoj.protocols.single_criteria import SingleCriteria

PROTOCOL = SingleCriteria(name="single-criteria-reasoning", answers_first=True)
