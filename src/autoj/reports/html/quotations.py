"""Critiques in parts, with their quotations: what a factor says beside the text that it quotes."""

from collections.abc import Sequence
from dataclasses import dataclass

from autoj import critiques


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """A quotation of a critique."""

    text: str
    """Without its quotation marks, as the response spells it where one has it."""
    responses: tuple[int, ...]
    """The responses that hold it, from 0; empty where none does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CritiquePart:
    """A factor of a critique, or all of a critique that has another layout."""

    name: str
    """The factor's name; empty for prose."""
    text: str
    quotations: tuple[Quotation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCritique:
    """A critique as a page shows it."""

    parts: tuple[CritiquePart, ...]
    closing: str = ""
    """The decision and the remark after it, where the critique is in the layout of Table 18."""


def read_critique(critique: str, responses: Sequence[str]) -> ReadCritique:
    """A critique in parts, each with what it quotes.

    Args:
        critique: a judge's text.
        responses: the responses' texts, in the critique's numbering.

    >>> read_critique('The word "capital of" is missing.', ["Paris is the capital of France."])
    ... # doctest: +ELLIPSIS
    ReadCritique(parts=(CritiquePart(name='', text=..., quotations=(Quotation(text='capital of', \
responses=(0,)),)),), closing='')
    """
    found = critiques.parse(critique)
    if found is None or not found.factors:
        return ReadCritique(parts=(_part("", critique, responses),))
    closing = critiques.decision_sentence(found.decision, found.language).strip()
    return ReadCritique(
        parts=tuple(_part(each.name, each.explanation, responses) for each in found.factors),
        closing=f"{closing} {found.remark}".strip(),
    )


def _part(name: str, text: str, responses: Sequence[str]) -> CritiquePart:
    kept = dict.fromkeys(each.text for each in critiques.quotations(text))
    return CritiquePart(
        name=name, text=text, quotations=tuple(_located(each, responses) for each in kept)
    )


def _located(quoted: str, responses: Sequence[str]) -> Quotation:
    """The quotation with the responses that hold it, in any letter case."""
    folded = quoted.lower()
    places = [(index, text.lower().find(folded)) for index, text in enumerate(responses)]
    holding = [(index, at) for index, at in places if at >= 0]
    spelled = quoted
    if holding:
        index, at = holding[0]
        spelled = responses[index][at : at + len(quoted)]
    return Quotation(text=spelled, responses=tuple(index for index, _ in holding))
