from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from autoj.errors import DataError
from autoj.jsonl import sha256_of
from autoj.scenarios.classifier import load_classifier
from autoj.scenarios.classifier.folder import DATA


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA / "fast", tmp_path / "mine"))


def edit_card(folder: Path, **changes: object) -> None:
    card = yaml.safe_load((folder / "card.yaml").read_text(encoding="utf-8"))
    text = yaml.safe_dump({**card, **changes})
    (folder / "card.yaml").write_text(text, encoding="utf-8")


def test_a_folder_is_called_by_its_title(folder: Path) -> None:
    edit_card(folder, title="Mine")
    loaded = load_classifier(str(folder))
    assert loaded.name == "Mine"
    assert loaded.digest == load_classifier("fast").digest


def test_changed_weights_are_told(folder: Path) -> None:
    with (folder / "weights.npz").open("r+b") as stream:
        stream.seek(1000)
        stream.write(b"\0\1\2\3")
    with pytest.raises(DataError, match=r"weights\.npz: is damaged: its sha256 is"):
        load_classifier(str(folder))


def test_missing_files_are_told(folder: Path) -> None:
    (folder / "weights.npz").unlink()
    with pytest.raises(DataError, match=r"weights\.npz"):
        load_classifier(str(folder))
    (folder / "card.yaml").unlink()
    with pytest.raises(DataError, match=r"card\.yaml: there is no such classifier's card"):
        load_classifier(str(folder))


def test_a_card_of_something_else_is_told(folder: Path) -> None:
    (folder / "card.yaml").write_text("kind: judge\n", encoding="utf-8")
    with pytest.raises(DataError, match="is not the card of a classifier"):
        load_classifier(str(folder))
    (folder / "card.yaml").write_text("a: [", encoding="utf-8")
    with pytest.raises(DataError, match="is not YAML"):
        load_classifier(str(folder))


def test_features_of_another_version_are_told(folder: Path) -> None:
    edit_card(folder, features={"words-9": 1.0})
    with pytest.raises(DataError, match="words-9"):
        load_classifier(str(folder))


def test_weights_that_do_not_fit_the_card_are_told(folder: Path) -> None:
    edit_card(folder, labels=["a", "b"])
    with pytest.raises(DataError, match="is not the weights"):
        load_classifier(str(folder))


def test_weights_of_the_other_tier_are_told(folder: Path) -> None:
    pytest.importorskip("openvino")
    edit_card(folder, tier="best")
    with pytest.raises(DataError, match="do not fit"):
        load_classifier(str(folder))


def test_pickled_weights_are_not_read(folder: Path) -> None:
    path = folder / "weights.npz"
    np.savez(path, rows=np.array([{"a": 1}], dtype=object), allow_pickle=True)
    digest = sha256_of(path)
    edit_card(folder, weights_sha256=digest)
    with pytest.raises(DataError, match="is not the weights"):
        load_classifier(str(folder))


def test_a_best_one_with_an_untuned_encoder_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("openvino")
    folder = Path(shutil.copytree(DATA / "best", tmp_path / "mine"))
    path = folder / "weights.npz"
    with np.load(path) as archive:
        plain = {name: archive[name] for name in archive.files if not name.startswith("encoder/")}
    np.savez(path, **plain)
    edit_card(folder, weights_sha256=sha256_of(path))
    with pytest.raises(DataError, match=r"no updates of the sentence encoder(.|\n)*Train it again"):
        load_classifier(str(folder))
