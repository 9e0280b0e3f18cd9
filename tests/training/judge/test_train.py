"""Training end to end on a toy: it overfits, reads back through the judge, and can be killed."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from autoj import Judge
from autoj.backends._adapters import read_adapter
from autoj.errors import BackendError, ConfigError, DataError, SpecMismatch, UserError
from autoj.judges import load_card
from autoj.runs import make_spec
from autoj.training.judge import train as route
from autoj.training.judge.folder import TrainingFolder
from autoj.training.judge.loading import TrainingJob
from autoj.training.judge.recipe import read_recipe
from autoj.training.judge.train import plan, train
from tests.training import toy
from tests.watches import Notes

# What the libraries warn of among themselves is silenced where training runs; what they warn of
# when they are imported is not.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_drawing")]


OBJECTIVE = {"kind": "judgment", "protocol": "single"}
BY_RATING = "pairwise-by-rating"


def job_of(
    folder: Path,
    start: Path,
    rows: list[dict[str, Any]],
    *objectives: dict[str, Any],
    **fields: Any,
) -> TrainingJob:
    data = toy.write_rows(folder / "rows.jsonl", rows)
    recipe = toy.write_recipe(folder / "recipe.yaml", toy.recipe(start, *objectives, **fields))
    return TrainingJob(recipe=read_recipe(recipe), data=(data,))


def curve_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "curve.csv").open() as stream:
        return list(csv.DictReader(stream))


few_and_more = pytest.mark.parametrize("n_rows", [3, pytest.param(10, marks=pytest.mark.slow)])
"""So many rows are learnt by heart; what ten take is too long for each run of the tests."""


def in_one_batch(n_rows: int) -> dict[str, int]:
    return {"batch_samples": n_rows, "micro_batch_samples": n_rows}


@few_and_more
def test_judgments_are_learnt_and_read_back_through_the_judge(
    tmp_path: Path, base: Path, n_rows: int
) -> None:
    rows = toy.rated_rows(n_rows)
    job = job_of(tmp_path, base, rows, OBJECTIVE, **in_one_batch(n_rows), epochs=50 + 5 * n_rows)
    told = Notes()
    report = train(job, tmp_path / "out", told)
    assert (report.n_steps, report.resumed_at) == (50 + 5 * n_rows, None)
    assert any(f"{n_rows} rows give {n_rows} samples" in line for line in told.messages)
    losses = [float(row["loss"]) for row in curve_of(tmp_path / "out") if row["loss"]]
    assert losses[0] > 4 > 0.2 > losses[-1]
    assert (tmp_path / "out" / "curve.png").is_file()

    judge = Judge.load(str(tmp_path / "out"))
    read = [judge.rate(row["query"], row["responses"][0]) for row in rows]
    assert [verdict.ratings for verdict in read] == [(row["label"],) for row in rows]
    assert read[2].critiques == ("Case 2 is plain.",)


def test_the_card_says_what_was_trained_on_what(tmp_path: Path, base: Path) -> None:
    objective = {"kind": "preference", "protocol": "pairwise-by-rating"}
    job = job_of(tmp_path, base, toy.pair_rows(10), objective, epochs=1)
    train(job, tmp_path / "mine")
    card = load_card(str(tmp_path / "mine"))
    assert (card.name, card.backend, card.wrapper) == ("mine", "hf", "chatml")
    assert card.protocols == ("pairwise-by-rating", "single-verdict")
    (data,) = card.training_data
    assert data.startswith("rows.jsonl sha256:")
    assert card.revision is not None
    with pytest.raises(ConfigError, match="was trained on pairwise-by-rating, single-verdict"):
        make_spec("judge", card, protocol="pairwise")


def test_a_judge_refuses_other_prompts_than_its_own(tmp_path: Path, base: Path) -> None:
    objective = {"kind": "decision", "protocol": "pairwise-verdict"}
    job = job_of(tmp_path, base, toy.pair_rows(10), objective, epochs=1)
    train(job, tmp_path / "out")
    path = tmp_path / "out" / "judge.yaml"
    content = yaml.safe_load(path.read_text())
    make_spec("judge", load_card(str(path)))
    path.write_text(yaml.safe_dump({**content, "wrapper": "none"}))
    with pytest.raises(ConfigError, match="other prompts"):
        make_spec("judge", load_card(str(path)))


@few_and_more
def test_a_preference_is_learnt_by_the_ratings_of_each_response_alone(
    tmp_path: Path, base: Path, n_rows: int
) -> None:
    rows = toy.pair_rows(n_rows)
    objective = {"kind": "preference", "protocol": "pairwise-by-rating", "tie": 0.2}
    job = job_of(tmp_path, base, rows, objective, **in_one_batch(n_rows), epochs=30 + 3 * n_rows)
    train(job, tmp_path / "out")
    judge = Judge.load(str(tmp_path / "out"))
    for row in rows:
        verdict = judge.compare(row["query"], *row["responses"])
        assert verdict.winner is not None
        assert verdict.winner == row["label"] or row["label"] == "tie"


@pytest.mark.slow
def test_an_adapter_learns_decisions(tmp_path: Path, base: Path) -> None:
    rows = toy.pair_rows(3)
    job = job_of(
        tmp_path, base, rows, {"kind": "decision", "protocol": "pairwise-verdict"},
        update={"method": "lora", "rank": 16}, swap_pairs=True, batch_samples=6,
        micro_batch_samples=3, optimiser={"learning_rate": 0.01, "weight_decay": 0.0}, epochs=120,
    )  # fmt: skip
    train(job, tmp_path / "out")
    assert (tmp_path / "out" / "adapter" / "adapter_model.safetensors").is_file()
    assert not (tmp_path / "out" / "model").exists()
    judge = Judge.load(str(tmp_path / "out"))
    found = [judge.compare(row["query"], *row["responses"]) for row in rows]
    assert [verdict.winner for verdict in found] == [row["label"] for row in rows]


def test_an_adapter_is_laid_on_its_base_alone(tmp_path: Path, base: Path) -> None:
    lora = {"update": {"method": "lora", "rank": 2}, "epochs": 1}
    objective = {"kind": "decision", "protocol": "pairwise-verdict"}
    job = job_of(tmp_path, base, toy.pair_rows(10), objective, **lora)
    train(job, tmp_path / "out")
    assert (tmp_path / "out" / "adapter" / "adapter_model.safetensors").is_file()
    assert not (tmp_path / "out" / "model").exists()
    row = toy.pair_rows(1)[0]
    judge = Judge.load(str(tmp_path / "out"))
    assert judge.compare(row["query"], *row["responses"]).judge == "out"

    other = toy.make_model(tmp_path / "other", seed=1)
    content = yaml.safe_load((tmp_path / "out" / "judge.yaml").read_text())
    content = {**content, "model": str(other), "revision": None}
    (tmp_path / "out" / "judge.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError, match=r"base|sha256"):
        Judge.load(str(tmp_path / "out"))


@few_and_more
def test_a_score_is_learnt_and_is_a_judge_of_the_scalar_backend(
    tmp_path: Path, base: Path, n_rows: int
) -> None:
    rows = toy.pair_rows(n_rows)
    objective = {"kind": "scalar", "protocol": "scalar", "tie": 0.2}
    job = job_of(tmp_path, base, rows, objective, **in_one_batch(n_rows), epochs=30 + 3 * n_rows)
    train(job, tmp_path / "out")
    card = load_card(str(tmp_path / "out"))
    assert (card.backend, card.protocols) == ("scalar", ("scalar",))
    judge = Judge.load(str(tmp_path / "out"))
    for row in rows:
        one, other = (judge.rate(row["query"], text).ratings[0] for text in row["responses"])
        assert row["label"] == "tie" or (one > other) == (row["label"] == "a")


def test_a_mixture_writes_a_judge_and_its_score(tmp_path: Path, base: Path) -> None:
    objectives = [
        {"kind": "judgment", "protocol": "pairwise", "weight": 0.5},
        {"kind": "scalar", "protocol": "scalar"},
    ]
    job = job_of(
        tmp_path, base, toy.pair_rows(5), *objectives, epochs=1,
        update={"method": "lora", "rank": 2},
    )  # fmt: skip
    train(job, tmp_path / "out")
    card = load_card(str(tmp_path / "out"))
    assert card.protocols == ("pairwise",)
    # A verdict ends its judgment, so the base's own limit of tokens would cut it off.
    assert (
        card.decoding.max_tokens
        == card.context_tokens // 2
        > load_card(str(base)).decoding.max_tokens
    )
    assert Judge.load(str(tmp_path / "out" / "reward")).rate("Why?", "So.").ratings[0] is not None
    assert Judge.load(str(tmp_path / "out")).compare("Why?", "So.", "No.").judge == "out"


def validated(folder: Path, base: Path, **fields: Any) -> TrainingJob:
    job = job_of(
        folder, base, toy.rated_rows(4), {"kind": "judgment", "protocol": "single"},
        validation={"every_steps": 5, **fields.pop("validation", {})}, **in_one_batch(4), **fields,
    )  # fmt: skip
    held_out = toy.write_rows(folder / "held_out.jsonl", toy.rated_rows(3))
    return TrainingJob(recipe=job.recipe, data=job.data, validation=held_out)


def test_the_validation_file_is_looked_at_and_its_best_step_is_kept(
    tmp_path: Path, base: Path
) -> None:
    report = train(validated(tmp_path, base, epochs=20), tmp_path / "out")
    looks = [row for row in curve_of(tmp_path / "out") if row["eval_loss"]]
    assert [int(row["step"]) for row in looks] == [5, 10, 15, 20]
    assert report.best["loss"] == pytest.approx(min(float(row["eval_loss"]) for row in looks))
    assert report.best["judgment_single_loss"] == pytest.approx(report.best["loss"], rel=1e-3)


def test_training_stops_early_where_nothing_gets_better(tmp_path: Path, base: Path) -> None:
    job = validated(
        tmp_path, base, epochs=40, validation={"patience": 2}, optimiser={"learning_rate": 1e-12}
    )
    report = train(job, tmp_path / "out")
    assert report.n_steps is not None
    assert report.n_steps < 40


KILLED = """
import os, signal, sys
from pathlib import Path
from autoj.runs.watch import Watch
from autoj.training.judge.recipe import read_recipe
from autoj.training.judge.loading import TrainingJob
from autoj.training.judge.train import train


