"""A baseline judge of pairs that reads only style features of the responses.

Gradient-boosted trees on the 15 features of `autoj.calibration`, each of one response, taken as the
difference a less b.

The trees learn from the decided pairs of one training file, each pair in both orders, and their
log-odds are averaged over both orders: with the responses exchanged the preference changes its sign
and nothing else. The settings are chosen by cross-validation within the training file, whose folds
share no query. Log-odds within a band around 0 are a tie; its width is the one with the highest
accuracy on a validation file whose ties are weighted to a natural share. That file's ties must be
like ties elsewhere: arena55k's are not (they are short pairs of nearly one length, which a band on
surface features finds easily), so every figure stands with the band and without it.

Per judged file, OUT gets a run's folder, with which autoj's own tools go on:

    pip install -e '.[bench]'
    python benchmarks/style_features.py --train TRAIN --validation VALIDATION \
        --judge FILE… --out OUT
    autoj bench pairs FILE --run SOME_RUN --against OUT/FILE

There accuracy, agreement and consistency are of verdicts without the tie band, and averaged
accuracy is of those with it.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autoj.backends.scripted import load
from autoj.bench.base import align
from autoj.calibration import STYLE_FEATURES, style_features
from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError, UserError
from autoj.metrics import Floats, Row, difference
from autoj.metrics.base import Score, mean, proportion
from autoj.metrics.length_bias import is_close_in_length
from autoj.metrics.rows import pair_row
from autoj.records import WINNERS, Calibration, Case, Estimate, JudgeCard, Request, Verdict
from autoj.runs import judge_run, make_spec, open_run, resolve_run
from autoj.verdicts.baselines import baseline_verdicts

TIE_SHARE = 0.30
"""About the share of ties where people may vote them freely; arena55k's files hold 3 %."""
N_FOLDS = 5
LEAVES = (8, 16, 32)
ITERATIONS = (50, 100, 150, 200, 300)
WIDTHS = tuple(step / 100 for step in range(201))
PROTOCOL = "pairwise-verdict"
_NO_TIE = -1000.0  # a finite log-probability, as a ledger needs one, of a probability of 0


# What is seen of a pair.


def differences(cases: Sequence[Case]) -> Floats:
    """Each pair's features, those of a less those of b: `[n_cases, 15]`."""
    return np.array(
        [
            np.array(style_features(case.query, case.responses[0].text))
            - np.array(style_features(case.query, case.responses[1].text))
            for case in cases
        ]
    ).reshape(-1, len(STYLE_FEATURES))


# The judge.


def preferences(trees: Any, gaps: Floats) -> Floats:
    """The log-odds of a over b, averaged over both orders: `[n_cases]`."""
    found: Floats = (trees.decision_function(gaps) - trees.decision_function(-gaps)) / 2
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings chosen by cross-validation, with their results."""

    leaves: int
    iterations: int
    log_loss: float
    """Mean negative natural logarithm of the label's probability on the pairs left out."""
    accuracy: float
    """The share of decided pairs, left out in turn, whose better response is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TieBand:
    """The tie band, and its accuracy on the file that it was fitted on."""

    width: float
    """Log-odds that are no further from 0 are a tie."""
    accuracy: float
    """The share of labels that verdicts with the band equal, ties weighted to `TIE_SHARE`."""
    without: float
    """The same of verdicts without a band."""
    fitted_on: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleJudge:
    """The trained trees and where ties begin."""

    trees: Any
    settings: Settings
    band: TieBand
    card: JudgeCard


def _train(gaps: Floats, is_a: Floats, leaves: int, iterations: int, seed: int) -> Any:
    """Trees that saw each pair in both orders."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    trees = HistGradientBoostingClassifier(
        learning_rate=0.05,
        max_iter=iterations,
        max_leaf_nodes=leaves,
        min_samples_leaf=100,
        l2_regularization=1.0,
        # How long to learn is chosen by folds that share no query; its own split knows none.
        early_stopping=False,
        random_state=seed,
    )
    return trees.fit(np.concatenate([gaps, -gaps]), np.concatenate([is_a, 1 - is_a]))


