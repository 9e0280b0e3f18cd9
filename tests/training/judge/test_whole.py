"""No judgment is cut: neither in a sample, nor by the trainer's own limit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autoj.backends._choices import ChoiceTrie
from autoj.errors import ConfigError
from autoj.runs.watch import SILENT
from autoj.training.judge.loading import make_ready, read_data
from autoj.training.judge.samples import Sample, Written
from autoj.training.judge.settings import trainer_settings
from autoj.training.judge.trainer import build_trainer
from autoj.training.judge.whole import check_whole
from tests.training import toy
from tests.training.judge.test_train import OBJECTIVE, job_of

END = 9


def sample(*tokens: int, n_prompt: int = 2) -> Sample:
    sequence = ChoiceTrie(root=tokens, tokens=(), parents=(), steps=())
    target = Written(n_prompt=n_prompt)
    return Sample(objective=0, case_id="7", sequences=(sequence,), target=target)


def test_a_whole_judgment_passes() -> None:
    check_whole([sample(1, 2, 3, END)], None, END)
    check_whole([sample(1, 2, 3, END)], 4, END)


@pytest.mark.parametrize(
    ("cut", "max_length", "said"),
    [
        (sample(1, 2, 3, END), 3, "'7' has 4 tokens, and the trainer cuts at 3"),
        (sample(1, 2, 3), None, "no token that ends its judgment"),
        (sample(1, END), None, "no token of its judgment"),
    ],
)
def test_a_judgment_that_would_be_cut_is_refused(
    cut: Sample, max_length: int | None, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        check_whole([sample(1, 2, 3, END), cut], max_length, END)


@pytest.mark.filterwarnings("ignore")
def test_the_trainer_is_not_built_with_a_limit_that_cuts(tmp_path: Path, base: Path) -> None:
    import trl

    assert trl.SFTConfig(output_dir=str(tmp_path), use_cpu=True).max_length == 1024
    job = job_of(tmp_path, base, toy.rated_rows(3), OBJECTIVE, epochs=1)
    made = make_ready(job, read_data(job), SILENT)
    settings = trainer_settings(job.recipe, made.data, tmp_path / "checkpoints", made.model)
    assert settings.max_length is None
    with pytest.raises(ConfigError, match="would be learnt cut"):
        build_trainer(
            model=made.model,
            tokenizer=made.tokenizer,
            objectives=job.recipe.objectives,
            samples=made.data.samples,
            validation=(),
            arguments=replace(settings, max_length=64),
            callbacks=[],
        )
