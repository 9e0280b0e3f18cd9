"""Every noun that crosses a folder: frozen, slotted, keyword-only.

Two alphabets keep two frames apart, so that mixing them is a type error: `Winner` ("a", "b",
"tie") names responses as the *case* orders them, `Shown` ("1", "2", "tie") as the *page* that the
judge saw ordered them. No field uses a value that stands for failure: what could not be read is
`Unreadable`, what could not be had is a `Failure`, what is not known is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

__all__ = [
    "SHOWN",
    "WINNERS",
    "Asked",
    "Calibration",
    "Case",
    "CaseOutline",
    "Completion",
    "Critique",
    "Decision",
    "Decoding",
    "Estimate",
    "Failure",
    "JudgeCard",
    "Judgment",
    "Label",
    "Message",
    "PublishedFigure",
    "Rating",
    "Reading",
    "Request",
    "Response",
    "Score",
    "Shown",
    "Unreadable",
    "Verdict",
    "Winner",
    "normalise_query",
]

Winner: TypeAlias = Literal["a", "b", "tie"]
Shown: TypeAlias = Literal["1", "2", "tie"]
WINNERS: tuple[Winner, ...] = ("a", "b", "tie")
SHOWN: tuple[Shown, ...] = ("1", "2", "tie")


def normalise_query(query: str) -> str:
    """The form under which two queries count as the same: letters and digits only, lower case.

    >>> normalise_query("What is 2 + 2?") == normalise_query("what is 2+2")
    True
    """
    kept = "".join(character for character in query.casefold() if character.isalnum())
    return kept or query


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One answer to a query: the thing that is judged."""

    text: str
    """What the model wrote; may be empty."""
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
    """A query with the responses to judge: one is rated, two are compared, N are selected from."""

    id: str
    """Unique within a run."""
    query: str
    responses: tuple[Response, ...]
    cluster: str
    """What statistics resample together: the normalised query."""
    label: Winner | float | None = None
    """What people said: the better response of a pair, or a rating."""
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
    """Critiques of the first response, where critiques are what is compared."""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutline:
    """A case without its texts: what figures over a million of them need."""

    id: str
    cluster: str
    label: Winner | float | None = None
    scenario: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How a completion is drawn from the model."""

    temperature: float = 0.0
    """0 is greedy."""
    top_p: float = 1.0
    max_tokens: int = 1024
    """The most tokens the judge may write."""
    repetition_penalty: float = 1.0
    """Above 1, what was written already becomes less likely; small models loop without it."""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    """A figure that somebody else reported; never one that we measured."""

    name: str
    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How a judge's preference becomes probabilities of "a", "b" and "tie"; fitted, never guessed.

    A preference is the difference of two expected ratings where each response was read alone, or
    the log-odds of one response over the other, by the probabilities averaged over both orders,
    where both were shown together. The page's own P(tie) is then not used: one model serves both
    kinds of judge, and its ties follow from people's labels. One order alone is not calibrated,
    and each order's own winner never is.

    **Source:** Rao and Kupper, 1967: Bradley and Terry's model of pairs, with ties (`ties.model`).
    """

    temperature: float = 1.0
    """What a preference is divided by, above 0."""
    tie: float = 0.0
    """Half the tie band, at least 0, on the scale of divided preferences: wider makes ties
    likelier."""
    surface: Mapping[str, float] = field(default_factory=dict)
    """What a unit of each surface feature (`surface.SURFACE_FEATURES`) of a response adds to its
    rating or log-odds before the preference is divided; empty adds nothing. Their proportions are
    what surface alone is worth to people; one number, fitted beside the judge, scales them all."""
    fitted_on: str | None = None
    """The data that all were fitted on, and how ties were weighted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCard:
    """All that makes a judge: a model, the wrapper it reads, the protocols it knows, decoding."""

    name: str
    title: str
    backend: str
    """The file under `backends/` that runs it; also the name of the extra that it needs."""
    model: str
    """The engine's name for the model: a hub id, a path, a server's model name."""
    revision: str | None = None
    """What pins the weights: a commit or a digest."""
    adapter: str | None = None
    """A folder of weights, in PEFT's layout, that are merged onto the model before use."""
    adapter_revision: str | None = None
    """What pins the adapter: `sha256:…` of its weights file."""
    wrapper: str = "chatml"
    """How messages become the text that the model reads: a name in `chat.WRAPPERS`."""
    protocols: tuple[str, ...] = ()
    """What it can be asked; the first for pairs and the first for one response are defaults."""
    critique: bool = False
    """Whether a default protocol that only decides is followed by a critique."""
    calibration: Mapping[str, Calibration] = field(default_factory=dict)
    """Per protocol that compares, how preferences become probabilities; without it, probabilities
    are used as they are, and of two ratings the higher wins."""
    context_tokens: int = 4096
    """The most tokens of prompt and completion together."""
    languages: tuple[str, ...] = ("en",)
    decoding: Decoding = Decoding()
    licence: str | None = None
    prompts_sha256: str | None = None
    """Locks a trained judge to its prompts: the digest of its wrapper and of what its protocols
    ask. Where they have changed since, or another protocol is wanted, the judge refuses."""
    training_data: tuple[str, ...] = ()
    """The files that it was trained on, each with its sha256; empty where that is not known."""
    usd_per_million_prompt_tokens: float | None = None
    usd_per_million_completion_tokens: float | None = None
    published: tuple[PublishedFigure, ...] = ()
    notes: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """What only its backend understands (a server's address, a weights file)."""
    folder: str | None = None
    """Where the card was read from: paths in it that begin with "./" start there. It changes no
    answer, so a judge's folder may be moved."""

    def locate(self, path: str) -> Path:
        """A path that the card names, found from where the card lies."""
        if path.startswith("./") and self.folder is not None:
            return Path(self.folder) / path
        return Path(path).expanduser()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a judge, with all that changes the answer."""

    key: str
    """sha256 (hex) of all that changes the text and of nothing else."""
    judge: str
    case_id: str
    protocol: str
    shown: tuple[int, ...]
    """Response indices in page order: (1, 0) shows the case's second response first."""
    sample: int = 0
    """Which of several draws of the same question this is."""
    messages: tuple[Message, ...]
    prefix: str | None = None
    """The opening of the answer, forced."""
    choices: tuple[str, ...] | None = None
    """The possible continuations of the prefix, to be scored as whole strings."""
    stop: tuple[str, ...] = ()
    """The completion ends before the first of these."""
    decoding: Decoding
    truncated: bool = False
    """Whether a response was cut to fit the judge's context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What an engine gave back for a request."""

    key: str
    text: str
    """What the judge wrote after the prefix; the likeliest choice where choices were scored."""
    finish: Literal["stop", "length", "filtered"]
    prompt_tokens: int
    completion_tokens: int
    choice_logprobs: tuple[float, ...] | None = None
    """Per choice, the natural log-probability of the whole string after the prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A request that got no completion; never a score."""

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
    """A reading that is prose alone."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A completion that states nothing on the menu: the third outcome, counted and shown."""

    reason: str