def choose_settings(gaps: Floats, is_a: Floats, clusters: Sequence[str], seed: int) -> Settings:
    """The settings with the lowest log loss over folds that share no query.

    Args:
        gaps: `[n_pairs, 15]`, of decided pairs.
        is_a: `[n_pairs]`, 1 where people preferred a, 0 where b.
        clusters: the normalised query of each pair.
        seed: of folds and trees.
    """
    from sklearn.model_selection import GroupKFold

    folds = GroupKFold(N_FOLDS, shuffle=True, random_state=seed).split(gaps, groups=clusters)
    left_out = np.zeros((len(LEAVES), len(ITERATIONS), len(gaps)))
    for known, unknown in folds:
        for place, leaves in enumerate(LEAVES):
            trees = _train(gaps[known], is_a[known], leaves, ITERATIONS[-1], seed)
            ahead = list(trees.staged_decision_function(gaps[unknown]))
            behind = list(trees.staged_decision_function(-gaps[unknown]))
            for stage, n in enumerate(ITERATIONS):
                left_out[place, stage, unknown] = (ahead[n - 1] - behind[n - 1]).ravel() / 2
    toward = left_out * (2 * is_a - 1)
    losses = np.logaddexp(0.0, -toward).mean(axis=2)
    best = np.unravel_index(int(losses.argmin()), losses.shape)
    return Settings(
        leaves=LEAVES[best[0]],
        iterations=ITERATIONS[best[1]],
        log_loss=float(losses[best]),
        accuracy=float((toward[best] > 0).mean()),
    )


def fit_band(gaps: Floats, cases: Sequence[Case], name: str) -> TieBand:
    """The tie band with the highest weighted accuracy; the narrowest of equals.

    Args:
        gaps: `[n_cases]`, the log-odds of a over b.
        cases: labelled pairs, ties among them.
        name: of their file.
    """
    sides = np.array([{"a": 1, "b": -1}.get(str(case.label), 0) for case in cases])
    n_ties = int((sides == 0).sum())
    if not 0 < n_ties < len(cases):
        raise ConfigError(f"{name} holds {n_ties:,} ties of {len(cases):,} pairs; expected some")
    weights = np.where(sides == 0, TIE_SHARE / n_ties, (1 - TIE_SHARE) / (len(cases) - n_ties))

    def weighted(width: float) -> float:
        found = np.where(np.abs(gaps) <= width, 0, np.sign(gaps))
        return math.fsum(weights[found == sides])

    width = max(WIDTHS, key=weighted)
    return TieBand(
        width=width,
        accuracy=weighted(width),
        without=weighted(WIDTHS[0]),
        fitted_on=f"{name}: {len(cases):,} pairs, {n_ties:,} ties weighted to {TIE_SHARE:.0%}",
    )


def calibration_of(band: TieBand) -> Calibration:
    """The calibration whose likeliest outcome is a tie within the band and nowhere else.

    **Source:** in Rao and Kupper's model with half band t, a tie and a response that leads by x are
    alike likely at exp(x) = exp(t) - 2 exp(-t), which is solved for t here.
    """
    lead = math.exp(band.width)
    tie = math.log((lead + math.sqrt(lead**2 + 8)) / 2)
    return Calibration(temperature=1.0, tie=tie, fitted_on=band.fitted_on)


