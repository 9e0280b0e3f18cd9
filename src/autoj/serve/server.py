"""Runs a service until it is told to stop."""

from __future__ import annotations

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
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    say(f"serving {', '.join(service.engines)} on http://{settings.host}:{settings.port}")
    uvicorn.Server(config).run()
