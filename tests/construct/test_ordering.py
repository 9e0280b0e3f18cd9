"""Pairs exchanged with all that depends on their order, and orders drawn by a seed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from autoj.construct.ordering import swapped, with_drawn_order
from autoj.records import Case, Response, Winner


def _pair(number: int = 0, label: Winner | None = "a", **meta: Any) -> Case:
    return Case(
        id=f"made/{number}",
        query="Why?",
        cluster="why",
        responses=(Response(text="So.", model="m1"), Response(text="No.", model="m2")),
        label=label,
        meta=meta,
    )


metas = st.dictionaries(
    st.sampled_from(["score_a", "score_b", "safe_A", "safe_B", "n_turns", "plan_b", "a", "models"]),
    st.integers() | st.lists(st.text(), max_size=3),
)


@given(st.sampled_from(["a", "b", "tie", None]), metas)
def test_twice_is_the_identity(label: Winner | None, meta: dict[str, Any]) -> None:
    case = _pair(0, label, **meta)
    assert swapped(swapped(case)) == case


def test_what_is_said_of_a_response_goes_with_it() -> None:
    judgment = "1. Depth: Response 1 is deeper.\n\nSo, the final decision is Response 1."
    case = _pair(score_a=3, score_b=1, models=["m1", "m2"], plan_b="x", judgment=judgment)
    found = swapped(case)
    assert [response.text for response in found.responses] == ["No.", "So."]
    assert found.label == "b"
    assert (found.meta["score_a"], found.meta["score_b"]) == (1, 3)
    assert found.meta["models"] == ["m2", "m1"]
    assert found.meta["plan_b"] == "x"
    assert found.meta["judgment"].endswith("the final decision is Response 2.")


def test_a_label_that_is_always_a_is_a_as_often_as_b_once_orders_are_drawn() -> None:
    labels = Counter(with_drawn_order(_pair(number), 3).label for number in range(1_000))
    assert set(labels) == {"a", "b"}
    assert abs(labels["a"] - 500) < 80


def test_an_order_follows_from_the_id_and_the_seed() -> None:
    pairs = [_pair(number) for number in range(100)]
    drawn = [with_drawn_order(pair, 0) for pair in pairs]
    assert drawn == [with_drawn_order(pair, 0) for pair in pairs]
    assert drawn != [with_drawn_order(pair, 1) for pair in pairs]
    # The label names the same text whatever the order.
    for pair in drawn:
        assert pair.responses["ab".index(str(pair.label))].text == "So."


def test_a_pair_with_a_judgment_of_its_own_stays_as_it_is() -> None:
    pairs = [_pair(number, judgment="So, the final decision is Response 1.") for number in range(9)]
    assert [with_drawn_order(pair, 0) for pair in pairs] == pairs


def test_one_response_has_one_order() -> None:
    single = Case(id="1", query="q", cluster="q", responses=(Response(text="r"),), label=4.0)
    assert all(with_drawn_order(single, seed) is single for seed in range(20))
