"""The HTTP client of the engine: it reads a limited number of bytes of an answer, unpacked.

A server decides how long its answer is, and a few kilobytes of a compressed one unpack to
gigabytes. So each answer, an error's too, is unpacked piece by piece and given up at the limit.
"""

from typing import Any


class ReplyTooLong(Exception):
    """An answer is longer than the limit; the rest of it was not read."""


def bounded_client(longest_reply_bytes: int, *, trust_env: bool) -> Any:
    """Makes the client, for `openai.AsyncOpenAI(http_client=...)`.

    It follows no redirects: an answer to one could be as long as it likes, and the texts of a run
    would go to an address that its card does not name.

    Args:
        longest_reply_bytes: the limit of an answer's body after unpacking.
        trust_env: True uses the proxies that the environment names.

    Raises:
        RuntimeError: the packages of the aiohttp transport are not installed.
    """
    import openai

    class BoundedClient(openai.DefaultAioHttpClient):
        async def send(self, request: Any, **options: Any) -> Any:
            options |= {"stream": True, "follow_redirects": False}
            response = await super().send(request, **options)
            return await _read(response, longest_reply_bytes)

    return BoundedClient(trust_env=trust_env)


async def _read(response: Any, longest_reply_bytes: int) -> Any:
    """The whole response, unpacked.

    Raises:
        ReplyTooLong: its body is longer than the limit.
    """
    parts: list[bytes] = []
    n_bytes = 0
    try:
        if _is_short(response.headers, longest_reply_bytes):
            await response.aread()
            return response
        async for part in response.aiter_bytes():
            n_bytes += len(part)
            if n_bytes > longest_reply_bytes:
                raise ReplyTooLong
            parts.append(part)
    finally:
        await response.aclose()
    unpacked = {"content-encoding", "content-length", "transfer-encoding"}
    return type(response)(
        response.status_code,
        headers=[pair for pair in response.headers.multi_items() if pair[0] not in unpacked],
        content=b"".join(parts),
        request=response.request,
    )


def _is_short(headers: Any, longest_bytes: int) -> bool:
    """True if the headers keep the body within the limit: the client reads no more than they say.

    Most answers are such; counting their parts and building a response anew takes the client a
    tenth more of the processor's time.
    """
    if "content-encoding" in headers or "transfer-encoding" in headers:
        return False
    stated = headers.get("content-length", "")
    return stated.isdecimal() and int(stated) <= longest_bytes
