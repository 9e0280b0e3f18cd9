"""The Hub out of reach, and models that bring code or pickles of their own."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub", reason="the extra `hf` is not installed")
pytest.importorskip("torch", reason="the extra `hf` is not installed")

import torch
from huggingface_hub import constants

from autoj.backends import _hub, load_backend
from autoj.errors import ConfigError, Unavailable
from autoj.judges import load_card

# Every test's hub answers, but for those of the question itself.
WHY_UNREACHED = _hub.why_unreached


class Teapot(http.server.BaseHTTPRequestHandler):
    """Answers, if only with an error."""

    def do_HEAD(self) -> None:
        self.send_error(418)

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Teapot)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_any_answer_means_that_the_hub_is_there(monkeypatch, address: str) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", address)
    assert WHY_UNREACHED() is None
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert WHY_UNREACHED() == "HF_HUB_OFFLINE is set"


@pytest.mark.parametrize("engine", ["hf", "scalar"])
def test_a_model_of_the_hub_without_a_network_fails_at_once_with_one_message(
    monkeypatch, capfd, caplog, tmp_path: Path, engine: str
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setattr(_hub, "why_unreached", WHY_UNREACHED)
    with pytest.raises(Unavailable, match=r"Hub cannot be reached \(.*refused.*'no-org/no-model'"):
        load_backend(load_card(f"{engine}:no-org/no-model"))
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""


class Ours:
    """Builds a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)


CONFIG = (
    '{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8, '
    '"intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 4}'
)
TOKENIZER = (
    '{"version": "1.0", "added_tokens": [], "model": {"type": "WordLevel", '
    '"vocab": {"a": 0, "b": 1, "c": 2, "d": 3}, "unk_token": "a"}}'
)


def folder_of(path: Path, config: str = CONFIG) -> Path:
    path.mkdir()
    (path / "config.json").write_text(config, "utf-8")
    (path / "tokenizer.json").write_text(TOKENIZER, "utf-8")
    named = '{"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "b"}'
    (path / "tokenizer_config.json").write_text(named, "utf-8")
    return path


@pytest.mark.parametrize("engine", ["hf", "scalar"])
def test_a_pickle_with_code_builds_nothing(tmp_path: Path, engine: str) -> None:
    folder = folder_of(tmp_path / "model")
    torch.save({"model.norm.weight": Ours(tmp_path / "built")}, folder / "pytorch_model.bin")
    with pytest.raises(ConfigError, match="is not a"):
        load_backend(load_card(f"{engine}:{folder}"))
    assert not (tmp_path / "built").exists()


@pytest.mark.parametrize("engine", ["hf", "scalar"])
def test_a_models_own_code_is_not_run_and_nobody_is_asked(
    monkeypatch, tmp_path: Path, engine: str
) -> None:
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked on stdin"))
    named = '"AutoConfig": "theirs.Config", "AutoModelForCausalLM": "theirs.Model", '
    named += '"AutoModelForSequenceClassification": "theirs.Model"'
    config = CONFIG.replace('"model_type": "llama"', '"model_type": "theirs"')
    config = config.replace("{", f'{{"auto_map": {{{named}}}, ', 1)
    folder = folder_of(tmp_path / "model", config)
    code = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()"
    (folder / "theirs.py").write_text(code, "utf-8")
    with pytest.raises(ConfigError, match="comes with code of its own, which is not run") as told:
        load_backend(load_card(f"{engine}:{folder}"))
    assert "--trust-remote-code" in str(told.value.hint)
    assert not (tmp_path / "ran").exists()
