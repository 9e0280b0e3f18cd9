"""The embedded judge against transformers, with the same weights, prompts and cores.

The prompts are the Eval-P prompts nearest to 600 tokens (`$AUTOJ_DATA`, else `../shared/data`;
texts made here where there are none), with the protocol `pairwise`. A critique is 128 new tokens,
neither fewer nor more. Every engine is a process of its own that stays loaded; rounds ask them in
turn, so that a busy machine slows all of them, and each ratio is taken within a round.

transformers reads the same GGUF file. Its one-at-a-time greedy decoding, with a cache of keys and
values, is tried with the weights dequantised to float32 and to bfloat16 and with the weights kept
packed; the fastest of these is what the embedded judge is compared with.

    pip install -e '.[embedded,bench]'
    python benchmarks/embedded.py
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from autoj.backends.embedded import EmbeddedBackend, load
from autoj.backends.embedded.model import convert
from autoj.backends.embedded.weights import fetch_weights
from autoj.chat import render
from autoj.datasets import open_cases
from autoj.judges import load_card
from autoj.records import Case, Completion, Request, Response
from autoj.runs import make_spec
from autoj.runs.plan import plan_case

PROMPT_TOKENS = 600
NEW_TOKENS = 128
N_PROMPTS = 16
TARGET_CRITIQUES = 10
TARGET_VERDICTS = 25
TARGET_PREFILL_TOKENS_PER_SECOND = 2_500

# What SmolLM2-135M computes per prompt token: two operations per weight that is not an embedding,
# and the attention of 30 layers of width 576 to half of the prompt, for keys and for values.
_FLOP_PER_TOKEN = 2 * 106e6 + 2 * 2 * 30 * 576 * PROMPT_TOKENS / 2
_GEMM_SIDE = 2048
_VARIANTS = ("float32", "bfloat16", "packed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What an engine did when it was asked once."""

    n_done: int
    """Judgments, or matrix products."""
    prompt_tokens: int
    new_tokens: int
    seconds: float
    elsewhere: float
    """The share of the cores that other processes took meanwhile, 0 to 1."""

    @property
    def per_minute(self) -> float:
        """Judgments per minute."""
        return 60 * self.n_done / self.seconds


Prompts: TypeAlias = tuple[int, ...]
"""Which of the prompts are asked."""
Answer: TypeAlias = Callable[[Prompts], tuple[int, int]]
"""Answers prompts; returns how many tokens were read and written."""


# The prompts.


def data_folder() -> Path:
    """Where the data sets lie."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("AUTOJ_DATA", beside))


def made_cases() -> Iterator[Case]:
    """Cases of about the right length, for where there is no data."""
    for number in range(N_PROMPTS):
        first = f"Plan {number}, first: start early, write down each step and check it twice. " * 12
        second = f"Plan {number}, second: ask a friend, compare three offers and wait a day. " * 12
        yield Case(
            id=f"made-{number}",
            query=f"How should I plan project {number}?",
            responses=(Response(text=first), Response(text=second)),
            cluster=f"made-{number}",
        )


def all_cases() -> list[Case]:
    """The Eval-P cases, else made ones."""
    path = data_folder() / "autoj" / "testdata_pairwise.jsonl"
    if not path.is_file():
        return list(made_cases())
    return [row.case for row in open_cases(path).read() if isinstance(row.case, Case)]


def requests_of(backend: EmbeddedBackend, protocol: str) -> list[Request]:
    """The requests nearest to the wanted length, in one order of the responses.

    The protocol `pairwise` decides which cases they are about, so that all protocols get the same.
    """
    critique = make_spec("judge", backend.card, protocol="pairwise", max_tokens=NEW_TOKENS)
    wanted = make_spec("judge", backend.card, protocol=protocol, max_tokens=NEW_TOKENS)
    distances: list[tuple[int, int, Case]] = []
    for number, case in enumerate(all_cases()):
        request = plan_case(case, critique, backend)[0].request
        if request is not None:
            n_tokens = backend.count_tokens(render(request.messages, backend.card.wrapper))
            distances.append((abs(n_tokens - PROMPT_TOKENS), number, case))
    chosen = [case for _, _, case in sorted(distances)[:N_PROMPTS]]
    planned = [plan_case(case, wanted, backend)[0].request for case in chosen]
    return [request for request in planned if request is not None]


# The engines; each lives in a process of its own.


class _Unending(EmbeddedBackend):
    """The embedded judge, writing on after its answer's end: equal work for all engines."""

    def _config(self, request: Request) -> Any:
        config = super()._config(request)
        config.ignore_eos = True
        config.stop_token_ids = set()
        return config


