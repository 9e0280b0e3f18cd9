"""The weights: fetched once, verified, then never asked for again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.backends.embedded.weights import fetch_weights
from autoj.errors import ConfigError, StorageFull, Unavailable
from autoj.fetching import cache_folder
from autoj.judges import load_card

CONTENT = b"weights" * 1000


@pytest.fixture
def card(tmp_path, monkeypatch):
    """A card whose weights lie at an address of this machine."""
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "source.gguf"
    source.write_bytes(CONTENT)
    return replace(
        load_card("embedded-base"),
        revision="sha256:" + hashlib.sha256(CONTENT).hexdigest(),
        options={"url": source.as_uri(), "size_bytes": len(CONTENT)},
    )


def test_weights_are_fetched_once_and_then_found_without_their_source(card, tmp_path):
    seen: list[tuple[int, int]] = []
    path = fetch_weights(card, lambda what, n_bytes, total: seen.append((n_bytes, total)))
    assert path.read_bytes() == CONTENT
    assert path.is_relative_to(tmp_path / "cache")
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    (tmp_path / "source.gguf").unlink()
    assert fetch_weights(card) == path


def test_a_file_with_another_digest_is_not_kept(card, tmp_path):
    (tmp_path / "source.gguf").write_bytes(b"something else")
    with pytest.raises(Unavailable, match=r"sha256 is [0-9a-f]{64}") as caught:
        fetch_weights(card)
    assert "Without: put the file" in str(caught.value)
    assert not list((tmp_path / "cache").rglob("model.*"))


def test_what_each_source_lacked_is_said(card, tmp_path):
    (tmp_path / "source.gguf").unlink()
    with pytest.raises(Unavailable) as caught:
        fetch_weights(card)
    assert "from installed package" in str(caught.value)
    assert "from package index: the card names no package" in str(caught.value)
    assert "from address" in str(caught.value)


def test_an_installed_package_is_the_first_source(card, tmp_path, monkeypatch):
    package = tmp_path / "site" / "weights_package"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "model.gguf").write_bytes(CONTENT)
    monkeypatch.syspath_prepend(tmp_path / "site")
    (tmp_path / "source.gguf").unlink()
    options = {"file": "weights_package/model.gguf"}
    assert fetch_weights(replace(card, options=options)).read_bytes() == CONTENT


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_said(card):
    folder = cache_folder() / "models" / card.revision.removeprefix("sha256:")[:16]
    folder.mkdir(parents=True)
    (folder / "model.gguf.draft").symlink_to("/dev/full")
    with pytest.raises(StorageFull):
        fetch_weights(card)


def test_a_file_of_ones_own_needs_no_digest(tmp_path):
    own = tmp_path / "mine.gguf"
    own.write_bytes(b"x")
    assert fetch_weights(load_card(f"embedded:{own}")) == own
    with pytest.raises(ConfigError, match="no weights file"):
        fetch_weights(load_card(f"embedded:{own}.missing.gguf"))


def test_a_card_without_a_digest_is_refused():
    with pytest.raises(ConfigError, match="sha256"):
        fetch_weights(replace(load_card("embedded-base"), revision="main"))


def test_the_cache_folder_can_be_chosen(monkeypatch):
    monkeypatch.setenv("AUTOJ_CACHE", "somewhere")
    assert cache_folder() == Path("somewhere")
