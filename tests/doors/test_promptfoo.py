"""promptfoo's Python contract: a provider, a transform and an assertion."""

from __future__ import annotations

import json

import pytest

from autoj.doors.promptfoo import call_api, get_assert, get_transform
from autoj.errors import BackendError, ConfigError

from . import example

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
