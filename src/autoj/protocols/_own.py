"""Protocols that a user wrote as a file: its prompt, and how the answer is read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from autoj.prompts import Prompt
from autoj.prompts.answers import Choices, JsonField, Like, Patterns, chosen, look_up, statements
from autoj.prompts.template import fill
from autoj.protocols._criteria import scenario_of
from autoj.protocols._folding import clean, fold
from autoj.protocols._quotations import Judged, Statement, own_statements, quoted
from autoj.protocols._ratings import HIGHEST, LOWEST
from autoj.protocols._reference import reference_of
from autoj.protocols._standing import stands_by_itself
from autoj.protocols.base import JudgeProtocol, RequestBody, Subject
from autoj.protocols.pairwise import choice_probabilities
from autoj.records import (
    Case,
    Completion,
    Decision,
    Message,
    Rating,
    Reading,
    Shown,
    Unreadable,
    Verdict,
    Winner,
    likeliest,
)
from autoj.scenarios import Library, render_criteria, shipped_library

_ON_PAGE: dict[Winner, Shown] = {"a": "1", "b": "2", "tie": "tie"}
_SHOWN: dict[str, Shown] = {"1": "1", "2": "2", "tie": "tie"}
_NUMBER = re.compile(r"[-+]?[0-9]{1,7}(?:\.[0-9]{1,6})?")
_SHORT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found(Statement):
    """A statement with the words that the prompt's values are looked up by."""

    stated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnProtocol:
    """Asks and reads as a prompt's file says."""

    prompt: Prompt
    """The file's content."""
    source: str
    """The file's text, which runs keep."""
    like: JudgeProtocol | None = None
    """The shipped protocol that it reads as; None where it states its own way."""
    forced: RequestBody
    """The forced opening, the choices and the stops of each request; it has no messages."""
    library: Library = field(default_factory=shipped_library)
    """The scenarios and their criteria."""

    @property
    def name(self) -> str:
        """The name in the file."""
        return self.prompt.name

    @property
    def aliases(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def subject(self) -> Subject:
        """Two responses, or one."""
        return "pair" if self.prompt.kind == "pairwise" else "response"

    @property
    def language(self) -> Literal["en", "zh"]:
        """The language of the prompt."""
        return self.prompt.language

    @property
    def gives_probabilities(self) -> bool:
        """True where choices are scored."""
        if self.like is not None:
            return self.like.gives_probabilities
        return isinstance(self.prompt.answer, Choices)

    @property
    def reads_alone(self) -> bool:
        """True where a page shows one response."""
        return self.prompt.kind == "single"

    @property
    def needs_reference(self) -> bool:
        """True where the prompt shows the reference answer."""
        return "reference" in self.prompt.placeholders

    @property
    def scale_note(self) -> str | None:
        """The map of ratings to 1 to 10, in words; None where they are on that scale."""
        lowest, highest = self.prompt.scale
        if self.prompt.kind == "pairwise" or (lowest, highest) == (LOWEST, HIGHEST):
            return None
        factor = (HIGHEST - LOWEST) / (highest - lowest)
        return (
            f"a rating r from {lowest:g} to {highest:g} counts as 1 + {factor:g} * "
            f"(r - {lowest:g}), from 1 to 10"
        )

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The file's text with the case's texts in their places.

        Raises:
            ConfigError: it shows a reference or criteria, and the case has none.
            UnknownComponent: the case names an unknown scenario.
        """
        values = self._values(case, shown)
        system = self.prompt.system
        messages = [Message(role="user", content=fill(self.prompt.user, values))]
        if system is not None:
            messages.insert(0, Message(role="system", content=fill(system, values)))
        return replace(self.forced, messages=tuple(messages))

    def _values(self, case: Case, shown: tuple[int, ...]) -> dict[str, str]:
        texts = [case.responses[index].text for index in shown]
        names = ("response_1", "response_2") if self.subject == "pair" else ("response",)
        values = {"query": case.query, **dict(zip(names, texts, strict=True))}
        wanted = self.prompt.placeholders
        if "reference" in wanted:
            values["reference"] = reference_of(case, self.name)
        if wanted & {"criteria", "scenario"}:
            scenario = scenario_of(case, self.library, self.name)
            values |= {"criteria": render_criteria(scenario), "scenario": scenario.description}
        return values

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The answer that the text states, in the way that the file says."""
        if self.like is not None:
            return self.like.parse(text, judged)
        visible = clean(text)
        match self.prompt.answer:
            case Choices() as choices:
                if (value := chosen(choices, visible)) is None:
                    return Unreadable(reason=f"the text begins with no choice: {_short(visible)}")
                return self._reading(value, visible)
            case (Patterns() | JsonField()) as answer:
                return self._stated(answer, visible, judged)
            case Like():
                raise AssertionError("a prompt that reads like a protocol has that protocol")

    def _stated(self, answer: Patterns | JsonField, visible: str, judged: Sequence[str]) -> Reading:
        # Folding keeps positions.
        found = [
            _Found(start=each.start, end=each.end, stated=each.stated)
            for each in statements(answer, visible)
        ]
        if not found:
            return Unreadable(reason=_nothing(answer))
        folded, shown = fold(visible), Judged(judged)
        own = own_statements(folded, found, shown, stands_by_itself)
        if not own:
            return quoted("answer", folded, found, shown)
        which = answer.which if isinstance(answer, Patterns) else "last"
        if which == "only" and len(own) > 1:
            return Unreadable(reason=f"the text states {len(own):,} answers where one is expected")
        stated = own[0 if which == "first" else -1].stated
        value = look_up(stated, dict(self.prompt.values))
        if value is None:
            return Unreadable(reason=f"the answer is not one of the values: {_short(stated)}")
        return self._reading(value, visible)

    def _reading(self, value: str, visible: str) -> Reading:
        if self.subject == "pair":
            if value not in _SHOWN:
                return Unreadable(reason=f"the answer is not 1, 2 or tie: {_short(value)}")
            return Decision(shown=_SHOWN[value], critique=visible.strip())
        number = float(value) if _NUMBER.fullmatch(value) else None
        lowest, highest = self.prompt.scale
        if number is None or not lowest <= number <= highest:
            said = f"a number from {lowest:g} to {highest:g}"
            return Unreadable(reason=f"the rating is not {said}: {_short(value)}")
        return Rating(value=self._rescaled(number), critique=visible.strip())

    def _rescaled(self, rating: float) -> float:
        """A rating on the file's scale as one from 1 to 10."""
        lowest, highest = self.prompt.scale
        value = LOWEST + (rating - lowest) * ((HIGHEST - LOWEST) / (highest - lowest))
        return min(max(value, LOWEST), HIGHEST)

    def read(self, completion: Completion, judged: Sequence[str] = ()) -> Reading:
        """The likeliest choice or the expected rating where choices were scored, else the text."""
        if self.like is not None:
            return self.like.read(completion, judged)
        answer = self.prompt.answer
        if completion.choice_logprobs is None or not isinstance(answer, Choices):
            return self.parse(completion.text, judged)
        shares = choice_probabilities(completion.choice_logprobs)
        if shares is None or len(shares) != len(answer.choices):
            return Unreadable(reason="the choices have no probabilities")
        weighed = [(value, share) for (_, value), share in zip(answer.choices, shares, strict=True)]
        if self.subject == "response":
            expected = sum(float(value) * share for value, share in weighed)
            return Rating(value=self._rescaled(expected))
        first, second, tie = (
            sum(share for value, share in weighed if value == page) for page in ("1", "2", "tie")
        )
        probabilities = (first, second, tie)
        return Decision(shown=_ON_PAGE[likeliest(probabilities)], probabilities=probabilities)

    def follow(self, case: Case, verdict: Verdict, shown: tuple[int, ...]) -> RequestBody | None:
        """The critique that the protocol it reads as asks for; None without one."""
        return None if self.like is None else self.like.follow(case, verdict, shown)

    def read_follow(
        self, verdict: Verdict, shown: tuple[int, ...], completion: Completion
    ) -> Reading:
        """Reads that critique."""
        if self.like is None:
            return Unreadable(reason="this protocol makes no second request")
        return self.like.read_follow(verdict, shown, completion)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCriteriaProtocol(OwnProtocol):
    """A protocol of one's own that shows the criteria of a case's scenario."""

    def with_library(self, library: Library) -> "OwnCriteriaProtocol":
        """The same protocol with other scenarios, such as a user's."""
        return replace(self, library=library)


def _nothing(answer: Patterns | JsonField) -> str:
    if isinstance(answer, JsonField):
        return f"no JSON object with the field {'.'.join(answer.path)!r} is stated"
    return "nothing that the prompt's regular expression matches is stated"


def _short(text: str) -> str:
    stated = text.strip().split("\n")[0]
    return repr(stated if len(stated) <= _SHORT else stated[:_SHORT] + "…")
