"""The order of samples: pure, complete, and the same again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autoj.training.judge.schedule import draw, in_batches, up_to_tokens

items = st.lists(st.integers(1, 900), min_size=1, max_size=60)


@given(st.lists(items, min_size=1, max_size=3), st.integers(1, 3), st.integers(0, 5))
def test_each_epoch_holds_everything_once(groups: list[list[int]], epochs: int, seed: int) -> None:
    drawn = draw(groups, epochs, seed)
    whole = sorted(item for group in groups for item in group)
    assert sorted(drawn) == sorted(whole * epochs)
    assert drawn == draw(groups, epochs, seed)


@given(st.lists(items, min_size=2, max_size=3))
def test_groups_come_one_after_the_other(groups: list[list[int]]) -> None:
    drawn = draw(groups, 1, 0)
    start = 0
    for group in groups:
        assert sorted(drawn[start : start + len(group)]) == sorted(group)
        start += len(group)


def test_half_an_epoch_is_half_and_one_and_a_half_begins_anew() -> None:
    group = list(range(10))
    assert len(draw([group], 0.5, 0)) == len(set(draw([group], 0.5, 0))) == 5
    drawn = draw([group], 1.5, 0)
    assert (sorted(drawn[:10]), len(drawn), len(set(drawn[10:]))) == (group, 15, 5)


@given(items, st.integers(1, 2000))
def test_a_budget_is_reached_and_not_passed_by_more_than_one(group: list[int], budget: int) -> None:
    taken = up_to_tokens(group, lambda item: item, budget)
    assert taken == group[: len(taken)]
    assert sum(taken[:-1]) < budget
    assert sum(taken) >= budget or len(taken) == len(group)


@given(items, st.integers(1, 4), st.integers(1, 4), st.integers(0, 5))
def test_batches_keep_all_but_an_incomplete_last_one(
    group: list[int], micro: int, times: int, seed: int
) -> None:
    batch = micro * times
    arranged = in_batches(group, lambda item: item, batch=batch, micro_batch=micro, seed=seed)
    n_kept = len(group) // batch * batch if len(group) >= batch else len(group)
    assert sorted(arranged) == sorted(group[:n_kept])
    assert arranged == in_batches(
        group, lambda item: item, batch=batch, micro_batch=micro, seed=seed
    )


def test_a_micro_batch_holds_items_of_like_length() -> None:
    lengths = [100, 900] * 32
    arranged = in_batches(lengths, lambda item: item, batch=8, micro_batch=4, seed=0)
    for start in range(0, len(arranged), 4):
        assert len(set(arranged[start : start + 4])) == 1
    # Short and long come mixed, and not all short ones first.
    assert len(set(arranged[:32])) == 2
