"""The embedded judge: OpenVINO on the CPU, no torch, no server, no key.

Requests with choices are scored by batched prefill; the others are written by continuous batching.
Nothing phones home: importing OpenVINO reports to its makers unless its telemetry package cannot be
imported, so this package, through which we import it, makes that so first.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from autoj.backends.embedded.engine import EmbeddedBackend
from autoj.backends.embedded.model import convert
from autoj.backends.embedded.weights import OnFetch, fetch_weights
from autoj.errors import ConfigError, MissingExtra
from autoj.records import JudgeCard

__all__ = ["EmbeddedBackend", "load"]

sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]


def load(card: JudgeCard, on_fetch: OnFetch | None = None) -> EmbeddedBackend:
    """Load an embedded judge; the first time, its weights are fetched and converted.

    Args:
        card: its options say where the weights come from (`weights.fetch_weights`).
        on_fetch: told of the progress of a fetch.

    Raises:
        MissingExtra: OpenVINO is not installed.
        Unavailable: the weights could not be fetched.
    """
    if importlib.util.find_spec("openvino_genai") is None:
        raise MissingExtra("embedded", f"judge {card.name!r}")
    if card.adapter is not None:
        raise ConfigError(f"judge {card.name!r}: this version cannot merge adapters yet")
    folder: Path = convert(fetch_weights(card, on_fetch))
    return EmbeddedBackend(card, folder)
