"""Classified queries, counted by group and scenario."""

from __future__ import annotations

from autoj.records import Case
from autoj.reports.classify import ClassifiedCount, ClassifiedSummary, classified_view
from autoj.tasks.classify import ClassifiedQuery

from .pages import check_pages, page, rows


def counted(*named: tuple[str | None, float | None], row: str | None = None) -> ClassifiedSummary:
    count = ClassifiedCount(confidence=0.5)
    for number, (scenario, probability) in enumerate(named):
        query = ClassifiedQuery(
            id=str(number),
            scenario=scenario,
            group={"planning": "General Communication", "ranking": "NLP Tasks"}.get(scenario or ""),
            probability=probability,
            alternatives=(),
            classifier="fast",
            digest=None if probability is None else "sha256:0123456789abcdef",
            row_scenario=row,
            state="unreadable" if scenario is None else "named",
        )
        count.add(Case(id=str(number), query="q", responses=(), cluster=str(number)), query)
    return count.result()


def test_groups_and_scenarios_are_counted_in_the_taxonomys_order():
    summary = counted(("ranking", 0.25), ("planning", 0.75), ("planning", 0.5), (None, 0.1))
    assert [each.group for each in summary.groups] == ["General Communication", "NLP Tasks"]
    assert [(each.scenario, each.n) for each in summary.scenarios] == [
        ("planning", 2), ("ranking", 1),
    ]  # fmt: skip
    assert summary.whole is not None
    assert (summary.whole.mean_probability, summary.whole.n_below) == (0.5, 1)
    assert (summary.n, summary.n_unreadable) == (4, 1)


def test_the_table_says_how_sure_the_classifier_was():
    lines = rows(page(classified_view(counted(("planning", 0.25), ("planning", 0.75)))))
    assert lines[0] == ["scenario", "n", "share", "mean", "probability", "below", "0.5"]
    assert lines[2] == ["planning", "2", "100.0", "%", "0.50", "1", "(50.0", "%)"]
    assert lines[3] == ["all", "2", "100.0", "%", "0.50", "1", "(50.0", "%)"]


def test_a_judge_says_no_probability():
    text = page(classified_view(counted(("planning", None), (None, None))))
    assert "mean probability" not in text
    assert "unreadable, failed  1 and 0" in text


def test_nothing_classified_is_a_table_without_rows():
    assert rows(page(classified_view(counted())))[0] == ["scenario", "n", "share"]


def test_names_that_rows_give_are_compared():
    same = counted(("planning", 0.9), ("ranking", 0.9), row="planning").same_as_row
    assert same is not None
    assert same.value == 0.5


def test_pages():
    check_pages(
        lambda name: classified_view(counted((name, 0.25), (name, 0.5))), "100.0 %", "1 (50.0 %)"
    )
