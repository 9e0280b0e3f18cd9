"""The front matter of a prompt's file: its name, its kind, and how the answer is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from autoj.errors import DataError
from autoj.prompts.answers import (
    Answer,
    Choices,
    JsonField,
    Like,
    Patterns,
    Rule,
    Which,
    compile_pattern,
)
from autoj.prompts.template import Kind
from autoj.yaml_files import check_fields, compose_text

_WAYS = ("like", "pattern", "patterns", "field", "choices")
_SHOWN = ("1", "2", "tie")
_MOST_VALUES = 100


def _as_text(value: Any) -> Any:
    """A key or a value as text; YAML reads a bare yes, no, true or false as a truth value."""
    if isinstance(value, bool):
        raise ValueError("put quotes around yes, no, true and false: YAML reads them otherwise")
    if isinstance(value, int | float):
        return f"{value:g}"
    return value


_Text: TypeAlias = Annotated[str, BeforeValidator(_as_text), Field(min_length=1, max_length=500)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _AnswerFile(_Strict):
    """The field `answer`: one way to read, and what goes with it."""

    like: str | None = None
    pattern: str | None = None
    patterns: dict[_Text, str] | None = Field(None, min_length=1, max_length=_MOST_VALUES)
    field: str | None = Field(None, min_length=1)
    choices: dict[_Text, _Text] | None = Field(None, min_length=2, max_length=_MOST_VALUES)
    prefix: str | None = Field(None, min_length=1)
    values: dict[_Text, _Text] = Field({}, max_length=_MOST_VALUES)
    which: Which | None = None
    scale: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _has_one_way(self) -> "_AnswerFile":
        ways = [way for way in _WAYS if getattr(self, way) is not None]
        if len(ways) != 1:
            found = " and ".join(ways) if ways else "none"
            raise ValueError(f"expected one of {', '.join(_WAYS)}; found {found}")
        (way,) = ways
        for name, those in {
            "prefix": ("choices",),
            "values": ("pattern", "field"),
            "which": ("pattern", "patterns"),
            "scale": _WAYS[1:],
        }.items():
            if getattr(self, name) and way not in those:
                raise ValueError(f"{name} does not go with {way}, only with {' or '.join(those)}")
        return self


class _FactsFile(_Strict):
    """The layout of the front matter."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")
    kind: Kind
    language: Literal["en", "zh"] = "en"
    answer: _AnswerFile

    @model_validator(mode="after")
    def _values_fit(self) -> "_FactsFile":
        answer = self.answer
        if self.kind == "pairwise" and answer.scale is not None:
            raise ValueError("answer.scale is for ratings: a pairwise prompt has none")
        lowest, highest = answer.scale or (1.0, 10.0)
        if not lowest < highest or abs(lowest) > 1e6 or abs(highest) > 1e6:
            raise ValueError("answer.scale: expected two numbers, the lower first, such as [1, 5]")
        for value in _meant(answer):
            if self.kind == "pairwise" and value not in _SHOWN:
                raise ValueError(f"an answer means 1, 2 or tie; found {value!r}")
            if self.kind == "single" and not _on_scale(value, lowest, highest):
                said = f"a number from {lowest:g} to {highest:g}"
                raise ValueError(f"an answer means {said}; found {value!r}")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The front matter of a prompt; fields as of `layout.Prompt`."""

    name: str
    kind: Kind
    language: Literal["en", "zh"]
    answer: Answer
    values: tuple[tuple[str, str], ...]
    scale: tuple[float, float]


def read_facts(text: str, path: Path, first_line: int) -> Facts:
    """Reads a prompt's front matter.

    Args:
        text: what stands between the two lines `---`.
        path: the file, for messages.
        first_line: the number of its first line.

    Raises:
        DataError: it has a fault.
    """
    root = compose_text(text, path, first_line)
    file = check_fields(root, path, _FactsFile, "prompt")
    try:
        answer = _answer_of(file.answer)
    except ValueError as error:
        raise DataError(str(error), path=path, line=first_line, field="answer") from None
    return Facts(
        name=file.name,
        kind=file.kind,
        language=file.language,
        answer=answer,
        values=tuple(file.answer.values.items()),
        scale=file.answer.scale or (1.0, 10.0),
    )


def _answer_of(file: _AnswerFile) -> Answer:
    if file.like is not None:
        return Like(protocol=file.like)
    if file.choices is not None:
        return Choices(choices=tuple(file.choices.items()), prefix=file.prefix)
    if file.field is not None:
        return JsonField(path=tuple(file.field.split(".")))
    if file.pattern is not None:
        rules: tuple[Rule, ...] = (Rule(pattern=file.pattern),)
    else:
        rules = tuple(
            Rule(pattern=pattern, value=value) for value, pattern in (file.patterns or {}).items()
        )
    for rule in rules:
        compile_pattern(rule.pattern)
    return Patterns(rules=rules, which=file.which or "last")


def _meant(answer: _AnswerFile) -> list[str]:
    """All values that the file says an answer can mean."""
    said: list[str] = [*answer.values.values(), *(answer.patterns or {})]
    choices: Mapping[str, str] = answer.choices or {}
    return said + list(choices.values())


def _on_scale(value: str, lowest: float, highest: float) -> bool:
    try:
        return lowest <= float(value) <= highest
    except ValueError:
        return False
