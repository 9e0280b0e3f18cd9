"""Trained weights in other forms judge as the trained judge does."""

from __future__ import annotations

import errno
import importlib.util
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from autoj.backends._heads import Heads, comparison_head, rating_head
from autoj.errors import ConfigError, DataError, MissingExtra, StorageFull, UnknownComponent
from autoj.jsonl import sha256_of
from autoj.judges import load_card
from autoj.records import Case, Verdict
from autoj.runs.watch import Watch
from autoj.training.judge import export
from autoj.training.judge.export import export_model
from autoj.training.judge.forms import Format
from autoj.training.judge.moved import count_moved
from tests.backends import toy_llama
from tests.training import toy

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_drawing")]
needs_openvino = pytest.mark.skipif(
    importlib.util.find_spec("openvino_genai") is None,
    reason="the extra `embedded` is not installed: no openvino_genai",
)


class Told(Watch):
    def __init__(self) -> None:
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)


def same_ratings(one: Verdict, other: Verdict, within: float) -> None:
    assert one.ratings == pytest.approx(other.ratings, abs=within)


@pytest.fixture(scope="module")
def whole(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge of which all weights were trained."""
    return toy.trained(tmp_path_factory.mktemp("whole"), base)


def test_whole_weights_become_an_adapter_as_near_as_its_rank_allows(
    whole: Path, base: Path, tmp_path: Path
) -> None:
    much = export_model(whole, tmp_path / "thick", "adapter", rank=64).kept
    little = export_model(whole, tmp_path / "thin", "adapter", rank=1).kept
    assert much == pytest.approx(1, abs=1e-3)
    assert little is not None
    assert 0 < little < 0.9
    before, after = toy.verdict_of(base_card(base, tmp_path)), toy.verdict_of(whole)
    thick, thin = toy.verdict_of(tmp_path / "thick"), toy.verdict_of(tmp_path / "thin")
    # Embeddings and norms, which an adapter does not hold, were trained, too; most is in the rest.
    assert far(thick, after) < far(thin, after) < far(before, after)
    assert load_card(str(tmp_path / "thin")).adapter == "./adapter"


def far(one: Verdict, other: Verdict) -> float:
    return sum(abs(a - b) for a, b in zip(one.ratings, other.ratings, strict=True))


def test_an_adapter_stands_for_a_chain_of_trainings(
    whole: Path, base: Path, tmp_path: Path
) -> None:
    again = toy.trained(tmp_path, whole, update={"method": "all"}, seed=1)
    export_model(again, tmp_path / "adapter", "adapter", rank=64)
    card = load_card(str(tmp_path / "adapter"))
    assert Path(card.model) == base.resolve()
    # One entry a file: both trainings read a file of this name, written anew with the same rows.
    assert len(card.training_data) == 1
    ends, whole_chain = toy.verdict_of(again), toy.verdict_of(tmp_path / "adapter")
    assert far(whole_chain, ends) < far(toy.verdict_of(whole), ends)


def base_card(base: Path, folder: Path) -> Path:
    """The untrained model, asked as the trained one is."""
    content = yaml.safe_load((base / "judge.yaml").read_text())
    content |= {"model": str(base), "protocols": ["pairwise-by-rating", "single-verdict"]}
    (folder / "base.yaml").write_text(yaml.safe_dump(content))
    return folder / "base.yaml"


def test_a_merged_model_is_the_same_judge_with_a_model_card(whole: Path, tmp_path: Path) -> None:
    export_model(whole, tmp_path / "merged", "merged")
    same_ratings(toy.verdict_of(tmp_path / "merged"), toy.verdict_of(whole), 1e-4)
    front, text = (tmp_path / "merged" / "README.md").read_text().split("---\n")[1:]
    assert yaml.safe_load(front)["license"] == "apache-2.0"
    assert yaml.safe_load(front)["library_name"] == "transformers"
    for told in ("rows.jsonl", "preference by pairwise-by-rating", "samples per update", "Limits"):
        assert told in text


def test_what_cannot_be_exported_says_why(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pairs, of which none were given") as told:
        export_model(whole, tmp_path / "gguf", "gguf-q8_0")
    assert "--validation" in str(told.value)
    with pytest.raises(ConfigError, match="takes no calibration texts"):
        export_model(whole, tmp_path / "gguf", "gguf", calibration=[tmp_path / "rows.jsonl"])
    with pytest.raises(ConfigError, match="none were given") as told:
        export_model(whole, tmp_path / "gptq", "gptq", validation=tmp_path / "rows.jsonl")
    assert "--calibration" in str(told.value)
    with pytest.raises(UnknownComponent, match="no format of weights 'gguf-q8'") as told:
        export_model(whole, tmp_path / "out", "gguf-q8")  # type: ignore[arg-type]
    assert "gguf-q8_0" in str(told.value)
    with pytest.raises(ConfigError, match="no weights to export"):
        export_model(Path("gpt-4"), tmp_path / "out", "merged")
    with pytest.raises(ConfigError, match=r"no train\.json"):
        export_model(base_folder(tmp_path), tmp_path / "out", "adapter")
    shutil.rmtree(tmp_path / "base")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="not a finished training"):
        export_model(tmp_path, tmp_path / "out", "merged")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="not empty"):
        export_model(whole, tmp_path / "full", "merged")
    assert (tmp_path / "full" / "mine.txt").read_text() == "mine"


def base_folder(folder: Path) -> Path:
    """A judge's folder that no training wrote."""
    (folder / "base").mkdir()
    fields = {"title": "Base", "backend": "hf", "model": "./model", "wrapper": "chatml"}
    fields |= {"protocols": ["pairwise-by-rating"], "context_tokens": 2048}
    (folder / "base" / "judge.yaml").write_text(yaml.safe_dump(fields))
    return folder / "base"


@needs_openvino
def test_an_adapter_on_a_gguf_file_runs_in_the_embedded_engine_and_is_exported(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    weights = tmp_path / "base" / "model.gguf"
    weights.parent.mkdir()
    toy_llama.write_llama(weights, toy_llama.random_weights())
    out = toy.trained(
        tmp_path, f"embedded:{weights}", max_tokens=1024, update={"method": "lora", "rank": 2}
    )
    card = load_card(str(out))
    assert (card.backend, card.adapter) == ("embedded", "./adapter")
    embedded = toy.verdict_of(out)
    assert None not in embedded.ratings
    forms: tuple[Format, ...] = ("merged", "gguf", "openvino")
    proofread = {"surprise": 4.0, "evidence": 0.5}
    content = yaml.safe_load((out / "judge.yaml").read_text())
    content["options"] = {**content["options"], "proofread": proofread}
    (out / "judge.yaml").write_text(yaml.safe_dump(content))
    for form in forms:
        export_model(out, tmp_path / form, form)
        # Another engine does not proofread, and would refuse the option.
        kept = load_card(str(tmp_path / form)).options.get("proofread")
        assert kept == (None if form == "merged" else proofread)
        # OpenVINO computes in bfloat16 where the processor can, transformers in float32.
        same_ratings(toy.verdict_of(tmp_path / form), embedded, 0.05)
    assert (tmp_path / "openvino" / "openvino" / "openvino_model.xml").is_file()
    # A rating head is the adapter's: another form has none, and that is said.
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    weights = out / "adapter" / "adapter_model.safetensors"
    heads = {
        "rating_head.weight": np.zeros(toy_llama.HIDDEN, np.float32),
        "rating_head.bias": np.ones(1, np.float32),
        "rating_head.sharpness": np.ones(1, np.float32),
    }
    with safe_open(weights, "np") as opened:
        metadata = opened.metadata()
    save_file(load_file(weights) | heads, weights, metadata)
    content["adapter_revision"] = f"sha256:{sha256_of(weights)}"
    threshold = {"below": 0.5, "right": 0.8, "n": 200}
    content["unsure"] = {"pairwise-by-rating": threshold, "pairwise-verdict": threshold}
    content["calibration"] = {"pairwise-by-rating": {"temperature": 2.0, "tie": 0.1}}
    (out / "judge.yaml").write_text(yaml.safe_dump(content))
    raised = toy.verdict_of(out)
    assert min(raised.ratings) > max(embedded.ratings)
    watch = Told()
    made = export_model(
        out, tmp_path / "without", "gguf-q8_0", validation=toy.pairs_file(tmp_path), watch=watch
    )
    assert any("heads of the judge's adapter are left out" in m for m in watch.messages)
    same_ratings(toy.verdict_of(tmp_path / "without"), embedded, 0.1)
    # It is compared with what it was made from: rounding alone moved these ratings.
    assert made.moved is not None
    assert made.moved.rating_shift is not None
    assert made.moved.rating_shift < 0.1
    without = load_card(str(tmp_path / "without"))
    # Thresholds of comparisons hold on.
    assert (list(without.unsure), without.calibration) == (["pairwise-verdict"], {})
    # With a head for comparisons they would not.
    compared = {name.replace("rating", "comparison"): rows for name, rows in heads.items()}
    save_file(load_file(weights) | compared, weights, metadata)
    content["adapter_revision"] = f"sha256:{sha256_of(weights)}"
    (out / "judge.yaml").write_text(yaml.safe_dump(content))
    export_model(out, tmp_path / "without-both", "gguf")
    assert load_card(str(tmp_path / "without-both")).unsure == {}
    # The adapter that is rewritten without its heads is the one that the card pins.
    content["adapter_revision"] = f"sha256:{'0' * 64}"
    (out / "judge.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError, match="the file is not the one that the card names"):
        export_model(out, tmp_path / "unpinned", "gguf")
    assert not (tmp_path / "unpinned").exists()


def test_what_was_fitted_to_a_prompt_of_the_cards_own_may_have_been_moved_by_heads() -> None:
    text = "---\nname: mine\nkind: single\nanswer: {like: single}\n---\n{query} {response}\n"
    plain = load_card("embedded-1.5b")
    own = replace(plain, prompts=(text,))
    compared = Heads(comparison=comparison_head(np.ones(1), 0.0))
    assert export._moved_by(compared, plain) == ["pairwise-verdict"]
    assert export._moved_by(compared, own) == ["pairwise-verdict", "mine"]
    rated = Heads(rating=rating_head(np.ones(1), 0.0))
    assert export._moved_by(rated, own) == ["pairwise-by-rating", "mine"]


@needs_openvino
@pytest.mark.parametrize("form", ["gguf", "gguf-q8_0", "openvino", "openvino-int8"])
def test_a_judge_trained_by_transformers_runs_in_the_embedded_engine(
    whole: Path, tmp_path: Path, form: Format
) -> None:
    out = tmp_path / "out"
    made = export_model(whole, out, form, validation=toy.pairs_file(tmp_path), max_moved=0.5)
    assert made.moved is not None
    assert made.moved.moved.n == 6
    assert made.moved.rating_shift is not None
    assert made.moved.rating_shift < 0.1
    same_ratings(toy.verdict_of(out), toy.verdict_of(whole), 0.1)
    card = load_card(str(out))
    assert (card.backend, card.options) == ("embedded", {})
    # Nothing but the weights, the card, the model card and the figures; no rows of the pairs.
    weights = "model.gguf" if form.startswith("gguf") else "openvino"
    files = {path.name for path in out.iterdir() if not path.name.startswith("model.openvino")}
    assert files - {"model.lock"} == {weights, "judge.yaml", "README.md", "moved.json"}
    assert json.loads((out / "moved.json").read_text())["data"] == "validation.jsonl"
    assert "verdicts moved" in (out / "README.md").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "validation.jsonl"]


def test_an_export_that_moves_too_many_verdicts_is_not_kept(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def turned(before: Any, after: Any, pairs: Any, folder: Path, watch: Any) -> Any:
        rows = [(case, Verdict(case_id=case.id, judge="x", winner="a")) for case in pairs[1]]
        others = [
            (case, Verdict(case_id=case.id, judge="x", winner="b" if at < 2 else "a"))
            for at, (case, _) in enumerate(rows)
        ]
        return count_moved(rows, others, data="v", protocol="pairwise")

    monkeypatch.setattr(export, "compare_verdicts", turned)
    pairs = toy.pairs_file(tmp_path)
    with pytest.raises(ConfigError, match=r"2 of 6 verdicts moved \(33\.3% \[.*at most 20\.0% may"):
        export_model(whole, tmp_path / "out", "merged", validation=pairs, max_moved=0.2)
    assert list(tmp_path.iterdir()) == [pairs]
    made = export_model(whole, tmp_path / "out", "merged", validation=pairs, max_moved=0.4)
    assert made.moved is not None
    assert "2 of 6 verdicts moved" in made.sentence(32)


def test_a_verdict_that_one_of_two_judges_did_not_reach_has_moved() -> None:
    case = Case(id="1", query="q", responses=(), cluster="q")

    def found(*winners: Any) -> Any:
        return [(case, Verdict(case_id=case.id, judge="x", winner=winner)) for winner in winners]

    one, other = found("a", "a", None, None), found("a", None, "b", None)
    figures = count_moved(one, other, data="v", protocol="pairwise")
    assert (figures.moved.value, figures.moved.n) == (pytest.approx(2 / 3), 3)
    assert (figures.moved.n_unscored, figures.shift.value, figures.largest) == (1, None, None)


def test_a_full_disk_leaves_nothing_half_written(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_model(whole, tmp_path / "good", "merged")
    before = {path: path.stat().st_size for path in (tmp_path / "good").rglob("*")}

    def full(original: Any, format: str, out: Path, scratch: Path, *, rank: int) -> Any:
        (out / "half").write_text("half")
        raise errors.pop()

    class OfALibrary(Exception):
        """As safetensors tells of it."""

    errors = [
        OfALibrary("I/O error: No space left on device (os error 28)"),
        OSError(errno.ENOSPC, "No space left on device"),
    ]
    monkeypatch.setattr(export, "write_form", full)
    for _ in range(2):
        with pytest.raises(StorageFull, match="the disk is full; nothing was written there"):
            export_model(whole, tmp_path / "out", "merged")
        assert list(tmp_path.iterdir()) == [tmp_path / "good"]
    with pytest.raises(DataError, match="not empty"):
        export_model(whole, tmp_path / "good", "merged")
    assert {path: path.stat().st_size for path in (tmp_path / "good").rglob("*")} == before


def test_prompts_of_one_name_are_both_kept(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    names = []
    for text in ("one", "two"):
        (tmp_path / text).mkdir()
        (tmp_path / text / "README.md").write_text(text)
        names.append(export._copy_prompt(tmp_path / text / "README.md", tmp_path / "out"))
    assert [(tmp_path / "out" / name).read_text() for name in names] == ["one", "two"]
    assert not (tmp_path / "out" / "README.md").exists()


def test_a_folder_may_be_the_one_we_are_in_and_may_vanish(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    export_model(whole, Path("."), "merged")
    assert (tmp_path / "a" / "b" / "judge.yaml").is_file()
    monkeypatch.chdir(tmp_path)

    def vanish(*_: Any, **__: Any) -> Any:
        shutil.rmtree(tmp_path / "a")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(export, "write_form", vanish)
    with pytest.raises(StorageFull, match="the disk is full"):
        export_model(whole, tmp_path / "a" / "c", "merged")


def test_a_form_without_its_packages_names_the_extra(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"--format gguf needs packages"):
        export_model(whole, tmp_path / "out", "gguf")
    # The comparison runs in the embedded engine.
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "gguf" or None)
    pairs = toy.pairs_file(tmp_path)
    with pytest.raises(MissingExtra, match=r"--format gguf-q8_0 needs packages"):
        export_model(whole, tmp_path / "out", "gguf-q8_0", validation=pairs)
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: name in ("gguf", "openvino_genai") or None
    )
    forms: tuple[Format, ...] = ("gptq", "w4a16", "openvino-int4")
    for form in forms:
        with pytest.raises(MissingExtra, match=f"--format {form} needs packages") as told:
            export_model(
                whole, tmp_path / "out", form, validation=toy.pairs_file(tmp_path),
                calibration=[tmp_path / "x"] if form == "gptq" else [],
            )  # fmt: skip
        assert "[quantize]" in str(told.value)
        assert ("GPT-QModel" in str(told.value)) == (form == "gptq")