class KillAtSix(Watch):
    def progress(self, what, n_done, n_total):
        if (what, n_done) == ("training", 6):
            os.kill(os.getpid(), signal.SIGKILL)

recipe, data, out = map(Path, sys.argv[1:])
train(TrainingJob(recipe=read_recipe(recipe), data=(data,)), out, KillAtSix())
"""


def test_a_killed_training_goes_on_and_ends_the_same(tmp_path: Path, base: Path) -> None:
    job = job_of(
        tmp_path, base, toy.rated_rows(4), {"kind": "judgment", "protocol": "single"},
        epochs=6, batch_samples=2, micro_batch_samples=2, checkpoint_steps=4,
    )  # fmt: skip
    whole = train(job, tmp_path / "whole")
    out = tmp_path / "killed"
    killed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, tmp_path / "recipe.yaml", job.data[0], out],
        stdout=subprocess.DEVNULL,
    )
    assert killed.returncode == -signal.SIGKILL
    assert not TrainingFolder(out).is_finished
    # What a kill in the middle of writing leaves is passed over.
    (out / "checkpoints" / "checkpoint-7").mkdir()
    (out / "checkpoints" / "checkpoint-7" / "trainer_state.json").write_text('{"global_st')
    # A state that is whole beside a file that is not: a full disk, or a copy that broke off.
    shutil.copytree(out / "checkpoints" / "checkpoint-4", out / "checkpoints" / "checkpoint-6")
    optimiser = out / "checkpoints" / "checkpoint-6" / "optimizer.pt"
    optimiser.write_bytes(optimiser.read_bytes()[:1000])
    told = Notes()
    report = train(job, out, told)
    assert report.resumed_at == 4
    assert "checkpoint-7 is incomplete and was deleted" in told.messages
    assert "checkpoint-6 is incomplete and was deleted" in told.messages
    assert report.n_steps == whole.n_steps == 12

    def losses(folder: Path) -> dict[str, float]:
        return {row["step"]: float(row["loss"]) for row in curve_of(folder) if row["loss"]}

    assert losses(out) == pytest.approx(losses(tmp_path / "whole"), rel=1e-3)
    pins = [load_card(str(folder)).training_data for folder in (out, tmp_path / "whole")]
    assert pins[0] == pins[1]


@pytest.fixture(scope="module")
def finished(base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainingJob, Path]:
    """A training of one step and its folder; for tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("finished")
    job = job_of(folder, base, toy.rated_rows(10), OBJECTIVE, epochs=1)
    train(job, folder / "out")
    return job, folder / "out"


