"""Sources of a construction: languages, and rows that are of no use."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.construct.collecting import collect
from autoj.construct.recipe import Collect, ConstructRecipe, PairFile
from autoj.construct.stages import Dropped, Outcome
from autoj.jsonl import write_records
from autoj.records import Case

GERMAN = "Wie spät ist es jetzt in der Schweiz, und warum stellt man dort die Uhren um?"
CHINESE = "请解释一下为什么天空是蓝色的，并且举一个例子。"
ENGLISH = "Please explain why the sky is blue, and give me an example of it."


def _outcomes(path: Path, rows: list[dict[str, object]], **settings: object) -> list[Outcome]:
    write_records(path, [{"responses": ["One.", "Two."], "label": "a", **row} for row in rows])
    stage = Collect.model_validate({"stage": "collect", **settings})
    source = PairFile(data=str(path), name="here")
    return list(collect(ConstructRecipe(title="t", sources=(source,), stages=(stage,)), stage))


def test_languages_are_identified_and_the_confidence_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("py3langid")
    rows: list[dict[str, object]] = [{"query": ENGLISH}, {"query": GERMAN}, {"query": CHINESE}]
    found = _outcomes(tmp_path / "rows.jsonl", rows, languages=["en", "zh"])
    english, german, chinese = found
    assert isinstance(english, Case)
    assert english.meta["language"] == "en"
    assert english.meta["language_confidence"] > 0.9
    assert isinstance(german, Dropped)
    assert german.reason == "another language"
    assert german.detail is not None
    assert german.detail.startswith("de (")
    assert isinstance(chinese, Case)
    assert chinese.language == "zh"


def test_varieties_of_chinese_in_its_script_are_chinese(tmp_path: Path) -> None:
    pytest.importorskip("py3langid")
    rows: list[dict[str, object]] = [
        {"query": query, "responses": ["好的。", "不行。"]}
        for query in (
            "侬今朝夜饭吃啥物事？阿拉一道去白相好伐？",
            "你哋今晚食咩嘢呀？我哋一齊去啦，好唔好呀？",
        )
    ]
    found = _outcomes(tmp_path / "rows.jsonl", rows, languages=["zh"])
    assert [type(row) for row in found] == [Case, Case]
    (refused,) = _outcomes(tmp_path / "rows.jsonl", rows[:1], languages=["en"])
    assert isinstance(refused, Dropped)
    assert refused.detail is not None
    assert refused.detail.startswith("zh (")


def test_a_short_query_is_identified_with_its_responses(tmp_path: Path) -> None:
    pytest.importorskip("py3langid")
    responses = ["The sum of both numbers is four.", "It is five, I would say, or close to it."]
    (found,) = _outcomes(
        tmp_path / "rows.jsonl", [{"query": "2+2?", "responses": responses}], languages=["en"]
    )
    assert isinstance(found, Case)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"query": "q", "responses": ["a", "b"], "label": None}, "no label"),
        ({"query": "q", "responses": ["a", "b", "c"], "label": None}, "not two responses"),
        ({"query": "q", "responses": ["a", " \n"]}, "empty response"),
        ({"query": "q", "responses": ["same", "same"]}, "equal responses"),
        ({"query": "q", "responses": ["word " * 50_000, "b"]}, "too long"),
        ({"query": 7}, "cannot be read"),
        ({"query": "q", "responses": "a"}, "cannot be read"),
    ],
)
def test_a_useless_row_is_dropped_by_a_named_reason(
    tmp_path: Path, row: dict[str, object], reason: str
) -> None:
    (found,) = _outcomes(tmp_path / "rows.jsonl", [row])
    assert isinstance(found, Dropped)
    assert found.reason == reason


def test_unlabelled_pairs_are_kept_if_the_teacher_may_label_them(tmp_path: Path) -> None:
    row: dict[str, object] = {"query": "q", "label": None}
    (found,) = _outcomes(tmp_path / "rows.jsonl", [row], unlabelled="keep")
    assert isinstance(found, Case)
    assert found.label is None


def test_ids_name_their_source_and_a_source_may_have_one_scenario(tmp_path: Path) -> None:
    write_records(
        tmp_path / "x.jsonl", [{"id": "7", "query": "q", "responses": ["a", "b"], "label": "b"}]
    )
    stage = Collect(stage="collect")
    source = PairFile(
        data=str(tmp_path / "x.jsonl"), name="summaries", scenario="text_summarization"
    )
    recipe = ConstructRecipe(title="t", sources=(source,), stages=(stage,))
    (case,) = collect(recipe, stage)
    assert isinstance(case, Case)
    assert (case.id, case.source, case.scenario) == (
        "summaries/7", "summaries", "text_summarization",
    )  # fmt: skip
