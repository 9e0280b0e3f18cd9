"""`autoj data`: public data sets by name, how to get them, and which queries two have in common."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from autoj.cli import _console, _options
from autoj.datasets import catalog, data_files_in, is_dataset, open_cases
from autoj.datasets.overlap import Overlap, find_overlap
from autoj.errors import DataError
from autoj.reports.text import excerpt, visible, visible_text

__all__ = ["data_app"]

data_app = typer.Typer(
    no_args_is_help=True,
    help="Public data sets: list them, get them, and find queries that two of them share.",
)

_Set = Annotated[
    str,
    typer.Argument(
        help="A file of cases, a folder of such files, hf-dataset:NAME, or a name of `autoj data "
        "list`."
    ),
]


@data_app.command("list")
def list_data(as_json: _options.Json = False) -> None:
    """List the public data sets that have a name: what, licence, size, and whether it is here.

    Example: autoj data list
    """
    _console.set_json(as_json)
    entries = [catalog.load_entry(name) for name in catalog.data_names()]
    if as_json:
        _console.print_json([_entry_json(entry) for entry in entries])
        return
    table = Table(box=None, header_style="bold", padding=(0, 1))
    table.add_column("name", no_wrap=True)
    table.add_column("here", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("what", overflow="fold")
    for entry in entries:
        here = "yes" if catalog.is_here(entry.name) else _how(entry)
        what = visible_text(f"{entry.what}. Licence: {entry.licence}")
        table.add_row(entry.name, here, _size(entry.size_bytes), what)
    _console.print_result(table)


@data_app.command("get")
def get_data(
    names: Annotated[list[str], typer.Argument(help="Names of `autoj data list`.")],
    to: Annotated[
        Path | None,
        typer.Option(
            help="The folder to fetch into; AUTOJ_DATA can then name it. Default: the cache folder."
        ),
    ] = None,
    unverified: Annotated[
        bool, typer.Option("--unverified", help="Take files whose checksum is not known, too.")
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Fetch public data sets, checked against their checksums; what is here already stays.

    Example: autoj data get eval-p eval-c
    """
    _console.set_json(as_json)
    # A misspelt name ends the command before anything is fetched.
    entries = [catalog.load_entry(name) for name in names]
    found: dict[str, str] = {}
    with _console.watching() as watch:
        for entry in entries:
            path = catalog.get(entry.name, watch.progress, to=to, unverified=unverified)
            found[entry.name] = str(path)
            if not as_json:
                watch.message(f"{entry.name}: licence {entry.licence}")
                typer.echo(visible(str(path)))
    if as_json:
        _console.print_json(found)


@data_app.command("overlap")
def overlap_data(
    a: _Set,
    b: _Set,
    ngrams: Annotated[
        int,
        typer.Option(
            min=0,
            help="Words an n-gram (characters in Chinese); 0 compares whole texts alone.",
        ),
    ] = 8,
    threshold: Annotated[
        float,
        typer.Option(help="The least share of n-grams, of either query, that the other holds."),
    ] = 0.7,
    show: Annotated[int, typer.Option(min=0, help="How many of the shared queries to show.")] = 5,
    as_json: _options.Json = False,
) -> None:
    """Count the queries of A that stand in B, by their text and by n-grams, and show some.

    Example: autoj data overlap test.jsonl train.jsonl --ngrams 13
    """
    _console.set_json(as_json)
    first, second = _queries(a), _queries(b)
    found = find_overlap(
        [query for _, query in first],
        [query for _, query in second],
        n=ngrams or None,
        threshold=threshold,
    )
    if as_json:
        _console.print_json(_overlap_json(found, first, second))
        return
    _console.print_result(_overlap_report(found, a, b, first, second, show))


_Query = tuple[str, str]
"""Where a query stands, and its text."""


def _queries(name: str) -> list[_Query]:
    """The queries of a file, of a folder of files, or of a named data set."""
    path = Path(name)
    if not path.exists() and name in catalog.data_names():
        path = catalog.find(name)
    paths = sorted(data_files_in(path)) if path.is_dir() and not is_dataset(path) else [path]
    if not paths:
        raise DataError("holds no file of a kind that is read", path=path)
    queries: list[_Query] = []
    n_bad = 0
    for file in paths:
        seen: set[tuple[int, str]] = set()
        for line, case in open_cases(file).read():
            if isinstance(case, DataError):
                n_bad += 1
            elif (line, case.query) not in seen:
                # A row that holds several cases asks its query once.
                seen.add((line, case.query))
                queries.append((f"{file}:{line}", case.query))
    if n_bad:
        _console.print_message(f"{name}: {n_bad:,} rows could not be read and are left out")
    if not queries:
        raise DataError("holds no row that can be read", path=path)
    return queries


def _overlap_report(
    found: Overlap, a: str, b: str, first: list[_Query], second: list[_Query], n_shown: int
) -> Group:
    table = Table(box=None, header_style="bold", padding=(0, 1))
    for heading in ("set", "queries", "shared", "share"):
        table.add_column(heading, justify="left" if heading == "set" else "right", overflow="fold")
    for name, n_rows, n_shared in (
        (a, found.n_a, found.n_shared_a),
        (b, found.n_b, found.n_shared_b),
    ):
        table.add_row(
            visible_text(name), f"{n_rows:,}", f"{n_shared:,}", f"{100 * n_shared / n_rows:.1f} %"
        )
    how = f"{found.n_same_text:,} of {found.n_shared_a:,} have the same text (letters and digits)"
    if found.ngrams is not None:
        how += f"; the others share {100 * found.threshold:g} % of {found.ngrams}-grams or more"
    parts: list[Any] = [table, Text(how)]
    for shared in found.shared[:n_shown]:
        place, query = first[shared.a]
        other, text = second[shared.b]
        parts.append(Text(f"\n{100 * shared.share:.0f} % by {shared.by}", style="bold"))
        for where, words in ((place, query), (other, text)):
            line = visible_text(f"  {Path(where).name}: ", style="dim")
            parts.append(line.append_text(excerpt(words, 100)))
    return Group(*parts)


def _overlap_json(found: Overlap, first: list[_Query], second: list[_Query]) -> dict[str, Any]:
    return {
        "n_a": found.n_a,
        "n_b": found.n_b,
        "n_shared_a": found.n_shared_a,
        "n_shared_b": found.n_shared_b,
        "n_same_text": found.n_same_text,
        "ngrams": found.ngrams,
        "threshold": found.threshold,
        "shared": [
            {"a": first[item.a][0], "b": second[item.b][0], "share": item.share, "by": item.by}
            for item in found.shared
        ],
    }


def _entry_json(entry: catalog.Entry) -> dict[str, Any]:
    here = catalog.is_here(entry.name)
    return {
        **asdict(entry),
        "size_bytes": entry.size_bytes,
        "verified": bool(entry.files) and entry.is_verified,
        "here": str(catalog.find(entry.name)) if here else None,
    }


def _how(entry: catalog.Entry) -> str:
    if not entry.files:
        return "by hand"
    return "no" if entry.is_verified else "unverified"


def _size(n_bytes: int | None) -> str:
    if n_bytes is None:
        return ""
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:,.0f} kB"
