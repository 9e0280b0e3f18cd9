"""Translates rows for a bilingual judge: queries, then responses, then judgments.

Every field is a round of its own, so that no judgment is asked for whose row has already failed:

```
query/, responses/, judgment/       runs, with their ledgers
query.jsonl …                       each row's translations, or the reason it was dropped
```
The file closes its round: the next one is asked for what it says, also after a kill.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.construct.languages import Identify, load_identifier
from autoj.construct.recipe import TRANSLATED, Translate, TranslatedField
from autoj.construct.stages import Dropped, Outcome, Spent
from autoj.construct.teacher import Teacher
from autoj.construct.translation.checks import Fault
from autoj.construct.translation.judgments import verdict_of
from autoj.construct.translation.texts import Answer, Text, texts_of, translation_of
from autoj.jsonl import read_records, write_records
from autoj.judges import load_card
from autoj.records import Case, JudgeCard, normalise_query
from autoj.runs import RunSpec, make_spec
from autoj.runs.resolving import read_outcomes

_MOST_TOKENS = 4096
"""The most tokens of a translation, if the recipe does not say; servers refuse much larger ones."""

Specs = dict[TranslatedField, RunSpec]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line of a round's file."""

    id: str
    texts: tuple[str, ...] = ()
    """The translations of the row's texts, in order."""
    reason: str | None = None
    """None for a row whose texts are all translated."""
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class _Draft:
    """A row while it is translated."""

    original: Case
    made: Case
    fault: Fault | None = None


def translation_specs(stage: Translate) -> Specs:
    """Makes the settings of the runs, by the field that they translate.

    Args:
        stage: names the teacher and the language.

    Raises:
        UnknownComponent: there is no such judge.
        ConfigError: the judge was trained to judge and cannot be asked to translate.
        MissingExtra: py3langid is not installed.
    """
    load_identifier()
    card, suffix = load_card(stage.teacher), "-zh" if stage.to == "zh" else ""
    return {
        field: make_spec(
            "rate",
            card,
            protocol=("translate-judgment" if field == "judgment" else "translate") + suffix,
            critique=False,
            max_tokens=stage.max_tokens or _default_tokens(card),
        )
        for field in TRANSLATED
        if field in stage.fields
    }


