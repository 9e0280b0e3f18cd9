"""The datasheet of a frozen testbed as Markdown.

**Source**: the questions are those of T. Gebru et al., "Datasheets for Datasets" (arXiv
1803.09010), as far as a file can answer them.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from autoj.construct.testbed.datasheet import Datasheet
from autoj.construct.testbed.labels import RULE
from autoj.jsonl import write_records
from autoj.records import Estimate

_FILES = {
    "eval_p.jsonl": ("pairs with labels", "autoj bench eval-p --data eval_p.jsonl --judge NAME"),
    "eval_c.jsonl": (
        "the less preferred response of some pairs",
        "autoj bench eval-c --data eval_c.jsonl --critic NAME --judge NAME",
    ),
    "eval_r.jsonl": (
        "samples to queries of these",
        "autoj bench eval-r --data eval_r.jsonl --judge NAME --grader NAME",
    ),
    "answers.jsonl": ("every answer that counts, by annotator", None),
}
_MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#"})


def write_datasheet(path: Path, sheet: Datasheet) -> None:
    """Writes a datasheet as Markdown.

    Raises:
        StorageFull: the disk is full.
    """
    write_records(path, [line + "\n" for line in _lines(sheet)], lambda line: str(line).encode())


def _lines(sheet: Datasheet) -> Iterator[str]:
    yield f"# {_plain(sheet.title)}"
    yield ""
    yield (
        "Pairs of responses with people's labels (`eval_p`), responses to criticise (`eval_c`) and "
        "responses to rate (`eval_r`), made as section 5.1 of the paper on Auto-J "
        "(arXiv 2310.05470) describes."
    )
    yield ""
    if sheet.missing:
        yield f"**This testbed is not complete.** {'; '.join(map(_plain, sheet.missing))}."
        yield ""
    licence = "not stated: ask who made it" if sheet.licence is None else _plain(sheet.licence)
    yield f"- Licence: {licence}. Texts of others keep the terms of their sources."
    yield f"- Made with {sheet.made_by}, seed {sheet.record['settings']['seed']}."
    yield from _section("Files", _files(sheet))
    yield from _section("Scenarios", _scenarios(sheet))
    yield from _section("Sources", _sources(sheet))
    yield from _section("Labels", _labels(sheet))
    yield from _section("Samples", _samples(sheet))
    yield from _section("Left out", _left_out(sheet))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield ""
    yield from lines


def _files(sheet: Datasheet) -> Iterator[str]:
    rows = [
        (f"`{name}`", found["n_rows"], does, f"`{command}`" if command else "")
        for name, found in sheet.files.items()
        for does, command in (_FILES[name],)
    ]
    yield from _table(("file", "rows", "holds", "read by"), rows)
    yield ""
    yield "`sha256sum --check SHA256SUMS` says whether a file was changed."


def _scenarios(sheet: Datasheet) -> Iterator[str]:
    names = ("scenario", "n", "a", "b", "tie", "labelled", "unlabelled", "made", "eval_c", "eval_r")
    heads = ("scenario", "pairs", "a", "b", "tie", "labelled by the source", "labelled here",
             "made here", "Eval-C", "Eval-R")  # fmt: skip
    rows = [[row[name] for name in names] for row in sheet.scenarios]
    total = ["all", *(sum(row[at] for row in rows) for at in range(1, len(names)))]
    yield from _table(heads, [*rows, total])


def _sources(sheet: Datasheet) -> Iterator[str]:
    yield from _table(("source of the query", "pairs"), sheet.sources.items())
    yield ""
    yield from _table(("responses by", "responses"), sheet.responses_by.items())
    yield ""
    kinds = {"pairs": "pairs", "queries": "queries", "exclude": "trained on"}
    rows = [
        (kind, _plain(entry["path"]), f"`{entry['sha256']}`")
        for name, kind in kinds.items()
        for entry in sheet.record[name]
    ]
    yield from _table(("read as", "file", "sha256"), rows)
    models = [
        (role, _plain(model["name"]), _plain(f"{model['backend']}: {model['model']}"),
         _plain(model["revision"] or "not pinned"), _plain(model["licence"] or "not stated"))
        for role, name in (("policy", "policies"), ("base model", "base_models"))
        for model in sheet.record[name]
    ]  # fmt: skip
    if models:
        yield ""
        yield from _table(("role", "name", "model", "revision", "licence"), models)


def _labels(sheet: Datasheet) -> Iterator[str]:
    says = {
        "source": "the label of the source, kept as it is",
        "agreed": "all annotators gave it",
        "majority": "more than half of the annotators gave it",
        "undecided": "no majority",
        "too few": "fewer answers than were asked for",
        "unanswered": "no answer",
    }
    yield from _table(("label", "pairs"), [(says[state], n) for state, n in sheet.states.items()])
    yield ""
    yield f"Rule: {RULE}; answers needed: {sheet.choices['least_annotators']}."
    if sheet.choices["undecided"] == "tie":
        yield "Pairs without a majority were made ties."
    yield (
        "Annotators saw neither models nor sources; which response stood left was drawn for each "
        "of them and each pair (for all annotators of a Label Studio project at once)."
    )
    if not sheet.annotators:
        return
    yield ""
    yield from _table(
        ("annotator", "answers", "skips", "answered again"),
        [
            (one["number"], one["n_answered"], one["n_skipped"], one["n_answered_again"])
            for one in sheet.annotators
        ],
    )
    if sheet.agreement:
        yield ""
        yield from _table(
            ("annotators", "pairs", "same answer", "Cohen's kappa"),
            [
                (
                    " and ".join(map(str, found["annotators"])),
                    found["kappa"]["n"],
                    _estimate(Estimate(**found["same_answer"])),
                    _estimate(Estimate(**found["kappa"])),
                )
                for found in sheet.agreement
            ],
        )
        yield ""
        yield "In brackets: 95 % intervals over queries."


def _samples(sheet: Datasheet) -> Iterator[str]:
    settings, (n_known, n) = sheet.record["settings"], sheet.logprobs
    if n == 0:
        yield "There are none."
        return
    yield (
        f"{settings['n_samples']} samples of each base model to each query, at temperature "
        f"{settings['temperature']:g}. {n_known:,} of {n:,} have a log-probability"
        + ("." if n_known == n else "; the others' engines do not state it.")
    )


def _left_out(sheet: Datasheet) -> Iterator[str]:
    counts = sheet.counts
    yield (
        f"{counts['n_pairs_read']:,} rows of pairs and {counts['n_queries_read']:,} queries were "
        f"read; {counts['n_not_drawn']:,} were not drawn, {counts['n_of_other_scenarios']:,} are "
        "of other scenarios."
    )
    if sheet.dropped:
        yield ""
        yield from _table(("because", "rows"), sheet.dropped.items())
    yield ""
    if not counts["contamination"]:
        yield "No training file was named, so nothing was left out for having been trained on."
        return
    yield from _table(
        ("trained on", "rows", "rows read here that share its queries"),
        [
            (_plain(found["path"]), found["n_rows"], found["n_shared"])
            for found in counts["contamination"]
        ],
    )


def _table(heads: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        cells = [f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row]
        yield f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """A text of others on one line, of which nothing is markup."""
    return " ".join(str(text).split()).translate(_MARKUP)


def _estimate(found: Estimate) -> str:
    if found.value is None:
        return found.reason or "unknown"
    if found.low is None or found.high is None:
        return f"{found.value:.2f} ({found.reason})"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
