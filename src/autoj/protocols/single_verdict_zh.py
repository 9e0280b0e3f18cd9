"""`single-verdict-zh`: a rating of one response, as `single-verdict`, in Chinese."""

from autoj.protocols.single import SingleVerdict

PROTOCOL = SingleVerdict(name="single-verdict-zh", language="zh")
