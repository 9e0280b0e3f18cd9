"""`autoj data`: public data sets by name, their download, and the queries that two share."""

from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _completion, _console, _options
from autoj.cli._help import App
from autoj.cli._progress import watching
from autoj.datasets import catalog
from autoj.datasets.overlap import PlacedQuery, find_overlap, placed_queries
from autoj.errors import DataError
from autoj.reports.data import catalog_table, entry_record, overlap_record, overlap_view
from autoj.reports.text import visible

data_app = App(
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
    """List the public data sets by name: content, licence, size, and if it is on this machine.

    Example: autoj data list
    """
    entries = [catalog.load_entry(name) for name in catalog.data_names()]
    _console.show(entries, lambda its: [*map(entry_record, its)], catalog_table)


@data_app.command("get")
def get_data(
    names: Annotated[
        list[str],
        typer.Argument(help="Names of `autoj data list`.", autocompletion=_completion.data_sets),
    ],
    to: Annotated[
        Path | None,
        _options.output(
            help="The folder to download to, which AUTOJ_DATA can then name. Default: the cache "
            "folder."
        ),
    ] = None,
    unverified: Annotated[
        bool,
        _options.output("--unverified", help="Accept files whose checksum is unknown."),
    ] = False,
    as_json: _options.Json = False,
) -> None:
    """Download public data sets and verify their checksums; files that exist are kept.

    Example: autoj data get eval-p eval-c
    """
    # A misspelt name ends the command before any download.
    entries = [catalog.load_entry(name) for name in names]
    found: dict[str, str] = {}
    with watching() as watch:
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
        _options.computing(
            min=0, help="Words per n-gram (characters in Chinese); 0 compares whole texts only."
        ),
    ] = 8,
    threshold: Annotated[
        float,
        _options.computing(
            help="The least share of a query's n-grams, in either direction, that the other has."
        ),
    ] = 0.7,
    show: Annotated[
        int,
        _options.output(min=0, help="The number of shared queries to show."),
    ] = 5,
    as_json: _options.Json = False,
) -> None:
    """Count the queries of A that are in B, by their text and by n-grams, and show some.

    Example: autoj data overlap test.jsonl train.jsonl --ngrams 13
    """
    first, second = _queries(a), _queries(b)
    found = find_overlap(
        [query.text for query in first],
        [query.text for query in second],
        n=ngrams or None,
        threshold=threshold,
    )
    _console.show(
        found,
        lambda its: overlap_record(its, first, second),
        lambda its: overlap_view(its, (a, b), first, second, show),
    )


def _queries(name: str) -> tuple[PlacedQuery, ...]:
    found = placed_queries(name)
    if found.n_bad:
        _console.print_message(f"{name}: {found.n_bad:,} rows could not be read and were left out")
    if not found.queries:
        raise DataError("has no row that can be read", path=Path(name))
    return found.queries
