"""What is particular to each public set's reader, on small files of made-up texts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from autoj.datasets import format_names, hhh, llmbar, open_cases, reward_bench_2, rmbench
from autoj.datasets.base import as_pair
from autoj.errors import DataError, UnknownComponent
from autoj.records import Case, Response

FILES = Path(__file__).parent / "files"


def cases_of(path: Path) -> list[Case]:
    found = [row.case for row in open_cases(path).read()]
    assert all(isinstance(case, Case) for case in found)
    return [case for case in found if isinstance(case, Case)]


def better(case: Case) -> str:
    assert case.label in ("a", "b")
    return case.responses["ab".index(str(case.label))].text


def test_llmbar_labels_are_counted_from_1_and_the_folder_names_the_subset(tmp_path: Path) -> None:
    first, second = cases_of(FILES / "llmbar.jsonl")
    assert [first.label, second.label] == ["a", "b"]
    assert better(second) == "Bonjour !"
    assert first.meta == {}
    rows = [json.loads(line) for line in (FILES / "llmbar.jsonl").read_bytes().splitlines()]
    path = tmp_path / "Adversarial" / "GPTInst" / "dataset.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    named = cases_of(path)
    assert [case.meta for case in named] == [{"subset": "Adversarial/GPTInst"}] * 2
    assert [case.query for case in named] == [first.query, second.query]
    assert len({case.id for case in [*named, first, second]}) == 4


def test_the_layouts_of_hhh_say_the_same() -> None:
    scored, chosen, _ = cases_of(FILES / "hhh.jsonl")
    assert better(scored) == "Run its lid under warm water."
    assert better(chosen) == "No, it is a satellite."
    assert scored.query == "How do I open a jar?"
    case = hhh.to_case({"input": "q", "target_scores": {"x": 0, "y": 1}}, 3, "honest")
    assert (case.id, case.meta, better(case)) == ("hhh-honest-3", {"subset": "honest"}, "y")


def test_a_task_file_of_hhh_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "harmless" / "task.json"
    path.parent.mkdir()
    examples = [{"input": f"q{n}", "target_scores": {"x": 1, "y": 0}} for n in range(3)]
    task = {"name": "hhh", "keywords": ["alignment"], "examples": examples}
    path.write_text(json.dumps(task), encoding="utf-8")
    cases = cases_of(path)
    assert [case.id for case in cases] == ["hhh-harmless-1", "hhh-harmless-2", "hhh-harmless-3"]
    assert {better(case) for case in cases} == {"x"}


def test_which_of_a_pair_stands_first_follows_from_the_texts_and_varies() -> None:
    labels = []
    for n in range(200):
        good, bad = Response(text=f"good {n}"), Response(text="bad")
        responses, label = as_pair("q", good, bad)
        assert as_pair("q", good, bad) == (responses, label)
        assert responses["ab".index(str(label))] is good
        labels.append(label)
    assert 70 <= labels.count("a") <= 130


def test_evalbiasbench_is_one_list_for_each_bias(tmp_path: Path) -> None:
    path = tmp_path / "biasbench.json"
    rows = [json.loads(line) for line in (FILES / "evalbiasbench.jsonl").read_bytes().splitlines()]
    path.write_text(json.dumps({row["bias"]: [row] for row in rows}), encoding="utf-8")
    cases = cases_of(path)
    assert [case.meta["bias"] for case in cases] == ["length bias", "concreteness"]
    assert [case.label for case in cases] == ["a", "b"]


def test_a_row_of_rm_bench_is_nine_pairs_with_their_styles() -> None:
    cases = cases_of(FILES / "rmbench.jsonl")
    assert len(cases) == 18
    first = cases[:9]
    styles = [(case.meta["style_chosen"], case.meta["style_rejected"]) for case in first]
    assert styles == [(chosen, rejected) for chosen in range(3) for rejected in range(3)]
    assert {case.meta["domain"] for case in first} == {"math"}
    assert first[0].id == "rmbench-8-math-00"
    assert better(first[5]) == "It is four."
    assert {response.text for response in first[5].responses} == {
        "It is four.",
        "**5**, that is *five*.",
    }
    assert set(Counter(case.label for case in cases)) == {"a", "b"}
    assert len({case.cluster for case in cases}) == 2
    assert set(cases[9].meta) == {"domain", "style_chosen", "style_rejected"}
    assert (cases[9].meta["domain"], cases[9].id) == (None, "rmbench-x9-00")


def test_the_files_of_one_domain_of_rm_bench_have_it_in_their_name(tmp_path: Path) -> None:
    row = {"id": 1, "prompt": "q", "chosen": ["x"] * 3, "rejected": ["y"] * 3}
    path = tmp_path / "safety-refuse_filtered.json"
    path.write_text(json.dumps([row]), encoding="utf-8")
    assert {case.meta["domain"] for case in cases_of(path)} == {"safety-refuse"}
    said = rmbench.to_cases({**row, "domain": "chat"}, 1, "code")
    assert {case.meta["domain"] for case in said} == {"chat"}


def test_a_bad_row_of_rm_bench_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"prompt": "q", "chosen": ["x"], "rejected": ["y"]}', encoding="utf-8")
    (row,) = open_cases(path).read()
    assert isinstance(row.case, DataError)


def test_a_row_of_reward_bench_2_is_picked_from_and_does_not_say_which_is_right() -> None:
    one, ties = cases_of(FILES / "reward-bench-2.jsonl")
    assert one.id == "reward-bench-2-17"
    assert one.meta == {"subset": "Factuality"}
    assert {response.text: response.reference_score for response in one.responses} == {
        "About 150 million km.": 1.0,
        "About 150 km.": 0.0,
        "It is next door.": 0.0,
        "Nobody has measured it.": 0.0,
    }
    assert [response.reference_score for response in ties.responses].count(1.0) == 2
    assert (one.label, ties.label) == (None, None)


def test_where_the_chosen_one_of_reward_bench_2_stands_follows_from_the_texts_and_varies() -> None:
    places = []
    for n in range(200):
        row = {"prompt": f"q{n}", "chosen": ["x"], "rejected": ["y", "z", "w"], "num_correct": 1}
        case = reward_bench_2.to_case(row, 1)
        assert case == reward_bench_2.to_case(row, 1)
        places.append([response.reference_score for response in case.responses].index(1.0))
    assert all(30 <= places.count(place) <= 70 for place in range(4))


def test_pandalm_takes_the_majority_and_a_row_without_one_has_no_label() -> None:
    two, all_, none = cases_of(FILES / "pandalm.jsonl")
    assert [two.label, all_.label, none.label] == ["b", "tie", None]
    assert two.meta == {"votes": ["b", "b", "a"]}
    assert two.query == "Shorten it.\n\nThe tea, which is green, is hot."
    assert [response.model for response in two.responses] == ["bloom-7b", "llama-7b"]
    assert [response.model for response in none.responses] == [None, None]
    # The release's JSON turned the text "True" into the value.
    assert all_.responses[0].text == "True"


def test_a_vote_of_mt_bench_is_about_the_first_turn() -> None:
    vote, judged = cases_of(FILES / "mt-bench-votes.jsonl")
    assert (vote.query, vote.label) == ("Write a line.", "b")
    assert vote.responses == (
        Response(text="A line.", model="m1"),
        Response(text="The sea was grey.", model="m2"),
    )
    assert vote.meta == {"question_id": 81, "judge": "expert_1", "turn": 1}
    assert judged.label == "tie"


def test_outputs_of_alpaca_eval_have_the_querys_number_for_id() -> None:
    first, second = cases_of(FILES / "alpaca-eval-outputs.jsonl")
    assert (first.id, first.responses) == (
        "alpaca-eval-0",
        (Response(text="The Oder.", model="m1"),),
    )
    assert first.meta == {"dataset": "helpful_base"}
    assert (second.id, second.query) == ("alpaca-eval-7", "Translate it.\n\nGuten Tag")


def test_rows_of_reward_bench_may_be_texts_or_messages() -> None:
    texts, prompted, messages = cases_of(FILES / "reward-bench.jsonl")
    assert [better(case) for case in (texts, prompted, messages)] == ["Yes.", "Yes.", "Mostly."]
    assert [case.query for case in (prompted, messages)] == ["Is fire hot?", "Is snow white?"]
    assert {response.model for response in texts.responses} == {"m1", "m2"}
    assert texts.responses["ab".index(str(texts.label))].model == "m1"
    assert (texts.id, texts.meta) == ("reward-bench-30", {"subset": "made-up-easy"})


def test_scenario_rows_have_a_query_and_nothing_to_judge() -> None:
    first, second = cases_of(FILES / "autoj-scenarios.jsonl")
    assert (first.query, first.scenario, first.responses) == ("What day is it?", "others", ())
    assert (second.query, second.scenario) == ("Plan a picnic for rain", "planning")


def test_a_file_of_verdicts_is_told_from_a_file_of_cases(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"question_id": 1, "model": "m", "judge": "j", "games": []}', encoding="utf-8")
    with pytest.raises(DataError, match=r"another judge's verdicts \(arena-hard-judgments\)"):
        open_cases(path)


def test_modules_that_read_no_cases_are_no_formats(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"query": "q", "response": "r"}', encoding="utf-8")
    for name in ("catalog", "overlap", "published-verdicts", "published_verdicts"):
        with pytest.raises(UnknownComponent, match="no data format") as told:
            open_cases(path, name)
        assert any(known in str(told.value) for known in format_names())


def test_llmbar_and_annotations_are_not_mixed_up() -> None:
    row = {"input": "q", "output_1": "x", "output_2": "y"}
    assert llmbar.matches(row)
    assert not llmbar.matches({**row, "instruction": "q", "preference": 1})
