"""A comparison of two critics as a run: cases with two critiques each, and back to its verdicts."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from autoj.bench.base import align
from autoj.bench.eval_c.evaluate import Comparison
from autoj.bench.eval_c.files import Critiques, Vote
from autoj.critiques import strip_rating
from autoj.datasets.base import Cases, ReadRow
from autoj.errors import DataError
from autoj.protocols.base import JudgeProtocol, judged_texts
from autoj.records import Case, Completion, Rating, Verdict
from autoj.runs import RunFolder, RunSpec, resolve_run
from autoj.runs.ledger import LedgerReader

_RATING = {"en": "Rating: ", "zh": "评分: "}


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """The derivation of a comparison's cases, which is part of their run's identity."""

    critics: tuple[str, str]
    sha256: tuple[str, str]
    """Of each critic's critiques, before ratings were removed."""
    keep_ratings: bool
    n_ratings_removed: tuple[int, int]
    n_missing: tuple[int, int]
    """Cases for which each critic has no critique."""
    n_left_out: int
    """Cases for which one or both have none."""
    limit: int | None
    """The set's first cases that were taken; None took all."""


def critiques_of_run(folder: RunFolder, cases: Sequence[Case]) -> Critiques:
    """The critiques that a judge wrote when it rated a set's responses, closed by their ratings.

    Args:
        folder: a "rate" run of the set's first cases, or of all.
        cases: those cases. One whose judgment failed or could not be read has no critique.

    Raises:
        DataError: the run is not one of these cases.
    """
    spec = folder.spec()
    verdicts = align(cases, resolve_run(folder, spec), folder.path)
    protocol = spec.plain_protocol
    return Critiques(
        critic=(spec.critic or spec.judge).name,
        texts=tuple(
            _written(case, verdict, protocol) for case, verdict in zip(cases, verdicts, strict=True)
        ),
        source=str(folder.path),
        n_failed=sum(verdict.n_failed for verdict in verdicts),
    )


def _written(case: Case, verdict: Verdict, protocol: JudgeProtocol) -> str | None:
    """A case's critique with its rating, as the judge was asked to write it; None without one."""
    text = verdict.critiques[0] if verdict.critiques else None
    rating = verdict.ratings[0] if verdict.ratings else None
    # Readings of written judgments leave the rating out; critiques asked for afterwards keep it.
    if text is None or rating is None:
        return text
    if isinstance(protocol.parse(text, judged_texts(protocol, case, (0,))), Rating):
        return text
    return f"{text}\n\n{_RATING[protocol.language]}[[{rating:g}]]"


def comparison_cases(
    cases: Sequence[Case],
    first: Critiques,
    second: Critiques,
    *,
    path: Path,
    keep_ratings: bool = False,
    limit: int | None = None,
) -> Cases:
    """The cases of a "compare" run: each has the first critic's critique, then the second's.

    Cases for which a critic has no critique (or one that is nothing but a rating) are left out.

    Args:
        cases: the whole set.
        first: the critic that wins or loses; its first critiques are of the set's first cases.
        second: the critic it is compared with.
        path: the set's file.
        keep_ratings: whether the ratings in the critiques stay, as in the released leaderboard; the
            paper removes them.
        limit: the set's first cases that are taken; None takes all.

    Raises:
        DataError: there is no case for which both have a critique.
    """
    chosen = cases[:limit]
    critics = (first, second)
    raw = [critic.texts[: len(chosen)] for critic in critics]
    texts = [[_without_rating(text, keep_ratings) for text in column] for column in raw]
    pairs = list(zip(*texts, strict=True))
    compared = [
        replace(case, critiques=(one, other), meta={"critics": [first.critic, second.critic]})
        for case, (one, other) in zip(chosen, pairs, strict=True)
        if one is not None and other is not None
    ]
    if not compared:
        raise DataError(
            f"no case has critiques by both critics: {first.critic!r} has none "
            f"for {texts[0].count(None):,} of {len(chosen):,}, {second.critic!r} none for "
            f"{texts[1].count(None):,}",
            path=path,
        )
    derivation = Derivation(
        critics=(first.critic, second.critic),
        sha256=(first.sha256, second.sha256),
        keep_ratings=keep_ratings,
        n_ratings_removed=(_n_changed(raw[0], texts[0]), _n_changed(raw[1], texts[1])),
        n_missing=(texts[0].count(None), texts[1].count(None)),
        n_left_out=len(chosen) - len(compared),
        limit=limit,
    )

    def read() -> Iterator[ReadRow]:
        return (ReadRow(line, case) for line, case in enumerate(compared, start=1))

    return Cases(
        format="critiques of two critics",
        paths=(path,),
        read=read,
        derivation=orjson.dumps(asdict(derivation)).decode(),
    )


