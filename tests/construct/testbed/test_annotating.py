"""Annotators see pairs blind, go on where they stopped, and lose no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.construct.testbed.annotating import (
    Annotation,
    PairAnswer,
    annotators,
    last_answers,
    page_of,
    read_answers,
)
from autoj.construct.testbed.build import build
from autoj.construct.testbed.folder import Testbed as Bed
from autoj.construct.testbed.settings import BuildSources
from autoj.errors import ConfigError, DataError, RunBusy
from autoj.jsonl import write_records
from autoj.records import Case, Response

from .scripted_policies import SETTINGS, annotate, first_model


@pytest.fixture
def bed(sources: BuildSources, tmp_path: Path) -> Bed:
    return build(SETTINGS, sources, tmp_path / "bed")


def test_only_pairs_that_wait_are_shown_and_nothing_says_who_wrote_them(bed: Bed) -> None:
    annotation = Annotation(bed, "anna")
    waiting = {pair.case.id: pair.case for pair in bed.pairs() if pair.waits}
    assert annotation.n_pages == len(waiting) == 4
    page = annotation.page()
    assert page is not None
    case = waiting[page.case_id]
    assert page.query == case.query
    assert page.responses == tuple(case.responses[index].text for index in page.shown)
    assert set(page.__slots__) == {
        "case_id", "scenario", "query", "responses", "shown", "pair",
    }  # fmt: skip


def test_each_annotator_sees_other_sides_and_another_order(bed: Bed) -> None:
    orders = {}
    for name in ("anna", "ben", "cleo", "dan"):
        annotation = Annotation(bed, name)
        orders[name] = tuple((page.case_id, page.shown) for page in annotation._pages)
        assert orders[name] == tuple(
            (page.case_id, page.shown) for page in Annotation(bed, name)._pages
        )
    assert len(set(orders.values())) == 4


def test_sides_are_swapped_as_often_as_not() -> None:
    pair = (Response(text="x"), Response(text="y"))
    shown = [
        page_of(Case(id=f"{at}", query="q", cluster="q", responses=pair), "anna", 0).shown
        for at in range(1000)
    ]
    assert 440 < shown.count((1, 0)) < 560


def test_an_answer_is_kept_at_once_and_in_the_order_of_the_case(bed: Bed) -> None:
    annotation = Annotation(bed, "anna")
    with annotation.opened():
        for choice in ("1", "2", "tie", "skip"):
            page = annotation.page()
            assert page is not None
            annotation.answer(choice)  # type: ignore[arg-type]
            (*_, last) = read_answers(bed, "anna")
            side = {"1": page.shown[0], "2": page.shown[1]}.get(choice)
            wanted = {"tie": "tie", "skip": None}.get(choice, "ab"[side or 0])
            assert (last.case_id, last.winner, last.via) == (page.case_id, wanted, "terminal")
        assert annotation.page() is None


def test_it_goes_on_where_it_stopped_and_back_to_what_was_answered(bed: Bed) -> None:
    annotate(bed, "anna", first_model, most=2)
    annotation = Annotation(bed, "anna")
    assert (annotation.n_answered, annotation.number) == (2, 3)
    open_page = annotation.page()
    with annotation.opened():
        assert annotation.back()
        page, earlier = annotation.page(), annotation.earlier()
        assert page is not None
        assert earlier == last_answers(read_answers(bed, "anna"))[page.case_id]
        annotation.answer("tie")
        # The last answer counts, and the way on is to the page that was open.
        assert last_answers(read_answers(bed, "anna"))[page.case_id].winner == "tie"
        assert annotation.page() == open_page
        assert annotation.back()
        assert annotation.back()
        assert not annotation.back()
    assert len(read_answers(bed, "anna")) == 3


def test_a_torn_last_line_is_asked_again(bed: Bed) -> None:
    annotate(bed, "anna", first_model, most=3)
    (path,) = bed.path.glob("annotators/anna/answers.jsonl")
    path.write_bytes(path.read_bytes()[:-9])
    assert Annotation(bed, "anna").n_answered == 2
    annotate(bed, "anna", first_model)
    assert len(read_answers(bed, "anna")) == 4


def test_a_changed_answer_is_found(bed: Bed) -> None:
    annotate(bed, "anna", lambda page: "tie")
    (path,) = bed.path.glob("annotators/anna/answers.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"tie"', b'"a"', 1))
    with pytest.raises(DataError, match=r"answers.jsonl:1: is damaged") as caught:
        read_answers(bed, "anna")
    assert "shown to the annotator again" in str(caught.value)


def test_answers_to_other_texts_do_not_count(bed: Bed) -> None:
    annotate(bed, "anna", first_model)
    known = read_answers(bed, "anna")
    (path,) = bed.path.glob("annotators/anna/answers.jsonl")
    first = known[0]
    stale = PairAnswer(
        case_id=first.case_id, winner="a", shown=first.shown, pair="0" * 16, via="terminal"
    )
    write_records(path, [stale, *known[1:]])
    assert Annotation(bed, "anna").n_answered == 3


def test_one_annotator_is_at_work_once_and_several_are_at_a_time(bed: Bed) -> None:
    with Annotation(bed, "anna").opened():
        with pytest.raises(RunBusy), Annotation(bed, "anna").opened():
            pass
        annotate(bed, "ben", first_model)
    assert annotators(bed) == ("anna", "ben")


@pytest.mark.parametrize("name", ["", "../anna", "a/b", "-x", "anna\n", "x" * 65])
def test_a_name_that_is_no_folder_is_refused(name: str, bed: Bed) -> None:
    with pytest.raises(ConfigError, match="is no name of an annotator"):
        Annotation(bed, name)
