"""Words for the better of two responses, and names of columns, in their many spellings."""

import re
from collections.abc import Mapping

from autoj.records import Winner

_SEPARATORS = re.compile(r"[\W_]+")
_OF_A_SIDE = ("model", "response", "answer", "output", "completion", "assistant", "reply")
_TIES = (
    "tie", "ties", "tied", "draw", "equal", "same", "both", "neither", "c", "bothbad", "both_bad",
    "both_good", "tie_bothbad", "tie_both_bad",
)  # fmt: skip
# "1" and "2" alone are not here: some files count responses from 0.
_WORDS: Mapping[str, Winner] = {
    "a": "a", "first": "a", "b": "b", "second": "b",
    **{f"{what}_{name}": "a" for what in _OF_A_SIDE for name in ("a", "1")},
    **{f"{what}_{name}": "b" for what in _OF_A_SIDE for name in ("b", "2")},
    **dict.fromkeys(_TIES, "tie"),
}  # fmt: skip


def fold(name: str) -> str:
    """A name without differences of case, blanks, underscores and brackets.

    >>> fold("Model A"), fold("tie (bothbad)"), fold("[[A]]")
    ('model_a', 'tie_bothbad', 'a')
    """
    return _SEPARATORS.sub("_", name.casefold()).strip("_")


def winner_of(text: str) -> Winner | None:
    """The winner that a word names; None where its meaning is not certain.

    C is a tie, as in the verdicts of MT-Bench's judges.

    >>> winner_of("Model B"), winner_of("C"), winner_of("2")
    ('b', 'tie', None)
    """
    if (known := _WORDS.get(text)) is not None:
        return known
    # Longer texts are no words, and folding them takes time.
    return _WORDS.get(fold(text)) if len(text) <= 40 else None
