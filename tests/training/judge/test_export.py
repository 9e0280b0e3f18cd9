"""Trained weights in other forms judge as the trained judge does."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import yaml

from autoj import Judge
from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.records import Verdict
from autoj.training.judge.export import Format, export_model
from autoj.training.judge.loading import TrainingJob
from autoj.training.judge.recipe import read_recipe
from autoj.training.judge.train import train
from tests.backends import toy_llama
from tests.training import toy

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_drawing")]
needs_openvino = pytest.mark.skipif(
    importlib.util.find_spec("openvino_genai") is None,
    reason="the extra `embedded` is not installed: no openvino_genai",
)
PREFERENCE = {"kind": "preference", "protocol": "pairwise-by-rating"}


def trained(folder: Path, start: Path | str, **fields: Any) -> Path:
    data = toy.write_rows(folder / "rows.jsonl", toy.pair_rows(4))
    settings = {"batch_samples": 2, "micro_batch_samples": 2, "epochs": 2, **fields}
    recipe = toy.recipe(Path("x"), PREFERENCE, **settings)
    recipe["base"] = {"judge": str(start)}
    path = toy.write_recipe(folder / "recipe.yaml", recipe)
    job = TrainingJob(recipe=read_recipe(path), data=(data,))
    out = folder / "judge"
    train(job, out)
    return out


def verdict_of(folder: Path) -> Verdict:
    with Judge.load(str(folder)) as judge:
        return judge.compare("Name a river.", "The Nile.", "It is a mountain.")


def same_ratings(one: Verdict, other: Verdict, within: float) -> None:
    assert one.ratings == pytest.approx(other.ratings, abs=within)


@pytest.fixture(scope="module")
def whole(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge of which all weights were trained."""
    return trained(tmp_path_factory.mktemp("whole"), base)


def test_whole_weights_become_an_adapter_as_near_as_its_rank_allows(
    whole: Path, base: Path, tmp_path: Path
) -> None:
    much = export_model(whole, tmp_path / "thick", "adapter", rank=64)
    little = export_model(whole, tmp_path / "thin", "adapter", rank=1)
    assert much == pytest.approx(1, abs=1e-3)
    assert little is not None
    assert 0 < little < 0.9
    before, after = verdict_of(base_card(base, tmp_path)), verdict_of(whole)
    thick, thin = verdict_of(tmp_path / "thick"), verdict_of(tmp_path / "thin")
    # Embeddings and norms, which an adapter does not hold, were trained, too; most is in the rest.
    assert far(thick, after) < far(thin, after) < far(before, after)
    assert load_card(str(tmp_path / "thin")).adapter == "./adapter"


def far(one: Verdict, other: Verdict) -> float:
    return sum(abs(a - b) for a, b in zip(one.ratings, other.ratings, strict=True))


def test_an_adapter_stands_for_a_chain_of_trainings(
    whole: Path, base: Path, tmp_path: Path
) -> None:
    again = trained(tmp_path, whole, update={"method": "all"}, seed=1)
    export_model(again, tmp_path / "adapter", "adapter", rank=64)
    card = load_card(str(tmp_path / "adapter"))
    assert Path(card.model) == base.resolve()
    # One entry a file: both trainings read a file of this name, written anew with the same rows.
    assert len(card.training_data) == 1
    ends, whole_chain = verdict_of(again), verdict_of(tmp_path / "adapter")
    assert far(whole_chain, ends) < far(verdict_of(whole), ends)


def base_card(base: Path, folder: Path) -> Path:
    """The untrained model, asked as the trained one is."""
    content = yaml.safe_load((base / "judge.yaml").read_text())
    content |= {"model": str(base), "protocols": ["pairwise-by-rating", "single-verdict"]}
    (folder / "base.yaml").write_text(yaml.safe_dump(content))
    return folder / "base.yaml"


def test_a_merged_model_is_the_same_judge_with_a_model_card(whole: Path, tmp_path: Path) -> None:
    export_model(whole, tmp_path / "merged", "merged")
    same_ratings(verdict_of(tmp_path / "merged"), verdict_of(whole), 1e-4)
    front, text = (tmp_path / "merged" / "README.md").read_text().split("---\n")[1:]
    assert yaml.safe_load(front)["license"] == "apache-2.0"
    assert yaml.safe_load(front)["library_name"] == "transformers"
    for told in ("rows.jsonl", "preference by pairwise-by-rating", "samples per update", "Limits"):
        assert told in text


def test_what_cannot_be_exported_says_why(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not trained from a GGUF file") as told:
        export_model(whole, tmp_path / "gguf", "gguf")
    assert "merged" in str(told.value)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="not a finished training"):
        export_model(tmp_path, tmp_path / "out", "merged")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="not empty"):
        export_model(whole, tmp_path / "full", "merged")
    assert (tmp_path / "full" / "mine.txt").read_text() == "mine"


@needs_openvino
def test_an_adapter_on_a_gguf_file_runs_in_the_embedded_engine_and_is_exported(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    weights = tmp_path / "base" / "model.gguf"
    weights.parent.mkdir()
    toy_llama.write_llama(weights, toy_llama.random_weights())
    out = trained(
        tmp_path, f"embedded:{weights}", max_tokens=1024, update={"method": "lora", "rank": 2}
    )
    card = load_card(str(out))
    assert (card.backend, card.adapter) == ("embedded", "./adapter")
    embedded = verdict_of(out)
    assert None not in embedded.ratings
    forms: tuple[Format, ...] = ("merged", "gguf", "openvino")
    for form in forms:
        export_model(out, tmp_path / form, form)
        # OpenVINO computes in bfloat16 where the processor can, transformers in float32.
        same_ratings(verdict_of(tmp_path / form), embedded, 0.05)
    assert (tmp_path / "openvino" / "openvino" / "openvino_model.xml").is_file()
