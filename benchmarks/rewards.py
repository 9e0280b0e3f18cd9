"""Rewards inside a trainer: one call of a batch against calls one by one, and a toy run of GRPO.

`--part calls`: a judge behind a server that answers after 100 ms compares each completion with a
reference, in both orders. TRL's reward function gets all completions in one call, or one a call;
or one a call of a judge that sends one request at a time.

`--part grpo`: TRL trains a model of two layers with random weights, whose texts are noise, on the
rewards of a judge. The reward of each step goes to a CSV file, and `--draw` makes one picture of
such files. A rise says that rewards reach the trainer and that it follows them; it says nothing
about the quality of the texts.

    python -m benchmarks.rewards --part calls
    python -m benchmarks.rewards --part grpo --completions 16 --csv scripted.csv
    python -m benchmarks.rewards --part grpo --judge embedded --completions 8 --steps 30 --csv …
    python -m benchmarks.rewards --draw scripted.csv embedded.csv --out docs/img/grpo.svg
"""

from __future__ import annotations

import argparse
import csv
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autoj import Judge
from autoj.backends.openai import load
from autoj.backends.scripted import ScriptedBackend
from autoj.records import JudgeCard, Request
from autoj.rewards import trl
from benchmarks.openai_engine import AT_ONCE, CARD, serving

LATENCY = 0.1
TARGET = 8
_WINDOW = 10
"""Steps at the beginning and at the end of a run whose mean rewards are compared."""


def compare_calls(n_completions: int, rounds: int) -> None:
    """Prints the median time of each way to ask for a batch's rewards."""
    prompts = [f"Where do rivers flow, number {n}?" for n in range(n_completions)]
    completions = [f"To the sea, number {n}." for n in range(n_completions)]

    def ask(reward: Callable[..., Any], step: int) -> None:
        for n in range(0, n_completions, step):
            part = slice(n, n + step)
            references = ["Rivers flow to the seas."] * len(prompts[part])
            reward(prompts=prompts[part], completions=completions[part], reference=references)

    ways = {
        "one call": (AT_ONCE, n_completions),
        "one by one": (AT_ONCE, 1),
        "one by one, a request at a time": (1, 1),
    }
    medians: dict[str, float] = {}
    with serving(LATENCY) as url:
        for way, (at_once, step) in ways.items():
            with Judge(load(CARD, base_url=url, concurrency=at_once)) as judge:
                reward = trl(judge, by="reference")
                ask(reward, step)
                walls, cpus = [], []
                for _ in range(rounds):
                    wall, cpu = time.perf_counter(), time.process_time()
                    ask(reward, step)
                    walls.append(time.perf_counter() - wall)
                    cpus.append(time.process_time() - cpu)
            medians[way] = statistics.median(walls)
            print(
                f"{way}: {medians[way]:.2f} s (of {rounds}: {min(walls):.2f} to {max(walls):.2f}), "
                f"processor {statistics.median(cpus):.2f} s, "
                f"{n_completions / medians[way]:.0f} rewards/s, "
                f"{medians[way] / medians['one call']:.1f} times one call"
            )
    print(f"wanted: one by one takes at least {TARGET} times as long as one call")


def by_letter(request: Request) -> str:
    """Rates a response by how often it has the letter e, from 1 to 10."""
    text = request.messages[-1].content.rpartition("[Response]: ")[2].partition("\n***")[0]
    return f"Rating: [[{1 + min(9, text.count('e'))}]]"


def train(judge: str, steps: int, rate: float, n_completions: int) -> list[dict[str, float]]:
    """Runs GRPO and returns the reward of each step."""
    warnings.simplefilter("ignore")
    from tests.tiny_llama import make_model, make_tokenizer
    from trl import GRPOConfig, GRPOTrainer

    import datasets

    card = JudgeCard(
        name="script", title="A script", backend="scripted", model="script", protocols=("single",)
    )
    loaded = Judge(ScriptedBackend(card, by_letter)) if judge == "scripted" else Judge.load(judge)
    tokenizer = make_tokenizer()
    tokenizer.pad_token = tokenizer.eos_token
    with tempfile.TemporaryDirectory() as folder, loaded:
        trainer = GRPOTrainer(
            model=make_model(),
            processing_class=tokenizer,
            reward_funcs=[trl(loaded)],
            train_dataset=datasets.Dataset.from_dict({"prompt": ["Which is better?"] * 64}),
            args=GRPOConfig(
                output_dir=folder,
                max_steps=steps,
                per_device_train_batch_size=n_completions,
                num_generations=n_completions,
                max_completion_length=16,
                learning_rate=rate,
                lr_scheduler_type="constant",
                logging_steps=1,
                report_to=[],
                save_strategy="no",
                use_cpu=True,
                bf16=False,
                disable_tqdm=True,
            ),
        )
        trainer.train()
        history = trainer.state.log_history
    return [
        {"step": row["step"], "reward": row["reward"], "sd": row["reward_std"]}
        for row in history
        if row.get("reward") is not None
    ]


def write(path: Path, rows: Sequence[dict[str, float]]) -> None:
    """Writes the rewards, and prints the means at both ends."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ("step", "reward", "sd"))
        writer.writeheader()
        writer.writerows(rows)
    for name, part in (("first", rows[:_WINDOW]), ("last", rows[-_WINDOW:])):
        rewards = [row["reward"] for row in part]
        print(
            f"{name} {len(part)} of {len(rows)} steps: mean reward {statistics.fmean(rewards):.2f}"
            f" ({min(rewards):.2f} to {max(rewards):.2f})"
        )


def draw(paths: Sequence[Path], out: Path) -> None:
    """Draws the rewards of some runs beside each other, each with its name."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "autoj"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(paths), figsize=(4 * len(paths), 3), squeeze=False)
    for axis, path in zip(axes[0], paths, strict=True):
        with path.open(encoding="utf-8", newline="") as stream:
            rows = [
                {name: float(its) for name, its in row.items()} for row in csv.DictReader(stream)
            ]
        steps, rewards = ([row[name] for row in rows] for name in ("step", "reward"))
        low, high = ([row["reward"] + sign * row["sd"] for row in rows] for sign in (-1, 1))
        axis.fill_between(steps, low, high, alpha=0.2, linewidth=0)
        axis.plot(steps, rewards)
        axis.set(title=f"{path.stem} judge", xlabel="step", ylabel="reward, mean and sd of a batch")
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


def main() -> None:
    """Runs a part, or draws."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("calls", "grpo"))
    parser.add_argument("--completions", type=int, default=32, help="of a batch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--judge", default="scripted", help="scripted, or a judge by name")
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate; 0 is the control")
    parser.add_argument("--csv", type=Path, default=Path("rewards.csv"))
    parser.add_argument("--draw", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("grpo.svg"))
    given = parser.parse_args()
    if given.draw:
        draw(given.draw, given.out)
    elif given.part == "calls":
        compare_calls(given.completions, given.rounds)
    else:
        write(given.csv, train(given.judge, given.steps, given.rate, given.completions))


if __name__ == "__main__":
    main()
