"""The settings and the sources of a testbed, and the record of both in its folder."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from autoj.construct.binding import RECIPE
from autoj.datasets import open_queries
from autoj.errors import ConfigError, UnknownComponent
from autoj.jsonl import sha256_of
from autoj.judges import load_card
from autoj.records import JudgeCard
from autoj.scenarios import Library, groups
from autoj.tasks.default_paths import slug


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSettings:
    """The size of a testbed and the rules of its draws; it keeps them for life."""

    scenarios: tuple[str, ...]
    """Names of the library, in the order of the tables."""
    per_scenario: int = 24
    """Pairs of a scenario in Eval-P."""
    n_critique: int = 4
    """Those of them whose less preferred response goes to Eval-C."""
    n_rating: int = 2
    """Those of Eval-C whose query goes to Eval-R."""
    n_samples: int = 32
    """Responses to a query in Eval-R, of each base model."""
    temperature: float = 1.0
    """The temperature at which they are drawn."""
    max_tokens: int | None = None
    """The most tokens of a response; None takes each card's."""
    language: Literal["en", "zh"] = "en"
    """Rows of the other language are left out."""
    seed: int = 0
    """The seed of all draws."""
    classifier: str = "fast"
    """The embedded classifier that names scenarios, or a folder of one."""
    least_probability: float = 0.0
    """A query whose scenario is guessed with a lower probability is dropped as unsure."""
    ngrams: int | None = 13
    """Words per n-gram that text shared with training files is found by; None compares letters and
    digits alone."""
    threshold: float = 0.7
    """The least share of n-grams, of either query, that makes two queries shared."""

    def check(self) -> None:
        """Checks that the parts of a scenario fit into each other.

        Raises:
            ConfigError: Eval-C is larger than Eval-P, or Eval-R larger than Eval-C.
        """
        if not self.per_scenario >= self.n_critique >= self.n_rating >= 0:
            raise ConfigError(
                f"of {self.per_scenario} pairs of a scenario {self.n_critique} cannot go to "
                f"Eval-C and {self.n_rating} of these to Eval-R",
                hint="Each must be at most the one before: --per-scenario, --critique-cases, "
                "--rating-cases.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSources:
    """The files and models that a testbed is made from; later builds may add to each."""

    pairs: tuple[Path, ...]
    """Files of pairs, or folders of constructions."""
    queries: tuple[Path, ...] = ()
    """Files whose queries fill scenarios that are short of pairs."""
    seeds: bool = False
    """True takes the shipped seed queries, too, after those of the files."""
    exclude: tuple[Path, ...] = ()
    """Files that were trained on."""
    policies: tuple[JudgeCard, ...] = ()
    """The models that answer such queries, each pair by two of them."""
    base_models: tuple[JudgeCard, ...] = ()
    """The models that Eval-R is sampled from."""

    def check(self) -> None:
        """Checks that there is something to read and that models can be told apart.

        Raises:
            ConfigError: there is no source, a single policy, or two models of one name.
        """
        if not self.pairs and not self.tops_up:
            raise ConfigError("name a file of pairs, or --queries (or --seeds) to make pairs of")
        if self.tops_up and len(self.policies) < 2:
            raise ConfigError(
                f"queries are answered by two of the policies, found {len(self.policies)}",
                hint="Repeat --policy with two judge cards or more.",
            )
        known: dict[str, JudgeCard] = {}
        for card in (*self.policies, *self.base_models):
            if known.setdefault(slug(card.name), card) != card:
                raise ConfigError(
                    f"two models are called {card.name!r}; give their cards own names"
                )
        for flag, cards in (("--policy", self.policies), ("--base-model", self.base_models)):
            if len(set(names := [card.name for card in cards])) < len(names):
                raise ConfigError(f"{flag} names a model twice: {', '.join(names)}")

    @property
    def tops_up(self) -> bool:
        """True where there are queries to make pairs of."""
        return bool(self.queries) or self.seeds


def scenarios_named(names: tuple[str, ...], library: Library) -> tuple[str, ...]:
    """The scenarios that some names stand for; a group's name stands for all of its own.

    Args:
        names: in any spelling; none stands for all.
        library: the scenarios that there are.

    Raises:
        UnknownComponent: a name is neither that of a scenario nor of a group.
    """
    by_group = {group.casefold(): its for group, its in groups().items()}
    found: dict[str, None] = {}
    for name in names:
        try:
            found[library.find(name).name] = None
        except UnknownComponent:
            if (its := by_group.get(name.strip().casefold())) is None:
                raise
            found.update(dict.fromkeys(its))
    return tuple(found) if names else library.names()


def load_policies(names: tuple[str, ...]) -> tuple[JudgeCard, ...]:
    """The cards of the models that write responses.

    Raises:
        UnknownComponent: there is no such card.
        ConfigError: one is a reward model, which writes nothing.
    """
    cards = tuple(map(load_card, names))
    for card in cards:
        if card.backend == "scalar":
            raise ConfigError(f"{card.name!r} is a reward model: it scores responses, writes none")
    return cards


def record_of(settings: BuildSettings, sources: BuildSources) -> dict[str, Any]:
    """The content of a testbed's record: settings, files with their digests, models.

    Raises:
        DataError: a file is missing.
    """
    return {
        "settings": asdict(settings),
        "pairs": [_file(path) for path in sources.pairs],
        "queries": [_file(path) for path in sources.queries],
        "seeds": sources.seeds,
        "exclude": [_file(path) for path in sources.exclude],
        "policies": list(map(_model, sources.policies)),
        "base_models": list(map(_model, sources.base_models)),
    }


def _file(path: Path) -> dict[str, str]:
    """A file by its content, a data set by all of its; a construction follows from its recipe."""
    is_construction = (path / RECIPE).is_file()
    places = (path / RECIPE,) if is_construction else open_queries(path).paths
    return {"path": str(path), "sha256": " ".join(map(sha256_of, places))}


def _model(card: JudgeCard) -> dict[str, Any]:
    names = ("name", "backend", "model", "revision", "adapter_revision", "wrapper", "licence")
    return {name: getattr(card, name) for name in names}


def changes(there: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """The entries of two records that may not differ: settings, and what was there before.

    Files and models may be added, but none may change or be left out.

    Args:
        there: the record of the folder.
        now: that of the present build.
    """
    for name, was in there["settings"].items():
        # Records are compared as JSON has them: tuples are lists there.
        if was != (found := now["settings"].get(name)):
            yield f"{name}: was {was!r}, is now {found!r}"
    for kind in ("pairs", "queries", "exclude", "policies", "base_models"):
        new = {entry.get("path") or entry["name"]: entry for entry in now[kind]}
        for entry in there[kind]:
            name = entry.get("path") or entry["name"]
            if name not in new:
                yield f"{kind}: {name} is left out now"
            elif new[name] != entry:
                yield f"{kind}: {name} has changed since"
    if there["seeds"] and not now["seeds"]:
        yield "seeds: the seed queries are left out now"
