"""Runs by a prompt of one's own: what they keep, what may change, and what may not."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError, SpecMismatch, UnknownComponent
from autoj.records import Request, Verdict
from autoj.runs import RunFolder, RunSpec, judge_run, make_spec, open_run, resolve_run
from autoj.runs.merge.merge_runs import merge_runs
from autoj.runs.settings import spec_digest

from ..damage import without_digests
from ..scripted import CARD, Recorder

PROMPT = """\
---
name: mine
kind: pairwise
answer:
  pattern: '\\[\\[([AB])\\]\\]'
  values: {A: 1, B: 2}
---
{query}|{response_1}|{response_2}
"""
SWAPPED = PROMPT.replace("{A: 1, B: 2}", "{A: 2, B: 1}")


def says_a(request: Request) -> str:
    return "The first: [[A]]"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.md"
    path.write_text(PROMPT, encoding="utf-8")
    return path


def spec_of(file: Path, **settings: object) -> RunSpec:
    return make_spec("judge", CARD, protocol=str(file), **settings)  # type: ignore[arg-type]


def finish(path: Path, spec: RunSpec, cases: Cases, backend: Recorder) -> list[Verdict]:
    with open_run(path, spec, cases) as folder:
        judge_run(folder, spec, backend)
        return list(folder.verdicts())


def test_a_run_keeps_its_prompt_and_is_shown_without_the_file(
    tmp_path: Path, file: Path, cases: Cases
) -> None:
    judged = finish(tmp_path / "run", spec_of(file), cases, Recorder(says_a))
    assert {verdict.winners for verdict in judged} == {("a", "b")}
    file.unlink()
    folder = RunFolder(tmp_path / "run")
    assert folder.spec().prompt == PROMPT
    assert folder.spec().protocol == "mine"
    assert [verdict for _, verdict in resolve_run(folder, folder.spec())] == judged
    assert {asked.protocol for asked in folder.plan()} == {"mine"}


def test_a_finished_run_is_resumed_from_the_prompt_it_keeps(
    tmp_path: Path, file: Path, cases: Cases
) -> None:
    first = finish(tmp_path / "run", spec_of(file), cases, Recorder(says_a))
    copy = tmp_path / "copy.md"
    copy.write_text(str(RunFolder(tmp_path / "run").spec().prompt), encoding="utf-8")
    file.unlink()
    nobody = Recorder(says_a)
    assert finish(tmp_path / "run", spec_of(copy), cases, nobody) == first
    assert nobody.asked == []


def test_another_reading_of_the_same_answers_is_resolved_again(
    tmp_path: Path, file: Path, cases: Cases, caplog: pytest.LogCaptureFixture
) -> None:
    one = spec_of(file)
    finish(tmp_path / "run", one, cases, Recorder(says_a))
    file.write_text(SWAPPED, encoding="utf-8")
    other = spec_of(file)
    assert spec_digest(one, cases) == spec_digest(other, cases)
    nobody = Recorder(says_a)
    with caplog.at_level(logging.WARNING):
        judged = finish(tmp_path / "run", other, cases, nobody)
    assert "its answers are read again" in caplog.text
    assert nobody.asked == []
    assert {verdict.winners for verdict in judged} == {("b", "a")}
    assert RunFolder(tmp_path / "run").spec().prompt == SWAPPED


ASKS_ELSE = [
    ("|{response_2}", "||{response_2}", "prompt.user"),
    ("---\n{query}", "---\n<!-- system -->\nBe fair.\n<!-- user -->\n{query}", "prompt.system"),
    ("name: mine", "name: yours", "protocol"),
]


@pytest.mark.parametrize(("old", "new", "setting"), ASKS_ELSE)
def test_other_words_for_the_judge_are_another_run(
    tmp_path: Path, file: Path, cases: Cases, old: str, new: str, setting: str
) -> None:
    one = spec_of(file)
    finish(tmp_path / "run", one, cases, Recorder(says_a))
    file.write_text(PROMPT.replace(old, new), encoding="utf-8")
    other = spec_of(file)
    assert spec_digest(one, cases) != spec_digest(other, cases)
    with pytest.raises(SpecMismatch) as told:
        finish(tmp_path / "run", other, cases, Recorder(says_a))
    assert [line.partition(":")[0] for line in told.value.differences] == [setting]


def test_a_run_by_ours_is_not_one_by_a_prompt(tmp_path: Path, file: Path, cases: Cases) -> None:
    ours = make_spec("judge", CARD, protocol="pairwise")
    finish(tmp_path / "run", ours, cases, Recorder())
    with pytest.raises(SpecMismatch, match="prompt: was None"):
        finish(tmp_path / "run", spec_of(file), cases, Recorder(says_a))


def test_keys_follow_from_what_is_asked_alone(tmp_path: Path, file: Path, cases: Cases) -> None:
    one, other = Recorder(says_a), Recorder(says_a)
    finish(tmp_path / "one", spec_of(file), cases, one)
    file.write_text(SWAPPED.replace("name: mine", "name: other"), encoding="utf-8")
    finish(tmp_path / "other", spec_of(file), cases, other)
    assert [request.key for request in one.asked] == [request.key for request in other.asked]
    assert one.asked[0].messages[0].content == "Question 0?|First answer 0.|Second answer 0."


def test_shards_by_a_prompt_are_merged(
    tmp_path: Path, file: Path, cases: Cases, caplog: pytest.LogCaptureFixture
) -> None:
    whole = finish(tmp_path / "whole", spec_of(file), cases, Recorder(says_a))
    parts = [tmp_path / "1", tmp_path / "2"]
    for number, path in enumerate(parts, start=1):
        finish(path, spec_of(file, shard=f"{number}/2"), cases, Recorder(says_a))
    # The first run's reading takes precedence, and its own text is all that is needed.
    record = json.loads((parts[1] / "run.json").read_bytes())
    record["spec"]["prompt"] = SWAPPED
    (parts[1] / "run.json").write_text(json.dumps(record), encoding="utf-8")
    without_digests(parts[1])
    file.unlink()
    with caplog.at_level(logging.WARNING):
        merge_runs(parts, tmp_path / "merged")
    assert "was read by another text of its prompt" in caplog.text
    merged = RunFolder(tmp_path / "merged")
    assert list(merged.verdicts()) == whole
    assert merged.spec().prompt == PROMPT


def test_a_prompt_that_was_damaged_in_the_folder_is_told(
    tmp_path: Path, file: Path, cases: Cases
) -> None:
    finish(tmp_path / "run", spec_of(file), cases, Recorder(says_a))
    record = json.loads((tmp_path / "run" / "run.json").read_bytes())
    record["spec"]["prompt"] = PROMPT.replace("kind", "kin")
    (tmp_path / "run" / "run.json").write_text(json.dumps(record), encoding="utf-8")
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(DataError, match=r"run\.json"):
        list(resolve_run(folder, folder.spec()))


def test_a_cards_own_prompt_comes_first_and_is_found_by_its_name(file: Path) -> None:
    card = replace(CARD, prompts=(PROMPT,))
    for named in (None, "mine"):
        spec = make_spec("judge", card, protocol=named)
        assert (spec.protocol, spec.prompt) == ("mine", PROMPT)
    assert make_spec("judge", card, protocol="pairwise").prompt is None
    # It compares two responses; one is rated by the card's protocols.
    assert make_spec("rate", card).protocol == "single-verdict"


def test_a_prompt_of_the_wrong_kind_and_a_locked_judge_are_told(file: Path) -> None:
    with pytest.raises(ConfigError, match="protocol 'mine' judges a pair"):
        make_spec("rate", CARD, protocol=str(file))
    locked = replace(CARD, prompts_sha256="0" * 64)
    with pytest.raises(ConfigError, match=r"was trained on .*, and not on protocol 'mine'") as told:
        make_spec("judge", locked, protocol=str(file))
    assert told.value.hint is not None
    assert "general models" in told.value.hint


def test_samples_need_a_prompt_that_writes(
    tmp_path: Path, pair_spec: Callable[..., RunSpec]
) -> None:
    path = tmp_path / "scored.md"
    path.write_text(PROMPT.replace(PROMPT.split("answer:")[1].split("---")[0],
                                   " {choices: {A: 1, B: 2}}\n"), encoding="utf-8")  # fmt: skip
    with pytest.raises(ConfigError, match="scores choices and samples no text"):
        pair_spec(protocol=str(path), samples=3, temperature=0.7)


def test_a_strangers_run_folder_reads_no_file_as_its_protocol(
    tmp_path: Path, file: Path, cases: Cases
) -> None:
    finish(tmp_path / "run", spec_of(file), cases, Recorder(says_a))
    spec = RunFolder(tmp_path / "run").spec()
    for name in (str(file), "mine.md", "/etc/passwd", "os.path"):
        with pytest.raises((ConfigError, UnknownComponent)):
            _ = replace(spec, protocol=name, prompt=None).plain_protocol
