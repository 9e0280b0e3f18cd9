"""Clients of other tools against the same server, for `openai_engine.py`.

Each is called as its documentation says, with as many requests at once as ours has. It imports
nothing of ours, so that it runs where those tools are installed; their dependencies are not ours:

    python -m venv peers && peers/bin/pip install prometheus-eval alpaca_eval
    python benchmarks/openai_engine.py --peers peers/bin/python
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

SYSTEM = "You are a fair judge."


def prometheus_eval(url: str, prompts: list[str], at_once: int) -> int:
    """Prometheus-Eval's `AsyncLiteLLM`; its own limit per minute is set out of the way."""
    from prometheus_eval.litellm import AsyncLiteLLM

    client = AsyncLiteLLM(
        "openai/mock", batch_size=at_once, requests_per_minute=10**6, api_base=url
    )
    turns: Any = [
        [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}]
        for prompt in prompts
    ]
    return sum(bool(text) for text in asyncio.run(client.completions(turns)))


def alpaca_eval(url: str, prompts: list[str], at_once: int) -> int:
    """AlpacaEval's `openai_completions`, with a process per request at once."""
    from alpaca_eval.decoders.openai import (
        openai_completions,
    )

    turns = [
        f"<|im_start|>system\n{SYSTEM}\n<|im_end|>\n<|im_start|>user\n{prompt}\n<|im_end|>"
        for prompt in prompts
    ]
    done = openai_completions(
        turns, "gpt-4", max_tokens=256, num_procs=at_once, price_per_token=0.0
    )
    return sum(bool(text) for text in done["completions"])


_MODULES = {
    "prometheus-eval": "prometheus_eval.litellm",
    "alpaca-eval": "alpaca_eval.decoders.openai",
}
PEERS: dict[str, Callable[[str, list[str], int], int]] = {
    "prometheus-eval": prometheus_eval,
    "alpaca-eval": alpaca_eval,
}


def main() -> None:
    """Answers prompts from stdin (a JSON list); prints the number of answers and the time."""
    name, url, at_once = sys.argv[1:]
    prompts = json.load(sys.stdin)
    # AlpacaEval reads them while it is imported.
    os.environ |= {"OPENAI_API_BASE": url, "OPENAI_MAX_CONCURRENCY": at_once}
    os.environ.setdefault("OPENAI_API_KEY", "none")
    try:
        # Before the clock starts: some take seconds to import, once.
        importlib.import_module(_MODULES[name])
    except ImportError as error:
        sys.exit(f"not installed: {error}")
    started = time.monotonic()
    n_answered = PEERS[name](url, prompts, int(at_once))
    seconds = time.monotonic() - started
    sys.stdout.write("\n" + json.dumps({"n_answered": n_answered, "seconds": seconds}) + "\n")


if __name__ == "__main__":
    main()
