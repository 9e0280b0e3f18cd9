"""A toy model for all tests of training, made once."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

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
