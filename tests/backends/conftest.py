"""The Hub answers, as far as the tests of engines know: nothing asks it over a network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends import toy_llama


@pytest.fixture(autouse=True)
def hub_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No engine's test waits for the Hub; what fetches from it has a stand-in."""
    monkeypatch.setattr("autoj.backends._hub.why_unreached", lambda: None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A converted model of two layers with random weights, and the marks of ChatML."""
    pytest.importorskip("openvino_genai")
    from autoj.backends.embedded.model import convert

    weights = tmp_path_factory.mktemp("toy") / "model.gguf"
    toy_llama.write_llama(weights, toy_llama.random_weights(), marks=toy_llama.CHAT_MARKS)
    return convert(weights)


@pytest.fixture(scope="module")
def packed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with weights of 8 bits, as larger models are kept."""
    pytest.importorskip("openvino_genai")
    from autoj.backends.embedded import model

    weights = tmp_path_factory.mktemp("packed") / "model.gguf"
    toy_llama.write_llama(weights, toy_llama.random_weights(), marks=toy_llama.CHAT_MARKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_PACKED_BYTES", 0)
        return model.convert(weights)
