"""Worked solutions of GSM8K, and copies with one wrong step whose error goes into what follows.

A solution marks its calculations: `48/2 = <<48/2=24>>24`. A copy states another result for one of
them, computes all later ones that use it anew, and so arrives at another answer.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random

_STEP = re.compile(r"<<(?P<sum>[^<>=\n]{1,80})=(?P<result>-?[\d.,]{1,20})>>(?P<shown>-?[\d.,]*\d)?")
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w.,]*\d)")
_END = "####"
_OPERATORS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A solution as text."""

    text: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongStep:
    """A copy of a solution with a wrong result of one calculation."""

    solution: Solution
    calculation: str
    """Such as "48/2"."""
    right: str
    wrong: str
    """The results of the calculation."""


def plain_solution(worked: str) -> Solution:
    r"""A solution without its marks.

    >>> plain_solution("She has 2+3 = <<2+3=5>>5 apples.\n#### 5").text
    'She has 2+3 = 5 apples.\n\nThe answer is 5.'
    """
    steps, _, answer = worked.rpartition(_END)
    return _solution(_unmarked(steps), answer)


def stop_early(worked: str) -> Solution | None:
    """A solution without its last calculation; None where the answer would be the same."""
    steps, _, answer = worked.rpartition(_END)
    found = list(_STEP.finditer(steps))
    if len(found) < 2:
        return None
    last, before = found[-1], found[-2]
    # The line of the last calculation goes, so another one must not stand in it.
    begin = steps.rfind("\n", 0, last.start())
    if begin < before.end() or _value(before["result"]) == _value(answer):
        return None
    return _solution(_unmarked(steps[:begin]), before["result"])


def make_wrong_step(question: str, worked: str, generator: Random) -> WrongStep | None:
    """A copy with one wrong step; None where no step can be changed without ambiguity.

    Args:
        question: the problem; a number of its own must not be taken for a result.
        worked: the solution with its marks.
        generator: draws the step and its wrong result.
    """
    steps = list(_STEP.finditer(worked))
    for at in generator.sample(range(len(steps)), len(steps)):
        right = _value(steps[at]["result"])
        if right is None or right <= 0:
            continue
        given = _numbers(question) | _numbers(worked[: steps[at].start()].rpartition("\n")[0])
        wrong = _wrong_result(right, given, generator)
        if right in given or wrong is None:
            continue
        spoilt = _spoilt(worked, steps, at, wrong, given)
        if spoilt is not None:
            return WrongStep(
                solution=spoilt,
                calculation=steps[at]["sum"].strip(),
                right=_written(right),
                wrong=_written(wrong),
            )
    return None


def _wrong_result(right: Fraction, given: set[Fraction], generator: Random) -> Fraction | None:
    """A result that one might miscalculate, and that is no other number of the problem."""
    near = [right + 1, right - 1, right + 2, right + 10, right - 10, right * 10]
    possible = [value for value in near if value > 0 and value not in given]
    return generator.choice(possible) if possible else None


def _spoilt(
    worked: str, steps: list[re.Match[str]], at: int, wrong: Fraction, given: set[Fraction]
) -> Solution | None:
    """The solution with a wrong result at one step; None where the error cannot be followed."""
    body, _, answer = worked.rpartition(_END)
    changes = {_known(steps[at]["result"]): wrong}
    pieces = [_unmarked(worked[: steps[at].start()]), _written(wrong)]
    position = steps[at].end()
    for step in steps[at + 1 :]:
        pieces.append(_changed(body[position : step.start()], changes))
        position = step.end()
        before, after = _value(step["result"]), _computed(_changed(step["sum"], changes))
        if before is None or after is None or after <= 0:
            return None
        if after != before:
            if before in given or changes.get(before, after) != after:
                return None
            changes[before] = after
        pieces.append(_written(after))
    pieces.append(_changed(body[position:], changes))
    last = _value(answer)
    if last is None or changes.get(last, last) == last:
        return None
    return _solution("".join(pieces), _written(changes[last]))


def _unmarked(text: str) -> str:
    return _STEP.sub(lambda step: step["shown"] or step["result"], text)


def _solution(text: str, answer: str) -> Solution:
    answer = answer.strip()
    return Solution(text=f"{text.strip()}\n\nThe answer is {answer}.", answer=answer)


def _changed(text: str, changes: Mapping[Fraction, Fraction]) -> str:
    """A text with numbers replaced."""

    def other(found: re.Match[str]) -> str:
        now = changes.get(_known(found[0]))
        return found[0] if now is None else _written(now)

    return _NUMBER.sub(other, text)


def _numbers(text: str) -> set[Fraction]:
    return {_known(found[0]) for found in _NUMBER.finditer(_unmarked(text))}


def _value(number: str) -> Fraction | None:
    try:
        return Fraction(number.strip().replace(",", ""))
    except ValueError:
        return None


def _known(number: str) -> Fraction:
    value = _value(number)
    assert value is not None
    return value


def _written(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.2f}".rstrip("0")


def _computed(text: str) -> Fraction | None:
    """The value of a sum of numbers; None for anything else, and for endless decimals."""
    try:
        value = _evaluated(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None
    return value if value is not None and (value * 100).denominator == 1 else None


def _evaluated(node: ast.expr) -> Fraction | None:
    match node:
        case ast.Constant(value=int() | float() as value):
            return Fraction(str(value))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            one, other = _evaluated(left), _evaluated(right)
            return None if one is None or other is None else _OPERATORS[type(op)](one, other)
    return None
