"""Recipes of trainings: YAML files with the base, the objectives and all settings."""

from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from autoj.errors import DataError, UserError
from autoj.protocols import OwnProtocol, load_protocol
from autoj.protocols.base import JudgeProtocol, Subject
from autoj.scenarios import resolve_scenario
from autoj.yaml_files import check_fields, compose_extended

ObjectiveKind: TypeAlias = Literal[
    "judgment", "decision", "critique", "preference", "scalar", "scenario"
]


class _RecipePart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Objective(_RecipePart):
    """One training objective.

    ```
    judgment    to write the critique and the decision of the data (paper, section 4)
    decision    to predict the label, without a critique (paper, section 6.4, ablation 1)
    critique    to write the data's critique after a given verdict
    preference  to rate the better response higher, each read alone (Bradley and Terry, with ties)
    scalar      the same by a score head, without words (paper, section 6.4, ablation 2)
    scenario    to write the name of the query's scenario (paper, Appendix B)
    ```
    """

    kind: ObjectiveKind
    protocol: str
    """The protocol of the prompts; a name of `autoj.protocols`."""
    language: Literal["en", "zh"] | None = None
    """The language of the rows that it is trained on; None takes all."""
    weight: float = Field(1.0, gt=0)
    """The factor on the loss of its samples."""
    label_smoothing: float = Field(0.0, ge=0, lt=0.5)
    """The share of a label's weight given to the other labels: votes are noisy."""
    temperature: float = Field(1.0, gt=0)
    """`preference` and `scalar`: the divisor of a difference of ratings."""
    tie: float = Field(0.5, ge=0)
    """`preference` and `scalar`: half the tie band in training, after that division."""
    max_samples: int | None = Field(None, ge=1)
    """The cap on its samples in an epoch, drawn by the seed; None takes all."""
    tie_weight: float = Field(1.0, ge=0)
    """`preference` and `scalar`: the factor on the loss of ties, for data with few of them."""

    @model_validator(mode="after")
    def _protocol_fits(self) -> Self:
        protocol = _trainable(self.protocol)
        wrong = _misfit(self.kind, protocol)
        if wrong is not None:
            raise ValueError(f"objective {self.kind!r} {wrong}, unlike {self.protocol!r}")
        return self

    @property
    def compares_ratings(self) -> bool:
        """True where it learns which of two responses, each read alone, to rate higher."""
        return self.kind in ("preference", "scalar")

    @property
    def subject(self) -> Subject:
        """The kind of its samples: pairs, or single responses."""
        if self.compares_ratings:
            return "pair"
        return load_protocol(self.protocol).subject


def _trainable(name: str) -> JudgeProtocol:
    """A protocol that a trained judge's card can name; one of a prompt's file would be lost."""
    protocol = load_protocol(name)
    if isinstance(protocol, OwnProtocol):
        raise ValueError(
            f"a judge is trained on autoj's protocols, and {name!r} is the file of a prompt"
        )
    return protocol


def _misfit(kind: ObjectiveKind, protocol: JudgeProtocol) -> str | None:
    """States what an objective needs of a protocol; None where the protocol fits."""
    if (kind == "scenario") != (protocol.subject == "query"):
        named = (
            "the protocol scenario" if kind == "scenario" else "a protocol that judges responses"
        )
        return f"needs {named}"
    if kind == "judgment" and protocol.gives_probabilities:
        return "needs a protocol that writes a critique (pairwise, single)"
    if kind in ("decision", "critique") and not protocol.gives_probabilities:
        return "needs a protocol that only decides (pairwise-verdict, single-verdict)"
    if kind == "decision" and protocol.subject == "pair" and protocol.reads_alone:
        return "needs a protocol whose own choices are labels (pairwise-verdict, single-verdict)"
    rates_pairs = protocol.subject == "pair" and protocol.reads_alone
    if kind == "preference" and not (rates_pairs and protocol.gives_probabilities):
        return "needs a protocol that rates each response alone (pairwise-by-rating)"
    if kind == "scalar" and protocol.name != "scalar":
        return "needs the protocol scalar"
    return None


