"""How many critiques and verdicts a minute the `hf` backend gives: in batches, and one at a time.

Part one runs on the CPU, with the embedded judge's weights: `hf` in batches against `hf` one at a
time and against `embedded`. Each is a process of its own that stays loaded; rounds ask them in
turn, so that a busy machine slows all of them, and each ratio is taken within a round.

Part two runs on one GPU, with a model of Llama-2-13B's shape in bfloat16. Its weights are RANDOM:
it computes what the real one computes and says nothing. Beside what was measured stands the
roofline: what the machine's own bandwidth and rate of matrix products, measured here, would allow.
On a machine without a GPU a tiny model stands in, so that all of it runs; its figures mean nothing.

    pip install -e '.[embedded,hf]'
    python benchmarks/engine_throughput.py
    python benchmarks/engine_throughput.py --part gpu
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from autoj.backends.base import Backend
from autoj.backends.embedded import EmbeddedBackend
from autoj.backends.embedded import load as load_embedded
from autoj.backends.hf import HfBackend
from autoj.backends.hf.models import load_model
from autoj.judges import load_card
from autoj.records import Completion, Decoding, JudgeCard, Message, Request

TARGET_BATCHED = 4
TARGET_CRITIQUES = 400
TARGET_VERDICTS = 1_500

_CHOICES = (" Response 1", " Response 2", " Tie")
_SENTENCES = (
    "It depends on what you want from it, and on how much time you have for it.",
    "There are three points to consider here, and the first is the most important.",
    "Start early, write down each step, and check it twice before you go on.",
)
_LLAMA2_13B = {
    "hidden_size": 5120,
    "intermediate_size": 13824,
    "num_hidden_layers": 40,
    "num_attention_heads": 40,
    "num_key_value_heads": 40,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
}
_TINY = {
    **_LLAMA2_13B,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 512,
}
_COPIED_BYTES = 2**31
_MATRIX_SIDE = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is asked."""

    n_requests: int
    prompt_tokens: int
    """About so many."""
    new_tokens: int
    """Per critique, neither fewer nor more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What an engine did when it was asked once."""

    n_done: int
    prompt_tokens: int
    new_tokens: int
    seconds: float

    @property
    def per_minute(self) -> float:
        """Judgments per minute."""
        return 60 * self.n_done / self.seconds

    @property
    def new_per_second(self) -> float:
        """Tokens written per second."""
        return self.new_tokens / self.seconds


Ask: TypeAlias = Callable[[int], Work]
"""Asks for so many judgments of an engine's kind."""


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


def ask_all(backend: Backend, requests: Sequence[Request]) -> Work:
    """Ask for all of them together."""
    return _timed(lambda: list(backend.complete(requests)))


def ask_one_by_one(backend: Backend, requests: Sequence[Request]) -> Work:
    """Ask for each when the one before it is answered."""
    return _timed(
        lambda: [outcome for request in requests for outcome in backend.complete([request])]
    )


def _timed(answer: Callable[[], list[Any]]) -> Work:
    started = time.perf_counter()
    outcomes = answer()
    seconds = time.perf_counter() - started
    done = [outcome for outcome in outcomes if isinstance(outcome, Completion)]
    if len(done) < len(outcomes):
        raise SystemExit(f"not all were answered: {outcomes}")
    return Work(
        n_done=len(done),
        prompt_tokens=sum(completion.prompt_tokens for completion in done),
        new_tokens=sum(completion.completion_tokens for completion in done),
        seconds=seconds,
    )


# The engines.


class _UnendingEmbedded(EmbeddedBackend):
    """The embedded judge, writing on after its answer's end: equal work for all engines."""

    def _config(self, request: Request) -> Any:
        config = super()._config(request)
        config.ignore_eos = True
        config.stop_token_ids = set()
        return config


def unending(backend: HfBackend, unused_token: int) -> HfBackend:
    """The same, writing on after its answer's end; some token must end a text."""
    backend._writer.ends = (unused_token,)
    return backend


def embedded_engine(size: Size, scored: bool) -> Ask:
    """The embedded judge, as it comes."""
    backend = load_embedded(load_card("embedded-base"))
    backend.__class__ = _UnendingEmbedded
    requests = make_requests(backend, size, scored=scored)
    return lambda n: ask_all(backend, requests[:n])


def hf_engine(size: Size, scored: bool, precision: str, batched: bool) -> Ask:
    """`hf` on the CPU, with the embedded judge's weights."""
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    card = replace(load_card("embedded-base"), backend="hf")
    card = replace(card, options={**card.options, "precision": precision})
    tokenizer, model = load_model(card, "cpu")
    backend = unending(HfBackend(card, tokenizer, model), len(tokenizer) - 1)
    requests = make_requests(backend, size, scored=scored)
    if batched:
        return lambda n: ask_all(backend, requests[:n])
    return lambda n: ask_one_by_one(backend, requests[:n])


