"""Runs a service until it is told to stop."""

import asyncio
from collections.abc import Callable, Sequence

from autoj.errors import MissingExtra
from autoj.serve.app import make_app
from autoj.serve.service import Service
from autoj.serve.settings import GRACE_SECONDS, ServiceSettings


def serve(
    judges: Sequence[str],
    settings: ServiceSettings,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Serves judges over HTTP until SIGTERM or SIGINT; what has been asked is answered first.

    Args:
        judges: their names; the first answers where a request names none.
        settings: address, limits and API key.
        say: told where the service listens.

    Raises:
        MissingExtra: the packages of the extra `serve` are not installed.
        UnknownComponent: there is no such judge.
    """
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("serve", "autoj serve") from None
    service = Service(judges, settings)
    config = uvicorn.Config(
        make_app(service),
        http=impatient(settings.body_seconds),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    say(f"serving {', '.join(service.engines)} on http://{settings.host}:{settings.port}")
    uvicorn.Server(config).run()


def impatient(seconds: float) -> type[asyncio.Protocol]:
    """The HTTP protocol of uvicorn, which also hangs up where a request does not begin.

    A connection on which nothing comes, or half a head, would be held for ever.

    Args:
        seconds: the time that the head of a request may take, and the first one to begin.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class Impatient(AutoHTTPProtocol):  # type: ignore[misc]
        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            self._late = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._forget()
            elif self._late is None and not self.transport.is_closing():
                self._late = self.loop.call_later(seconds, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def _forget(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

    return Impatient
