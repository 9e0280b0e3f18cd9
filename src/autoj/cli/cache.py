"""`autoj cache`: the answers of earlier runs, which later runs reuse."""

from typing import Annotated

from autoj.cli import _console, _options
from autoj.cli._help import App
from autoj.reports.cache import cache_record, cache_view, size_text
from autoj.runs.cache import AnswerCache

cache_app = App(no_args_is_help=True, help="Show or clear the answers that runs reuse.")


@cache_app.command("show")
def show_cache(as_json: _options.Json = False) -> None:
    """Show how many answers of which models are kept, their size and age.

    Example: autoj cache show
    """
    with AnswerCache() as cache:
        found = (cache.path, cache.models(), cache.n_bytes())
    _console.show(found, lambda its: cache_record(*its), lambda its: cache_view(*its))


@cache_app.command("clear")
def clear_cache(
    model: Annotated[
        str | None,
        _options.removed("--model", help="Only answers of this model. Default: of all."),
    ] = None,
    older_than: Annotated[
        float,
        _options.removed(
            "--older-than", metavar="DAYS", min=0.0, help="Only answers kept longer ago than this."
        ),
    ] = 0.0,
    as_json: _options.Json = False,
) -> None:
    """Remove kept answers; the runs' own folders stay as they are.

    Example: autoj cache clear --older-than 90
    """
    with AnswerCache() as cache:
        n_removed = cache.clear(model, older_than)
        n_bytes = cache.n_bytes()
    if as_json:
        _console.print_json({"n_removed": n_removed, "n_bytes": n_bytes})
    else:
        _console.print_message(
            f"removed {n_removed:,} answers; {cache.path} has {size_text(n_bytes)} now"
        )
