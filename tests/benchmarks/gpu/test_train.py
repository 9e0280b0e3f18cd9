"""A training from recipe to adapter, on a tiny model on the CPU."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
pytest.importorskip("safetensors", reason="the extra `hf` is not installed: no safetensors")

from benchmarks.gpu.batches import make_micro_batches
from benchmarks.gpu.encode import encode, open_pickle
from benchmarks.gpu.unpack import base_sha256

from autoj.backends._adapters import WEIGHTS_FILE, Adapter, read_adapter
from autoj.errors import ConfigError
from autoj.training.judge.recipe import Recipe, read_recipe
from benchmarks.gpu import train as command

from ...tiny_llama import CHATML, make_model, make_tokenizer, save_model
from ...training import toy

CARD = {
    "title": "Toy", "backend": "hf", "model": "./", "wrapper": "chatml",
    "protocols": ["pairwise-verdict"], "context_tokens": 4096, "licence": "Apache-2.0",
}  # fmt: skip
OBJECTIVES = [
    {"kind": "decision", "protocol": "pairwise-verdict"},
    {"kind": "critique", "protocol": "pairwise-verdict", "weight": 0.5},
    {"kind": "preference", "protocol": "pairwise-by-rating"},
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpu") / "base"
    model = make_model("Qwen2", max_position_embeddings=4096)
    save_model(folder, make_tokenizer(CHATML), model)
    (folder / "judge.yaml").write_text(yaml.safe_dump(CARD))
    return folder


@pytest.fixture(scope="module")
def recipe(base: Path) -> Path:
    content = {
        "title": "Toy judge", "base": {"judge": str(base)}, "objectives": OBJECTIVES,
        "update": {"method": "lora", "rank": 4}, "optimiser": {"learning_rate": 0.01},
        "max_tokens": 2048, "batch_samples": 8,
    }  # fmt: skip
    return toy.write_recipe(base.parent / "recipe.yaml", content)


@pytest.fixture(scope="module")
def samples(recipe: Path, base: Path) -> Path:
    rows = toy.write_rows(base.parent / "rows.jsonl", toy.pair_rows(9))
    path = base.parent / "samples.pkl.xz"
    with open_pickle(path, "wb") as stream:
        pickle.dump(encode(read_recipe(recipe), [rows], tokenizer=base), stream)
    return path


def run(recipe: Path, samples: Path, base: Path, out: Path, *more: str) -> Adapter:
    given = [recipe, samples, "--weights", base, "--out", out, "--minutes", 60, "--device", "cpu"]
    arguments = [*map(str, given), "--micro-tokens", "6000", *more]
    command.train(command.make_parser().parse_args(arguments))
    return read_adapter(out, revision=None, base_sha256=base_sha256(base), judge="toy")


def test_an_adapter_is_written_as_the_backends_read_it(
    recipe: Path, samples: Path, base: Path, tmp_path: Path
) -> None:
    with open_pickle(samples, "rb") as stream:
        n_micro = len(make_micro_batches(pickle.load(stream).samples, 6000, seed=0))
    tries = [(str(number), sample.sequences[0]) for number, sample in enumerate(batch_of(samples))]
    groups = tmp_path / "groups.pkl"
    groups.write_bytes(pickle.dumps([tries[:2], tries[2:]]))
    scores = tmp_path / "scores.json"
    scoring = ["--score", str(groups), "--scores", str(scores)]
    found = run(recipe, samples, base, tmp_path / "a", "--micros", str(n_micro // 2), *scoring)
    assert len(found.modules) == 2 * 7, "all matrices of two layers"
    assert all(module.scaling == 2 for module in found.modules.values())
    # B begins with zeros: where it has others, a step was taken.
    assert all(module.b.any() for module in found.modules.values())
    log = json.loads((tmp_path / "a" / "log.json").read_text())
    assert log[-1]["step"] == 2
    assert {path.name for path in (tmp_path / "a").iterdir()} == {
        "adapter_config.json", "adapter_model.safetensors", "log.json",
    }  # fmt: skip
    scored = json.loads(scores.read_text())
    assert set(scored) == {key for key, _ in tries}
    assert all(math.isfinite(one) and one < 0 for row in scored.values() for one in row)


def batch_of(samples: Path) -> list[Any]:
    with open_pickle(samples, "rb") as stream:
        return [one for one in pickle.load(stream).samples if one.objective == 0][:4]


def test_an_interrupted_training_goes_on_to_the_same_adapter(
    recipe: Path, samples: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(recipe, samples, base, tmp_path / "whole")
    monkeypatch.setattr(command, "CHECKPOINT_SECONDS", -1.0)
    learn, calls = command.learn, []

    def learn_twice(*given: Any) -> Any:
        calls.append(given)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return learn(*given)

    monkeypatch.setattr(command, "learn", learn_twice)
    with pytest.raises(KeyboardInterrupt):
        run(recipe, samples, base, tmp_path / "cut")
    monkeypatch.setattr(command, "learn", learn)
    with pytest.raises(ConfigError, match="other micro-batches"):
        run(recipe, samples, base, tmp_path / "cut", "--micros", "2")
    assert run(recipe, samples, base, tmp_path / "cut").sha256 == whole.sha256
    assert not (tmp_path / "cut" / command.CHECKPOINT).exists()
    assert (tmp_path / "cut" / WEIGHTS_FILE).is_file()


def test_micro_batches_hold_every_sample_once_and_few_tokens(samples: Path) -> None:
    with open_pickle(samples, "rb") as stream:
        given = pickle.load(stream).samples
    found = make_micro_batches(given, 6000, seed=1)
    assert sorted(id(one) for part in found for one in part) == sorted(map(id, given))
    for part in found:
        lengths = [sequence.n_tokens for one in part for sequence in one.sequences]
        assert len(lengths) * max(lengths) <= 6000 or len(part) == 1


@pytest.mark.parametrize("update", [{"method": "all"}, {"dropout": 0.1}, {"top_layers": 1}])
def test_what_is_not_a_plain_adapter_is_refused(recipe: Path, update: dict[str, Any]) -> None:
    content = yaml.safe_load(recipe.read_text()) | {"update": update}
    with pytest.raises(ConfigError, match="LoRA adapter of all layers"):
        command.check_recipe(Recipe.model_validate(content))
