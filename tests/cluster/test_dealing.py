"""Parts and shards: sized by tokens, dealt out evenly, and all parts exactly once."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from autoj.cluster.dealing import PartSizes, deal, overlap, part_sizes
from autoj.datasets.base import cases_of
from autoj.records import Case, Response
from autoj.runs import make_spec
from autoj.runs.shards import Dealer, Shard

from ..scripted import CARD


def case(number: int, n_words: int) -> Case:
    responses = (Response(text="word " * n_words), Response(text=f"answer {number}"))
    return Case(id=str(number), query="q", responses=responses, cluster="q")


def test_shards_have_equal_tokens_where_their_cases_differ() -> None:
    # The long cases come first: dealt in turn by rows they would meet in one shard of four.
    cases = [case(number, 4000 if number % 4 == 0 else 20) for number in range(64)]
    data, spec = cases_of(cases), make_spec("judge", CARD)
    sizes = part_sizes(data, spec, 4)
    shards = deal(range(1, sizes.of + 1), sizes, 4)
    held = [[int(its.id) for its in Dealer(shard).deal(cases)] for shard in shards]
    assert sorted(number for its in held for number in its) == [*range(64)]
    assert [sum(number % 4 == 0 for number in its) for its in held] == [4] * 4
    loads = [sum(sizes.n_tokens[part - 1] for part in shard.parts) for shard in shards]
    assert max(loads) < 1.05 * min(loads)
    assert [sizes.questions(shard) for shard in shards] == [2 * len(its) for its in held]


def test_a_question_counts_its_texts_and_its_answer() -> None:
    spec = make_spec("judge", CARD)
    short, long = (part_sizes(cases_of([case(0, n)]), spec, 2).n_tokens for n in (0, 4000))
    # Both orders show the 20,000 bytes.
    assert sum(long) - sum(short) == 2 * 20_000 // 4
    one_order = make_spec("judge", CARD, orders="one")
    assert sum(part_sizes(cases_of([case(0, 4000)]), one_order, 2).n_tokens) == sum(long) // 2
    rated = part_sizes(cases_of([case(0, 4000)]), make_spec("rate", CARD), 2)
    # Each response is rated alone: one more prompt than one order has.
    assert sum(rated.n_tokens) - sum(long) // 2 in (399, 400, 401)
    assert rated.questions(Shard(parts=(1, 2), of=2)) == 2


def test_a_copy_is_counted_once() -> None:
    first = case(0, 10)
    cases = [first, replace(first, id="copy", responses=first.responses[::-1])]
    sizes = part_sizes(cases_of(cases), make_spec("judge", CARD), 2)
    assert sum(sizes.n_questions) == 2


@given(st.lists(st.integers(0, 10_000), min_size=16, max_size=16), st.integers(1, 20))
def test_all_parts_are_dealt_once_and_evenly(n_tokens: list[int], n_shards: int) -> None:
    sizes = PartSizes(n_tokens=tuple(n_tokens), n_questions=(1,) * 16)
    shards = deal(range(1, 17), sizes, n_shards)
    assert sorted(part for shard in shards for part in shard.parts) == [*range(1, 17)]
    assert not any(overlap(one, other) for one, other in combinations(shards, 2))
    loads = [sum(n_tokens[part - 1] for part in shard.parts) for shard in shards]
    # The best dealing has no shard below the mean or below the largest part.
    assert max(loads) <= sum(n_tokens) / len(shards) + max(n_tokens)
