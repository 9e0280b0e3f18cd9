"""The counts of a joined run, and what it lacks."""

from __future__ import annotations

from autoj.reports.merge import merged_table, missing_parts
from autoj.runs import Merged

from .pages import check_pages, page


def merged(name: str, **its) -> Merged:
    counts = {"n_runs": 2, "n_cases": 1200, "n_unjudged": 0, "n_answers": 2400, "n_failed": 0}
    others = {
        "n_repeated": 0,
        "n_missing": 0,
        "shard": None,
        "missing": None,
        "several_data": False,
    }
    return Merged(run=name, **counts | others | its)


def test_pages():
    check_pages(lambda name: merged_table(merged(name, shard="1/8")), "1,200", "2,400", "1/8")


def test_answers_that_runs_share_are_told():
    assert "2,400 (1,000 repeated)" in page(merged_table(merged("x", n_repeated=1000)))
    assert "more were the same" not in page(merged_table(merged("x")))


def test_what_is_missing_is_said_with_how_to_go_on():
    assert missing_parts(merged("x")) == []
    [line] = missing_parts(merged("x", missing="3/8", n_missing=1200))
    assert "shards 3/8 are missing, 1,200 cases" in line
    assert "resume each run" in missing_parts(merged("x", several_data=True, n_failed=1))[0]
