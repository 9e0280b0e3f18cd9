"""Samples the responses of Eval-R: N to each of its queries, of each base model."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autoj.construct.teacher import drawn_by
from autoj.construct.testbed.folder import DrawnPair
from autoj.construct.testbed.policies import Answered, Policy, Question
from autoj.construct.testbed.settings import BuildSettings
from autoj.records import Case, Decoding, Failure, Response, WrittenCompletion


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """The samples of Eval-R."""

    pairs: list[DrawnPair]
    """All pairs, those marked whose queries have all samples."""
    candidates: list[Case]
    """A case per query and base model."""
    failed: dict[str, str]
    """Queries of Eval-C that could not be sampled, by case id, with the last error."""


def sampling(card_decoding: Decoding, settings: BuildSettings) -> Decoding:
    """The decoding of samples: at the testbed's temperature, from the whole distribution."""
    return Decoding(
        temperature=settings.temperature,
        max_tokens=settings.max_tokens or card_decoding.max_tokens,
        seed=settings.seed,
    )


def sample(
    pairs: Sequence[DrawnPair], base_models: Sequence[Policy], settings: BuildSettings
) -> Sampled:
    """Samples responses to queries of Eval-C until each scenario has its number.

    A query is taken where every base model gave all samples; the others of Eval-C take the place
    of one that failed.

    Args:
        pairs: the testbed's, with the sets that they go to.
        base_models: the models to sample from.
        settings: state the numbers.

    Raises:
        Unfinished: a cap was reached.
        BackendError: an engine broke down, or most of its answers failed.
    """
    waiting = _waiting(pairs, settings)
    found: dict[str, list[Case]] = {}
    failed: dict[str, str] = {}
    lacking = dict.fromkeys(waiting, settings.n_rating)
    while wave := [
        queue.pop(0)
        for name, queue in waiting.items()
        for _ in range(min(lacking[name], len(queue)))
    ]:
        rows: dict[str, list[Case]] = defaultdict(list)
        for model in base_models:
            for case, outcome in zip(wave, _sampled(wave, model, settings), strict=True):
                if isinstance(outcome, Failure):
                    failed[case.id] = f"{model.card.name}: {outcome.message}"
                else:
                    rows[case.id].append(outcome)
        for case in wave:
            if len(rows[case.id]) == len(base_models):
                found[case.id] = rows[case.id]
                lacking[case.scenario or ""] -= 1
    marked = [replace(pair, in_rating=pair.case.id in found) for pair in pairs]
    candidates = [row for pair in marked for row in found.get(pair.case.id, [])]
    return Sampled(pairs=marked, candidates=candidates, failed=failed)


def _waiting(pairs: Sequence[DrawnPair], settings: BuildSettings) -> dict[str, list[Case]]:
    """The queries of Eval-C by scenario, those of earlier builds first."""

    def turn(pair: DrawnPair) -> tuple[bool, bytes]:
        return not pair.in_rating, drawn_by(settings.seed, f"eval-r {pair.case.id}")

    found: dict[str, list[Case]] = {name: [] for name in settings.scenarios}
    for pair in sorted((pair for pair in pairs if pair.in_critique), key=turn):
        found[pair.case.scenario or ""].append(pair.case)
    return found


def _sampled(cases: Sequence[Case], model: Policy, settings: BuildSettings) -> list[Case | Failure]:
    """Each query with all its samples, or the failure of one of them."""
    n = settings.n_samples
    questions = [Question(case=case, sample=at) for case in cases for at in range(n)]
    answers = model.samples(questions, sampling(model.card.decoding, settings))
    return [
        _candidates(case, answers[at * n : (at + 1) * n], model.card.name)
        for at, case in enumerate(cases)
    ]


def _candidates(case: Case, answers: Sequence[Answered], name: str) -> Case | Failure:
    written: list[WrittenCompletion] = []
    for answer in answers:
        if isinstance(answer, Failure):
            return answer
        written.append(answer)
    return replace(
        case,
        id=f"{case.id}/{name}",
        label=None,
        responses=tuple(
            Response(text=answer.text, model=name, logprob=answer.logprob) for answer in written
        ),
        meta={
            "base_model": name,
            "case_id": case.id,
            "finish_reasons": [answer.finish for answer in written],
        },
    )
