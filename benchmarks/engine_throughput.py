"""Throughput of the `hf` backend: critiques and verdicts per minute, batched and one at a time.

Part one runs on the CPU, with the embedded judge's weights: `hf` in batches against `hf` one at a
time and against `embedded`, asked in turn (`engines.py`).

Part two runs on one GPU, with a model of Llama-2-13B's shape in bfloat16. Its weights are RANDOM:
it computes what the real one computes and says nothing. Beside what was measured stands the
roofline: what the machine's own bandwidth and rate of matrix products, measured here, would allow.
On a machine without a GPU a tiny model stands in, so that all of it runs; its figures mean nothing.

    pip install -e '.[embedded,hf]'
    python -m benchmarks.engine_throughput
    python -m benchmarks.engine_throughput --part gpu
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autoj.backends.base import Backend
from autoj.backends.hf import HfBackend
from autoj.backends.hf.models import load_model
from autoj.judges import load_card
from autoj.records import Decoding, JudgeCard, Message, Request
from benchmarks.engines import (
    Answer,
    Engine,
    Prompts,
    Work,
    asking,
    ratios,
    spread,
    timed,
    unending_embedded,
)
from benchmarks.roofline import Machine, measure, read_seconds, shape_of, write_seconds

TARGET_BATCHED = 4
TARGET_CRITIQUES = 400
TARGET_VERDICTS = 1_500

_CHOICES = (" Response 1", " Response 2", " Tie")
_SENTENCES = (
    "It depends on what you want from it, and on how much time you have for it.",
    "There are three points to consider here, and the first is the most important.",
    "Start early, write down each step, and check it twice before you go on.",
)
LLAMA2_13B = {
    "hidden_size": 5120,
    "intermediate_size": 13824,
    "num_hidden_layers": 40,
    "num_attention_heads": 40,
    "num_key_value_heads": 40,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
}
TINY = {
    **LLAMA2_13B,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 512,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of a measurement."""

    n_requests: int
    prompt_tokens: int
    """The approximate number per prompt."""
    new_tokens: int
    """Per critique, neither fewer nor more."""


# What is asked.


def make_requests(backend: Backend, size: Size, *, scored: bool) -> list[Request]:
    """Requests whose prompts have about the wanted length, each another text."""
    return [
        Request(
            key=f"{number}",
            judge="benchmark",
            case_id=f"{number}",
            protocol="pairwise-verdict" if scored else "pairwise",
            shown=(0, 1),
            messages=(Message(role="user", content=_text(backend, number, size.prompt_tokens)),),
            prefix="The final decision is" if scored else None,
            choices=_CHOICES if scored else None,
            decoding=replace(backend.card.decoding, max_tokens=size.new_tokens),
        )
        for number in range(size.n_requests)
    ]


def _text(backend: Backend, number: int, n_tokens: int) -> str:
    text = f"Compare the two plans for project {number}."
    # A tenth shorter or longer, so that there is something to sort by length.
    wanted = n_tokens * (90 + number * 7 % 21) // 100
    for step in range(n_tokens):
        if backend.count_tokens(text) >= wanted:
            break
        text += f" {_SENTENCES[(number + step) % len(_SENTENCES)]}"
    return text


# The engines.


def unending(backend: HfBackend, unused_token: int) -> HfBackend:
    """A judge that writes on after its answer's end; some token must end a text."""
    backend._writer.ends = (unused_token,)
    return backend


def embedded_engine(size: Size, scored: bool) -> Answer:
    """The embedded judge."""
    backend = unending_embedded()
    return asking(backend, make_requests(backend, size, scored=scored))


def hf_engine(size: Size, scored: bool, precision: str, one_by_one: bool) -> Answer:
    """`hf` on the CPU, with the embedded judge's weights."""
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    card = replace(load_card("embedded-small-base"), backend="hf")
    card = replace(card, options={**card.options, "precision": precision})
    tokenizer, model = load_model(card, "cpu")
    backend = unending(HfBackend(card, tokenizer, model), len(tokenizer) - 1)
    return asking(backend, make_requests(backend, size, scored=scored), one_by_one=one_by_one)


# Part one.


