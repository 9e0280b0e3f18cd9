"""Numbers that a translation must keep, whatever words it writes them in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.construct.translation.numbers import missing_numbers

KEPT = [
    ("In 1990, 12 people came.", "1990年来了12个人。"),
    ("It has 1,250,000 users.", "它有125万用户。"),
    ("It has 1.25 million users.", "它有1250000个用户。"),
    ("It cost $3 billion.", "它花了30亿美元。"),
    ("There are 2 of them.", "有两个。"),
    ("There are 21 of them.", "有二十一个。"),
    ("There are 305 of them.", "有三百零五个。"),
    ("Take 10 steps.", "走十步。"),
    ("On May 12, 2020 at 10:30.", "2020年5月12日10点30分。"),
    ("In the 1980s.", "八十年代。"),
    ("In the 1980s.", "20世纪80年代。"),
    ("Python 3.10.4 and 2.50 euros.", "Python 3.10.4，2.5欧元。"),
    ("Half, or 50%.", "５０％。"),
    ("5月有20人。", "Twenty came in May."),
    ("150万", "1.5 million"),
    ("3次，第1名", "three times, in first place"),
    ("It is 007.", "是7。"),
    ("No numbers.", "没有数字。"),
]
LOST = [
    ("In 1990, 12 people came.", "1990年来了13个人。", ["12"]),
    ("It has 1,250 users.", "它有1250万用户。", []),
    ("It has 1,250 users.", "它有125个用户。", ["1,250"]),
    ("Python 3.10.4", "Python 3.10", ["3.10.4"]),
    ("It is 1.5 m.", "是一米半。", ["1.5"]),
    ("5 and 5 and 6", "没有", ["5", "6"]),
    ("10", "100", ["10"]),
    ("1", "十", ["1"]),
]


@pytest.mark.parametrize(("text", "translation"), KEPT)
def test_a_number_is_kept_in_any_of_its_spellings(text: str, translation: str) -> None:
    assert missing_numbers(text, translation) == []


@pytest.mark.parametrize(("text", "translation", "missing"), LOST)
def test_a_number_that_is_not_there_is_named(
    text: str, translation: str, missing: list[str]
) -> None:
    assert missing_numbers(text, translation) == missing


@given(text=st.text(), translation=st.text())
def test_any_text_is_read_and_a_copy_lacks_nothing(text: str, translation: str) -> None:
    missing_numbers(text, translation)
    assert missing_numbers(text, text) == []


@pytest.mark.parametrize("run", ["9", "1,", "1.", "零", "十", "百万", "1,234", "3 million "])
def test_long_hostile_texts_are_read_to_their_end(run: str) -> None:
    text = run * (50_000 // len(run))
    assert missing_numbers(text, text) == []