def _default_tokens(card: JudgeCard) -> int:
    """A translation may be as long as its text, which shares the context with it."""
    return max(card.decoding.max_tokens, min(_MOST_TOKENS, card.context_tokens // 2))


def translate(
    cases: Sequence[Case],
    stage: Translate,
    specs: Specs,
    teacher: Teacher,
    folder: Path,
    *,
    spent: Spent,
) -> Iterator[Outcome]:
    """Translates rows into a language; those in this language go on as they are.

    Args:
        cases: pairs and single responses, with or without judgments.
        stage: states the language and the fields.
        specs: the settings, from `translation_specs`.
        teacher: the translator.
        folder: the stage's folder.
        spent: receives the counts of all runs.

    Yields:
        Each row, unless `keep_original` is False, followed by its translation with the id `…+zh` or
        `…+en`, or by the reason that there is none.

    Raises:
        Unfinished: a cap was reached; the same call with a higher one resumes.
        BackendError: most requests of a round failed.
    """
    (spec, *_) = specs.values()
    drafts = [_begun(case, stage, spec.judge.name) for case in cases if case.language != stage.to]
    identify = load_identifier()
    for field, spec in specs.items():
        drafts = _round(drafts, field, spec, stage, teacher, folder, spent, identify)
    translated = iter(drafts)
    for case in cases:
        if case.language == stage.to or stage.keep_original:
            yield case
        if case.language != stage.to:
            yield _outcome(next(translated))


def _begun(case: Case, stage: Translate, translator: str) -> _Draft:
    """The beginning of a translation; a judgment that is not translated is left out."""
    meta = {name: value for name, value in case.meta.items() if name != "language_confidence"}
    if "judgment" not in stage.fields:
        meta.pop("judgment", None)
    if "language" in meta:
        meta["language"] = stage.to
    meta |= {
        "translation_of": case.id,
        "translated_from": case.language,
        "translator": translator,
        "original_query": case.query,
    }
    made = replace(case, id=f"{case.id}+{stage.to}", language=stage.to, reference=None, meta=meta)
    # Of a judgment without a verdict none could be kept, so that nothing is asked about its row.
    is_unreadable = "judgment" in meta and verdict_of(case) is None
    return _Draft(case, made, ("no readable judgment", None) if is_unreadable else None)


def _outcome(draft: _Draft) -> Outcome:
    if draft.fault is None:
        return draft.made
    reason, detail = draft.fault
    return Dropped(id=draft.made.id, reason=reason, detail=detail, case=draft.original)


def _round(
    drafts: list[_Draft],
    field: TranslatedField,
    spec: RunSpec,
    stage: Translate,
    teacher: Teacher,
    folder: Path,
    spent: Spent,
    identify: Identify,
) -> list[_Draft]:
    """Translates a field of all rows that have come so far, or reads a round that is closed."""
    path, run = folder / f"{field}.jsonl", folder / field
    is_closed = path.is_file()
    if not is_closed:
        rows = [
            (draft, texts_of(draft.original, field, stage.to))
            for draft in drafts
            if draft.fault is None
        ]
        answers = _asked([text for _, texts in rows for text in texts], spec, run, teacher)
        lines = (_line(draft, texts, answers, identify) for draft, texts in rows)
        write_records(path, lines)
    if (run / "ledger.jsonl").is_file():
        teacher.count(run, spent, earlier=is_closed)
    read = read_records(path, _Line)
    return [draft if draft.fault else _filled(draft, field, next(read)) for draft in drafts]


def _asked(texts: Sequence[Text], spec: RunSpec, path: Path, teacher: Teacher) -> Iterator[Answer]:
    """Asks for the translations of texts; the answers are in their order."""
    cases = [text.asked for text in texts if text.asked is not None]
    if cases:
        run = teacher.ask(cases, spec, path)
        for _, (outcome,) in read_outcomes(run, run.spec()):
            yield outcome


def _line(
    draft: _Draft,
    texts: Sequence[Text],
    answers: Iterator[Answer],
    identify: Identify,
) -> _Line:
    """A row's translations of a field, or the first reason for which there are none."""
    made: list[str] = []
    faults: list[tuple[Text, Fault]] = []
    # Every answer is taken, also those after a fault: the next row's come after them.
    for text in texts:
        answer = None if text.asked is None else next(answers)
        found = translation_of(text, answer, draft.original, draft.made, identify)
        if isinstance(found, str):
            made.append(found)
        else:
            faults.append((text, found))
    if not faults:
        return _Line(id=draft.made.id, texts=tuple(made))
    text, (reason, detail) = faults[0]
    place = text.place if detail is None else f"{text.place}: {detail}"
    return _Line(id=draft.made.id, reason=reason, detail=place)


def _filled(draft: _Draft, field: TranslatedField, line: _Line) -> _Draft:
    """A row with what a round made of it."""
    if line.reason is not None:
        return replace(draft, fault=(line.reason, line.detail))
    made, texts = draft.made, line.texts
    match field:
        case "query":
            made = replace(made, query=texts[0], cluster=normalise_query(texts[0]))
        case "responses":
            responses = (
                replace(response, text=text, logprob=None)
                for response, text in zip(made.responses, texts, strict=True)
            )
            made = replace(made, responses=tuple(responses))
            if len(texts) == 2 and texts[0] == texts[1]:
                # A translator may mend what tells a response from its damaged copy.
                return replace(draft, fault=("equal responses", None))
        case "judgment":
            if texts:
                made = replace(made, meta={**made.meta, "judgment": texts[0]})
    return replace(draft, made=made)
