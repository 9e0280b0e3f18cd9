"""The sources of a run's scenarios: rows, own names, classifiers."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Group
from rich.text import Text

from autoj.records import Case
from autoj.reports.scenario_sources import (
    NamedParts,
    NamingCount,
    is_worth_telling,
    naming_table,
    naming_text,
)

from .pages import check_pages, page, rows


def case(scenario: str | None, **naming) -> Case:
    meta = {"scenario_named_by": naming} if naming else {}
    return Case(id="1", query="q", responses=(), cluster="q", scenario=scenario, meta=meta)


CASES = [
    case("planning"),
    case("mine", by="own name"),
    case("others", by="unknown", row="?"),
    case("planning", by="classifier", classifier="fast", probability=0.25),
    case(None),
]


def naming_of(cases: list[Case]):
    count = NamingCount()
    for each in cases:
        count.add(each)
    return count.result()


def test_each_source_is_counted_and_told():
    assert naming_text(naming_of(CASES)) == (
        "2 from the file (1 of them unknown names), 1 by the classifier fast (mean probability "
        "0.25), 1 unknown in the file and counted as others, 1 without one"
    )


def test_rows_that_name_all_are_not_worth_a_line():
    assert not is_worth_telling(None)
    assert not is_worth_telling(naming_of(CASES[:1]), is_broken_down=True)
    assert is_worth_telling(naming_of(CASES[:2]))
    some = naming_of([CASES[0], CASES[-1]])
    assert (is_worth_telling(some), is_worth_telling(some, is_broken_down=True)) == (False, True)


def test_parts_are_counted_where_a_classifier_named_some():
    parts = NamedParts("scenario")
    for each in CASES:
        parts.add(each)
    assert set(parts.parts()) == {"planning", "mine", "others"}
    assert NamedParts("scenario").parts() == {}
    assert NamedParts(None).whole() is None
    lines = rows(page(naming_table(parts.parts())))
    assert lines[1] == ["planning", "1", "1", "0.25"]
    assert lines[2] == ["mine", "1", "0", "-"]


def test_pages():
    found = replace(naming_of(CASES), n_by_rows=1200)

    def view(name: str) -> Group:
        return Group(naming_table({name: found}), Text(naming_text(found)))

    check_pages(view, "1,201", "0.25")
