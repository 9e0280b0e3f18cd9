"""Judges behind an OpenAI-compatible server: the provider, a gateway, vLLM, SGLang, llama.cpp.

Messages are sent unrendered; the server applies its own template, so cards say `wrapper: none`. The
API key is read from the environment and is never written to a file, a log or an error. A card's
options, each with its default:

```
base_url              the URL before /chat/completions (OPENAI_BASE_URL, else the provider's)
api_key_variable      the environment variable with the key (OPENAI_API_KEY for the provider; a
                      server with its own base_url gets no key)
scoring               the source of probabilities for verdict-only protocols (none):
                      none      no source: such protocols are refused
                      logprobs  the judge is asked in words to write a choice and nothing else, and
                                the probabilities of its first tokens are read
                      prefill   the same tokens after a forced opening, for servers that continue
                                an unfinished message (`continue_final_message`); other openings
                                are then forced, too, instead of asked for in words. Exact where
                                the server names tokens or scores prompts (`exact`)
tokenize              asks the server's tokenizer (/tokenize) for the choices' tokens; false for a
                      proxy that has none and answers 5xx instead of refusing: choices are then
                      scored in another way from the first question on (true)
top_logprobs          the number of alternatives that the server lists per token (20)
text_logprobs         asks for the log-probability of each written answer, as Eval-R's samples of
                      a testbed have it (false)
concurrency           requests in flight at once (64)
timeout_seconds       the time limit of one attempt (600)
longest_reply_bytes   the size limit of an answer, unpacked; a longer one is a failure (2000000)
attempts              attempts per request (8)
first_wait_seconds    the wait before the first retry, with jitter; doubles with each retry (0.5)
longest_wait_seconds  the longest wait; a server that asks for more ends the run (120)
requests_per_minute   the account's rate limits (none); tokens are estimated before they are counted
tokens_per_minute
max_tokens_parameter  max_tokens, or max_completion_tokens for newer models (max_tokens)
omit                  parameters that the model rejects: temperature, top_p, seed, stop (none)
repetition_penalty    the server's name for it: repetition_penalty or repeat_penalty (none)
extra_body            further fields for each request, by the server's manual (none)
```
"""

import importlib.util
from typing import Any

from autoj.backends.openai.client import Client
from autoj.backends.openai.engine import OpenAIBackend
from autoj.backends.openai.faults import Place
from autoj.backends.openai.planning import ServerReader
from autoj.backends.openai.settings import check_proxies, find_key, read_settings
from autoj.errors import ConfigError, MissingExtra
from autoj.records import JudgeCard

__all__ = ["OpenAIBackend", "ServerReader", "load", "load_reader"]


def load_reader(card: JudgeCard) -> ServerReader:
    """Loads a judge as far as planning a run needs it, without a key.

    Raises:
        ConfigError: an option is invalid.
    """
    return ServerReader(card, read_settings(card, {}))


def load(card: JudgeCard, **options: Any) -> OpenAIBackend:
    """Loads a judge behind a server; nothing is sent until the first request.

    Args:
        card: the judge's card, with options as above.
        options: further options, which override the card's.

    Raises:
        MissingExtra: the official client or its aiohttp transport is not installed.
        ConfigError: an option is invalid, or the key is not in the environment.
    """
    if any(importlib.util.find_spec(name) is None for name in ("openai", "aiohttp")):
        raise MissingExtra("openai", f"judge {card.name!r}")
    if card.adapter is not None:
        raise ConfigError(
            f"judge {card.name!r}: the card has an adapter, but a server loads adapters itself"
        )
    settings = read_settings(card, options)
    place = Place(
        judge=card.name,
        model=card.model,
        base_url=settings.base_url,
        is_local=settings.is_local,
        key_variable=settings.key_variable,
    )
    key = find_key(card, settings, options)
    check_proxies(card, settings)
    try:
        client = Client(settings, key, place)
    except RuntimeError:
        # The client is installed without the packages of its aiohttp transport.
        raise MissingExtra("openai", f"judge {card.name!r}") from None
    return OpenAIBackend(card, settings, place, client)