Reading: TypeAlias = Decision | Rating | Score | Label | Critique | Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked about a case, without the text: a line of `plan.jsonl`."""

    case_id: str
    judge: str
    protocol: str
    shown: tuple[int, ...]
    """Response indices in page order."""
    sample: int
    scored: bool
    """Whether choices were scored, and not text written."""
    truncated: bool
    key: str
    """The request's key: equal texts share one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """A completion of what was asked, read."""

    asked: Asked
    completion: Completion
    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the judgments of one case come to."""

    case_id: str
    winner: Winner | None = None
    """The better response of a pair; None where it is not known."""
    consistent: bool | None = None
    """Whether both orders name the same winner; None where fewer than two could be read, or where
    each response was read alone."""
    rule: str | None = None
    """How `winner` came about: a name from `verdicts.RULES`."""
    winners: tuple[Winner | None, ...] = ()
    """Each order's own winner, before any rule; of several draws, what their vote came to."""
    probabilities: tuple[float, float, float] | None = None
    """Of "a", "b" and "tie": averaged over the orders, and calibrated where the card has a
    calibration; of two ratings, only where it has one."""
    vote_shares: tuple[float | None, ...] = ()
    """Where each question was asked several times, one per order of a pair: the share, 0 to 1, of
    its readable draws that state what most of them state. None where too few could be read."""
    ratings: tuple[float | None, ...] = ()
    """One per response that was read alone, 1.0-10.0, the mean where it was asked several times;
    None where it could not be read."""
    rating_sds: tuple[float | None, ...] = ()
    """Where each question was asked several times, one per rating: the standard deviation of its
    readable draws (n - 1 in the denominator). None where there is no rating."""
    selected: int | None = None
    """The index of the response picked from N."""
    scenario: str | None = None
    """Where the query's scenario was asked for: what it is; None where that is not known."""
    critiques: tuple[str | None, ...] = ()
    """In the case's frame: "Response 1" is the case's first response. One per order of a pair or
    one for the verdict; one per rated response. None where there is none to read."""
    judge: str
    n_unreadable: int = 0
    """Judgments that state nothing on the menu; each draw of a question counts."""
    n_failed: int = 0
    n_truncated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure with the interval that one can believe it by."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int
    """Cases that the value is computed on."""
    n_clusters: int
    """Distinct queries among them: what the interval resamples."""
    n_unscored: int = 0
    """Cases left out because no winner is known."""
    bounds: tuple[float, float] | None = None
    """The value if all unscored cases were against it, and if all were for it."""
    reason: str | None = None
    """Why `value` is None."""


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
