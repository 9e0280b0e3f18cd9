"""Judges of one recipe's variants measured on the same pairs, with paired differences."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autoj.bench.eval_p.evaluate import evaluate
from autoj.bench.eval_p.paired import FigureDifference, compare
from autoj.bench.published import PublishedRow, published
from autoj.bench.sources import (
    JudgeSettings,
    StoredRun,
    VerdictSource,
    get_verdicts,
    labelled_pairs,
    sampled,
)
from autoj.datasets.base import Cases
from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.metrics.result import Result
from autoj.runs.budget import Budget
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.default_paths import slug

_PAIRS = ("paper, section 6.4",)
_RATINGS = ("paper, Table 3",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A judge's figures on the pairs, and what they are less those of the first judge."""

    result: Result
    differences: Sequence[FigureDifference]
    """Empty for the first judge itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationMeasurement:
    """Several judges on the same pairs; the first is the one that the others are compared with."""

    variants: Sequence[Variant]
    published: Sequence[PublishedRow]
    """The paper's figures of its own ablations, measured on its own sets."""

    @property
    def n_failed(self) -> int:
        """Judgments that failed, of all judges."""
        return sum(int(each.result.details["n_failed"]) for each in self.variants)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "results": [asdict(each.result) for each in self.variants],
            "differences": {
                each.result.judge: [asdict(found) for found in each.differences]
                for each in self.variants[1:]
            },
            "published": [
                {
                    "judge": row.model,
                    "base_model": row.base_model,
                    "figures": {name: found.text for name, found in row.figures.items()},
                    "source": row.sources[0].cite,
                }
                for row in self.published
            ],
        }


def ablation_sources(names: Sequence[str]) -> list[VerdictSource]:
    """The judges to compare: each a judge's name or folder, or a finished run's folder.

    Args:
        names: two or more, each once.

    Raises:
        ConfigError: there are fewer, or one is named twice.
        UnknownComponent: there is no such judge.
    """
    if len(names) < 2:
        raise ConfigError("name two judges at least: the whole one first, then its variants")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"{twice} is named twice")
    return [
        StoredRun(Path(name))
        if (Path(name) / "run.json").is_file()
        else JudgeSettings(card=load_card(name))
        for name in names
    ]


def published_ablations() -> tuple[PublishedRow, ...]:
    """The paper's ablations: agreement on Eval-P by its text, and Table 3."""
    rows = (*published("eval-p"), *published("eval-r"))
    wanted = (*_PAIRS, *_RATINGS)
    return tuple(row for row in rows if row.sources[0].cite.startswith(wanted))


def measure_ablation(
    whole: Cases,
    sources: Sequence[VerdictSource],
    *,
    sample: int | None = None,
    seed: int = 0,
    out: Path | None = None,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> AblationMeasurement:
    """Measures judges on the same labelled pairs, each beside the first.

    Args:
        whole: the set.
        sources: the judges; the first is compared with each of the others.
        sample: how many cases are drawn, from each scenario in proportion; None takes all.
        seed: of the random draw.
        out: the folder of the judges' runs; None takes `runs/`.
        budget: what all judges together may spend; None sets no limit.
        watch: told what happens.

    Raises:
        DataError: a file cannot be read, or a run is not of these pairs.
        Unfinished: the budget left some cases without a verdict.
        BackendError: an engine broke down; what was judged is kept.

    **Source:** paper, section 6.4 and Table 3; the paired intervals are ours.
    """
    data, cases = sampled(whole, labelled_pairs(whole), sample, seed)
    judged = [
        get_verdicts(source, data, cases, out=_place(out, source), budget=budget, watch=watch)
        for source in sources
    ]
    first = judged[0]
    return AblationMeasurement(
        variants=[
            Variant(
                result=evaluate(
                    cases,
                    each.verdicts,
                    judge=each.judge,
                    source=each.source,
                    calibration=each.calibration,
                    bench="ablation",
                ),
                differences=()
                if each is first
                else compare(cases, each.verdicts, first.verdicts, "group"),
            )
            for each in judged
        ],
        published=published_ablations(),
    )


def _place(out: Path | None, source: VerdictSource) -> Path | None:
    if out is None or not isinstance(source, JudgeSettings):
        return None
    return out / slug(source.card.name)
