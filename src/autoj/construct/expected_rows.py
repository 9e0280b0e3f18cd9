"""The expected rows of each stage, and what its teacher is asked, from counts and assumptions."""

from dataclasses import dataclass, field
from pathlib import Path

from autoj.construct.declared import Assumed
from autoj.construct.estimate import CHARACTERS_PER_TOKEN, WRITTEN_TOKENS
from autoj.construct.negatives import wanted_kinds
from autoj.construct.pair_judgments import pair_spec
from autoj.construct.recipe import (
    Classify,
    Collect,
    ConstructRecipe,
    Decontaminate,
    Deduplicate,
    JudgePairs,
    JudgeSingles,
    Mathematics,
    Mix,
    Negatives,
    PairFile,
    Stage,
)
from autoj.construct.single_judgments import MERGED, single_specs
from autoj.construct.stage_work import Job, outcomes_of, own_scenarios
from autoj.construct.stages import StageFolder
from autoj.datasets import is_at_hand
from autoj.errors import ConfigError, DataError
from autoj.records import Case, Response
from autoj.runs import RunSpec
from autoj.runs.budget import Budget, price_usd
from autoj.runs.watch import Watch
from autoj.scenarios import load_library


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedSource:
    """A source of the recipe."""

    name: str
    n_rows: int
    n_kept: float
    """Of them, those that stage collect keeps."""
    is_counted: bool
    """True where the rows were read, False where the recipe declares them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedStage:
    """A stage of the recipe."""

    stage: str
    n_in: int
    n_kept: int
    n_made: int = 0
    """They are among the kept ones."""
    n_requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None
    """None where nobody is asked, or the teacher's card states no prices."""


@dataclass(slots=True)
class ExpectedRows:
    """The expected rows after a stage."""

    pairs: dict[str, float] = field(default_factory=dict)
    """By scenario; fractions of rows add up."""
    judged: dict[str, float] = field(default_factory=dict)
    """Those of them that have a judgment."""
    n_singles: float = 0
    n_made: float = 0

    def add(self, scenario: str, n: float) -> None:
        """Adds pairs of a scenario."""
        self.pairs[scenario] = self.pairs.get(scenario, 0.0) + n

    def total(self) -> float:
        """All rows."""
        return sum(self.pairs.values()) + self.n_singles + self.n_made


def collect_expected(
    recipe: ConstructRecipe, source: PairFile, stage: Collect, rows: ExpectedRows, watch: Watch
) -> ExpectedSource:
    """Adds the rows of a source: counted where it is at hand, else as declared.

    Raises:
        DataError: it is neither at hand nor declared.
    """
    if is_at_hand(Path(source.data)):
        return _counted(recipe, source, stage, rows, watch)
    if source.declared is None:
        raise DataError(
            "is not at hand, and the recipe does not declare its rows",
            path=Path(source.data),
            hint="Fetch it, or add `declared: {rows: …}` to this source.",
        )
    n_rows = min(source.declared.rows, source.limit or source.declared.rows)
    n_kept = n_rows * source.declared.kept
    named = (source.scenario,) if source.scenario is not None else source.declared.scenarios
    shares = dict.fromkeys(named, 1 / len(named)) if named else _shares(recipe, source)
    library = load_library(own_scenarios(recipe))
    for scenario, share in shares.items():
        rows.add(library.find(scenario).name, n_kept * share)
    return ExpectedSource(name=source.called, n_rows=n_rows, n_kept=n_kept, is_counted=False)


def _counted(
    recipe: ConstructRecipe, source: PairFile, stage: Collect, rows: ExpectedRows, watch: Watch
) -> ExpectedSource:
    """Adds the rows that stage collect keeps of a source; nothing is written."""
    job = Job(
        recipe=recipe.model_copy(update={"sources": (source,)}),
        before=None,
        folder=StageFolder(Path(source.data), stage.stage),
        train=Path(source.data),
        budget=Budget(),
        watch=watch,
    )
    n_rows = n_kept = 0
    unnamed = 0
    for outcome in outcomes_of(stage, job):
        n_rows += 1
        watch.progress(f"{stage.stage}: {source.called}", n_rows, n_rows)
        if isinstance(outcome, Case):
            n_kept += 1
            if outcome.scenario is None:
                unnamed += 1
            else:
                rows.add(outcome.scenario, 1)
    library = load_library(own_scenarios(recipe))
    for scenario, share in _shares(recipe, source).items() if unnamed else ():
        rows.add(library.find(scenario).name, unnamed * share)
    return ExpectedSource(name=source.called, n_rows=n_rows, n_kept=n_kept, is_counted=True)


