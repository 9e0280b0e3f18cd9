"""Figures of a service in the format of Prometheus."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from autoj.errors import MissingExtra
from autoj.serve.engine import Engine

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Metrics:
    """Counts requests and judgments, in a registry of its own.

    Args:
        engines: the judges, whose queues are looked at when the figures are asked for.
    """

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        try:
            import prometheus_client as client
        except ImportError:
            raise MissingExtra("serve", "autoj serve") from None
        self.content_type = client.CONTENT_TYPE_LATEST
        """The media type of the figures."""
        self._write = client.generate_latest
        self._registry = client.CollectorRegistry()
        self._seconds = client.Histogram(
            "autoj_request_seconds",
            "Time of a request, by endpoint and HTTP status (499: the client left).",
            ["path", "status"],
            registry=self._registry,
            buckets=_BUCKETS,
        )
        self._answers = client.Counter(
            "autoj_answers",
            "Answers of judges: judged, unreadable, failed, or a prompt's text (written).",
            ["judge", "state"],
            registry=self._registry,
        )
        waiting = client.Gauge(
            "autoj_waiting", "Subjects that wait for a judge.", ["judge"], registry=self._registry
        )
        ready = client.Gauge(
            "autoj_ready", "1 where a judge is ready.", ["judge"], registry=self._registry
        )
        for name, engine in engines.items():
            waiting.labels(name).set_function(_waiting(engine))
            ready.labels(name).set_function(_ready(engine))

    def on_request(self, path: str, status: int, seconds: float) -> None:
        """Notes a request that is over."""
        self._seconds.labels(path, str(status)).observe(seconds)

    def count(self, judge: str, states: Iterable[str]) -> None:
        """Counts answers by their outcome."""
        for state, n_answers in Counter(states).items():
            self._answers.labels(judge, state).inc(n_answers)

    def text(self) -> bytes:
        """All figures."""
        return bytes(self._write(self._registry))


def _waiting(engine: Engine) -> Any:
    return lambda: engine.n_waiting


def _ready(engine: Engine) -> Any:
    return lambda: float(engine.state == "ready")
