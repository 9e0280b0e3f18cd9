"""Recipes of constructions: YAML files with the sources and the stages, in the order they run."""

from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from autoj.construct.declared import Assumed, DeclaredRows
from autoj.construct.held_out import held_out_scenarios
from autoj.datasets import data_name
from autoj.errors import UnknownComponent
from autoj.yaml_files import FaultAt, read_fields


class _RecipePart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PairFile(_RecipePart):
    """A file of pairs with labels, in any format that `autoj judge` reads."""

    data: str
    """The file, relative to the working folder, or `hf-dataset:NAME`."""
    name: str | None = None
    """The name of the source in rows and tables; None keeps what rows state, else the file's."""
    scenario: str | None = None
    """The scenario of all its rows, for a source of one kind; None keeps what rows state."""
    limit: int | None = Field(None, ge=1)
    """The most rows to take; None takes all."""
    format: str | None = None
    """The format's name; None recognises it from the fields of the first row."""
    map: str | None = None
    """Columns of other names, as `autoj judge --map` takes them, in place of a format."""
    declared: DeclaredRows | None = None
    """Its rows by its card, for a dry run where it is not at hand."""

    @property
    def called(self) -> str:
        """The name that its rows' ids begin with."""
        return self.name or data_name(Path(self.data))


class Collect(_RecipePart):
    """Reads the sources (paper, section 3.2): one row a pair, first turns only, with a label."""

    stage: Literal["collect"]
    languages: tuple[str, ...] = ()
    """ISO 639-1 codes of the queries to keep, by `py3langid`; empty keeps all and asks nothing."""
    turns: Literal["first", "single"] = "first"
    """"first" keeps the first turn of a longer conversation, with the vote on the whole, as the
    paper does; "single" drops longer conversations."""
    shuffle: bool = True
    """True draws the order of the two responses by the seed, so that a source that always has the
    better one first does not tell it to the teacher."""
    purpose: Literal["training", "testing"] = "training"
    """"testing" admits sources that serve testing only (MT-Bench; paper, section 3.3)."""
    unlabelled: Literal["drop", "keep"] = "drop"
    """The treatment of pairs without a label; kept ones take the teacher's decision as theirs."""
    max_characters: int = Field(24_000, ge=100)
    """The most characters of a query or a response; longer rows are dropped."""


class Deduplicate(_RecipePart):
    """Drops pairs whose query occurred before, exactly or nearly."""

    stage: Literal["deduplicate"]
    threshold: float | None = Field(0.8, gt=0, le=1)
    """The least similarity (Jaccard, of word 3-grams) of near duplicates; None drops exact ones
    alone."""
    per_query: int = Field(1, ge=1)
    """The most pairs of one query."""


class Decontaminate(_RecipePart):
    """Drops pairs whose query is in a test set."""

    stage: Literal["decontaminate"]
    against: tuple[str, ...] = Field(min_length=1)
    """The test sets: files, or names that `autoj data` lists, such as eval-p."""
    ngrams: int | None = Field(13, ge=2)
    """Words per n-gram that shared text is found by; None compares letters and digits alone."""
    threshold: float = Field(0.7, gt=0, le=1)
    """The least share of n-grams, of either query, that makes two queries shared."""


class Classify(_RecipePart):
    """Names the scenario of rows that have none (paper, section 3.2 and Appendix B)."""

    stage: Literal["classify"]
    by: Literal["classifier", "judge", "both"] = "classifier"
    """"both" keeps the rows that the classifier and the judge name alike."""
    classifier: str = "fast"
    """The embedded classifier: fast, best, or a folder that `autoj train classifier` wrote."""
    least_probability: float = Field(0.0, ge=0, lt=1)
    """The classifier's guesses below it are dropped as unsure."""
    judge: str | None = None
    """A judge's name, card, or `backend:model`, where one is asked."""
    protocol: str | None = None
    """The judge's prompt; None takes its card's own, else scenario-menu, which lists all names."""

    @model_validator(mode="after")
    def _asks_as_said(self) -> Self:
        if self.by == "classifier" and (self.judge or self.protocol):
            raise ValueError("a judge is asked where `by` is judge or both, and it is classifier")
        if self.by != "classifier" and self.judge is None:
            raise ValueError(f"by: {self.by} asks a judge: name it under `judge`")
        if self.by == "judge" and self.least_probability:
            raise ValueError("least_probability is the classifier's: a judge states no probability")
        return self


