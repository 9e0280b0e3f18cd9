"""The contract of a protocol: from a case to a prompt, and from the answer to a reading.

A protocol is pure: it sees no model, no tokenizer and no file but its own prompt text. Judged texts
are put into a template in one pass, so that they are never read as a template themselves, and only
the judge's text after its prompt is parsed.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, Protocol, TypeGuard

from autoj.records import (
    Case,
    Completion,
    CorrectionCheck,
    Message,
    Proofreading,
    Reading,
    Unreadable,
    Verdict,
)
from autoj.scenarios import Library

Subject = Literal["pair", "response", "critiques", "query"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBody:
    """A protocol's request, before it is addressed to a judge."""

    messages: tuple[Message, ...]
    prefix: str | None = None
    choices: tuple[str, ...] | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofreadBody(RequestBody):
    """The request for a critique of a response that the engine proofreads first."""

    proofreading: Proofreading


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedBody(ProofreadBody):
    """The same, where what is found is compared with what stands in the response."""

    check: CorrectionCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedBody(RequestBody):
    """The request for a critique whose beginning is known."""

    opening: str


class JudgeProtocol(Protocol):
    """Builds requests about cases and reads the answers."""

    @property
    def name(self) -> str:
        """The component's name."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names, such as the original release's."""

    @property
    def subject(self) -> Subject:
        """The subject: two responses, one response, two critiques of one, or the query alone."""

    @property
    def language(self) -> Literal["en", "zh"]:
        """The language of the prompt."""

    @property
    def gives_probabilities(self) -> bool:
        """True where its readings have probabilities, if the backend scores choices."""

    @property
    def reads_alone(self) -> bool:
        """True where a page shows one response: a verdict on a pair then compares two ratings."""

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The request about a case.

        Args:
            case: the case to judge.
            shown: indices of responses (or critiques) in page order.
        """

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """Reads a judge's text; never raises.

        Args:
            text: the text that the judge wrote.
            judged: the texts that it was shown: the query, the responses, a reference, critiques. A
                statement that stands there is a quotation, and none of the judge's own.
        """

    def read(self, completion: Completion, judged: Sequence[str] = ()) -> Reading:
        """Reads a completion: its choices where they were scored, else its text.

        Args:
            completion: the engine's answer.
            judged: the texts that the judge was shown, as in `parse`.
        """

    def follow(self, case: Case, verdict: Verdict, shown: tuple[int, ...]) -> RequestBody | None:
        """A follow-up request that depends on the verdict, or None.

        Args:
            case: the judged case.
            verdict: the verdict so far.
            shown: the responses to write about, in page order.
        """

    def read_follow(
        self, verdict: Verdict, shown: tuple[int, ...], completion: Completion
    ) -> Reading:
        """Reads the completion of `follow`."""


class AskedOnce(ABC):
    """A protocol whose judge writes one text, which is read as it is; nothing is asked after it."""

    __slots__ = ()

    @abstractmethod
    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """Reads a judge's text, as in `JudgeProtocol`."""

    def read(self, completion: Completion, judged: Sequence[str] = ()) -> Reading:
        """The reading of the completion's text."""
        return self.parse(completion.text, judged)

    def follow(self, case: Case, verdict: Verdict, shown: tuple[int, ...]) -> RequestBody | None:
        """None: the text is all there is."""
        return None

    def read_follow(
        self, verdict: Verdict, shown: tuple[int, ...], completion: Completion
    ) -> Reading:
        """Not used, as there is no follow-up."""
        return Unreadable(reason="this protocol makes no second request")


def judged_texts(protocol: JudgeProtocol, case: Case, shown: tuple[int, ...]) -> tuple[str, ...]:
    """The texts that a page shows a judge, for `parse` and `read`: the query comes first.

    They are whole, also where a page had to cut one: what a judge did not see it cannot quote.

    Args:
        protocol: the protocol that asked.
        case: the judged case.
        shown: indices of responses (or critiques) in page order.
    """
    texts = [case.query]
    if protocol.subject == "critiques":
        texts += [case.responses[0].text, *(case.critiques[index] for index in shown)]
    else:
        texts += [case.responses[index].text for index in shown]
    if case.reference is not None:
        texts.append(case.reference)
    return tuple(texts)


class ByCriteria(Protocol):
    """The additional method of a protocol that judges by the criteria of a case's scenario."""

    def with_library(self, library: Library) -> JudgeProtocol:
        """The same protocol with other scenarios, such as a user's."""


class ByMenu(Protocol):
    """The additional method of a protocol that names one of several scenarios."""

    def with_menu(self, library: Library) -> JudgeProtocol:
        """The same protocol with other scenarios to name, such as a user's."""


class ByReference(Protocol):
    """The additional property of a protocol that may show a case's reference answer."""

    @property
    def needs_reference(self) -> bool:
        """True where it does, so that each case needs one."""


class ByCase(Protocol):
    """The additional method of a protocol whose answers cannot be read without their case."""

    def for_case(self, case: Case) -> JudgeProtocol:
        """The protocol that reads the answers about a case."""


# Asked about each row: `isinstance` of a `typing.Protocol` takes a hundred times as long.


def is_by_criteria(protocol: JudgeProtocol) -> TypeGuard[ByCriteria]:
    """True for a protocol that judges by the criteria of a case's scenario."""
    return hasattr(protocol, "with_library")


def is_by_menu(protocol: JudgeProtocol) -> TypeGuard[ByMenu]:
    """True for a protocol that names one of several scenarios, which it lists."""
    return hasattr(protocol, "with_menu")


def is_by_reference(protocol: JudgeProtocol) -> TypeGuard[ByReference]:
    """True for a protocol that may show a case's reference answer."""
    return hasattr(protocol, "needs_reference")


def is_by_case(protocol: JudgeProtocol) -> TypeGuard[ByCase]:
    """True for a protocol whose answers cannot be read without their case."""
    return hasattr(protocol, "for_case")


@cache
def load_text(name: str) -> str:
    """A protocol's prompt text, byte for byte."""
    return (Path(__file__).parent / "text" / name).read_bytes().decode("utf-8")


_FIELD = re.compile(r"\{([a-z_0-9]+)\}")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Puts values into a template in one pass; braces inside a value are left alone.

    >>> fill("[Query]: {query}", {"query": "What is {query}?"})
    '[Query]: What is {query}?'
    """
    return _FIELD.sub(lambda field: values[field[1]], template)


_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]]*(?=\s|$)|[。！？]")


def whole_sentences(text: str) -> str:
    """A text that reached its token limit, without the incomplete last sentence.

    >>> whole_sentences("It is short. It lacks det")
    'It is short.'
    """
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else text
