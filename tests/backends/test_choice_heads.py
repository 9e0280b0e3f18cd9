"""Choice heads: what they move, for which questions, in which engines, and what is refused."""

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
from autoj.backends._adapters import choice_heads_of, read_adapter
from autoj.backends._choice_heads import QUESTIONS, ChoiceHead
from autoj.errors import ConfigError
from autoj.protocols import load_protocol
from autoj.records import Case, Completion, JudgeCard, Request, Response
from tests.backends.toy_llama import HIDDEN, random_factors, random_weights, write_adapter
from tests.backends.toy_llama import write_llama as write_base

RATING, COMPARISON = QUESTIONS["rating"], QUESTIONS["comparison"]
CASE = Case(
    id="c", query="How?", cluster="c", responses=(Response(text="So."), Response(text="Thus."))
)


def ratings_head(*weight: float, bias: float = 0.0) -> ChoiceHead:
    return ChoiceHead(question=RATING, weight=np.array([weight]), bias=np.array([bias]))


@given(
    st.lists(st.floats(-30, -0.01), min_size=10, max_size=10),
    st.floats(-3, 3),
)
def test_ratings_move_to_one_side_by_the_odds_of_neighbours(
    logprobs: list[float], output: float
) -> None:
    moved = ratings_head(1.0, 0.0, bias=-1.0).moved(logprobs, np.array([output + 1, 9.0]))
    assert np.logaddexp.reduce(moved) == pytest.approx(np.logaddexp.reduce(logprobs), abs=1e-9)
    assert np.diff(moved) - np.diff(logprobs) == pytest.approx([output] * 9, abs=1e-6)


def test_a_comparison_moves_by_its_order_and_by_its_tie() -> None:
    weight = np.array([[1.0, 2.0], [0.0, 3.0]])
    head = ChoiceHead(question=COMPARISON, weight=weight, bias=np.array([0.5, -1.0]))
    first, second, tie = head.moved([-1.0, -1.5, -2.0], np.array([1.0, 2.0]))
    assert first - second == pytest.approx(0.5 + 5.5)
    assert tie - (first + second) / 2 == pytest.approx(-0.75 + 5.0)


def test_a_state_of_another_width_is_another_models() -> None:
    with pytest.raises(ConfigError, match="reads 2 numbers of the model's state, and this model"):
        ratings_head(1.0, 0.0).moved([-1.0] * 10, np.zeros(3))


def heads_of(**tensors: Any) -> dict[str, Any]:
    return {
        f"choice_heads.{name.replace('__', '.')}": np.asarray(rows, np.float32)
        for name, rows in tensors.items()
    }


def test_heads_are_read_beside_the_factors_and_change_the_revision(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    heads = heads_of(rating__weight=[[1.0] * HIDDEN], rating__bias=[0.5])
    plain = read_adapter(
        write_adapter(tmp_path / "plain", "ab"), revision=None, base_sha256="ab", judge="ours"
    )
    with_heads = read_adapter(
        write_adapter(tmp_path / "heads", "ab", random_factors() | heads),
        revision=None,
        base_sha256="ab",
        judge="ours",
    )
    assert not plain.choice_heads
    assert with_heads.modules.keys() == plain.modules.keys()
    assert with_heads.sha256 != plain.sha256
    found = with_heads.choice_heads.of(RATING.prefix, RATING.choices)
    assert found is not None
    assert found.question == RATING
    assert found.moved([-1.0] * 10, np.zeros(HIDDEN))[9] > -1.0
    assert with_heads.choice_heads.of(COMPARISON.prefix, COMPARISON.choices) is None
    assert with_heads.choice_heads.of(RATING.prefix, RATING.choices[:9]) is None
    assert with_heads.choice_heads.of(None, None) is None


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        (heads_of(colour__weight=[[1.0]], colour__bias=[0.0]), "for an unknown question"),
        (heads_of(rating__weight=[[1.0]]), r"needs 'choice_heads\.rating\.weight' and '\.bias'"),
        (heads_of(rating__weight=[[1.0]], rating__scale=[1.0]), r"needs 'choice_heads\.rating"),
        (heads_of(rating__weight=[1.0], rating__bias=[0.0]), r"has shapes \(1,\) and \(1,\)"),
        (
            heads_of(comparison__weight=[[1.0] * 3], comparison__bias=[0.0, 0.0]),
            r"expected \(2, the model's width\) and \(2,\)",
        ),
        (heads_of(rating__weight=[[np.nan]], rating__bias=[0.0]), "values that are not finite"),
        ({"choice_heads.rating.bias": np.zeros(1)}, "of type 'F64'"),
    ],
)
def test_what_is_no_head_is_refused(tmp_path: Path, tensors: Any, message: str) -> None:
    pytest.importorskip("safetensors")
    write_adapter(tmp_path / "adapter", "ab", random_factors() | tensors)
    with pytest.raises(ConfigError, match=message):
        choice_heads_of(replace(CARD, folder=str(tmp_path)))
    with pytest.raises(ConfigError, match=message):
        read_adapter(tmp_path / "adapter", revision=None, base_sha256="ab", judge="ours")