class Engine:
    """An engine in a process of its own, asked through a pipe."""

    def __init__(
        self, title: str, n_cores: int, n_asked: int, make: Callable[..., Ask], *options: Any
    ) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, n_cores, make, options))
        self._process.start()
        theirs.close()
        self.title = title
        self.work: list[Work] = []
        self._n_asked = n_asked
        # The first answer also pays for what is loaded and compiled on first use.
        self._ask(1)
        print(f"{title}: ready", file=sys.stderr)

    def run_round(self) -> None:
        """Ask for as many judgments as a round has."""
        self.work.append(self._ask(self._n_asked))
        print(f"{self.title}: {self.work[-1]}", file=sys.stderr)

    def close(self) -> None:
        """End the process."""
        self._pipe.send(None)
        self._process.join()

    def _ask(self, n: int) -> Work:
        self._pipe.send(n)
        try:
            work: Work = self._pipe.recv()
        except EOFError:
            raise SystemExit(f"{self.title} broke down; its error is above") from None
        return work


def _serve(
    pipe: Connection, n_cores: int, make: Callable[..., Ask], options: tuple[Any, ...]
) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n_cores])
    ask = make(*options)
    while (n := pipe.recv()) is not None:
        pipe.send(ask(n))


# Part one.


def run_cpu(size: Size, n_alone: int, n_rounds: int, n_cores: int, precision: str) -> None:
    """Ask all engines in turn, and print their table."""

    def engine(title: str, n_asked: int, make: Callable[..., Ask], *options: Any) -> Engine:
        return Engine(title, n_cores, n_asked, make, size, *options)

    n = size.n_requests
    engines = {
        ("critiques", "one"): engine(
            "hf, critiques one at a time", n_alone, hf_engine, False, precision, False
        ),
        ("critiques", "all"): engine(
            "hf, critiques in batches", n, hf_engine, False, precision, True
        ),
        ("critiques", "embedded"): engine("embedded, critiques", n, embedded_engine, False),
        ("verdicts", "one"): engine(
            "hf, verdicts one at a time", n_alone, hf_engine, True, precision, False
        ),
        ("verdicts", "all"): engine("hf, verdicts in batches", n, hf_engine, True, precision, True),
        ("verdicts", "embedded"): engine("embedded, verdicts", n, embedded_engine, True),
    }
    for _ in range(n_rounds):
        for each in engines.values():
            each.run_round()
    print(
        f"CPU, {n_cores} cores, hf in {precision}, {size.prompt_tokens} prompt tokens, "
        f"{size.new_tokens} new tokens, {n_rounds} rounds: median (min-max)\n"
    )
    print("| engine | per minute | prompt tokens/s | new tokens/s |\n|---|---|---|---|")
    for each in engines.values():
        print(
            f"| {each.title} | {spread(work.per_minute for work in each.work)} "
            f"| {spread(work.prompt_tokens / work.seconds for work in each.work)} "
            f"| {spread(work.new_per_second for work in each.work)} |"
        )
        each.close()
    print("\n| ratio within a round | measured | target |\n|---|---|---|")
    for kind, target in (("critiques", f"at least {TARGET_BATCHED}"), ("verdicts", "")):
        for other in ("one", "embedded"):
            first, second = engines[kind, "all"], engines[kind, other]
            pairs = zip(first.work, second.work, strict=True)
            found = spread([work.per_minute / base.per_minute for work, base in pairs], 2)
            aim = target if other == "one" else ""
            print(f"| {first.title} / {second.title} | {found} | {aim} |")


def spread(values: Iterable[float], digits: int = 1) -> str:
    """The median, with the lowest and the highest value."""
    known = sorted(values)
    median = statistics.median(known)
    return f"{median:,.{digits}f} ({known[0]:,.{digits}f}-{known[-1]:,.{digits}f})"


