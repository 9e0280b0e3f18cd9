"""Cards and runs of strangers at the command line: data, whatever they name."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autoj import components, trust
from autoj.backends.scripted import ScriptedBackend
from autoj.jsonl import write_records

CARD = """title: "Hostile \\e]0;owned\\a\\e[2J"
backend: scripted
model: "m\\e[31m"
wrapper: none
protocols: [pairwise-verdict]
context_tokens: 4096
licence: "\\x9b2J\\u202e"
notes: "\\e[8mhidden"
options: {}
"""
ESCAPES = {"\x1b", "\x07", "\x9b", "\u202e"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    write_records(path, [{"id": "1", "query": "Why?", "responses": ["So.", "No."]}])
    return path


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_hostile_card_moves_no_cursor(run: Any, flags: tuple[str, ...]) -> None:
    Path("card.yaml").write_text(CARD, "utf-8")
    code, out, err = run("judges", "show", "card.yaml", *flags)
    assert code == 0
    # In JSON a character beyond ASCII is itself; control characters never are.
    shown = ESCAPES - ({"\x9b", "\u202e"} if flags else set())
    assert not shown & set(out + err)
    assert "Hostile" in out


def test_the_copy_of_a_hostile_card_is_spelled_out_on_a_terminal(
    run: Any, monkeypatch: Any
) -> None:
    Path("card.yaml").write_text(CARD.replace("\\u202e", "\u202e"), "utf-8")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    code, out, _ = run("judges", "show", "card.yaml", "--yaml")
    assert code == 0
    assert not ESCAPES & set(out)
    assert "\\u202e" in out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("backend: {v}", "backend"), ("wrapper: {v}", "wrapper"), ("colour: {v}", "colour"),
        ("context_tokens: {v}", "context_tokens"), ("? {v}\n: 1", "unknown field"),
        ("protocols: {v}", "protocols"),
    ],
)  # fmt: skip
def test_errors_about_a_hostile_card_move_no_cursor(run: Any, change: str, said: str) -> None:
    name = change.partition(":")[0]
    lines = [line for line in CARD.splitlines() if not line.startswith(name)]
    lines.append(change.replace("{v}", '"\\e[2J\\x9b\\u202e"'))
    Path("card.yaml").write_text("\n".join(lines), "utf-8")
    code, out, err = run("judges", "show", "card.yaml")
    assert code == 2
    assert said in err
    assert not ESCAPES & set(out + err)


def test_a_hostile_scenario_moves_no_cursor(run: Any) -> None:
    Path("mine").mkdir()
    text = 'description: "D \\e[2J"\ngroup: "G\\a"\n"n\\e[1m":\n  content: "C\\x9b"\n'
    Path("mine/gardening.yaml").write_text(f"{text}  weight: 3\n  type: content\n", "utf-8")
    for command in (("show", "gardening"), ("show", "gardening", "--message"), ()):
        code, out, err = run("scenarios", *command, "--scenarios", "mine")
        assert code == 0
        assert not ESCAPES & set(out + err)
    Path("mine/gardening.yaml").write_text('"a\\e[2J": {"\\a": "\\x9b"}\n', "utf-8")
    code, out, err = run("scenarios", "check", "mine")
    assert code == 2
    assert not ESCAPES & set(out + err)


ENGINE = """
from autoj.backends.scripted import ScriptedBackend

def load(card, **options):
    return ScriptedBackend(card, lambda request: tuple(-1.0 for _ in request.choices))
