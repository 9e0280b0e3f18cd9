"""`autoj bench eval-c`: whose critiques of the same responses are better."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from autoj.bench.eval_c.evaluate import Comparison, evaluate, read_set, voted
from autoj.bench.eval_c.files import write_votes as write_vote_file
from autoj.bench.eval_c.published import published_against
from autoj.bench.eval_c.run import compared, comparison_cases, votes_of_run
from autoj.cli import _console, _options
from autoj.cli._bench import open_set
from autoj.cli._critics import CriticSource, Writing, comparing_judge, get_critiques
from autoj.cli._judging import judge_whole
from autoj.datasets import catalog
from autoj.errors import ConfigError
from autoj.metrics.result import save_result
from autoj.protocols import load_protocol
from autoj.reports.bench_eval_c import critique_parts_table, critique_view, published_table
from autoj.runs import RunFolder, make_spec
from autoj.runs.budget import Budget

__all__ = ["eval_c"]

_REFERENCE = "ChatGPT"
"""Whose critiques the release gives as the reference."""
_ONE_VOTE = (
    "--write-votes keeps what a judge said of each case once: it goes with a comparison in one "
    "order (--orders shuffled), and not with --votes"
)

_Critic = Annotated[
    str | None, typer.Option(help="The critic: this judge writes the critiques (autoj judges).")
]
_Critiques = Annotated[
    Path | None,
    typer.Option(
        help='The critic\'s critiques: {"output": "…"} a line in the set\'s order, or the set with '
        '"critiques".'
    ),
]
_CriticName = Annotated[
    str | None,
    typer.Option(help="Which critic of the file is meant, or what to call the critic."),
]
_Against = Annotated[
    str | None, typer.Option(help="The other critic: this judge writes the critiques.")
]
_AgainstCritiques = Annotated[
    Path | None,
    typer.Option(
        help="The other critic's critiques. Default: ChatGPT's, the release's reference (autoj "
        "data get eval-c-reference)."
    ),
]
_AgainstName = Annotated[str | None, typer.Option(help="As --critic-name, for the other critic.")]
_Judge = Annotated[
    str | None, typer.Option(help="Who compares the critiques; must be named (autoj judges).")
]
_Run = Annotated[Path | None, typer.Option("--run", help="The folder of a finished comparison.")]
_Votes = Annotated[
    Path | None,
    typer.Option(
        help='Votes as the release has them: {"output": "A: …", "meta": {"exchange": true}} a '
        "line, in the set's order."
    ),
]
_WriteVotes = Annotated[
    Path | None, typer.Option(help="Keep the votes of a comparison in the release's format, too.")
]
_Data = Annotated[
    Path | None,
    typer.Option(help="The set of responses. Default: Eval-C (autoj data get eval-c)."),
]
_Language = Annotated[
    Literal["en", "zh"], typer.Option(help="The English set, or its Chinese translation.")
]
_KeepRatings = Annotated[
    bool,
    typer.Option(
        "--keep-ratings",
        help="Leave the ratings in the critiques, as the released leaderboard does; the paper "
        "takes them off.",
    ),
]
_Orders = Annotated[
    Literal["shuffled", "both"],
    typer.Option(help="Ask in one order drawn by --seed, as the paper did, or in both."),
]
_Seed = Annotated[int, typer.Option(help="What the shuffled orders follow from.")]
_OnConflict = Annotated[
    Literal["tie", "unresolved"],
    typer.Option(
        help="With --orders both, where the orders disagree: neither critique is better, or the "
        "case is unscored."
    ),
]
_Protocol = Annotated[
    str | None, typer.Option(help="How to compare. Default: critique-comparison (Table 15).")
]
_CriticProtocol = Annotated[
    str | None,
    typer.Option(
        help="How to ask for critiques. Default: single (Table 17), or what a judge was trained on."
    ),
]
_By = Annotated[
    Literal["group", "scenario"],
    typer.Option(help="The parts that are listed; --json holds both."),
]
_Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="The comparison's folder. Default: one under runs/, where critiques that judges write "
        "always lie, so that other comparisons find them.",
    ),
]
_Save = Annotated[
    Path | None,
    typer.Option(help="Where the result is kept as JSON. Default: in the comparison's folder."),
]


def eval_c(
    critic: _Critic = None,
    critiques: _Critiques = None,
    critic_name: _CriticName = None,
    against: _Against = None,
    against_critiques: _AgainstCritiques = None,
    against_name: _AgainstName = None,
    judge: _Judge = None,
    run: _Run = None,
    votes: _Votes = None,
    write_votes: _WriteVotes = None,
    data: _Data = None,
    language: _Language = "en",
    keep_ratings: _KeepRatings = False,
    orders: _Orders = "shuffled",
    seed: _Seed = 0,
    on_conflict: _OnConflict = "tie",
    protocol: _Protocol = None,
    critic_protocol: _CriticProtocol = None,
    by: _By = "group",
    out: _Out = None,
    save: _Save = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    limit: _options.Limit = None,
    as_json: _options.Json = False,
) -> None:
    """Compare two critics' critiques of the same responses on Eval-C: wins, ties and losses.

    Every figure can be computed again from a stored run or from votes, without a model. Killed at
    any moment, the same command goes on where it stopped.

    Example: autoj bench eval-c --critic autoj-13b --judge gpt-4
    """
    _console.set_json(as_json)
    ours = CriticSource(judge=critic, file=critiques, name=critic_name)
    theirs = CriticSource(judge=against, file=against_critiques, name=against_name)
    _check_flags(ours, theirs, run, votes, write_votes, orders)
    suffix = "" if language == "en" else "-zh"
    compare = protocol or f"critique-comparison{suffix}"
    if load_protocol(compare).subject != "critiques":
        raise ConfigError(f"protocol {compare!r} compares no critiques; critique-comparison does")
    spec = None
    if votes is None and run is None:
        # Settings that cannot be met end the command before a critic is asked anything.
        spec = make_spec(
            "compare",
            comparing_judge(judge, protocol),
            protocol=compare,
            critique=False,
            orders=orders,
            on_conflict=on_conflict if orders == "both" else None,
            on_overflow=on_overflow,
            seed=seed if orders == "shuffled" else None,
        )
        if theirs.judge is None and theirs.file is None:
            reference = catalog.find(f"eval-c-reference{suffix}")
            theirs = CriticSource(judge=None, file=reference, name=against_name or _REFERENCE)
    found = open_set(data or catalog.find(f"eval-c{suffix}"))
    cases = read_set(found)
    folder = None
    n_failed = 0
    if votes is not None:
        comparison = voted(votes, cases, load_protocol(compare))
        comparison = replace(comparison, judged_by=judge or comparison.judged_by)
    elif run is not None:
        folder = RunFolder.existing(run)
        comparison = compared(folder, cases)
    else:
        assert spec is not None
        budget = Budget(max_usd, max_requests)
        writing = Writing(
            protocol=critic_protocol,
            default=f"single{suffix}",
            on_overflow=on_overflow,
            limit=limit,
            budget=budget,
        )
        first, second = (get_critiques(source, found, cases, writing) for source in (ours, theirs))
        n_failed = first.n_failed + second.n_failed
        pairs = comparison_cases(
            cases, first, second, path=found.paths[0], keep_ratings=keep_ratings, limit=limit
        )
        folder = judge_whole(spec, pairs, out, budget).folder
        comparison = compared(folder, cases)
    comparison = replace(
        comparison,
        critic=critic_name or comparison.critic,
        against=against_name or comparison.against,
    )
    if write_votes is not None and folder is not None:
        if comparison.both_orders:
            raise ConfigError(_ONE_VOTE)
        write_vote_file(write_votes, votes_of_run(folder, comparison.cases))
        _console.print_message(f"the votes are in {write_votes}")
    _finish(comparison, folder, by, save, as_json)
    if n_failed:
        _console.print_message(f"critiques that could not be had: {n_failed:,}")
        raise typer.Exit(1)


def _check_flags(
    ours: CriticSource,
    theirs: CriticSource,
    run: Path | None,
    votes: Path | None,
    write_votes: Path | None,
    orders: str,
) -> None:
    """Raise `ConfigError` where the flags do not say one thing to do."""
    if sum(given is not None for given in (ours.judge, ours.file, run, votes)) != 1:
        raise ConfigError(
            "give one of --critic, --critiques, --run and --votes: critiques to be compared, or a "
            "comparison that was made"
        )
    if theirs.judge is not None and theirs.file is not None:
        raise ConfigError("give one of --against and --against-critiques")
    is_made = run is not None or votes is not None
    if is_made and (theirs.judge is not None or theirs.file is not None):
        raise ConfigError("--run and --votes are of two critics already: --against has no place")
    if write_votes is not None and (votes is not None or orders == "both"):
        raise ConfigError(_ONE_VOTE)


def _finish(
    comparison: Comparison, folder: RunFolder | None, by: str, save: Path | None, as_json: bool
) -> None:
    """Keep the result and show it; exit with 1 where a judgment failed."""
    result = evaluate(comparison)
    place = save if folder is None or save else folder.path / f"{result.bench}.json"
    if place is not None:
        save_result(place, result)
    published = published_against(comparison.against)
    if as_json:
        _console.print_json(asdict(result) | {"published": [asdict(row) for row in published]})
    else:
        parts: list[RenderableType] = [
            critique_view(result),
            Text(),
            published_table(result, published),
        ]
        if by in result.parts:
            parts += [Text(), critique_parts_table(by, result.parts[by], published)]
        _console.print_result(Group(*parts))
    if folder is not None and result.details["n_failed"]:
        raise typer.Exit(1)
