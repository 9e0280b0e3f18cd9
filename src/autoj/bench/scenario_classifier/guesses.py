"""Guesses of a set's scenarios: a classifier's, those of a judge's run, or a baseline's.

Scenarios are spelled as the taxonomy spells them: `default`, the early name of `others`, is
`others`, in the set's rows and in the guesses alike. Names that the taxonomy lacks stay as they
are.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autoj.errors import UnknownComponent
from autoj.records import Case, Verdict
from autoj.scenarios import resolve_scenario, scenario_names
from autoj.scenarios.classifier import ScenarioClassifier, ScenarioGuess

OnClassified = Callable[[int, int], None]
"""Told how many queries are classified, and how many there are."""
_BATCH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """The guess for one query."""

    ranked: tuple[str, ...] = ()
    """Scenarios, most likely first, each once; none where the answer is missing or unreadable."""
    probability: float | None = None
    """The probability of the first, 0-1; None where it is unknown."""
    failed: bool = False
    """True where the request failed."""

    @property
    def scenario(self) -> str | None:
        """The scenario that is guessed; None where the answer is missing or unreadable."""
        return self.ranked[0] if self.ranked else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """A classifier's guesses at a set's queries."""

    classifier: str
    """Its name."""
    source: str
    """The origin of the guesses."""
    labels: frozenset[str]
    """The scenarios that it can name."""
    guesses: Sequence[Guess]
    """One a query, in the set's order."""
    digest: str | None = None
    """Of its weights; None where it has none of ours."""
    folder: Path | None = None
    """The run that holds the guesses, where one does."""


def classify(
    classifier: ScenarioClassifier,
    cases: Sequence[Case],
    on_classified: OnClassified,
    *,
    name: str | None = None,
    source: str = "embedded",
) -> Classified:
    """The guesses of an embedded classifier.

    Args:
        classifier: names the scenarios.
        cases: a set's.
        name: its name here; None takes its own.
        source: its origin.
        on_classified: told of the progress.
    """
    guesses: list[Guess] = []
    on_classified(0, len(cases))
    for start in range(0, len(cases), _BATCH):
        batch = [case.query for case in cases[start : start + _BATCH]]
        guesses += map(_guess, classifier.classify(batch))
        on_classified(len(guesses), len(cases))
    return Classified(
        classifier=name or classifier.name,
        source=source,
        labels=frozenset(map(_spelled, classifier.labels)),
        guesses=guesses,
        digest=classifier.digest,
    )


def _guess(guess: ScenarioGuess) -> Guess:
    names = (guess.scenario, *(name for name, _ in guess.alternatives))
    # A recipe's data may hold two spellings of one scenario; the likelier one counts.
    return Guess(ranked=tuple(dict.fromkeys(map(_spelled, names))), probability=guess.probability)


def _spelled(name: str) -> str:
    try:
        return resolve_scenario(name)
    except UnknownComponent:
        return name


def guesses_of_run(
    judge: str, source: str, verdicts: Sequence[Verdict], folder: Path | None = None
) -> Classified:
    """The guesses of a language model, which names one scenario and gives no probability.

    Args:
        judge: its name.
        source: the run.
        verdicts: one a query, in the set's order.
        folder: the run's folder.
    """
    return Classified(
        classifier=judge,
        source=source,
        labels=frozenset(scenario_names()),
        guesses=[_guess_of(verdict) for verdict in verdicts],
        folder=folder,
    )


def _guess_of(verdict: Verdict) -> Guess:
    if verdict.scenario is not None:
        return Guess(ranked=(_spelled(verdict.scenario),))
    return Guess(failed=verdict.n_unreadable == 0)


BASELINE_CLASSIFIERS = {
    "majority": "always names the set's most frequent scenario, which it is given",
    "random": "names one of the set's scenarios at random",
}
"""The baselines, which read nothing, each with a description."""


def classify_by_baseline(name: str, cases: Sequence[Case]) -> Classified:
    """The guesses of a baseline.

    Args:
        name: one of `BASELINE_CLASSIFIERS`.
        cases: a set's, each with its scenario.
    """
    counts = Counter(case.scenario for case in cases if case.scenario is not None)
    ranked = sorted(counts, key=lambda scenario: (-counts[scenario], scenario))
    if name == "majority":
        share = counts[ranked[0]] / len(cases)
        guesses = [Guess(ranked=tuple(ranked[:3]), probability=share)] * len(cases)
    else:
        guesses = [_drawn(case, sorted(ranked)) for case in cases]
    return Classified(
        classifier=name,
        source=BASELINE_CLASSIFIERS[name],
        labels=frozenset(ranked),
        guesses=guesses,
    )


def _drawn(case: Case, names: Sequence[str]) -> Guess:
    """Three scenarios at random, the same for a query at any position."""

    def random_key(name: str) -> bytes:
        return hashlib.sha256(f"{case.cluster}\0{name}".encode("utf-8", "surrogatepass")).digest()

    return Guess(ranked=tuple(sorted(names, key=random_key)[:3]), probability=1 / len(names))
