"""Testbeds are drawn, topped up and sampled, also where they are killed."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.construct.pipeline import construct
from autoj.construct.recipe import ConstructRecipe
from autoj.construct.testbed import folder
from autoj.construct.testbed.build import build
from autoj.construct.testbed.drawing import shortages
from autoj.construct.testbed.estimate import estimate
from autoj.construct.testbed.settings import BuildSources, load_policies, scenarios_named
from autoj.errors import (
    BackendError,
    ConfigError,
    DataError,
    RunBusy,
    SpecMismatch,
    Unfinished,
    UnknownComponent,
)
from autoj.jsonl import read_records, write_records
from autoj.records import Case
from autoj.runs.budget import Budget
from autoj.runs.place import locked
from autoj.scenarios import shipped_library

from ...scripted import Killed
from .scripted_policies import CARDS, SETTINGS, ScriptedPolicy, pair_row


def _files(path: Path) -> dict[str, bytes]:
    names = ("pairs.jsonl", "candidates.jsonl", "dropped.jsonl", "built.json")
    return {name: (path / name).read_bytes() for name in names}


def test_labelled_pairs_come_first_then_unlabelled_ones_then_queries(
    sources: BuildSources, tmp_path: Path
) -> None:
    testbed = build(SETTINGS, sources, tmp_path / "bed")
    pairs = testbed.pairs()
    assert Counter((pair.case.scenario, pair.origin) for pair in pairs) == {
        ("planning", "labelled"): 6,
        ("writing_email", "labelled"): 2,
        ("writing_email", "unlabelled"): 1,
        ("writing_email", "made"): 3,
    }
    assert sum(pair.waits for pair in pairs) == 4
    assert shortages(pairs, SETTINGS) == {}
    dropped = {item.id: item.reason for item in testbed.dropped()}
    assert dropped == {"pairs/again": "same query", "pairs:15": "cannot be read"}
    counts = testbed.counts()
    assert (counts.n_pairs_read, counts.n_queries_read) == (15, 5)
    # 3 planning pairs and 2 queries are left; chitchat is not asked for.
    assert (counts.n_not_drawn, counts.n_of_other_scenarios) == (5, 1)


def test_two_policies_drawn_by_the_seed_answer_each_query(
    sources: BuildSources, tmp_path: Path
) -> None:
    testbed = build(replace(SETTINGS, per_scenario=8), sources, tmp_path / "bed")
    made = [pair.case for pair in testbed.pairs() if pair.origin == "made"]
    authors = [tuple(response.model for response in case.responses) for case in made]
    assert len(made) == 5
    assert all(len(set(names)) == 2 for names in authors)
    assert len(set(authors)) > 2
    for case in made:
        for response in case.responses:
            assert response.text.startswith(f"{response.model}: ")


def test_eval_r_is_a_part_of_eval_c_with_all_samples(sources: BuildSources, tmp_path: Path) -> None:
    testbed = build(SETTINGS, sources, tmp_path / "bed")
    pairs = testbed.pairs()
    critique = Counter(pair.case.scenario for pair in pairs if pair.in_critique)
    rating = Counter(pair.case.scenario for pair in pairs if pair.in_rating)
    assert critique == dict.fromkeys(SETTINGS.scenarios, 4)
    assert rating == dict.fromkeys(SETTINGS.scenarios, 2)
    assert all(pair.in_critique for pair in pairs if pair.in_rating)
    candidates = testbed.candidates()
    assert {case.meta["case_id"] for case in candidates} == {
        pair.case.id for pair in pairs if pair.in_rating
    }
    for case in candidates:
        texts = [response.text for response in case.responses]
        assert len(set(texts)) == len(texts) == SETTINGS.n_samples
        assert [one.logprob for one in case.responses] == [-float(len(text)) for text in texts]


def test_an_engine_that_states_no_log_probabilities_leaves_them_unknown(
    sources: BuildSources, policies: type[ScriptedPolicy], tmp_path: Path
) -> None:
    policies.scores = False
    candidates = build(SETTINGS, sources, tmp_path / "bed").candidates()
    assert {one.logprob for case in candidates for one in case.responses} == {None}


def test_the_same_files_give_the_same_testbed_and_another_seed_another(
    sources: BuildSources, tmp_path: Path
) -> None:
    build(SETTINGS, sources, tmp_path / "one")
    build(SETTINGS, sources, tmp_path / "two")
    assert _files(tmp_path / "one") == _files(tmp_path / "two")
    other = build(replace(SETTINGS, seed=6), sources, tmp_path / "other")
    ids = [
        {pair.case.id for pair in one.pairs()} for one in (other, folder.Testbed(tmp_path / "one"))
    ]
    assert ids[0] != ids[1]


def test_killed_after_any_answer_it_goes_on_and_asks_nothing_twice(
    sources: BuildSources,
    policies: type[ScriptedPolicy],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What the system has survives a kill of the process; sixty builds would wait for the disk.
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    settings = replace(SETTINGS, n_rating=1, n_samples=2)
    build(settings, sources, tmp_path / "whole")
    n_asked = policies.asked.total()
    # Two answers to each of three queries, and samples with their scores.
    assert n_asked == 3 * 2 + 2 * settings.n_samples * 2
    for dies_after in range(n_asked):
        policies.asked.clear()
        out = tmp_path / f"bed-{dies_after}"
        policies.dies_after = dies_after
        with pytest.raises(Killed):
            build(settings, sources, out)
        policies.dies_after = None
        build(settings, sources, out)
        assert _files(out) == _files(tmp_path / "whole"), dies_after
        assert policies.asked.total() == n_asked
        assert set(policies.asked.values()) == {1}


def test_a_finished_testbed_asks_nothing_and_loads_nothing(
    sources: BuildSources, policies: type[ScriptedPolicy], tmp_path: Path
) -> None:
    build(SETTINGS, sources, tmp_path / "bed")
    before = _files(tmp_path / "bed")
    policies.asked.clear()
    policies.loaded.clear()
    build(SETTINGS, sources, tmp_path / "bed")
    assert not policies.asked
    assert not policies.loaded
    assert _files(tmp_path / "bed") == before


def test_caps_hold_over_all_models_and_sessions(
    sources: BuildSources, policies: type[ScriptedPolicy], tmp_path: Path
) -> None:
    with pytest.raises(Unfinished, match="higher --max-requests"):
        build(SETTINGS, sources, tmp_path / "bed", budget=Budget(max_requests=7))
    assert policies.asked.total() == 7
    with pytest.raises(Unfinished):
        build(SETTINGS, sources, tmp_path / "bed", budget=Budget(max_requests=9))
    assert policies.asked.total() == 9
    done = build(SETTINGS, sources, tmp_path / "bed", budget=Budget(max_requests=100))
    assert done.counts().n_requests == policies.asked.total() == 30
    assert done.counts().usd == pytest.approx(
        sum(
            (answer["prompt_tokens"] + 2 * answer["completion_tokens"]) / 1e6
            for ledger in (tmp_path / "bed" / "policies").glob("*/ledger.jsonl")
            for answer in read_records(ledger, dict)
        )
    )


def test_queries_that_fail_are_named_and_others_take_their_place(
    sources: BuildSources, tmp_path: Path
) -> None:
    words = ("FAIL", "EMPTY", "CUT", "FILTER", "SAME", "x " * 60)
    bad = [
        {"id": word[:4], "query": f"Write {word}", "scenario": "writing_email"} for word in words
    ]
    good = list(read_records(sources.queries[0], dict))
    write_records(sources.queries[0], [*bad, *good])
    testbed = build(replace(SETTINGS, per_scenario=8), sources, tmp_path / "bed")
    made = [pair.case.id for pair in testbed.pairs() if pair.origin == "made"]
    assert sorted(made) == [f"asked/{number}" for number in range(5)]
    reasons = {item.id: item.reason for item in testbed.dropped() if item.id.startswith("asked")}
    assert reasons == {
        "asked/FAIL": "policy failed",
        "asked/EMPT": "empty answer",
        "asked/CUT": "cut off",
        "asked/FILT": "filtered",
        "asked/SAME": "equal responses",
        "asked/x x ": "too long for a policy",
    }


def test_a_policy_that_mostly_fails_ends_the_build_and_drops_nothing(
    sources: BuildSources, policies: type[ScriptedPolicy], tmp_path: Path
) -> None:
    bad = [{"query": f"Write FAIL {number}", "scenario": "writing_email"} for number in range(30)]
    write_records(sources.queries[0], bad)
    with pytest.raises(BackendError, match=r"failed on .* of .* requests; the last error: no"):
        build(replace(SETTINGS, per_scenario=24), sources, tmp_path / "bed")
    assert not (tmp_path / "bed" / "pairs.jsonl").exists()


def test_answers_that_are_mostly_cut_off_end_the_build_and_another_limit_goes_on(
    sources: BuildSources, policies: type[ScriptedPolicy], tmp_path: Path
) -> None:
    good = list(read_records(sources.queries[0], dict))
    bad = [{"query": f"Write CUT {number}", "scenario": "writing_email"} for number in range(20)]
    write_records(sources.queries[0], bad)
    with pytest.raises(ConfigError, match="queries got an answer that was cut off") as caught:
        build(SETTINGS, sources, tmp_path / "bed")
    assert "Raise --max-tokens" in str(caught.value)
    # Nothing is drawn yet, so that other settings and files may go on in the folder.
    write_records(sources.queries[0], [*bad[:2], *good])
    n_asked = policies.asked.total()
    longer = replace(SETTINGS, max_tokens=19)
    assert shortages(build(longer, sources, tmp_path / "bed").pairs(), longer) == {}
    assert policies.asked.total() > n_asked
    assert set(policies.asked.values()) == {1}


def test_a_query_that_cannot_be_sampled_gives_way_to_another_of_eval_c(
    sources: BuildSources, tmp_path: Path
) -> None:
    rows = [
        {**pair_row(number, "planning"), "query": f"Request FAIL {number}" if number < 2 else
         f"Request {number}"} for number in range(4)
    ]  # fmt: skip
    write_records(sources.pairs[0], rows)
    settings = replace(SETTINGS, scenarios=("planning",), per_scenario=4)
    testbed = build(settings, sources, tmp_path / "bed")
    assert {case.meta["case_id"] for case in testbed.candidates()} == {"pairs/2", "pairs/3"}
    not_sampled = {item.id for item in testbed.dropped() if item.reason == "not sampled"}
    # Those whose turn did not come are not asked.
    assert not_sampled <= {"pairs/0", "pairs/1"}


def test_rows_of_another_language_or_an_unknown_scenario_are_left_out_by_name(
    sources: BuildSources, tmp_path: Path
) -> None:
    queries = [
        {"id": "said", "query": "你好", "scenario": "writing_email", "language": "zh"},
        {"id": "seen", "query": "请写一封邮件给我的房东", "scenario": "writing_email"},
        {"id": "own", "query": "Write to nobody", "scenario": "our_own_kind"},
    ]
    write_records(sources.queries[0], queries)
    testbed = build(SETTINGS, sources, tmp_path / "bed")
    reasons = {item.id: item.reason for item in testbed.dropped() if "asked/" in item.id}
    assert reasons == {
        "asked/said": "another language",
        "asked/seen": "another language",
        "asked/own": "unknown scenario",
    }
    chinese = replace(
        SETTINGS, language="zh", scenarios=("writing_email",), n_critique=0, n_rating=0
    )
    made = build(chinese, replace(sources, base_models=()), tmp_path / "zh").pairs()
    assert {(pair.case.id, pair.case.language) for pair in made} == {
        ("asked/said", "zh"), ("asked/seen", "zh"),
    }  # fmt: skip


def test_queries_without_a_scenario_are_classified(sources: BuildSources, tmp_path: Path) -> None:
    (tmp_path / "asked.txt").write_text(
        "Write an email to my landlord: the heating is broken.\nWhat is 12 times 17?\n"
    )
    only = replace(sources, pairs=(), queries=(tmp_path / "asked.txt",))
    small = replace(SETTINGS, n_critique=0, n_rating=0)
    testbed = build(small, only, tmp_path / "bed")
    (pair,) = testbed.pairs()
    assert pair.case.scenario == "writing_email"
    assert 0 < pair.case.meta["scenario_probability"] <= 1
    sure = build(replace(small, least_probability=0.9999), only, tmp_path / "sure")
    assert {item.reason for item in sure.dropped()} <= {"unsure scenario"}


def test_what_was_trained_on_is_left_out(sources: BuildSources, tmp_path: Path) -> None:
    trained = [
        {**pair_row(0, "planning"), "query": "REQUEST, number 0... about planning?!"},
        {"query": "Write an email (number 1)", "responses": ["a", "b"]},
    ]
    write_records(tmp_path / "train.jsonl", trained)
    testbed = build(
        SETTINGS, replace(sources, exclude=(tmp_path / "train.jsonl",)), tmp_path / "bed"
    )
    reasons = {item.id: item.reason for item in testbed.dropped()}
    assert reasons["pairs/0"] == reasons["asked/1"] == "trained on"
    assert not {"pairs/0", "asked/1"} & {pair.case.id for pair in testbed.pairs()}
    found = testbed.counts().contamination
    assert [(one["n_rows"], one["n_shared_ours"]) for one in found] == [(2, 1), (2, 1)]


def test_later_files_add_to_a_testbed_and_keep_what_is_drawn(
    sources: BuildSources, policies: type[ScriptedPolicy], tmp_path: Path
) -> None:
    alone = replace(sources, queries=(), policies=())
    short = build(SETTINGS, alone, tmp_path / "bed")
    assert shortages(short.pairs(), SETTINGS) == {"writing_email": 3}
    before = {pair.case.id: pair for pair in short.pairs()}
    policies.asked.clear()
    whole = build(SETTINGS, sources, tmp_path / "bed")
    after = {pair.case.id: pair for pair in whole.pairs()}
    assert before.items() <= after.items()
    assert len(after) == 12
    # The samples of the first build are not asked for again.
    assert policies.asked.total() == 6

    trained = tmp_path / "train.jsonl"
    write_records(trained, list(read_records(sources.pairs[0], dict))[:1])
    cleaned = build(SETTINGS, replace(sources, exclude=(trained,)), tmp_path / "bed")
    assert "pairs/0" not in {pair.case.id for pair in cleaned.pairs()}
    assert len(cleaned.pairs()) == 12
    assert ("pairs/0", "trained on") in [(item.id, item.reason) for item in cleaned.dropped()]


def test_other_settings_or_changed_files_are_refused(sources: BuildSources, tmp_path: Path) -> None:
    build(SETTINGS, sources, tmp_path / "bed")
    with pytest.raises(SpecMismatch, match="seed: was 5, is now 6"):
        build(replace(SETTINGS, seed=6), sources, tmp_path / "bed")
    with pytest.raises(SpecMismatch, match="seed: was 5, is now 6"):
        estimate(replace(SETTINGS, seed=6), sources, tmp_path / "bed")
    with pytest.raises(SpecMismatch, match="policies: cow is left out now"):
        build(SETTINGS, replace(sources, policies=CARDS[:2]), tmp_path / "bed")
    write_records(sources.pairs[0], [pair_row(0, "planning")])
    with pytest.raises(SpecMismatch, match=r"pairs\.jsonl has changed since"):
        build(SETTINGS, sources, tmp_path / "bed")


def test_a_folder_of_other_things_a_busy_one_and_a_damaged_one_are_refused(
    sources: BuildSources, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="is not a testbed and not empty"):
        build(SETTINGS, sources, tmp_path)
    out = tmp_path / "bed"
    build(SETTINGS, sources, out)
    with locked(out), pytest.raises(RunBusy):
        build(SETTINGS, sources, out)
    changed = (out / "pairs.jsonl").read_bytes().replace(b"Request number", b"request number", 1)
    (out / "pairs.jsonl").write_bytes(changed)
    with pytest.raises(DataError, match="differs from its checksum") as caught:
        folder.Testbed.open(out).pairs()
    assert "Restore" in str(caught.value)
    record = (out / "testbed.json").read_bytes().replace(b'"seed":5', b'"seed":6')
    (out / "testbed.json").write_bytes(record)
    with pytest.raises(DataError, match="was changed or damaged"):
        folder.Testbed.open(out)
    with pytest.raises(DataError, match="is not a testbed"):
        folder.Testbed.open(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"queries": (), "pairs": ()}, "name a file of pairs"),
        ({"policies": CARDS[:1]}, "two of the policies, found 1"),
        ({"policies": (CARDS[0], CARDS[0])}, "names a model twice"),
        ({"base_models": (replace(CARDS[0], model="x"),)}, "two models are called 'ant'"),
    ],
)
def test_sources_that_cannot_serve_are_refused_at_once(
    change: dict[str, tuple[object, ...]], said: str, sources: BuildSources, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=said):
        build(SETTINGS, replace(sources, **change), tmp_path / "bed")  # type: ignore[arg-type]
    assert not (tmp_path / "bed").exists()


def test_the_sets_must_fit_into_each_other_and_money_needs_prices(
    sources: BuildSources, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="of 3 pairs of a scenario 4 cannot go to Eval-C"):
        build(replace(SETTINGS, per_scenario=3), sources, tmp_path / "bed")
    free = replace(CARDS[0], name="free", usd_per_million_prompt_tokens=None)
    with pytest.raises(ConfigError, match="--max-usd needs prices"):
        build(
            SETTINGS,
            replace(sources, base_models=(free,)),
            tmp_path / "bed",
            budget=Budget(max_usd=1.0),
        )


def test_scenarios_are_named_one_by_one_or_by_group() -> None:
    library = shipped_library()
    assert len(scenarios_named((), library)) == 58
    assert scenarios_named(("Small talk", "summarization"), library) == (
        "chitchat",
        "post_summarization",
        "text_summarization",
        "note_summarization",
    )
    with pytest.raises(UnknownComponent, match="no scenario 'plannin'") as caught:
        scenarios_named(("plannin",), library)
    assert "planning" in str(caught.value)


def test_reward_models_are_no_policies() -> None:
    with pytest.raises(ConfigError, match="writes none"):
        load_policies(("openassistant-rm",))


def test_a_dry_run_asks_nobody_and_writes_nothing(
    sources: BuildSources, policies: type[ScriptedPolicy], tmp_path: Path
) -> None:
    found = estimate(SETTINGS, sources, tmp_path / "bed")
    assert not policies.asked
    assert not (tmp_path / "bed").exists()
    email = found.scenarios[1]
    assert (email.n_labelled, email.n_unlabelled, email.n_queries, email.n_short) == (2, 1, 3, 0)
    assert [(model.role, model.n_requests) for model in found.models] == [
        ("policy", 2), ("policy", 2), ("policy", 2), ("base model", 12),
    ]  # fmt: skip
    assert all(model.usd is not None and model.usd > 0 for model in found.models)
    assert found.dropped == {"same query": 1, "cannot be read": 1}


def test_a_construction_gives_pairs_and_its_training_files_are_excluded(
    recipe: ConstructRecipe, policies: type[ScriptedPolicy], tmp_path: Path
) -> None:
    construct(recipe, tmp_path / "mine")
    sources = BuildSources(pairs=(tmp_path / "mine",))
    testbed = build(replace(SETTINGS, n_rating=0), sources, tmp_path / "bed")
    train = tmp_path / "mine" / "train"
    trained = {
        row["query"]
        for name in ("train.jsonl", "validation.jsonl")
        for row in read_records(train / name, dict)
    }
    drawn: list[Case] = [pair.case for pair in testbed.pairs()]
    assert drawn
    assert not trained & {case.query for case in drawn}
    assert "trained on" in {item.reason for item in testbed.dropped()}
