"""Tests of matching rows of two sources, and of their paired scores."""

from pathlib import Path

from autoj.records import Case, Response
from autoj.reports.html.beside import OtherRows, PairedScores


def _case(case_id: str) -> Case:
    return Case(id=case_id, query=case_id, cluster=case_id, responses=(Response(text="So."),))


def test_rows_of_one_id_are_matched_by_their_texts() -> None:
    other: OtherRows[str] = OtherRows("other", Path("other"))
    other.add("1", b"y", "its y")
    assert other.take("1", b"x") is None
    assert other.take("1", b"y") == "its y"
    assert (other.n_shared, other.n_changed, other.n_alone) == (1, 0, 0)


def test_an_id_with_other_texts_alone_is_changed() -> None:
    other: OtherRows[str] = OtherRows("other", Path("other"))
    other.add("1", b"z", "its z")
    other.add("2", b"z", "alone")
    assert [other.take("1", content) for content in (b"x", b"y")] == [None, None]
    assert (other.n_shared, other.n_changed, other.n_alone) == (0, 1, 1)


def test_both_means_are_over_the_queries_that_both_have_scored() -> None:
    scores = PairedScores()
    for number, (one, other) in enumerate([(1.0, 1.0), (5.0, 5.0), (9.0, None), (9.0, None)]):
        scores.add(_case(str(number)), one, other)
    means = scores.means("score")
    assert (means.one.value, means.other.value) == (3.0, 3.0)
    assert means.difference.estimate.value == 0.0
