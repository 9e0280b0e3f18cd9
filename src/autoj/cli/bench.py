"""`autoj bench`: measure a judge against human labels and against published figures."""

from autoj.cli._help import App
from autoj.cli._lazy import Listed

COMMANDS = {
    "eval-p": Listed(
        "autoj.cli.bench_eval_p:eval_p",
        "Measure a judge on Eval-P: accuracy, agreement, consistency, averaged accuracy, "
        "intervals.",
    ),
    "eval-c": Listed(
        "autoj.cli.bench_eval_c:eval_c",
        "Compare two critics' critiques of the same responses on Eval-C: wins, ties and losses.",
    ),
    "critique-quality": Listed(
        "autoj.cli.bench_critique_quality:critique_quality",
        "Measure a judge's critiques by planted errors: named, clean twins accused, quotations.",
    ),
    "pairs": Listed(
        "autoj.cli.bench_pairs:pairs",
        "Measure a judge on any labelled pairs (LLMBar, HHH, RM-Bench, RewardBench, …), by subset.",
    ),
    "ablation": Listed(
        "autoj.cli.bench_ablation:ablation",
        "Compare variants of a judge on the same pairs: figures, paired differences, published "
        "ones.",
    ),
    "eval-r": Listed(
        "autoj.cli.bench_eval_r:eval_r",
        "Measure a judge on Eval-R: best of the first N by its ratings, with oracle and baselines.",
    ),
    "system-level": Listed(
        "autoj.cli.bench_system_level:system_level",
        "Rank models by a judge's mean ratings and compare with win rates: Spearman, Pearson, "
        "Kendall.",
    ),
    "scenario-classifier": Listed(
        "autoj.cli.bench_scenario_classifier:scenario_classifier",
        "Measure scenario classifiers: accuracy, F1, calibration, confusions.",
    ),
}
"""The benchmarks, in the order of `autoj bench --help`."""

bench_app = App(COMMANDS, no_args_is_help=True)


@bench_app.callback()
def bench() -> None:
    """Measure a judge against human labels and published figures, with 95% intervals."""
