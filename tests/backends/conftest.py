"""The Hub answers, as far as the tests of engines know: nothing asks it over a network."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def hub_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No engine's test waits for the Hub; what fetches from it has a stand-in."""
    monkeypatch.setattr("autoj.backends._hub.why_unreached", lambda: None)
