"""A judge's readiness is told from what is installed, set and fetched, nothing loaded."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib import metadata

import pytest

from autoj.fetching import weights_file
from autoj.judges import judge_names, load_card
from autoj.judges.readiness import Readiness, _extras, _is_missing, has_gpu

HEAVY = ["torch", "transformers", "vllm", "openvino", "openai", "numpy"]


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    """A machine with every extra, without a GPU, a key and a cache; `absent` uninstalls."""
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HF_HUB_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setattr("autoj.judges.readiness.has_gpu", lambda: False)
    absent: set[str] = set()

    def version(package: str) -> str:
        if package in absent:
            raise metadata.PackageNotFoundError(package)
        return "1"

    monkeypatch.setattr(metadata, "version", version)
    _is_missing.cache_clear()
    yield absent
    _is_missing.cache_clear()


def test_a_judge_of_an_extra_that_is_not_installed_lacks_it(machine):
    card = load_card("embedded-small")
    assert Readiness.of(card).lacks == ()
    assert "openvino" in _extras()["embedded"]
    machine.add("openvino")
    _is_missing.cache_clear()
    assert Readiness.of(card).lacks == ("autoj[embedded]",)
    assert not Readiness.of(card).ready


def test_weights_are_fetched_once(machine):
    card = load_card("embedded-small")
    assert Readiness.of(card) == Readiness(fetches=True, fetch_bytes=98_362_432)
    place = weights_file(card.revision.removeprefix("sha256:"))
    place.parent.mkdir(parents=True)
    place.touch()
    assert Readiness.of(card) == Readiness()


def test_a_model_of_the_hub_is_in_its_cache_or_is_fetched(machine, tmp_path):
    card = load_card("openassistant-rm")
    assert Readiness.of(card) == Readiness(fetches=True)
    folder = tmp_path / "hf" / "hub" / f"models--{card.model.replace('/', '--')}" / "snapshots"
    folder.mkdir(parents=True)
    assert Readiness.of(card) == Readiness()
    assert Readiness.of(replace(card, model=str(tmp_path))) == Readiness()


def test_a_judge_on_vllm_needs_a_gpu(monkeypatch):
    assert Readiness.of(load_card("autoj-13b")).lacks == ("a GPU",)
    monkeypatch.setattr("autoj.judges.readiness.has_gpu", lambda: True)
    assert Readiness.of(load_card("autoj-13b")).ready


def test_an_api_needs_its_key_and_a_server_of_ones_own_none(monkeypatch):
    api, server = load_card("gpt-4"), load_card("local-server")
    assert Readiness.of(api).lacks == ("$OPENAI_API_KEY",)
    assert Readiness.of(server) == Readiness(server="127.0.0.1:8000")
    assert Readiness.of(replace(server, options={})).lacks == ("$OPENAI_API_KEY",)
    named = replace(server, options={**server.options, "api_key_variable": "MY_API_KEY"})
    assert Readiness.of(named).lacks == ("$MY_API_KEY",)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert Readiness.of(api) == Readiness()


@pytest.mark.parametrize("address", ["http://[::1", "http://user:secret@host:1/v1", 7, ""])
def test_a_strange_address_neither_raises_nor_shows_a_secret(address):
    card = replace(load_card("local-server"), options={"base_url": address})
    assert "secret" not in str(Readiness.of(card))


def test_it_is_told_without_the_libraries():
    code = (
        "import sys\n"
        "from autoj.judges import judge_names, load_card\n"
        "from autoj.judges.readiness import Readiness\n"
        "for name in judge_names(): Readiness.of(load_card(name))\n"
        f"print(*sorted(set(sys.modules) & set({HEAVY!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    assert len(judge_names()) > 10
    assert isinstance(has_gpu(), bool)
