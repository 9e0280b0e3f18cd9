"""A figure of a or b names a model if one model wrote all responses of that side."""

from __future__ import annotations

import pytest

from autoj.records import Case, CaseOutline, Response, ResponseOutline
from autoj.runs.authors import NOBODY, Authors, authors_of


def pair(*models: str | None, **its) -> Case:
    responses = tuple(Response(text="x", model=model) for model in models)
    return Case(id="1", query="q", cluster="q", responses=responses, **its)


@pytest.mark.parametrize(
    ("pairs", "found", "names"),
    [
        ([("x", "y"), ("x", "y")], Authors(a="x", b="y", n_a=1, n_b=1), ("x", "y")),
        ([("x", "y"), ("x", "z")], Authors(a="x", b=None, n_a=1, n_b=2), ("x", None)),
        ([("x", "y"), ("y", "x")], Authors(n_a=2, n_b=2), (None, None)),
        ([("x", "y"), (None, "y")], Authors(b="y", n_a=1, n_b=1), (None, "y")),
        ([("x", "x")], Authors(a="x", b="x", n_a=1, n_b=1), (None, None)),
        ([(None, None)], NOBODY, (None, None)),
        ([("x",), ("x", "y", "z")], NOBODY, (None, None)),
        ([], NOBODY, (None, None)),
    ],
)
def test_the_models_of_either_side(pairs, found, names):
    authors = authors_of(pair(*models) for models in pairs)
    assert authors == found
    assert (authors.name("a"), authors.name("b")) == names


def test_critics_are_the_authors_of_two_critiques():
    assert authors_of([pair("x", meta={"critics": ["one", "two"]})]).a == "one"
    assert authors_of([pair("x", meta={"critics": "one"})]) == NOBODY


def test_an_outline_has_the_same_authors_as_its_case():
    outline = CaseOutline(
        id="1", cluster="q", responses=(ResponseOutline(model="x"), ResponseOutline(model="y"))
    )
    assert authors_of([outline]) == authors_of([pair("x", "y")])
