"""The files of a mix: what is in which, in both orders, and the tables of what is trained on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from autoj import critiques
from autoj.construct.held_out import held_out_scenarios
from autoj.construct.mixing import MixedFiles, write_mix
from autoj.construct.recipe import Mix
from autoj.critiques import Factor, PairCritique
from autoj.datasets import open_cases
from autoj.records import Case, Response, Shown, Winner, normalise_query
from autoj.scenarios import group_of, groups, load_library

N = 40
_SHOWN: dict[Winner, Shown] = {"a": "1", "b": "2", "tie": "tie"}
_SCENARIOS = ("planning", "chitchat", "ranking")


def judged_pair(number: int) -> Case:
    label: Winner = ("a", "b", "tie")[number % 3]
    judgment = critiques.render(
        PairCritique(
            factors=(
                Factor(name="depth", explanation=f"Response 1's plan has {number} steps."),
                Factor(name="tone", explanation="The second response is colder than the first."),
            ),
            decision=_SHOWN[label],
            remark="Both responses are polite; the latter is short.",
        )
    )
    query = f"Plan trip {number}, please."
    return Case(
        id=f"pair-{number}",
        query=query,
        responses=(Response(text=f"Go by train {number}."), Response(text="Stay.")),
        label=label,
        scenario=_SCENARIOS[number % 3],
        source="own" if number % 4 else "other",
        cluster=normalise_query(query),
        meta={"judgment": judgment, "teacher": "gpt-4"},
    )


def rated(number: int) -> Case:
    query = f"Name {number} rivers."
    return Case(
        id=f"single-{number}",
        query=query,
        responses=(Response(text="Aare."),),
        label=float(1 + number % 5),
        scenario="chitchat",
        source="own",
        cluster=normalise_query(query),
        meta={"judgment": f"Too few.\n\nRating: [[{1 + number % 5}]]", "teacher": "gpt-4"},
    )


def made_pair(number: int) -> Case:
    case = judged_pair(number)
    return Case(
        id=f"{case.id}+padded",
        query=case.query,
        responses=case.responses,
        label="a",
        scenario=case.scenario,
        source=case.source,
        cluster=case.cluster,
        meta={"made": "padded", "made_of": case.id},
    )


def rows() -> Iterator[Case]:
    yield from map(judged_pair, range(N))
    yield from map(rated, range(N // 2))
    yield from map(made_pair, range(0, N, 4))


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def mixed(folder: Path, **settings: Any) -> MixedFiles:
    return write_mix(rows(), Mix(stage="mix", **settings), folder, seed=0)


def test_every_row_is_in_one_file_and_a_query_in_one_alone(tmp_path: Path) -> None:
    counts = mixed(tmp_path, held_out=["chitchat"], validation=0.2)
    parts = {name: read(tmp_path / f"{name}.jsonl") for name in ("train", "validation", "held_out")}
    ids = [row["id"] for part in parts.values() for row in part]
    assert sorted(ids) == sorted(case.id for case in rows())
    assert counts.n_train + counts.n_validation + counts.n_held_out == len(ids)
    assert {row["scenario"] for row in parts["held_out"]} == {"chitchat"}
    assert "chitchat" not in {row["scenario"] for row in parts["train"]}
    queries = [{row["query"] for row in parts[name]} for name in ("train", "validation")]
    assert queries[0].isdisjoint(queries[1])


def test_both_orders_of_a_judgment_agree_and_order_cannot_be_learnt(tmp_path: Path) -> None:
    mixed(tmp_path, validation=0)
    released = [case for _, case in open_cases(tmp_path / "release.jsonl").read()]
    pairs = [case for case in released if isinstance(case, Case) and len(case.responses) == 2]
    assert len(pairs) == 2 * N
    for first, second in zip(pairs[::2], pairs[1::2], strict=True):
        assert first.query == second.query
        assert first.responses == second.responses[::-1]
        assert critiques.swap_responses(first.critiques[0]) == second.critiques[0]
        for case in (first, second):
            parsed = critiques.parse(case.critiques[0])
            assert parsed is not None
            assert _SHOWN[case.label] == parsed.decision  # type: ignore[index]
    assert "The first response is colder than the second." in pairs[1].critiques[0]
    assert "Response 2's plan" in pairs[1].critiques[0]
    labels = Counter(case.label for case in pairs)
    assert labels["a"] == labels["b"]


def test_single_responses_are_as_often_as_pairs_are(tmp_path: Path) -> None:
    mixed(tmp_path, validation=0)
    singles = [row for row in read(tmp_path / "release.jsonl") if "pred_score" in row]
    assert len(singles) == 2 * (N // 2)
    assert singles[::2] == singles[1::2]
    mixed(tmp_path, validation=0, swap=False)
    assert len(read(tmp_path / "release.jsonl")) == N + N // 2


def test_rows_have_the_fields_of_the_release_and_no_criteria(tmp_path: Path) -> None:
    mixed(tmp_path, validation=0)
    pairs, singles = [], []
    for row in read(tmp_path / "release.jsonl"):
        (singles if "pred_score" in row else pairs).append(row)
    shared = {"usermsg", "target_output", "scenario", "source_dataset"}
    assert {frozenset(row) for row in pairs} == {frozenset(shared | {"gt_label", "pred_label"})}
    assert {frozenset(row) for row in singles} == {frozenset(shared | {"pred_score"})}
    assert {row["gt_label"] for row in pairs} == {0, 1, 2}
    for row in (*pairs, *singles):
        criteria = load_library().find(row["scenario"]).criteria
        assert not any(one.content in row["usermsg"] for one in criteria)


def test_the_misspelt_field_of_the_release_loads(tmp_path: Path) -> None:
    mixed(tmp_path, validation=0)
    path = tmp_path / "release.jsonl"
    right = [case for _, case in open_cases(path).read()]
    misspelt = tmp_path / "misspelt.jsonl"
    misspelt.write_text(path.read_text().replace('"usermsg"', '"usrmsg"'), encoding="utf-8")
    assert [case for _, case in open_cases(misspelt).read()] == right


def test_preferences_are_the_decided_pairs(tmp_path: Path) -> None:
    counts = mixed(tmp_path, validation=0)
    texts = read(tmp_path / "preference.jsonl")
    chats = read(tmp_path / "preference_messages.jsonl")
    decided = [case for case in rows() if case.label in ("a", "b")]
    assert counts.n_preference == len(texts) == len(chats) == len(decided)
    for case, row, chat in zip(decided, texts, chats, strict=True):
        better, worse = case.responses if case.label == "a" else case.responses[::-1]
        assert row == {"prompt": case.query, "chosen": better.text, "rejected": worse.text}
        assert {name: messages[0]["content"] for name, messages in chat.items()} == row
        assert [chat[name][0]["role"] for name in row] == ["user", "assistant", "assistant"]


def test_tables_count_each_row_to_train_on_once(tmp_path: Path) -> None:
    counts = mixed(tmp_path, validation=0, held_out=["ranking"])
    pairs = [row for row in read(tmp_path / "train.jsonl") if len(row["responses"]) == 2]
    for table in counts.pairs.values():
        assert sum(table.values()) == len(pairs)
    assert counts.pairs["label"] == Counter(row["label"] for row in pairs)
    assert counts.pairs["source"] == Counter(row["source"] for row in pairs)
    assert set(counts.pairs["scenario"]) == {"planning", "chitchat"}
    assert set(counts.pairs["judgment"]) == {"by gpt-4", "made: padded"}
    assert counts.singles["scenario"] == {"chitchat": N // 2}
    assert counts.singles["rating"] == {str(rating): 4 for rating in range(1, 6)}


def test_the_settings_of_appendix_c_are_recorded_as_scenarios(tmp_path: Path) -> None:
    second = Mix.model_validate({"stage": "mix", "held_out": "setting-2"})
    assert second.held_out == groups()["NLP Tasks"]
    first = Mix.model_validate({"stage": "mix", "held_out": "setting-1"})
    assert [group_of(name) for name in first.held_out] == list(groups())
    assert first.model_dump(mode="json")["held_out"] == [
        "text_summarization", "solving_exam_question_with_math", "code_simplification",
        "instructional_rewriting", "counterfactual", "writing_scientific_paper", "value_judgement",
        "title_generation",
    ]  # fmt: skip
    assert Mix.model_validate(first.model_dump()) == first
    assert held_out_scenarios("setting-1") == first.held_out
    with pytest.raises(ValidationError, match="setting-1 or setting-2"):
        Mix.model_validate({"stage": "mix", "held_out": "setting-3"})
