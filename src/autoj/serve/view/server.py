"""The loopback server of a page, with the thread that indexes the runs behind it."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from autoj.errors import ConfigError, MissingExtra
from autoj.serve.view.app import HOSTS, make_app, make_report_app
from autoj.serve.view.reported import ReportedRuns
from autoj.serve.view.runs import ViewedRuns

_STEP_SECONDS, _IDLE_SECONDS = 0.5, 1.0


def serve_view(
    viewed: ViewedRuns | ReportedRuns, port: int, started: Callable[[str], None]
) -> None:
    """Serves a page on 127.0.0.1 until the process is interrupted.

    Args:
        viewed: the runs, from `open_view`.
        port: the port; 0 takes one that is free.
        started: called with the page's address when a browser can open it.

    Raises:
        ConfigError: the port is taken.
        MissingExtra: the extra `serve` is not installed.
    """
    with serving(viewed, port) as (address, thread):
        started(address)
        with suppress(KeyboardInterrupt):
            thread.join()


@contextmanager
def serving(viewed: ViewedRuns | ReportedRuns, port: int) -> Iterator[tuple[str, threading.Thread]]:
    """A server in a thread, until the block ends; arguments and errors as of `serve_view`.

    Yields:
        The page's address, and the thread.
    """
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("serve", "autoj view") from None
    stop = threading.Event()
    if isinstance(viewed, ViewedRuns):
        app = make_app(viewed, stop.is_set)
    else:
        app = make_report_app(viewed)
    settings = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2)
    server = uvicorn.Server(settings)
    with _bound(port) as listening:
        serves = threading.Thread(target=server.run, args=([listening],), daemon=True)
        threads = [serves]
        if isinstance(viewed, ViewedRuns):
            threads.append(threading.Thread(target=_index, args=(viewed, stop), daemon=True))
        for thread in threads:
            thread.start()
        try:
            while serves.is_alive() and not server.started:
                time.sleep(0.01)
            yield f"http://{HOSTS[0]}:{listening.getsockname()[1]}/", serves
        finally:
            stop.set()
            server.should_exit = True
            for thread in threads:
                thread.join()


def _bound(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # A port that a server has just left can be taken again at once.
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOSTS[0], port))
    except OSError as error:
        found.close()
        raise ConfigError(
            f"port {port} cannot be used: {error.strerror}", hint="Choose another --port."
        ) from None
    return found


def _index(viewed: ViewedRuns, stop: threading.Event) -> None:
    """Indexes what is there and what comes, until it is told to stop."""
    while not stop.is_set():
        if not viewed.advance(_STEP_SECONDS):
            stop.wait(_IDLE_SECONDS)
