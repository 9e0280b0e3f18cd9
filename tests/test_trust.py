"""A key goes where the user allowed it, and only what is named as a key is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj import trust
from autoj.errors import ConfigError


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUTOJ_CONFIG", str(tmp_path / "config"))
    monkeypatch.delenv(trust.KEYS_VARIABLE, raising=False)
    return tmp_path / "config"


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "MY_KEY", "GROQ_API_KEY", "HF_TOKEN", "TOGETHER_APIKEY", "K_API_KEY_2"],
)
def test_names_of_keys(name: str) -> None:
    assert trust.is_key_name(name)


@pytest.mark.parametrize(
    "name",
    ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "SSH_KEY", "DB_PASSWORD", "SIGNING_KEY", "HOME",
     "PATH", "PRIVATE_KEY", "MONKEYS", "", "A B_KEY", "sk-abc", "KEY=1", "KEY\n",
     "X" * 500 + "_KEY",
     "VAULT_TOKEN", "É_KEY"],
)  # fmt: skip
def test_names_of_other_things(name: str) -> None:
    assert not trust.is_key_name(name)


def test_an_allowed_pair_is_kept_and_nothing_else_is_allowed(configuration: Path) -> None:
    assert not trust.is_key_allowed("MY_KEY", "api.example.com")
    path = trust.allow_key("MY_KEY@API.example.com")
    trust.allow_key("MY_KEY@api.example.com")
    assert path == configuration / "allowed-keys.txt"
    assert path.read_text("utf-8") == "MY_KEY@API.example.com\n"
    assert trust.is_key_allowed("MY_KEY", "api.example.com")
    for variable, host in [
        ("OTHER_KEY", "api.example.com"), ("MY_KEY", "example.com"), ("my_key", "api.example.com"),
        ("MY_KEY", "api.example.com:8443"), ("MY_KEY", "api.example.com.evil.net"),
    ]:  # fmt: skip
        assert not trust.is_key_allowed(variable, host)


def test_the_environment_allows_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(trust.KEYS_VARIABLE, "A_KEY@a.example, B_KEY@b.example:8443")
    assert trust.is_key_allowed("A_KEY", "a.example")
    assert trust.is_key_allowed("B_KEY", "b.example:8443")
    assert not trust.is_key_allowed("B_KEY", "a.example")


@pytest.mark.parametrize("grant", ["", "MY_KEY", "@host", "MY_KEY@", "MY_KEY@a b", "HOME@host",
                                   "MY_KEY@host/path", "MY_KEY@host\nOTHER_KEY@host"])  # fmt: skip
def test_what_allows_nothing_is_refused(grant: str, configuration: Path) -> None:
    with pytest.raises(ConfigError, match="does not allow a key"):
        trust.allow_key(grant)
    assert not configuration.exists()


def test_a_damaged_file_allows_nothing(configuration: Path) -> None:
    configuration.mkdir()
    (configuration / "allowed-keys.txt").write_bytes(b"\xff\xfe\0")
    assert not trust.is_key_allowed("MY_KEY", "host")