def test_heads_of_another_width_or_of_no_file_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    narrow = heads_of(rating__weight=[[1.0]], rating__bias=[0.0])
    write_adapter(tmp_path / "adapter", "ab", random_factors() | narrow)
    with pytest.raises(ConfigError, match=rf"read states of \[1\] .* model's have \[{HIDDEN}\]"):
        read_adapter(tmp_path / "adapter", revision=None, base_sha256="ab", judge="ours")
    file = tmp_path / "adapter" / "adapter_model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    card = replace(CARD, folder=str(tmp_path))
    with pytest.raises(ConfigError, match="is damaged or incomplete"):
        choice_heads_of(card)
    file.unlink()
    with pytest.raises(ConfigError, match="there is no file"):
        choice_heads_of(card)
    assert not choice_heads_of(replace(card, adapter=None))


def test_a_model_is_not_merged_anew_for_other_heads(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    digests = []
    for number in (0.0, 1.0):
        heads = heads_of(rating__weight=[[number] * HIDDEN], rating__bias=[0.0])
        folder = write_adapter(tmp_path, "ab", random_factors() | heads)
        adapter = read_adapter(folder, revision=None, base_sha256="ab", judge="ours")
        digests.append((adapter.digest, adapter.sha256))
    (one, _), (other, _) = digests
    assert one == other
    assert len(set(digests)) == 2


# --- Engines --------------------------------------------------------------------------------------

PROTOCOLS = ("single-verdict", "pairwise-by-rating", "pairwise-verdict", "single-verdict-zh")


def asked(protocol: str) -> Request:
    shown = (0, 1) if protocol == "pairwise-verdict" else (0,)
    body = load_protocol(protocol).build(CASE, shown)
    return Request(
        key=protocol, judge="ours", case_id=CASE.id, protocol=protocol, shown=shown,
        messages=body.messages, prefix=body.prefix, choices=body.choices, decoding=CARD.decoding,
    )  # fmt: skip


CARD = JudgeCard(
    name="ours", title="ours", backend="embedded", model="./model.gguf", context_tokens=4096,
    adapter="./adapter",
)  # fmt: skip


def scores(card: JudgeCard) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for outcome in load_backend(card).complete([asked(name) for name in PROTOCOLS]):
        assert isinstance(outcome, Completion)
        assert outcome.choice_logprobs is not None
        found[outcome.key] = list(outcome.choice_logprobs)
        likeliest = int(np.argmax(outcome.choice_logprobs))
        assert outcome.text == (asked(outcome.key).choices or ())[likeliest]
    return found


HEADS = heads_of(
    rating__weight=[[0.0] * HIDDEN],
    rating__bias=[0.25],
    comparison__weight=[[0.0] * HIDDEN] * 2,
    comparison__bias=[1.0, 2.0],
)


@pytest.mark.parametrize("engine", ["embedded", "hf"])
def test_engines_move_verdicts_in_english_alone(tmp_path: Path, engine: str) -> None:
    if engine == "embedded":
        pytest.importorskip("openvino_genai")
    else:
        pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
        pytest.importorskip("peft", reason="the extra `hf` is not installed: no peft")
    pytest.importorskip("gguf")
    base = tmp_path / "model.gguf"
    sha256 = write_base(base, random_weights(), "F16", context=1024)
    card = replace(CARD, backend=engine, folder=str(tmp_path), wrapper="chatml")
    write_adapter(tmp_path / "adapter", sha256)
    before = scores(card)
    file = write_adapter(tmp_path / "adapter", sha256, random_factors() | HEADS)
    digest = hashlib.sha256((file / "adapter_model.safetensors").read_bytes()).hexdigest()
    after = scores(replace(card, adapter_revision=f"sha256:{digest}"))
    assert after["single-verdict-zh"] == pytest.approx(before["single-verdict-zh"], abs=1e-4)
    for protocol in ("single-verdict", "pairwise-by-rating"):
        moved = np.subtract(after[protocol], before[protocol])
        assert np.diff(moved) == pytest.approx([0.25] * 9, abs=1e-3)
    first, second, tie = np.subtract(after["pairwise-verdict"], before["pairwise-verdict"])
    assert first - second == pytest.approx(1.0, abs=1e-3)
    assert tie - (first + second) / 2 == pytest.approx(2.0, abs=1e-3)


def test_engines_read_the_same_states(tmp_path: Path) -> None:
    pytest.importorskip("openvino_genai")
    pytest.importorskip("gguf")
    pytest.importorskip("peft", reason="the extra `hf` is not installed: no peft")
    pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
    generator = np.random.default_rng(5)
    heads = heads_of(
        rating__weight=generator.normal(size=(1, HIDDEN)),
        rating__bias=[0.0],
        comparison__weight=generator.normal(size=(2, HIDDEN)),
        comparison__bias=[0.0, 0.0],
    )
    sha256 = write_base(tmp_path / "model.gguf", random_weights(), "F16", context=1024)
    write_adapter(tmp_path / "adapter", sha256, random_factors() | heads)
    card = replace(CARD, folder=str(tmp_path), wrapper="chatml")
    embedded, others = scores(card), scores(replace(card, backend="hf"))
    for protocol, values in embedded.items():
        assert values == pytest.approx(others[protocol], rel=0.03), protocol
