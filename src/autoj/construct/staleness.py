"""Stages that were made before the last review of an earlier one: set aside, and made again.

```
made_on.json              the digest of the corrections that a stage was made on, if there were any
NN-STAGE.before-review-1  the folder of a stage that was made before the first review; it is kept
                          where it has answers of a teacher, which are used again
```
"""

import shutil
from collections.abc import Iterator
from itertools import count, takewhile
from pathlib import Path

from autoj.construct.stages import StageFolder
from autoj.errors import DataError
from autoj.jsonl import decode, write_records
from autoj.runs.files import LEDGER
from autoj.system_errors import storage_error

MADE_ON = "made_on.json"


def is_stale(stage: StageFolder, corrections: str | None) -> bool:
    """True where a stage was begun on other corrections than the present ones.

    Args:
        stage: a stage behind the one that was reviewed; begun, finished, or neither.
        corrections: the digest of the present ones (`review.answers.Corrections`).
    """
    return stage.path.is_dir() and _made_on(stage.path) != corrections


def begin(stage: StageFolder, corrections: str | None) -> bool:
    """Prepares the folder of a stage: what was begun on other corrections is set aside.

    Args:
        stage: a stage behind the one that was reviewed.
        corrections: the digest of the present ones.

    Returns:
        True where something was set aside.

    Raises:
        DataError: the folder cannot be written.
    """
    was_stale = is_stale(stage, corrections)
    try:
        if was_stale:
            aside = next(path for path in _places(stage.path) if not path.exists())
            stage.path.rename(aside)
            if not any(aside.rglob(LEDGER)):
                shutil.rmtree(aside)
        if corrections is not None and not stage.path.is_dir():
            # Under another name until it says what it is made on.
            draft = stage.path.with_name(f"{stage.path.name}.draft")
            draft.mkdir(exist_ok=True)
            write_records(draft / MADE_ON, [{"corrections": corrections}])
            draft.rename(stage.path)
    except OSError as error:
        raise storage_error(error, stage.path) from error
    return was_stale


def runs_set_aside(stage: StageFolder) -> list[Path]:
    """The runs of a stage that was set aside, earliest first."""
    places = takewhile(Path.is_dir, _places(stage.path))
    return [ledger.parent for place in places for ledger in sorted(place.rglob(LEDGER))]


def _places(path: Path) -> Iterator[Path]:
    return (path.with_name(f"{path.name}.before-review-{number}") for number in count(1))


def _made_on(path: Path) -> str | None:
    """The digest of the corrections that a stage's folder was begun on; None without any."""
    try:
        made_on = decode((path / MADE_ON).read_bytes())
        return str(made_on["corrections"])
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"is damaged: {error}",
            path=path / MADE_ON,
            hint="Delete it: the stage is then made again, and asks nothing twice.",
        ) from None
