"""Weights in fewer bits: the toy judge before and after, and what may calibrate them."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from autoj.errors import ConfigError
from autoj.judges import load_card
from autoj.runs.watch import Watch
from autoj.training.judge.calibration_texts import calibration_rows
from autoj.training.judge.export import export_model
from autoj.training.judge.forms import Format
from autoj.training.judge.moved import open_pairs
from autoj.training.judge.quantise import compressor_recipe, group_size
from tests import tiny_llama
from tests.training import toy

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_drawing")]


def needs(*packages: str) -> pytest.MarkDecorator:
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(
        bool(missing), reason=f"the extra `quantize` is not installed: no {', '.join(missing)}"
    )


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the benchmarks' sets of this machine, whose queries are no calibration texts."""
    monkeypatch.setattr("autoj.datasets.catalog.test_sets_here", lambda: {})


@pytest.fixture(scope="module")
def judge(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy.trained(tmp_path_factory.mktemp("judge"), base)


class Told(Watch):
    def __init__(self) -> None:
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)


@pytest.mark.slow
@needs("llmcompressor")
@pytest.mark.parametrize("form", ["w4a16", "gptq", "awq"])
def test_four_bits_by_llm_compressor_run_as_a_judge(
    judge: Path, tmp_path: Path, form: Format
) -> None:
    out = tmp_path / "out"
    made = export_model(
        judge,
        out,
        form,
        calibration=[] if form == "w4a16" else [judge.parent / "rows.jsonl"],
        validation=toy.pairs_file(tmp_path),
        max_moved=1.0,
    )
    card = load_card(str(out))
    assert (card.backend, card.model) == ("hf", "./model")
    layout = json.loads((out / "model" / "config.json").read_text())["quantization_config"]
    assert (layout["quant_method"], layout["format"]) == ("compressed-tensors", "pack-quantized")
    group = layout["config_groups"]["group_0"]["weights"]
    assert (group["num_bits"], group["group_size"], group["symmetric"]) == (4, 64, form != "awq")
    assert made.moved is not None
    assert made.moved.moved.n == 6
    # It was quantised, and is the same judge still.
    assert made.moved.rating_shift is not None
    assert 0 < made.moved.rating_shift < 1
    before, after = toy.verdict_of(judge), toy.verdict_of(out)
    assert before.ratings != after.ratings
    assert after.ratings == pytest.approx(before.ratings, abs=2)


@pytest.mark.slow
@needs("nncf", "openvino_genai")
@pytest.mark.parametrize("calibrated", [False, True])
def test_four_bits_by_nncf_run_in_the_embedded_engine(
    judge: Path, tmp_path: Path, calibrated: bool
) -> None:
    out = tmp_path / "out"
    made = export_model(
        judge,
        out,
        "openvino-int4",
        calibration=[judge.parent / "rows.jsonl"] if calibrated else [],
        validation=toy.pairs_file(tmp_path),
        max_moved=1.0,
    )
    assert load_card(str(out)).model == "./openvino"
    assert made.moved is not None
    assert made.moved.rating_shift is not None
    assert 0 < made.moved.rating_shift < 1


@needs("llmcompressor")
def test_the_recipes_are_what_llm_compressor_takes() -> None:
    names = {
        scheme: [type(one).__name__ for one in compressor_recipe(scheme, 32)]
        for scheme in ("w4a16", "gptq", "awq")
    }
    assert names == {
        "w4a16": ["QuantizationModifier"],
        "gptq": ["GPTQModifier"],
        "awq": ["AWQModifier", "QuantizationModifier"],
    }


def test_groups_divide_every_row() -> None:
    wide = {"hidden_size": 256, "intermediate_size": 384}
    assert group_size(tiny_llama.make_model(**wide)) == 128
    assert group_size(tiny_llama.make_model()) == 32
    odd = {"hidden_size": 40, "intermediate_size": 64}
    with pytest.raises(ConfigError, match=r"\(40, 64 weights\) cannot be divided"):
        group_size(tiny_llama.make_model(**odd))


def test_texts_to_calibrate_on_are_of_the_judges_own_training(judge: Path, tmp_path: Path) -> None:
    settings = json.loads((judge / "train.json").read_text())
    rows = judge.parent / "rows.jsonl"
    copied = shutil.copy(rows, tmp_path / "renamed.jsonl")
    assert len(calibration_rows([Path(copied)], settings, (), Told())) == 4
    other = toy.write_rows(tmp_path / "other.jsonl", toy.pair_rows(3))
    with pytest.raises(ConfigError, match="none of the files that this judge was trained on"):
        calibration_rows([other], settings, (), Told())
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    vote = {"conversation_a": turns, "conversation_b": turns, "winner": "tie", "turn": 1}
    benchmark = toy.write_rows(tmp_path / "innocent.jsonl", [vote])
    with pytest.raises(ConfigError, match="is a benchmark's"):
        calibration_rows([benchmark], settings, (), Told())


def test_queries_that_are_compared_on_or_tested_on_are_no_texts(
    judge: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = json.loads((judge / "train.json").read_text())
    rows = judge.parent / "rows.jsonl"
    mine = [json.loads(line) for line in rows.read_text().splitlines()]
    pairs = toy.write_rows(tmp_path / "pairs.jsonl", mine[:1])
    watch = Told()
    _, compared = open_pairs(pairs, 10)
    kept = calibration_rows([rows], settings, compared, watch)
    assert [row.case.id for row in kept] == ["pair-1", "pair-2", "pair-3"]
    assert watch.messages == [
        "1 of 4 rows share their query with the pairs to compare on and are no calibration texts"
    ]
    place = toy.write_rows(tmp_path / "tested.jsonl", [mine[1]])
    monkeypatch.setattr("autoj.datasets.catalog.test_sets_here", lambda: {"hhh": place})
    kept = calibration_rows([rows], settings, compared, watch)
    assert [row.case.id for row in kept] == ["pair-2", "pair-3"]
    place.write_text("{broken\n" + json.dumps(mine[1]) + "\n[]\n")
    watch.messages.clear()
    kept = calibration_rows([rows], settings, (), watch)
    assert [row.case.id for row in kept] == ["pair-0", "pair-2", "pair-3"]
    assert "hhh is compared in part only, by the 1 queries that can be read" in watch.messages[0]
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    for model, row in (("one", mine[2]), ("two", mine[3])):
        toy.write_rows(outputs / f"{model}.jsonl", [row])
    watch.messages.clear()
    monkeypatch.setattr("autoj.datasets.catalog.test_sets_here", lambda: {"alpaca-eval": outputs})
    kept = calibration_rows([rows], settings, (), watch)
    assert [row.case.id for row in kept] == ["pair-0", "pair-1"]
    assert watch.messages == [
        "2 of 4 rows share their query with alpaca-eval and are no calibration texts"
    ]
    _, compared = open_pairs(rows, 10)
    with pytest.raises(ConfigError, match="all queries of the calibration files"):
        calibration_rows([rows], settings, compared, watch)
