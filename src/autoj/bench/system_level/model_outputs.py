"""The outputs of many models on the same queries, as cases of one run: a case per model and query.

A sample holds the same queries for all models. Which ones follows from a seed and the queries
alone, and a larger sample holds the smaller ones.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.datasets import open_cases
from autoj.datasets.base import Cases, ReadRow
from autoj.errors import ConfigError, DataError
from autoj.inputs import read_lines, read_rows
from autoj.records import Case, normalise_query

_ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".json.gz")
_PUBLIC_NAME = "model_outputs"
"""AlpacaEval's name of each model's file, in a folder of the model's name."""
_PID = "alpaca-eval-"
_QUERY_FIELDS = ("query", "instruction", "prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSet:
    """Outputs to rate, and counts of those left out."""

    cases: Cases
    models: tuple[str, ...]
    n_queries: int
    """Distinct queries that are rated for each model that has them."""
    n_set_queries: int
    """Distinct queries, without excluded ones."""
    n_excluded: int
    """Distinct queries that were left out because a file names them."""
    not_found: tuple[str, ...]
    """Queries of that file that no model answered."""


def output_files(places: Iterable[Path]) -> list[Path]:
    """The files that are named, and those in folders that are, by name.

    Raises:
        DataError: a place is not there, or a folder holds no file of outputs.
    """
    files: list[Path] = []
    for place in places:
        if not place.is_dir():
            files.append(place)
            continue
        found = [path for path in place.iterdir() if path.name.endswith(_ENDINGS)]
        found += place.glob(f"*/{_PUBLIC_NAME}.json")
        if not found:
            raise DataError(
                f"has no outputs: no {', '.join(_ENDINGS)} and no */{_PUBLIC_NAME}.json",
                path=place,
            )
        files += sorted(found)
    return files


def read_queries(path: Path) -> dict[str, str]:
    """The queries that a file names: each normalised query, and the query as written there.

    Args:
        path: JSONL with `query`, `instruction` or `prompt`, or one query a line; `.gz` too.

    Raises:
        DataError: the file cannot be read, or a JSON row has no query.
    """
    _, first = next(read_lines(path), (0, b""))
    if isinstance(first, bytes) and first.lstrip()[:1] in (b"{", b"["):
        texts = [_query(path, line, row) for line, row in read_rows(path)]
    else:
        texts = [_line(line) for _, line in read_lines(path)]
    return {normalise_query(text): text for text in texts}


def _line(line: bytes | DataError) -> str:
    if isinstance(line, DataError):
        raise line
    return line.decode("utf-8", "replace").strip()


def _query(path: Path, line: int, row: dict[str, object] | DataError) -> str:
    if isinstance(row, DataError):
        raise row
    for field in _QUERY_FIELDS:
        if isinstance(text := row.get(field), str):
            return text
    raise DataError(f"has no query: expected {', '.join(_QUERY_FIELDS)}", path=path, line=line)


def open_outputs(
    files: Sequence[Path],
    *,
    sample: int | None = None,
    seed: int = 0,
    exclude: Mapping[str, str] | None = None,
) -> OutputSet:
    """The outputs of models, each of which may be rated.

    Args:
        files: one response a row, in any format that says which query it answers.
        sample: how many queries are rated; None is all.
        seed: which queries a sample holds.
        exclude: queries to leave out, from `read_queries`.

    Raises:
        DataError: a row cannot be read or does not hold one response, or nothing is left.
        ConfigError: the sample is larger than the set.
    """
    left_out = exclude or {}
    models: dict[str, None] = {}
    clusters: dict[str, None] = {}
    # Kept from one reading: 53 models are 100 MB, and reading them again takes seconds.
    outputs = tuple(_read_all(files))
    for case in outputs:
        models[str(case.responses[0].model)] = None
        clusters[case.cluster] = None
    kept = [cluster for cluster in clusters if cluster not in left_out]
    if not kept:
        raise DataError(
            "no query is left to rate: all are excluded" if clusters else "is empty", path=files[0]
        )
    if sample is not None and sample > len(kept):
        raise ConfigError(
            f"--limit {sample} is more than the number of queries, {len(kept):,}",
            hint="Omit --limit to rate all of them.",
        )
    chosen = kept if sample is None else _sample(kept, sample, seed)
    return OutputSet(
        cases=_as_cases(files, outputs, chosen, len(kept)),
        models=tuple(models),
        n_queries=len(chosen),
        n_set_queries=len(kept),
        n_excluded=len(clusters) - len(kept),
        not_found=tuple(text for cluster, text in left_out.items() if cluster not in clusters),
    )


def _sample(clusters: Sequence[str], n: int, seed: int) -> list[str]:
    return sorted(clusters, key=lambda one: hashlib.sha256(f"{seed} {one}".encode()).digest())[:n]


def _as_cases(
    files: Sequence[Path], outputs: Sequence[Case], chosen: Collection[str], n_set_queries: int
) -> Cases:
    wanted = frozenset(chosen)

    def read() -> Iterator[ReadRow]:
        cases = (case for case in outputs if case.cluster in wanted)
        for line, case in enumerate(cases, start=1):
            yield ReadRow(line, replace(case, meta={**case.meta, "n_set_queries": n_set_queries}))

    digest = hashlib.sha256("\n".join(sorted(chosen)).encode()).hexdigest()
    return Cases(
        format=f"outputs in {len(files)} files",
        paths=tuple(files),
        read=read,
        derivation=f"{len(chosen)} of {n_set_queries} queries, {digest}",
    )


def _read_all(files: Iterable[Path]) -> Iterator[Case]:
    for path in files:
        cases: list[Case] = []
        for line, case in open_cases(path).readable():
            if len(case.responses) != 1:
                raise DataError(
                    f"has {len(case.responses)} responses; expected one response of one model",
                    path=path,
                    line=line,
                )
            cases.append(case)
        # A file is named for its model; the rows of a file of several must say whose they are.
        written_by = {case.responses[0].model for case in cases}
        own = _model_of(path) if len(written_by) == 1 else None
        yield from (
            _named(case, own or case.responses[0].model or _model_of(path)) for case in cases
        )


def _model_of(path: Path) -> str:
    """The model that a file is named for."""
    name = path.name
    for ending in sorted(_ENDINGS, key=len, reverse=True):
        name = name.removesuffix(ending)
    return path.parent.name if name == _PUBLIC_NAME else name


def _named(case: Case, model: str) -> Case:
    response = replace(case.responses[0], model=model)
    return replace(
        case, id=f"{model}/{case.id.removeprefix(_PID)}", responses=(response,), label=None
    )
