"""`autoj bench`: measure a judge against human labels and against published figures."""

from __future__ import annotations

from autoj.cli._help import App
from autoj.cli.bench_eval_c import eval_c
from autoj.cli.bench_eval_p import eval_p
from autoj.cli.bench_eval_r import eval_r
from autoj.cli.bench_pairs import pairs
from autoj.cli.bench_scenario_classifier import scenario_classifier
from autoj.cli.bench_system_level import system_level

bench_app = App(
    no_args_is_help=True,
    help="Measure a judge against human labels and published figures, with 95% intervals.",
)
bench_app.command("eval-p")(eval_p)
bench_app.command("eval-c")(eval_c)
bench_app.command("pairs")(pairs)
bench_app.command("eval-r")(eval_r)
bench_app.command("system-level")(system_level)
bench_app.command("scenario-classifier")(scenario_classifier)
