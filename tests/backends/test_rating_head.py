"""A rating head: the scores that it moves, in which engines, and what is refused."""

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
from autoj.backends._adapters import Adapter, rating_head_of, read_adapter
from autoj.backends._rating_head import RatingHead, asks_for_rating
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
    head = RatingHead(weight=np.array([1.0, 0.0]), bias=-1.0)
    moved = head.moved(logprobs, np.array([output + 1, 9.0]))
    assert np.logaddexp.reduce(moved) == pytest.approx(np.logaddexp.reduce(logprobs), abs=1e-9)
    assert np.diff(moved) - np.diff(logprobs) == pytest.approx([output] * 9, abs=1e-6)
    sharp = replace(head, sharpness=2.0).moved(logprobs, np.array([output + 1, 9.0]))
    assert np.logaddexp.reduce(sharp) == pytest.approx(np.logaddexp.reduce(logprobs), abs=1e-9)
    assert np.diff(sharp) == pytest.approx(2 * np.diff(moved), abs=1e-6)


def test_a_state_of_another_width_is_another_models() -> None:
    head = RatingHead(weight=np.array([1.0, 0.0]), bias=0.0)
    with pytest.raises(ConfigError, match="reads 2 numbers of the model's state, and this model"):
        head.moved([-1.0] * 10, np.zeros(3))


def test_nothing_but_ten_ratings_in_english_is_moved() -> None:
    bodies = {
        name: load_protocol(name).build(CASE, shown)
        for name, shown in {
            "single-verdict": (0,), "pairwise-by-rating": (1,), "single-verdict-zh": (0,),
            "pairwise-verdict": (0, 1), "single": (0,),
        }.items()
    }  # fmt: skip
    moved = {name for name, body in bodies.items() if asks_for_rating(body.prefix, body.choices)}
    assert moved == {"single-verdict", "pairwise-by-rating"}
    assert not asks_for_rating("Rating: [[", RATING_CHOICES[:9])


def head_of(weight: Any, bias: Any, sharpness: float = 1.0) -> dict[str, Any]:
    return {
        "rating_head.weight": np.asarray(weight, np.float32),
        "rating_head.bias": np.asarray(bias, np.float32),
        "rating_head.sharpness": np.array([sharpness], np.float32),
    }


def read_with(folder: Path, head: dict[str, Any]) -> Adapter:
    write_adapter(folder, "ab", random_factors() | head)
    return read_adapter(folder, revision=None, base_sha256="ab", judge="ours")


def test_a_head_is_read_beside_the_factors_and_pinned_with_them(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    plain = read_with(tmp_path / "plain", {})
    one = read_with(tmp_path / "one", head_of([1.0] * HIDDEN, [0.5], 1.5))
    other = read_with(tmp_path / "other", head_of([2.0] * HIDDEN, [0.5]))
    assert plain.rating_head is None
    assert one.rating_head is not None
    assert one.rating_head.weight.tolist() == [1.0] * HIDDEN
    assert (one.rating_head.bias, one.rating_head.sharpness) == (0.5, 1.5)
    assert one.modules.keys() == plain.modules.keys()
    assert len({plain.sha256, one.sha256, other.sha256}) == 3
    # The model is merged from the factors alone: another head does not convert it anew.
    assert plain.digest == one.digest == other.digest


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
        (head_of([np.nan] * HIDDEN, [0.0]), "values that are not finite"),
        ({"rating_head.bias": np.zeros(1)}, "of type 'F64'"),
    ],
)
def test_what_is_no_head_is_refused(tmp_path: Path, head: dict[str, Any], message: str) -> None:
    pytest.importorskip("safetensors")
    with pytest.raises(ConfigError, match=message):
        read_with(tmp_path / "adapter", head)
    with pytest.raises(ConfigError, match=message):
        rating_head_of(replace(CARD, folder=str(tmp_path)))


def test_a_head_of_another_width_or_of_no_file_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    with pytest.raises(ConfigError, match=rf"reads states of 1 numbers.* have \[{HIDDEN}\]"):
        read_with(tmp_path / "adapter", head_of([1.0], [0.0]))
    file = tmp_path / "adapter" / "adapter_model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    card = replace(CARD, folder=str(tmp_path))
    with pytest.raises(ConfigError, match="is damaged or incomplete"):
        rating_head_of(card)
    file.unlink()
    with pytest.raises(ConfigError, match="there is no file"):
        rating_head_of(card)
    assert rating_head_of(replace(card, adapter=None)) is None


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


def test_both_engines_move_ratings_alone_and_by_the_same_state(tmp_path: Path) -> None:
    pytest.importorskip("openvino_genai")
    pytest.importorskip("gguf")
    pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
    pytest.importorskip("peft", reason="the extra `hf` is not installed: no peft")
    sha256 = write_base(tmp_path / "model.gguf", random_weights(), "F16", context=1024)
    weight = np.random.default_rng(5).normal(size=HIDDEN)
    slopes = {}
    for engine in ("embedded", "hf"):
        card = replace(CARD, backend=engine, folder=str(tmp_path))
        write_adapter(tmp_path / "adapter", sha256)
        before = scores(card)
        folder = write_adapter(
            tmp_path / "adapter", sha256, random_factors() | head_of(weight, [0.25])
        )
        content = (folder / "adapter_model.safetensors").read_bytes()
        pinned = f"sha256:{hashlib.sha256(content).hexdigest()}"
        after = scores(replace(card, adapter_revision=pinned))
        for name in ("pairwise-verdict", "single-verdict-zh"):
            assert after[name] == pytest.approx(before[name], abs=1e-4)
        steps = np.diff(after["single-verdict"] - before["single-verdict"])
        assert steps == pytest.approx([steps.mean()] * 9, abs=1e-3)
        slopes[engine] = steps.mean()
    # OpenVINO computes in bfloat16 where the processor can, transformers in float32.
    assert slopes["embedded"] == pytest.approx(slopes["hf"], rel=0.05)
    assert abs(slopes["hf"]) > 1
