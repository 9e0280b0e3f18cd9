"""Judgments that the rows of a source bring along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj.construct.pipeline import Construction, construct
from autoj.construct.recipe import ConstructRecipe, PairFile
from autoj.critiques import Factor, PairCritique, render, strip_rating
from autoj.jsonl import write_records
from autoj.protocols import load_protocol
from autoj.records import Rating
from autoj.training.judge.rows import read_rows

_MIX = {"stage": "mix", "validation": 0, "swap": False}
_RATE = "[BEGIN DATA]\n***\n[Query]: Name a river.\n***\n[Response]: The Oder.\n***\n[END DATA]"
_RATE_ZH = (
    "请评分。\n[BEGIN DATA]\n***\n[用户问询]: 说出一条河。\n***\n[回应]: 奥得河。\n***\n[END DATA]"
)


def _constructed(path: Path, out: Path) -> Construction:
    recipe = ConstructRecipe.model_validate(
        {
            "title": "t",
            "sources": [PairFile(data=str(path), name="own")],
            "stages": [{"stage": "collect", "unlabelled": "keep", "shuffle": False}, _MIX],
        }
    )
    return construct(recipe, out)


def _made(tmp_path: Path, *rows: dict[str, Any]) -> Construction:
    write_records(tmp_path / "rows.jsonl", list(rows))
    return _constructed(tmp_path / "rows.jsonl", tmp_path / "out")


def _released(tmp_path: Path) -> list[dict[str, Any]]:
    text = (tmp_path / "out" / "train" / "release.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("prompt", "target", "protocol", "closed"),
    [
        (_RATE, "Good.\n\n**Overall Rating: [[8]]**", "single", "Good.\n\nRating: [[8]]"),
        (_RATE, "Good. Rating: [[6.5]].", "single", "Good.\n\nRating: [[6.5]]"),
        (_RATE_ZH, "很好。\n\n评分：[[8]]。", "single-zh", "很好。\n\n评分: [[8]]"),
        (_RATE_ZH, "很好。\n\n评级：[[10]]", "single-zh", "很好。\n\n评分: [[10]]"),
    ],
)
def test_a_judged_response_is_written_with_the_prompt_and_the_words_of_its_protocol(
    tmp_path: Path, prompt: str, target: str, protocol: str, closed: str
) -> None:
    _made(tmp_path, {"usrmsg": prompt, "target_output": target})
    (row,) = _released(tmp_path)
    assert row["target_output"] == closed
    (trained,) = read_rows(tmp_path / "out" / "train" / "train.jsonl")
    (message,) = load_protocol(protocol).build(trained.case, (0,)).messages
    assert row["usermsg"] == message.content
    reading = load_protocol(protocol).parse(closed)
    assert isinstance(reading, Rating)
    assert row["pred_score"] == reading.value == trained.case.label


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"target_output": "It is short."}, "no readable rating"),
        ({"target_output": "Rating: [[11]]"}, "no readable rating"),
        ({"target_output": "Rating: [[5]]\n\nShort."}, "the rating is not at the end"),
        ({"target_output": "Rating: [[5]]"}, "no critique"),
        ({"target_output": "Good. Rating: [[5]]", "pred_score": 6}, "disagrees with the label"),
        ({"target_output": ""}, "not two responses"),
        ({}, "not two responses"),
    ],
)
def test_a_response_without_a_judgment_to_learn_from_is_dropped_by_name(
    tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    good = {"usrmsg": _RATE_ZH, "target_output": "很好。评分：[[8]]"}
    done = _made(tmp_path, {"usrmsg": _RATE, **fields}, good)
    assert done.summaries[0].dropped == {reason: 1}


@pytest.mark.parametrize(
    ("response", "judgment", "reason"),
    [(" ", "Empty. Rating: [[1]]", "empty response"), ("r", 7, "not two responses")],
)
def test_native_rows_of_one_response_are_read_likewise(
    tmp_path: Path, response: str, judgment: object, reason: str
) -> None:
    good = {"query": "q", "response": "r", "meta": {"judgment": "Good. Rating: [[8]]"}}
    bad = {"query": "q", "response": response, "meta": {"judgment": judgment}}
    assert _made(tmp_path, good, bad).summaries[0].dropped == {reason: 1}


def test_the_judgment_of_a_released_pair_is_taken_where_it_states_the_label(
    tmp_path: Path,
) -> None:
    shown = "[用户问询]: 哪个更长？\n***\n[回应1]: 一英里。\n***\n[回应2]: 一米。"
    prompt = f"[BEGIN DATA]\n***\n{shown}\n***\n[END DATA]"
    critique = PairCritique(
        factors=(Factor(name="正确", explanation="回应1是对的。"),), decision="1", language="zh"
    )
    judgment = render(critique)
    row = {"usermsg": prompt, "target_output": judgment}
    done = _made(tmp_path, {**row, "gt_label": 0}, {**row, "gt_label": 1})
    first, second = done.stage("collect").kept()
    assert (first.language, first.meta, second.meta) == ("zh", {"judgment": judgment}, {})
    (released,) = _released(tmp_path)
    assert (released["target_output"], released["gt_label"]) == (judgment, 0)


def test_the_releases_chinese_rows_become_rows_in_the_golden_prompt(
    data_folder: Path, tmp_path: Path
) -> None:
    path = data_folder / "autoj" / "zh_single_traindata.jsonl"
    golden = json.loads((data_folder / "autoj" / "golden_prompts.json").read_text("utf-8"))
    model = next(row for row in golden if row["name"] == "single_zh")
    done = _constructed(path, tmp_path / "out")
    assert done.summaries[0].n_in == 960
    assert done.summaries[0].dropped == {"no readable rating": 16}
    assert done.summaries[0].n_kept == done.summaries[1].notes["n_release"] == 944
    # The golden prompt around its own query and response, byte for byte.
    before, query, rest = model["message"].partition(model["query"])
    between, response, after = rest.partition(model["responses"][0])
    assert query
    assert response
    cases = list(done.stage("collect").kept())
    for case, row in zip(cases, _released(tmp_path), strict=True):
        shown = before + case.query + between + case.responses[0].text + after
        assert row["usermsg"].encode() == shown.encode()
        assert row["target_output"].endswith(f"\n\n评分: [[{case.label:g}]]")
    # Of a target nothing but its last words has changed.
    targets = {
        f"own/line-{line}": json.loads(row)["target_output"]
        for line, row in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    }
    for case in cases:
        critique = strip_rating(case.meta["judgment"])
        assert targets[case.id].strip().startswith(critique)
        assert len(targets[case.id].strip()) - len(critique) < 16
