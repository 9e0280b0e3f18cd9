"""The records that cross a folder's border: frozen, slotted, keyword-only.

Two alphabets keep two frames apart, so that mixing them is a type error: `Winner` ("a", "b",
"tie") names responses in the order of the *case*, `Shown` ("1", "2", "tie") in the order of the
*page* that the judge saw. No field has a value that stands for failure: an unreadable answer is
`Unreadable`, a failed request is a `Failure`, and an unknown value is None.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from autoj.notebook import InNotebook

Winner: TypeAlias = Literal["a", "b", "tie"]
Shown: TypeAlias = Literal["1", "2", "tie"]
WINNERS: tuple[Winner, ...] = ("a", "b", "tie")
SHOWN: tuple[Shown, ...] = ("1", "2", "tie")

_NO_LETTER_OR_DIGIT = re.compile(r"[\W_]+")


def normalise_query(query: str) -> str:
    """A query reduced to lower-case letters and digits, so that equal queries compare equal.

    >>> normalise_query("What is 2 + 2?") == normalise_query("what is 2+2")
    True
    """
    return _NO_LETTER_OR_DIGIT.sub("", query.casefold()) or query


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response to a query: the thing that is judged."""

    text: str
    """The model's answer; may be empty."""
    model: str | None = None
    """The name of the model that wrote it."""
    logprob: float | None = None
    """The natural log-probability of the text under the model that wrote it."""
    reference_score: float | None = None
    """A trusted score of this response, on the data set's own scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A query with the responses to judge: one to rate, two to compare, or N to select from."""

    id: str
    """Unique within a run."""
    query: str
    responses: tuple[Response, ...]
    cluster: str
    """The normalised query; cases that share it are resampled together."""
    label: Winner | float | None = None
    """The human label: the better response of a pair, or a rating."""
    scenario: str | None = None
    """One of the 58 scenario names (paper, Table 6)."""
    source: str | None = None
    """The data set that the case comes from."""
    language: Literal["en", "zh"] = "en"
    history: tuple[Message, ...] = ()
    """Earlier turns of the conversation, oldest first."""
    reference: str | None = None
    """A reference answer."""
    critiques: tuple[str, ...] = ()
    """Critiques of the first response, where critiques are compared."""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseOutline:
    """A response without its text."""

    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutline:
    """A case without its texts, for metrics over a million cases."""

    id: str
    cluster: str
    responses: tuple[ResponseOutline, ...] = ()
    label: Winner | float | None = None
    scenario: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """The sampling settings of a judge."""

    temperature: float = 0.0
    """0 is greedy."""
    top_p: float = 1.0
    max_tokens: int = 1024
    """The most tokens the judge may write."""
    repetition_penalty: float = 1.0
    """Above 1, earlier tokens become less likely; without it, small models loop."""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    """A figure that others reported, never one of our own measurements."""

    name: str
    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A fitted map from a judge's preference to the probabilities of "a", "b" and "tie".

    A preference is the difference of two expected ratings where each response was rated alone.
    Where both were shown together it is the log-odds of one response over the other, by the
    probabilities averaged over both orders; P(tie) of the page is then not used, so one model
    serves both kinds of judge and ties follow from human labels. A single order is never
    calibrated, and each order's own winner stays as it is.

    **Source:** Rao and Kupper, 1967: Bradley and Terry's model with ties (`calibration.model`).
    """

    temperature: float = 1.0
    """The temperature that a preference is divided by, above 0."""
    tie: float = 0.0
    """Half the width of the tie band, at least 0, in units of preference / temperature; a wider
    band makes ties likelier."""
    surface: Mapping[str, float] = field(default_factory=dict)
    """Weight of each style feature (`calibration.style_features.STYLE_FEATURES`): the amount that
    one unit adds to a response's rating or log-odds before the division by the temperature. Empty:
    no style correction. The proportions were learnt from labels alone; one factor, fitted together
    with the temperature, scales them all."""
    fitted_on: str | None = None
    """The data that the calibration was fitted on, and the share that ties were weighted to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SureThreshold:
    """A confidence below which a judge's verdicts on pairs are marked unsure.

    The confidence of a verdict is the largest of its probabilities of "a", "b" and "tie", averaged
    over both orders or from two ratings, and calibrated where the card has a calibration. The mark
    changes no winner. It holds for verdicts that come about as those that it was fitted on: another
    calibration needs another threshold.
    """

    below: float
    """A verdict with a lower confidence is unsure; 0 to 1."""
    right: float | None = None
    """The share of right verdicts among the sure ones that it was fitted for, 0 to 1."""
    n: int | None = None
    """The labelled pairs that it was fitted on."""
    fitted_on: str | None = None
    """The data that it was fitted on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCard:
    """A judge: a model, its wrapper (chat format), its protocols and its sampling settings."""

    name: str
    title: str
    backend: str
    """The file under `backends/` that runs it; also the name of the extra that it needs."""
    model: str
    """The engine's name for the model: a hub id, a path, a server's model name."""
    revision: str | None = None
    """The commit or digest that pins the weights."""
    adapter: str | None = None
    """A folder with an adapter in PEFT's layout, merged into the model before use."""
    adapter_revision: str | None = None
    """The digest that pins the adapter: `sha256:…` of its weights file."""
    wrapper: str = "chatml"
    """The chat format, a name in `chat.WRAPPERS`."""
    protocols: tuple[str, ...] = ()
    """The protocols it was made for. The first for pairs and the first for one response are
    defaults."""
    prompts: tuple[str, ...] = ()
    """Prompts of its own, each as the text of a file (`autoj.prompts`). They come before its
    protocols."""
    critique: bool = False
    """True where a default protocol that only decides is followed by a critique."""
    calibration: Mapping[str, Calibration] = field(default_factory=dict)
    """Calibration by comparing protocol. Without one, probabilities are used as they are, and of
    two ratings the higher wins."""
    unsure: Mapping[str, SureThreshold] = field(default_factory=dict)
    """The confidence below which a verdict is marked unsure, by comparing protocol. Without one,
    nothing is marked."""
    context_tokens: int = 4096
    """The most tokens of prompt and completion together."""
    languages: tuple[str, ...] = ("en",)
    decoding: Decoding = Decoding()
    licence: str | None = None
    prompts_sha256: str | None = None
    """Locks a trained judge to its prompts: the digest of its wrapper and protocols. The judge
    refuses to run when they have changed since, or with another protocol."""
    training_data: tuple[str, ...] = ()
    """The files that it was trained on, each with its sha256; empty where unknown."""
    usd_per_million_prompt_tokens: float | None = None
    usd_per_million_completion_tokens: float | None = None
    published: tuple[PublishedFigure, ...] = ()
    notes: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of its backend alone (a server's address, a weights file)."""
    folder: str | None = None
    """The folder of the card: paths in it that begin with "./" are relative to this. It is not part
    of any request's key, so a judge's folder may be moved."""

    def locate(self, path: str) -> Path:
        """A path of the card, resolved relative to the card's folder."""
        if path.startswith("./") and self.folder is not None:
            return Path(self.folder) / path
        return Path(path).expanduser()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proofreading:
    """A response that is read for a wrong word or phrase before a critique is written of it.

    The engine looks for words that the response's own beginning makes very unlikely, rates the
    response with what was likelier in the place of each and of those behind it that differ, and
    names the one for whose correction there is most evidence.
    """

    conversation: tuple[Message, ...]
    """The turns that the response answers."""
    response: str
    rating: tuple[Message, ...]
    """The question about the response by which the judge rates it."""
    place: tuple[int, int]
    """The message of `rating`, and the character in it, at which the response stands."""
    prefix: str | None
    choices: tuple[str, ...]
    """The ratings as the answers to `rating`."""
    values: tuple[float, ...]
    """The rating that each choice states."""
    surprise: float
    """The least difference, in nats, of the likeliest word and the one that stands there."""
    evidence: float
    """The least evidence: the points that the rating gains, and 0.05 for each nat of surprise."""

    def question(self, response: str) -> tuple[Message, ...]:
        """The question of the rating, about another response."""
        number, start = self.place
        asked = self.rating[number]
        content = asked.content[:start] + response + asked.content[start + len(self.response) :]
        changed = replace(asked, content=content)
        return (*self.rating[:number], changed, *self.rating[number + 1 :])


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionCheck:
    """The question by which a judge compares a response with a correction of it.

    What a response is rated higher with need not be what it should say. A judge that also compares
    is asked which of the two it prefers, in both orders.
    """

    messages: tuple[Message, ...]
    """The question, with a mark in the place of each of the two texts."""
    marks: tuple[str, str]
    """That of the first text on the page, and of the second."""
    prefix: str | None
    choices: tuple[str, ...]
    """The answers; the first is the first text, and the second the second."""
    preferred: float
    """The least log-odds of the correction over the response, averaged over both orders."""

    def question(self, first: str, second: str) -> tuple[Message, ...]:
        """The question about two texts, in the order of the page."""
        texts = dict(zip(self.marks, (first, second), strict=True))
        either = re.compile("|".join(map(re.escape, self.marks)))
        return tuple(
            replace(turn, content=either.sub(lambda found: texts[found[0]], turn.content))
            for turn in self.messages
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request to a judge, with everything that affects the answer."""

    key: str
    """sha256 (hex) of everything that affects the answer and of nothing else."""
    judge: str
    case_id: str
    protocol: str
    shown: tuple[int, ...]
    """Response indices in page order: (1, 0) shows the case's second response first."""
    sample: int = 0
    """The number of this sample, where a question is asked several times."""
    messages: tuple[Message, ...]
    prefix: str | None = None
    """The opening of the answer, forced."""
    choices: tuple[str, ...] | None = None
    """The possible continuations of the prefix, to be scored as whole strings."""
    stop: tuple[str, ...] = ()
    """The completion ends before the first of these."""
    decoding: Decoding
    truncated: bool = False
    """True where a response was cut to fit the judge's context."""
    proofreading: Proofreading | None = None
    """A response that is proofread first; what is found to be wrong opens the answer."""
    check: CorrectionCheck | None = None
    """By which what is found there is compared with what stands there; None asks nothing more."""
    opening: str = ""
    """The beginning of the answer, before what is written, such as a mistake that rules found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """An engine's answer to a request."""

    key: str
    text: str
    """The judge's text after the prefix; the likeliest choice where choices were scored."""
    finish: Literal["stop", "length", "filtered"]
    prompt_tokens: int
    completion_tokens: int
    choice_logprobs: tuple[float, ...] | None = None
    """For each choice, the natural log-probability of the whole string after the prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCompletion(Completion):
    """A completion with the log-probability of its own text, from an engine that states it."""

    logprob: float | None = None
    """The natural log-probability of the whole text; None where it is not stated."""


ScoredBy: TypeAlias = Literal["token ids", "prompt", "likeliest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredCompletion(Completion):
    """A completion whose choices a server has scored, and the way in which it did."""

    scored_by: ScoredBy | None = None
    """"token ids" and "prompt" are exact; "likeliest" reads the choices among the likeliest tokens,
    where one that is missing has a bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A request without a completion; never counted as a score."""

    key: str
    error: str
    """The kind of error, by its class name."""
    message: str
    retryable: bool
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A reading of a pairwise completion, in the page's frame."""

    shown: Shown
    probabilities: tuple[float, float, float] | None = None
    """Of "1", "2" and "tie"; they sum to 1."""
    critique: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """A reading of a completion that rates one response."""

    value: float
    """1.0 (worst) to 10.0 (best)."""
    distribution: tuple[float, ...] | None = None
    """Probability of each rating 1, 2, … 10; they sum to 1."""
    critique: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A reading of a scalar model: higher is better, on no fixed scale."""

    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A reading that names a class."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Critique:
    """A reading that is only prose."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A completion without a valid decision or rating: a third outcome, counted and shown."""

    reason: str


Reading: TypeAlias = Decision | Rating | Score | Label | Critique | Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question about a case, without its text: a line of `plan.jsonl`."""

    case_id: str
    judge: str
    protocol: str
    shown: tuple[int, ...]
    """Response indices in page order."""
    sample: int
    scored: bool
    """True where choices were scored and no text was generated."""
    truncated: bool
    key: str
    """The request's key: equal texts share one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """A request with its completion and reading."""

    asked: Asked
    completion: Completion
    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(InNotebook):
    """The decision on one case, from all of its judgments."""

    case_id: str
    winner: Winner | None = None
    """The better response of a pair; None where it is unknown."""
    consistent: bool | None = None
    """True where both orders name the same winner; None where fewer than two could be read, or
    where each response was rated alone."""
    rule: str | None = None
    """The rule that decided `winner`, a name from `verdicts.resolve.RULES`."""
    winners: tuple[Winner | None, ...] = ()
    """Each order's own winner, before any rule; of several samples, their majority vote."""
    probabilities: tuple[float, float, float] | None = None
    """Of "a", "b" and "tie": averaged over the orders, and calibrated where the card has a
    calibration. For two ratings they exist only with a calibration."""
    vote_shares: tuple[float | None, ...] = ()
    """With several samples per question, one per order of a pair: the share, 0 to 1, of its
    readable samples that state the most frequent decision. None where too few could be read."""
    ratings: tuple[float | None, ...] = ()
    """One per response that was rated alone, 1.0-10.0; the mean of several samples. None where it
    could not be read."""
    rating_sds: tuple[float | None, ...] = ()
    """With several samples per question, one per rating: the standard deviation of its readable
    samples (n - 1 in the denominator). None without a rating."""
    selected: int | None = None
    """The index of the selected response of N."""
    scenario: str | None = None
    """The query's scenario: the case's own, or in a run that names scenarios the judge's answer.
    None where it is unknown."""
    critiques: tuple[str | None, ...] = ()
    """In the case's frame: "Response 1" is the case's first response. One per order of a pair or
    one for the verdict; one per rated response. None where there is none."""
    judge: str
    n_unreadable: int = 0
    """Judgments without a readable answer; each sample of a question counts."""
    n_failed: int = 0
    n_truncated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedVerdict(Verdict):
    """A verdict of a judge whose card says below which confidence it is unsure."""

    confidence: float | None = None
    """The largest of its probabilities, 0 to 1; None without any of both orders or two ratings."""
    unsure: bool | None = None
    """True where the confidence is below the card's threshold; None where either is unknown. The
    winner stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetedVerdict(MarkedVerdict):
    """A verdict of a run that asks the second order only where the first one is unsure."""

    n_orders: int
    """Orders that were asked, 1 or 2."""
    first_confidence: float | None = None
    """The largest probability of the first order, 0 to 1; None where it could not be read."""
    first_sure: bool
    """True where the first order alone would have been enough."""
    drawn: bool
    """True where the pair is one of the random share that is asked in both orders in any case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(InNotebook):
    """A metric's value with its confidence interval."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int
    """Number of cases behind the value."""
    n_clusters: int
    """Number of distinct queries among them, which the interval resamples."""
    n_unscored: int = 0
    """Cases left out because their winner is unknown."""
    bounds: tuple[float, float] | None = None
    """The value if all unscored cases counted against it, and if all counted for it."""
    reason: str | None = None
    """The reason for which `value` is None, or for which it has no interval."""


def likeliest(probabilities: tuple[float, float, float]) -> Winner:
    """The outcome with the highest probability; a tie where neither response is ahead.

    Args:
        probabilities: of a, b and tie.

    >>> likeliest((0.4, 0.2, 0.4))
    'tie'
    """
    a, b, tie = probabilities
    if a == b or tie >= max(a, b):
        return "tie"
    return "a" if a > b else "b"
