"""An embedded judge against transformers and llama.cpp, with the same weights, prompts and cores.

The prompts are the Eval-P prompts nearest to 600 tokens (`$AUTOJ_DATA`, else `../shared/data`;
texts made here where there are none), with the protocol `pairwise`. A critique is 128 new tokens,
neither fewer nor more. Engines are asked in turn (`engines.py`).

transformers reads the same GGUF file. Its one-at-a-time greedy decoding, with a cache of keys and
values, is tried with the weights dequantised to float32 and to bfloat16 and with the weights kept
packed; the fastest of these is what the embedded judge is compared with. llama.cpp reads it with
`--llama-cpp` (`pip install xllamacpp`): critiques one at a time, and verdicts as a prompt read with
one token written. `--prefill` reads prompts beside the machine's own matrix products alone.

    pip install -e '.[embedded,bench]'
    python -m benchmarks.embedded
    python -m benchmarks.embedded --judge embedded-1.5b-base --variant bfloat16 --llama-cpp
    python -m benchmarks.embedded --judge embedded-1.5b-base --prefill
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from autoj.backends.embedded import EmbeddedBackend, load
from autoj.backends.embedded.weights import fetch_weights
from autoj.chat import render
from autoj.datasets import open_cases
from autoj.judges import load_card
from autoj.records import Case, Request, Response
from autoj.runs import make_spec
from autoj.runs.plan import plan_case
from benchmarks.engines import (
    Answer,
    Engine,
    Prompts,
    asking,
    ratios,
    spread,
    unending_embedded,
    wait_for_quiet,
)

PROMPT_TOKENS = 600
NEW_TOKENS = 128
N_PROMPTS = 16
TARGET_CRITIQUES = 10
TARGET_VERDICTS = 25
TARGET_PREFILL_TOKENS_PER_SECOND = 2_500
TARGET_SHARE_OF_8_BITS = 0.5

# What a model computes per prompt token: two operations per weight that is not an embedding, and
# the attention of its layers, so wide, to half of the prompt, for keys and for values.
_FLOP_PER_TOKEN = {
    "embedded-small-base": 2 * 106e6 + 2 * 2 * 30 * 576 * PROMPT_TOKENS / 2,
    "embedded-0.5b-base": 2 * 358e6 + 2 * 2 * 24 * 896 * PROMPT_TOKENS / 2,
    "embedded-1.5b-base": 2 * 1.31e9 + 2 * 2 * 28 * 1536 * PROMPT_TOKENS / 2,
}
_GEMM_SIDE = 2048
_VARIANTS = ("float32", "bfloat16", "packed")


# The prompts.


def data_folder() -> Path:
    """The folder of the data sets."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("AUTOJ_DATA", beside))


def made_cases() -> Iterator[Case]:
    """Yields cases of about the right length, for use without the data."""
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


# The engines; each runs in its own process.


def embedded(requests: list[Request], judge: str) -> Answer:
    """The embedded judge."""
    return asking(unending_embedded(judge), requests)


def llama_cpp(texts: list[str], judge: str, n_new: int) -> Answer:
    """llama.cpp on the GGUF file, one prompt at a time, with nothing kept from the one before."""
    import xllamacpp

    card = load_card(judge)
    params = xllamacpp.CommonParams()
    params.model.path = str(fetch_weights(card))
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = len(os.sched_getaffinity(0))
    server = xllamacpp.Server(params)

    def generate(text: str) -> tuple[int, int]:
        answer = server.handle_completions(
            {
                "prompt": text,
                "n_predict": n_new,
                "temperature": 0,
                "repeat_penalty": card.decoding.repetition_penalty,
                "ignore_eos": True,
                "cache_prompt": False,
            }
        )
        timings = answer["timings"]
        return timings["prompt_n"], timings["predicted_n"]

    def ask(prompts: Prompts) -> tuple[int, int]:
        counts = [generate(texts[index]) for index in prompts]
        return sum(read for read, _ in counts), sum(written for _, written in counts)

    return ask


