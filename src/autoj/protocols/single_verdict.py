"""`single-verdict`: a rating of one response, at the cost of reading alone."""

from autoj.protocols.single import SingleVerdict

__all__ = ["PROTOCOL"]

PROTOCOL = SingleVerdict(name="single-verdict")
