"""`single-zh`: a critique and a rating of one response, in Chinese (the bilingual release)."""

from autoj.protocols.single import Single

PROTOCOL = Single(name="single-zh", aliases=("zh_single",), language="zh")
