"""Adapters are read whole or refused, and the refusal says which file and what to do."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autoj.backends._adapters import Adapter, read_adapter
from autoj.errors import ConfigError
from tests.backends.toy_llama import ALPHA, MODULES, RANK, random_factors, write_adapter

pytest.importorskip("safetensors")

BASE = "ab" * 32
Q0, DOWN1 = "model.layers.0.self_attn.q_proj", "model.layers.1.mlp.down_proj"


def read(folder: Path, revision: str | None = None, base: str | None = BASE) -> Adapter:
    return read_adapter(folder, revision=revision, base_sha256=base, judge="ours")


def weights_digest(folder: Path) -> str:
    return hashlib.sha256((folder / "adapter_model.safetensors").read_bytes()).hexdigest()


def name_of(module: str, kind: str) -> str:
    return f"base_model.model.{module}.lora_{kind}.weight"


def test_what_is_added_is_the_scaled_product_of_the_factors(tmp_path):
    factors = random_factors()
    adapter = read(write_adapter(tmp_path, BASE))
    assert adapter.modules.keys() == MODULES.keys()
    for module, shape in MODULES.items():
        wanted = ALPHA / RANK * factors[name_of(module, "B")] @ factors[name_of(module, "A")]
        assert adapter.modules[module].shape == shape
        assert adapter.modules[module].delta() == pytest.approx(wanted, abs=1e-6)


def test_the_scaling_follows_rank_stabilisation_and_patterns(tmp_path):
    factors = random_factors()
    for kind, wide in (("A", (4, 64)), ("B", (64, 4))):
        factors[name_of(Q0, kind)] = np.ones(wide, np.float32)
    patterns = {"rank_pattern": {r"0\.self_attn\.q_proj": 4}, "alpha_pattern": {"down_proj": 1.0}}
    plain = read(write_adapter(tmp_path / "plain", BASE, factors, **patterns))
    assert plain.modules[Q0].scaling == ALPHA / 4
    assert plain.modules[DOWN1].scaling == 1 / RANK
    assert plain.modules["model.layers.1.self_attn.q_proj"].scaling == ALPHA / RANK
    rooted = read(write_adapter(tmp_path / "rooted", BASE, factors, use_rslora=True, **patterns))
    assert rooted.modules[Q0].scaling == ALPHA / 2
    assert rooted.modules[DOWN1].scaling == pytest.approx(1 / math.sqrt(RANK))


@pytest.mark.parametrize(("kind", "n_bytes"), [("F32", 4), ("F16", 2), ("BF16", 2)])
def test_every_type_that_training_writes_is_read(tmp_path, kind, n_bytes):
    """The file is laid out here byte by byte, as bfloat16 is unknown to NumPy."""
    factors = {name: np.round(rows, 1) for name, rows in random_factors().items()}
    header: dict[str, Any] = {"__metadata__": {"base_sha256": BASE}}
    body = b""
    for name, rows in factors.items():
        if kind == "BF16":
            data = (rows.view(np.uint32) >> 16).astype("<u2").tobytes()
        else:
            data = rows.astype(f"<f{n_bytes}").tobytes()
        span = [len(body), len(body) + len(data)]
        header[name] = {"dtype": kind, "shape": rows.shape, "data_offsets": span}
        body += data
    packed = json.dumps(header).encode()
    packed += b" " * (-len(packed) % 8)
    write_adapter(tmp_path, BASE)
    (tmp_path / "adapter_model.safetensors").write_bytes(
        len(packed).to_bytes(8, "little") + packed + body
    )
    adapter = read(tmp_path)
    for module in MODULES:
        wanted = factors[name_of(module, "A")]
        assert adapter.modules[module].a == pytest.approx(wanted, rel=2**-7)
        assert adapter.modules[module].a.dtype == np.float32


def test_the_digest_covers_both_files(tmp_path):
    one = read(write_adapter(tmp_path / "one", BASE))
    assert one.sha256 == weights_digest(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "moved")
    assert read(tmp_path / "moved").digest == one.digest
    settings = tmp_path / "moved" / "adapter_config.json"
    settings.write_text(settings.read_text().replace("5.0", "6.0"), encoding="utf-8")
    stronger = read(tmp_path / "moved")
    assert stronger.modules[Q0].scaling != one.modules[Q0].scaling
    assert stronger.sha256 == one.sha256
    other = read(write_adapter(tmp_path / "other", BASE, random_factors(2)))
    assert len({one.digest, stronger.digest, other.digest}) == 3


def test_a_file_other_than_the_card_names_is_refused(tmp_path):
    write_adapter(tmp_path, BASE)
    found = weights_digest(tmp_path)
    assert read(tmp_path, f"sha256:{found}").sha256 == found
    with pytest.raises(ConfigError, match=f"expected sha256 {BASE}, found {found}"):
        read(tmp_path, f"sha256:{BASE}")
    with pytest.raises(ConfigError, match=r"must be sha256:<64 hex digits>, found 'main'"):
        read(tmp_path, "main")


def test_an_adapter_of_another_base_is_refused(tmp_path):
    write_adapter(tmp_path / "its", BASE)
    other = "cd" * 32
    with pytest.raises(ConfigError, match=f"another base: expected sha256 {other}.*'{BASE}'"):
        read(tmp_path / "its", base=other)
    assert read(tmp_path / "its", base=None).base_sha256 == BASE
    write_adapter(tmp_path / "silent", None)
    with pytest.raises(ConfigError, match="does not say which base"):
        read(tmp_path / "silent")
    assert read(tmp_path / "silent", base=None).base_sha256 is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"peft_type": "IA3"}, "expected peft_type 'LORA', found 'IA3'"),
        ({"use_dora": True}, "more than plain LoRA: use_dora=True"),
        ({"bias": "all"}, "more than plain LoRA: bias='all'"),
        ({"modules_to_save": ["score"]}, "modules_to_save="),
        ({"fan_in_fan_out": True}, "fan_in_fan_out=True"),
        ({"init_lora_weights": "pissa_niter_4"}, "init_lora_weights='pissa_niter_4'"),
        ({"trainable_token_indices": [1]}, "trainable_token_indices="),
        ({"thing_of_tomorrow": 1}, "thing_of_tomorrow=1"),
        ({"r": 0}, "r: .*found 0"),
        ({"r": 3}, r"expected \(3, n_in\) and \(n_out, 3\)"),
        ({"lora_alpha": "much"}, "lora_alpha: .*found 'much'"),
        ({"target_modules": None}, "target_modules"),
        ({"target_modules": "(q_proj"}, r"not a regular expression"),
        ({"rank_pattern": {"(": 2}}, r"not a regular expression"),
        ({"target_modules": ["q_proj"]}, "has factors but is not a target"),
        ({"layers_to_transform": [1]}, "'model.layers.0.*has factors but is not a target"),
    ],
)
def test_settings_that_cannot_be_merged_are_refused(tmp_path, settings, message):
    write_adapter(tmp_path, BASE, **settings)
    with pytest.raises(ConfigError, match=message):
        read(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", "\x00", '{"peft_type": "LORA"}', "[" * 9999])
def test_settings_that_are_none_are_refused(tmp_path, content):
    write_adapter(tmp_path, BASE)
    (tmp_path / "adapter_config.json").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"adapter_config\.json"):
        read(tmp_path)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(ConfigError, match="no adapter folder"):
        read(tmp_path / "nowhere")
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        folder = write_adapter(tmp_path / name, BASE)
        (folder / name).unlink()
        with pytest.raises(ConfigError, match=f"no file .*{name}"):
            read(folder)


@pytest.mark.parametrize("n_bytes", [0, 7, 100, 5000, -1])
def test_a_file_that_was_cut_short_is_refused(tmp_path, n_bytes):
    path = write_adapter(tmp_path, BASE) / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(ConfigError, match=r"adapter_model\.safetensors is damaged"):
        read(tmp_path)


def without(name: str) -> dict[str, Any]:
    return {key: rows for key, rows in random_factors().items() if key != name}


def with_one(name: str, rows: Any) -> dict[str, Any]:
    return random_factors() | {name: rows}


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ({}, "holds no tensors"),
        (without(name_of(Q0, "A")), f"'{name_of(Q0, 'A')}' is missing"),
        (without(name_of(DOWN1, "B")), f"'{name_of(DOWN1, 'B')}' is missing"),
        (with_one(name_of(Q0, "A"), np.ones((3, 64), np.float32)), r"\(3, 64\)"),
        (with_one(name_of(Q0, "B"), np.ones(64, np.float32)), r"shapes .* and \(64,\)"),
        (with_one(name_of(Q0, "A"), np.ones((2, 64))), "of type 'F64'"),
        (with_one(name_of(Q0, "A"), np.full((2, 64), np.nan, np.float32)), "not finite"),
        (
            with_one("base_model.model.model.embed_tokens.lora_embedding_A", np.ones((2, 9))),
            "of type 'F64'",
        ),
        (
            with_one(
                "base_model.model.model.embed_tokens.lora_embedding_A",
                np.ones((2, 9), np.float32),
            ),
            "not a factor of a LoRA adapter",
        ),
        (with_one("model.norm.weight", np.ones(64, np.float32)), "not a factor of a LoRA adapter"),
    ],
)
def test_weights_that_are_no_adapter_are_refused(tmp_path, factors, message):
    write_adapter(tmp_path, BASE, factors)
    with pytest.raises(ConfigError, match=message):
        read(tmp_path)


def test_targets_are_chosen_as_peft_chooses_them(tmp_path):
    upper = {
        name: rows for name, rows in random_factors().items() if ".1." in name and "_proj" in name
    }
    adapter = read(write_adapter(tmp_path, BASE, upper, layers_to_transform=1))
    assert {name.split(".")[2] for name in adapter.modules} == {"1"}
    assert adapter.config.targets(DOWN1)
    assert not adapter.config.targets(Q0)
    chosen = read(
        write_adapter(
            tmp_path, BASE, upper, target_modules=r"model\.layers\.1\..*_proj", exclude_modules="x"
        )
    )
    assert chosen.config.targets(DOWN1)
    assert not chosen.config.targets(Q0)