def test_a_finished_training_is_left_alone(finished: tuple[TrainingJob, Path]) -> None:
    job, out = finished
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    told = Notes()
    assert train(job, out, told).n_steps is None
    assert "is finished" in told.messages[0]
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_a_training_from_before_the_recipes_later_fields_is_known(
    finished: tuple[TrainingJob, Path],
) -> None:
    job, out = finished
    record = json.loads((out / "train.json").read_text())
    for name in ("n_processes", "sharded"):
        del record[name]
    for name in ("tf32", "attention", "held_out", "published"):
        del record["recipe"][name]
    for name in ("context_tokens", "shape"):
        del record["recipe"]["base"][name]
    del record["recipe"]["update"]["frozen"]
    (out / "train.json").write_text(json.dumps(record))
    told = Notes()
    assert train(job, out, told).n_steps is None
    assert "is finished" in told.messages[0]


def test_another_recipe_or_other_data_is_refused(
    tmp_path: Path, base: Path, finished: tuple[TrainingJob, Path]
) -> None:
    job, out = finished
    others = [
        (job_of(tmp_path, base, toy.rated_rows(10), OBJECTIVE, epochs=2), r"recipe\.epochs"),
        (job_of(tmp_path, base, toy.rated_rows(9), OBJECTIVE, epochs=1), "data: was"),
        (TrainingJob(recipe=job.recipe, data=job.data, budget_tokens=5), "budget_tokens"),
    ]
    for other, said in others:
        with pytest.raises(SpecMismatch, match=said):
            train(other, out)


