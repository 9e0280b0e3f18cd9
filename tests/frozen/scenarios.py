"""The command lines that are recorded, by name; each name starts in a fresh copy of `inputs/`."""

from __future__ import annotations

SCENARIOS: dict[str, list[str]] = {
    # judge, and show of what it wrote
    "judge-verdicts": [
        "autoj judge pairs.jsonl --judge verdict.yaml --out run",
        "autoj judge pairs.jsonl --judge verdict.yaml --out run --json",
        "autoj show run",
        "autoj show run --json",
        "autoj show run --first 2 --by scenario",
        "autoj show run --by group --json",
        "autoj show run plan",
        "autoj show run plan --json",
        "autoj show run winter --full",
        "autoj show run twins",
        "autoj show run --convention all",
        "autoj show run --convention alpaca-eval --json",
    ],
    "judge-critiques": [
        "autoj judge pairs.jsonl --judge writer.yaml --out run",
        "autoj show run sum",
        "autoj show run plan --json",
    ],
    "judge-follows-with-critiques": [
        "autoj judge pairs.jsonl --judge sure.yaml --critique --by group --out run",
        "autoj show run sum",
        "autoj show run sum --json",
    ],
    "judge-one-order": [
        "autoj judge pairs.jsonl --judge verdict.yaml --orders one --limit 3 --json --out run",
        "autoj show run --convention all",
    ],
    "judge-rules-of-conflict": [
        "autoj judge pairs.jsonl --judge verdict.yaml --on-conflict tie --out tie",
        "autoj judge pairs.jsonl --judge verdict.yaml --on-conflict unresolved --out open",
    ],
    "judge-by-rating": [
        "autoj judge pairs.jsonl --judge words.yaml --out run",
        "autoj show run plan",
        "autoj show run --convention all",
    ],
    "judge-by-reward": ["autoj rate pairs.jsonl --judge reward.yaml --out run"],
    "judge-two-files": [
        "autoj judge --a a.jsonl --b b.jsonl --judge sure.yaml --out run",
        "autoj judge --a a.jsonl --b b.jsonl --join inner --judge sure.yaml --out run",
    ],
    "judge-columns": [
        "autoj judge columns.csv --map query=question,a=one,b=two,label=winner:1/2/0 "
        "--judge sure.yaml --out run",
    ],
    "judge-failures": [
        "autoj judge pairs.jsonl --judge failing.yaml --out run",
        "autoj judge pairs.jsonl --judge failing.yaml --out run --json",
        "autoj show run",
        "autoj show run plan",
        "autoj export run --format csv --out run.csv",
    ],
    "judge-stopped-goes-on": [
        "STOPS_AFTER=4 autoj judge pairs.jsonl --judge verdict.yaml --out run",
        "autoj show run",
        "autoj show run --json",
        "autoj judge pairs.jsonl --judge verdict.yaml --out run",
    ],
    "judge-budget": [
        "autoj judge pairs.jsonl --judge verdict.yaml --max-requests 3 --out run",
        "autoj judge pairs.jsonl --judge verdict.yaml --max-usd 1 --out other",
        "autoj judge pairs.jsonl --judge priced.yaml --max-usd 0.02 --out priced",
        "autoj judge pairs.jsonl --judge priced.yaml --max-usd 1 --out priced --json",
    ],
    "judge-samples": [
        "autoj judge pairs.jsonl --judge writer.yaml --samples 3 --temperature 0.7 --out run",
        "autoj show run sum",
        "autoj show run --json",
        "autoj judge pairs.jsonl --judge writer.yaml --samples 3",
    ],
    "judge-bad-rows": [
        "autoj judge bad.jsonl --judge verdict.yaml --out run",
        "autoj judge bad.jsonl --judge verdict.yaml --out run --skip-bad-rows",
        "autoj judge bad.jsonl --judge verdict.yaml --out other --skip-bad-rows --reject-empty",
    ],
    "judge-classified": [
        "autoj judge pairs.jsonl --judge sure.yaml --classify --by group --out run",
        "autoj judge pairs.jsonl --judge sure.yaml --classify --by scenario --out run --json",
        "autoj show run winter",
    ],
    "judge-own-scenarios": [
        "autoj judge sport.jsonl --judge criteria.yaml --out run",
        "autoj judge sport.jsonl --judge criteria.yaml --unknown-scenario others --out others",
        "autoj judge sport.jsonl --judge criteria.yaml --scenarios mine --by group --out run",
        "autoj show run match",
        "autoj judge sport.jsonl --judge criteria.yaml --scenarios broken --out broken-run",
    ],
    "judge-other-settings": [
        "autoj judge pairs.jsonl --judge verdict.yaml --out run --limit 2 --json",
        "autoj judge pairs.jsonl --judge verdict.yaml --out run --orders one",
        "autoj judge rated.jsonl --judge verdict.yaml --out run --json",
    ],
    "every-protocol": [
        *(
            f"autoj judge eval_p.jsonl --judge two.yaml --limit 1 --protocol {name} --out {name}"
            for name in (
                "baseline-pairwise", "pairwise", "pairwise-zh", "pairwise-verdict",
                "pairwise-verdict-zh", "pairwise-by-rating", "pairwise-by-rating-zh",
                "pairwise-criteria", "pairwise-criteria-reasoning",
            )
        ),
        *(
            f"autoj rate eval_p.jsonl --judge verdict.yaml --limit 1 --protocol {name} --out {name}"
            for name in (
                "baseline-single", "single", "single-zh", "single-verdict", "single-verdict-zh",
                "single-criteria", "single-criteria-reasoning",
            )
        ),
    ],
    # juries
    "jury-mean": [
        "autoj judge pairs.jsonl --judge verdict.yaml,two.yaml,three.yaml --out run --by group",
        "autoj judge pairs.jsonl --judge verdict.yaml,two.yaml,three.yaml --out run --json",
        "autoj show run",
        "autoj show run --json --by scenario",
        "autoj show run/judges/two plan",
        "autoj show run plan",
    ],
    "jury-majority": [
        "autoj judge pairs.jsonl --judge verdict.yaml,two.yaml,writer.yaml --limit 4 --out run",
        "autoj judge pairs.jsonl --judge verdict.yaml,two.yaml --jury majority --limit 2",
        "autoj judge pairs.jsonl --judge verdict.yaml,writer.yaml --jury mean",
    ],
    "jury-ratings": [
        "autoj rate rated.jsonl --judge verdict.yaml,two.yaml --out run",
        "autoj show run --json",
    ],
    "jury-failures": [
        "autoj judge pairs.jsonl --judge verdict.yaml,failing.yaml,two.yaml --limit 3 --json",
    ],
    # rate
    "rate": [
        "autoj rate rated.jsonl --judge sure.yaml --out run",
        "autoj rate rated.jsonl --judge sure.yaml --out run --json",
        "autoj show run",
        "autoj show run many",
        "autoj show run many --json",
        "autoj show run --convention all",
    ],
    "rate-scored": [
        "autoj rate rated.jsonl --judge verdict.yaml --critique --by group --out run",
        "autoj show run one",
    ],
    "rate-samples": [
        "autoj rate rated.jsonl --judge writer.yaml --samples 3 --temperature 1 --out run --json",
        "autoj show run",
        "autoj show run two",
    ],
    # select
    "select-ratings": [
        "autoj select candidates.jsonl --judge sure.yaml --out run",
        "autoj select candidates.jsonl --judge sure.yaml --out run --json",
        "autoj show run",
        "autoj show run equal",
        "autoj show run --json",
    ],
    "select-pairs": [
        "autoj select candidates.jsonl --judge sure.yaml --by pairs --out run",
        "autoj select candidates.jsonl --judge sure.yaml --by pairs --out run --json",
        "autoj show run",
        "autoj show run four",
        "autoj show run four --json",
        "autoj show run/round-1",
    ],
    "select-pairs-one-order": [
        "autoj select candidates.jsonl --judge verdict.yaml --by pairs --orders one --limit 2",
    ],
    "select-failures": [
        "autoj select candidates.jsonl --judge failing.yaml --protocol single-verdict --out rated",
        "autoj select candidates.jsonl --judge failing.yaml --by pairs --limit 2 --out met",
        "STOPS_AFTER=2 autoj select candidates.jsonl --judge sure.yaml --by pairs --out run",
        "autoj select candidates.jsonl --judge sure.yaml --by pairs --out run",
    ],
    # classify
    "classify": [
        "autoj classify queries.jsonl --out named.jsonl",
        "autoj classify queries.jsonl --top 2 --confidence 0.9 --limit 2 --json",
        "autoj classify queries.txt",
    ],
    "classify-by-judge": [
        "autoj classify queries.jsonl --judge namer.yaml --out run --max-requests 2",
        "autoj classify queries.jsonl --judge namer.yaml --out run",
        "autoj classify queries.jsonl --judge namer.yaml --out run --json",
        "autoj show run",
        "autoj show run plan",
        "autoj show run --json",
        "autoj classify queries.jsonl --judge namer.yaml --protocol scenario-menu --out menu",
    ],
    # export, merge
    "export": [
        "autoj judge pairs.jsonl --judge writer.yaml --out run --json",
        *(
            f"autoj export run --format {form} --out out.{ending}"
            for form, ending in (
                ("csv", "csv"), ("parquet", "parquet"), ("jsonl", "jsonl"),
                ("alpaca_eval", "alpaca.json"), ("mt_bench", "mt_bench.jsonl"),
                ("reward_bench", "reward_bench.json"),
            )
        ),
        "autoj export run --format csv --out out.csv",
        "autoj export run --format csv --out out.csv --overwrite --json",
    ],
    "export-ratings": [
        "autoj rate rated.jsonl --judge writer.yaml --out run --json",
        *(
            f"autoj export run --format {form} --out out-{form}"
            for form in ("csv", "jsonl", "alpaca_eval", "mt_bench", "reward_bench")
        ),
    ],
    "merge": [
        "autoj judge pairs.jsonl --judge verdict.yaml --shard 1/2 --out one --json",
        "autoj merge one --out part",
        "autoj judge pairs.jsonl --judge verdict.yaml --shard 2/2 --out two --json",
        "autoj merge one two --out whole",
        "autoj merge one two --out whole --json",
        "autoj show whole",
        "autoj judge pairs.jsonl --judge two.yaml --limit 2 --out other --json",
        "autoj merge one other --out mixed",
    ],
    # audit, calibrate
    "audit": [
        "autoj audit --judge verdict.yaml --on audited.jsonl --sample 6 --probes 2 --out run",
        "autoj audit --run run --json --save card.json",
        "autoj audit --judge verdict.yaml --on audited.jsonl --sample 6 --probes 2 --out run "
        "--seed 1",
    ],
    "audit-failures": [
        "autoj audit --judge failing.yaml --on audited.jsonl --sample 4 --probes 1 --out run",
    ],
    "calibrate": [
        "autoj judge validation.jsonl --judge words.yaml --out run",
        "autoj calibrate run",
        "autoj calibrate run --json --tie-share file",
        "autoj calibrate run --surface surface.jsonl --write words.yaml",
        "autoj judges show words.yaml",
        "autoj judge pairs.jsonl --judge words.yaml --out calibrated",
        "autoj show calibrated plan",
        "autoj judge validation.jsonl --judge words.yaml --out run --limit 3",
        "autoj judge pairs.jsonl --judge words.yaml --out few --json",
        "autoj calibrate few",
    ],
    "calibrate-pairs": [
        "autoj judge validation.jsonl --judge words.yaml --protocol pairwise-verdict --out run",
        "autoj calibrate run --write words.yaml",
        "autoj judge pairs.jsonl --judge words.yaml --protocol pairwise-verdict --out new",
        "autoj bench pairs pairs.jsonl --run new",
    ],
    # benches
    "bench-eval-p": [
        "autoj bench eval-p --data eval_p.jsonl --judge verdict.yaml --out run",
        "autoj bench eval-p --data eval_p.jsonl --run run --by scenario",
        "autoj bench eval-p --data eval_p.jsonl --run run --save kept.json",
        "autoj bench eval-p --data eval_p.jsonl --judge verdict.yaml --sample 6 --seed 1 --json",
        "autoj bench eval-p --data eval_p.jsonl --judge failing.yaml --out failed",
    ],
    "bench-eval-p-files": [
        "autoj bench eval-p --data eval_p.jsonl --predictions own.jsonl --swapped swapped.jsonl "
        "--name Mine",
        "autoj bench eval-p --data eval_p.jsonl --predictions own.jsonl --swapped swapped.jsonl "
        "--against swapped.jsonl --json",
        "autoj bench eval-p --data eval_p.jsonl --scores scores.jsonl --validation eval_p.jsonl "
        "--validation-scores scores.jsonl",
        "autoj bench eval-p --data eval_p.jsonl --scores scores.jsonl "
        "--against-scores other_scores.jsonl --json",
        "autoj bench eval-p --data eval_p.jsonl",
        "autoj bench eval-p --data eval_p.jsonl --scores scores.jsonl --swapped own.jsonl",
    ],
    "bench-pairs": [
        "autoj bench pairs audited.jsonl --judge sure.yaml --protocol pairwise-verdict --out run",
        "autoj bench pairs audited.jsonl --run run --by group --json",
        "autoj bench pairs eval_p.jsonl --judge verdict.yaml --protocol single-verdict --out other "
        "--validation audited.jsonl",
        "autoj bench pairs pairs.jsonl --judge verdict.yaml",
    ],
    "bench-eval-c": [
        "autoj bench eval-c --data critiqued.jsonl --critiques critiqued.jsonl "
        "--against-critiques other_critiques.jsonl --judge critic.yaml --out run",
        "autoj bench eval-c --data critiqued.jsonl --run run --json --by scenario",
        "autoj bench eval-c --data critiqued.jsonl --run run --write-votes votes.jsonl",
        "autoj bench eval-c --data critiqued.jsonl --votes votes.jsonl --critic-name mine "
        "--against-name ChatGPT",
        "autoj bench eval-c --data critiqued.jsonl --critic writer.yaml --against verdict.yaml "
        "--judge critic.yaml --orders both --out both",
        "autoj bench eval-c --data critiqued.jsonl --critiques critiqued.jsonl "
        "--against-critiques other_critiques.jsonl",
    ],
    "bench-eval-r": [
        "autoj bench eval-r --data many.jsonl --n 2,4",
        "autoj bench eval-r --data many.jsonl --n 2,4 --judge sure.yaml --out run",
        "autoj bench eval-r --data many.jsonl --n 2,4 --run run --json",
        "autoj bench eval-r --data many.jsonl --n 2,4 --judge writer.yaml,sure.yaml",
        "autoj bench eval-r --data many.jsonl --n 2,4 --run run --grader writer.yaml "
        "--grader-protocol single",
        "autoj bench eval-r --data many.jsonl --n 2,9 --run run",
    ],
    "bench-system-level": [
        "autoj bench system-level --ratings model_table.jsonl --save kept.json",
        "autoj bench system-level --outputs outputs --reference reference.jsonl "
        "--judge sure.yaml --out run",
        "autoj bench system-level --outputs outputs --reference reference.jsonl "
        "--judge sure.yaml --sample 2 --json",
    ],
    "bench-scenario-classifier": [
        "autoj bench scenario-classifier --classifier fast --data named.jsonl",
        "autoj bench scenario-classifier --classifier fast --data named.jsonl --by scenario --json",
        "autoj bench scenario-classifier --judge namer.yaml --data named.jsonl --out run",
        "autoj bench scenario-classifier --judge namer.yaml --data named.jsonl "
        "--classifier fast --second queries.jsonl --out run --json",
    ],
    "leaderboard": [
        *(f"autoj leaderboard {bench}" for bench in ("eval-p", "eval-c", "eval-r", "system-level")),
        "autoj bench eval-p --data eval_p.jsonl --predictions own.jsonl --swapped swapped.jsonl "
        "--name Mine --save mine.json",
        "autoj leaderboard eval-p --result mine.json --by group --csv board.csv",
        "autoj leaderboard eval-p --result mine.json --by seen",
        "autoj leaderboard eval-p --result mine.json --sort consistency --json",
        "autoj leaderboard eval-p --result none.json",
        "autoj leaderboard eval-p --sort agreemnt --runs .",
    ],
    # lists
    "judges": [
        "autoj judges",
        "autoj judges --json",
        "autoj judges show autoj-13b",
        "autoj judges show autoj-13b --json",
        "autoj judges show gpt-4 --yaml",
        "autoj judges show verdict.yaml",
        "autoj judges show autoj-13",
    ],
    "data": [
        "autoj data list",
        "autoj data list --json",
        "autoj data overlap eval_p.jsonl none.jsonl",
        "autoj data overlap pairs.jsonl rated.jsonl",
        "autoj data overlap pairs.jsonl rated.jsonl --ngrams 2 --threshold 0.5 --json",
        "autoj data overlap bad.jsonl pairs.jsonl --json",
        "autoj data overlap pairs.jsonl rated.jsonl --threshold 2",
    ],
    "scenarios": [
        "autoj scenarios",
        "autoj scenarios --json",
        "autoj scenarios show planning",
        "autoj scenarios show 'Small talk' --message",
        "autoj scenarios show 'match report' --scenarios mine --json",
        "autoj scenarios show report --scenarios mine",
        "autoj scenarios show planing",
        "autoj scenarios check",
        "autoj scenarios check mine",
        "autoj scenarios check broken",
        "autoj scenarios check broken --json",
        "autoj scenarios --scenarios broken",
        "autoj scenarios check nowhere",
    ],
    "others-verdicts": [
        "autoj show arena.jsonl --convention all",
        "autoj show arena.jsonl --convention arena-hard --json",
        "autoj show arena.jsonl",
    ],
    "mistakes": [
        "autoj",
        "autoj judg",
        "autoj judge",
        "autoj judge none.jsonl",
        "autoj judge none.jsonl --json",
        "autoj judge pairs.jsonl --judge embeded",
        "autoj judge pairs.jsonl --judge vlm:x",
        "autoj judge pairs.jsonl --judge none.yaml",
        "autoj judge pairs.jsonl --judge scripted:nowhere",
        "autoj judge pairs.jsonl --judge verdict.yaml --protocol pairwize",
        "autoj judge pairs.jsonl --judge verdict.yaml --protocol single",
        "autoj judge pairs.jsonl --judge verdict.yaml --format nativ",
        "autoj judge pairs.jsonl --judge verdict.yaml --limit 0",
        "autoj judge pairs.jsonl --judge verdict.yaml --shard 3/2",
        "autoj judge pairs.jsonl --judge verdict.yaml --jury mean",
        "autoj judge pairs.jsonl --judge verdict.yaml --out mine/report.yaml",
        "autoj judge pairs.jsonl --judge verdict.yaml --map query=q",
        "autoj judge pairs.jsonl --judge criteria.yaml",
        "autoj judge queries.jsonl --judge verdict.yaml",
        "autoj judge turns.jsonl --judge verdict.yaml",
        "autoj judge --a a.jsonl --judge verdict.yaml",
        "autoj rate pairs.jsonl --judge verdict.yaml --protocol pairwise",
        "autoj select rated.jsonl --judge reward.yaml --by pairs",
        "autoj classify queries.jsonl --classifier fats",
        "autoj classify queries.jsonl --out queries.jsonl",
        "autoj classify queries.jsonl --protocol scenario",
        "autoj show .",
        "autoj show . --json",
        "autoj export . --format csv --out x.csv",
        "autoj export . --format xls --out x.xls",
        "autoj merge . mine --out x",
        "autoj audit --judge verdict.yaml --on none.jsonl",
        "autoj audit",
        "autoj calibrate .",
        "autoj bench eval-p --judge verdict.yaml",
        "autoj bench eval-r --data pairs.jsonl",
    ],
}  # fmt: skip
"""Paths are those of `inputs/`, a copy of which is the working folder."""

KEPT: dict[str, str] = {
    **dict.fromkeys(
        (
            "jury-mean",
            "jury-majority",
            "jury-failures",
            "select-failures",
            "bench-eval-c",
            "bench-eval-r",
            "bench-system-level",
            "judge-budget",
            "judge-rules-of-conflict",
        ),
        r"(?!.*(cases|plan)\.jsonl).*",
    ),
    "every-protocol": r".*/(plan|ledger)\.jsonl",
    "calibrate": "words.yaml|calibrated/.*",
    "calibrate-pairs": "words.yaml|new/verdicts.jsonl",
    **dict.fromkeys(("audit", "bench-eval-p", "bench-pairs"), r".*\.json|.*/verdicts\.jsonl"),
    "audit-failures": r"run/audit\.json",
}
"""The files that are recorded, where not all that is written is: the others are large."""
