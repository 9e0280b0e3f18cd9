"""`autoj decide`: a run's unsure verdicts become ties, or unresolved."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from autoj.cli import _console, _options
from autoj.reports.decide import decided_view
from autoj.tasks.decide import decide as decide_run
from autoj.verdicts.sureness import HandTo


def decide(
    run: Annotated[Path, typer.Argument(help="The folder of a run on pairs.")],
    to: Annotated[
        HandTo,
        _options.computing(help="What an unsure verdict becomes: a tie, or one without a winner."),
    ],
    above: Annotated[
        float | None,
        _options.computing(
            metavar="CONFIDENCE",
            help="The least confidence of a verdict that stands: the largest of its "
            "probabilities of a, b and tie. The default is the threshold of the run's judge.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        _options.output(help="A file for the verdicts, like the run's verdicts.jsonl."),
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Decide above a confidence alone: a run's unsure verdicts become ties, or unresolved.

    The run itself and its answers stay as they are.

    Example: autoj decide runs/pairs-embedded-1a2b3c4d --to tie --above 0.6 --out decided.jsonl
    """
    found = decide_run(run, to=to, above=above, out=out)
    messages = [] if found.out is None else [f"the verdicts were written to {found.out}"]
    _console.show(found, asdict, decided_view, *messages)
