"""Names the scenarios of rows that have none, by an embedded classifier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from autoj.construct.recipe import Classify
from autoj.construct.stages import Dropped, Outcome
from autoj.records import Case
from autoj.scenarios.classifier import load_classifier

_BATCH = 512


def classify(cases: Iterable[Case], stage: Classify) -> Iterator[Outcome]:
    """Names scenarios; rows that state one keep it.

    Args:
        cases: read lazily, a batch at a time.
        stage: names the classifier, and the probability below which a guess is unsure.

    Yields:
        Cases with a scenario, those that were guessed with `meta.scenario_probability`.

    Raises:
        UnknownComponent: there is no such classifier.
    """
    classifier = load_classifier(stage.classifier)
    source = iter(cases)
    while batch := list(islice(source, _BATCH)):
        queries = [case.query for case in batch if case.scenario is None]
        guesses = iter(classifier.classify(queries) if queries else ())
        for case in batch:
            if case.scenario is not None:
                yield case
                continue
            guess = next(guesses)
            probability = round(guess.probability, 4)
            meta = {**case.meta, "scenario_probability": probability}
            named = replace(case, scenario=guess.scenario, meta=meta)
            if guess.probability < stage.least_probability:
                detail = f"{guess.scenario} ({guess.probability:.2f})"
                yield Dropped(id=case.id, reason="unsure scenario", detail=detail, case=named)
            else:
                yield named
