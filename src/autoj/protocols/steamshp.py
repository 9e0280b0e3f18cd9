"""`steamshp`: the response that people find more helpful, after SteamSHP; it has no tie."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autoj.protocols._folding import clean, fold
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.pairwise import Pairwise, choice_probabilities
from autoj.records import (
    Case,
    Completion,
    Decision,
    Message,
    Reading,
    Shown,
    Unreadable,
)

_CHOICES = (" A", " B")
_ANSWER = re.compile(
    r"(?:<pad>|\s)*[*_\"'`(\[]{0,4}(?:response\s{1,4})?(?P<letter>[A-Z])[*_\"'`)\].:!]{0,4}\s*"
    r"(?:is\s+(?:the\s+)?better(?:\s+(?:one|response))?[.!]?\s*)?(?:</s>\s*)?",
    re.IGNORECASE,
)
_LETTERS: dict[str, Shown] = {"A": "1", "B": "2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SteamSHP(Pairwise):
    """Compares responses A and B by the one letter that follows the prompt.

    **Source:** the model page of stanfordnlp/SteamSHP-flan-t5-xl (Ethayarajh et al., 2022). It asks
    for texts without line breaks, which its tokenizer reads as spaces anyway; here texts are left
    alone. The encoder reads the whole prompt and the decoder writes the letter, so no opening of
    the answer is forced.
    """

    gives_probabilities: bool = True

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The published prompt, byte for byte, with both letters as choices."""
        first, second = (case.responses[index].text for index in shown)
        values = {"query": case.query, "response_1": first, "response_2": second}
        content = fill(load_text("steamshp.en.txt"), values)
        return RequestBody(messages=(Message(role="user", content=content),), choices=_CHOICES)

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """Parses a text that is a single letter.

        >>> PROTOCOL.parse("B").shown
        '2'
        """
        folded = fold(clean(text))
        found = _ANSWER.fullmatch(folded)
        if found is None:
            return Unreadable(reason=f"the text is not A or B: {folded.strip()[:40]!r}")
        letter = found["letter"].upper()
        if letter not in _LETTERS:
            return Unreadable(reason=f"the letter is not one of the options: {letter!r}")
        return Decision(shown=_LETTERS[letter])

    def read(self, completion: Completion, judged: Sequence[str] = ()) -> Reading:
        """The likelier letter, with the probability of each; a tie has none."""
        if completion.choice_logprobs is None:
            return self.parse(completion.text, judged)
        probabilities = choice_probabilities(completion.choice_logprobs)
        if probabilities is None:
            return Unreadable(reason="the choices have no probabilities")
        first, second = probabilities
        if first == second:
            return Unreadable(reason="A and B are equally likely, and this judge has no tie")
        return Decision(shown="1" if first > second else "2", probabilities=(first, second, 0.0))


PROTOCOL = SteamSHP(name="steamshp")
