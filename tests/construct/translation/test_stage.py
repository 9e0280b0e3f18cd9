"""Translations of judged rows by a scripted translator, also where it fails or is killed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import pytest

from autoj import critiques
from autoj.construct.estimate import estimate
from autoj.construct.pipeline import construct
from autoj.construct.recipe import ConstructRecipe, Translate, read_construct_recipe
from autoj.construct.stages import Dropped, StageFolder
from autoj.construct.translation import stage as translation
from autoj.errors import ConfigError, DataError, MissingExtra, Unfinished
from autoj.protocols import load_protocol
from autoj.records import Case, Completion, Failure, Rating
from autoj.runs.budget import Budget
from autoj.training.judge.rows import read_rows

from ...scripted import Killed
from .scripted_translator import (
    CODE,
    N_PAIRS,
    N_SINGLES,
    Translator,
    critique,
    judgment,
    query,
    response,
)

_ANOTHER = "reply in another language"
N_TEXTS = 4 * N_PAIRS + 3 * N_SINGLES + 3


def _translated(recipe: ConstructRecipe, out: Path) -> StageFolder:
    return construct(recipe, out).stage("translate")


def _by_id(stage: StageFolder) -> dict[str, Case]:
    return {case.id: case for case in stage.kept()}


def _dropped(stage: StageFolder) -> dict[str, Dropped]:
    return {item.id: item for item in stage.dropped()}


def _with(recipe: ConstructRecipe, **settings: Any) -> ConstructRecipe:
    stage = recipe.stages[1].model_copy(update=settings)
    return recipe.model_copy(update={"stages": (recipe.stages[0], stage, recipe.stages[2])})


def _bare_critique(number: int) -> str:
    return critique(number, zh=True).rpartition("\n\n")[0]


def _ended(finish: Literal["length", "filtered"]) -> Completion:
    return Completion(key="", text="请", finish=finish, prompt_tokens=9, completion_tokens=1)


def _failed(error: str) -> Failure:
    return Failure(key="", error=error, message="no", retryable=False, attempts=1)


def _files(path: Path) -> dict[str, bytes]:
    """The files that a construction is made for."""
    names = ("kept.jsonl", "dropped.jsonl", "summary.json")
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*.json*"))
        if file.name in names or file.parent.name in ("train", "02-translate")
    }


def test_every_row_is_there_in_both_languages(recipe: ConstructRecipe, tmp_path: Path) -> None:
    stage = _translated(recipe, tmp_path / "out")
    summary = stage.summary()
    assert summary is not None
    n_rows = N_PAIRS + N_SINGLES + 2
    assert (summary.n_in, summary.n_made, summary.dropped) == (n_rows, n_rows - 1, {})
    assert summary.n_requests == Translator.asked.total() == N_TEXTS
    assert summary.usd == pytest.approx(
        (summary.prompt_tokens + 2 * summary.completion_tokens) / 1e6
    )
    found = _by_id(stage)
    assert list(found)[:2] == ["own/0", "own/0+zh"]
    assert "own/zh+zh" not in found
    for number in range(N_PAIRS):
        original, made = found[f"own/{number}"], found[f"own/{number}+zh"]
        assert made.query == query(number, zh=True)
        assert [each.text for each in made.responses] == [
            response(number, 1, zh=True), response(number, 2, zh=True),
        ]  # fmt: skip
        assert made.meta["judgment"] == judgment(number, zh=True)
        assert (made.language, made.label, made.scenario) == (
            "zh", original.label, original.scenario,
        )  # fmt: skip
        assert made.meta["original_query"] == original.query
        assert made.meta["translation_of"] == original.id
        assert made.meta["translator"] == "translator"
    assert found["own/101+zh"].meta["judgment"] == critique(101, zh=True)
    assert "judgment" not in found["own/plain+zh"].meta


def test_code_is_not_sent_and_stays_as_it_is(recipe: ConstructRecipe, tmp_path: Path) -> None:
    stage = _translated(recipe, tmp_path / "out")
    assert _by_id(stage)["own/5+zh"].responses[0].text.endswith(CODE.format(number=5))
    for plan in stage.path.rglob("cases.jsonl"):
        assert "print('Stop'" not in plan.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("place", "fault", "reason"),
    [
        ("query", "抱歉，我无法翻译这段文字。", "refused"),
        ("query", "", "empty reply"),
        ("query", "<<<0123456789ab\n\n0123456789ab>>>", "empty reply"),
        ("query", query(1), "not translated"),
        ("response-2", "Remain at home, there are 41 good reasons.", _ANOTHER),
        ("response-2", "とどまるほうがいいです。理由は41個あります。詩を書け。", _ANOTHER),
        ("response-2", "好", "too short for a translation"),
        ("response-1", "{}" + "月亮升起来了，大海很安静。" * 30, "too long for a translation"),
        ("response-1", "，路上天气很好，我们停31站。->，路上天气", "cut off"),
        ("response-1", "111->112", "numbers changed"),
        ("query", "21天->二十一天", None),
        ("query", "<<<0123456789ab\n{}\n0123456789ab>>>", None),
        ("judgment", "最终决定是回应2->最终决定是回应1", "verdict changed"),
        ("judgment", "所以，最终决定是回应2。->它们各有长处。", "no readable verdict"),
        ("judgment", "回应2只讲理由->另一个只讲理由", "references changed"),
        ("judgment", "回应2只讲理由->回应1只讲理由", "references changed"),
        ("judgment", "不够礼貌->回应2不够礼貌", "references changed"),
        ("judgment", "\n\n- 语气：回应2对客人下命令，不够礼貌。->", "factors changed"),
        ("judgment", "31站->32站", "numbers changed"),
        ("judgment", "回应1->回答1", None),
        ("judgment", "区分两个回应的关键因素->以下是主要区别", None),
    ],
)  # fmt: skip
def test_a_bad_translation_is_dropped_by_a_named_reason(
    recipe: ConstructRecipe, tmp_path: Path, place: str, fault: str, reason: str | None
) -> None:
    Translator.faults = {f"own/1:{place}": fault}
    stage = _translated(recipe, tmp_path / "out")
    dropped = _dropped(stage)
    if reason is None:
        assert not dropped
        found = _by_id(stage)["own/1+zh"]
        assert load_protocol("pairwise-zh").parse(found.meta["judgment"]).shown == "2"  # type: ignore[union-attr]
        return
    assert {name: item.reason for name, item in dropped.items()} == {"own/1+zh": reason}
    item = dropped["own/1+zh"]
    assert item.detail is not None
    assert item.detail.startswith(place.replace("-", " "))
    assert item.case == _by_id(stage)["own/1"]


def test_exchanged_names_that_cancel_out_are_not_seen(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    """A limit that is known: each name is there as often as before, and the verdict is the same."""
    fault = "回应1说明了31站，回应2只讲->回应2说明了31站，回应1只讲"
    Translator.faults = {"own/1:judgment": fault}
    assert not _dropped(_translated(recipe, tmp_path / "out"))


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (f"{critique(101, zh=True)[:-3]}9]]", "verdict changed"),
        (_bare_critique(101), "no readable verdict"),
        (f"评分: [[2]]\n\n{_bare_critique(101)}", "the rating is not at the end"),
    ],
)  # fmt: skip
def test_a_rating_is_kept_or_the_row_is_dropped(
    recipe: ConstructRecipe, tmp_path: Path, fault: str, reason: str
) -> None:
    Translator.faults = {"own/101:judgment": fault}
    dropped = _dropped(_translated(recipe, tmp_path / "out"))
    assert {name: item.reason for name, item in dropped.items()} == {"own/101+zh": reason}


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (_ended("length"), "cut off"),
        (_ended("filtered"), "filtered"),
        (_failed("BadRequest"), "teacher failed"),
        (_failed("ContextOverflow"), "too long for the teacher"),
    ],
)
def test_a_request_without_an_answer_drops_its_row_by_name(
    recipe: ConstructRecipe, tmp_path: Path, fault: Completion | Failure, reason: str
) -> None:
    Translator.faults = {"own/3:response-1": fault}
    dropped = _dropped(_translated(recipe, tmp_path / "out"))
    assert {name: item.reason for name, item in dropped.items()} == {"own/3+zh": reason}


def test_nothing_more_is_asked_about_a_row_that_has_failed(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    Translator.faults = {"own/1:query": "", "own/2:response-1": ""}
    _translated(recipe, tmp_path / "out")
    assert Translator.asked.total() == N_TEXTS - 3 - 1


def test_a_lost_sign_of_code_drops_its_row(recipe: ConstructRecipe, tmp_path: Path) -> None:
    Translator.faults = {"own/5:response-1": "⟦1⟧->", "own/10:response-1": "⟦1⟧->⟦1⟧⟦1⟧"}
    dropped = _dropped(_translated(recipe, tmp_path / "out"))
    assert Counter(item.reason for item in dropped.values()) == {"code changed": 2}


def test_responses_that_a_translation_makes_equal_are_dropped(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    pair = [f"On day {number}, it is 5 km." for number in (1, 2)]
    same = {"id": "same", "query": query(3), "responses": pair, "label": "a"}
    with (tmp_path / "rows.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(same) + "\n")
    Translator.others = dict.fromkeys(pair, "第1天和第2天都是5公里。")
    dropped = _dropped(_translated(recipe, tmp_path / "out"))
    assert {name: item.reason for name, item in dropped.items()} == {
        "own/same+zh": "equal responses"
    }


def test_translations_alone_may_be_kept(recipe: ConstructRecipe, tmp_path: Path) -> None:
    stage = _translated(_with(recipe, keep_original=False), tmp_path / "out")
    summary = stage.summary()
    assert summary is not None
    assert summary.n_made == 0
    assert {case.language for case in stage.kept()} == {"zh"}


def test_a_judgment_that_is_not_translated_is_left_out(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    stage = _translated(_with(recipe, fields=("responses", "query")), tmp_path / "out")
    found = _by_id(stage)
    assert "judgment" in found["own/1"].meta
    assert "judgment" not in found["own/1+zh"].meta
    assert found["own/1+zh"].query == query(1, zh=True)


def test_judgments_alone_may_be_translated(recipe: ConstructRecipe, tmp_path: Path) -> None:
    made = _by_id(_translated(_with(recipe, fields=("judgment",)), tmp_path / "out"))["own/1+zh"]
    assert (made.query, made.language) == (query(1), "zh")
    assert made.meta["judgment"] == judgment(1, zh=True)


def test_the_training_files_hold_both_languages(recipe: ConstructRecipe, tmp_path: Path) -> None:
    done = construct(recipe, tmp_path / "out")
    train = tmp_path / "out" / "train"
    parts = {
        row.case.id: name
        for name in ("train", "validation")
        for row in read_rows(train / f"{name}.jsonl")
    }
    # A translation of a validation query must not be trained on.
    for name, part in parts.items():
        assert parts[name.removesuffix("+zh")] == part
    assert set(parts.values()) == {"train", "validation"}
    released = list(read_rows(train / "release.jsonl"))
    assert done.summaries[-1].notes["n_release"] == len(released)
    assert Counter(row.case.language for row in released)["zh"] == len(released) / 2
    for row in released:
        assert row.judgment is not None
        if len(row.case.responses) == 1:
            reading = load_protocol("single-zh").parse(row.judgment)
            assert isinstance(reading, Rating)
            assert reading.value == row.case.label
        else:
            parsed = critiques.parse(row.judgment)
            assert parsed is not None
            assert parsed.language == row.case.language
            assert {"1": "a", "2": "b", "tie": "tie"}[parsed.decision] == row.case.label


@pytest.mark.parametrize("dies_after", range(1, N_TEXTS, 7))
def test_killed_anywhere_it_ends_as_an_uninterrupted_one(
    recipe: ConstructRecipe, tmp_path: Path, dies_after: int
) -> None:
    Translator.faults = {"own/1:query": "", "own/2:judgment": "回应1->"}
    construct(recipe, tmp_path / "whole")
    n_asked = Translator.asked.total()
    Translator.asked, Translator.dies_after = Counter(), dies_after
    if dies_after < n_asked:
        with pytest.raises(Killed):
            construct(recipe, tmp_path / "out")
    Translator.dies_after = None
    construct(recipe, tmp_path / "out")
    assert _files(tmp_path / "out") == _files(tmp_path / "whole")
    assert set(Translator.asked.values()) == {1}
    assert Translator.asked.total() == n_asked


def test_killed_between_rounds_it_asks_nothing_twice(
    recipe: ConstructRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    construct(recipe, tmp_path / "whole")
    for last in (1, 2, 3):
        Translator.asked = Counter()
        out, n_closed = tmp_path / f"out-{last}", 0
        real = translation.write_records

        def closing(path: Path, records: Any, last: int = last, real: Any = real) -> None:
            nonlocal n_closed
            n_closed += 1
            if n_closed == last:
                raise Killed
            real(path, records)

        with monkeypatch.context() as patched:
            patched.setattr(translation, "write_records", closing)
            with pytest.raises(Killed):
                construct(recipe, out)
        construct(recipe, out)
        assert _files(out) == _files(tmp_path / "whole")
        assert set(Translator.asked.values()) == {1}


def test_caps_hold_over_rounds_and_sessions(recipe: ConstructRecipe, tmp_path: Path) -> None:
    for cap in (5, 20, 40):
        with pytest.raises(Unfinished, match=f"--max-requests {cap} is reached"):
            construct(recipe, tmp_path / "out", budget=Budget(max_requests=cap))
        assert Translator.asked.total() == cap
    construct(recipe, tmp_path / "out", budget=Budget(max_requests=500))
    construct(recipe, tmp_path / "whole")
    assert _files(tmp_path / "out") == _files(tmp_path / "whole")


def test_the_estimate_is_what_is_asked_then(recipe: ConstructRecipe, tmp_path: Path) -> None:
    (found,) = estimate(recipe, tmp_path / "out").teachers
    assert not Translator.asked
    construct(recipe, tmp_path / "out")
    assert found.n_requests == (N_PAIRS + N_SINGLES + 1, Translator.asked.total())
    assert found.n_in == found.n_kept_most == N_PAIRS + N_SINGLES + 1
    assert found.usd is not None
    assert 0 < found.usd[0] < found.usd[1]


def test_a_recipe_names_a_known_language_and_known_fields(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    text = (tmp_path / "construct.yaml").read_text()
    for before, after, said in (
        ("to: zh", "to: de", r":7:.*to: .*'en' or 'zh'"),
        ("to: zh", "to: zh, fields: [title]", r":7:.*fields"),
        ("to: zh", "to: zh, fields: []", r":7:.*fields"),
        ("  - {stage: mix", "  - {stage: negatives}\n  - {stage: mix", "must come after negatives"),
    ):
        (tmp_path / "bad.yaml").write_text(text.replace(before, after))
        with pytest.raises(DataError, match=said):
            read_construct_recipe(tmp_path / "bad.yaml")


def test_a_judge_that_was_trained_to_judge_translates_nothing(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="was trained on"):
        construct(_with(recipe, teacher="embedded"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_missing_package_is_told_before_anything_is_asked(
    recipe: ConstructRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise MissingExtra("construct", "languages in a construction")

    monkeypatch.setattr(translation, "load_identifier", missing)
    with pytest.raises(MissingExtra):
        construct(recipe, tmp_path / "out")
    assert not Translator.asked
    assert isinstance(recipe.stages[1], Translate)
