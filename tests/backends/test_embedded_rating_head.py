"""Ratings that a head tilts: by what, of which requests, and of which file."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.backends.embedded.rating_head import RatingHead, read_rating_head
from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.protocols import load_protocol
from autoj.records import Case, Completion, JudgeCard, Request, Response

CARD = load_card("embedded-small-base")
CASE = Case(
    id="c", query="How are you?", cluster="c", responses=(Response(text="Well."), Response(text=""))
)
LOGPROBS = st.lists(st.floats(-30, -0.01), min_size=10, max_size=10)


def head(*direction: float, offset: float = 0.0) -> RatingHead:
    return RatingHead(direction=np.array(direction, np.float32), offset=offset)


def expected(logprobs: Any) -> float:
    shares = np.exp(np.array(logprobs) - np.logaddexp.reduce(logprobs))
    return float(shares @ np.arange(1, 11))


@given(LOGPROBS, st.floats(-3, 3, width=32))
def test_a_head_moves_the_mean_to_its_side_and_nothing_else(
    logprobs: list[float], slope: float
) -> None:
    tilted = head(1.0, 0.0, offset=1.0).tilted(logprobs, np.array([slope + 1, 9], np.float32))
    assert np.logaddexp.reduce(tilted) == pytest.approx(np.logaddexp.reduce(logprobs), abs=1e-9)
    moved = expected(tilted) - expected(logprobs)
    assert moved * np.sign(slope) >= -1e-6
    # The odds of two neighbours change by the slope, whichever they are.
    steps = np.diff(tilted) - np.diff(logprobs)
    assert steps == pytest.approx([float(np.float32(slope + 1)) - 1] * 9, abs=1e-6)


def test_a_state_of_another_width_is_another_models() -> None:
    with pytest.raises(ConfigError, match="states of 2 numbers, and this model has 3"):
        head(1.0, 0.0).tilted([-1.0] * 10, np.zeros(3, np.float32))


def with_head(folder: Path, direction: np.ndarray, offset: float = 0.0) -> JudgeCard:
    """The card of a judge with a head in a file beside it."""
    numpy = pytest.importorskip("safetensors.numpy")
    tensors = {"direction": direction.astype(np.float32), "offset": np.float32([offset])}
    numpy.save_file(tensors, folder / "head.safetensors")
    digest = hashlib.sha256((folder / "head.safetensors").read_bytes()).hexdigest()
    option = {"file": "./head.safetensors", "sha256": digest}
    return replace(CARD, folder=str(folder), options={**CARD.options, "rating_head": option})


def test_a_head_is_the_file_that_the_card_pins(tmp_path: Path) -> None:
    card = with_head(tmp_path, np.array([1.0, -2.0]), 0.5)
    found = read_rating_head(card)
    assert found is not None
    assert (found.direction.tolist(), found.offset) == ([1.0, -2.0], 0.5)
    assert read_rating_head(CARD) is None
    file = tmp_path / "head.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    with pytest.raises(ConfigError, match="is not the file that its card pins: expected sha256"):
        read_rating_head(card)
    option = {"file": "./head.safetensors", "sha256": hashlib.sha256(whole[:-1]).hexdigest()}
    with pytest.raises(ConfigError, match="is no rating head"):
        read_rating_head(replace(card, options={"rating_head": option}))
    file.unlink()
    with pytest.raises(DataError, match="there is no such file"):
        read_rating_head(card)


def asked(protocol: str) -> Request:
    body = load_protocol(protocol).build(
        CASE, (0, 1) if protocol.startswith("pairwise-v") else (0,)
    )
    return Request(
        key=protocol,
        judge=CARD.name,
        case_id=CASE.id,
        protocol=protocol,
        shown=(0,),
        messages=body.messages,
        prefix=body.prefix,
        choices=body.choices,
        decoding=CARD.decoding,
    )


def test_the_engine_tilts_english_ratings_alone(folder: Path, tmp_path: Path) -> None:
    from autoj.backends.embedded.engine import EmbeddedBackend

    protocols = ("single-verdict", "pairwise-by-rating", "single-verdict-zh", "pairwise-verdict")
    plain = EmbeddedBackend(CARD, folder)
    requests = [asked(name) for name in protocols]
    before = {each.key: each for each in plain.complete(requests)}
    state = plain._scorer().read([plain._trie(requests[0])])[0].state
    card = with_head(tmp_path, state / (state @ state), 0.25)
    after = {each.key: each for each in EmbeddedBackend(card, folder).complete(requests)}
    for name in protocols:
        one, other = before[name], after[name]
        assert isinstance(one, Completion)
        assert isinstance(other, Completion)
        assert one.choice_logprobs is not None
        if name in ("single-verdict-zh", "pairwise-verdict"):
            assert other == one
            continue
        moved = np.subtract(other.choice_logprobs, one.choice_logprobs)
        assert np.diff(moved) == pytest.approx([0.75] * 9, abs=0.01)
        assert other.choice_logprobs is not None
        assert other.text == f"{np.argmax(other.choice_logprobs) + 1}]]"