def test_a_budget_ends_training_at_so_many_tokens(tmp_path: Path, base: Path) -> None:
    job = job_of(
        tmp_path, base, toy.rated_rows(10), {"kind": "judgment", "protocol": "single"},
        epochs=50, batch_samples=2, micro_batch_samples=2,
    )  # fmt: skip
    small = TrainingJob(recipe=job.recipe, data=job.data, budget_tokens=2000)
    estimated = plan(small)
    # What fills no whole batch is left out.
    assert 2000 - 2 * 200 < estimated.extent.n_tokens < 2000 + 2 * 200
    assert estimated.n_steps == estimated.extent.n_samples // 2
    assert estimated.n_trained == estimated.n_weights > 0
    assert estimated.hours is not None
    assert estimated.memory_bytes < estimated.available_bytes


def test_short_memory_is_refused_with_what_to_lower(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autoj.training.judge.estimate.free_bytes", lambda device: 1000)
    job = job_of(
        tmp_path, base, toy.rated_rows(10), {"kind": "judgment", "protocol": "single"}, epochs=1
    )
    with pytest.raises(ConfigError, match="of memory") as told:
        train(job, tmp_path / "out")
    assert "micro_batch_samples (10)" in str(told.value)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        RuntimeError("CUDA out of memory."),
        MemoryError(),
    ],
)
def test_memory_that_runs_out_in_training_says_what_to_lower(
    tmp_path: Path, base: Path, error: Exception
) -> None:
    job = job_of(tmp_path, base, toy.rated_rows(1), {"kind": "judgment", "protocol": "single"})
    with (
        pytest.raises(ConfigError, match="ran out of memory") as told,
        route._seam(job.recipe, tmp_path),
    ):
        raise error
    assert "max_tokens" in str(told.value)


def test_what_diverges_ends_with_a_word(tmp_path: Path, base: Path) -> None:
    job = job_of(
        tmp_path, base, toy.rated_rows(10), {"kind": "judgment", "protocol": "single"},
        optimiser={"learning_rate": 1e30, "max_grad_norm": 1e30, "warmup": 0.0},
    )  # fmt: skip
    with pytest.raises(BackendError, match="diverged at step") as told:
        train(job, tmp_path / "out")
    assert "learning_rate" in str(told.value)
    assert not TrainingFolder(tmp_path / "out").is_finished


def test_data_without_what_an_objective_needs_is_refused(tmp_path: Path, base: Path) -> None:
    job = job_of(tmp_path, base, toy.rated_rows(3), {"kind": "judgment", "protocol": "pairwise"})
    with pytest.raises(ConfigError, match=r"no row .* fits objective 'judgment' \(pairwise\)"):
        train(job, tmp_path / "out")


def test_a_base_that_holds_no_weights_here_is_refused(tmp_path: Path, base: Path) -> None:
    job = job_of(
        tmp_path, base, toy.rated_rows(3), {"kind": "judgment", "protocol": "single"},
        base={"judge": "gpt-4"},
    )  # fmt: skip
    with pytest.raises(UserError, match=r"gpt-4.*runs on 'openai'"):
        train(job, tmp_path / "out")