def embedded(requests: list[Request]) -> Answer:
    """The embedded judge."""
    card = load_card("embedded-base")
    backend = _Unending(card, convert(fetch_weights(card)))

    def ask(prompts: Prompts) -> tuple[int, int]:
        outcomes = list(backend.complete(requests[index] for index in prompts))
        done = [outcome for outcome in outcomes if isinstance(outcome, Completion)]
        if len(done) < len(prompts):
            raise SystemExit(f"the embedded judge failed: {outcomes}")
        return sum(item.prompt_tokens for item in done), sum(
            item.completion_tokens for item in done
        )

    return ask


def transformers(texts: list[str], variant: str, n_batch: int) -> Answer:
    """transformers, greedy, as the judge's card decodes; `n_batch` prompts at a time."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    card = load_card("embedded-base")
    weights = fetch_weights(card)
    # Reads "\n\n" before a digit as two tokens and not as one: a prompt is a token longer here.
    tokenizer: Any = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
    prompts_ids: list[list[int]] = tokenizer(texts, add_special_tokens=False)["input_ids"]
    model: Any = AutoModelForCausalLM.from_pretrained(
        weights.parent,
        gguf_file=weights.name,
        dtype=torch.bfloat16 if variant == "bfloat16" else torch.float32,
        quantization_config=GgufConfig(dequantize=variant != "packed"),
    ).eval()
    end: int = tokenizer.eos_token_id

    def generate(batch: list[list[int]]) -> int:
        longest = max(map(len, batch))
        ids = torch.tensor([[end] * (longest - len(row)) + row for row in batch])
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in batch])
        with torch.inference_mode():
            written = model.generate(
                ids,
                attention_mask=mask,
                max_new_tokens=NEW_TOKENS,
                min_new_tokens=NEW_TOKENS,
                do_sample=False,
                repetition_penalty=card.decoding.repetition_penalty,
                eos_token_id=end,
                pad_token_id=end,
            )[:, longest:]
        return int(written.numel())

    def ask(prompts: Prompts) -> tuple[int, int]:
        chosen = [prompts_ids[index] for index in prompts]
        batches = [chosen[start : start + n_batch] for start in range(0, len(chosen), n_batch)]
        return sum(map(len, chosen)), sum(generate(batch) for batch in batches)

    return ask


def gemm() -> Answer:
    """The machine's own speed: square matrix products in bfloat16, through OpenVINO."""
    import openvino
    from openvino import opset13

    left = opset13.parameter([_GEMM_SIDE, _GEMM_SIDE], np.float32, name="left")
    weights = np.random.default_rng(0).random((_GEMM_SIDE, _GEMM_SIDE), np.float32)
    product = opset13.matmul(left, opset13.constant(weights), False, True)
    model = openvino.Model([opset13.result(product)], [left], "product")
    compiled = openvino.Core().compile_model(
        model, "CPU", {"INFERENCE_PRECISION_HINT": "bf16", "PERFORMANCE_HINT": "LATENCY"}
    )
    request = compiled.create_infer_request()
    request.set_input_tensor(openvino.Tensor(weights))

    def multiply(prompts: Prompts) -> tuple[int, int]:
        for _ in prompts:
            request.infer()
        return 0, 0

    return multiply


