"""The stage collect run alone: pairs of several sources, or their queries, as one file.

```
pairs.jsonl              the rows that are kept, as native rows
pairs.dropped.jsonl      the others, each with its reason
pairs.summary.json       counts by source and by reason; it comes last
```
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from autoj.construct.collecting import collect, open_sources
from autoj.construct.recipe import Collect, ConstructRecipe, PairFile
from autoj.construct.stages import Dropped, Outcome, StageSummary, write_outcomes
from autoj.datasets import data_paths
from autoj.errors import Cancelled, ConfigError, DataError
from autoj.jsonl import read_records, write_records
from autoj.runs.watch import SILENT, Watch
from autoj.system_errors import storage_error

_ENDING = ".jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedFile:
    """A file of collected rows."""

    path: Path
    dropped: Path
    """The file of the other rows."""
    summary: StageSummary


def listed(text: str) -> tuple[str, ...]:
    """The words of a list with commas.

    >>> listed("en, zh"), listed("")
    (('en', 'zh'), ())
    """
    return tuple(word.strip() for word in text.split(",") if word.strip())


def collect_recipe(
    data: Sequence[str],
    like: PairFile,
    stage: Collect,
    *,
    seed: int = 0,
    scenarios: str | None = None,
) -> ConstructRecipe:
    """The recipe of a collection.

    Files of one name (`askculinary/train.json`, `legaladvice/train.json`) are told apart by their
    folders.

    Args:
        data: the sources, in the order in which they are read.
        like: what is said of each of them; its own `data` is not read.
        stage: states the treatment of their rows.
        seed: draws the order of responses.
        scenarios: a folder with scenarios of the user's own; None uses ours.

    Raises:
        ConfigError: several sources are given one name.
    """
    if like.name is not None and len(data) > 1:
        raise ConfigError(
            f"the name {like.name!r} is for one source, and there are {len(data)}",
            hint="A recipe of autoj construct names each.",
        )
    sources = [like.model_copy(update={"data": name}) for name in data]
    return ConstructRecipe(
        title="collected",
        seed=seed,
        sources=tuple(_told_apart(sources)),
        stages=(stage,),
        scenarios=scenarios,
    )


def _told_apart(sources: Sequence[PairFile]) -> Iterator[PairFile]:
    """The sources under names of their own: of a name that occurs again, with the folder's."""
    counts = Counter(source.called for source in sources)
    taken = {name for name, count in counts.items() if count == 1}
    for number, source in enumerate(sources, start=1):
        if counts[source.called] == 1:
            yield source
            continue
        name = f"{Path(source.data).absolute().parent.name}-{source.called}"
        # Folders may have one name, too, and a file may be given twice.
        while name in taken:
            name += f"-{number}"
        taken.add(name)
        yield source.model_copy(update={"name": name})


def collect_to_file(
    recipe: ConstructRecipe, out: Path, *, queries: bool = False, watch: Watch = SILENT
) -> CollectedFile:
    """Runs the first stage of a recipe, collect, and writes its rows to a file.

    Args:
        recipe: as `collect_recipe` makes it; other stages are not run.
        out: the file of kept rows, whose name ends in `.jsonl`.
        queries: True keeps queries alone, as rows without responses.
        watch: told of progress; it may cancel, which leaves no file.

    Raises:
        DataError: a file cannot be read, or no row is kept; the dropped rows are written.
        ConfigError: a source serves testing only, or `out` is a source or no name for rows.
        StorageFull: the disk is full.
        Cancelled: `watch` cancelled it.
    """
    stage = recipe.stages[0]
    assert isinstance(stage, Collect)
    _check_out(out, recipe)
    opened = open_sources(recipe, stage, queries=queries)
    for source, cases in zip(recipe.sources, opened, strict=True):
        watch.message(f"reading {source.data} as {cases.format}")
    notes: dict[str, Any] = {}
    stem = out.name.removesuffix(_ENDING)
    dropped, summarised = out.with_name(f"{stem}.dropped.jsonl"), f"{stem}.summary.json"
    try:
        # An older summary must not stand beside newer rows.
        out.with_name(summarised).unlink(missing_ok=True)
    except OSError as error:
        raise storage_error(error, out) from error
    outcomes = collect(recipe, stage, notes, queries=queries, opened=opened)
    n_kept, counts = write_outcomes(out.parent, (out.name, dropped.name), _watched(outcomes, watch))
    summary = StageSummary(
        name="collect",
        n_in=n_kept + counts.total(),
        n_kept=n_kept,
        dropped=dict(counts.most_common()),
        notes=notes,
    )
    write_records(out.with_name(summarised), [summary])
    if n_kept == 0:
        raise _nothing_kept(summary, dropped)
    return CollectedFile(path=out, dropped=dropped, summary=summary)


def _check_out(out: Path, recipe: ConstructRecipe) -> None:
    if out.is_dir() or not out.name.endswith(_ENDING) or out.name == _ENDING:
        raise ConfigError(
            f"--out {out} is no name for a file of rows", hint="Choose one that ends in .jsonl."
        )
    read = [path for source in recipe.sources for path in data_paths(Path(source.data))]
    if out.resolve() in {path.resolve() for path in read}:
        raise ConfigError(f"--out {out} is a file that is read", hint="Choose another --out.")


def _watched(outcomes: Iterator[Outcome], watch: Watch) -> Iterator[Outcome]:
    for n_done, outcome in enumerate(outcomes, start=1):
        watch.progress("collecting", n_done, n_done)
        if watch.cancelled():
            raise Cancelled("cancelled")
        yield outcome


def _nothing_kept(summary: StageSummary, dropped: Path) -> DataError:
    """The error of a collection that kept no row, with the first reason as an example."""
    first = next(islice(read_records(dropped, Dropped), 1), None)
    if first is None:
        return DataError("no row was read", path=dropped)
    detail = f" ({first.detail})" if first.detail else ""
    return DataError(
        f"no row of {summary.n_in:,} was kept; the first, {first.id}: {first.reason}{detail}",
        path=dropped,
        hint="This file has every dropped row with its reason.",
    )