def test_an_adapter_on_a_judge_with_an_adapter_is_refused(tmp_path: Path, base: Path) -> None:
    lora = {"update": {"method": "lora", "rank": 2}, "epochs": 1}
    first = job_of(tmp_path, base, toy.rated_rows(10), OBJECTIVE, **lora)
    train(first, tmp_path / "first")
    (tmp_path / "b").mkdir()
    second = job_of(tmp_path / "b", tmp_path / "first", toy.rated_rows(10), OBJECTIVE, **lora)
    with pytest.raises(ConfigError, match="has an adapter already"):
        train(second, tmp_path / "second")


def test_a_mixture_by_lora_keeps_its_score_out_of_the_adapter(tmp_path: Path, base: Path) -> None:
    job = job_of(
        tmp_path, base, toy.pair_rows(5),
        {"kind": "decision", "protocol": "pairwise-verdict"},
        {"kind": "scalar", "protocol": "scalar"},
        update={"method": "lora", "rank": 2}, epochs=1,
    )  # fmt: skip
    train(job, tmp_path / "out")
    card = load_card(str(tmp_path / "out"))
    adapter = read_adapter(
        tmp_path / "out" / "adapter", revision=card.adapter_revision, base_sha256=None, judge="out"
    )
    assert all(".layers." in name for name in adapter.modules)
    # No path of this machine goes along.
    assert str(tmp_path) not in (tmp_path / "out" / "adapter" / "adapter_config.json").read_text()


def test_products_are_computed_in_the_precision_that_the_recipe_says(
    tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    seen: set[Any] = set()
    plain = torch.nn.functional.linear

    def watched(*arguments: Any, **named: Any) -> Any:
        result = plain(*arguments, **named)
        seen.add(result.dtype)
        return result

    monkeypatch.setattr(torch.nn.functional, "linear", watched)
    for precision in ("bfloat16", "float32"):
        seen.clear()
        folder = tmp_path / precision
        folder.mkdir()
        job = job_of(
            folder, base, toy.pair_rows(2), {"kind": "preference", "protocol": BY_RATING},
            epochs=1, precision=precision, **in_one_batch(2),
        )  # fmt: skip
        train(job, folder / "out")
        assert (torch.bfloat16 in seen) == (precision == "bfloat16")
        # The projection to the vocabulary is exact in both.
        assert torch.float32 in seen


def test_a_training_that_never_began_leaves_its_folder_free(tmp_path: Path, base: Path) -> None:
    objective = {"kind": "judgment", "protocol": "single"}
    rows = toy.rated_rows(10)
    broken = [*rows[:9], {**rows[9], "meta": {"judgment": "I would rather not say."}}]
    with pytest.raises(DataError, match="cannot be read"):
        train(
            job_of(tmp_path, base, broken, objective, epochs=1),
            tmp_path / "out",
        )  # fmt: skip
    report = train(job_of(tmp_path, base, rows, objective, epochs=1), tmp_path / "out")
    assert report.resumed_at is None
    assert (tmp_path / "out" / "judge.yaml").is_file()


def test_the_files_of_others_are_left_alone(tmp_path: Path, base: Path) -> None:
    job = job_of(tmp_path, base, toy.rated_rows(10), OBJECTIVE, epochs=1)
    with pytest.raises(DataError, match=r"not the folder of a training.* 'recipe\.yaml'"):
        train(job, tmp_path)


def test_samples_that_do_not_fit_are_counted(tmp_path: Path, base: Path) -> None:
    rows = toy.rated_rows(10)
    rows[3]["query"] = " ".join(f"why{index}" for index in range(900))
    job = job_of(tmp_path, base, rows, OBJECTIVE, epochs=1, batch_samples=3, micro_batch_samples=3)
    told = Notes()
    train(job, tmp_path / "out", told)
    assert any(line.startswith("1 samples are left out: they are longer") for line in told.messages)


def test_a_folder_of_something_else_is_refused(tmp_path: Path, base: Path) -> None:
    job = job_of(tmp_path, base, toy.rated_rows(3), {"kind": "judgment", "protocol": "single"})
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(json.dumps({}))
    with pytest.raises(DataError, match="not the folder of a training"):
        train(job, tmp_path / "run")