class Engine:
    """An engine in a process of its own, asked through a pipe."""

    def __init__(
        self, title: str, n_cores: int, make: Callable[..., Answer], *options: Any
    ) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, n_cores, make, options))
        self._process.start()
        theirs.close()
        self.title = title
        self.load_seconds: float = self._receive()
        """From nothing imported to ready, without the first answer."""
        self.work: list[Work] = []
        # The first answer also pays for what is loaded and compiled on first use.
        self.first_seconds = self._ask((0,)).seconds
        print(f"{title}: ready, first answer {self.first_seconds:.1f} s", file=sys.stderr)

    def ask(self, prompts: Prompts) -> Work:
        """Answer some of the prompts."""
        work = self._ask(prompts)
        self.work.append(work)
        print(f"{self.title}: {work}", file=sys.stderr)
        return work

    def close(self) -> float:
        """End the process; returns the most memory that it held, in 10^6 bytes."""
        self._pipe.send(None)
        peak_mb: float = self._receive()
        self._process.join()
        return peak_mb

    def _ask(self, prompts: Prompts) -> Work:
        self._pipe.send(prompts)
        work: Work = self._receive()
        return work

    def _receive(self) -> Any:
        try:
            return self._pipe.recv()
        except EOFError:
            raise SystemExit(f"{self.title} broke down; its error is above") from None


def _serve(
    pipe: Connection, n_cores: int, make: Callable[..., Answer], options: tuple[Any, ...]
) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n_cores])
    started = time.perf_counter()
    answer = make(*options)
    pipe.send(time.perf_counter() - started)
    while (prompts := pipe.recv()) is not None:
        pipe.send(_timed(answer, prompts))
    pipe.send(_peak_mb())


def _timed(answer: Answer, prompts: Prompts) -> Work:
    started, ours, everybody = time.perf_counter(), time.process_time(), _busy_seconds()
    prompt_tokens, new_tokens = answer(prompts)
    seconds = time.perf_counter() - started
    others = _busy_seconds() - everybody - (time.process_time() - ours)
    return Work(
        n_done=len(prompts),
        prompt_tokens=prompt_tokens,
        new_tokens=new_tokens,
        seconds=seconds,
        elsewhere=max(0.0, others / seconds / (os.cpu_count() or 1)),
    )


def _peak_mb() -> float:
    """The most memory that this process held, in 10^6 bytes (Linux).

    `getrusage` would count what the parent held when it started this process.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def wait_for_quiet(patience_seconds: float) -> None:
    """Wait until the machine has been idle for two seconds, but no longer than that."""
    give_up = time.monotonic() + patience_seconds
    while time.monotonic() < give_up:
        before = _busy_seconds()
        time.sleep(2)
        if _busy_seconds() - before < 0.2:
            return


def _busy_seconds() -> float:
    """Core seconds that all processes of the machine took since it started (Linux)."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


# The report.


def spread(values: list[float], digits: int = 1) -> str:
    """The median, with the lowest and the highest value."""
    low, high = min(values), max(values)
    return f"{statistics.median(values):,.{digits}f} ({low:,.{digits}f}-{high:,.{digits}f})"


def ratios(engine: Engine, base: Engine) -> str:
    """How many times as many judgments per minute, round by round."""
    pairs = zip(engine.work, base.work, strict=True)
    return spread([work.per_minute / other.per_minute for work, other in pairs])


def fastest_variant(n_cores: int, texts: list[str]) -> str:
    """The variant of transformers that writes a critique fastest, one at a time."""
    engines = {
        variant: Engine(f"transformers, {variant}", n_cores, transformers, texts, variant, 1)
        for variant in _VARIANTS
    }
    for round_number in range(2):
        for engine in engines.values():
            engine.ask((round_number,))
    seconds = {
        variant: statistics.median(work.seconds for work in engine.work)
        for variant, engine in engines.items()
    }
    for engine in engines.values():
        engine.close()
    listed = ", ".join(f"{variant} {value:.1f}" for variant, value in seconds.items())
    print(f"transformers, seconds per critique one at a time: {listed}\n")
    return min(seconds, key=seconds.__getitem__)


