"""`autoj bench eval-c`: two critics compared by their critiques of the same responses."""

from autoj.bench.eval_c.choosing import NamedCritic, chosen_comparison
from autoj.bench.eval_c.measure import CriticMeasurement, default_set, measure_critic
from autoj.bench.sources import open_set
from autoj.cli import _console, _critic_options, _data_options, _options
from autoj.cli._progress import watching
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
    source = chosen_comparison(
        NamedCritic(critic, critiques, critic_name),
        NamedCritic(against, against_critiques, against_name),
        judge,
        run=run,
        votes=votes,
        language=language,
        protocol=protocol,
        critic_protocol=critic_protocol,
        orders=orders,
        one_vote=write_votes is not None,
        on_conflict=on_conflict,
        on_overflow=on_overflow,
        seed=seed,
        limit=limit,
        keep_ratings=keep_ratings,
    )
    with watching() as watch:
        found = measure_critic(
            open_set(data or default_set(language), watch),
            source,
            critic=critic_name,
            against=against_name,
            out=out,
            budget=Budget(max_usd, max_requests),
            watch=watch,
        )
    if write_votes is not None:
        found.write_votes(write_votes)
        _console.print_message(f"the votes are in {write_votes}")
    found.keep(save)
    _console.show(found, CriticMeasurement.as_json, lambda its: critic_view(its, by))
    if found.n_not_written:
        _console.print_message(f"critiques that could not be written: {found.n_not_written:,}")
    _console.exit_if(found.n_failed)
