"""`pairwise-by-rating-zh`: `pairwise-by-rating` in Chinese."""

from autoj.protocols.pairwise_by_rating import PairwiseByRating

PROTOCOL = PairwiseByRating(name="pairwise-by-rating-zh", language="zh")
