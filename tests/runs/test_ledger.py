"""The ledger: one line per key, found again by key."""

from __future__ import annotations

from contextlib import closing

import orjson
import pytest

from autoj.errors import DataError
from autoj.jsonl import whole_lines
from autoj.records import Completion, Failure
from autoj.runs.ledger import Ledger, LedgerReader, checked_key


def completion(key: str, text: str = "t") -> Completion:
    return Completion(
        key=key,
        text=text,
        finish="stop",
        prompt_tokens=3,
        completion_tokens=1,
        choice_logprobs=(-0.5, -1.25),
    )


def failure(key: str, attempts: int = 1) -> Failure:
    return Failure(key=key, error="Down", message="m", retryable=True, attempts=attempts)


def test_answers_are_found_even_where_half_their_digests_are_equal(tmp_path):
    keys = [f"{'ab' * 8}{number:016x}{'0' * 32}" for number in range(5)] + ["f" * 64, "0" * 64]
    with Ledger(tmp_path) as ledger:
        for key in keys:
            ledger.record(completion(key, text=key[-3:]))
    with closing(LedgerReader(tmp_path)) as reader:
        assert [reader.find(key) for key in keys] == [completion(key, key[-3:]) for key in keys]
        assert reader.find("ab" * 32) is None


def test_a_key_has_one_line_however_often_it_is_answered(tmp_path):
    key = "1" * 64
    with Ledger(tmp_path) as ledger:
        ledger.record(completion(key, "first"))
        ledger.record(completion(key, "second"))
    with Ledger(tmp_path) as ledger:
        assert ledger.holds(key)
        assert not ledger.holds("2" * 64)
        ledger.record(completion(key, "third"))
    assert len(list(whole_lines(tmp_path / "ledger.jsonl"))) == 1
    with closing(LedgerReader(tmp_path)) as reader:
        assert reader.find(key) == completion(key, "first")


def test_an_answer_goes_before_a_failure_and_the_last_failure_counts(tmp_path):
    answered, down = "1" * 64, "2" * 64
    with Ledger(tmp_path) as ledger:
        ledger.record(failure(answered))
        ledger.record(failure(down))
        ledger.record(failure(down))
        ledger.record(completion(answered))
    with closing(LedgerReader(tmp_path)) as reader:
        assert reader.find(answered) == completion(answered)
        assert reader.find(down) == failure(down, attempts=2)


def test_an_empty_folder_holds_nothing(tmp_path):
    with closing(LedgerReader(tmp_path)) as reader:
        assert reader.find("1" * 64) is None


def test_a_line_that_another_program_wrote_is_damaged(tmp_path):
    spaced = orjson.dumps({"key": "0" * 64, "text": "x", "sum": "75313a3d"}).replace(b":", b": ")
    with pytest.raises(DataError, match="its checksum is in another form than ours"):
        checked_key(tmp_path / "ledger.jsonl", 1, spaced + b"\n")
