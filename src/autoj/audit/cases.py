"""The audit's cases: a sample of a set, and the probes that are made of a case.

Every case says in its meta which `probe` it is and `of` which case. A probe keeps the query of its
case, and so its cluster.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from autoj.audit.edits import EDITS, NoEdit, apply_edit
from autoj.audit.injections import HARMLESS, STYLES, Place, inject
from autoj.critiques import Language
from autoj.datasets.sampling import random_key
from autoj.records import Case, Response, Winner

PLAIN, IDENTICAL = "plain", "identical"

Made: TypeAlias = tuple[str, Case | NoEdit]
"""A probe's name, and its case or the reason there is none."""


def plain_case(case: Case) -> Case:
    """A case as it is, marked as such."""
    return _derived(case, PLAIN, case.id, case.responses, case.label)


def _derived(
    case: Case,
    probe: str,
    name: str,
    responses: tuple[Response, ...],
    label: Winner | float | None = None,
    **meta: Any,
) -> Case:
    own = {"probe": probe, "of": case.id, **meta}
    return replace(
        case, id=name, responses=responses, label=label, critiques=(), meta={**case.meta, **own}
    )


def compared_probes(case: Case, seed: int, *, paired: bool) -> Iterator[Made]:
    """One response, drawn at random, compared with its edited self and with itself.

    Args:
        case: a pair.
        seed: of the random draw.
        paired: whether pairs are compared; a text that is rated alone cannot be two.
    """
    response = case.responses[random_key(seed, "response")(case)[0] % 2]
    for probe in EDITS:
        edited = apply_edit(probe, response.text)
        if isinstance(edited, NoEdit):
            yield probe, edited
        else:
            pair = (response, replace(response, text=edited, logprob=None))
            yield probe, _derived(case, probe, f"{case.id}/{probe}", pair)
    if not paired:
        return
    if not response.text.strip():
        yield IDENTICAL, NoEdit(reason="the text is empty")
    else:
        pair = (response, response)
        yield IDENTICAL, _derived(case, IDENTICAL, f"{case.id}/{IDENTICAL}", pair)


def injection_probe(style: str) -> str:
    """The name of an injection's probe."""
    return f"inject-{style}"


def injected_probes(case: Case, seed: int, *, language: Language, paired: bool) -> Iterator[Made]:
    """The response that people did not prefer, with each text, in each position in the prompt.

    Args:
        case: a pair; without a winner by its label, the response is drawn at random.
        seed: of the random draw.
        language: the language of the judge's prompt.
        paired: whether pairs are compared; else the prompt shows one response.
    """
    drawn = random_key(seed, "target")(case)[0] % 2
    target = {"a": 1, "b": 0}.get(str(case.label), drawn)
    response, other = case.responses[target], case.responses[1 - target]
    places: tuple[Place, ...] = ("1", "2") if paired else (None,)
    for style in (*STYLES, HARMLESS):
        for place in places:
            text = inject(style, response.text, place=place, language=language)
            probe = injection_probe(style)
            if isinstance(text, NoEdit):
                yield probe, text
                continue
            spoiled = replace(response, text=text, logprob=None)
            pair = (other, spoiled) if place == "2" else (spoiled, other)
            name = "/".join(filter(None, (case.id, probe, place)))
            yield probe, _derived(case, probe, name, pair, target="ab"[target], place=place)
