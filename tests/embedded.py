"""The embedded judge's model, fetched and converted once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autoj.backends.embedded import EmbeddedBackend
from autoj.backends.embedded.model import convert
from autoj.backends.embedded.weights import fetch_weights
from autoj.errors import Unavailable
from autoj.judges import load_card


@pytest.fixture(scope="session")
def model_folder() -> Path:
    pytest.importorskip("openvino_genai")
    try:
        return convert(fetch_weights(load_card("embedded-base")))
    except Unavailable as error:
        pytest.skip(f"the embedded judge's weights are not to be had: {error}")


@pytest.fixture(scope="session")
def embedded(model_folder: Path) -> Iterator[EmbeddedBackend]:
    backend = EmbeddedBackend(load_card("embedded-base"), model_folder)
    yield backend
    backend.close()