def train_judge(
    train: Sequence[Case], validation: Sequence[Case], *, name: str, seed: int
) -> StyleJudge:
    """Trains on the decided pairs of one file, fit the tie band on another.

    Args:
        train: labelled pairs; ties are left out.
        validation: labelled pairs, ties among them; pairs without a label are left out.
        name: of the validation file, for the card.
        seed: of folds and trees.
    """
    decided = [case for case in train if case.label in ("a", "b")]
    if len({case.cluster for case in decided}) < N_FOLDS:
        raise ConfigError(f"the training file holds fewer than {N_FOLDS} queries of decided pairs")
    gaps = differences(decided)
    is_a = np.array([float(case.label == "a") for case in decided])
    settings = choose_settings(gaps, is_a, [case.cluster for case in decided], seed)
    trees = _train(gaps, is_a, settings.leaves, settings.iterations, seed)
    labelled = [case for case in validation if case.label in WINNERS]
    band = fit_band(preferences(trees, differences(labelled)), labelled, name)
    # What the trees say pins them: a run is not gone on with by others.
    said = hashlib.sha256(np.round(preferences(trees, gaps), 6).tobytes()).hexdigest()
    card = JudgeCard(
        name="surface-features",
        title=f"Boosted trees on {len(STYLE_FEATURES)} surface features",
        backend="scripted",
        model="surface-features",
        revision=f"sha256:{said}",
        protocols=(PROTOCOL,),
        calibration={PROTOCOL: calibration_of(band)},
        context_tokens=10**9,
    )
    return StyleJudge(trees=trees, settings=settings, band=band, card=card)


def write_run(judge: StyleJudge, path: Path, folder: Path) -> tuple[list[Case], list[Verdict]]:
    """Judges a file's pairs into a run's folder; returns the pairs and the verdicts."""
    cases = read_pairs(path)
    gaps = preferences(judge.trees, differences(cases))
    known = {case.id: float(gap) for case, gap in zip(cases, gaps, strict=True)}

    def answer(request: Request) -> tuple[float, ...]:
        gap = known[request.case_id] * (1 if request.shown == (0, 1) else -1)
        return -float(np.logaddexp(0.0, -gap)), -float(np.logaddexp(0.0, gap)), _NO_TIE

    spec = make_spec("judge", judge.card)
    with open_run(folder, spec, open_cases(path)) as run:
        judge_run(run, spec, load(judge.card, answer))
        return cases, align(cases, resolve_run(run, spec), folder)


def read_pairs(path: Path) -> list[Case]:
    """The pairs of a file.

    Raises:
        DataError: a row cannot be read or is no pair.
    """
    cases = []
    for line, case in open_cases(path).read():
        if isinstance(case, DataError):
            raise case
        if len(case.responses) != 2:
            message = f"has {len(case.responses)} responses; expected a pair"
            raise DataError(message, path=path, line=line, field="responses")
        cases.append(case)
    return cases


# The table.


def without_band(row: Row) -> float | None:
    """1.0 where the verdict without the tie band equals the label; None if undefined."""
    return None if row.winners[0] is None else float(row.winners[0] == row.label)


def with_band(row: Row) -> float | None:
    """1.0 where the verdict with the tie band equals the label; None if undefined."""
    return None if row.averaged is None else float(row.averaged == row.label)


def comparison(cases: Sequence[Case], verdicts: Sequence[Verdict]) -> list[str]:
    """A table of the judge beside longest, by kinds of pairs that have a label."""
    both = [
        (pair_row(case, ours), pair_row(case, longest))
        for case, ours, longest in zip(
            cases, verdicts, baseline_verdicts("longest", cases), strict=True
        )
        if case.label in WINNERS
    ]
    decided = [rows for rows in both if rows[0].label != "tie"]
    close = [rows for rows in decided if is_close_in_length(rows[0])]
    table = [
        "| pairs | n | surface features | longest | paired difference |",
        "|---|---|---|---|---|",
        _line("decided, no tie band", decided, without_band),
        _line("decided, within 10 % in length, no tie band", close, without_band),
    ]
    if len(decided) < len(both):
        weighted = f"all, ties weighted to {TIE_SHARE:.0%}"
        share = 1 - len(decided) / len(both)
        table += [
            _line("all, no tie band", both, without_band),
            _line("all, tie band", both, with_band),
            _line(f"{weighted}, no tie band", both, without_band, share),
            _line(f"{weighted}, tie band", both, with_band, share),
        ]
    return table


