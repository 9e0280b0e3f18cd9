"""A scripted judge behind every name, for doors that load theirs by name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autoj import Judge

from ..rewards.test_trl import Counting, by_length


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    """Rates by how often a response says good; `broken` fails, `odd` cannot be read."""
    loaded = Judge(Counting(by_length))
    monkeypatch.setattr("autoj.rewards.single._loaded", lambda name: loaded)
    yield loaded
    loaded.close()
