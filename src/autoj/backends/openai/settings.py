"""Options of a card, validated: the server, its features, and its limits."""

import ipaddress
import os
import re
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from autoj.errors import ConfigError
from autoj.records import JudgeCard
from autoj.trust import KEYS_VARIABLE, is_key_allowed, is_key_name

_PROVIDER = "https://api.openai.com/v1"
_PROVIDERS_KEY = "OPENAI_API_KEY"
_SHIPPED = str(Path(__file__).parents[2] / "judges")
_DAY_SECONDS = 86_400
# One in an hour: slower than that no run ends.
_SLOWEST_PER_MINUTE = 1 / 60
_PLAIN_ADDRESS = re.compile(r"[!-~]{1,500}")
# Fields that this backend sets itself; `extra_body` may not contradict them.
_OURS = {
    "model", "messages", "n", "stream", "stop", "temperature", "top_p", "seed", "max_tokens",
    "max_completion_tokens", "logprobs", "top_logprobs",
}  # fmt: skip


class Settings(BaseModel):
    """The options of a card; `autoj.backends.openai` documents each."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    base_url: str = _PROVIDER
    api_key_variable: str | None = None
    scoring: Literal["none", "logprobs", "prefill"] = "none"
    tokenize: bool = True
    top_logprobs: int = Field(20, ge=2, le=20)
    text_logprobs: bool = False
    concurrency: int = Field(64, ge=1, le=1000)
    timeout_seconds: float = Field(600, gt=0, le=_DAY_SECONDS)
    longest_reply_bytes: int = Field(2_000_000, ge=1000, le=1_000_000_000)
    attempts: int = Field(8, ge=1, le=1000)
    first_wait_seconds: float = Field(0.5, ge=0, le=_DAY_SECONDS)
    longest_wait_seconds: float = Field(120, ge=0, le=_DAY_SECONDS)
    requests_per_minute: float | None = Field(None, ge=_SLOWEST_PER_MINUTE)
    tokens_per_minute: float | None = Field(None, ge=_SLOWEST_PER_MINUTE)
    max_tokens_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    omit: tuple[Literal["temperature", "top_p", "seed", "stop"], ...] = ()
    repetition_penalty: Literal["repetition_penalty", "repeat_penalty"] | None = None
    extra_body: dict[str, Any] = {}

    @field_validator("base_url")
    @classmethod
    def _is_plain_address(cls, address: str) -> str:
        try:
            parts = urlsplit(address)
            plain = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # a port or an address in brackets that is none
            plain = None
        if not plain or not _PLAIN_ADDRESS.fullmatch(address):
            raise ValueError("must be a URL such as http://127.0.0.1:8000/v1")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError(
                "must not contain a user, password or query: put the key in the environment "
                "variable named by options.api_key_variable"
            )
        return address

    @field_validator("api_key_variable")
    @classmethod
    def _is_key_name(cls, variable: str | None) -> str | None:
        if variable is not None and not is_key_name(variable):
            raise ValueError(
                "must name an environment variable that holds a key, such as MY_API_KEY: it ends "
                "in KEY or TOKEN; keys themselves do not belong in a card"
            )
        return variable

    @field_validator("extra_body")
    @classmethod
    def _adds_only(cls, body: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(_OURS & body.keys()):
            raise ValueError(f"{taken[0]} is set by the request itself, not by extra_body")
        return body

    @property
    def key_variable(self) -> str | None:
        """The environment variable with the key; None if the server gets none.

        The provider's own key is sent to the provider only: another server gets a key only if its
        card names the variable.
        """
        if self.api_key_variable is None and self.base_url == _PROVIDER:
            return _PROVIDERS_KEY
        return self.api_key_variable

    @property
    def is_loopback(self) -> bool:
        """True where the server is on this machine, so that no proxy is used."""
        return urlsplit(self.base_url).hostname in ("localhost", "127.0.0.1", "::1")

    @property
    def is_local(self) -> bool:
        """True where the server is on this machine or in its network, so one's own to start."""
        host = urlsplit(self.base_url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_private
        except ValueError:
            return "." not in host or host.endswith((".local", ".internal", ".lan"))


def read_settings(card: JudgeCard, options: Mapping[str, Any]) -> Settings:
    """Reads the settings of a judge.

    Args:
        card: the judge's card, with options of this backend.
        options: further options, which override the card's.

    Raises:
        ConfigError: an option is unknown or invalid. Its value is not shown: it may be a key in
            the wrong place.
    """
    given = {**card.options, **options}
    # The variable of the official client; the card has precedence.
    if not given.get("base_url") and os.environ.get("OPENAI_BASE_URL"):
        given["base_url"] = os.environ["OPENAI_BASE_URL"]
        given.setdefault("api_key_variable", _PROVIDERS_KEY)
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            said = f"unknown option {field!r}; known are {', '.join(Settings.model_fields)}"
        else:
            said = f"options.{field}: {first['msg'].removeprefix('Value error, ')}"
        raise ConfigError(f"judge {card.name!r}: {said}") from None
    if card.decoding.repetition_penalty != 1 and settings.repetition_penalty is None:
        raise ConfigError(
            f"judge {card.name!r}: decoding.repetition_penalty is "
            f"{card.decoding.repetition_penalty:g}, but options.repetition_penalty does not give "
            "the server's name for it",
            hint="It is repetition_penalty for vLLM and SGLang, repeat_penalty for llama.cpp; the "
            "provider itself has no such parameter.",
        )
    return settings


def find_key(card: JudgeCard, settings: Settings, options: Mapping[str, Any]) -> SecretStr | None:
    """Reads the key from the environment; None if the server gets none.

    Args:
        card: the judge's card.
        settings: the card's, with the options.
        options: the options that the caller gave beside the card, and so is trusted with.

    Raises:
        ConfigError: the variable is not set, its value cannot be a key, or the user did not allow
            to send it where the card says.
    """
    variable = settings.key_variable
    if variable is None:
        return None
    if not (card.folder == _SHIPPED or settings.is_loopback or "api_key_variable" in options):
        _check_allowed(card, settings)
    key = os.environ.get(variable, "").strip()
    if any(not "!" <= character <= "~" for character in key):
        # It could not be sent, and the client's error would not name the reason.
        raise ConfigError(
            f"judge {card.name!r}: the value of the environment variable {variable} is not a key: "
            "keys have ASCII letters, digits and signs only",
            hint="Check for a copied quotation mark, space or ellipsis.",
        )
    if key:
        return SecretStr(key)
    raise ConfigError(
        f"judge {card.name!r} needs a key, but the environment variable {variable} is not set",
        hint=f"Set {variable}, or name another variable in options.api_key_variable. For a local "
        "server set options.base_url; it may need no key.",
    )


def _check_allowed(card: JudgeCard, settings: Settings) -> None:
    """Checks that a card's key may be sent to its host: a stranger's card names both."""
    variable = settings.api_key_variable
    host = urlsplit(settings.base_url).netloc
    # The environment is the user's own: it names a gateway beside the provider's key.
    users = (_PROVIDER, os.environ.get("OPENAI_BASE_URL"))
    ours = variable == _PROVIDERS_KEY and settings.base_url in users
    if variable is None or ours or is_key_allowed(variable, host):
        return
    raise ConfigError(
        f"the card of judge {card.name!r} asks to send the key in {variable} to {host}, which you "
        "have not allowed",
        hint=f"If you trust both: autoj --allow-key {variable}@{host} (it is asked once), or set "
        f"{KEYS_VARIABLE}={variable}@{host}.",
    )


def check_proxies(card: JudgeCard, settings: Settings) -> None:
    """Checks the proxies that the environment names; the client's errors would not name them.

    Raises:
        ConfigError: one is not a URL with a host. It is not shown: it may hold a password.
    """
    proxies = {} if settings.is_loopback else urllib.request.getproxies()
    for scheme, address in proxies.items():
        if scheme in ("http", "https", "all") and not _is_proxy(address):
            raise ConfigError(
                f"judge {card.name!r}: the environment names a proxy for {scheme} that is no URL",
                hint=f"Set {scheme.upper()}_PROXY to one such as http://proxy.example:8080.",
            )


def _is_proxy(address: str) -> bool:
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        known = parts.scheme in ("http", "https", "socks4", "socks5", "socks5h")
        return known and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
