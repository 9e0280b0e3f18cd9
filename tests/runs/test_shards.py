"""Which part of the cases a run judges."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError, SpecMismatch
from autoj.jsonl import decode, whole_lines, write_records
from autoj.records import Case, Response
from autoj.runs import RunFolder, judge_run, open_run, spec_digest
from autoj.runs.shards import Dealer, Shard, joined_shards, missing_parts

from ..scripted import Recorder


def case(name: str, *responses: str, query: str = "Why?") -> Case:
    return Case(
        id=name,
        query=query,
        cluster=query,
        responses=tuple(Response(text=text) for text in responses or (f"{name}1", f"{name}2")),
    )


def dealt(cases: list[Case], text: str) -> list[tuple[str, int | None]]:
    shard = Shard.parse(text)
    assert shard is not None
    return [(found.id, found.position) for found in Dealer(shard).deal(cases)]


def test_cases_are_dealt_in_turn() -> None:
    cases = [case(name) for name in "abcdefg"]
    assert dealt(cases, "1/3") == [("a", 0), ("d", 3), ("g", 6)]
    assert dealt(cases, "2/3") == [("b", 1), ("e", 4)]
    assert dealt(cases, "2,3/3") == [("b", 1), ("c", 2), ("e", 4), ("f", 5)]


def test_equal_questions_go_to_one_shard_whatever_their_order() -> None:
    cases = [case("a", "x", "y"), case("b"), case("c", "y", "x"), case("d"), case("e", "x", "y")]
    assert [name for name, _ in dealt(cases, "1/2")] == ["a", "c", "d", "e"]
    assert [name for name, _ in dealt(cases, "2/2")] == ["b"]
    other = case("f", "x", "y", query="How?")
    assert [name for name, _ in dealt([*cases, other], "2/2")] == ["b", "f"]


@given(st.integers(1, 40), st.integers(2, 9))
def test_each_case_is_in_one_shard_and_shards_differ_by_one(n_cases: int, of: int) -> None:
    cases = [case(f"case-{number}") for number in range(n_cases)]
    sizes = []
    places: Counter[int | None] = Counter()
    for part in range(1, of + 1):
        found = dealt(cases, f"{part}/{of}")
        sizes.append(len(found))
        places.update(place for _, place in found)
    assert places == Counter(range(n_cases))
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    "text", ["3", "0/2", "3/2", "1/0", "a/b", "1//2", "", "1/2/3", "-1/2", "1,/2"]
)
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="shard"):
        Shard.parse(text)


def test_a_shard_of_all_parts_is_none() -> None:
    assert Shard.parse("1/1") is None
    assert Shard.parse("2,1/2") is None


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        (["1/3", "3/3"], "1,3/3"),
        (["1/3", "2/3", "3/3"], "None"),
        (["1/2", "2/4"], "1,2,3/4"),
        (["1/2", "2/4", "4/4"], "None"),
        (["1/2", "1/3"], "1,3,4,5/6"),
        (["2/3", "2/3"], "2/3"),
    ],
)
def test_shards_go_together(texts: list[str], joined: str) -> None:
    shards = [Shard.parse(text) for text in texts]
    assert str(joined_shards(shards)) == joined
    assert joined_shards([*shards, None]) is None


def test_counts_of_parts_that_never_meet_are_refused() -> None:
    with pytest.raises(ConfigError, match="least common number of parts"):
        joined_shards([Shard.parse("1/99991"), Shard.parse("1/99989")])


def test_a_part_without_cases_is_not_missing() -> None:
    shard = Shard.parse("1,2/8")
    assert shard is not None
    assert str(missing_parts(shard, 100)) == "3,4,5,6,7,8/8"
    assert str(missing_parts(shard, 4)) == "3,4/8"
    assert missing_parts(shard, 2) is None


def test_a_run_judges_its_shard_and_knows_the_places(tmp_path, cases, pair_spec) -> None:
    spec = pair_spec(shard="2/3")
    backend = Recorder()
    with open_run(tmp_path / "run", spec, cases) as folder:
        judge_run(folder, spec, backend)
        assert [verdict.case_id for verdict in folder.verdicts()] == ["case-1", "case-4"]
    assert len(backend.asked) == 4
    rows = [decode(line) for line in whole_lines(tmp_path / "run" / "cases.jsonl")]
    assert [row["position"] for row in rows] == [1, 4]
    settings = json.loads((tmp_path / "run" / "run.json").read_bytes())
    assert settings["spec"]["shard"] == "2/3"
    # The copy of the first case is dealt with it: seven distinct ones.
    assert settings["dealt"] == {"n_cases": 8, "n_distinct": 7}
    assert RunFolder.existing(tmp_path / "run").spec() == spec


def test_a_shard_is_gone_on_with_and_another_is_refused(tmp_path, cases, pair_spec) -> None:
    path = tmp_path / "run"
    for _ in range(2):
        with open_run(path, pair_spec(shard="1/2"), cases) as folder:
            assert folder.n_cases() == 5  # case-0 and its copy, case-2, case-4 and the twins
    with pytest.raises(SpecMismatch) as caught, open_run(path, pair_spec(shard="2/2"), cases):
        pass
    assert caught.value.differences == ("shard: was '1/2', is now '2/2'",)
    with pytest.raises(SpecMismatch), open_run(path, pair_spec(), cases):
        pass


def test_shards_have_digests_of_their_own_and_a_whole_keeps_its_own(cases, pair_spec) -> None:
    digests = {spec_digest(pair_spec(shard=shard), cases) for shard in (None, "1/2", "2/2")}
    assert len(digests) == 3
    assert spec_digest(pair_spec(shard="1/1"), cases) == spec_digest(pair_spec(), cases)


def test_a_limit_is_of_the_cases_and_not_of_the_shard(tmp_path, cases, pair_spec) -> None:
    with open_run(tmp_path / "run", pair_spec(shard="2/2", limit=4), cases) as folder:
        assert [case.id for case in folder.cases()] == ["case-1", "case-3"]


def test_bad_rows_shift_no_case_to_another_shard(tmp_path, pairs_file, pair_spec) -> None:
    rows = [json.loads(line) for line in pairs_file.read_text().splitlines()]
    write_records(pairs_file, [{"query": " ", "responses": ["a", "b"]}, *rows])
    spec = pair_spec(shard="2/3", skip_bad_rows=True)
    with open_run(tmp_path / "run", spec, open_cases(pairs_file)) as folder:
        assert [case.id for case in folder.cases()] == ["case-1", "case-4"]
        assert folder.settings()["n_bad_rows"] == 1


def test_a_shard_that_holds_no_case_is_said(tmp_path, cases, pair_spec) -> None:
    with (
        pytest.raises(DataError, match="7 distinct cases, and shard 8/8 gets none"),
        open_run(tmp_path / "run", pair_spec(shard="8/8"), cases),
    ):
        pass
    assert not (tmp_path / "run" / "cases.jsonl").exists()
    assert not (tmp_path / "run" / "run.json").exists()
