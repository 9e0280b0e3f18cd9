"""Any OpenAI-compatible server as a judge: the provider, a gateway, vLLM, SGLang, llama.cpp.

Messages are sent as they are; the server applies its own template, so cards say `wrapper: none`.
The key is read from the environment and stands in no file, log or error. A card's options, each
with what holds without it:

```
base_url              the address before /chat/completions (OPENAI_BASE_URL, else the provider's)
api_key_variable      the environment variable with the key (OPENAI_API_KEY for the provider; a
                      server with a base_url of its own gets no key)
scoring               how verdict-only protocols get probabilities (none):
                      none      not at all: such protocols are refused
                      logprobs  the judge is asked in words to write a choice and nothing else, and
                                the probabilities of its first tokens are read
                      prefill   the same tokens after a forced opening, where the server goes on
                                from an unfinished message (`continue_final_message`); other
                                openings are then forced, too, and not asked for in words
top_logprobs          how many alternatives the server lists per token (20)
concurrency           requests under way at once (64)
timeout_seconds       for one try (600)
attempts              tries per request (8)
first_wait_seconds    before the second try, with jitter; doubles from try to try (0.5)
longest_wait_seconds  the most that is waited; a server that asks for more ends the run (120)
requests_per_minute   the account's limits (none); tokens are estimated before they are counted
tokens_per_minute
max_tokens_parameter  max_tokens, or max_completion_tokens for newer models (max_tokens)
omit                  parameters that the model does not take: temperature, top_p, seed, stop (none)
repetition_penalty    by which name the server takes it: repetition_penalty or repeat_penalty (none)
extra_body            more fields for each request, as the server's own manual names them (none)
```
"""

from __future__ import annotations

import importlib.util
from typing import Any

from autoj.backends.openai.client import Client
from autoj.backends.openai.engine import OpenAIBackend
from autoj.backends.openai.faults import Place
from autoj.backends.openai.settings import find_key, read_settings
from autoj.errors import ConfigError, MissingExtra
from autoj.records import JudgeCard

__all__ = ["OpenAIBackend", "load"]


def load(card: JudgeCard, **options: Any) -> OpenAIBackend:
    """Load a judge behind a server; nothing is sent before the first request.

    Args:
        card: its options are those of this file.
        options: the same, going before the card's.

    Raises:
        MissingExtra: the official client or its aiohttp transport is not installed.
        ConfigError: an option makes no sense, or the key is not in the environment.
    """
    if any(importlib.util.find_spec(name) is None for name in ("openai", "aiohttp")):
        raise MissingExtra("openai", f"judge {card.name!r}")
    if card.adapter is not None:
        raise ConfigError(
            f"judge {card.name!r}: a server merges adapters itself; the card names one"
        )
    settings = read_settings(card, options)
    place = Place(
        judge=card.name,
        model=card.model,
        base_url=settings.base_url,
        key_variable=settings.key_variable,
    )
    key = find_key(card, settings)
    try:
        client = Client(settings, key, place)
    except RuntimeError:
        # The client is there without what its aiohttp transport needs.
        raise MissingExtra("openai", f"judge {card.name!r}") from None
    return OpenAIBackend(card, settings, place, client)
