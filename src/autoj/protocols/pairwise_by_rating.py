"""`pairwise-by-rating`: the better of two responses, by ratings of each one alone.

It needs half the tokens of `pairwise-verdict` in both orders, and cannot have position bias.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autoj.protocols import single_verdict, single_verdict_zh
from autoj.protocols.base import RequestBody
from autoj.protocols.pairwise import PairwiseVerdict
from autoj.protocols.single import SingleVerdict
from autoj.records import Case, Completion, Reading

_ALONE: dict[Literal["en", "zh"], SingleVerdict] = {
    "en": single_verdict.PROTOCOL,
    "zh": single_verdict_zh.PROTOCOL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseByRating(PairwiseVerdict):
    """Rates each response alone, compares, and writes the pair's critique for the verdict.

    Each request is byte for byte that of `single-verdict`, so it shares the key with that of
    `autoj rate`. `verdicts.resolve` compares the two ratings.
    """

    reads_alone: bool = True

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The request of `single-verdict` about the shown response."""
        return _ALONE[self.language].build(case, shown)

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The rating in a text that may lack the forced opening."""
        return _ALONE[self.language].parse(text, judged)

    def read(self, completion: Completion, judged: Sequence[str] = ()) -> Reading:
        """The expected rating, with the probability of each."""
        return _ALONE[self.language].read(completion, judged)


PROTOCOL = PairwiseByRating(name="pairwise-by-rating")
