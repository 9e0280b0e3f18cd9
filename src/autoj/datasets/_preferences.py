"""How other tools write down a preference, and what we call it: one table, read both ways.

A tie is 2 here, 0, 1.5, "tie" or "A=B" there; a judgment that failed is -1, null, "error", or
written as a tie. Frames differ as well: most codes name a response of the case, Arena-Hard's name
a place on the page that the judge saw (`Convention.frame`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from autoj.datasets.base import FieldError
from autoj.errors import UnknownComponent
from autoj.records import Winner

__all__ = [
    "CONVENTIONS",
    "Code",
    "Convention",
    "convention_of",
    "decode",
    "decode_rating",
    "encode",
    "first_probability",
    "strength_of",
]

Code: TypeAlias = str | int | float | None
"""A preference as it stands in a JSON file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """How one tool writes down which of two responses is better."""

    name: str
    codes: Mapping[Code, Winner | None]
    """Every code that its files hold and what it means; None is a judgment that failed."""
    writes: Mapping[Winner | None, Code]
    """What it writes today for each meaning; None is missing where it has no code for failure."""
    failure_reads_as: Winner | None = None
    """What the tool's own figures take a failed judgment for; None where they leave it out."""
    frame: Literal["case", "page"] = "case"
    """Whether a code names a response of the case, or the place where the judge saw it."""
    graded: bool = False
    """Whether numbers between the codes are preferences, too."""
    source: str
    """Where this is published."""


def _table(*conventions: Convention) -> dict[str, Convention]:
    return {convention.name: convention for convention in conventions}


CONVENTIONS: Mapping[str, Convention] = _table(
    Convention(
        name="auto-j",
        codes={0: "a", 1: "b", 2: "tie", -1: None},
        writes={"a": 0, "b": 1, "tie": 2, None: -1},
        # Its evaluation compares -1 with the label, so a failed judgment is wrong, never left out.
        source="GAIR-NLP/auto-j, codes/leaderboard/pairwise_eval.py",
    ),
    Convention(
        name="mt-bench",
        codes={
            "model_1": "a",
            "model_2": "b",
            "model_a": "a",
            "model_b": "b",
            "tie": "tie",
            "tie (bothbad)": "tie",
            "tie (inconsistent)": "tie",
            "error": None,
        },
        writes={"a": "model_1", "b": "model_2", "tie": "tie", None: "error"},
        source="lm-sys/FastChat, fastchat/llm_judge/show_result.py and compute_agreement.py",
    ),
    Convention(
        name="pandalm",
        codes={
            1: "a",
            2: "b",
            0: "tie",
            "1": "a",
            "2": "b",
            "0": "tie",
            "Tie": "tie",
            "garbage": None,
        },
        # Its own parser writes 0 where it finds no verdict; its file of GPT-3.5's says "garbage".
        writes={"a": 1, "b": 2, "tie": 0, None: "garbage"},
        failure_reads_as="tie",
        source="WeOpenML/PandaLM, pandalm/utils/pandalm_inference.py and data/*-testset-v1.json",
    ),
    Convention(
        name="alpaca-eval",
        codes={1: "a", 2: "b", 1.5: "tie", 0: "tie", None: None},
        writes={"a": 1.0, "b": 2.0, "tie": 1.5, None: None},
        graded=True,
        source="tatsu-lab/alpaca_eval, metrics/helpers.py and annotators/pairwise_evaluator.py",
    ),
    Convention(
        name="arena-hard",
        codes={
            "A>>B": "a",
            "A>B": "a",
            "A=B": "tie",
            "B>A": "b",
            "B>>A": "b",
            "B<<A": "a",
            "B<A": "a",
            "B=A": "tie",
            "A<B": "b",
            "A<<B": "b",
            None: None,
        },
        writes={"a": "A>B", "b": "B>A", "tie": "A=B", None: None},
        frame="page",
        source="lmarena/arena-hard-auto, show_result.py",
    ),
    Convention(
        name="reward-bench",
        codes={1: "a", 0: "b", 0.5: "tie"},
        writes={"a": 1, "b": 0, "tie": 0.5},
        failure_reads_as="tie",
        source="allenai/reward-bench, scripts/run_generative.py and rewardbench/utils.py",
    ),
)
"""Per tool, its codes. The first response is `a`: output_1, model_1, the chosen one."""


