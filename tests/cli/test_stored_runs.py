"""`--out` with an address, and `autoj merge` of addresses: kills, errors, and what stays local."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("fsspec", reason="the extra `stores` is not installed")
pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")

from autoj.jsonl import whole_lines

from ..backends.openai_server import serving
from ..runs.test_kills_over_http import Counts, write_inputs

N_CASES = 120


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "autoj", *words]


def judging(part: str, address: str) -> list[str]:
    judge = ("judge", "pairs.jsonl", "--judge", "served.yaml", "--orders", "one")
    return command(*judge, "--shard", part, "--out", address)


def on(machine: Path) -> Mapping[str, str]:
    """The environment of a machine with a disk of its own."""
    return {**os.environ, "AUTOJ_CACHE": str(machine), "AUTOJ_SYNC_SECONDS": "1"}


def pieces_in(bucket: Path) -> list[Path]:
    return [*bucket.glob("part-1/ledger.jsonl.*")]


@pytest.mark.slow
def test_a_killed_shard_goes_on_on_another_machine_and_is_merged(tmp_path: Path) -> None:
    counts, bucket = Counts(), tmp_path / "bucket"
    with serving(counts.decide, latency=0.5, keep=False) as server:
        server.on_sent = counts.sent
        write_inputs(tmp_path, server, N_CASES)
        with subprocess.Popen(
            judging("1/2", f"file://{bucket}/part-1"), cwd=tmp_path, env=on(tmp_path / "first"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            while not pieces_in(bucket):
                assert process.poll() is None, "it ended before it could be killed"
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        server.latency = 0.0
        for part in (1, 2):
            done = subprocess.run(
                judging(f"{part}/2", f"file://{bucket}/part-{part}"),
                cwd=tmp_path, env=on(tmp_path / "second"), capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert f"file://{bucket}/part-{part} keeps the run" in done.stderr
    # What had come since the last sync was asked again, and no more than was in flight beside it.
    assert N_CASES <= counts.n_asked <= N_CASES + 32
    merged = subprocess.run(
        command("merge", f"file://{bucket}", "--out", "whole"),
        cwd=tmp_path, env=on(tmp_path / "third"), capture_output=True, text=True,
    )  # fmt: skip
    assert merged.returncode == 0, merged.stderr
    keys = [line[8:72] for line in whole_lines(tmp_path / "whole" / "ledger.jsonl")]
    assert len(keys) == len({*keys}) == N_CASES
    damaged = pieces_in(bucket)[0]
    damaged.write_bytes(damaged.read_bytes()[:-1])
    refused = subprocess.run(
        command("merge", f"file://{bucket}", "--out", "again"),
        cwd=tmp_path, env=on(tmp_path / "fourth"), capture_output=True, text=True,
    )  # fmt: skip
    assert refused.returncode == 2
    assert damaged.name in refused.stderr
    assert "is damaged" in refused.stderr


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://host/part", "nothing can be written to an address of https"),
        ("s3://bucket/../part", "is not a plain address"),
        ("nowhere://bucket/part", "fsspec knows no store 'nowhere'"),
    ],
)
def test_an_address_that_cannot_be_used_is_a_user_error(
    tmp_path: Path, address: str, said: str
) -> None:
    (tmp_path / "pairs.jsonl").write_text('{"query": "q", "responses": ["one", "two"]}\n')
    done = subprocess.run(
        command("judge", "pairs.jsonl", "--judge", "scripted:none", "--out", address),
        cwd=tmp_path, env=on(tmp_path / "disk"), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr.replace("\n", " ")
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.jsonl"]
