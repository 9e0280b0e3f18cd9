"""The cost of a construction before it is asked: requests, tokens and money of each teacher.

The stages before the first teacher ask nobody, so they are run for real, and their rows are
counted. What a teacher's answers will let through is not known: each figure is a range, from all
judgments being kept to none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autoj.construct.pipeline import construct, stage_folder
from autoj.construct.recipe import ConstructRecipe, JudgePairs
from autoj.construct.stages import StageSummary
from autoj.construct.teaching import Teacher
from autoj.errors import DataError
from autoj.protocols import by_scenarios, load_protocol
from autoj.records import Case
from autoj.runs.budget import price_usd
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios import shipped_library

CHARACTERS_PER_TOKEN = 4
"""Of English text; a teacher's own tokenizer is known only once it is loaded."""
WRITTEN_TOKENS = 350
"""An assumed length of a judgment of a pair: a few hundred words."""
_N_SAMPLED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherEstimate:
    """The cost of a teacher's stage; pairs of figures are the least and the most."""

    stage: str
    teacher: str
    n_in: int
    """Pairs that may be asked about."""
    n_requests: tuple[int, int]
    prompt_tokens: tuple[int, int]
    completion_tokens: tuple[int, int]
    usd: tuple[float, float] | None
    """None where the teacher's card states no prices."""
    n_kept_most: int
    """The most judgments that the quotas let through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstructEstimate:
    """A construction as far as it is known before a teacher is asked."""

    done: tuple[StageSummary, ...]
    """The stages that were run, as they ask nobody."""
    teacher: TeacherEstimate | None
    """The first teacher's stage; None where no stage asks one."""
    not_estimated: tuple[str, ...]
    """Stages after it, whose rows depend on its answers."""


def estimate(recipe: ConstructRecipe, out: Path, watch: Watch = SILENT) -> ConstructEstimate:
    """Runs what asks nobody, and estimates the first teacher's stage.

    Args:
        recipe: the sources and the stages.
        out: the construction's folder; the stages that are run stay in it and are not run again.
        watch: told of progress.

    Raises:
        DataError: a file cannot be read.
        SpecMismatch: the folder was made by another recipe.
    """
    kinds = [stage.stage for stage in recipe.stages]
    first = kinds.index("judge-pairs") if "judge-pairs" in kinds else len(kinds)
    done = construct(recipe, out, watch=watch, until=first).summaries
    if first == len(kinds):
        return ConstructEstimate(done=done, teacher=None, not_estimated=())
    stage = recipe.stages[first]
    assert isinstance(stage, JudgePairs)
    cases = list(stage_folder(out, first, kinds[first - 1]).kept())
    return ConstructEstimate(
        done=done[:first],
        teacher=_of_teacher(cases, stage, recipe),
        not_estimated=tuple(kinds[first + 1 :]),
    )


def _of_teacher(
    cases: Sequence[Case], stage: JudgePairs, recipe: ConstructRecipe
) -> TeacherEstimate:
    if not cases:
        raise DataError("no pair is left for the teacher", path=Path(recipe.sources[0].data))
    spec = Teacher(stage, None if recipe.scenarios is None else Path(recipe.scenarios)).spec
    n_orders = 2 if stage.orders == "both" else 1
    quotas = Counter(case.scenario for case in cases)
    n_kept_most = sum(min(stage.quota, count) for count in quotas.values())
    n_requests = (n_kept_most * n_orders, len(cases) * n_orders)
    library = shipped_library() if spec.scenarios is None else spec.library
    protocol = by_scenarios(load_protocol(spec.protocol), library)
    step = max(1, len(cases) // _N_SAMPLED)
    sampled = cases[::step]
    n_characters = sum(
        len(message.content)
        for case in sampled
        for message in protocol.build(case, (0, 1)).messages
    )
    per_request = n_characters / CHARACTERS_PER_TOKEN / len(sampled)
    written = min(WRITTEN_TOKENS, spec.decoding.max_tokens)
    read = (round(n_requests[0] * per_request), round(n_requests[1] * per_request))
    wrote = (n_requests[0] * written, n_requests[1] * written)
    least, most = (price_usd(spec.judge, *tokens) for tokens in zip(read, wrote, strict=True))
    return TeacherEstimate(
        stage=stage.stage,
        teacher=spec.judge.name,
        n_in=len(cases),
        n_requests=n_requests,
        prompt_tokens=read,
        completion_tokens=wrote,
        usd=None if least is None or most is None else (least, most),
        n_kept_most=n_kept_most,
    )
