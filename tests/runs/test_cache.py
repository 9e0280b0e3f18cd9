"""Answers of earlier runs: found by place and key, private, bounded, and never in the way."""

from __future__ import annotations

import json
import logging
import os
import random
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from autoj.errors import ConfigError
from autoj.records import Completion, JudgeCard, ScoredCompletion
from autoj.runs.cache import AnswerCache, AnswerSource
from autoj.runs.ledger import Ledger, RecordedAnswer
from autoj.runs.reuse import LedgerAnswers, costs_money, normal_address, reused

from ..scripted import CARD, Recorder

HERE = AnswerSource(place="https://one.example/v1", model="m", protocol="pairwise")
THERE = replace(HERE, place="https://two.example/v1")


def answer(key: str = "a", text: str = "So it is.", **fields: object) -> Completion:
    known: dict[str, object] = {"finish": "stop", "prompt_tokens": 9, "completion_tokens": 3}
    return Completion(key=key * 64, text=text, **(known | fields))  # type: ignore[arg-type]


def test_an_answer_is_found_again_and_marked(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as cache:
        cache.keep(HERE, answer(choice_logprobs=(-0.5, -1.0)))
    with AnswerCache(tmp_path) as cache:
        found = cache.find(HERE, "a" * 64)
        assert found is not None
        assert found.reused
        assert found.choice_logprobs == (-0.5, -1.0)
        assert cache.find(HERE, "b" * 64) is None


def test_it_is_known_how_an_answer_that_is_taken_over_was_scored(tmp_path: Path) -> None:
    exact = ScoredCompletion(**asdict(answer()), scored_by="token ids")
    with AnswerCache(tmp_path / "cache") as cache:
        cache.keep(HERE, exact)
        kept = cache.find(HERE, exact.key)
    (tmp_path / "run").mkdir()
    with Ledger(tmp_path / "run") as ledger:
        ledger.record(exact)
    with closing(LedgerAnswers([tmp_path / "run"])) as known:
        taken = known.find(exact.key)
    assert [found and found.scored_by for found in (kept, taken)] == ["token ids"] * 2


def test_a_part_of_a_run_does_not_pay_for_what_was_reused(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        ledger.record(RecordedAnswer(**asdict(answer("a")), reused=True))
        ledger.record(answer("b"))
    with closing(LedgerAnswers([tmp_path], reused=False)) as known:
        found = [known.find(key * 64) for key in "ab"]
    assert [each and each.reused for each in found] == [True, False]


def test_two_servers_share_no_answers(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as cache:
        cache.keep(HERE, answer(text="one"))
        assert cache.find(THERE, "a" * 64) is None
        cache.keep(THERE, answer(text="two"))
        found = [cache.find(source, "a" * 64) for source in (HERE, THERE)]
    assert [item and item.text for item in found] == ["one", "two"]


def test_what_a_filter_ended_is_not_kept(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as cache:
        cache.keep(HERE, answer(finish="filtered"))
        assert cache.find(HERE, "a" * 64) is None


@pytest.mark.skipif(os.name == "nt", reason="no such permissions")
def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    with AnswerCache(tmp_path / "answers") as cache:
        cache.keep(HERE, answer())
        files = list((tmp_path / "answers").glob("*.sqlite*"))
        assert len(files) > 1, "the file and its log"
        assert {path.stat().st_mode & 0o077 for path in [*files, tmp_path / "answers"]} == {0}


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as cache:
        for key in "abcdef":
            cache.keep(HERE, answer(key, "x" * 100_000))
        cache.models()  # All is written by then.
        cache._run("UPDATE answers SET used = 0 WHERE key = ?", "f" * 64)
    with AnswerCache(tmp_path, most_bytes=350_000) as cache:
        pass
    with AnswerCache(tmp_path) as cache:
        kept = [key for key in "abcdef" if cache.find(HERE, key * 64) is not None]
        assert len(kept) == 3
        assert "f" not in kept
        assert cache.n_bytes() < 400_000


def test_clearing_by_model_and_by_age(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as cache:
        cache.keep(HERE, answer("a"))
        cache.keep(replace(HERE, model="other"), answer("b", "y" * 500_000))
        cache.models()  # All is written by then.
        cache._run("UPDATE answers SET kept = kept - 10 * 86400 WHERE model = 'm'")
        assert cache.clear(older_than_days=20) == 0
        assert [model.model for model in cache.models()] == ["other", "m"]
        assert cache.clear("other") == 1
        assert cache.n_bytes() < 100_000, "the disk has its space back"
        assert cache.clear(older_than_days=5) == 1
        assert cache.models() == []


@pytest.mark.parametrize("damage", ["not SQLite", "cut", "a page of zeros"])
def test_a_damaged_file_is_set_aside(tmp_path: Path, caplog, damage: str) -> None:
    with AnswerCache(tmp_path) as cache:
        for key in "abcdef":
            cache.keep(HERE, answer(key, "x" * 9000))
    content = bytearray(cache.path.read_bytes())
    if damage == "not SQLite":
        content[:16] = b"x" * 16
    elif damage == "cut":
        del content[5000:]
    else:
        content[4096:] = bytes(len(content) - 4096)
    cache.path.write_bytes(content)
    with caplog.at_level(logging.WARNING), AnswerCache(tmp_path) as cache:
        assert [cache.find(HERE, key * 64) for key in "abcdef"] == [None] * 6
        cache.keep(HERE, answer("a"))
        assert cache.find(HERE, "a" * 64) is not None
    assert len(caplog.records) == 1
    assert "was damaged" in caplog.text
    assert (tmp_path / "answers-1.damaged.sqlite").stat().st_size == len(content)


def test_no_flipped_byte_is_an_error_or_another_answer(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as cache:
        for key in "abcdef":
            cache.keep(HERE, answer(key, key * 900))
    whole = cache.path.read_bytes()
    chance, n_found = random.Random(0), 0
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(chance.choice((1, 20))):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        cache.path.write_bytes(content)
        with AnswerCache(tmp_path) as damaged:
            for key in "abcdef":
                found = damaged.find(HERE, key * 64)
                assert found is None or found.text == key * 900
                n_found += found is not None
            damaged.keep(HERE, answer("9"))
            damaged.models()
        for path in tmp_path.glob("answers-1*"):
            path.unlink()
    assert 100 < n_found < 900, "some were whole, and some were not"


def test_a_damaged_answer_is_a_missing_one(tmp_path: Path, caplog) -> None:
    with AnswerCache(tmp_path) as cache:
        cache.keep(HERE, answer())
        cache.models()  # All is written by then.
        cache._run("UPDATE answers SET completion = replace(completion, 'So', 'No')")
        assert cache.find(HERE, "a" * 64) is None
        assert "damaged" in caplog.text
        assert cache.models() == []


def test_a_folder_that_cannot_be_used_is_done_without(tmp_path: Path, caplog) -> None:
    (tmp_path / "file").touch()
    with AnswerCache(tmp_path / "file" / "answers") as cache:
        cache.keep(HERE, answer())
        assert cache.find(HERE, "a" * 64) is None
        assert (cache.models(), cache.n_bytes(), cache.clear()) == ([], 0, 0)
    assert "are not used" in caplog.text


def test_a_file_that_another_program_locks_is_done_without(tmp_path, caplog, monkeypatch) -> None:
    monkeypatch.setattr("autoj.runs.cache._BUSY_SECONDS", 0.01)
    with AnswerCache(tmp_path) as cache:
        pass
    other = sqlite3.connect(cache.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with AnswerCache(tmp_path) as cache:
        cache.keep(HERE, answer())
    other.close()
    assert "locked" in caplog.text
    assert not (tmp_path / "answers-1.damaged.sqlite").exists()


def test_threads_share_one(tmp_path: Path) -> None:
    with AnswerCache(tmp_path) as cache:
        threads = [
            threading.Thread(target=cache.keep, args=(HERE, answer(key))) for key in "abcdef"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(model.n_answers for model in cache.models()) == 6


_WRITER = """
import sys
from pathlib import Path
from autoj.records import Completion
from autoj.runs.cache import AnswerCache, AnswerSource
source = AnswerSource(place="p", model="m", protocol="q")
with AnswerCache(Path(sys.argv[1])) as cache:
    for number in range(200):
        key = sys.argv[2] + f"{number:063}"
        cache.keep(source, Completion(key=key, text="t", finish="stop", prompt_tokens=1,
                                      completion_tokens=1))
        assert cache.find(source, key) is not None
"""


def test_processes_share_one(tmp_path: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path), key], stderr=-1)
        for key in "abc"
    ]
    errors = [process.communicate()[1] for process in started]
    assert errors == [b""] * 3
    with AnswerCache(tmp_path) as cache:
        assert [model.n_answers for model in cache.models()] == [600]


# Whose answers are kept.


def test_judges_that_cost_are_kept_by_default_and_no_others() -> None:
    plain = JudgeCard(name="j", title="j", backend="openai", model="m")
    priced = replace(
        plain, usd_per_million_prompt_tokens=1.0, usd_per_million_completion_tokens=1.0
    )
    assert costs_money(plain, "https://api.example.com/v1")
    assert costs_money(priced, "http://127.0.0.1:8000/v1")
    assert not costs_money(plain, "http://127.0.0.1:8000/v1")
    assert not costs_money(plain, "https://localhost/v1")
    assert not costs_money(plain, "http://gpu-box:8000/v1"), "its model may change from day to day"
    assert not costs_money(priced, None)


def test_an_address_is_kept_without_secrets() -> None:
    assert normal_address("https://me:secret@API.example.com:444/v1/?key=secret") == (
        "https://api.example.com:444/v1"
    )
    assert normal_address("http://[::1]:80/v1") == "http://[::1]:80/v1"


def test_weights_of_this_machine_must_be_pinned(answers_folder: Path) -> None:
    with (
        pytest.raises(ConfigError, match="does not pin the weights"),
        reused(Recorder(), "pairwise", True),
    ):
        pass
    pinned = Recorder(card=replace(CARD, revision="1"))
    with reused(pinned, "pairwise", True) as reuse:
        assert reuse is not None
        reuse.keep(answer())
    with reused(pinned, "pairwise", None) as reuse:
        assert reuse is None
    with AnswerCache(answers_folder) as cache:
        assert json.dumps([model.place for model in cache.models()]) == '["local"]'