class Shape(_RecipePart):
    """The dimensions of a decoder of the LLaMA family, by the names of its `config.json`."""

    num_hidden_layers: int = Field(ge=1)
    hidden_size: int = Field(ge=1)
    intermediate_size: int = Field(ge=1)
    num_attention_heads: int = Field(ge=1)
    num_key_value_heads: int = Field(ge=1)
    vocab_size: int = Field(ge=1)
    tie_word_embeddings: bool = False

    @property
    def kv_width(self) -> int:
        """The width of the keys of one token in one layer."""
        return self.hidden_size * self.num_key_value_heads // self.num_attention_heads

    @property
    def layer_weights(self) -> int:
        """The weights of one layer: attention, gated network and two norms."""
        attention = 2 * self.hidden_size * (self.hidden_size + self.kv_width)
        return attention + 3 * self.hidden_size * self.intermediate_size + 2 * self.hidden_size

    @property
    def embedding_weights(self) -> int:
        """The weights of the embedding, and of the projection where it has its own."""
        return (1 if self.tie_word_embeddings else 2) * self.vocab_size * self.hidden_size

    @property
    def n_weights(self) -> int:
        """All weights.

        >>> Shape(num_hidden_layers=40, hidden_size=5120, intermediate_size=13824,
        ...       num_attention_heads=40, num_key_value_heads=40, vocab_size=32000).n_weights
        13015864320
        """
        layers = self.num_hidden_layers * self.layer_weights
        return layers + self.embedding_weights + self.hidden_size

    def adapter_weights(self, rank: int) -> int:
        """The weights of a LoRA adapter of all linear layers of a decoder.

        Args:
            rank: the adapter's rank.
        """
        hidden, inner, kv = self.hidden_size, self.intermediate_size, self.kv_width
        ends = 2 * (hidden + hidden) + 2 * (hidden + kv) + 3 * (hidden + inner)
        return self.num_hidden_layers * rank * ends


class PublishedData(_RecipePart):
    """Counts that a publication gives of its training data, for `--plan` without the data."""

    pairs: int = Field(0, ge=0)
    singles: int = Field(0, ge=0)
    queries: int = Field(0, ge=0)
    """Queries with a scenario, for a classifier."""
    steps: int | None = Field(None, ge=1)
    """The updates that the publication states."""
    tokens_per_sample: int = Field(ge=1)
    """The mean length of a sample; no publication gives it, so it is assumed."""
    source: str


class Base(_RecipePart):
    """The model that training starts from."""

    judge: str
    """A judge's name, card or folder, or `hf:model`: its weights, wrapper and context are taken."""
    wrapper: str | None = None
    """A wrapper to use instead of the card's."""
    context_tokens: int | None = Field(None, ge=256)
    """A context to use instead of the card's: that of `hf:model` is taken to be 4,096 tokens."""
    shape: Shape | None = None
    """The model's dimensions, for `--plan` where its weights are not at hand."""


class Update(_RecipePart):
    """The weights to train."""

    method: Literal["lora", "layers", "all"] = "lora"
    rank: int = Field(16, ge=1)
    """`lora`: the rank of each update."""
    alpha: float | None = Field(None, gt=0)
    """`lora`: the update is multiplied by `alpha / rank`; None is twice the rank."""
    dropout: float = Field(0.0, ge=0, lt=1)
    top_layers: int | None = Field(None, ge=1)
    """The number of layers to train, counted from the output; None trains all."""
    frozen: Literal["float32", "bfloat16", "4bit"] = "float32"
    """`lora`: the precision of the base's weights, which are not trained; `4bit` is QLoRA (Dettmers
    et al. 2023, arXiv 2305.14314) and needs bitsandbytes."""

    @model_validator(mode="after")
    def _layers_are_told(self) -> Self:
        if self.method == "layers" and self.top_layers is None:
            raise ValueError("method layers needs top_layers, the number of layers from the output")
        unused = self.model_fields_set & {"rank", "alpha", "dropout", "frozen"}
        if self.method != "lora" and unused:
            raise ValueError(f"method {self.method} does not take {', '.join(sorted(unused))}")
        if self.method == "all" and self.top_layers is not None:
            raise ValueError("method all trains every layer; use top_layers with layers or lora")
        return self


class Optimiser(_RecipePart):
    """AdamW and its schedule; the defaults are the paper's (section 4)."""

    learning_rate: float = Field(1e-5, gt=0)
    betas: tuple[Annotated[float, Field(ge=0, lt=1)], Annotated[float, Field(ge=0, lt=1)]] = (
        0.9,
        0.95,
    )
    weight_decay: float = Field(0.1, ge=0)
    warmup: float = Field(0.03, ge=0, lt=1)
    """The share of all steps in which the learning rate rises."""
    schedule: Literal["cosine", "linear", "constant_with_warmup"] = "cosine"
    max_grad_norm: float = Field(1.0, gt=0)


