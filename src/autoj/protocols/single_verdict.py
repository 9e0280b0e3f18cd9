"""`single-verdict`: a rating of one response, at the cost of reading alone."""

from autoj.protocols.single import SingleVerdict

PROTOCOL = SingleVerdict(name="single-verdict")
