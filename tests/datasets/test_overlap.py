"""Shared queries: by text, by n-grams, in both directions, and the same as counting by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.datasets.overlap import find_overlap
from autoj.errors import ConfigError

LONG = "one two three four five six seven eight nine ten eleven twelve"


def test_the_same_text_is_found_whatever_its_dress() -> None:
    found = find_overlap(["What is 2 + 2?", "Why?", "what IS 2+2"], ["Who?", "What is 2+2", "Eh"])
    assert [(item.a, item.b, item.by, item.share) for item in found.shared] == [
        (0, 1, "text", 1.0),
        (2, 1, "text", 1.0),
    ]
    assert (found.n_a, found.n_b, found.n_shared_a, found.n_shared_b) == (3, 3, 2, 1)
    assert found.n_same_text == 2


def test_queries_of_signs_alone_are_compared_as_they_are() -> None:
    assert find_overlap(["???"], ["!!!"]).n_shared_a == 0
    assert find_overlap(["???"], ["???"], n=3).n_shared_a == 1


def test_a_query_inside_another_is_found_in_both_directions() -> None:
    longer = f"Please read this with great care and then say what you think: {LONG}."
    for a, b in ((LONG, longer), (longer, LONG)):
        found = find_overlap([a], [b], n=4)
        assert [(item.by, item.share) for item in found.shared] == [("n-grams", 1.0)]
        assert found.n_shared_b == 1
        assert found.n_same_text == 0
    assert find_overlap([LONG], [longer]).n_shared_a == 0


def test_the_threshold_is_a_share_of_the_shorter_query() -> None:
    # 12 words have 9 4-grams; 3 of them stand in the other.
    other = "one two three four five six and then a good many other words in a row"
    assert find_overlap([LONG], [other], n=4, threshold=3 / 9).shared[0].share == 3 / 9
    assert find_overlap([LONG], [other], n=4, threshold=0.34).n_shared_a == 0


def test_the_nearest_is_named_and_the_first_of_equals() -> None:
    half = "one two three four five six and now for something else that is long"
    found = find_overlap(
        [LONG], ["nothing", half, LONG + " more", LONG + " yet"], n=4, threshold=0.1
    )
    assert (found.shared[0].b, found.shared[0].share) == (2, 1.0)
    assert found.n_shared_b == 3


def test_a_query_shorter_than_an_n_gram_is_compared_by_its_text() -> None:
    assert find_overlap(["one two three"], [LONG], n=4).n_shared_a == 0
    assert find_overlap(["one two three"], ["One, two, three!"], n=4).shared[0].by == "text"


def test_chinese_and_thai_count_by_characters_and_korean_by_words() -> None:
    query = "请写一首关于春天的诗歌"
    assert find_overlap([query], [f"你好，{query}，谢谢"], n=8).shared[0].share == 1.0
    assert find_overlap(["请写"], [query], n=8).n_shared_a == 0
    assert find_overlap(["ขอเพลงเกี่ยวกับฤดูใบไม้ผลิ"], ["ก ขอเพลงเกี่ยวกับฤดูใบไม้ผลิ"], n=8).n_shared_a
    assert find_overlap(["봄에 관한 시를 써"], ["봄에 관한 시를 써 주세요"], n=8).n_shared_a == 0
    assert find_overlap(["봄에 관한 시를 써"], ["봄에 관한 시를 써 주세요"], n=4).n_shared_a == 1


def test_empty_sets_share_nothing() -> None:
    found = find_overlap([], ["q"], n=2)
    assert (found.n_a, found.n_b, found.shared, found.n_shared_b) == (0, 1, (), 0)
    assert find_overlap(["q"], [], n=2).shared == ()


@pytest.mark.parametrize(("n", "threshold"), [(0, 0.5), (-1, 0.5), (8, 0), (8, 1.1), (None, -1)])
def test_settings_that_make_no_sense_are_refused(n: int | None, threshold: float) -> None:
    with pytest.raises(ConfigError):
        find_overlap(["q"], ["q"], n=n, threshold=threshold)


words = st.lists(st.sampled_from("abcd"), min_size=1, max_size=9).map(" ".join)


@given(a=st.lists(words, max_size=6), b=st.lists(words, max_size=6), n=st.integers(1, 4))
def test_the_index_finds_what_comparing_all_pairs_finds(a: list[str], b: list[str], n: int) -> None:
    def grams(query: str) -> set[tuple[str, ...]]:
        split = query.split()
        return {tuple(split[at : at + n]) for at in range(len(split) - n + 1)}

    def same(x: str, y: str) -> bool:
        if x.replace(" ", "") == y.replace(" ", ""):
            return True
        small = min(len(grams(x)), len(grams(y)))
        return small > 0 and len(grams(x) & grams(y)) / small >= 0.6

    found = find_overlap(a, b, n=n, threshold=0.6)
    assert [item.a for item in found.shared] == [
        row for row, query in enumerate(a) if any(same(query, other) for other in b)
    ]
    assert found.n_shared_b == sum(any(same(query, other) for query in a) for other in b)
    back = find_overlap(b, a, n=n, threshold=0.6)
    assert (back.n_shared_a, back.n_shared_b) == (found.n_shared_b, found.n_shared_a)
