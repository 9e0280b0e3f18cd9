"""Pairs judged through a real server: llama.cpp's, with the embedded judge's weights.

It runs where `xllamacpp` is installed and the weights are in the cache already; nothing is fetched.
`AUTOJ_REAL_PAIRS` judges fewer pairs than 20.
"""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")

from autoj.backends.openai import OpenAIBackend, load
from autoj.datasets import open_cases
from autoj.errors import ConfigError
from autoj.fetching import cache_folder
from autoj.jsonl import read_records, write_records
from autoj.judges import load_card
from autoj.records import Completion, Decoding, Failure, JudgeCard, Judgment, Unreadable
from autoj.runs import judge_run, make_spec, open_run
from autoj.runs.case_record import CaseRecord

from ..embedded import N_SUMS, judged, probabilities
from .test_openai import ask

pytestmark = pytest.mark.slow

START_SECONDS = 120
CARD = JudgeCard(
    name="llama.cpp",
    title="SmolLM2-135M-Instruct behind llama.cpp's server",
    backend="openai",
    model="smollm2",
    wrapper="none",
    protocols=("pairwise-verdict", "pairwise"),
    context_tokens=4096,
    decoding=Decoding(max_tokens=64, repetition_penalty=1.1),
)
OPTIONS = {"scoring": "prefill", "repetition_penalty": "repeat_penalty", "concurrency": 2}
# The server's own thread pool keeps on when the model is done, so it is a process of its own.
SERVER = """
import sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.port = int(sys.argv[2])
params.n_ctx, params.n_parallel = 8192, 2
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
params.warmup = False
# The template in the file adds a system message; the embedded judge reads none.
params.chat_template = "chatml"
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def weights() -> Path:
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed: pip install xllamacpp")
    digest = str(load_card("embedded-small").revision).removeprefix("sha256:")
    path = cache_folder() / "models" / digest[:16] / "model.gguf"
    if not path.is_file():
        pytest.skip("the embedded judge's weights are not in the cache: run `autoj judge` once")
    return path


@pytest.fixture(scope="module")
def address(weights: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(weights), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = next((line.strip() for line in process.stdout if line.startswith("http")), "")
        assert said, "the server did not start"
        assert is_healthy(said)
        yield f"{said}/v1"
        process.kill()


def is_healthy(address: str) -> bool:
    """Whether the server says that its model is loaded."""
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=START_SECONDS) as answer:
            return bool(answer.status == 200)
    except urllib.error.URLError:
        return False


@pytest.fixture(scope="module")
def backend(address: str) -> Iterator[OpenAIBackend]:
    loaded = load(CARD, base_url=address, **OPTIONS)
    yield loaded
    loaded.close()


def test_verdicts_are_scored_after_a_forced_opening(
    tmp_path: Path, sums_file: Path, backend: OpenAIBackend
) -> None:
    spec = make_spec("judge", CARD, protocol="pairwise-verdict")
    with open_run(tmp_path / "run", spec, open_cases(sums_file)) as folder:
        counts = judge_run(folder, spec, backend)
        verdicts = list(folder.verdicts())
    assert (counts.n_answered, counts.n_failed) == (2 * N_SUMS, 0)
    assert len(verdicts) == N_SUMS
    for verdict in verdicts:
        assert verdict.n_unreadable == 0
        assert verdict.probabilities is not None
        assert sum(verdict.probabilities) == pytest.approx(1)
        assert max(verdict.probabilities) < 1
    answers = list(read_records(tmp_path / "run" / "ledger.jsonl", Completion))
    assert all(answer.prompt_tokens > 100 for answer in answers)
    # Real probabilities differ from pair to pair.
    assert len({answer.choice_logprobs for answer in answers}) == len(answers)


def test_critiques_are_written(tmp_path: Path, sums_file: Path, backend: OpenAIBackend) -> None:
    spec = make_spec("judge", CARD, protocol="pairwise")
    with open_run(tmp_path / "run", spec, open_cases(sums_file)) as folder:
        counts = judge_run(folder, spec, backend)
        verdicts = list(folder.verdicts())
    assert (counts.n_answered, counts.n_failed) == (2 * N_SUMS, 0)
    assert [verdict.case_id for verdict in verdicts] == [f"sum-{n}" for n in range(N_SUMS)]
    answers = list(read_records(tmp_path / "run" / "ledger.jsonl", Completion))
    assert all(answer.text.strip() for answer in answers)
    assert all(0 < answer.completion_tokens <= 64 for answer in answers)


def test_the_same_weights_give_about_the_same_probabilities_as_embedded(
    tmp_path: Path,
    sums_file: Path,
    backend: OpenAIBackend,
    request: pytest.FixtureRequest,
) -> None:
    engines = {"openai": backend, "embedded": request.getfixturevalue("embedded")}
    found = [
        probabilities(judged(tmp_path / name, sums_file, engine))
        for name, engine in engines.items()
    ]
    gaps = [
        max(abs(one - other) for one, other in zip(ours, theirs, strict=True))
        for ours, theirs in zip(*found, strict=True)
    ]
    # llama.cpp rounds activations to 8 bits where weights are packed; ours are unpacked.
    assert sum(gaps) / len(gaps) < 0.1


def readable(records: list[CaseRecord]) -> dict[tuple[str, tuple[int, ...], bool], bool]:
    """Per question (which case, in which order, scored or written) whether its answer was read."""
    return {
        (record.case.id, asked.shown, asked.scored): isinstance(judgment, Judgment)
        and not isinstance(judgment.reading, Unreadable)
        for record in records
        for asked, judgment in record.judgments
    }


def test_texts_can_be_read_where_those_of_embedded_can(
    tmp_path: Path,
    sums_file: Path,
    backend: OpenAIBackend,
    request: pytest.FixtureRequest,
) -> None:
    engines = {"openai": backend, "embedded": request.getfixturevalue("embedded")}
    ours, theirs = (
        readable(judged(tmp_path / name, sums_file, engine, critique=True, max_tokens=128))
        for name, engine in engines.items()
    )
    # Both orders of each pair, and the critique of its verdict.
    assert len(ours) == 3 * N_SUMS
    assert ours == theirs
    assert any(ours.values())


def test_a_prompt_beyond_the_servers_context_fails_alone(tmp_path: Path, address: str) -> None:
    path = tmp_path / "long.jsonl"
    texts = {"short": "It is four.", "long": "It is four, as anybody can count. " * 900}
    write_records(
        path,
        [
            {"id": name, "query": "What is 2 + 2?", "responses": [text, "Five."]}
            for name, text in texts.items()
        ],
    )
    card = replace(CARD, context_tokens=200_000)
    spec = make_spec("judge", card, protocol="pairwise-verdict")
    engine = load(card, base_url=address, **OPTIONS)
    with open_run(tmp_path / "run", spec, open_cases(path)) as folder:
        judge_run(folder, spec, engine)
        verdicts = {verdict.case_id: verdict for verdict in folder.verdicts()}
    engine.close()
    assert (verdicts["short"].n_failed, verdicts["long"].n_failed) == (0, 2)
    failures = list(read_records(tmp_path / "run" / "failures.jsonl", Failure))
    assert {failure.error for failure in failures} == {"ContextOverflow"}


def test_a_wrong_path_of_the_server_is_said(address: str) -> None:
    lost = load(CARD, base_url=address + "/nowhere", repetition_penalty="repeat_penalty")
    with pytest.raises(ConfigError, match="404"):
        list(lost.complete([ask()]))
    lost.close()
