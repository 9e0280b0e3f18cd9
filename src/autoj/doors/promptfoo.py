"""A judge in promptfoo: as a provider, as a transform of outputs, and as an assertion.

**Source:** promptfoo 0.123, `src/assertions/index.ts`, `src/assertions/python.ts`: a provider's
`call_api(prompt, options, context)` returns `{"output"}` or `{"error"}`, which is an error of
the test; what a transform raises is one, too; but what `get_assert(output, context)` raises becomes
a failed assertion with the score 0, as assertions have no word for "not judged".
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from autoj.errors import AutojError, ConfigError, DataError
from autoj.records import Case
from autoj.rewards.scoring import RewardBy, Scored, score_one
from autoj.rewards.single import case_to_score, loaded_judge, required
from autoj.rewards.turns import query_of

_SCALES: Mapping[RewardBy, tuple[float, float]] = {
    "rating": (1.0, 10.0),
    "expected-rating": (1.0, 10.0),
    "reference": (0.0, 1.0),
}
_OWN = {"judge", "by", "query", "response", "reference", "threshold"}
_PROMPTFOOS = {"basePath", "pythonExecutable", "timeout", "workers"}
"""Names that promptfoo adds to the `config` of a provider, or reads there for itself."""


def call_api(prompt: str, options: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """A provider that judges the variables of a test instead of answering its prompt.

    Args:
        prompt: the query, unless `config` names a variable that has it.
        options: with `config`: `judge`, `by`, the variables `query`, `response` and `reference`,
            and settings of `Judge.rate` or `Judge.compare`.
        context: with `vars`.

    Returns:
        `output` with `score`, `critique` and `judge`; or `error`, also where a judgment failed or
        could not be read.
    """
    config = options.get("config") or {}
    variables = context.get("vars") or {}
    try:
        name = config.get("response", "response")
        if not isinstance(variables.get(name), str):
            raise DataError("the test has no such variable to judge", path="(vars)", field=name)
        found = _scored(variables[name], {**context, "prompt": prompt}, config)
        output = {"score": required(found.reward, "the test", found.lacking)}
    except AutojError as error:
        return {"error": str(error)}
    return {"output": {**output, "critique": found.critique, "judge": found.verdict.judge}}


def get_transform(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """An output with its score, for assertions on `output.score`.

    Variables that begin with `autoj_` configure it, as transforms have no `config`: `autoj_judge`,
    `autoj_by` and so on.

    Raises:
        BackendError: a judgment failed or could not be read, which is then an error of the test.
    """
    variables = context.get("vars") or {}
    config = {
        name.removeprefix("autoj_"): value
        for name, value in variables.items()
        if name.startswith("autoj_")
    }
    found = _scored(output, context, config)
    score = required(found.reward, "the output", found.lacking)
    return {"output": output, "score": score, "critique": found.critique}


def get_assert(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """An assertion: an output passes where its score is at least `threshold`.

    Args:
        output: the response to judge.
        context: with `prompt`, `vars` and `config`, as for `call_api`; `threshold` is 6 for
            ratings and 0.5 for "reference" if it is not given.

    Returns:
        `pass`, `score` from 0 to 1, `reason`, and the judge's own figure in `named_scores`.

    Raises:
        BackendError: a judgment failed or could not be read. promptfoo shows the message, beside a
            score of 0 that is its own; `get_transform` makes it an error instead.
    """
    config = context.get("config") or {}
    by: RewardBy = config.get("by", "rating")
    if by not in _SCALES:
        raise ConfigError(f"by={by!r} is none of {', '.join(_SCALES)}")
    found = _scored(output, context, config)
    score = required(found.reward, "the output", found.lacking)
    low, high = _SCALES[by]
    threshold = float(config.get("threshold", 0.5 if by == "reference" else 6.0))
    return {
        "pass": score >= threshold,
        "score": (score - low) / (high - low),
        "reason": found.critique or f"{found.verdict.judge} gives {score:g} of {high:g}",
        "named_scores": {f"autoj_{by}".replace("-", "_"): score},
    }


def _scored(response: str, context: Mapping[str, Any], config: Mapping[str, Any]) -> Scored:
    by: RewardBy = config.get("by", "rating")
    judge = loaded_judge(config.get("judge", "embedded"), by)
    settings = {name: value for name, value in config.items() if name not in _OWN | _PROMPTFOOS}
    case = _case(response, context, config, by)
    return asyncio.run(score_one(judge, case, by, settings))


def _case(
    response: str, context: Mapping[str, Any], config: Mapping[str, Any], by: RewardBy
) -> Case:
    variables = context.get("vars") or {}
    asked = variables.get(config["query"]) if "query" in config else context.get("prompt")
    field = config.get("reference", "reference")
    query = query_of(_turns(str(asked or "")), 1)
    return case_to_score(query, response, by, variables.get(field), row=1, field=field)


def _turns(prompt: str) -> Any:
    """The messages of a chat prompt, which promptfoo hands over as JSON; else the text."""
    if not prompt.lstrip().startswith("["):
        return prompt
    try:
        found = json.loads(prompt)
    except ValueError:
        return prompt
    is_chat = isinstance(found, list) and all(isinstance(turn, dict) for turn in found)
    return found if is_chat else prompt