def _without_rating(text: str | None, keep_ratings: bool) -> str | None:
    if text is None:
        return None
    kept = text if keep_ratings else strip_rating(text)
    return kept if kept.strip() else None


def _n_changed(before: Sequence[str | None], after: Sequence[str | None]) -> int:
    return sum(old != new for old, new in zip(before, after, strict=True))


def compared(folder: RunFolder, cases: Sequence[Case]) -> Comparison:
    """Reads a finished comparison of a set from its folder; no model is called.

    Args:
        folder: the folder of a "compare" run.
        cases: the whole set.

    Raises:
        DataError: it is no such run, or one of another set, or not finished.
    """
    spec = folder.spec()
    derivation = _derivation(folder)
    chosen = cases[: derivation.limit]
    return Comparison(
        critic=derivation.critics[0],
        against=derivation.critics[1],
        judged_by=spec.judge.name,
        source=f"run {folder.path} ({spec.protocol})",
        cases=chosen,
        verdicts=_verdicts(folder, spec, chosen, derivation.n_left_out),
        both_orders=spec.orders == "both",
        notes=(*_notes(spec, derivation), _length_note(folder, derivation.critics[0])),
    )


def _derivation(folder: RunFolder) -> Derivation:
    stated = folder.settings()["data"].get("derivation")
    try:
        return TypeAdapter(Derivation).validate_json(stated or "null")
    except ValidationError:
        raise DataError(
            "is not a comparison of two critics",
            path=folder.path,
            hint="Give the folder of a run of autoj bench eval-c.",
        ) from None


def _verdicts(
    folder: RunFolder, spec: RunSpec, cases: Sequence[Case], n_left_out: int
) -> list[Verdict]:
    """A verdict per case of the set, in its order; those that were left out have no winner."""
    judged = list(resolve_run(folder, spec))
    there = {case.id for case, _ in judged}
    asked = [case for case in cases if case.id in there]
    if len(cases) - len(asked) != n_left_out:
        # More are missing than lack a critique: this says which.
        asked = list(cases)
    found = {verdict.case_id: verdict for verdict in align(asked, judged, folder.path)}
    left_out = Verdict(case_id="", judge=spec.judge.name, rule="incomplete")
    return [found.get(case.id) or replace(left_out, case_id=case.id) for case in cases]


def _length_note(folder: RunFolder, critic: str) -> str:
    """Finds how often the longer critique wins: the length baseline, since judges favour length."""
    pairs = [[len(text.strip()) for text in case.critiques] for case in folder.cases()]
    share = sum(first > second for first, second in pairs) / len(pairs)
    return f"The longer critique is {critic}'s in {share:.1%} of the compared cases."


def _notes(spec: RunSpec, derivation: Derivation) -> Iterator[str]:
    if derivation.keep_ratings:
        yield "Critiques were compared with their ratings, as in the released leaderboard."
    else:
        ratings = zip(derivation.n_ratings_removed, derivation.critics, strict=True)
        removed = " and ".join(f"{n:,} critiques of {critic}" for n, critic in ratings)
        yield f"As in the paper, closing ratings were removed first: {removed} had one."
    if spec.orders != "both":
        drawn = "drawn at random" if spec.orders == "shuffled" else "the first critic first"
        seed = f" (seed {spec.seed})" if spec.orders == "shuffled" else ""
        yield f"Each case was asked in one order, {drawn}{seed}."
    else:
        rule = "counts as a tie" if spec.on_conflict == "tie" else "is unscored"
        yield f"Each case was asked in both orders; where they disagree it {rule}."
    for critic, n_missing in zip(derivation.critics, derivation.n_missing, strict=True):
        if n_missing:
            yield f"Cases without a critique by {critic}: {n_missing:,}; unscored, not lost."
    if derivation.limit is not None:
        yield f"The set's first {derivation.limit:,} cases only."


def votes_of_run(folder: RunFolder, cases: Sequence[Case]) -> list[Vote]:
    """The votes of a comparison in one order, as the release keeps them.

    Args:
        folder: the folder of a "compare" run that asked each case once.
        cases: the set's that it was made of, in their order; one that was not asked about has a
            vote without a text.
    """
    votes: dict[str, Vote] = {}
    with closing(LedgerReader(folder.path)) as answers:
        for asked in folder.plan():
            found = answers.find(asked.key)
            text = found.text if isinstance(found, Completion) else None
            votes[asked.case_id] = Vote(text=text, exchanged=asked.shown == (1, 0))
    return [votes.get(case.id) or Vote(text=None, exchanged=False) for case in cases]
