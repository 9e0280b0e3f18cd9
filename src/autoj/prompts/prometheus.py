"""Imports a rubric of Prometheus: a criterion, and what each score from 1 to 5 means.

**Source:** the layout is that of the repository prometheus-eval/prometheus-eval (the fields
`criteria` and `score1_description` to `score5_description`). The words around it are ours: they are
for general models, and not those that the models of Prometheus were trained on.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from autoj.errors import DataError
from autoj.prompts.answers import Patterns, Rule
from autoj.prompts.layout import Prompt, read_text
from autoj.prompts.template import Kind, literal

SCORES = (1, 2, 3, 4, 5)
_FIELDS = ("criteria", *(f"score{score}_description" for score in SCORES))
_LONGEST = 20_000
_REFERENCE = "\n[Reference answer]\n{reference}\n[End of reference answer]\n"
_SINGLE = """\
Rate a response to a query by one criterion alone. Other qualities of the response, such as its length, \
do not count.

Criterion: {rubric}

What each score means:
{scores}

[Query]
{query}
[End of query]
{reference}
[Response]
{response}
[End of response]

First write an assessment of a few sentences: which parts of the response speak for which of the \
scores. Then end with a line of its own that reads "Score: " and one whole number from 1 to 5, \
whichever description fits best."""
_PAIRWISE = """\
Compare two responses to the same query by one criterion alone. Other qualities of the responses, such \
as their length or their order here, do not count.

Criterion: {rubric}

What poor and good responses look like, from 1 (worst) to 5 (best):
{scores}

[Query]
{query}
[End of query]
{reference}
[Response 1]
{response_1}
[End of response 1]

[Response 2]
{response_2}
[End of response 2]

First write an assessment of a few sentences: where the responses differ by the criterion. Then end with \
a line of its own that reads "Verdict: 1" or "Verdict: 2" for the better response, or "Verdict: tie"."""


def import_prometheus(
    path: Path, kind: Kind = "single", *, reference: bool = False, name: str | None = None
) -> Prompt:
    """A prompt that asks for a score, or a comparison, by a rubric of Prometheus.

    Args:
        path: a JSON file with the rubric.
        kind: rate one response, or compare two.
        reference: True shows the rows' reference answers, too.
        name: the prompt's name; None takes the file's.

    Raises:
        DataError: the file is no rubric.
    """
    rubric = _rubric(path)
    words = {
        "rubric": literal(rubric["criteria"]),
        "scores": "\n".join(
            f"{score}: {literal(rubric[f'score{score}_description'])}" for score in SCORES
        ),
        "reference": _REFERENCE if reference else "",
    }
    frame = _SINGLE if kind == "single" else _PAIRWISE
    # In one pass, so that a rubric's own braces are left alone.
    user = re.sub(r"\{(rubric|scores|reference)\}", lambda found: words[found[1]], frame)
    # At the end of a line: "Score: 4 of 5" or a list of scores is no score.
    single = Rule(
        pattern=r"(?im)^[ \t*_]*score[ \t*_]*:[ \t*_]*([1-5])[ \t*_]*(?:/[ \t]*5)?[ \t*_.]*$"
    )
    pair = Rule(pattern=r"(?im)^[ \t*_]*verdict[ \t*_]*:[ \t*_]*(1|2|tie)[ \t*_.]*$")
    return Prompt(
        name=name or re.sub(r"[^A-Za-z0-9_-]+", "-", path.stem).strip("-_")[:64] or "rubric",
        kind=kind,
        user=user,
        answer=Patterns(rules=(single if kind == "single" else pair,)),
        scale=(1.0, 5.0) if kind == "single" else (1.0, 10.0),
    )


def _rubric(path: Path) -> dict[str, str]:
    try:
        found = json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise DataError("is not JSON", path=path, hint=f"Expected {', '.join(_FIELDS)}.") from None
    if not isinstance(found, dict):
        raise DataError("expected an object with a rubric", path=path)
    return {field: _text(found, field, path) for field in _FIELDS}


def _text(found: dict[str, Any], field: str, path: Path) -> str:
    text = found.get(field)
    if not isinstance(text, str) or not text.strip():
        said = "is missing" if field not in found else "expected text"
        raise DataError(said, path=path, field=field)
    if len(text) > _LONGEST:
        raise DataError(f"is longer than {_LONGEST:,} characters", path=path, field=field)
    return " ".join(text.split())
