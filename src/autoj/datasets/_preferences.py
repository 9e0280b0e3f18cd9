"""Codes of preferences in other tools and their meaning here: one table, for reading and writing.

A tie is 2 here, 0, 1.5, "tie" or "A=B" there; a failed judgment is -1, null, "error", or written
as a tie. Frames differ as well: most codes name a response of the case, Arena-Hard's name a
position on the page that the judge saw (`Convention.frame`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from autoj.datasets.base import FieldError
from autoj.errors import UnknownComponent
from autoj.records import Winner

Code: TypeAlias = str | int | float | None
"""A preference as written in a JSON file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """A tool's codes for which of two responses is better."""

    name: str
    codes: Mapping[Code, Winner | None]
    """Every code in its files and its meaning; None is a failed judgment."""
    writes: Mapping[Winner | None, Code]
    """The code it writes today for each meaning; None is missing where it has no code for
    failure."""
    failure_reads_as: Winner | None = None
    """The outcome as which the tool's own figures count a failed judgment; None if they skip it."""
    frame: Literal["case", "page"] = "case"
    """"case" where a code names a response of the case, "page" where it names a position on the
    page."""
    graded: bool = False
    """True where numbers between the codes are preferences, too."""
    source: str
    """The publication that states it."""


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
        # Its own parser writes 0 where it finds no verdict; its file of GPT-3.5 says "garbage".
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
"""Codes per tool. The first response is `a`: output_1, model_1, the chosen one."""


def convention_of(name: str) -> Convention:
    """Finds a convention by its name.

    Raises:
        UnknownComponent: no convention has this name.
    """
    try:
        return CONVENTIONS[name]
    except KeyError:
        raise UnknownComponent("convention", name, CONVENTIONS) from None


def decode(convention: str, value: object, field: str = "preference") -> Winner | None:
    """Decodes a tool's preference.

    Args:
        convention: a name in `CONVENTIONS`.
        value: the code in the file.
        field: the field that holds it, for the error.

    Returns:
        The winner, in the frame of the convention; None for a failed judgment.

    Raises:
        FieldError: the tool has no such code.
        UnknownComponent: there is no such convention.

    >>> decode("alpaca-eval", 1.5), decode("auto-j", 2), decode("auto-j", -1)
    ('tie', 'tie', None)
    """
    table = convention_of(convention)
    if isinstance(value, float) and math.isnan(value) and None in table.codes:
        return None
    # 1 == 1.0 == True in a table; a flag is not a preference.
    if isinstance(value, str | int | float | None) and not isinstance(value, bool):
        if value in table.codes:
            return table.codes[value]
        if table.graded and isinstance(value, int | float) and 1 < value < 2:
            return "a" if value < 1.5 else "b"
    raise FieldError(field, f"expected {_menu(table)}, found {value!r}")


def encode(convention: str, winner: Winner | None) -> Code:
    """Encodes a winner as a tool's preference.

    Raises:
        FieldError: the tool has no code for a failed judgment; a tie or a loss in its place would
            be made up.

    >>> encode("alpaca-eval", "tie"), encode("arena-hard", "b"), encode("auto-j", None)
    (1.5, 'B>A', -1)
    """
    table = convention_of(convention)
    try:
        return table.writes[winner]
    except KeyError:
        raise FieldError(
            None, f"{convention} has no code for a failed judgment, only {_menu(table)}"
        ) from None


def strength_of(value: object) -> Literal[0, 1, 2] | None:
    """Strength of an Arena-Hard verdict: 2 for `>>`, 1 for `>`, 0 for a tie; None if it failed.

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
    """Decodes a tool's rating from 1 to 10; None for its code of a failed judgment.

    Raises:
        FieldError: it is not a number, or outside the scale.

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
