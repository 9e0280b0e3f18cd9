"""Heads of an adapter: the scores that they move, in which engines, and what is refused."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.backends import load_backend
from autoj.backends._adapters import Adapter, heads_of, read_adapter
from autoj.backends._heads import Heads, comparison_head, rating_head
from autoj.critiques import RATING_CHOICES
from autoj.errors import ConfigError
from autoj.protocols import load_protocol
from autoj.records import Case, Completion, JudgeCard, Request, Response
from tests.backends.toy_llama import HIDDEN, random_factors, random_weights, write_adapter
from tests.backends.toy_llama import write_llama as write_base

CASE = Case(
    id="c", query="How?", cluster="c", responses=(Response(text="So."), Response(text="Thus."))
)
CARD = JudgeCard(
    name="ours", title="ours", backend="embedded", model="./model.gguf", context_tokens=4096,
    adapter="./adapter", wrapper="chatml",
)  # fmt: skip


@given(st.lists(st.floats(-30, -0.01), min_size=10, max_size=10), st.floats(-3, 3))
def test_ratings_move_to_one_side_by_the_odds_of_neighbours(
    logprobs: list[float], output: float
) -> None:
    head = rating_head(np.array([1.0, 0.0]), -1.0)
    moved = head.moved(logprobs, np.array([output + 1, 9.0]))
    assert np.logaddexp.reduce(moved) == pytest.approx(np.logaddexp.reduce(logprobs), abs=1e-9)
    assert np.diff(moved) - np.diff(logprobs) == pytest.approx([output] * 9, abs=1e-6)
    sharp = replace(head, sharpness=2.0).moved(logprobs, np.array([output + 1, 9.0]))
    assert np.logaddexp.reduce(sharp) == pytest.approx(np.logaddexp.reduce(logprobs), abs=1e-9)
    assert np.diff(sharp) == pytest.approx(2 * np.diff(moved), abs=1e-6)


@given(st.lists(st.floats(-30, -0.01), min_size=3, max_size=3), st.floats(-3, 3))
def test_the_first_response_moves_against_the_second_and_a_tie_stays_between(
    logprobs: list[float], output: float
) -> None:
    head = comparison_head(np.array([1.0, 0.0]), -1.0)
    moved = head.moved(logprobs, np.array([output + 1, 9.0]))
    assert np.logaddexp.reduce(moved) == pytest.approx(np.logaddexp.reduce(logprobs), abs=1e-9)
    first, second, tie = np.array(moved) - logprobs
    assert (first - tie, second - tie) == pytest.approx((output / 2, -output / 2), abs=1e-6)
    sharp = np.array(replace(head, sharpness=2.0).moved(logprobs, np.array([output + 1, 9.0])))
    assert sharp[0] - sharp[1] == pytest.approx(2 * (moved[0] - moved[1]), abs=1e-6)


def test_a_state_of_another_width_is_another_models() -> None:
    head = rating_head(np.array([1.0, 0.0]), 0.0)
    with pytest.raises(ConfigError, match="reads 2 numbers of the model's state, and this model"):
        head.moved([-1.0] * 10, np.zeros(3))


def test_ratings_and_comparisons_in_english_are_moved_and_nothing_else() -> None:
    heads = Heads(rating=rating_head(np.ones(1), 0.0), comparison=comparison_head(np.ones(1), 0.0))
    names = {None: "none", heads.rating: "rating", heads.comparison: "comparison"}
    bodies = {
        name: load_protocol(name).build(CASE, shown)
        for name, shown in {
            "single-verdict": (0,), "pairwise-by-rating": (1,), "single-verdict-zh": (0,),
            "pairwise-verdict": (0, 1), "pairwise-verdict-zh": (0, 1), "single": (0,),
        }.items()
    }  # fmt: skip
    assert {name: names[heads.of(body.prefix, body.choices)] for name, body in bodies.items()} == {
        "single-verdict": "rating", "pairwise-by-rating": "rating", "single-verdict-zh": "none",
        "pairwise-verdict": "comparison", "pairwise-verdict-zh": "none", "single": "none",
    }  # fmt: skip
    assert heads.of("Rating: [[", RATING_CHOICES[:9]) is None
    assert not Heads()
    assert Heads(comparison=heads.comparison)


def head_of(weight: Any, bias: Any, sharpness: float = 1.0, kind: str = "rating") -> dict[str, Any]:
    return {
        f"{kind}_head.weight": np.asarray(weight, np.float32),
        f"{kind}_head.bias": np.asarray(bias, np.float32),
        f"{kind}_head.sharpness": np.array([sharpness], np.float32),
    }


def read_with(folder: Path, head: dict[str, Any]) -> Adapter:
    write_adapter(folder, "ab", random_factors() | head)
    return read_adapter(folder, revision=None, base_sha256="ab", judge="ours")


def test_a_head_is_read_beside_the_factors_and_pinned_with_them(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    plain = read_with(tmp_path / "plain", {})
    one = read_with(tmp_path / "one", head_of([1.0] * HIDDEN, [0.5], 1.5))
    other = read_with(tmp_path / "other", head_of([2.0] * HIDDEN, [0.5]))
    compared = head_of([3.0] * HIDDEN, [0.5], kind="comparison")
    both = read_with(tmp_path / "both", head_of([1.0] * HIDDEN, [0.5], 1.5) | compared)
    assert not plain.heads
    assert one.heads.comparison is None
    for head in (one.heads.rating, both.heads.rating):
        assert head is not None
        assert head.weight.tolist() == [1.0] * HIDDEN
        assert (head.bias, head.sharpness) == (0.5, 1.5)
    assert both.heads.comparison is not None
    assert both.heads.comparison.weight.tolist() == [3.0] * HIDDEN
    assert one.modules.keys() == plain.modules.keys()
    assert len({plain.sha256, one.sha256, other.sha256, both.sha256}) == 4
    # The model is merged from the factors alone: another head does not convert it anew.
    assert plain.digest == one.digest == other.digest == both.digest


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ({"rating_head.weight": np.ones(HIDDEN, np.float32)}, "needs 'rating_head.weight', "),
        (
            head_of([1.0], [0.0]) | {"rating_head.scale": np.ones(1, np.float32)},
            "needs 'rating_head.weight', ",
        ),
        (head_of([[1.0] * HIDDEN], [0.0]), rf"has shapes \(1, {HIDDEN}\), \(1,\) and \(1,\)"),
        (head_of([1.0] * HIDDEN, [0.0, 1.0]), rf"has shapes \({HIDDEN},\), \(2,\) and \(1,\)"),
        (head_of([1.0] * HIDDEN, [0.0], 0.0), "the sharpness 0, expected above 0"),
        (
            {"comparison_head.weight": np.ones(HIDDEN, np.float32)},
            "a comparison head needs 'comparison_head.weight', ",
        ),
        (head_of([1.0] * HIDDEN, [0.0], -1.0, "comparison"), "its comparison head has the sharp"),
        (head_of([np.nan] * HIDDEN, [0.0]), "values that are not finite"),
        ({"rating_head.bias": np.zeros(1)}, "of type 'F64'"),
    ],
)
def test_what_is_no_head_is_refused(tmp_path: Path, head: dict[str, Any], message: str) -> None:
    pytest.importorskip("safetensors")
    with pytest.raises(ConfigError, match=message):
        read_with(tmp_path / "adapter", head)
    with pytest.raises(ConfigError, match=message):
        heads_of(replace(CARD, folder=str(tmp_path)))


def test_a_head_of_another_width_or_of_no_file_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    for kind in ("rating", "comparison"):
        with pytest.raises(
            ConfigError, match=rf"its {kind} head reads states of 1 numbers.* \[{HIDDEN}\]"
        ):
            read_with(tmp_path / "adapter", head_of([1.0], [0.0], kind=kind))
    file = tmp_path / "adapter" / "adapter_model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    card = replace(CARD, folder=str(tmp_path))
    with pytest.raises(ConfigError, match="is damaged or incomplete"):
        heads_of(card)
    file.unlink()
    with pytest.raises(ConfigError, match="there is no file"):
        heads_of(card)
    assert not heads_of(replace(card, adapter=None))


def scores(card: JudgeCard) -> dict[str, Any]:
    """The log-probabilities of the choices of three protocols."""
    requests = []
    for name in ("single-verdict", "pairwise-verdict", "single-verdict-zh"):
        shown = (0, 1) if name == "pairwise-verdict" else (0,)
        body = load_protocol(name).build(CASE, shown)
        requests.append(
            Request(
                key=name, judge="ours", case_id=CASE.id, protocol=name, shown=shown,
                messages=body.messages, prefix=body.prefix, choices=body.choices,
                decoding=card.decoding,
            )
        )  # fmt: skip
    found: dict[str, Any] = {}
    for outcome in load_backend(card).complete(requests):
        assert isinstance(outcome, Completion)
        assert outcome.choice_logprobs is not None
        found[outcome.key] = np.array(outcome.choice_logprobs)
        asked = next(each for each in requests if each.key == outcome.key)
        assert outcome.text == (asked.choices or ())[int(found[outcome.key].argmax())]
    return found


def test_both_engines_move_what_a_head_is_for_and_by_the_same_state(tmp_path: Path) -> None:
    pytest.importorskip("openvino_genai")
    pytest.importorskip("gguf")
    pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
    pytest.importorskip("peft", reason="the extra `hf` is not installed: no peft")
    sha256 = write_base(tmp_path / "model.gguf", random_weights(), "F16", context=1024)
    weight = np.random.default_rng(5).normal(size=HIDDEN)
    slopes: dict[str, list[float]] = {}
    for engine in ("embedded", "hf"):
        card = replace(CARD, backend=engine, folder=str(tmp_path))
        write_adapter(tmp_path / "adapter", sha256)
        before = scores(card)
        heads = head_of(weight, [0.25]) | head_of(-weight, [0.0], kind="comparison")
        folder = write_adapter(tmp_path / "adapter", sha256, random_factors() | heads)
        content = (folder / "adapter_model.safetensors").read_bytes()
        pinned = f"sha256:{hashlib.sha256(content).hexdigest()}"
        after = scores(replace(card, adapter_revision=pinned))
        assert after["single-verdict-zh"] == pytest.approx(before["single-verdict-zh"], abs=1e-4)
        first, second, tie = after["pairwise-verdict"] - before["pairwise-verdict"]
        assert first - tie == pytest.approx(tie - second, abs=1e-3)
        steps = np.diff(after["single-verdict"] - before["single-verdict"])
        assert steps == pytest.approx([steps.mean()] * 9, abs=1e-3)
        slopes[engine] = [steps.mean(), first - second]
    # OpenVINO computes in bfloat16 where the processor can, transformers in float32.
    assert slopes["embedded"] == pytest.approx(slopes["hf"], rel=0.05)
    assert min(map(abs, slopes["hf"])) > 1