"""


@pytest.fixture
def engine(monkeypatch: Any) -> None:
    """An engine that finds all choices alike."""

    def load(card: Any, **_: Any) -> ScriptedBackend:
        return ScriptedBackend(card, lambda request: tuple(-1.0 for _ in request.choices or ()))

    monkeypatch.setattr("autoj.tasks.engine.load_backend", load)


@pytest.mark.usefixtures("engine")
def test_a_run_that_names_a_module_imports_nothing(run: Any, data: Path, monkeypatch: Any) -> None:
    Path("card.yaml").write_text(CARD, "utf-8")
    assert run("judge", data, "--judge", "card.yaml", "--out", "r")[0] == 0
    Path("evil.py").write_text("from pathlib import Path\nPath('ran').touch()\n", "utf-8")
    Path("pack").mkdir()
    Path("pack/evil.py").write_text("from pathlib import Path\nPath('ran').touch()\n", "utf-8")
    monkeypatch.syspath_prepend(os.getcwd())
    for path in Path("r").rglob("*.json*"):
        path.write_text(path.read_text("utf-8").replace("pairwise-verdict", "pack.evil"), "utf-8")
    code, _, err = run("show", "r")
    assert code != 4, err
    assert not Path("ran").exists()


PROTOCOL = "from autoj.protocols.pairwise_verdict import PROTOCOL\n"


@pytest.mark.parametrize(
    ("kind", "old", "new", "code"),
    [
        ("backend", "backend: scripted", "backend: pack.backend", ENGINE),
        ("protocol", "[pairwise-verdict]", "[pack.protocol]", PROTOCOL),
    ],
)
def test_a_module_is_run_after_the_flag_alone(
    run: Any, data: Path, monkeypatch: Any, request: Any, kind: str, old: str, new: str, code: str
) -> None:
    if kind == "protocol":
        request.getfixturevalue("engine")
    Path("pack").mkdir()
    Path(f"pack/{kind}.py").write_text(code, "utf-8")
    monkeypatch.syspath_prepend(os.getcwd())
    monkeypatch.setattr(components, "_allowed", set())
    monkeypatch.delitem(sys.modules, "pack", raising=False)
    Path("card.yaml").write_text(CARD.replace(old, new), "utf-8")
    command = ("judge", data, "--judge", "card.yaml", "--out", "r")
    code_without, _, err = run(*command)
    assert code_without == 2
    assert f"'pack.{kind}' is code of another package" in err
    assert run("--plugin", f"pack.{kind}", *command)[0] == 0


@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("openai", "aiohttp")),
    reason="the extra `openai` is not installed",
)
def test_a_key_is_sent_to_a_host_after_it_was_allowed(
    run: Any, data: Path, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setenv("AUTOJ_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("MY_KEY", "k-12345678")
    monkeypatch.delenv(trust.KEYS_VARIABLE, raising=False)
    options = "base_url: http://api.example.invalid/v1, api_key_variable: MY_KEY"
    options = f"options: {{{options}, first_wait_seconds: 0}}"
    card = CARD.replace("scripted", "openai").replace("options: {}", options)
    Path("card.yaml").write_text(card.replace("pairwise-verdict", "baseline-pairwise"), "utf-8")
    command = ("judge", data, "--judge", "card.yaml", "--out", "r")
    code, _, err = run(*command)
    assert code == 2
    assert "asks to send the key in MY_KEY to api.example.invalid" in err
    assert "autoj --allow-key MY_KEY@api.example.invalid" in err
    assert "k-12345678" not in err
    code, out, err = run("--allow-key", "MY_KEY@api.example.invalid")
    assert (code, out) == (0, "")
    assert "is allowed, and kept in" in err
    monkeypatch.setenv("NO_PROXY", "*")
    code, _, err = run(*command)
    assert "http://api.example.invalid/v1 cannot be reached" in err
    written = [path.read_bytes() for path in Path("r").rglob("*") if path.is_file()]
    assert not any(b"k-12345678" in content for content in written)


def test_a_key_in_a_card_leaves_no_folder(run: Any, data: Path) -> None:
    secret = "sk-verysecret123456"
    Path("card.yaml").write_text(
        CARD.replace("options: {}", f"options: {{api_key: {secret}}}"), "utf-8"
    )
    before = sorted(Path().rglob("*"))
    code, out, err = run("judge", data, "--judge", "card.yaml")
    assert code == 2
    assert "options.api_key" in err
    assert secret not in out + err
    assert sorted(Path().rglob("*")) == before


# Output that cannot be written.


def in_a_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "autoj", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        encoding="latin-1",
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_narrow_encoding_spells_out_what_it_lacks(tmp_path: Path, encoding: str) -> None:
    card = tmp_path / "card.yaml"
    card.write_text(CARD.replace("Hostile", "法官 Müller"), "utf-8")
    done = in_a_process("judges", "show", str(card), PYTHONIOENCODING=encoding, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    assert "\\u6cd5\\u5b98" in done.stdout
    assert ("Müller" in done.stdout) == (encoding == "latin-1")
    done = in_a_process("judges", "show", str(card), "--json", PYTHONIOENCODING=encoding)
    assert "法官" in json.loads(done.stdout.encode("latin-1"))["title"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("flags", [("--json",), ()])
def test_a_full_disk_as_stdout_is_told(flags: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "autoj", "judges", *flags],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("module", ["typer", "rich", "autoj.cli.app", "autoj.cli.judges"])
def test_ctrl_c_while_it_imports_is_a_word(module: str) -> None:
    code = (
        "import sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts()); sys.argv = ['autoj', 'judges']\n"
        "from autoj.__main__ import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr in ("", "Stopped.\n")