class JudgePairs(_RecipePart):
    """Lets a teacher judge pairs by their scenario's criteria (paper, section 3.3)."""

    stage: Literal["judge-pairs"]
    teacher: str
    """A judge's name, card, or `backend:model`."""
    protocol: str = "pairwise-criteria-reasoning"
    """The prompt: Table 10 with Table 8 as its system message; queries of the group Exam Questions
    are answered by the teacher first."""
    quota: int = Field(100, ge=1)
    """The most kept pairs of a scenario."""
    orders: Literal["one", "both"] = "one"
    """"both" asks each pair in both orders and keeps it where both decisions agree."""
    keep_disagreeing: bool = False
    """True keeps judgments that contradict the label, with the teacher's decision as the label."""
    max_tokens: int | None = Field(None, ge=16)
    """The most tokens of a judgment; None takes the card's."""
    most_characters: int = Field(12_000, ge=100)
    """Longer judgments are dropped."""
    invented_quotations: Literal["drop", "keep"] = "keep"
    """The treatment of judgments that quote what stands in no text that they are about."""


class JudgeSingles(_RecipePart):
    """Lets a teacher criticise and rate single responses (paper, section 3.3: divide and conquer).

    Each response is criticised by its scenario's criteria (Table 11), without them, and the two
    critiques are joined and rated (Table 12): three requests. Rows of pairs go on as they are.
    """

    stage: Literal["judge-singles"]
    teacher: str
    """A judge's name, card, or `backend:model`."""
    quota: int = Field(17, ge=1)
    """The most responses of a scenario: the paper's 960 are 16.6 of each of 58."""
    total: int | None = Field(None, ge=1)
    """The most responses altogether, of all scenarios in turn; None sets no limit."""
    sources: tuple[str, ...] = ()
    """The sources whose responses are drawn, by name; empty draws from all."""
    max_tokens: int | None = Field(None, ge=16)
    """The most tokens of a critique; None takes the card's."""
    most_characters: int = Field(12_000, ge=100)
    """Longer judgments are dropped."""
    invented_quotations: Literal["drop", "keep"] = "keep"
    """The treatment of judgments that quote what stands in no text that they are about."""


DamageKind: TypeAlias = Literal[
    "changed_numbers", "swapped_names", "negated", "constraint_broken", "cut_off", "repeated",
    "padded", "shuffled_words", "gibberish", "empty", "needless_refusal",
]  # fmt: skip
# One look tells the last four from a real answer, so they are rare.
DAMAGE_SHARES: dict[DamageKind, float] = {
    "changed_numbers": 1, "swapped_names": 1, "negated": 1, "constraint_broken": 1, "cut_off": 1,
    "repeated": 1, "padded": 1, "shuffled_words": 0.3, "gibberish": 0.1, "empty": 0.3,
    "needless_refusal": 0.3,
}  # fmt: skip
TranslatedField: TypeAlias = Literal["query", "responses", "judgment"]
TRANSLATED: tuple[TranslatedField, ...] = ("query", "responses", "judgment")
"""In the order in which they are asked for."""


class Translate(_RecipePart):
    """Adds translations for a bilingual judge; rows in the language go on as they are."""

    stage: Literal["translate"]
    teacher: str
    """A judge's name, card, or `backend:model`."""
    to: Literal["en", "zh"]
    """The language."""
    fields: tuple[TranslatedField, ...] = Field(TRANSLATED, min_length=1)
    """The texts to translate; the others stay as they are, but for a judgment, which is left out
    where it is not translated."""
    keep_original: bool = True
    """False replaces each row by its translation."""
    max_tokens: int | None = Field(None, ge=16)
    """The most tokens of a translation; None takes half of the teacher's context, up to 4,096, or
    the card's if that is more."""


class Negatives(_RecipePart):
    """Adds pairs whose label needs no teacher: borrowed responses and damaged copies."""

    stage: Literal["negatives"]
    borrowed: float = Field(0.10, ge=0, le=1)
    """Pairs against a borrowed response, as a share of the rows that came in."""
    both_borrowed: float = Field(0.03, ge=0, le=1)
    """Ties of two borrowed responses, likewise."""
    damaged: float = Field(0.10, ge=0, le=1)
    """Pairs of a response and its damaged copy, likewise."""
    damages: dict[DamageKind, Annotated[float, Field(ge=0)]] = DAMAGE_SHARES
    """The shares of the kinds of damage among them, in any unit; a kind left out is not made."""
    thin: float = Field(1.0, ge=0, le=1)
    """The share of the surplus of made pairs to drop that length or the overlap of words with the
    query decides; 1 leaves either rule right half of the time, 0 drops none."""

    @property
    def borrows(self) -> bool:
        """True where similar queries must be found."""
        return self.borrowed > 0 or self.both_borrowed > 0

    @model_validator(mode="after")
    def _damages_are_named(self) -> Self:
        if self.damaged > 0 and not sum(self.damages.values()) > 0:
            raise ValueError("damages: at least one kind needs a share above 0")
        return self