def convention_of(name: str) -> Convention:
    """A convention by its name.

    Raises:
        UnknownComponent: there is none of that name.
    """
    try:
        return CONVENTIONS[name]
    except KeyError:
        raise UnknownComponent("convention", name, CONVENTIONS) from None


def decode(convention: str, value: object, field: str = "preference") -> Winner | None:
    """What a code means.

    Args:
        convention: a name in `CONVENTIONS`.
        value: the code, as it stands in the file.
        field: the field that holds it, for the error.

    Returns:
        The winner, in the frame of the convention; None for a judgment that failed.

    Raises:
        FieldError: the tool has no such code.
        UnknownComponent: there is no such convention.

    >>> decode("alpaca-eval", 1.5), decode("auto-j", 2), decode("auto-j", -1)
    ('tie', 'tie', None)
    """
    table = convention_of(convention)
    if isinstance(value, float) and math.isnan(value) and None in table.codes:
        return None
    # 1 == 1.0 == True in a table; a flag is no preference.
    if isinstance(value, str | int | float | None) and not isinstance(value, bool):
        if value in table.codes:
            return table.codes[value]
        if table.graded and isinstance(value, int | float) and 1 < value < 2:
            return "a" if value < 1.5 else "b"
    raise FieldError(field, f"expected {_menu(table)}, found {value!r}")


def encode(convention: str, winner: Winner | None) -> Code:
    """What a tool writes down for a winner.

    Raises:
        FieldError: the tool has no code for a judgment that failed; a tie or a loss in its place
            would be made up.

    >>> encode("alpaca-eval", "tie"), encode("arena-hard", "b"), encode("auto-j", None)
    (1.5, 'B>A', -1)
    """
    table = convention_of(convention)
    try:
        return table.writes[winner]
    except KeyError:
        raise FieldError(
            None, f"{convention} has no code for a judgment that failed, only {_menu(table)}"
        ) from None


def strength_of(value: object) -> Literal[0, 1, 2] | None:
    """How clear an Arena-Hard verdict is: 2 for `>>`, 1 for `>`, 0 for a tie; None if it failed.

    Arena-Hard's win rate counts a verdict of strength 2 three times.

    **Source**: lmarena/arena-hard-auto, show_result.py (`weight=3`).

    >>> strength_of("B>>A"), strength_of("A=B"), strength_of(None)
    (2, 0, None)
    """
    if decode("arena-hard", value, "score") is None:
        return None
    text = str(value)
    return 2 if ">>" in text or "<<" in text else 0 if "=" in text else 1


def first_probability(value: object) -> float | None:
    """P(the first response is better) that a graded AlpacaEval preference states, else None.

    **Source**: tatsu-lab/alpaca_eval: a weighted preference is 1 + P(output_2 is preferred).

    >>> first_probability(1.25), first_probability(2.0), first_probability(None)
    (0.75, None, None)
    """
    if isinstance(value, float) and 1 < value < 2 and value != 1.5:
        return 2 - value
    return None


_FAILED_RATINGS = {"auto-j": 0.0, "mt-bench": -1.0}


def decode_rating(convention: Literal["auto-j", "mt-bench"], value: object) -> float | None:
    """A rating from 1 to 10 as a tool writes it; None for the number that stands for failure.

    Raises:
        FieldError: it is no number, or outside the scale.

    >>> decode_rating("mt-bench", 7.5), decode_rating("mt-bench", -1)
    (7.5, None)
    """
    failed = _FAILED_RATINGS[convention]
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value == failed:
            return None
        if 1 <= value <= 10:
            return float(value)
    raise FieldError(
        "score", f"expected a rating from 1 to 10, or {failed:g} (failed), found {value!r}"
    )


def _menu(table: Convention) -> str:
    meanings = {"a": "first", "b": "second", "tie": "tie", None: "failed"}
    codes = ", ".join(
        f"{'null' if code is None else repr(code)} ({meanings[winner]})"
        for code, winner in table.codes.items()
    )
    return f"{codes}, or a number from 1 to 2" if table.graded else codes
