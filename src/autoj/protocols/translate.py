"""`translate`: a text into English, word for word, for the training data of a bilingual judge.

The class here also builds the Chinese prompts, which ask for Chinese, and those for judgments,
which fix the names of the responses and the words of a verdict.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from autoj.protocols._folding import clean
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.single import Single
from autoj.records import Case, Critique, Message, Reading, Unreadable

# Some models repeat the marks that they were shown around the text.
_MARKED = re.compile(
    r"\A\s*<<<(?P<mark>[0-9a-f]{12})[ \t]*\n(?P<text>.*?)\n?(?P=mark)>>>\s*\Z", re.DOTALL
)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Translate(Single):
    """Translates the response, which may be any text, into the language of the prompt.

    The text is not trusted: it stands between two marks that follow from its digest, so that it
    cannot hold its own closing mark, and the instruction is repeated after it.

    **Source:** none; the release's Chinese data were translated by GPT-3.5 with a prompt that is
    not published.
    """

    text: str = "translate"
    """The name of the prompt's text."""

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The text to translate, without the query."""
        (index,) = shown
        text = case.responses[index].text
        mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        template = load_text(f"{self.text}.{self.language}.txt")
        content = fill(template, {"text": text, "mark": mark})
        return RequestBody(messages=(Message(role="user", content=content),))

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        r"""The translation, without marks that are repeated around it.

        >>> PROTOCOL.parse("<<<0123456789ab\nIt is cold.\n0123456789ab>>>").text
        'It is cold.'
        """
        bare = _THOUGHT.sub("", text)
        found = _MARKED.match(bare)
        translation = (bare if found is None else found["text"]).strip()
        if not clean(translation).strip():
            return Unreadable(reason="the translation is empty")
        return Critique(text=translation)


PROTOCOL = Translate(name="translate")
