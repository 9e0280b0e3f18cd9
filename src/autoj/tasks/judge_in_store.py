"""Judges or rates on a local disk, and keeps the run, or a jury's runs, in an object store.

```
OUT/jury.json, OUT/verdicts.jsonl   a jury, as a stored run of these files
OUT/judges/NAME/                    the run of each of its judges, a stored run like any other
```
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from autoj.datasets.base import Cases
from autoj.errors import AutojError
from autoj.runs import RunSpec
from autoj.runs.budget import Budget
from autoj.runs.kind import JURY_FILE
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.fetching import held_copy
from autoj.runs.stores.objects import Objects
from autoj.runs.stores.ownership import Awaited
from autoj.runs.stores.stored_run import stored_run
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.judge import judge
from autoj.tasks.jurors import Juror, Jury
from autoj.tasks.jury import JuryRun, judge_by_jury
from autoj.tasks.run import Run


def judge_in_store(
    cases: Cases,
    asked: RunSpec | Jury,
    out: StoreAddress,
    *,
    budget: Budget | None = None,
    watch: Watch = SILENT,
    cache: bool | None = False,
) -> Run | JuryRun:
    """Judges in a local copy of a stored run, which is synced at an interval and at the end.

    Args:
        cases: the data.
        asked: the settings, or a jury.
        out: the run's address, or the jury's.
        budget: as in `tasks.judge.judge`.
        watch: as there.
        cache: as there.

    Returns:
        The run, or the jury, in its local copy.

    Raises:
        ConfigError: the store cannot be used, or what it holds at the address is of another kind.
        AutojError: as `tasks.judge.judge`, `tasks.jury.judge_by_jury` and `stored_run`.
    """
    run: Run | JuryRun
    if isinstance(asked, Jury):
        run = _jury_in_store(cases, asked, out, budget=budget, watch=watch, cache=cache)
    else:
        with stored_run(out, watch) as stored:
            run = judge(cases, asked, stored.folder, budget=budget, watch=stored.watch, cache=cache)
    watch.message(f"{out} keeps the run; its copy here is {run.path}")
    return run


def _jury_in_store(
    cases: Cases,
    jury: Jury,
    out: StoreAddress,
    *,
    budget: Budget | None,
    watch: Watch,
    cache: bool | None,
) -> JuryRun:
    """Judges by a jury while this process writes its folder and all of its judges' runs."""
    judges = [_address(out, juror) for juror in jury.jurors]
    awaited = Awaited([*map(Objects, (out, *judges))])
    with ExitStack() as opened:
        whole = opened.enter_context(stored_run(out, watch, whole=(JURY_FILE,), awaited=awaited))
        watch = whole.watch
        for juror, address in zip(jury.jurors, judges, strict=True):
            folder = whole.folder / juror.folder
            run = stored_run(address, watch, folder=folder, awaited=awaited)
            stored = opened.enter_context(run)
            # Any of them stops the work where another writer has taken it over.
            watch = stored.watch
        _drop_empty(whole.folder)
        return judge_by_jury(cases, jury, whole.folder, budget=budget, watch=watch, cache=cache)


def _drop_empty(folder: Path) -> None:
    """Removes the folders of judges that have no run yet: with them a jury would seem begun."""
    for path in (*folder.glob("judges/*"), folder / "judges"):
        with suppress(OSError):
            path.rmdir()


def copy_stored(asked: RunSpec | Jury, out: StoreAddress, folder: Path) -> None:
    """Copies what is stored of a run or of a jury into a folder, where it may be changed.

    Args:
        asked: the settings of the run, or the jury.
        out: its address.
        folder: made if anything is stored.

    Raises:
        AutojError: as `held_copy`.
    """
    copies = {out: folder}
    if isinstance(asked, Jury):
        copies |= {_address(out, juror): folder / juror.folder for juror in asked.jurors}
    for address, place in copies.items():
        with held_copy(address) as fetched:
            # A fetch that was killed leaves a draft.
            for path in fetched.iterdir() if fetched.is_dir() else ():
                if path.is_file() and path.suffix != ".draft":
                    place.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, place / path.name)


@contextmanager
def thrown_away_copy(asked: RunSpec | Jury, out: StoreAddress) -> Iterator[Path]:
    """Copies what is stored into a folder that is removed at the end of the block.

    Errors of the block name the address in place of that folder.

    Args:
        asked: the settings of the run, or the jury.
        out: its address.

    Raises:
        AutojError: as `held_copy`.
    """
    with TemporaryDirectory() as place:
        copy_stored(asked, out, folder := Path(place) / out.name)
        try:
            yield folder
        except AutojError as error:
            error.message = error.message.replace(str(folder), str(out))
            if error.hint is not None:
                error.hint = error.hint.replace(str(folder), str(out))
            raise


def _address(out: StoreAddress, juror: Juror) -> StoreAddress:
    """The address of the run of a jury's judge."""
    for name in juror.folder.split("/"):
        out = out / name
    return out
