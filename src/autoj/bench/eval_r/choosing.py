"""The judges of best-of-N selection that a caller names in text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autoj.bench.eval_r.measure import PublishedRatings, RatingJudge, RatingSource, rating_judges
from autoj.bench.sources import StoredRun
from autoj.errors import ConfigError


def rating_sources(
    judges: str | None = None,
    runs: Sequence[Path] = (),
    published: str | None = None,
    out: Path | None = None,
    **settings: Any,
) -> list[RatingSource]:
    """The sources of ratings that are named: judges first, then runs, then the set's own.

    Args:
        judges: NAME or NAME,NAME.
        runs: folders of runs that rated the set.
        published: judges whose ratings are in the set's file, NAME or NAME,NAME.
        out: as in `rating_judges`.
        settings: further ones of `rating_judges`.

    Raises:
        UnknownComponent: there is no such judge.
        ConfigError: a judge cannot rate by the protocol.
    """
    rating = rating_judges(_listed(judges), out, **settings)
    return [*rating, *map(StoredRun, runs), *map(PublishedRatings, _listed(published))]


def listed_sizes(text: str) -> list[int]:
    """The numbers of candidates that a text lists, such as 8,16,32.

    Raises:
        ConfigError: one is no whole number.
    """
    try:
        return [int(size) for size in _listed(text)]
    except ValueError:
        raise ConfigError(f"--n takes whole numbers, such as 8,16,32; found {text!r}") from None


def _listed(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def grading_judge(name: str | None, out: Path | None = None, **settings: Any) -> RatingJudge | None:
    """The judge that grades the picks, in a folder of its own in `out`; None without a name.

    Args:
        name: the judge's.
        out: the folder of the judges' runs; None takes `runs/`.
        settings: further ones of `rating_judges`.

    Raises:
        UnknownComponent: there is no such judge.
        ConfigError: it cannot rate by the protocol.
    """
    place = out and out / "grades"
    return next(iter(rating_judges([name] if name else [], place, **settings)), None)