def run_cpu(size: Size, n_alone: int, n_rounds: int, n_cores: int, precision: str) -> None:
    """Asks all engines in turn, and prints their table."""

    def hf(title: str, scored: bool, one_by_one: bool) -> Engine:
        return Engine(title, n_cores, hf_engine, size, scored, precision, one_by_one)

    def embedded(title: str, scored: bool) -> Engine:
        return Engine(title, n_cores, embedded_engine, size, scored)

    some, everything = range(min(n_alone, size.n_requests)), range(size.n_requests)
    engines: dict[tuple[str, str], tuple[Engine, Prompts]] = {
        ("critiques", "one"): (hf("hf, critiques one at a time", False, True), some),
        ("critiques", "all"): (hf("hf, critiques in batches", False, False), everything),
        ("critiques", "embedded"): (embedded("embedded, critiques", False), everything),
        ("verdicts", "one"): (hf("hf, verdicts one at a time", True, True), some),
        ("verdicts", "all"): (hf("hf, verdicts in batches", True, False), everything),
        ("verdicts", "embedded"): (embedded("embedded, verdicts", True), everything),
    }
    for _ in range(n_rounds):
        for engine, prompts in engines.values():
            engine.ask(prompts)
    print(
        f"CPU, {n_cores} cores, hf in {precision}, {size.prompt_tokens} prompt tokens, "
        f"{size.new_tokens} new tokens, {n_rounds} rounds: median (min-max)\n"
    )
    print("| engine | per minute | prompt tokens/s | new tokens/s |\n|---|---|---|---|")
    for engine, _ in engines.values():
        print(
            f"| {engine.title} | {spread(work.per_minute for work in engine.work)} "
            f"| {spread(work.read_per_second for work in engine.work)} "
            f"| {spread(work.new_per_second for work in engine.work)} |"
        )
        engine.close()
    print("\n| ratio within a round | measured | target |\n|---|---|---|")
    for kind, target in (("critiques", f"at least {TARGET_BATCHED}"), ("verdicts", "")):
        for base in ("one", "embedded"):
            (first, _), (second, _) = engines[kind, "all"], engines[kind, base]
            found = ratios(first.work, second.work, 2)
            aim = target if base == "one" else ""
            print(f"| {first.title} / {second.title} | {found} | {aim} |")


# Part two.


