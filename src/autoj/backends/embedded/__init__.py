"""The embedded judge: OpenVINO on the CPU, no torch, no server, no key.

Requests with choices are scored by batched prefill; the others are written by continuous batching.
Nothing phones home: importing OpenVINO reports to its makers unless its telemetry package cannot be
imported, so this package, through which we import it, makes that so first.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from autoj.backends._adapters import Adapter, read_adapter
from autoj.backends.embedded.engine import EmbeddedBackend
from autoj.backends.embedded.model import convert
from autoj.backends.embedded.weights import OnFetch, fetch_weights
from autoj.errors import MissingExtra
from autoj.jsonl import sha256_of
from autoj.records import JudgeCard

__all__ = ["EmbeddedBackend", "load"]

sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]


def load(card: JudgeCard, on_fetch: OnFetch | None = None) -> EmbeddedBackend:
    """Load an embedded judge; the first time, its weights are fetched, merged and converted.

    Args:
        card: its options say where the weights come from (`weights.fetch_weights`).
        on_fetch: told of the progress of a fetch.

    Raises:
        MissingExtra: OpenVINO is not installed.
        Unavailable: the weights could not be fetched.
        ConfigError: the card's adapter is damaged, or was trained on other weights.
    """
    packages = ("openvino_genai",) if card.adapter is None else ("openvino_genai", "safetensors")
    if any(importlib.util.find_spec(package) is None for package in packages):
        raise MissingExtra("embedded", f"judge {card.name!r}")
    weights = fetch_weights(card, on_fetch)
    return EmbeddedBackend(card, convert(weights, _adapter(card, weights)))


def _adapter(card: JudgeCard, weights: Path) -> Adapter | None:
    if card.adapter is None:
        return None
    return read_adapter(
        card.locate(card.adapter),
        revision=card.adapter_revision,
        base_sha256=sha256_of(weights),
        judge=card.name,
    )
