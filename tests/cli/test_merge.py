"""`autoj merge` and `--shard` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoj.jsonl import read_records, whole_lines, write_records
from autoj.records import Verdict
from autoj.runs import judge_run, open_run

from ..scripted import Recorder

VERDICTS = ("--protocol", "pairwise-verdict")


@pytest.fixture
def recorded(tmp_path, cases, pair_spec) -> str:
    """A judge that replays a recorded run of the pairs file."""
    spec = pair_spec()
    with open_run(tmp_path / "old", spec, cases) as folder:
        judge_run(folder, spec, Recorder())
    return f"scripted:{tmp_path / 'old'}"


@pytest.fixture
def shard(run, recorded, pairs_file):
    """Judges a shard into its default folder."""

    def judge(part: str, *more: object) -> tuple[int, str, str]:
        return run("judge", pairs_file, "--judge", recorded, *VERDICTS, "--shard", part, *more)

    return judge


def folders() -> list[Path]:
    return sorted(Path("runs").iterdir())


def test_shards_have_folders_that_one_pattern_names_and_join_to_the_whole(
    run, recorded, pairs_file, shard
):
    for part in ("1/3", "2/3", "3/3"):
        assert shard(part)[0] == 0
    assert len(folders()) == 3
    code, _, err = run("judge", pairs_file, "--judge", recorded, *VERDICTS)
    assert code == 0
    whole, *parts = folders()
    assert [part.name for part in parts] == [f"{whole.name}-shard-{n}-of-3" for n in (1, 2, 3)]
    code, out, err = run("merge", *parts, "--out", "merged")
    assert code == 0
    assert "missing" not in err
    assert "cases 8" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    merged = Path("merged")
    assert (merged / "verdicts.jsonl").read_bytes() == (whole / "verdicts.jsonl").read_bytes()
    # It goes on as the run that it would have been, shows itself, and measures.
    same = ("judge", pairs_file, "--judge", recorded, *VERDICTS, "--out", "merged")
    assert "no new requests were needed" in run(*same)[2]
    assert run("show", "merged")[1] == run("show", whole)[1]
    assert "Winner:" in run("show", "merged", "case-4")[1]
    code, out, err = run("bench", "pairs", pairs_file, "--run", "merged")
    assert code == 0, err
    assert "agreement" in out


def test_missing_shards_are_named_with_what_to_do(run, shard):
    for part in ("3/4", "1/4"):
        assert shard(part)[0] == 0
    code, out, err = run("merge", *folders(), "--out", "merged")
    assert code == 0
    assert "1,3/4" in out
    assert "shards 2,4/4 are missing, 3 cases: judge them with --shard 2,4/4" in err
    assert shard("2,4/4")[0] == 0
    code, out, err = run("merge", "merged", *folders(), "--out", "merged", "--json")
    assert code == 0
    result = json.loads(out)
    assert (result["missing"], result["shard"], result["n_cases"]) == (None, None, 8)
    assert (result["n_missing"], result["n_unjudged"], result["n_failed"]) == (0, 0, 0)
    assert err == ""


def test_what_is_not_judged_is_said(run, tmp_path, recorded, pairs_file):
    rows = [json.loads(line) for line in pairs_file.read_text().splitlines()]
    path = tmp_path / "more.jsonl"
    write_records(path, [*rows, {"id": "new", "query": "New?", "responses": ["a", "b"]}])
    code, *_ = run("judge", path, "--judge", recorded, *VERDICTS, "--out", "part")
    assert code == 1
    code, out, err = run("merge", "part", "--out", "merged")
    assert code == 0
    assert "failed 2" in " ".join(out.split())
    assert "resume with the command that judged, --out merged and without --shard" in err


def test_a_shard_is_gone_on_with_by_the_same_command(shard):
    first, second = shard("2/3"), shard("2/3")
    assert first[0] == second[0] == 0
    assert "no new requests were needed" in second[2]
    assert len(folders()) == 1


@pytest.mark.parametrize("part", ["4/3", "0/3", "three", "1/"])
def test_what_is_no_shard_is_one_line_and_exit_code_2(shard, part):
    code, out, err = shard(part)
    assert (code, out) == (2, "")
    assert "shard" in err
    assert not Path("runs").exists()


def test_two_answers_are_one_clear_error(run, shard, recorded, pairs_file):
    assert shard("1/2")[0] == 0
    assert run("judge", pairs_file, "--judge", recorded, *VERDICTS, "--out", "whole")[0] == 0
    rows = [json.loads(line) for line in whole_lines(Path("whole") / "ledger.jsonl")]
    for row in rows:
        row["choice_logprobs"][0] += 0.5
        # Else the change is taken for damage.
        del row["sum"]
    write_records(Path("whole") / "ledger.jsonl", rows)
    code, out, err = run("merge", "whole", folders()[0], "--out", "merged", "--json")
    assert code == 2
    said = json.loads(out)["error"]
    assert said["kind"] == "DataError"
    for text in ("ledger.jsonl:", "whole/ledger.jsonl:", "(case '", "differ by 0.5"):
        assert text in said["message"]
    assert "leave one of the two runs out" in err
    assert not Path("merged").exists()


@pytest.mark.parametrize("arguments", [("nowhere",), ("old", "nowhere"), ("pairs.jsonl",)])
def test_what_is_no_run_is_named(run, recorded, arguments):
    code, _, err = run("merge", *arguments, "--out", "merged")
    assert code == 2
    assert "is not a run folder" in err


def test_a_jury_is_joined_judge_by_judge(run, tmp_path):
    (tmp_path / "jury").mkdir()
    (tmp_path / "jury" / "jury.json").write_text("{}")
    code, _, err = run("merge", "jury", "--out", "merged")
    assert code == 2
    assert "judges/" in err


def test_verdicts_of_a_merged_run_are_in_the_order_of_the_data(run, shard, pairs_file):
    for part in ("2/2", "1/2"):
        shard(part)
    run("merge", *folders()[::-1], "--out", "merged")
    wanted = [json.loads(line)["id"] for line in pairs_file.read_text().splitlines()]
    found = [row.case_id for row in read_records(Path("merged") / "verdicts.jsonl", Verdict)]
    assert found == wanted
