"""The example of a scorer for Inspect, called with Inspect's own records."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

import pytest

from autoj import Judge

from ..rewards.test_trl import Counting, by_length

pytest.importorskip("inspect_ai", reason="Inspect is not installed")
EXAMPLE = Path(__file__).parents[2] / "examples" / "doors" / "inspect_autoj.py"


def example():
    """The example as a module; of a path run by `runpy` the names are gone afterwards."""
    spec = importlib.util.spec_from_file_location("inspect_autoj", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")
def test_samples_are_rated_and_failures_are_unscored(monkeypatch):
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    monkeypatch.setattr(Judge, "load", lambda name: Judge(Counting(by_length)))
    score = example().autoj_rating(protocol="single")

    def scored(text):
        state = TaskState(
            model="mockllm/model",
            sample_id=1,
            epoch=1,
            input="Why?",
            messages=[],
            output=ModelOutput.from_content("mockllm/model", text),
        )
        return asyncio.run(score(state, Target("")))

    assert scored("good good").value == 3
    for text in ("broken", "odd"):
        found = scored(text)
        assert found.value != found.value, "Inspect marks a score as unscored by NaN"
        assert found.reason == "grader_failed"
