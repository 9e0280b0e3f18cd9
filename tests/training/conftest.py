"""A toy model for all tests of training, made once."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import create_autospec

import pytest

from autoj.training.judge.curve import write_picture
from autoj.training.judge.train import _PACKAGES
from tests.training import toy

MISSING = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
needs_train = pytest.mark.skipif(
    bool(MISSING), reason=f"the extra `train` is not installed: no {', '.join(MISSING)}"
)


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a toy judge with random weights."""
    if MISSING:
        pytest.skip(f"the extra `train` is not installed: no {', '.join(MISSING)}")
    import torch

    # Threads cost more than they bring on matrices as small as these.
    torch.set_num_threads(1)
    return toy.make_model(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def no_drawing() -> Iterator[None]:
    """Leaves an empty file for each picture: to draw a curve takes longer than to train a toy."""

    touch = create_autospec(write_picture, side_effect=lambda path, *_: path.touch())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autoj.training.judge.train.write_picture", touch)
        yield
