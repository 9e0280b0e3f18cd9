"""A recipe of the scenario classifier: features, weights, tuning."""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from autoj.errors import DataError
from autoj.scenarios.classifier.features import BLOCKS
from autoj.scenarios.classifier.folder import DATA
from autoj.yaml_files import read_fields, read_values


class SentenceTuning(BaseModel):
    """Settings of tuning the sentence encoder: LoRA on all its layers, and a linear head."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    rank: int = Field(16, ge=1)
    """The LoRA rank of each matrix."""
    learning_rate: float = Field(1.5e-3, gt=0)
    epochs: int = Field(4, ge=1)
    batch_queries: int = Field(32, ge=1)
    label_smoothing: float = Field(0.1, ge=0, lt=0.5)


class ClassifierRecipe(BaseModel):
    """All settings of training a scenario classifier."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    kind: Literal["classifier"]
    title: str
    tier: Literal["fast", "best"] = "fast"
    """`best` adds a tuned sentence encoder to the n-grams of `fast`. Training needs the extra
    `train`; `best` also needs `classifier`, for training and for use."""
    with_seeds: bool = False
    """True to train on the package's seed queries beside the given data."""
    features: dict[str, float] = Field(min_length=1)
    """The weight of each block of n-grams, by the names of `autoj.scenarios.classifier`."""
    sentences: SentenceTuning = Field(default_factory=lambda: SentenceTuning.model_validate({}))
    """`best`: settings of tuning the sentence encoder."""
    n_bits: int = Field(17, ge=8, le=22)
    """N-grams are hashed to `2**n_bits` columns."""
    ridge: float = Field(1.0, gt=0)
    """The L2 penalty on the weights; larger is smoother."""
    balance: float = Field(0.0, ge=0, le=1)
    """0 weights all queries equally, 1 all scenarios equally."""
    sharpness_factor: float = Field(1.0, gt=0, le=1)
    """A factor on the inverse temperature that was fitted to the held-out queries; below 1 where
    real queries differ from the training queries more than these differ from each other."""
    folds: int = Field(5, ge=2)
    """The folds of the cross-validation that gives the figures and the inverse temperature."""
    licence: str | None = None
    seed: int = 0

    @model_validator(mode="after")
    def _blocks_exist(self) -> Self:
        for name, weight in self.features.items():
            if name not in BLOCKS:
                raise ValueError(f"unknown features {name!r}; known are {', '.join(BLOCKS)}")
            if not 0 < weight < float("inf"):
                raise ValueError(f"the weight of {name} must be above 0, found {weight:g}")
        return self


def shipped_recipe() -> ClassifierRecipe:
    """Reads the recipe of the shipped classifiers."""
    return read_classifier_recipe(DATA / "recipe.yaml")


def is_classifier_recipe(path: Path) -> bool:
    """True where a file is a recipe of a classifier, by its `kind`; False where it is not YAML."""
    try:
        loaded = read_values(path)
    except DataError:
        return False
    return isinstance(loaded, dict) and loaded.get("kind") == "classifier"


def read_classifier_recipe(path: Path) -> ClassifierRecipe:
    """Reads a recipe from its file.

    Raises:
        DataError: the file is missing or not YAML, or a field is wrong.
    """
    return read_fields(path, ClassifierRecipe, what="recipe")
