"""Code of other packages runs where the user allowed it, or an installed package declares it."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from autoj import components
from autoj.backends import load_backend
from autoj.errors import ConfigError, UnknownComponent
from autoj.records import JudgeCard

CODE = """
from pathlib import Path
Path(__file__).with_name("ran").touch()

def load(card, **options):
    return ("engine of", card.name)
"""


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of somebody else's; the file `ran` says that its code ran."""
    folder = tmp_path / "their_package"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('ran').touch()"
    )
    (folder / "engine.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(components, "_allowed", set())
    monkeypatch.delenv(components.PLUGINS_VARIABLE, raising=False)
    for name in ("their_package", "their_package.engine"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder


def card_of(backend: str) -> JudgeCard:
    return JudgeCard(
        name="theirs", title="Theirs", backend=backend, model="m", wrapper="none",
        protocols=("pairwise",), context_tokens=4096,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["their_package.engine", "their_package.nothing", "os.path"])
def test_a_name_alone_runs_nothing(theirs: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"the backend '{name}' is code of another") as told:
        load_backend(card_of(name))
    assert f"autoj --plugin {name}" in str(told.value.hint)
    assert not (theirs / "ran").exists()


def test_what_is_allowed_is_run(theirs: Path) -> None:
    components.allow("their_package.engine")
    assert load_backend(card_of("their_package.engine")) == ("engine of", "theirs")
    # No other module of theirs is.
    with pytest.raises(ConfigError, match="not allowed"):
        components.load("backends", "their_package.other")


def test_the_environment_allows_it_too(theirs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(components.PLUGINS_VARIABLE, "a.b, their_package.engine")
    assert load_backend(card_of("their_package.engine")) == ("engine of", "theirs")


def test_an_installed_package_declares_it(theirs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint(name="theirs", value="their_package.engine", group="autoj.backends")
    monkeypatch.setattr(components, "entry_points", lambda group: [entry])
    components._entry_points.cache_clear()
    try:
        assert components.is_known("backends", "theirs")
        assert not (theirs / "ran").exists()
        assert load_backend(card_of("theirs")) == ("engine of", "theirs")
        assert load_backend(card_of("their_package.engine")) == ("engine of", "theirs")
    finally:
        components._entry_points.cache_clear()


def test_a_module_that_is_no_backend_is_told() -> None:
    components.allow("os.path")
    try:
        with pytest.raises(ConfigError, match=r"module 'os\.path' is no backend"):
            load_backend(card_of("os.path"))
    finally:
        components._allowed.discard("os.path")


@pytest.mark.parametrize(
    "name", ["posixpath", "sys", "base", "_loading", "", "their_package", "../my.py"]
)
def test_a_plain_name_is_one_of_ours_or_unknown(theirs: Path, name: str) -> None:
    with pytest.raises(UnknownComponent):
        components.load("backends", name)
    with pytest.raises(ConfigError, match="is not a module of another package"):
        components.allow(name)
