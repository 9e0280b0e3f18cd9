"""The cost of a construction before it is asked: requests, tokens and money of each teacher.

The stages before the first teacher ask nobody, so they are run for real, and their rows are
counted. What a teacher's answers will let through is not known, so figures are ranges: of pairs,
from all judgments being kept to none. Where a judge will name scenarios, the embedded classifier's
guesses stand for its names.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.construct.classifying import classify, naming_spec
from autoj.construct.folder import stage_folder
from autoj.construct.negatives import pairs_among
from autoj.construct.pair_judgments import pair_spec
from autoj.construct.pipeline import construct
from autoj.construct.recipe import (
    Classify,
    ConstructRecipe,
    JudgePairs,
    JudgeSingles,
    Negatives,
    Translate,
    asked_by,
)
from autoj.construct.single_judgments import MERGED, single_specs
from autoj.construct.stages import StageSummary
from autoj.construct.teacher import scenario_fault
from autoj.construct.translation.lengths import count_texts
from autoj.construct.translation.stage import Specs, translation_specs
from autoj.errors import DataError
from autoj.records import Case
from autoj.runs import RunSpec
from autoj.runs.budget import price_usd
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios import Library, load_library

CHARACTERS_PER_TOKEN = 4
"""Of English text; a teacher's own tokenizer is known only once it is loaded."""
WRITTEN_TOKENS = 350
"""An assumed length of a judgment or a critique: a few hundred words."""
NAME_TOKENS = 8
"""An assumed length of a scenario's name."""
_N_SAMPLED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherEstimate:
    """The cost of a teacher's stage; pairs of figures are the least and the most."""

    stage: str
    teacher: str
    n_in: int
    """Pairs, responses, or rows without a scenario, that may be asked about."""
    n_requests: tuple[int, int]
    prompt_tokens: tuple[int, int]
    completion_tokens: tuple[int, int]
    usd: tuple[float, float] | None
    """None where the teacher's card states no prices."""
    n_kept_most: int
    """The most judgments that the quotas let through, or rows that get a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstructEstimate:
    """A construction as far as it is known before a teacher is asked."""

    done: tuple[StageSummary, ...]
    """The stages that were run, as they ask nobody."""
    teachers: tuple[TeacherEstimate, ...]
    """The teachers' stages; empty where no stage asks one."""
    not_estimated: tuple[str, ...]
    """Other stages after the first teacher, whose rows depend on its answers."""
    guesses_scenarios: bool = False
    """True where the classifier's guesses stand for the names that a judge will give."""


def estimate(recipe: ConstructRecipe, out: Path, watch: Watch = SILENT) -> ConstructEstimate:
    """Runs what asks nobody, and estimates what the teachers are asked.

    Args:
        recipe: the sources and the stages.
        out: the construction's folder; the stages that are run stay in it and are not run again.
        watch: told of progress.

    Raises:
        DataError: a file cannot be read, or no pair is left.
        SpecMismatch: the folder was made by another recipe.
    """
    asking = [number for number, stage in enumerate(recipe.stages) if asked_by(stage) is not None]
    n_free = asking[0] if asking else len(recipe.stages)
    done = construct(recipe, out, watch=watch, until=n_free).summaries[:n_free]
    if not asking:
        return ConstructEstimate(done=done, teachers=(), not_estimated=())
    own = None if recipe.scenarios is None else Path(recipe.scenarios)
    library = load_library(own)
    rows = list(stage_folder(out, n_free, recipe.stages[n_free - 1].stage).kept())
    pairs = pairs_among(rows)
    n_made = len(rows) - len(pairs)
    teachers: list[TeacherEstimate] = []
    # The most pairs of a scenario that an earlier teacher lets through; None while there is none.
    quota: int | None = None
    for stage in recipe.stages[n_free:]:
        match stage:
            case Classify() if stage.judge is not None:
                guessed = list(classify(pairs, stage))
                sure = {row.id for row in guessed if isinstance(row, Case)}
                asked = pairs if stage.by == "judge" else [one for one in pairs if one.id in sure]
                teachers.append(_of_names(asked, stage, naming_spec(stage, own)))
                pairs = [row for row in guessed if isinstance(row, Case)]
            case JudgeSingles():
                fitting = _fitting(pairs, library, recipe)
                teachers.append(_of_singles(fitting, quota, stage, single_specs(stage, own)))
                n_made += teachers[-1].n_kept_most
            case JudgePairs():
                spec = pair_spec(stage, own)
                fitting = _fitting(pairs, library if spec.needs_scenario else None, recipe)
                teachers.append(_of_pairs(fitting, quota, stage, spec))
                quota = stage.quota
            case Negatives():
                shares = stage.borrowed + stage.both_borrowed + stage.damaged
                n_made += round(shares * _counts(pairs, quota).total())
            case Translate():
                # Once a teacher has judged, the rows are those that it lets through.
                n_rows = _counts(pairs, quota).total() + n_made if teachers else None
                teachers.append(_of_translation(rows, n_rows, stage, translation_specs(stage)))
    others = (stage for stage in recipe.stages[n_free:] if asked_by(stage) is None)
    return ConstructEstimate(
        done=done,
        teachers=tuple(teachers),
        not_estimated=tuple(stage.stage for stage in others),
        guesses_scenarios=any(teacher.stage == "classify" for teacher in teachers),
    )


