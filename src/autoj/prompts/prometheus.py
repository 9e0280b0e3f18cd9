"""Imports a rubric of Prometheus: a criterion, and what each score from 1 to 5 means.

**Source:** the layout is that of the repository prometheus-eval/prometheus-eval (the fields
`criteria` and `score1_description` to `score5_description`). The words around it are ours: they are
for general models, and not those that the models of Prometheus were trained on.
"""

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
_LISTED = ", ".join(_FIELDS)
_LONGEST = 20_000
# Up to the end of a line: "Score: 4 or 5" states no score.
_PATTERNS: dict[Kind, str] = {
    "single": r"(?im)^[ \t*_]*score[ \t*_]*:[ \t*_]*([1-5])[ \t*_]*(?:/[ \t]*5)?[ \t*_.]*$",
    "pairwise": r"(?im)^[ \t*_]*verdict[ \t*_]*:[ \t*_]*(1|2|tie)[ \t*_.]*$",
}
_TEXTS = Path(__file__).parent / "text"
_REFERENCE = "\n[Reference answer]\n{reference}\n[End of reference answer]\n"


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
    frame = (_TEXTS / f"prometheus_{kind}.en.txt").read_bytes().decode("utf-8")
    # In one pass, so that a rubric's own braces are left alone.
    user = re.sub(r"\{(rubric|scores|reference)\}", lambda found: words[found[1]], frame)
    return Prompt(
        name=name or re.sub(r"[^A-Za-z0-9_-]+", "-", path.stem).strip("-_")[:64] or "rubric",
        kind=kind,
        user=user,
        answer=Patterns(rules=(Rule(pattern=_PATTERNS[kind]),)),
        scale=(1.0, 5.0) if kind == "single" else (1.0, 10.0),
    )


def _rubric(path: Path) -> dict[str, str]:
    text = read_text(path, "rubric", f"A rubric is a JSON file with {_LISTED}.")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise DataError("is not JSON", path=path, hint=f"Expected {_LISTED}.") from None
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
