"""`autoj bench eval-c`: two critics compared by their critiques of the same responses."""

from __future__ import annotations

from pathlib import Path

import typer

from autoj.bench.eval_c import critics, files, measure
from autoj.bench.eval_c.run import votes_of_run
from autoj.bench.sources import StoredRun, open_set
from autoj.cli import _console, _critic_options, _data_options, _options
from autoj.cli._progress import watching
from autoj.datasets import catalog
from autoj.errors import ConfigError
from autoj.metrics.result import save_result
from autoj.reports.bench_eval_c import critic_view
from autoj.runs.budget import Budget

_ONE_VOTE = "--write-votes writes one vote per case: it needs a new comparison in one order"


def eval_c(
    critic: _critic_options.Critic = None,
    critiques: _critic_options.Critiques = None,
    critic_name: _critic_options.CriticName = None,
    against: _critic_options.Against = None,
    against_critiques: _critic_options.AgainstCritiques = None,
    against_name: _critic_options.AgainstName = None,
    judge: _critic_options.Judge = None,
    run: _critic_options.Run = None,
    votes: _critic_options.Votes = None,
    write_votes: _critic_options.WriteVotes = None,
    data: _critic_options.Data = None,
    language: _critic_options.Language = "en",
    keep_ratings: _critic_options.KeepRatings = False,
    orders: _critic_options.Orders = "shuffled",
    seed: _critic_options.Seed = 0,
    on_conflict: _critic_options.OnConflict = "tie",
    protocol: _critic_options.Protocol = None,
    critic_protocol: _critic_options.CriticProtocol = None,
    by: _critic_options.By = "group",
    out: _critic_options.Out = None,
    save: _critic_options.Save = None,
    on_overflow: _options.Overflow = "error",
    max_usd: _options.MaxUsd = None,
    max_requests: _options.MaxRequests = None,
    limit: _data_options.Limit = None,
    as_json: _options.Json = False,
) -> None:
    """Compare two critics' critiques of the same responses on Eval-C: wins, ties and losses.

    Every figure can be computed again from a stored run or from votes, without a model. After an
    interruption, repeat the command to resume.

    Example: autoj bench eval-c --critic autoj-13b --judge gpt-4
    """
    _console.set_json(as_json)
    ours = _critic(critic, critiques, critic_name)
    theirs = _critic(against, against_critiques, against_name)
    if sum(given is not None for given in (critic, critiques, run, votes)) != 1:
        raise ConfigError(
            "give one of --critic, --critiques, --run and --votes: critiques to compare, or an "
            "existing comparison"
        )
    if against is not None and against_critiques is not None:
        raise ConfigError("give one of --against and --against-critiques")
    if ours is None and theirs is not None:
        raise ConfigError(
            "--against cannot be used with --run or --votes, which have both critics already"
        )
    if write_votes is not None and (votes is not None or orders == "both"):
        raise ConfigError(_ONE_VOTE)
    suffix = "" if language == "en" else "-zh"
    source: StoredRun | measure.Votes | measure.NewComparison
    compare_by = measure.comparing_protocol(protocol, language)
    if votes is not None:
        source = measure.Votes(path=votes, protocol=compare_by, judge=judge)
    elif ours is None:
        assert run is not None
        source = StoredRun(run)
    else:
        # Impossible settings end the command before a critic is asked anything.
        spec = measure.comparison_spec(
            judge,
            protocol=protocol,
            language=language,
            orders=orders,
            on_conflict=on_conflict,
            on_overflow=on_overflow,
            seed=seed,
        )
        writing = critics.CritiqueSettings(
            protocol=critic_protocol,
            default=f"single{suffix}",
            on_overflow=on_overflow,
            limit=limit,
        )
        if theirs is None:
            theirs = critics.reference_critic(language, against_name)
        source = measure.NewComparison(
            first=ours, second=theirs, spec=spec, writing=writing, keep_ratings=keep_ratings
        )
    place = data or catalog.find(f"eval-c{suffix}")
    budget = Budget(max_usd, max_requests)
    with watching() as watch:
        found = measure.measure_critic(
            open_set(place, watch),
            source,
            critic=critic_name,
            against=against_name,
            out=out,
            budget=budget,
            watch=watch,
        )
    if write_votes is not None:
        _write_votes(write_votes, found)
    _finish(found, by, save, as_json)


def _critic(
    judge: str | None, file: Path | None, name: str | None
) -> critics.CritiqueSource | None:
    if judge is not None:
        return critics.WritingJudge(judge=judge, name=name)
    return None if file is None else critics.CritiqueFile(path=file, name=name)


def _write_votes(path: Path, found: measure.CriticMeasurement) -> None:
    if found.comparison.both_orders or found.folder is None:
        raise ConfigError(_ONE_VOTE)
    files.write_votes(path, votes_of_run(found.folder, found.comparison.cases))
    _console.print_message(f"the votes are in {path}")


def _finish(found: measure.CriticMeasurement, by: str, save: Path | None, as_json: bool) -> None:
    """Keep the result and show it; exit with 1 where a judgment failed."""
    place = save
    if place is None and found.folder is not None:
        place = found.folder.path / f"{found.result.bench}.json"
    if place is not None:
        save_result(place, found.result)
    if as_json:
        _console.print_json(found.as_json())
    else:
        _console.print_result(critic_view(found, by))
    if found.n_not_written:
        _console.print_message(f"critiques that could not be written: {found.n_not_written:,}")
    if found.n_not_written or (found.folder is not None and found.result.details["n_failed"]):
        raise typer.Exit(1)