def _fitting(
    pairs: Sequence[Case], library: Library | None, recipe: ConstructRecipe
) -> Sequence[Case]:
    """The pairs that a teacher can be asked about.

    Args:
        pairs: all of them.
        library: the scenarios that it is asked by; None where it needs none.
        recipe: names the source, for the message.

    Raises:
        DataError: there is none.
    """
    if library is not None:
        pairs = [case for case in pairs if scenario_fault(case, library) is None]
    if not pairs:
        raise DataError("no pair is left for the teacher", path=Path(recipe.sources[0].data))
    return pairs


def _counts(pairs: Sequence[Case], quota: int | None) -> Counter[str | None]:
    """The pairs of each scenario, at most, that are left by an earlier teacher's quota."""
    counts = Counter(case.scenario for case in pairs)
    return Counter({name: n if quota is None else min(quota, n) for name, n in counts.items()})


def _of_names(pairs: Sequence[Case], stage: Classify, spec: RunSpec) -> TeacherEstimate:
    unnamed = [case for case in pairs if case.scenario is None]
    # Equal queries are asked about once.
    n_requests = len({case.query for case in unnamed})
    read = _prompt_tokens(unnamed, spec, ())
    asked = (n_requests, n_requests)
    return _estimated(stage.stage, spec, len(unnamed), asked, read, len(unnamed), NAME_TOKENS)


def _of_pairs(
    pairs: Sequence[Case], quota: int | None, stage: JudgePairs, spec: RunSpec
) -> TeacherEstimate:
    counts = _counts(pairs, quota)
    n_orders = 2 if stage.orders == "both" else 1
    n_kept_most = sum(min(stage.quota, n) for n in counts.values())
    n_requests = (n_kept_most * n_orders, counts.total() * n_orders)
    read = _prompt_tokens(pairs, spec, (0, 1))
    return _estimated(stage.stage, spec, counts.total(), n_requests, read, n_kept_most)


def _of_singles(
    pairs: Sequence[Case], quota: int | None, stage: JudgeSingles, specs: dict[str, RunSpec]
) -> TeacherEstimate:
    n_responses = sum(min(stage.quota, n) for n in _counts(pairs, quota).values())
    # The request that joins two critiques reads both.
    read = sum(
        _prompt_tokens(pairs, spec, (0,)) + (2 * WRITTEN_TOKENS if name == MERGED else 0)
        for name, spec in specs.items()
    )
    n_requests = (3 * n_responses if quota is None else 0, 3 * n_responses)
    spec = specs[MERGED]
    return _estimated(stage.stage, spec, n_responses, n_requests, read / 3, n_responses)


def _of_translation(
    rows: Sequence[Case], n_rows: int | None, stage: Translate, specs: Specs
) -> TeacherEstimate:
    """The estimate of a translation.

    Args:
        rows: the rows before the first teacher.
        n_rows: the most rows that earlier teachers let through; None where there are none.
        stage: states the language and the fields.
        specs: the settings, by field.
    """
    counted = count_texts(rows, stage, specs)
    n_in = counted.n_rows if n_rows is None else n_rows
    n_texts, read, written = counted.n_texts, counted.prompt_tokens, counted.completion_tokens
    n_requests = (counted.n_first, n_texts)
    if n_rows is not None:
        share = n_rows / max(1, counted.n_rows)
        n_judgments = n_rows if "judgment" in specs else 0
        n_texts = round(n_texts * share) + n_judgments
        read = round(read * share) + 2 * WRITTEN_TOKENS * n_judgments
        written = round(written * share) + WRITTEN_TOKENS * n_judgments
        n_requests = (0, n_texts)
    (spec, *_) = specs.values()
    means = (read / max(1, n_texts), written / max(1, n_texts))
    return _estimated(stage.stage, spec, n_in, n_requests, means[0], n_in, means[1])


def _estimated(
    stage: str,
    spec: RunSpec,
    n_in: int,
    n_requests: tuple[int, int],
    prompt_tokens: float,
    n_kept_most: int,
    written_tokens: float = WRITTEN_TOKENS,
) -> TeacherEstimate:
    """The estimate of a stage by its requests and the mean tokens of a prompt and an answer."""
    written = min(written_tokens, spec.decoding.max_tokens)
    least, most = n_requests
    read = (round(least * prompt_tokens), round(most * prompt_tokens))
    wrote = (round(least * written), round(most * written))
    costs = [price_usd(spec.judge, *tokens) for tokens in zip(read, wrote, strict=True)]
    return TeacherEstimate(
        stage=stage,
        teacher=spec.judge.name,
        n_in=n_in,
        n_requests=n_requests,
        prompt_tokens=read,
        completion_tokens=wrote,
        usd=None if costs[0] is None or costs[1] is None else (costs[0], costs[1]),
        n_kept_most=n_kept_most,
    )


def _prompt_tokens(pairs: Sequence[Case], spec: RunSpec, shown: tuple[int, ...]) -> float:
    """The mean tokens of a prompt, over a sample; 0 without pairs."""
    build = spec.chosen_protocol().build
    sampled = pairs[:: max(1, len(pairs) // _N_SAMPLED)]
    n_characters = sum(
        len(message.content)
        for case in sampled
        for message in build(replace(case, critiques=("", "")), shown).messages
    )
    return n_characters / CHARACTERS_PER_TOKEN / max(1, len(sampled))