# Part two.


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What a device does at best, measured."""

    bytes_per_second: float
    """Read and written."""
    flops: float
    """Operations per second, of matrix products in bfloat16."""


def measure(device: str, n_bytes: int = _COPIED_BYTES, side: int = _MATRIX_SIDE) -> Machine:
    """A device's bandwidth by copying memory, and its rate by matrix products."""
    import torch

    source = torch.zeros(n_bytes, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    copying = _best_seconds(device, lambda: target.copy_(source))
    left = torch.randn(side, side, device=device).to(torch.bfloat16)
    multiplying = _best_seconds(device, lambda: left @ left)
    return Machine(bytes_per_second=2 * n_bytes / copying, flops=2 * side**3 / multiplying)


def _best_seconds(device: str, do: Callable[[], Any]) -> float:
    import torch

    def wait() -> None:
        if device == "cuda":
            torch.cuda.synchronize()

    seconds: list[float] = []
    for _ in range(5):
        wait()
        started = time.perf_counter()
        do()
        wait()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a model has to move and to compute."""

    n_weights: int
    """Those that each token is multiplied by."""
    weight_bytes: int
    cache_bytes: int
    """Of the keys and values of one token."""
    attention_flops: int
    """Per pair of tokens."""


def shape_of(model: Any) -> Shape:
    """The shape of a causal language model of transformers."""
    config = model.config
    n_weights = sum(weights.numel() for weights in model.parameters())
    n_weights -= model.get_input_embeddings().weight.numel()  # looked up, not multiplied
    width = config.hidden_size // config.num_attention_heads
    shared = 2 * config.num_hidden_layers * config.num_key_value_heads * width
    return Shape(
        n_weights=n_weights,
        weight_bytes=n_weights * model.dtype.itemsize,
        cache_bytes=shared * model.dtype.itemsize,
        attention_flops=4 * config.num_hidden_layers * config.hidden_size,
    )


def read_seconds(shape: Shape, machine: Machine, n_tokens: int) -> float:
    """How long a machine reads a prompt at least: what it computes."""
    flops = 2 * shape.n_weights * n_tokens + shape.attention_flops * n_tokens**2 / 2
    return flops / machine.flops


def write_seconds(shape: Shape, machine: Machine, size: Size, n_rows: int) -> float:
    """How long it writes so many critiques at once at least: what it moves, or what it computes."""
    kept = size.prompt_tokens + size.new_tokens / 2
    moved = (shape.weight_bytes + n_rows * kept * shape.cache_bytes) / machine.bytes_per_second
    computed = 2 * shape.n_weights * n_rows / machine.flops
    return size.new_tokens * max(moved, computed)


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


def run_gpu(size: Size, n_alone: int, n_rounds: int, device: str) -> None:
    """Measure a machine and a model with random weights on it, and print both."""
    import torch

    shape, found = (_LLAMA2_13B, measure(device)) if device == "cuda" else (
        _TINY, measure(device, 2**24, 256)
    )  # fmt: skip
    backend = random_backend(shape, device)
    needs = shape_of(backend._model)
    free = torch.cuda.mem_get_info()[0] if device == "cuda" else 2**30
    n_rows = max(
        1,
        min(
            size.n_requests,
            int(free / (needs.cache_bytes * (size.prompt_tokens + size.new_tokens))),
        ),
    )
    reading = read_seconds(needs, found, size.prompt_tokens)
    writing = write_seconds(needs, found, size, n_rows)
    bounds = {
        "critiques": 60 * n_rows / (n_rows * reading + writing),
        "verdicts": 60 / reading,
        "alone": 60 / (reading + write_seconds(needs, found, size, 1)),
    }
    critiques = make_requests(backend, size, scored=False)
    verdicts = make_requests(backend, size, scored=True)
    continuous = backend._continuous

    def in_batches(requests: Sequence[Request], *, refilled: bool) -> Work:
        backend._continuous = refilled
        return ask_all(backend, requests)

    jobs: list[tuple[str, str, str, Callable[[], Work]]] = [
        ("critiques one at a time", "alone", "",
         lambda: ask_one_by_one(backend, critiques[:n_alone])),
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
    ask_all(backend, [critiques[0], verdicts[0]])
    for _ in range(n_rounds):
        for title, _, _, do in jobs:
            results[title].append(do())
            print(f"{title}: {results[title][-1]}", file=sys.stderr)
    what = "a model of Llama-2-13B's shape" if device == "cuda" else "a TINY model"
    where = torch.cuda.get_device_name() if device == "cuda" else "the CPU, for want of a GPU"
    print(
        f"\n{where}: {what}, RANDOM WEIGHTS, bfloat16, about {size.prompt_tokens} prompt tokens, "
        f"{size.new_tokens} new tokens, {size.n_requests} requests, {n_rounds} rounds"
    )
    if device != "cuda":
        print("This machine has no GPU: the figures show that the script runs, and nothing else.")
    print(
        f"Measured here: {found.bytes_per_second / 1e9:,.0f} GB/s, "
        f"{found.flops / 1e12:,.2f} TFLOP/s in bfloat16. The roofline of batches is that of "
        f"{n_rows} rows at once, which fill the free memory or are all there are.\n"
    )
    print("| | per minute | roofline | share of it | target (H100) |\n|---|---|---|---|---|")
    for title, bound, target, _ in jobs:
        rates = [work.per_minute for work in results[title]]
        share = statistics.median(rates) / bounds[bound]
        print(f"| {title} | {spread(rates)} | {bounds[bound]:,.0f} | {share:.0%} | {target} |")
    pairs = zip(results["critiques in batches"], results["critiques one at a time"], strict=True)
    ratio = spread([work.per_minute / base.per_minute for work, base in pairs], 2)
    print(f"| critiques, batches / one at a time | {ratio} | | | |")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the parts that are wanted and print their tables."""
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