def _shares(recipe: ConstructRecipe, source: PairFile) -> dict[str, float]:
    """The share of queries of each scenario.

    Raises:
        ConfigError: the recipe states none.
    """
    if not recipe.assumed.shares:
        raise ConfigError(
            f"the scenarios of source {source.called!r} are not known before they are named",
            hint="For a dry run, add `assumed: {shares: {planning: 0.1, …}}` to the recipe, or "
            "`scenarios` to what it declares of the source.",
        )
    return recipe.assumed.shares


def lead_through(stage: Stage, rows: ExpectedRows, recipe: ConstructRecipe) -> ExpectedStage | None:
    """Leads the rows through a stage; None for one that cannot be estimated."""
    n_in = round(rows.total())
    asked = _Asked()
    n_made = 0
    match stage:
        case Deduplicate() | Decontaminate() | Classify():
            for scenario, n in rows.pairs.items():
                rows.pairs[scenario] = n * kept_share(stage, recipe)
        case JudgePairs():
            asked = _judge_pairs(stage, rows, recipe)
        case JudgeSingles():
            asked = _judge_singles(stage, rows, recipe)
            n_made = round(rows.n_singles)
        case Negatives():
            n_made = sum(wanted_kinds(stage, round(sum(rows.pairs.values()))).values())
            rows.n_made += n_made
        case Mathematics():
            n_made = stage.pairs + stage.singles
            rows.n_made += n_made
        case Mix():
            pass
        case _:
            return None
    return ExpectedStage(
        stage=stage.stage,
        n_in=n_in,
        n_kept=round(rows.total()),
        n_made=n_made,
        n_requests=round(asked.n_requests),
        prompt_tokens=round(asked.prompt_tokens),
        completion_tokens=round(asked.completion_tokens),
        usd=asked.usd,
    )


def kept_share(
    stage: Deduplicate | Decontaminate | Classify | JudgePairs | JudgeSingles,
    recipe: ConstructRecipe,
) -> float:
    """The share of rows, or of a teacher's judgments, that a stage is assumed to keep."""
    return recipe.assumed.kept.get(stage.stage, 1.0)


@dataclass(slots=True, kw_only=True)
class _Asked:
    """The requests of a stage."""

    n_requests: float = 0
    prompt_tokens: float = 0
    completion_tokens: float = 0
    usd: float | None = None

    def add(self, spec: RunSpec, n_requests: float, prompt_tokens: float) -> None:
        """Adds requests with prompts of a mean length."""
        written = n_requests * min(WRITTEN_TOKENS, spec.decoding.max_tokens)
        read = n_requests * prompt_tokens
        self.n_requests += n_requests
        self.prompt_tokens += read
        self.completion_tokens += written
        price = price_usd(spec.judge, round(read), round(written))
        if price is not None:
            self.usd = (self.usd or 0.0) + price


def _judge_pairs(stage: JudgePairs, rows: ExpectedRows, recipe: ConstructRecipe) -> _Asked:
    """Asks, of each scenario, until its quota is reached or no pair is left."""
    spec = pair_spec(stage, own_scenarios(recipe))
    share = kept_share(stage, recipe)
    asked = _Asked()
    n_orders = 2 if stage.orders == "both" else 1
    for scenario, n in rows.pairs.items():
        n_asked = min(n, stage.quota / share) if share else n
        asked.add(spec, n_asked * n_orders, _prompt_tokens(scenario, spec, (0, 1), recipe.assumed))
        rows.judged[scenario] = n_asked * share
    rows.pairs = dict(rows.judged)
    return asked


def _judge_singles(stage: JudgeSingles, rows: ExpectedRows, recipe: ConstructRecipe) -> _Asked:
    """Asks three times about each response, up to the quotas and the total."""
    drawn = {scenario: min(n, stage.quota) for scenario, n in rows.pairs.items()}
    total = sum(drawn.values())
    cut = min(1.0, stage.total / total) if stage.total is not None and total else 1.0
    asked = _Asked()
    for name, spec in single_specs(stage, own_scenarios(recipe)).items():
        for scenario, n in drawn.items():
            # The request that joins two critiques reads both.
            tokens = _prompt_tokens(scenario, spec, (0,), recipe.assumed)
            asked.add(spec, n * cut, tokens + (2 * WRITTEN_TOKENS if name == MERGED else 0))
    rows.n_singles = total * cut * kept_share(stage, recipe)
    return asked


def _prompt_tokens(scenario: str, spec: RunSpec, shown: tuple[int, ...], assumed: Assumed) -> float:
    """The tokens of a prompt about texts of the assumed lengths."""
    response = Response(text="x" * assumed.response_characters)
    case = Case(
        id="assumed",
        query="x" * assumed.query_characters,
        responses=(response,) * len(shown),
        scenario=scenario,
        cluster="assumed",
        critiques=("", ""),
    )
    messages = spec.chosen_protocol().build(case, shown).messages
    return sum(len(message.content) for message in messages) / CHARACTERS_PER_TOKEN
