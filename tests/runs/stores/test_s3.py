"""A stored run on S3, where s3fs and an S3 of this machine (moto) are installed."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("s3fs", reason="s3fs is not installed")
pytest.importorskip("moto.server", reason="moto[server] is not installed")

from moto.server import ThreadedMotoServer

from autoj.errors import ConfigError, DataError, RunBusy, Unavailable
from autoj.runs.stores import objects as seam
from autoj.runs.stores.address import StoreAddress
from autoj.runs.stores.fetching import fetched_copy
from autoj.runs.stores.manifest import read_manifest
from autoj.runs.stores.objects import Objects
from autoj.runs.stores.stored_run import stored_run

from .test_stored_run import NEVER, add, live_elsewhere, objects_of, read

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def address(server: str, monkeypatch: pytest.MonkeyPatch) -> StoreAddress:
    import s3fs

    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "an-id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setattr(seam, "_WAITS_SECONDS", (0.0,))
    bucket = uuid.uuid4().hex
    s3fs.S3FileSystem(skip_instance_cache=True).mkdir(bucket)
    return StoreAddress.parse(f"s3://{bucket}/runs/part")


def test_a_run_goes_on_elsewhere(address: StoreAddress, machine: Callable[[str], None]) -> None:
    with stored_run(address, seconds=NEVER) as run:
        (run.folder / "run.json").write_text("{}\n")
        for number in range(9):
            add(run.folder, str(number))
            run.sync()
    machine("second")
    with stored_run(address, seconds=NEVER) as again:
        add(again.folder, "9")
    machine("first")
    assert read(fetched_copy(address)) == [str(number) for number in range(10)]


def test_the_first_of_two_creators_wins(address: StoreAddress) -> None:
    for content in (b"first", b"second"):
        Objects(address).create("mark", content)
    assert Objects(address).read("mark") == b"first"


def test_a_slow_writer_is_refused(address: StoreAddress, machine: Any) -> None:
    def work() -> None:
        with stored_run(address, seconds=NEVER):
            live_elsewhere(address, read_manifest(Objects(address)).number + 1)

    with pytest.raises(RunBusy, match="was taken over"):
        work()


def test_a_truncated_object_is_an_error(address: StoreAddress, machine: Any) -> None:
    with stored_run(address, seconds=NEVER) as run:
        add(run.folder, "one", "two")
    name = objects_of(address)[0]
    Objects(address).remove(name)
    Objects(address).create(name, b"on")
    machine("second")
    with pytest.raises(DataError, match="is damaged"):
        fetched_copy(address)


def test_what_is_missing_is_said(
    address: StoreAddress, machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        pytest.raises(ConfigError, match="Make the bucket first"),
        stored_run(StoreAddress.parse("s3://no-such-bucket/part")),
    ):
        pass
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    with pytest.raises(ConfigError, match="may not be used from here"), stored_run(address):
        pass
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "an-id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(Unavailable, match="cannot be reached"), stored_run(address):
        pass
