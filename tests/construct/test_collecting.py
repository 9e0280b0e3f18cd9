"""Sources of a construction: languages, and rows that are of no use."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoj.construct.collecting import collect, open_sources
from autoj.construct.recipe import Collect, ConstructRecipe, PairFile
from autoj.construct.stages import Dropped, Outcome
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.jsonl import write_records
from autoj.records import Case

FILES = Path(__file__).parents[1] / "datasets" / "files"

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


def _collected(
    *sources: PairFile, queries: bool = False, **settings: Any
) -> tuple[list[Outcome], dict[str, Any]]:
    stage = Collect.model_validate({"stage": "collect", **settings})
    recipe = ConstructRecipe(title="t", seed=1, sources=sources, stages=(stage,))
    notes: dict[str, Any] = {}
    return list(collect(recipe, stage, notes, queries=queries)), notes


def _published(name: str, **fields: Any) -> PairFile:
    return PairFile(data=str(FILES / f"{name}.jsonl"), **fields)


def test_a_source_that_always_has_the_better_one_first_does_not_tell_it(tmp_path: Path) -> None:
    rows = [
        {"id": number, "query": "q", "responses": ["good", "bad"], "label": "a"}
        for number in range(400)
    ]
    write_records(tmp_path / "rows.jsonl", rows)
    source = PairFile(data=str(tmp_path / "rows.jsonl"))
    found, notes = _collected(source)
    assert found == _collected(source)[0]
    labels = Counter(case.label for case in found if isinstance(case, Case))
    assert 150 < labels["a"] < 250
    assert notes["sources"][0]["labels"] == {
        "a": labels["a"], "b": labels["b"], "tie": 0, "rating": 0, "none": 0,
    }  # fmt: skip
    for case in found:
        assert isinstance(case, Case)
        assert case.responses["ab".index(str(case.label))].text == "good"
    as_published, _ = _collected(source, shuffle=False)
    assert {case.label for case in as_published if isinstance(case, Case)} == {"a"}


def test_of_longer_conversations_the_first_turn_is_kept_or_none() -> None:
    kept, _ = _collected(_published("chatbot-arena"), shuffle=False)
    assert [len(case.responses[0].text) for case in kept if isinstance(case, Case)] == [5, 4, 3]
    single, _ = _collected(_published("chatbot-arena"), turns="single")
    assert [item.reason for item in single if isinstance(item, Dropped)] == ["several turns"]
    assert len(single) == len(kept)


def test_benchmarks_serve_testing_only() -> None:
    with pytest.raises(ConfigError, match="serve testing only"):
        _collected(_published("mt-bench-votes"))
    found, _ = _collected(_published("mt-bench-votes"), purpose="testing")
    assert len(found) == 2


def test_votes_on_a_later_turn_are_dropped_by_that_name(tmp_path: Path) -> None:
    line = (FILES / "mt-bench-votes.jsonl").read_text().splitlines()[0]
    (tmp_path / "votes.jsonl").write_text(line.replace('"turn": 1', '"turn": 2') + "\n" + line)
    source = PairFile(data=str(tmp_path / "votes.jsonl"))
    found, _ = _collected(source, purpose="testing")
    assert [getattr(item, "reason", "kept") for item in found] == ["later turn", "kept"]


def test_homogeneous_sources_have_a_scenario_of_their_own() -> None:
    found, _ = _collected(_published("webgpt-comparisons"), _published("summarize-from-feedback"))
    assert {case.scenario for case in found if isinstance(case, Case)} == {
        "open_question", "post_summarization", "text_summarization",
    }  # fmt: skip


def test_queries_alone_are_refused_as_pairs_and_taken_as_queries() -> None:
    with pytest.raises(DataError, match="holds queries alone") as told:
        _collected(_published("sharegpt"))
    assert "--queries" in str(told.value.hint)
    found, notes = _collected(_published("sharegpt"), _published("shp"), queries=True)
    assert [case.query for case in found if isinstance(case, Case)][:2] == [
        "Name three herbs.",
        "Why is tea bitter?",
    ]
    assert all(isinstance(case, Case) and not case.responses for case in found)
    assert [source["n_kept"] for source in notes["sources"]] == [2, 2]


def test_columns_of_other_names_are_mapped(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("asked,one,two,won\nWhy?,So.,No.,2\n")
    source = PairFile(data=str(tmp_path / "own.csv"), map="query=asked,a=one,b=two,label=won:1/2/0")
    (case,), _ = _collected(source, shuffle=False)
    assert isinstance(case, Case)
    assert (case.id, case.label) == ("own/line-2", "b")


def test_a_format_or_a_scenario_that_there_is_not_is_told() -> None:
    for field in ({"format": "nativ"}, {"scenario": "planing"}):
        source = _published("native", **field)
        recipe = ConstructRecipe(title="t", sources=(source,), stages=(Collect(stage="collect"),))
        with pytest.raises(UnknownComponent):
            open_sources(recipe, Collect(stage="collect"))


def test_the_name_of_a_data_set_of_the_hub_is_that_of_its_rows() -> None:
    source = PairFile(data="hf-dataset:owner/pairs@v0:small:train")
    assert source.called == "pairs-small-train"


RESPONSES = st.lists(st.sampled_from(["one", "two", "", "x" * 300]), min_size=1, max_size=3)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"query": st.sampled_from(["q", "r", " ", 7, "x" * 300])},
        optional={
            "id": st.integers(0, 3),
            "responses": RESPONSES,
            "label": st.sampled_from(["a", "b", "tie", None, "?", 3.0]),
        },
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=3))
def test_every_row_is_kept_or_dropped_once_also_where_ids_are_repeated(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[dict[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    sources = []
    for number, rows in enumerate(files):
        # Two sources may have rows of the same ids; the first row only makes the file's format.
        first = {"id": "first", "query": "q", "responses": ["a", "b"], "label": "a"}
        write_records(folder / f"{number}.jsonl", [first, *rows])
        sources.append(PairFile(data=str(folder / f"{number}.jsonl")))
    found, notes = _collected(*sources, max_characters=100)
    assert len(found) == sum(len(rows) + 1 for rows in files)
    kept = [case for case in found if isinstance(case, Case)]
    assert len({case.id for case in kept}) == len(kept)
    for source, rows in zip(notes["sources"], files, strict=True):
        assert source["n_in"] == len(rows) + 1
        assert source["n_kept"] == sum(case.id.startswith(f"{source['name']}/") for case in kept)
        assert source["n_kept"] == sum(source["labels"].values())
    for item in found:
        if isinstance(item, Dropped):
            assert item.id
            assert item.reason