def main() -> None:
    """Ask all engines in turn and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--cores", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument(
        "--alone", type=int, default=4, help="prompts a round one at a time; default: %(default)s"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=0,
        help="seconds to wait for an idle machine before each measurement; default: %(default)s",
    )
    parser.add_argument("--variant", choices=_VARIANTS, help="of transformers; default: fastest")
    options = parser.parse_args()
    cores = options.cores
    backend = load(load_card("embedded-base"))
    written = requests_of(backend, "pairwise")
    scored = requests_of(backend, "pairwise-verdict")
    texts = [render(request.messages, backend.card.wrapper) for request in written]
    variant = options.variant or fastest_variant(cores, texts)

    critiques = Engine("embedded, critiques", cores, embedded, written)
    verdicts = Engine("embedded, pairwise-verdict", cores, embedded, scored)
    alone = Engine(f"transformers {variant}, one at a time", cores, transformers, texts, variant, 1)
    batched = Engine(
        f"transformers {variant}, batch of 16", cores, transformers, texts, variant, N_PROMPTS
    )
    product = Engine("matrix product", cores, gemm)
    everything = tuple(range(N_PROMPTS))
    for number in range(options.rounds):
        some = tuple((number * options.alone + step) % N_PROMPTS for step in range(options.alone))
        for engine, prompts in (
            (critiques, everything),
            (verdicts, everything),
            (alone, some),
            (batched, everything),
            (product, everything),
        ):
            wait_for_quiet(options.patience)
            engine.ask(prompts)

    engines = (critiques, verdicts, alone, batched)
    print(f"{N_PROMPTS} prompts, {options.rounds} rounds: median (min-max)\n")
    print("| engine | judgments/min | new tokens | first answer, s | peak MB | others busy |")
    print("|---|---|---|---|---|---|")
    for engine in engines:
        per_minute = spread([work.per_minute for work in engine.work])
        new_tokens = sum(work.new_tokens for work in engine.work) / sum(
            work.n_done for work in engine.work
        )
        elsewhere = statistics.mean(work.elsewhere for work in engine.work)
        first_seconds = engine.load_seconds + engine.first_seconds
        print(
            f"| {engine.title} | {per_minute} | {new_tokens:.0f} | {first_seconds:.1f} "
            f"| {engine.close():,.0f} | {elsewhere:.0%} |"
        )
    prefill = [work.prompt_tokens / work.seconds for work in verdicts.work]
    gflops = [2e-9 * _GEMM_SIDE**3 * work.n_done / work.seconds for work in product.work]
    shares = [
        tokens * _FLOP_PER_TOKEN / 1e9 / speed
        for tokens, speed in zip(prefill, gflops, strict=True)
    ]
    product.close()
    print("\n| figure | measured | target |\n|---|---|---|")
    print(
        "| critiques per minute, embedded / transformers one at a time "
        f"| {ratios(critiques, alone)} | at least {TARGET_CRITIQUES} |"
    )
    print(
        "| verdicts per minute, embedded / critiques per minute, transformers one at a time "
        f"| {ratios(verdicts, alone)} | at least {TARGET_VERDICTS} |"
    )
    print(
        "| critiques per minute, embedded / transformers in batches of 16 "
        f"| {ratios(critiques, batched)} | |"
    )
    print(
        "| prompt tokens/s, pairwise-verdict "
        f"| {spread(prefill, 0)} | at least {TARGET_PREFILL_TOKENS_PER_SECOND:,} |"
    )
    print(f"| bfloat16 matrix product, GFLOP/s | {spread(gflops, 0)} | |")
    print(f"| share of it that the prefill reaches | {spread(shares, 2)} | |")


if __name__ == "__main__":
    main()
