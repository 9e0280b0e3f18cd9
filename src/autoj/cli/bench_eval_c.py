"""`autoj bench eval-c`: two critics compared by their critiques of the same responses."""

from __future__ import annotations

from pathlib import Path

from autoj.bench.eval_c import critics, measure
from autoj.bench.sources import StoredRun, open_set
from autoj.cli import _console, _critic_options, _data_options, _options
from autoj.cli._checks import check_one
from autoj.cli._progress import watching
from autoj.errors import ConfigError
from autoj.reports.bench_eval_c import critic_view
from autoj.runs.budget import Budget


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
    ours = _critic(critic, critiques, critic_name)
    theirs = _critic(against, against_critiques, against_name)
    check_one(
        {"--critic": critic, "--critiques": critiques, "--run": run, "--votes": votes},
        reason=": critiques to compare, or an existing comparison",
    )
    check_one({"--against": against, "--against-critiques": against_critiques}, least=0)
    if ours is None and theirs is not None:
        raise ConfigError(
            "--against cannot be used with --run or --votes, which have both critics already"
        )
    if write_votes is not None and (votes is not None or orders == "both"):
        raise ConfigError(measure.ONE_VOTE)
    source: measure.ComparisonSource
    compare_by = measure.comparing_protocol(protocol, language)
    if votes is not None:
        source = measure.Votes(path=votes, protocol=compare_by, judge=judge)
    elif run is not None:
        source = StoredRun(run)
    else:
        assert ours is not None
        source = measure.new_comparison(
            ours,
            theirs,
            judge,
            language=language,
            against=against_name,
            protocol=protocol,
            critic_protocol=critic_protocol,
            orders=orders,
            on_conflict=on_conflict,
            on_overflow=on_overflow,
            seed=seed,
            limit=limit,
            keep_ratings=keep_ratings,
        )
    budget = Budget(max_usd, max_requests)
    with watching() as watch:
        found = measure.measure_critic(
            open_set(data or measure.default_set(language), watch),
            source,
            critic=critic_name,
            against=against_name,
            out=out,
            budget=budget,
            watch=watch,
        )
    if write_votes is not None:
        found.write_votes(write_votes)
        _console.print_message(f"the votes are in {write_votes}")
    found.keep(save)
    _console.show(found, measure.CriticMeasurement.as_json, lambda its: critic_view(its, by))
    if found.n_not_written:
        _console.print_message(f"critiques that could not be written: {found.n_not_written:,}")
    _console.exit_if(found.n_failed)


def _critic(
    judge: str | None, file: Path | None, name: str | None
) -> critics.CritiqueSource | None:
    if judge is not None:
        return critics.WritingJudge(judge=judge, name=name)
    return None if file is None else critics.CritiqueFile(path=file, name=name)
