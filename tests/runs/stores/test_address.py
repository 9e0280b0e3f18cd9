"""Addresses, and names that would lead out of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.errors import ConfigError
from autoj.runs.stores.address import StoreAddress, place_of


@pytest.mark.parametrize(
    "text",
    ["s3://bucket/runs/part-1", "gs://b/x", "memory:///a/b", "file:///srv/my runs/a", "S3://b/x/"],
)
def test_an_address_stays_as_it_was_written(text: str) -> None:
    scheme, _, path = text.partition("://")
    assert str(StoreAddress.parse(text)) == f"{scheme.lower()}://{path.rstrip('/')}"


@pytest.mark.parametrize(
    "text",
    [
        "s3://", "s3:///", "s3://bucket/../other", "s3://bucket/./x", "s3://bucket//x",
        "s3://key:secret@bucket/x", "s3://bucket/*", "s3://b/x?y", "s3://b/x#y", "s3://b/%2e%2e/x",
        "s3://b/x\ny", "zip://a::s3://b/c", "https://host/x", "part-1",
        "s3://bucket", "gs://bucket/", "abfs:///a/b", "file://runs/x", "local://x", "file:///",
        "s3://bucket/runs/part=3", "s3://bucket/_p", "s3://bucket/a b", "s3://b/x\u202e",
        "s3://b/manifest-000000000001.json", "s3://b/run.json." + "0" * 40,
    ],
)  # fmt: skip
def test_other_texts_are_no_place_to_write_to(text: str) -> None:
    with pytest.raises(ConfigError):
        StoreAddress.parse(text)


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "/etc", "a\\b", "x\n", "../other", "é"])
def test_a_name_leads_nowhere_else(name: str) -> None:
    with pytest.raises(ConfigError):
        _ = StoreAddress.parse("s3://bucket/runs") / name


def test_a_path_is_no_address() -> None:
    assert place_of("runs/part-1") == Path("runs/part-1")
    assert place_of("C:/runs") == Path("C:/runs")
    assert place_of("s3://b/x") == StoreAddress("s3", "b/x")
    assert StoreAddress("s3", "b/x").digest != StoreAddress("gs", "b/x").digest
