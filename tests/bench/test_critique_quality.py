"""Planted errors: rules against critiques written by hand, figures by hand, runs, baselines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoj.bench.critique_quality.evaluate import (
    Written,
    WrittenPair,
    baselines,
    echoed_pairs,
    evaluate,
    shuffled,
)
from autoj.bench.critique_quality.matching import Reading, read_planted_critique
from autoj.bench.critique_quality.measure import CritiqueJudge, measure_critique_quality
from autoj.bench.critique_quality.planted import PlantedError, planted_cases, read_planted
from autoj.bench.sources import StoredRun
from autoj.errors import DataError
from autoj.records import Request
from autoj.tasks import engine

from ..scripted import CARD, Recorder
from .written_critiques import MISREAD, TABLE, Expected

SHIPPED = Path(__file__).parents[2] / "data" / "own" / "planted_errors.jsonl"
ROWS = read_planted(SHIPPED)
BY_ID = {row.id.removeprefix("planted-"): row for row in ROWS}


def reading(expected: Expected) -> Reading:
    return read_planted_critique(expected.critique, BY_ID[expected.row], "planted")


@pytest.mark.parametrize("expected", TABLE, ids=lambda its: f"{its.row}: {its.critique[:40]}")
def test_a_critique_is_read_as_a_reader_reads_it(expected: Expected) -> None:
    found = reading(expected)
    assert (found.names_error, found.accuses) == (expected.named, expected.accuses)


def test_the_table_is_long_and_what_is_misread_is_known() -> None:
    assert len(TABLE) >= 60
    for expected in MISREAD:
        found = reading(expected)
        assert (found.names_error, found.accuses) != (expected.named, expected.accuses)


def test_a_number_within_another_one_is_no_name() -> None:
    row = BY_ID["a-001"]
    for text in ("It should say 646 desks.", "The 64.5 is wrong.", "1,464 is wrong."):
        assert not read_planted_critique(text, row, "planted").names_error


def test_only_quotations_of_the_texts_are_held_and_corrections_are_no_quotations() -> None:
    row = BY_ID["a-001"]
    found = read_planted_critique(
        'It says "64 desks" where it should be "46 places". It has "a tearoom".', row, "planted"
    )
    assert (found.n_quotations, found.n_quotations_held) == (2, 1)


def test_a_claim_that_is_repeated_counts_once() -> None:
    text = "The response is wrong. " * 30
    assert read_planted_critique(text, ROWS[0], "clean").n_claims == 1


def test_a_critique_that_repeats_the_response_names_little() -> None:
    found = evaluate(ROWS, echoed_pairs(ROWS), critic="echo", source="")
    named = found.estimate("planted errors named")
    assert named is not None
    assert named.value is not None
    assert named.value < 0.06


def pair(planted: Written, clean: Written) -> WrittenPair:
    return WrittenPair(planted=planted, clean=clean)


FOUR = [
    # Named; the twin is praised, each rated as its critique argues.
    pair(Written(critique="64 is wrong; it is 46.", rating=3), Written(critique="Good.", rating=9)),
    # Missed, and a claim about the twin that is false.
    pair(
        Written(critique="It is clear.", rating=3),
        Written(critique="The time is wrong.", rating=9),
    ),
    pair(Written(critique=None), Written(critique="Good.", rating=5)),
    pair(Written(critique="The liver is wrong.", rating=8), Written(critique="Good.", rating=8)),
]
FOUR_ROWS = [BY_ID[name] for name in ("a-001", "a-002", "a-003", "a-006")]


def test_figures_by_hand_and_an_unread_critique_is_no_miss() -> None:
    found = evaluate(FOUR_ROWS, FOUR, critic="c", source="by hand")
    values = {each.name: each.value for each in found.estimates}
    assert values["planted errors named"] == pytest.approx(2 / 3)
    assert values["clean twins accused"] == 0.25
    assert values["named, twin spared"] == pytest.approx(2 / 3)
    # Claims: "64 is wrong" and "it is 46", the twin's time, the liver.
    assert values["precision"] == pytest.approx(3 / 4)
    assert values["F1"] == pytest.approx(2 * 3 / 4 * 2 / 3 / (3 / 4 + 2 / 3))
    # Six ratings outside the middle: right for 3, 9, and 8 of the clean one.
    assert values["argues for its verdict"] == pytest.approx(3 / 6)
    assert values["clean twin rated higher"] == pytest.approx((1 + 1 + 0.5) / 3)
    assert values["quotations held"] is None
    named = found.estimate("planted errors named")
    assert named is not None
    assert (named.n, named.n_unscored, named.bounds) == (3, 1, (0.5, 0.75))
    assert found.details["cases"][2] == {
        "id": "planted-a-003", "named": None, "accused": False, "planted": None, "clean": 0,
    }  # fmt: skip


def test_baselines_that_read_nothing_name_nothing() -> None:
    perfect = [
        pair(
            Written(critique=f'"{row.span}" is wrong; it should be "{row.correct}".', rating=2),
            Written(critique="It is right and complete.", rating=9),
        )
        for row in ROWS
    ]
    ours = evaluate(ROWS, perfect, critic="perfect", source="made of the rows")
    known = {each.judge: each for each in (ours, *baselines(ROWS, perfect))}
    named = {name: its.estimate("planted errors named") for name, its in known.items()}
    values = {name: each.value for name, each in named.items() if each and each.value is not None}
    assert values["perfect"] > 0.97
    assert values["shuffled"] < 0.05
    assert values["template"] < 0.01
    accused = known["template"].estimate("clean twins accused")
    assert accused is not None
    assert accused.value == 1


def test_shuffling_gives_each_row_the_critiques_of_another() -> None:
    moved = shuffled(FOUR)
    assert sorted(map(id, moved)) == sorted(map(id, FOUR))
    assert all(one is not other for one, other in zip(moved, FOUR, strict=True))


ROW = {
    "id": "1", "query": "2+2?", "clean": "It is 4.", "planted": "It is 5.", "span": "5",
    "names": ["5"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"span": "6"}, "does not stand in"),
        ({"names": []}, "expected a list of texts"),
        ({"names": ["5", " "]}, "expected a list of texts"),
        ({"clean": "It is 5."}, "is the same text"),
        ({"query": 3}, "expected a text"),
        ({"kind": 3}, "expected a text"),
    ],
)
def test_a_file_that_is_not_of_the_layout_is_refused(
    change: dict[str, object], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(ROW) + "\n" + json.dumps(ROW | {"id": "2"} | change) + "\n")
    with pytest.raises(DataError, match=said) as caught:
        read_planted(path)
    assert caught.value.line == 2
    path.write_text(json.dumps(ROW) + "\n" + json.dumps(ROW) + "\n")
    with pytest.raises(DataError, match="used twice"):
        read_planted(path)
    path.write_text("")
    with pytest.raises(DataError, match="no rows"):
        read_planted(path)


def test_no_prompt_can_tell_which_of_the_two_is_planted() -> None:
    for _, case in planted_cases(SHIPPED, ROWS[:3]).readable():
        shown = f"{case.query}{case.responses[0].text}{dict(case.meta)}{case.responses[0].model}"
        assert "planted" not in shown


def answer(request: Request) -> str:
    if "64 desks" in request.messages[-1].content:
        return 'The number is wrong: "64 desks" should be 46.\n\nRating: [[3]]'
    return "It is clear and correct.\n\nRating: [[8]]"


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(engine, "load_backend", lambda card: Recorder(answer, CARD))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "script.yaml"
    path.write_text(
        "{title: s, backend: scripted, model: s, wrapper: chatml, context_tokens: 4096, "
        "protocols: [single]}\n"
    )
    return path


def test_a_judge_is_run_and_its_run_gives_the_same_figures(card: Path, tmp_path: Path) -> None:
    source = CritiqueJudge(judge=str(card), out=tmp_path / "run")
    found = measure_critique_quality(source, cases=SHIPPED, limit=4)
    assert found.result is not None
    values = {each.name: each.value for each in found.result.estimates}
    assert (values["planted errors named"], values["clean twins accused"]) == (0.25, 0)
    assert values["precision"] == 1
    again = measure_critique_quality(StoredRun(tmp_path / "run"), cases=SHIPPED, limit=4)
    assert again.result == found.result
    with pytest.raises(DataError, match="not a run of this set"):
        measure_critique_quality(StoredRun(tmp_path / "run"), cases=SHIPPED, limit=5)
    found.keep()
    assert (tmp_path / "run" / "critique-quality.json").exists()


def test_without_a_judge_there_are_the_baselines_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = measure_critique_quality(None, cases=SHIPPED, limit=10)
    assert found.result is None
    assert [each.judge for each in found.baselines] == ["template", "echo"]
    assert found.as_json()["published"]["scores"][0]["precision"] == 0.764
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        measure_critique_quality(None)


def test_a_row_of_our_own_needs_no_kind(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(ROW) + "\n")
    (row,) = read_planted(path)
    assert row == PlantedError(
        id="1", query="2+2?", clean="It is 4.", planted="It is 5.", span="5", correct="",
        names=("5",),
    )  # fmt: skip
    assert evaluate([row], FOUR[:1], critic="c", source="").parts == {}