def random_backend(shape: dict[str, int], device: str, **options: Any) -> HfBackend:
    """A judge of a shape, with random weights and a tokenizer of bytes."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    special = ["<unk>", "<s>", "</s>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*special, *letters])}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )
    config = transformers.LlamaConfig(**shape, bos_token_id=1, eos_token_id=2, pad_token_id=None)
    torch.manual_seed(0)
    with torch.device(device):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()
    card = JudgeCard(
        name="random",
        title="Random weights",
        backend="hf",
        model="random weights",
        wrapper="llama2",
        decoding=Decoding(max_tokens=1),
        options=options,
    )
    backend = HfBackend(card, tokenizer, model)
    # No token ends a text here: random weights would end some early.
    return unending(backend, shape["vocab_size"] - 1)


def quantise(model: Any) -> None:
    """Packs the matrices of a model's layers into 4 bits (NF4 of bitsandbytes), in place."""
    import bitsandbytes
    import torch

    for layer in model.get_decoder().layers:
        for path, module in list(layer.named_modules()):
            if not isinstance(module, torch.nn.Linear):
                continue
            n_out, n_in = module.weight.shape
            packed = bitsandbytes.nn.Linear4bit(
                n_in, n_out, bias=False, compute_dtype=torch.bfloat16, quant_type="nf4",
                device="meta",
            )  # fmt: skip
            device = module.weight.device
            packed.weight = bitsandbytes.nn.Params4bit(
                module.weight.data, requires_grad=False, quant_type="nf4"
            ).to(device)
            owner, _, name = path.rpartition(".")
            setattr(layer.get_submodule(owner), name, packed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table: judgments per minute beside their roofline."""

    title: str
    rates: list[float]
    """Per minute, one a round."""
    bound: float
    target: str

    @property
    def share(self) -> float:
        """The median over the roofline."""
        return statistics.median(self.rates) / self.bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """The speed of a model with random weights on a machine."""

    machine: Machine
    n_rows: int
    """The rows at once of the roofline of batches."""
    rows: list[Row]
    ratio: str
    """Critiques in batches over critiques one at a time."""


def measure_random(
    shape: dict[str, int], size: Size, n_alone: int, n_rounds: int, device: str, bits: int = 16
) -> Throughput:
    """Measures a machine, and a model with random weights on it.

    Args:
        shape: the model's dimensions, by the names of a Llama's configuration.
        size: what is asked.
        n_alone: critiques asked one at a time.
        n_rounds: how often all is measured.
        device: "cuda" or "cpu".
        bits: 16 for bfloat16, 4 for NF4, which needs bitsandbytes.
    """
    import torch

    found = measure(device) if device == "cuda" else measure(device, 2**24, 256)
    backend = random_backend(shape, device)
    needs = shape_of(backend._model)
    if bits == 4:
        head = backend._model.get_output_embeddings().weight.numel()
        quantise(backend._model)
        # Half a byte a weight, and a scale for each 64 of them.
        packed = (needs.n_weights - head) * (0.5 + 4 / 64)
        needs = replace(needs, weight_bytes=int(packed + 2 * head))
    free = torch.cuda.mem_get_info()[0] if device == "cuda" else 2**30
    n_rows = max(
        1,
        min(
            size.n_requests,
            int(free / (needs.cache_bytes * (size.prompt_tokens + size.new_tokens))),
        ),
    )
    reading = read_seconds(needs, found, size.prompt_tokens)
    lengths = (size.prompt_tokens, size.new_tokens)
    writing = write_seconds(needs, found, n_rows, *lengths)
    bounds = {
        "critiques": 60 * n_rows / (n_rows * reading + writing),
        "verdicts": 60 / reading,
        "alone": 60 / (reading + write_seconds(needs, found, 1, *lengths)),
    }
    critiques = make_requests(backend, size, scored=False)
    verdicts = make_requests(backend, size, scored=True)
    some, everything = range(min(n_alone, size.n_requests)), range(size.n_requests)
    continuous = backend._continuous

    def in_batches(requests: Sequence[Request], *, refilled: bool) -> Work:
        backend._continuous = refilled
        return timed(asking(backend, requests), everything)

    jobs: list[tuple[str, str, str, Callable[[], Work]]] = [
        ("critiques one at a time", "alone", "",
         lambda: timed(asking(backend, critiques, one_by_one=True), some)),
        ("critiques in batches", "critiques", f"at least {TARGET_CRITIQUES}",
         lambda: in_batches(critiques, refilled=False)),
        ("verdicts in batches", "verdicts", f"at least {TARGET_VERDICTS:,}",
         lambda: in_batches(verdicts, refilled=False)),
    ]  # fmt: skip
    if continuous:
        jobs.append(
            ("critiques, continuous batching", "critiques", f"at least {TARGET_CRITIQUES}",
             lambda: in_batches(critiques, refilled=True))
        )  # fmt: skip
    results: dict[str, list[Work]] = {title: [] for title, *_ in jobs}
    timed(asking(backend, [critiques[0], verdicts[0]]), (0, 1))
    for _ in range(n_rounds):
        for title, _, _, do in jobs:
            results[title].append(do())
            print(f"{title}: {results[title][-1]}", file=sys.stderr)
    return Throughput(
        machine=found,
        n_rows=n_rows,
        rows=[
            Row(
                title=title,
                rates=[work.per_minute for work in results[title]],
                bound=bounds[bound],
                target=target,
            )
            for title, bound, target, _ in jobs
        ],
        ratio=ratios(results["critiques in batches"], results["critiques one at a time"], 2),
    )


def run_gpu(size: Size, n_alone: int, n_rounds: int, device: str) -> None:
    """Measures a machine and a model with random weights on it, and prints both."""
    import torch

    shape = LLAMA2_13B if device == "cuda" else TINY
    found = measure_random(shape, size, n_alone, n_rounds, device)
    what = "a model of Llama-2-13B's shape" if device == "cuda" else "a TINY model"
    where = torch.cuda.get_device_name() if device == "cuda" else "the CPU, for want of a GPU"
    print(
        f"\n{where}: {what}, RANDOM WEIGHTS, bfloat16, about {size.prompt_tokens} prompt tokens, "
        f"{size.new_tokens} new tokens, {size.n_requests} requests, {n_rounds} rounds"
    )
    if device != "cuda":
        print("This machine has no GPU: the figures show that the script runs, and nothing else.")
    print(
        f"Measured here: {found.machine.bytes_per_second / 1e9:,.0f} GB/s, "
        f"{found.machine.flops / 1e12:,.2f} TFLOP/s in bfloat16. The roofline of batches is that "
        f"of {found.n_rows} rows at once, which fill the free memory or are all there are.\n"
    )
    print("| | per minute | roofline | share of it | target (H100) |\n|---|---|---|---|---|")
    for row in found.rows:
        rates = f"| {row.title} | {spread(row.rates)} | {row.bound:,.0f} | {row.share:.0%} "
        print(f"{rates}| {row.target} |")
    print(f"| critiques, batches / one at a time | {found.ratio} | | | |")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the requested parts and prints their tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--part", choices=("both", "cpu", "gpu"), default="both")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--requests", type=int, help="a round; default: 16, 512 on a GPU")
    parser.add_argument("--alone", type=int, default=4, help="one at a time; default: %(default)s")
    parser.add_argument("--prompt-tokens", type=int, help="default: 600, 700 on a GPU")
    parser.add_argument("--new-tokens", type=int, help="default: 128, 250 on a GPU")
    parser.add_argument(
        "--precision", default="float32", help="of hf on the CPU; default: %(default)s"
    )
    options = parser.parse_args(arguments)

    def size(n_requests: int, prompt_tokens: int, new_tokens: int) -> Size:
        return Size(
            n_requests=options.requests or n_requests,
            prompt_tokens=options.prompt_tokens or prompt_tokens,
            new_tokens=options.new_tokens or new_tokens,
        )

    if options.part != "gpu":
        run_cpu(size(16, 600, 128), options.alone, options.rounds, options.cores, options.precision)
    if options.part != "cpu":
        import torch

        if torch.cuda.is_available():
            run_gpu(size(512, 700, 250), options.alone, options.rounds, "cuda")
        else:
            run_gpu(size(8, 60, 10), min(2, options.alone), options.rounds, "cpu")


if __name__ == "__main__":
    main()
