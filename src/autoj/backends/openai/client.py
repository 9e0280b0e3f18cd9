"""One attempt: sends a body through the official client, returns a reply or a fault."""

import asyncio
from typing import Any

from pydantic import SecretStr

from autoj.backends.openai.bounded import ReplyTooLong, bounded_client
from autoj.backends.openai.faults import Fault, Place, Scrub, fault_of_connection, fault_of_status
from autoj.backends.openai.replies import Reply, read_reply
from autoj.backends.openai.settings import Settings

_CONNECT_SECONDS = 10.0
_LIST_SECONDS = 5.0
_MOST_LISTED = 5
_NOT_IMPLEMENTED = 501


class Client:
    """Sends bodies, within one event loop. The caller retries."""

    def __init__(self, settings: Settings, key: SecretStr | None, place: Place) -> None:
        import openai

        self._seconds = settings.timeout_seconds
        self._place = place
        self._base_url = settings.base_url.rstrip("/")
        self._scrub = Scrub(key)
        # The client requires a key; a server without one is sent none.
        self._headers = {} if key is not None else {"Authorization": openai.Omit()}
        self._api: Any = openai.AsyncOpenAI(
            api_key="none" if key is None else key.get_secret_value(),
            base_url=settings.base_url,
            timeout=openai.Timeout(
                settings.timeout_seconds, connect=min(_CONNECT_SECONDS, settings.timeout_seconds)
            ),
            max_retries=0,
            # No proxy for a server on this machine.
            http_client=bounded_client(
                settings.longest_reply_bytes, trust_env=not settings.is_loopback
            ),
        )

    async def ask(self, body: dict[str, Any], *, scored: bool) -> Reply | Fault:
        """Sends one body.

        Args:
            body: all fields of a chat completion.
            scored: whether log-probabilities were asked for.
        """
        import openai

        try:
            # The client's own limit is per read, which a server that sends slowly never reaches.
            async with asyncio.timeout(self._seconds):
                # The client's method for completions looks through its parameters and models the
                # answer, which takes longer than sending and receiving them.
                answer = await self._api.post(
                    "/chat/completions",
                    cast_to=bytes,
                    body=body,
                    options={"headers": self._headers},
                )
        except openai.APIStatusError as error:
            return fault_of_status(
                error.status_code, error.response.headers, error.body, self._place, self._scrub
            )
        except Exception as error:
            # The client lets exceptions of three libraries through, and some of the system's.
            return fault_of_connection(error, self._place, self._scrub)
        return read_reply(answer, self._place, self._scrub, scored=scored)

    async def token_ids(self, text: str) -> list[int] | Fault | None:
        """The numbers of a text's tokens by the server's tokenizer; None if it has none.

        Args:
            text: the text, which gets no special tokens.

        Returns:
            A fault where the server may say it later.
        """
        import aiohttp
        import openai

        url = self._base_url.removesuffix("/v1") + "/tokenize"
        body = {"model": self._place.model, "prompt": text, "add_special_tokens": False}
        try:
            async with asyncio.timeout(_LIST_SECONDS):
                found = await self._api.post(
                    url, cast_to=object, body=body, options={"headers": self._headers}
                )
        except openai.APIStatusError as error:
            fault = fault_of_status(
                error.status_code, error.response.headers, error.body, self._place, self._scrub
            )
            return fault if fault.retryable and error.status_code != _NOT_IMPLEMENTED else None
        except (openai.APIConnectionError, aiohttp.ClientError, OSError) as error:
            fault = fault_of_connection(error, self._place, self._scrub)
            return fault if fault.retryable else None
        # Whatever else goes wrong, choices are then scored in another way.
        except Exception:
            return None
        tokens = found.get("tokens") if isinstance(found, dict) else None
        if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
            return None
        return tokens

    async def model_names(self) -> list[str]:
        """Lists a few of the server's models; none if it does not list them."""
        import aiohttp
        import openai

        try:
            async with asyncio.timeout(_LIST_SECONDS):
                page = await self._api.models.list(extra_headers=self._headers)
                names = [self._scrub(model.id) for model in page.data]
        except (
            openai.OpenAIError,
            aiohttp.ClientError,
            OSError,
            AttributeError,
            TypeError,
            ReplyTooLong,
        ):
            return []
        return names[:_MOST_LISTED]

    async def close(self) -> None:
        """Closes the connections."""
        await self._api.close()
