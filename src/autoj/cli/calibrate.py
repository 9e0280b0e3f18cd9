"""`autoj calibrate`: from a judged set of labelled pairs to probabilities and ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from autoj.calibration import surface_lead
from autoj.calibration.fitting import CalibrationFit, SurfaceLeads, fit_calibration
from autoj.calibration.style_fitting import fit_surface
from autoj.cli import _console, _options
from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError
from autoj.judges.card_edits import find_card, write_calibration
from autoj.protocols import load_protocol
from autoj.records import Case, Verdict
from autoj.reports.calibrate import calibration_view
from autoj.runs import RunFolder, RunSpec, resolve_run
from autoj.verdicts.resolve import preference

__all__ = ["calibrate"]

NATURAL_TIE_SHARE = 0.30
"""Where people may vote tie freely, about this share of their votes on two chat models' responses
are ties; files of votes often hold fewer, such as the 3 % that are left in arena55k."""


def calibrate(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run on labelled pairs.")],
    tie_share: Annotated[
        str,
        typer.Option(
            help="Ties are weighted to this share of the pairs. The default is about what people "
            "vote where they may; many files hold fewer ties. `file` takes the file's own share."
        ),
    ] = f"{NATURAL_TIE_SHARE:.2f}",
    write: Annotated[
        Path | None,
        typer.Option(help="A card (….yaml) or a judge's folder: the calibration is put into it."),
    ] = None,
    surface: Annotated[
        Path | None,
        typer.Option(
            metavar="LABELLED_PAIRS",
            help="Let length, layout and marks count beside the judge: their weights are learnt "
            "from these labelled pairs (no judge reads them), and how much they count is fitted "
            "on the run. Its queries are left out of the pairs.",
        ),
    ] = None,
    as_json: _options.Json = False,
) -> None:
    """Fit a judge's temperature and tie band to people's labels, and put them into its card.

    Take a run on a validation file, never one on a test set: `autoj judge VALIDATION --judge NAME
    --no-critique`. The run's judge may have a calibration already; it is not used.

    Example: autoj calibrate runs/validation --write judges/mine.yaml
    """
    _console.set_json(as_json)
    folder = RunFolder.existing(run)
    spec = folder.spec()
    _check_protocol(run, spec)
    card = None if write is None else find_card(write)
    raw = replace(spec, judge=replace(spec.judge, calibration={}))
    found = _fit(_judged(folder, raw), _share(tie_share), _data_name(folder), surface)
    if card is not None:
        write_calibration(card, spec.judge, spec.protocol, found.calibration)
    if as_json:
        _console.print_json(_as_json(run, spec, found, card))
        return
    parts: list[RenderableType] = [calibration_view(found, spec)]
    if card is None:
        parts += [Text(), Text("--write CARD puts this into the judge's card.", style="dim")]
    _console.print_result(Group(*parts))
    if card is not None:
        _console.print_message(f"the calibration of {spec.protocol} is written to {card}")


def _check_protocol(path: Path, spec: RunSpec) -> None:
    if spec.task != "judge":
        raise ConfigError(
            f"{path} is a run of autoj {spec.task}; a calibration needs verdicts on pairs",
            hint="Make one with autoj judge; --protocol pairwise-by-rating rates each response.",
        )
    if not load_protocol(spec.protocol).gives_probabilities:
        raise ConfigError(
            f"{path} was judged by protocol {spec.protocol!r}, which gives no probabilities and "
            "so no preferences to fit",
            hint="pairwise-verdict and pairwise-by-rating give some.",
        )
    if spec.has_orders and spec.orders != "both":
        raise ConfigError(
            f"{path} was judged in one order; a calibration is of both orders' averaged verdicts"
        )


def _share(text: str) -> float | None:
    if text == "file":
        return None
    try:
        return float(text)
    except ValueError:
        raise ConfigError(
            f"--tie-share is {text!r}; expected a number between 0 and 1, or file"
        ) from None


def _judged(folder: RunFolder, spec: RunSpec) -> list[tuple[Case, Verdict]]:
    """The cases with their verdicts, without any calibration."""
    judged = list(resolve_run(folder, spec))
    n_cases = folder.n_cases()
    if len(judged) < n_cases:
        raise DataError(
            f"is not finished: {len(judged):,} of {n_cases:,} cases are judged",
            path=folder.path,
            hint="The command that began it goes on with it.",
        )
    if all(case.label is None for case, _ in judged):
        raise DataError(
            "has no labels; a calibration is fitted to what people said", path=folder.path
        )
    return judged


def _data_name(folder: RunFolder) -> str:
    """The names of the run's files, without where they lie."""
    return " and ".join(Path(path).name for path in folder.settings()["data"]["paths"])


def _fit(
    judged: Sequence[tuple[Case, Verdict]], tie_share: float | None, data: str, surface: Path | None
) -> CalibrationFit:
    cases = [case for case, _ in judged]
    return fit_calibration(
        [preference(verdict) for _, verdict in judged],
        [case.label for case in cases],
        tie_share=tie_share,
        before=[verdict.probabilities for _, verdict in judged],
        surface=None if surface is None else _surface(surface, cases),
        clusters=[case.cluster for case in cases],
        data=data,
    )


def _surface(path: Path, judged: Sequence[Case]) -> SurfaceLeads:
    """What labelled pairs say of surface, those of the run's own queries left out."""
    known = {case.cluster for case in judged}
    cases: list[Case] = []
    n_known = 0
    for _, case in open_cases(path).read():
        if isinstance(case, DataError):
            raise case
        n_known += case.cluster in known
        if case.cluster not in known:
            cases.append(case)
    if n_known:
        _console.print_message(f"{n_known:,} rows of {path} ask a query of the run: left out")
    weights, n_pairs = fit_surface(cases)
    return SurfaceLeads(
        weights=weights,
        leads=[surface_lead(case, weights) for case in judged],
        fitted_on=f"{n_pairs:,} decided pairs of {path.name}",
    )


def _as_json(run: Path, spec: RunSpec, found: CalibrationFit, card: Path | None) -> dict[str, Any]:
    return {
        "run": str(run),
        "judge": spec.judge.name,
        "protocol": spec.protocol,
        "fit": asdict(found),
        "card": None if card is None else str(card),
    }
