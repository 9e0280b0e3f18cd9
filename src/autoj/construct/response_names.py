"""Calls the two responses "Response 1" and "Response 2" wherever a teacher has another name.

Training shows each judgment in both orders with the two names exchanged, so a name that is not
found would speak of the wrong response afterwards.
"""

import re

from autoj.critiques import Language

EITHER = re.compile(r"\bResponses? [12]\b|回应[12]")
"""A response by its name."""

_ORDINALS = {
    "1": "1", "2": "2", "a": "1", "b": "2", "one": "1", "two": "2", "first": "1", "second": "2",
    "一": "1", "二": "2", "former": "1", "latter": "2",
}  # fmt: skip
_NOUN = r"(?:response|answer|assistant|reply|output)"
_NAMES = (
    re.compile(rf"\bthe (?P<which>first|second) {_NOUN}(?![a-z])", re.IGNORECASE),
    re.compile(
        rf"\b(?:AI )?{_NOUN} ?#?\(?(?P<which>1|2|one|two|A|B)\)?(?![\w.]?[\w])", re.IGNORECASE
    ),
)
_NAMES_ZH = (
    re.compile(r"第(?P<which>一|二)个?(?:回应|回答|回复|答案|助手)"),
    # "回答一个问题" answers a question, and names nothing.
    re.compile(
        r"(?:回应|回答|回复|答案|助手)\s*"
        r"(?P<which>[12]|[一二](?![个下些种次点般样直定系旦起切条句道段位者])|[AB](?![A-Za-z]))"
    ),
)
# "the second" alone is a response where a sentence that names one goes on about the other.
_VERB = (
    r"(?:is|are|was|does|did|has|had|can|could|would|should|might|may|will|also|only|just|simply|"
    r"merely|never|uses?|gives|provides|offers|lacks|includes|focuses|fails|lists|explains|"
    r"mentions|keeps|leaves|goes|takes|makes|says|states|suggests|shows|answers|misses|contains|"
    r"describes|covers|adds|names|omits|remains|stays|relies|presents|stops|ignores|repeats)"
)
_BARE = re.compile(
    rf"\bthe (?P<which>first|second|former|latter)(?: one)?(?= {_VERB}\b)", re.IGNORECASE
)
_BETWEEN_SENTENCES = re.compile(r"((?<=[.!?])\s+|\n)")


def named_alike(text: str, language: Language) -> str:
    """The text with "Response 1" and "Response 2" (or their Chinese names) throughout.

    >>> named_alike("Answer A quotes the law, while the second only alludes to it.", "en")
    'Response 1 quotes the law, while Response 2 only alludes to it.'
    """
    for pattern in _NAMES:
        text = pattern.sub(_called, text)
    if language == "zh":
        for pattern in _NAMES_ZH:
            text = pattern.sub(lambda found: f"回应{_ORDINALS[found['which'].lower()]}", text)
        return text
    return "".join(map(_bare_named, _BETWEEN_SENTENCES.split(text)))


def _called(found: re.Match[str]) -> str:
    return f"Response {_ORDINALS[found['which'].lower()]}"


def _bare_named(sentence: str) -> str:
    return _BARE.sub(_called, sentence) if EITHER.search(sentence) else sentence