def transformers(texts: list[str], judge: str, variant: str, n_batch: int) -> Answer:
    """transformers, greedy, as the judge's card decodes; `n_batch` prompts at a time."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    card = load_card(judge)
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


def gemm(bits: int) -> Answer:
    """The machine's own speed: square matrix products in floats or 8 bits, through OpenVINO.

    Floats are bfloat16 where the processor has it: where it has not, to ask for it takes a hundred
    times as long as float32.
    """
    import openvino
    from openvino import opset13

    left = opset13.parameter([_GEMM_SIDE, _GEMM_SIDE], np.float32, name="left")
    weights = np.random.default_rng(0).random((_GEMM_SIDE, _GEMM_SIDE), np.float32)
    if bits == 8:
        # Ranges that are known beforehand: nothing but the product is left to compute.
        ends = map(np.float32, (0, 1, 0, 1))
        one, other = opset13.fake_quantize(left, *ends, 256), _in_8_bits(weights)
    else:
        one, other = left, opset13.constant(weights)
    product = opset13.matmul(one, other, False, True)
    model = openvino.Model([opset13.result(product)], [left], "product")
    compiled = openvino.Core().compile_model(model, "CPU", {"PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    request.set_input_tensor(openvino.Tensor(weights))

    def multiply(prompts: Prompts) -> tuple[int, int]:
        for _ in prompts:
            request.infer()
        return 0, 0

    return multiply


def _in_8_bits(weights: Any) -> Any:
    """Weights from 0 to 1 in 8 bits, with one scale for each row."""
    from openvino import opset13

    packed = opset13.constant(np.round(weights * 127).astype(np.int8))
    scales = opset13.constant(np.full((len(weights), 1), 1 / 127, np.float32))
    return opset13.multiply(opset13.convert(packed, np.float32), scales)


# The report.


def fastest_variant(n_cores: int, texts: list[str], judge: str) -> str:
    """The variant of transformers that writes a critique fastest, one at a time."""
    engines = {
        variant: Engine(f"transformers, {variant}", n_cores, transformers, texts, judge, variant, 1)
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


def asked_in_turn(options: argparse.Namespace) -> list[Engine]:
    """The engines, after their rounds: critiques, verdicts, one at a time, batched, llama.cpp's."""
    cores, judge = options.cores, options.judge
    backend = load(load_card(judge))
    written = requests_of(backend, "pairwise")
    scored = requests_of(backend, "pairwise-verdict")
    wrapper = backend.card.wrapper
    texts = [render(request.messages, wrapper) for request in written]
    short = [render(request.messages, wrapper) for request in scored]
    backend.close()
    variant = options.variant or fastest_variant(cores, texts, judge)
    name = f"transformers {variant}"
    everything = tuple(range(N_PROMPTS))
    of_all = [
        Engine("embedded, critiques", cores, embedded, written, judge),
        Engine("embedded, pairwise-verdict", cores, embedded, scored, judge),
        Engine(f"{name}, batch of 16", cores, transformers, texts, judge, variant, N_PROMPTS),
        Engine("matrix product of floats", cores, gemm, 16),
    ]
    of_some = [Engine(f"{name}, one at a time", cores, transformers, texts, judge, variant, 1)]
    if options.llama_cpp:
        of_some += [
            Engine("llama.cpp, critiques", cores, llama_cpp, texts, judge, NEW_TOKENS),
            Engine("llama.cpp, pairwise-verdict", cores, llama_cpp, short, judge, 1),
        ]
    for number in range(options.rounds):
        some = tuple((number * options.alone + step) % N_PROMPTS for step in range(options.alone))
        for engine in (*of_all, *of_some):
            wait_for_quiet(options.patience)
            engine.ask(everything if engine in of_all else some)
    critiques, verdicts, batched, product = of_all
    return [critiques, verdicts, of_some[0], batched, *of_some[1:], product]


def print_shares(judge: str, verdicts: Engine, product: Engine, target: str = "") -> None:
    """Prints the speed of a matrix product, and the share of it that the prefill reaches."""
    prefill = [work.read_per_second for work in verdicts.work]
    gflops = [2e-9 * _GEMM_SIDE**3 * work.n_done / work.seconds for work in product.work]
    shares = [
        tokens * _FLOP_PER_TOKEN[judge] / 1e9 / speed
        for tokens, speed in zip(prefill, gflops, strict=True)
    ]
    print(f"| {product.title}, billion operations/s | {spread(gflops, 0)} | |")
    print(f"| share of it that the prefill reaches | {spread(shares, 2)} | {target} |")


def measure_prefill(options: argparse.Namespace) -> None:
    """Reads prompts beside the machine's matrix products, in turn, and prints a table."""
    backend = load(load_card(options.judge))
    scored = requests_of(backend, "pairwise-verdict")
    backend.close()
    verdicts = Engine("embedded, pairwise-verdict", options.cores, embedded, scored, options.judge)
    products = [
        Engine("8-bit matrix product", options.cores, gemm, 8),
        Engine("matrix product of floats", options.cores, gemm, 16),
    ]
    for _ in range(options.rounds):
        for engine in (verdicts, *products):
            wait_for_quiet(options.patience)
            engine.ask(tuple(range(N_PROMPTS)))
    print("| figure | measured | target |\n|---|---|---|")
    prefill = [work.read_per_second for work in verdicts.work]
    print(f"| prompt tokens/s, pairwise-verdict | {spread(prefill, 0)} | |")
    print_shares(options.judge, verdicts, products[0], f"at least {TARGET_SHARE_OF_8_BITS}")
    print_shares(options.judge, verdicts, products[1])
    for engine in (verdicts, *products):
        engine.close()


def main() -> None:
    """Asks all engines in turn and prints tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument(
        "--judge",
        choices=list(_FLOP_PER_TOKEN),
        default="embedded-small-base",
        help="default: %(default)s",
    )
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
    parser.add_argument("--llama-cpp", action="store_true", help="ask llama.cpp, too")
    parser.add_argument("--prefill", action="store_true", help="measure the prefill alone")
    options = parser.parse_args()
    if options.prefill:
        measure_prefill(options)
        return
    *engines, product = asked_in_turn(options)
    critiques, verdicts, alone, batched, *others = engines
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
    prefill = [work.read_per_second for work in verdicts.work]
    print("\n| figure | measured | target |\n|---|---|---|")
    print(
        "| critiques per minute, embedded / transformers one at a time "
        f"| {ratios(critiques.work, alone.work)} | at least {TARGET_CRITIQUES} |"
    )
    print(
        "| verdicts per minute, embedded / critiques per minute, transformers one at a time "
        f"| {ratios(verdicts.work, alone.work)} | at least {TARGET_VERDICTS} |"
    )
    print(
        "| critiques per minute, embedded / transformers in batches of 16 "
        f"| {ratios(critiques.work, batched.work)} | |"
    )
    for own, other in zip((critiques, verdicts), others, strict=False):
        print(f"| {own.title} / {other.title} | {ratios(own.work, other.work)} | |")
    print(
        "| prompt tokens/s, pairwise-verdict "
        f"| {spread(prefill, 0)} | at least {TARGET_PREFILL_TOKENS_PER_SECOND:,} |"
    )
    print_shares(options.judge, verdicts, product)
    product.close()


if __name__ == "__main__":
    main()
