"""The commands of `autoj`, each with its place and the first line of its help."""

from autoj.cli._lazy import Listed

COMMANDS = {
    "judge": Listed(
        "autoj.cli.judge:judge",
        "Compare two responses: winner, probabilities and critique, judged in both orders.",
    ),
    "rate": Listed("autoj.cli.rate:rate", "Rate each response from 1 to 10, with a critique."),
    "select": Listed(
        "autoj.cli.select:select",
        "Pick the best of N responses; picks.jsonl in the run's folder has the picks.",
    ),
    "classify": Listed(
        "autoj.cli.classify:classify",
        "Name the scenario of each query: one of 58 kinds of request, with its probability.",
    ),
    "show": Listed(
        "autoj.cli.show:show",
        "Show a run, or one of its cases with its judgments, even while it is running.",
    ),
    "report": Listed(
        "autoj.cli.report:report",
        "Write runs as one HTML file to open, filter and send: figures, cases, differences.",
    ),
    "view": Listed(
        "autoj.cli.view:view",
        "Look at runs in a browser, live while they are written, up to a million cases.",
    ),
    "plot": Listed(
        "autoj.cli.plot:plot",
        "Write one figure of a run, or of several, as an SVG, PNG or CSV file.",
    ),
    "runs": Listed(
        "autoj.cli.runs:runs",
        "List runs: judge, cases, failures, agreement with labels or win rate, and age.",
    ),
    "diff": Listed(
        "autoj.cli.diff:diff",
        "Compare two runs on the same cases: verdicts that differ, agreement, kappa.",
    ),
    "drift": Listed(
        "autoj.cli.drift:drift",
        "Compare a run with its baseline: verdicts that flipped, repeatability, a limit for CI.",
    ),
    "export": Listed(
        "autoj.cli.export:export", "Write a run's verdicts in the format of another tool."
    ),
    "merge": Listed(
        "autoj.cli.merge:merge",
        "Merge runs of the same settings: shards judged on several machines, or runs that overlap.",
    ),
    "check": Listed(
        "autoj.cli.check:check",
        "Check the files of a run, by their digests, their checksums and each other.",
    ),
    "cache": Listed("autoj.cli.cache:cache_app", "Show or clear the answers that runs reuse."),
    "audit": Listed(
        "autoj.cli.audit:audit",
        "Audit a judge: accuracy and kappa; position, length and format bias; prompt injection.",
    ),
    "calibrate": Listed(
        "autoj.cli.calibrate:calibrate",
        "Fit a judge's temperature and tie band to human labels, and write them to its card.",
    ),
    "decide": Listed(
        "autoj.cli.decide:decide",
        "Decide above a confidence alone: a run's unsure verdicts become ties, or unresolved.",
    ),
    "plan": Listed(
        "autoj.cli.plan:plan",
        "Show what asking the second order only where the first is unsure would save, and change.",
    ),
    "leaderboard": Listed(
        "autoj.cli.leaderboard:leaderboard",
        "Show published figures, your measured judges and the baselines, side by side.",
    ),
    "collect": Listed(
        "autoj.cli.collect:collect",
        "Collect labelled pairs of public or own sources into one file, or their queries alone.",
    ),
    "construct": Listed(
        "autoj.cli.construct:construct_app",
        "Make training data of labelled pairs: a teacher's judgments, negatives, and their mix.",
    ),
    "testbed": Listed(
        "autoj.cli.testbed:testbed_app",
        "Build a testbed of your own: pairs that people label, as Eval-P, Eval-C and Eval-R.",
    ),
    "train": Listed(
        "autoj.cli.train:train",
        "Train a judge on labelled pairs, judgments or ratings; it is a judge at once: --judge "
        "OUT.",
    ),
    "export-model": Listed(
        "autoj.cli.export_model:export_model",
        "Write a judge in another form: one model, GGUF, OpenVINO, an adapter, or in fewer bits.",
    ),
    "serve": Listed(
        "autoj.cli.serve:serve",
        "Serve judges over HTTP: compare, rate, select, classify, and rewards for trainers.",
    ),
    "judges": Listed(
        "autoj.cli.judges:judges_app",
        "List the judges that have a card; `autoj judges show NAME` shows one.",
    ),
    "prompts": Listed(
        "autoj.cli.prompts:prompts_app",
        "List the prompts that judges are asked by; --prompt takes one of these or a file of your "
        "own.",
    ),
    "bench": Listed(
        "autoj.cli.bench:bench_app",
        "Measure a judge against human labels and published figures, with 95% intervals.",
    ),
    "data": Listed(
        "autoj.cli.data:data_app",
        "Public data sets: list them, get them, and find queries that two of them share.",
    ),
    "scenarios": Listed(
        "autoj.cli.scenarios:scenarios_app",
        "List the scenarios with their numbers of criteria; `show NAME` shows one.",
    ),
}
"""The commands, in the order of `autoj --help`."""
