"""promptfoo's Python contract: a provider, a transform and an assertion."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autoj.doors.promptfoo import call_api, get_assert, get_transform
from autoj.errors import BackendError, ConfigError

from . import EXAMPLES, example

SINGLE = {"protocol": "single"}


def test_a_provider_judges_the_variables_of_a_test(judge):
    def called(**variables):
        return call_api("Why?", {"config": {"protocol": "single"}}, {"vars": variables})

    assert called(response="good good") == {
        "output": {"score": 3.0, "critique": None, "judge": "script"}
    }
    assert "requests failed" in called(response="broken")["error"]
    assert "could not be read" in called(response="odd")["error"]
    assert "no such variable" in called()["error"]
    # promptfoo reads what comes back as JSON.
    assert json.loads(json.dumps(called(response="fair")))["output"]["score"] == 1.0


def test_an_assertion_passes_from_its_threshold_on(judge):
    def asserted(output, **config):
        return get_assert(output, {"prompt": "Why?", "vars": {}, "config": {**SINGLE, **config}})

    found = asserted("good good", threshold=3)
    assert found == {
        "pass": True,
        "score": pytest.approx(2 / 9),
        "reason": "script gives 3 of 10",
        "named_scores": {"autoj_rating": 3.0},
    }
    assert not asserted("good good")["pass"], "6 is the threshold of ratings"
    for broken in ("broken", "odd"):
        with pytest.raises(BackendError, match="has no reward"):
            asserted(broken)
    with pytest.raises(ConfigError, match="none of rating"):
        asserted("good", by="group")


def test_a_transform_keeps_the_output_beside_its_score(judge):
    context = {"prompt": "Why?", "vars": {"autoj_protocol": "single", "other": 1}}
    assert get_transform("good", context) == {"output": "good", "score": 2.0, "critique": None}
    with pytest.raises(BackendError):
        get_transform("broken", context)


def test_the_query_is_the_prompt_or_a_variable(judge):
    chat = json.dumps(
        [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "And why?"}]
    )
    get_assert("good", {"prompt": chat, "vars": {}, "config": SINGLE})
    config = {**SINGLE, "query": "question"}
    get_assert("good", {"prompt": "ignored", "vars": {"question": "Whence?"}, "config": config})
    get_assert("good", {"prompt": "[1] is a list, is it not?", "vars": {}, "config": SINGLE})
    first, second, third = judge.backend.prompts
    assert first.index("Be kind.") < first.index("And why?")
    assert "Whence?" in second
    assert "ignored" not in second
    assert "[1] is a list" in third


def test_the_example_gives_out_what_promptfoo_calls():
    assert example("promptfoo/judge").get_assert is get_assert


def test_what_promptfoo_itself_adds_to_a_config_is_no_setting(judge):
    config = {**SINGLE, "basePath": "/x", "workers": 1, "timeout": 5, "pythonExecutable": "python"}
    found = call_api("Why?", {"config": config}, {"vars": {"response": "good good"}})
    assert found["output"]["score"] == 3.0


# The example's functions, with a scripted judge behind every name.
SCRIPTED = """
import autoj.rewards.single
from autoj import Judge
from tests.rewards.test_trl import Counting, by_length

loaded = Judge(Counting(by_length))
autoj.rewards.single._loaded = lambda name: loaded
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("promptfoo") is None, reason="promptfoo is not installed")
class TestInPromptfoo:
    """The examples in promptfoo itself."""

    def evaluated(self, folder: Path, name: str) -> list[dict[str, Any]]:
        """The results of the tests of an example, by promptfoo."""
        root, result = EXAMPLES.parents[1], folder / "result.json"
        own = (EXAMPLES / "promptfoo" / "judge.py").read_text()
        (folder / "judge.py").write_text(SCRIPTED + own.split('"""', 2)[2])
        text = (EXAMPLES / "promptfoo" / f"{name}.yaml").read_text()
        for named in ("judge: embedded", "autoj_judge: embedded"):
            text = text.replace(f"{named},", f"{named}, protocol: single,")
        text = text.replace(
            "autoj_judge: embedded}", "autoj_judge: embedded, autoj_protocol: single}"
        )
        for response, scripted in (("Four.", "good good"), ('"Red, green and blue."', "broken")):
            text = text.replace(f"response: {response}", f"response: {scripted}")
        (folder / "config.yaml").write_text(text)
        named = {
            "PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo"),
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
            "PROMPTFOO_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")]),
        }
        subprocess.run(
            ["promptfoo", "eval", "-c", "config.yaml", "--no-cache", "-o", str(result)],
            cwd=folder, env={**os.environ, **named}, capture_output=True,
        )  # fmt: skip
        found: list[dict[str, Any]] = json.loads(result.read_text())["results"]["results"]
        return sorted(found, key=lambda each: each["testIdx"])

    def test_a_provider(self, tmp_path: Path):
        judged, failed = self.evaluated(tmp_path, "stored")
        assert judged["success"]
        output = {"score": 3.0, "critique": None, "judge": "script"}
        assert judged["response"]["output"] == output
        # A judgment that failed is an error of its test, not a score.
        assert not failed["success"]
        assert "requests failed" in failed["error"]

    def test_an_assertion_and_a_transform(self, tmp_path: Path):
        asserted, transformed = self.evaluated(tmp_path, "promptfooconfig")
        assert asserted["namedScores"] == {"autoj_rating": 1.0}
        assert asserted["score"] == 0
        assert asserted["success"]
        assert transformed["success"]
        assert transformed["response"]["output"]["score"] == 1.0
