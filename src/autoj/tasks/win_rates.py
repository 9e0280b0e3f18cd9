"""Win rates as other tools would report them: of a run, or of a file of their own verdicts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from autoj.datasets.published_verdicts import PublishedVerdict, read_verdicts
from autoj.errors import ConfigError, DataError
from autoj.metrics import Row, win_rate
from autoj.metrics.rows import cluster_number, pair_row
from autoj.records import Estimate, Winner
from autoj.runs import resolve_run
from autoj.runs.kind import kind_of
from autoj.tasks.run import Run

ALL_CONVENTIONS = "all"
_SWAPPED: dict[Winner | None, Winner | None] = {"a": "b", "b": "a", "tie": "tie", None: None}


def win_rates(run: Run, convention: str = ALL_CONVENTIONS) -> dict[str, Estimate]:
    """The win rate of response a in a run on pairs, by a tool's rule.

    Args:
        run: the run, finished or not.
        convention: a name in `metrics.win_rate.CONVENTIONS`, or `all`.

    Returns:
        By the convention's name.

    Raises:
        ConfigError: the run rates single responses.
    """
    if not run.spec.paired:
        raise ConfigError(f"{run.path} rates single responses: there is no win rate")
    rows = [pair_row(case, verdict) for case, verdict in resolve_run(run.folder, run.spec)]
    return _by_convention(rows, convention)


def stored_win_rates(
    path: Path, convention: str = ALL_CONVENTIONS
) -> tuple[Run, dict[str, Estimate]]:
    """A run by its folder, and its win rates.

    Args:
        path: the folder.
        convention: as for `win_rates`.

    Raises:
        ConfigError: it is a jury's folder, or the run rates single responses.
        DataError: it is no run's folder.
    """
    if kind_of(path) == "jury":
        raise ConfigError(
            f"{path} is a jury's folder",
            hint=f"autoj show {path}/judges/NAME --convention TOOL takes one judge's.",
        )
    run = Run.open(path)
    return run, win_rates(run, convention)


def published_win_rates(
    path: Path, convention: str = ALL_CONVENTIONS
) -> dict[tuple[str, str], Mapping[str, Estimate]]:
    """The win rates of a file of another tool's verdicts.

    Args:
        path: the file.
        convention: as for `win_rates`.

    Returns:
        By the names of models a and b, each pair's by the convention's name.

    Raises:
        DataError: a row cannot be read, or the file holds no verdicts on pairs.
    """
    rows: dict[tuple[str, str], list[Row]] = {}
    for _, item in read_verdicts(path):
        if isinstance(item, DataError):
            raise item
        if item.verdict.winners:
            rows.setdefault(_models(item), []).append(_row(item))
    if not rows:
        raise DataError("holds no verdicts on pairs", path=path)
    return {models: _by_convention(its, convention) for models, its in rows.items()}


def _by_convention(rows: Sequence[Row], convention: str) -> dict[str, Estimate]:
    names = list(win_rate.CONVENTIONS) if convention == ALL_CONVENTIONS else [convention]
    return {name: win_rate.by_convention(rows, name) for name in names}


def _models(item: PublishedVerdict) -> tuple[str, str]:
    a, b = item.models
    names = a or "the first response", b or "the second response"
    return names if item.subject == "a" else names[::-1]


def _row(item: PublishedVerdict) -> Row:
    """Its row, with the model that the tool reports on as a."""
    swap = item.subject == "b"
    return Row(
        cluster=cluster_number(item.cluster),
        label=None,
        winner=_SWAPPED[item.verdict.winner] if swap else item.verdict.winner,
        winners=tuple(map(_SWAPPED.get, item.verdict.winners)) if swap else item.verdict.winners,
        consistent=item.verdict.consistent,
        scenario=None,
        strengths=item.strengths,
    )
