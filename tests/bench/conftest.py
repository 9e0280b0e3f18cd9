"""What several files of this folder read."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.records import Case


@pytest.fixture(scope="session")
def eval_p_cases(data_folder: Path) -> list[Case]:
    """Eval-P, where the data are."""
    rows = open_cases(data_folder / "autoj" / "testdata_pairwise.jsonl").read()
    return [row.case for row in rows if isinstance(row.case, Case)]
