"""Frozen testbeds are read by `autoj bench`, say how they were made, and are not overwritten."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autoj.bench.eval_c.evaluate import read_set
from autoj.bench.eval_p.measure import measure_pairs
from autoj.bench.eval_r.measure import RatingJudge, measure_selection
from autoj.bench.sources import StoredRun, labelled_pairs
from autoj.construct.testbed.build import build
from autoj.construct.testbed.folder import Testbed as Bed
from autoj.construct.testbed.freezing import FreezeSettings, freeze, is_frozen, open_frozen
from autoj.construct.testbed.labels import read_labelling
from autoj.construct.testbed.settings import BuildSources
from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError, RunBusy
from autoj.jsonl import read_records
from autoj.runs import RunSpec, make_spec
from autoj.runs.place import locked
from autoj.tasks import judge as judges

from ...scripted import CARD, Recorder
from .scripted_policies import SETTINGS, annotate, first_model

WHOLE = FreezeSettings(title="Ours | *and* yours", licence="CC-BY-4.0")


@pytest.fixture
def bed(sources: BuildSources, tmp_path: Path) -> Bed:
    testbed = build(SETTINGS, sources, tmp_path / "bed")
    annotate(testbed, "anna", first_model)
    annotate(testbed, "ben", first_model)
    return testbed


def rows_of(path: Path) -> list[dict[str, Any]]:
    return list(read_records(path, dict))


def test_the_three_sets_are_read_by_the_benchmarks(
    bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = freeze(bed, tmp_path / "frozen", WHOLE).path
    monkeypatch.setattr(judges, "load_engine", lambda card, watch: Recorder())
    monkeypatch.chdir(tmp_path)

    def run_of(name: str, spec: RunSpec) -> StoredRun:
        judges.judge(open_cases(path / name), spec, tmp_path / name)
        return StoredRun(tmp_path / name)

    pairs = open_cases(path / "eval_p.jsonl")
    assert len(labelled_pairs(pairs)) == 12
    spec = make_spec("judge", CARD, protocol="pairwise")
    found = measure_pairs(pairs, run_of("eval_p.jsonl", spec))
    assert found.result.n_cases == 12
    assert len(read_set(open_cases(path / "eval_c.jsonl"))) == 8
    spec = make_spec("rate", CARD, protocol="single-verdict")
    picked = measure_selection(
        open_cases(path / "eval_r.jsonl"),
        [run_of("eval_r.jsonl", spec)],
        sizes=(2, 3),
        grader=RatingJudge(spec=spec, out=tmp_path / "grades"),
    )
    assert picked.results[0].n_cases == 4
    assert picked.results[0].parts["base model"].keys() == {"ant"}


def test_labels_less_preferred_responses_and_samples_are_those_of_the_testbed(
    bed: Bed, tmp_path: Path
) -> None:
    path = freeze(bed, tmp_path / "frozen", WHOLE).path
    labels = {one.case.id: one for one in read_labelling(bed).labels}
    pairs = {row["id"]: row for row in rows_of(path / "eval_p.jsonl")}
    assert pairs.keys() == labels.keys()
    for case_id, row in pairs.items():
        assert row["label"] == labels[case_id].label
        assert set(row["meta"]) == {"origin"}
    sides: set[int] = set()
    for row in rows_of(path / "eval_c.jsonl"):
        pair = pairs[row["id"]]
        (response,) = row["responses"]
        index = pair["responses"].index(response)
        assert index in {"a": (1,), "b": (0,), "tie": (0, 1)}[pair["label"]]
        assert row["label"] is None
        sides.add(index)
    assert sides == {0, 1}
    critique = {row["id"] for row in rows_of(path / "eval_c.jsonl")}
    for row in rows_of(path / "eval_r.jsonl"):
        assert row["meta"]["case_id"] in critique
        assert len(row["responses"]) == SETTINGS.n_samples
        assert all(one["logprob"] < 0 for one in row["responses"])


def test_checksums_and_datasheet_say_what_it_is(bed: Bed, tmp_path: Path) -> None:
    frozen = freeze(bed, tmp_path / "frozen", WHOLE)
    sums = dict(
        reversed(line.split("  ")) for line in (frozen.path / "SHA256SUMS").read_text().splitlines()
    )
    files = {path.name for path in frozen.path.iterdir()}
    assert sums.keys() == files - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((frozen.path / name).read_bytes()).hexdigest() == digest
    text = (frozen.path / "README.md").read_text()
    assert text.startswith("# Ours \\| \\*and\\* yours\n")
    for said in (
        "Licence: CC-BY-4.0",
        "| writing_email | 6 |",
        "| the label of the source, kept as it is | 8 |",
        "| all annotators gave it | 4 |",
        "| 1 and 2 | 4 | 1.00 [",
        "No training file was named",
        "12 of 12 have a log-probability",
        "| policy | cow |",
    ):
        assert said in text, said
    # Names of people and of folders stay out of what is published.
    published = b"".join(path.read_bytes() for path in frozen.path.iterdir())
    assert b"anna" not in published
    assert str(tmp_path).encode() not in published
    assert {row["annotator"] for row in rows_of(frozen.path / "answers.jsonl")} == {1, 2}


def test_freezing_twice_changes_nothing_and_nothing_is_overwritten(
    bed: Bed, tmp_path: Path
) -> None:
    out = tmp_path / "frozen"
    assert freeze(bed, out, WHOLE).is_new
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert not freeze(bed, out, WHOLE).is_new
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == before
    annotate(bed, "cleo", lambda page: "tie")
    with pytest.raises(DataError, match="another frozen testbed, and nothing is overwritten"):
        freeze(bed, out, WHOLE)
    for taken in (tmp_path / "bed", tmp_path / "pairs.jsonl", Path("/"), Path(".")):
        with pytest.raises(DataError, match="something else"):
            freeze(bed, taken, WHOLE)
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == before
    assert not list(tmp_path.glob(".*draft"))


def test_what_is_missing_is_refused_or_said_openly(sources: BuildSources, tmp_path: Path) -> None:
    testbed = build(SETTINGS, replace(sources, queries=(), policies=()), tmp_path / "bed")
    with pytest.raises(ConfigError, match="is not complete") as caught:
        freeze(testbed, tmp_path / "frozen", WHOLE)
    assert "pairs that are lacking: 3 (writing_email 3)" in str(caught.value)
    assert "pairs without a label: 1 of 9" in str(caught.value)
    partial = FreezeSettings(partial=True)
    frozen = freeze(testbed, tmp_path / "frozen", partial)
    assert len(rows_of(frozen.path / "eval_p.jsonl")) == 8
    text = (frozen.path / "README.md").read_text()
    assert "**This testbed is not complete.** pairs that are lacking: 3" in text
    assert "Licence: not stated" in text


def test_undecided_pairs_are_refused_or_made_ties(bed: Bed, tmp_path: Path) -> None:
    annotate(bed, "cleo", lambda page: "tie")
    annotate(bed, "dan", lambda page: "tie")
    with pytest.raises(ConfigError, match="pairs without a label: 4 of 12"):
        freeze(bed, tmp_path / "frozen", WHOLE)
    ties = FreezeSettings(undecided="tie")
    path = freeze(bed, tmp_path / "frozen", ties).path
    waiting = {pair.case.id for pair in bed.pairs() if pair.waits}
    for row in rows_of(path / "eval_p.jsonl"):
        assert (row["id"] in waiting) <= (row["label"] == "tie")
    assert "Pairs without a majority were made ties." in (path / "README.md").read_text()
    with pytest.raises(ConfigError, match="pairs without a label: 4 of 12"):
        freeze(bed, tmp_path / "more", FreezeSettings(least_annotators=5))


def test_a_testbed_that_is_being_built_is_not_frozen(bed: Bed, tmp_path: Path) -> None:
    with locked(bed.path), pytest.raises(RunBusy):
        freeze(bed, tmp_path / "frozen", WHOLE)


def test_a_changed_file_of_a_frozen_testbed_is_found(bed: Bed, tmp_path: Path) -> None:
    out = freeze(bed, tmp_path / "frozen", WHOLE).path
    assert is_frozen(out)
    assert open_frozen(out).manifest["title"] == WHOLE.title
    row = (out / "eval_p.jsonl").read_bytes()
    (out / "eval_p.jsonl").write_bytes(row.replace(b'"label":"a"', b'"label":"b"', 1))
    with pytest.raises(DataError, match="was changed after the testbed was frozen"):
        open_frozen(out)
    with pytest.raises(DataError):
        freeze(bed, out, WHOLE)
    (out / "eval_p.jsonl").unlink()
    with pytest.raises(DataError, match="is missing"):
        open_frozen(out)


def test_a_testbed_without_any_label_cannot_be_frozen(
    sources: BuildSources, tmp_path: Path
) -> None:
    only_queries = replace(sources, pairs=())
    testbed = build(replace(SETTINGS, per_scenario=4), only_queries, tmp_path / "bed")
    with pytest.raises(ConfigError, match="nothing to freeze"):
        freeze(testbed, tmp_path / "frozen", FreezeSettings(partial=True))


def test_the_manifest_is_what_the_datasheet_is_written_from(bed: Bed, tmp_path: Path) -> None:
    frozen = freeze(bed, tmp_path / "frozen", WHOLE)
    manifest = json.loads((frozen.path / "manifest.json").read_text())
    assert manifest["states"] == {"source": 8, "agreed": 4}
    assert manifest["agreement"][0]["same_answer"]["value"] == 1.0
    assert [entry["path"] for entry in manifest["record"]["pairs"]] == ["pairs.jsonl"]
