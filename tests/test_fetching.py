"""Fetching: verified, whole or not there, from an address of this machine."""

from __future__ import annotations

import hashlib
import http.server
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest
from filelock import FileLock

from autoj import fetching
from autoj.fetching import Checksum, FetchFailed, Source, fetch_file, open_address

CONTENT = b"0123456789" * 250_000
RIGHT = Checksum(kind="sha256", digest=hashlib.sha256(CONTENT).hexdigest())


class Server(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT: whole, torn, without its length, or not at all; counts who asks."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        if self.path != "/unsized":
            self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:1000] if self.path == "/torn" else CONTENT)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    Server.asked.clear()


def source(address: str) -> Source:
    return Source(name=address, open=partial(open_address, address))


def fetch(target: Path, *addresses: str, checksum: Checksum | None = RIGHT, **more: object) -> Path:
    return fetch_file(
        target,
        [source(address) for address in addresses],
        what="it",
        checksum=checksum,
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("path", ["/whole", "/unsized"])
def test_a_file_is_fetched_once_with_progress(tmp_path: Path, address: str, path: str) -> None:
    seen: list[tuple[str, int, int]] = []
    target = tmp_path / "data" / "deep" / "file.json"
    fetch(target, address + path, on_fetch=lambda *told: seen.append(told))
    assert target.read_bytes() == CONTENT
    assert [n_bytes for _, n_bytes, _ in seen] == sorted({n_bytes for _, n_bytes, _ in seen})
    assert seen[-1] == ("it", len(CONTENT), len(CONTENT))
    if path == "/whole":
        assert {total for _, _, total in seen} == {len(CONTENT)}
    assert fetch(target, address + path) == target
    assert Server.asked == [path]
    # Nothing but the file lies in its folder.
    assert [item.name for item in target.parent.iterdir()] == ["file.json"]


def test_a_torn_download_is_not_kept(tmp_path: Path, address: str) -> None:
    for checksum in (RIGHT, None):
        with pytest.raises(FetchFailed, match=r"ended after 1,000 of 2,500,000 bytes"):
            fetch(tmp_path / "file", address + "/torn", checksum=checksum)
    assert not (tmp_path / "file").exists()
    assert not list(tmp_path.glob("*.draft"))


def test_the_beginning_of_the_right_file_is_the_wrong_file(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(CONTENT[:10])
    with pytest.raises(FetchFailed, match="sha256 is"):
        fetch(tmp_path / "file", (tmp_path / "source").as_uri(), size_bytes=len(CONTENT))


def test_a_wrong_file_is_not_kept_and_the_next_source_is_asked(
    tmp_path: Path, address: str
) -> None:
    (tmp_path / "wrong").write_bytes(b"something else")
    wrong = (tmp_path / "wrong").as_uri()
    with pytest.raises(FetchFailed, match=rf"sha256 is [0-9a-f]{{64}}; expected {RIGHT.digest}"):
        fetch(tmp_path / "file", wrong)
    assert not (tmp_path / "file").exists()
    fetch(tmp_path / "file", wrong, address + "/missing", address + "/whole")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert Server.asked == ["/missing", "/whole"]


def test_each_source_says_what_it_lacked(tmp_path: Path, address: str) -> None:
    closed = "http://127.0.0.1:1/file"
    with pytest.raises(FetchFailed) as told:
        fetch(tmp_path / "file", closed, address + "/missing", "no address at all")
    first, second, third = told.value.faults
    assert first.startswith(f"{closed}: ")
    assert "404" in second
    assert "unknown url type" in third


def test_a_stopped_fetch_leaves_nothing_and_can_be_repeated(tmp_path: Path, address: str) -> None:
    def stop(what: str, n_bytes: int, total_bytes: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(tmp_path / "file", address + "/whole", on_fetch=stop)
    assert not list(tmp_path.glob("file*"))
    assert fetch(tmp_path / "file", address + "/whole").read_bytes() == CONTENT


def test_what_a_killed_fetch_left_is_written_over(tmp_path: Path, address: str) -> None:
    (tmp_path / "file.draft").write_bytes(b"x" * 5_000_000)
    assert fetch(tmp_path / "file", address + "/whole").read_bytes() == CONTENT


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_no_fault_of_the_source(tmp_path: Path, address: str) -> None:
    (tmp_path / "file.draft").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        fetch(tmp_path / "file", address + "/whole", address + "/whole")
    assert len(Server.asked) == 1


def test_two_at_once_fetch_it_once(tmp_path: Path, address: str) -> None:
    target = tmp_path / "file"
    threads = [threading.Thread(target=fetch, args=(target, address + "/whole")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.read_bytes() == CONTENT
    assert Server.asked == ["/whole"]


def test_who_waits_for_another_finds_its_file(tmp_path: Path, address: str) -> None:
    target = tmp_path / "file"
    fetch(tmp_path / "other", address + "/whole")
    (lock,) = (tmp_path / "cache" / "locks").iterdir()
    assert lock.suffix == ".lock"
    with FileLock(fetching._lock(target).lock_file):
        waiting = threading.Thread(target=fetch, args=(target, address + "/missing"))
        waiting.start()
        target.write_bytes(CONTENT)
    waiting.join()
    assert "/missing" not in Server.asked


def test_the_id_that_git_gives_a_file_is_a_checksum(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"hello\n")
    known = Checksum(kind="git", digest="ce013625030ba8dba906f756967f9e9ca394464a")
    assert known.of(tmp_path / "file") == known.digest
    stated = subprocess.run(
        ["git", "hash-object", "--no-filters", tmp_path / "file"], capture_output=True, text=True
    )
    if stated.returncode == 0:
        assert stated.stdout.strip() == known.digest
