"""The processes of a launch by `accelerate launch` or `torchrun`, by their environment."""

import os
from dataclasses import dataclass

from autoj.errors import ConfigError
from autoj.training.judge.recipe import Recipe
from autoj.training.judge.scale import Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """This process among those of a launch; a training alone is process 0 of 1."""

    rank: int
    n_processes: int
    sharded: bool
    """True where FSDP or DeepSpeed shares the model's state among the processes."""

    @property
    def is_first(self) -> bool:
        """True for the one process that writes files."""
        return self.rank == 0

    @property
    def layout(self) -> Layout:
        """The launch as a layout of GPUs, one per process."""
        return Layout(n_gpus=self.n_processes, sharded=self.sharded)

    def accumulation(self, recipe: Recipe) -> int:
        """The micro-batches of one process in an optimiser step.

        Raises:
            ConfigError: the batch cannot be shared by so many processes.
        """
        together = recipe.micro_batch_samples * self.n_processes
        if recipe.batch_samples % together:
            raise ConfigError(
                f"batch_samples ({recipe.batch_samples}) must be a multiple of "
                f"micro_batch_samples ({recipe.micro_batch_samples}) times the processes "
                f"({self.n_processes})",
                hint="Change one of them, or launch another number of processes.",
            )
        return recipe.batch_samples // together


def this_launch() -> Launch:
    """Reads the environment that the launcher sets."""
    shares = ("ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED")
    return Launch(
        rank=int(os.environ.get("RANK", "0")),
        n_processes=int(os.environ.get("WORLD_SIZE", "1")),
        sharded=any(os.environ.get(name, "").lower() in ("1", "true") for name in shares),
    )
