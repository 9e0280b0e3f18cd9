"""Engines that cannot judge, from the command line: one clear line, exit code 2, nothing lost."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from autoj.jsonl import whole_lines, write_records

from ..backends.openai_server import Answer, MockServer, by_hash, error, serving
from ..scripted import Recorder

N_PAIRS = 6

needs_openai = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("openai", "aiohttp")),
    reason="the extra `openai` is not installed",
)
needs_hf = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("torch", "transformers")),
    reason="the extra `hf` is not installed",
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    write_records(
        path,
        [
            {"id": f"case-{n}", "query": f"Riddle {n}?", "responses": [f"One {n}.", f"Two {n}."]}
            for n in range(N_PAIRS)
        ],
    )
    return path


def write_card(path: Path, base_url: str, **options: object) -> Path:
    """The card of a judge behind a server, asked one at a time and impatiently."""
    given = {"base_url": base_url, "concurrency": 1, "first_wait_seconds": 0.001, **options}
    path.write_text(
        "title: A server\nbackend: openai\nmodel: mock\nwrapper: none\n"
        "protocols: [baseline-pairwise]\ncontext_tokens: 4096\noptions:\n"
        + "".join(f"  {name}: {value}\n" for name, value in given.items())
    )
    return path


def told(result: tuple[int, str, str], *said: str) -> None:
    """Check that a command ended with exit code 2 and one line that says all of this."""
    code, out, err = result
    assert (code, out) == (2, ""), err
    assert "Traceback" not in err
    assert not {"\x1b", "\x07"} & set(err)
    (line,) = (line for line in err.splitlines() if line.startswith("error: "))
    hint = err.splitlines()[-1]
    for words in said:
        assert words in f"{line}\n{hint}"


def n_held(folder: str) -> int:
    return len(list(whole_lines(Path(folder) / "ledger.jsonl")))


# Servers.


@needs_openai
def test_a_port_nobody_listens_on(run: Any, data: Path, tmp_path: Path) -> None:
    with serving() as server:
        gone = server.base_url
    card = write_card(tmp_path / "card.yaml", gone)
    command = ("judge", data, "--judge", card, "--out", "r")
    told(run(*command), f"{gone} cannot be reached", "Start the server of judge 'card'")
    # Where a server is is no setting of a run: the same command goes on with it.
    with serving() as server:
        write_card(tmp_path / "card.yaml", server.base_url)
        assert run(*command)[0] == 0
    assert n_held("r") == 2 * N_PAIRS


@needs_openai
def test_a_wrong_key_is_told_and_written_nowhere(
    run: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-proj-verySecret1234567890"
    monkeypatch.setenv("MY_KEY", key)
    with serving(key="another") as server:
        card = write_card(tmp_path / "card.yaml", server.base_url, api_key_variable="MY_KEY")
        result = run("judge", data, "--judge", card, "--out", "r")
    told(result, "rejects the key of judge 'card' (401)", "environment variable MY_KEY")
    assert key not in result[2]
    # A start that fails leaves no folder.
    assert not Path("r").exists()


@needs_openai
def test_a_missing_key(
    run: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    card = write_card(tmp_path / "card.yaml", "http://127.0.0.1:1/v1", api_key_variable="MY_KEY")
    told(run("judge", data, "--judge", card), "environment variable MY_KEY is not set")


@needs_openai
def test_a_model_that_the_server_does_not_know_and_what_it_says_cannot_move_the_cursor(
    run: Any, data: Path, tmp_path: Path
) -> None:
    def known_for_a_while(body: dict[str, Any], n_before: int) -> Answer:
        if server.n_requests <= 5:
            return by_hash(body)
        return error(404, "The model `mock`\x1b[2J\x07 does not exist.", "model_not_found")

    with serving(known_for_a_while) as server:
        command = ("judge", data, "--judge", write_card(tmp_path / "card.yaml", server.base_url))
        command += ("--out", "r")
        told(run(*command), "has no model 'mock' (404)", "It serves mock. Set the card's model")
        assert n_held("r") == 5
        n_asked = _asked_when_mended(run, command, server)
    assert n_asked == 2 * N_PAIRS - 5, "what was answered is not asked again"


def _asked_when_mended(run: Any, command: tuple[Any, ...], server: MockServer) -> int:
    n_before, server.decide = server.n_requests, by_hash
    assert run(*command)[0] == 0
    assert n_held("r") == 2 * N_PAIRS
    return server.n_requests - n_before


# Contexts.


@pytest.mark.parametrize(("command", "protocol"), [("judge", "pairwise"), ("rate", "single")])
def test_a_context_that_is_too_short_for_any_prompt(
    run: Any,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    protocol: str,
) -> None:
    monkeypatch.setattr("autoj.tasks.engine.load_backend", lambda card, **_: Recorder(card=card))
    card = tmp_path / "card.yaml"
    card.write_text(
        "title: A script\nbackend: scripted\nmodel: script\nwrapper: chatml\n"
        f"protocols: [{protocol}]\ncontext_tokens: 256\ndecoding: {{max_tokens: 200}}\n"
    )
    result = run(command, data, "--judge", card)
    told(
        result,
        "the context of judge 'card' is too short: of its 256 tokens an answer may take 200",
        "Lower --max-tokens",
    )
    assert run(command, data, "--judge", card, "--max-tokens", "20")[0] == 0


# Models.


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder in transformers' layout: two layers of noise, and a tokenizer without a template."""
    from ..tiny_llama import make_model, make_tokenizer, save_model

    return save_model(
        tmp_path / "model", make_tokenizer(), make_model(max_position_embeddings=2000)
    )


def write_hf_card(path: Path, model: Path) -> Path:
    path.write_text(
        f"title: Noise\nbackend: hf\nmodel: {model}\nwrapper: chatml\n"
        "protocols: [pairwise-verdict]\ncontext_tokens: 2000\ndecoding: {max_tokens: 16}\n"
        "options: {batch_tokens: 1}\n"
    )
    return path


@needs_hf
def test_a_model_without_a_chat_template(run: Any, data: Path, model: Path) -> None:
    result = run("judge", data, "--judge", f"hf:{model}", "--out", "r")
    told(result, "has no chat template", "chatml, llama2 or none")


@needs_hf
def test_a_model_that_is_not_there(run: Any, data: Path) -> None:
    told(run("judge", data, "--judge", "hf:./nowhere"), "there is no folder 'nowhere'")


@needs_hf
def test_a_gpu_that_has_no_memory_for_a_model(
    run: Any, data: Path, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    import transformers

    def refuse(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", refuse)
    card = write_hf_card(tmp_path / "card.yaml", model)
    told(
        run("judge", data, "--judge", card, "--out", "r"),
        "does not fit into the memory of",
        "Use options.precision bfloat16, options.load_in_4bit, a smaller model",
    )


@needs_hf
def test_a_gpu_whose_memory_ends_at_a_request_keeps_what_is_judged(
    run: Any, data: Path, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from autoj.backends.hf import engine

    scores, n_batches = engine.read_choices, 0

    def until_the_fifth(*given: Any) -> Any:
        nonlocal n_batches
        n_batches += 1
        if n_batches > 4:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return scores(*given)

    command = ("judge", data, "--judge", write_hf_card(tmp_path / "card.yaml", model))
    command += ("--out", "r")
    with monkeypatch.context() as small:
        small.setattr(engine, "read_choices", until_the_fifth)
        told(
            run(*command),
            "has no memory for one request of",
            "Lower context_tokens or decoding.max_tokens of the card",
        )
    assert n_held("r") == 4
    assert run(*command)[0] == 0
    assert n_held("r") == 2 * N_PAIRS
