"""Training files to rows, and rated responses to pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.errors import DataError
from autoj.training.judge.rows import (
    TrainingRow,
    compare_together,
    pairs_from_ratings,
    read_rows,
    training_file,
)
from tests.training import toy


def rated(folder: Path, *ratings: float, query: str = "Why?") -> Path:
    rows = [
        {"id": f"r{index}", "query": query, "responses": [f"Text {index}"], "label": rating}
        for index, rating in enumerate(ratings)
    ]
    return toy.write_rows(folder / "rated.jsonl", rows)


def test_a_judgment_stands_in_meta_or_in_the_releases_field(tmp_path: Path) -> None:
    native = toy.write_rows(tmp_path / "native.jsonl", toy.rated_rows(1))
    (row,) = read_rows(native)
    assert row.judgment == "Case 0 is plain.\n\nRating: [[1]]"
    assert (row.line, row.path) == (1, native)
    prompt = "[BEGIN DATA]\n***\n[Query]: Q\n***\n[Response]: R\n***\n[END DATA]"
    released = toy.write_rows(
        tmp_path / "released.jsonl", [{"usrmsg": prompt, "target_output": "Fine. Rating: [[6]]"}]
    )
    (row,) = read_rows(released)
    assert row.judgment == "Fine. Rating: [[6]]"


def test_a_bad_row_ends_it_or_is_counted(tmp_path: Path) -> None:
    path = toy.write_rows(tmp_path / "rows.jsonl", [*toy.rated_rows(1), {"query": "Q"}])
    with pytest.raises(DataError, match=r"rows\.jsonl:2"):
        list(read_rows(path))
    bad_rows: list[DataError] = []
    assert len(list(read_rows(path, bad_rows))) == 1
    assert [error.line for error in bad_rows] == [2]


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(DataError, match="empty"):
        list(read_rows(tmp_path / "empty.jsonl"))


def test_responses_rated_apart_become_pairs(tmp_path: Path) -> None:
    pairs = pairs_from_ratings(
        list(read_rows(rated(tmp_path, 9, 2, 8, 5))), gap=3, per_query=9, seed=0
    )
    found = {
        tuple(response.text for response in row.case.responses): row.case.label for row in pairs
    }
    # 9 over 2, 9 over 5, 8 over 2, 8 over 5, 5 over 2; 9 and 8 are too close.
    assert len(pairs) == len(found) == 5
    better = {
        tuple(texts if label == "a" else texts[::-1]) for texts, label in found.items()
    }  # fmt: skip
    assert better == {
        ("Text 0", "Text 1"), ("Text 0", "Text 3"), ("Text 2", "Text 1"), ("Text 2", "Text 3"),
        ("Text 3", "Text 1"),
    }  # fmt: skip
    assert set(found.values()) == {"a", "b"}
    assert len({row.case.id for row in pairs}) == 5


def test_responses_to_other_queries_are_no_pair(tmp_path: Path) -> None:
    one = list(read_rows(rated(tmp_path, 9)))
    other = list(read_rows(rated(tmp_path, 1, query="Who?")))
    assert pairs_from_ratings(one + other, gap=1, per_query=9, seed=0) == []


def test_one_query_with_many_responses_does_not_crowd_out_the_others(tmp_path: Path) -> None:
    rows = list(read_rows(rated(tmp_path, *range(1, 11))))
    pairs = pairs_from_ratings(rows, gap=1, per_query=4, seed=0)
    assert len(pairs) == len({row.case.id for row in pairs}) == 4
    assert pairs == pairs_from_ratings(rows, gap=1, per_query=4, seed=0)


def labelled(folder: Path, *pairs: tuple[str, str, str], query: str = "Why?") -> list[TrainingRow]:
    rows = [
        {"id": f"p{at}", "query": query, "responses": [one, other], "label": label}
        for at, (one, other, label) in enumerate(pairs)
    ]
    return list(read_rows(toy.write_rows(folder / "pairs.jsonl", rows)))


def texts_of(row: TrainingRow) -> list[str]:
    return [response.text for response in row.case.responses]


def test_labels_of_the_same_two_responses_become_one(tmp_path: Path) -> None:
    rows = labelled(tmp_path, ("X", "Y", "a"), ("Y", "X", "a"), ("X", "Y", "tie"), ("Y", "X", "b"))
    (row,) = compare_together(rows, 2)
    (comparison,) = row.comparisons
    # X won as the first of the first pair and as the second of the last.
    assert (comparison.first, comparison.second) == (0, 1)
    assert comparison.shares == (0.5, 0.25, 0.25)
    assert texts_of(row) == ["X", "Y"]
    assert row.case.label is None


@pytest.mark.parametrize("most", [2, 3, 4, 9])
def test_no_comparison_is_lost_or_made_twice(tmp_path: Path, most: int) -> None:
    texts = [f"T{at}" for at in range(7)]
    pairs = [(one, other, "a") for at, one in enumerate(texts) for other in texts[at + 1 :]]
    rows = compare_together(labelled(tmp_path, *pairs), most)
    made = [
        (texts_of(row)[one.first], texts_of(row)[one.second])
        for row in rows
        for one in row.comparisons
    ]
    assert sorted(made) == sorted((one, other) for one, other, _ in pairs)
    assert max(len(texts_of(row)) for row in rows) <= most
    if most == 9:
        assert len(rows) == 1
    if most == 2:
        assert [row.line for row in rows] == list(range(1, len(pairs) + 1))


def test_only_responses_to_the_same_query_are_compared(tmp_path: Path) -> None:
    one = labelled(tmp_path, ("X", "Y", "a"))
    other = labelled(tmp_path, ("X", "Z", "b"), query="How?")
    assert [texts_of(row) for row in compare_together(one + other, 9)] == [["X", "Y"], ["X", "Z"]]


def test_equal_texts_say_nothing(tmp_path: Path) -> None:
    assert compare_together(labelled(tmp_path, ("X", "X", "a")), 9) == []


def test_a_constructions_folder_stands_for_its_training_file(tmp_path: Path) -> None:
    assert training_file(tmp_path) == tmp_path
    (tmp_path / "train.jsonl").touch()
    assert training_file(tmp_path) == tmp_path / "train.jsonl"
    assert training_file(tmp_path / "train.jsonl") == tmp_path / "train.jsonl"