def _line(
    name: str, both: Sequence[tuple[Row, Row]], score: Score, tied: float | None = None
) -> str:
    """A line of the table.

    Args:
        name: which pairs it is about.
        both: the rows of the judge and of longest.
        score: whether a verdict is right.
        tied: the share of ties, to weight them to `TIE_SHARE`; None weights nothing.
    """
    ours, longest = [own for own, _ in both], [other for _, other in both]

    def weighted(row: Row) -> float | None:
        assert tied is not None
        weight = TIE_SHARE / tied if row.label == "tie" else (1 - TIE_SHARE) / (1 - tied)
        return None if (found := score(row)) is None else weight * found

    if tied is None:
        found = [_cell(proportion(name, rows, score)) for rows in (ours, longest)]
    else:
        found = [_cell(mean(name, rows, weighted, span=None)) for rows in (ours, longest)]
    gap = difference(name, ours, longest, score if tied is None else weighted, span=None)
    p_value = "" if gap.p_value is None else f", p = {gap.p_value:.2g}"
    cells = [name, f"{len(both):,}", *found, _cell(gap.estimate, signed=True) + p_value]
    return f"| {' | '.join(cells)} |"


def _cell(found: Estimate, *, signed: bool = False) -> str:
    """A share and its interval, in per cent."""
    if found.value is None:
        return f"none ({found.reason})"
    sign = "+" if signed else ""
    value = f"{100 * found.value:{sign}.1f}"
    if found.low is None or found.high is None:
        return f"{value} [nothing varies]"
    return f"{value} [{100 * found.low:{sign}.1f}, {100 * found.high:{sign}.1f}]"


def n_shared(cases: Sequence[Case], others: Sequence[Case]) -> int:
    """Counts the queries of some cases that are among others'."""
    return len({case.cluster for case in cases} & {case.cluster for case in others})


def describe(judge: StyleJudge) -> str:
    """Describes the chosen settings and the fitted tie band."""
    settings, band = judge.settings, judge.band
    return (
        f"chosen by {N_FOLDS} folds of the training file: {settings.leaves} leaves, "
        f"{settings.iterations} iterations (log loss {settings.log_loss:.4f}, "
        f"{settings.accuracy:.1%} of decided pairs left out)\n"
        f"tie band of {band.width:.2f} on the log-odds, chosen on {band.fitted_on} (accuracy there "
        f"{band.accuracy:.1%}, without a band {band.without:.1%})"
    )


def folder_name(path: Path) -> str:
    """A judged file's name without the ends that say how it is written.

    >>> folder_name(Path("arena55k.validation.jsonl.gz"))
    'arena55k.validation'
    """
    return re.sub(r"\.jsonl?(\.gz)?\Z", "", path.name)


def run(options: argparse.Namespace) -> None:
    """Train, judge all files, print a table for each."""
    names = [folder_name(path) for path in options.judge]
    if len(set(names)) < len(names):
        raise ConfigError(f"two files to judge have the same name: {', '.join(sorted(names))}")
    train, validation = read_pairs(options.train), read_pairs(options.validation)
    judge = train_judge(train, validation, name=options.validation.name, seed=options.seed)
    print(describe(judge))
    for name, path in zip(names, options.judge, strict=True):
        cases, verdicts = write_run(judge, path, options.out / name)
        print(f"\n{path.name}: {len(cases):,} pairs, run {options.out / name}")
        for what, others in (("training", train), ("validation", validation)):
            if n := n_shared(cases, others):
                print(f"{n:,} of its queries are in the {what} file")
        if any(case.label in WINNERS for case in cases):
            print("\n".join(["", *comparison(cases, verdicts)]), flush=True)


def main() -> None:
    """Reads the flags and runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--train", type=Path, required=True, help="labelled pairs to learn from")
    parser.add_argument(
        "--validation", type=Path, required=True, help="labelled pairs that ties are fitted on"
    )
    parser.add_argument("--judge", type=Path, required=True, nargs="+", help="pairs to judge")
    parser.add_argument("--out", type=Path, required=True, help="gets a run's folder per file")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    # Its threads wait for one another by spinning: on busy cores two are 20 times slower than one.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        run(parser.parse_args())
    except UserError as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main()