class Mathematics(_RecipePart):
    """Adds pairs and rated responses about problems with worked solutions, such as GSM8K's.

    The authors added 1,000 of each when their judge failed at mathematics. Theirs were judged by
    GPT-4; these are labelled and explained by rules.
    """

    stage: Literal["mathematics"]
    data: str
    """Problems in the layout of GSM8K, such as `hf-dataset:openai/gsm8k:main:train`."""
    pairs: int = Field(1000, ge=0)
    """The pairs to make."""
    singles: int = Field(1000, ge=0)
    """The rated responses to make, of other problems as far as there are enough."""


class Mix(_RecipePart):
    """Writes the training files: native rows, the release's layout, chats and preferences."""

    stage: Literal["mix"]
    held_out: tuple[str, ...] = ()
    """Scenarios left out of training, whose rows go to `held_out.jsonl`; or a setting of Appendix
    C, which is recorded as its scenarios: setting-1, one of each group, or setting-2, NLP Tasks."""
    validation: float = Field(0.05, ge=0, lt=0.5)
    """The share of queries that go to `validation.jsonl`."""
    swap: bool = True
    """True writes each pair in both orders in the layouts of other trainers, and each single
    response twice (section 4); `autoj train` swaps by itself."""

    @field_validator("held_out", mode="before")
    @classmethod
    def _setting_as_scenarios(cls, value: object) -> object:
        if value == "setting-1" or value == "setting-2":
            return held_out_scenarios(value)
        if isinstance(value, str):
            raise ValueError("expected a list of scenarios, setting-1 or setting-2")
        return value


Stage: TypeAlias = Annotated[
    Collect
    | Deduplicate
    | Decontaminate
    | Classify
    | JudgePairs
    | JudgeSingles
    | Translate
    | Negatives
    | Mathematics
    | Mix,
    Field(discriminator="stage"),
]


def asked_by(stage: Stage) -> str | None:
    """The judge that a stage asks; None where it asks nobody."""
    match stage:
        case JudgePairs() | JudgeSingles() | Translate():
            return stage.teacher
        case Classify():
            return stage.judge
    return None


class ConstructRecipe(_RecipePart):
    """A construction: where pairs come from, and what is done with them."""

    title: str
    seed: int = 0
    """The seed of all draws."""
    sources: tuple[PairFile, ...] = Field(min_length=1)
    stages: tuple[Stage, ...] = Field(min_length=1)
    scenarios: str | None = None
    """A folder with scenarios of the user's own; None uses ours."""
    assumed: Assumed = Assumed()
    """For a dry run where a source is not at hand."""

    def number_of(self, name: str) -> int:
        """The number of the first stage of a kind, from 1.

        Raises:
            UnknownComponent: the recipe has no such stage.
        """
        kinds = [stage.stage for stage in self.stages]
        if name not in kinds:
            raise UnknownComponent("stage", name, kinds)
        return kinds.index(name) + 1

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        kinds = [stage.stage for stage in self.stages]
        if kinds[0] != "collect":
            said = f"the first stage must be collect, found {kinds[0]}"
            raise FaultAt(said, "stages", 0)
        # What a second one of these makes would have the ids of what the first one made, and a
        # second classify would find no row without a scenario.
        for only_once in (
            "collect",
            "classify",
            "judge-singles",
            "translate",
            "negatives",
            "mathematics",
            "mix",
        ):
            if kinds.count(only_once) > 1:
                again = kinds.index(only_once, kinds.index(only_once) + 1)
                raise FaultAt(f"stage {only_once} can stand only once", "stages", again)
        if "mix" in kinds[:-1]:
            raise FaultAt("stage mix must be the last one", "stages", kinds.index("mix"))
        if "negatives" in kinds and "translate" in kinds[: kinds.index("negatives")]:
            # Damage is done to English words, and a borrowed response would be in any language.
            said = "stage translate must come after negatives"
            raise FaultAt(said, "stages", kinds.index("translate"))
        return self

    @model_validator(mode="after")
    def _sources_are_named(self) -> Self:
        names = [source.called for source in self.sources]
        for at, stage in enumerate(self.stages):
            drawn = stage.sources if isinstance(stage, JudgeSingles) else ()
            if unknown := [name for name in drawn if name not in names]:
                raise FaultAt(
                    f"stage {stage.stage}: no source is called {unknown[0]!r}; there are "
                    f"{', '.join(names)}",
                    "stages",
                    at,
                )
        return self

    @model_validator(mode="after")
    def _named_apart(self) -> Self:
        names = [source.called for source in self.sources]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"two sources are called {twice[0]!r}: give one a name of its own")
        return self


def read_construct_recipe(path: Path) -> ConstructRecipe:
    """Reads a recipe.

    Raises:
        DataError: the file is missing or is not a recipe; the message names line and field.
    """
    return read_fields(path, ConstructRecipe, "recipe")