class Validation(_RecipePart):
    """The frequency of evaluation on the validation file, and early stopping."""

    every_steps: int = Field(50, ge=1)
    max_cases: int | None = Field(None, ge=1)
    """The cap on cases of an evaluation, drawn from the file by the seed."""
    patience: int | None = Field(None, ge=1)
    """Training stops after this many evaluations without a better loss; None never stops early."""


class DerivedPairs(_RecipePart):
    """Pairs made of two rated responses to one query; the higher-rated one is better."""

    gap: float = Field(gt=0, le=9)
    """The minimum difference of their ratings."""
    per_query: int = Field(8, ge=1)
    """The cap on pairs of one query; n responses make up to n(n-1)/2, which would crowd out all
    other data."""


class Recipe(_RecipePart):
    """All settings of a training."""

    title: str
    base: Base
    objectives: tuple[Objective, ...] = Field(min_length=1)
    update: Update = Field(default_factory=lambda: Update.model_validate({}))
    optimiser: Optimiser = Field(default_factory=lambda: Optimiser.model_validate({}))
    validation: Validation = Field(default_factory=lambda: Validation.model_validate({}))
    max_tokens: int = Field(1024, ge=256)
    """The maximum length of a sequence; longer responses lose their middle."""
    batch_samples: int = Field(64, ge=1)
    """Samples per optimiser step."""
    micro_batch_samples: int = Field(4, ge=1)
    """Samples in memory at once."""
    epochs: float = Field(1.0, gt=0)
    order: Literal["shuffled", "given"] = "shuffled"
    """`given` takes the data files one after the other, each shuffled."""
    swap_pairs: bool = True
    """True trains on both orders of pairs that are shown together."""
    balance: bool = True
    """True repeats single responses as often as swapping repeats pairs."""
    pairs_from_ratings: DerivedPairs | None = None
    """Pairs to make of rated responses; None makes none."""
    compare_together: int = Field(2, ge=2)
    """`preference` and `scalar`: the cap on responses to one query that are compared in one sample,
    each read once for all its comparisons."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """The precision of matrix products; weights and the optimiser stay in float32. `auto` is the
    fastest that the processor supports."""
    tf32: bool = False
    """True computes float32 products in TF32 on a GPU that has it (Ampere and later)."""
    attention: Literal["sdpa", "flash_attention_2", "eager"] | None = None
    """The implementation of attention; None takes the card's, else the fastest that is there."""
    packing: bool = False
    """True reads a micro-batch as one row without padding, its sequences apart (`packing`)."""
    peak_tflops: float | None = Field(None, gt=0)
    """The processor's peak, for the share of it that training reaches; None measures it by a matrix
    product."""
    checkpoint_steps: int = Field(50, ge=1)
    keep_checkpoints: int = Field(2, ge=1)
    gradient_checkpointing: bool = False
    """True uses less memory and a third more time."""
    held_out: tuple[str, ...] = ()
    """Scenarios whose rows are left out of training (paper, Appendix C)."""
    published: PublishedData | None = None
    """Counts of the data of a publication that the recipe follows."""
    protocols: tuple[str, ...] = ()
    """The protocols of the judge's card, defaults first; empty takes the objectives' own."""
    critique: bool | None = None
    """True adds a critique to the card's default; None does so where one was trained."""
    licence: str | None = None
    seed: int = 0

    @model_validator(mode="after")
    def _batches_add_up(self) -> Self:
        if self.batch_samples % self.micro_batch_samples:
            raise ValueError(
                f"batch_samples ({self.batch_samples}) must be a multiple of micro_batch_samples "
                f"({self.micro_batch_samples})"
            )
        alone = [objective for objective in self.objectives if objective.kind == "scalar"]
        if len(alone) > 1:
            raise ValueError("there can be one scalar objective: a judge has one score")
        for name in self.protocols:
            _trainable(name)
        if len({objective.kind == "scenario" for objective in self.objectives}) > 1:
            raise ValueError("a scenario classifier learns from queries, and from nothing else")
        for name in self.held_out:
            resolve_scenario(name)
        return self


def read_recipe(path: Path) -> Recipe:
    """Reads a recipe from its file, with the fields of the recipe that it extends.

    Args:
        path: the file; its `extends` is a recipe's path, seen from the file's own folder.

    Raises:
        DataError: the file is missing or not YAML, a field is wrong, a protocol does not exist, or
            recipes extend each other in a circle.
    """
    try:
        root = compose_extended(path, "there is no such recipe")
        return check_fields(root, path, Recipe, what="recipe")
    except DataError:
        raise
    except UserError as error:
        raise DataError(error.message, path=path, hint=error.hint) from None
