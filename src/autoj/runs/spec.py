"""The settings of a run: everything that decides its questions and verdicts."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from autoj.errors import ConfigError
from autoj.protocols import (
    OwnProtocol,
    by_scenarios,
    find_protocol,
    load_shipped,
    needs_reference,
    needs_scenario,
    protocol_from,
    protocols_of,
    reader_for,
)
from autoj.protocols.base import JudgeProtocol, Subject, is_by_case, is_by_menu
from autoj.records import Calibration, Case, Decoding, JudgeCard, SureThreshold
from autoj.runs.fit import OnOverflow
from autoj.runs.scenario_settings import (
    OnUnknownScenario,
    OwnScenarios,
    UsedClassifier,
    find_classifier,
    find_own_scenarios,
    library_of,
)
from autoj.runs.second_order import SecondOrder, read_second_order
from autoj.runs.shards import Shard
from autoj.runs.spec_checks import check_critic, check_draws, check_lock, check_second_order
from autoj.scenarios import Library
from autoj.verdicts.resolve import OnConflict

Task = Literal["judge", "rate", "compare", "select", "classify"]
Orders = Literal["both", "one", "shuffled"]
_SUBJECTS: dict[Task, Subject] = {
    "judge": "pair", "rate": "response", "compare": "critiques", "select": "pair",
    "classify": "query",
}  # fmt: skip
_KEPT = Path("run.json")
"""The file that keeps a run's own prompt, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """All settings that decide a run's questions and verdicts."""

    task: Task
    """"judge" compares two responses, "rate" rates each response, "compare" compares two
    critiques of one response, "select" picks from N responses by comparing pairs of them,
    "classify" names each query's scenario."""
    judge: JudgeCard
    protocol: str
    decoding: Decoding
    orders: Orders = "both"
    """"shuffled" asks each pair in one order, chosen by `seed` and the case's id."""
    on_conflict: OnConflict | None = None
    critique: bool = False
    """True where a verdict-only protocol is followed by a critique."""
    critic: JudgeCard | None = None
    """The judge that writes the critiques; None is the one that gives the verdicts."""
    on_overflow: OnOverflow = "error"
    reject_empty: bool = False
    skip_bad_rows: bool = False
    limit: int | None = None
    """The most cases to judge."""
    seed: int | None = None
    """Determines the orders of `shuffled`."""
    sample: int | None = None
    """The number of this sample of the questions; None is the first. Where a run asks several
    times, the number of this set of samples."""
    samples: int | None = None
    """Samples per question, at least 2; None is one."""
    shard: str | None = None
    """The part of the cases to judge, as `shards.Shard` writes it; None judges all."""
    classifier: UsedClassifier | None = None
    """The classifier that names the scenarios of rows without one; None leaves them without."""
    unknown_scenario: OnUnknownScenario | None = None
    """The treatment of rows whose scenario is unknown; None is an error, or keeps the name where
    scenarios are what is asked for."""
    scenarios: OwnScenarios | None = None
    """The user's own scenarios; None is ours alone."""
    second_order: SecondOrder | None = None
    """The pairs whose second order is asked; None asks that of all pairs. Another value is no other
    run: it asks what it lacks."""
    prompt: str | None = None
    """The text of the prompt's file, where the protocol is a user's own; None where it is ours."""

    @property
    def writing(self) -> "RunSpec":
        """The settings by which critiques are asked for after the verdicts."""
        if self.critic is None:
            return self
        return replace(self, judge=self.critic, decoding=self.critic.decoding, critic=None)

    @property
    def priced_judge(self) -> JudgeCard:
        """The card with the prices of all answers; it has none where two judges answer."""
        if self.critic is None:
            return self.judge
        return replace(
            self.judge,
            usd_per_million_prompt_tokens=None,
            usd_per_million_completion_tokens=None,
        )

    @property
    def n_draws(self) -> int:
        """Samples per question."""
        return self.samples or 1

    @property
    def draws(self) -> range:
        """The numbers of each question's samples; different sets of samples share none."""
        first = (self.sample or 0) * self.n_draws
        return range(first, first + self.n_draws)

    @property
    def paired(self) -> bool:
        """True where a verdict is on two things together, not on each by itself."""
        return self.task not in ("rate", "classify")

    @property
    def has_orders(self) -> bool:
        """True where a page shows two things, so that one of them is first."""
        return self.paired and not self.plain_protocol.reads_alone

    @property
    def calibration(self) -> Calibration | None:
        """The calibration for the protocol; None where the card has none."""
        return self.judge.calibration.get(self.protocol) if self.paired else None

    @property
    def sure_threshold(self) -> SureThreshold | None:
        """The confidence below which its verdicts are unsure; None where the card has none."""
        return self.judge.unsure.get(self.protocol) if self.paired else None

    @property
    def library(self) -> Library:
        """The scenarios that rows may name.

        Raises:
            DataError: the user's own are gone or have changed since the run started.
        """
        return library_of(self.scenarios)

    @property
    def needs_scenario(self) -> bool:
        """True where the judge is asked by the criteria of a case's scenario."""
        return needs_scenario(self.plain_protocol)

    @property
    def needs_reference(self) -> bool:
        """True where the judge is shown a case's reference answer."""
        return needs_reference(self.plain_protocol)

    @property
    def on_unknown_scenario(self) -> OnUnknownScenario:
        """The treatment of rows whose scenario is unknown."""
        return self.unknown_scenario or ("keep" if self.task == "classify" else "error")

    @property
    def plain_protocol(self) -> JudgeProtocol:
        """The protocol without the run's scenarios, which may be gone by the time it is shown.

        Raises:
            DataError: the prompt in the run's settings is damaged.
        """
        if self.prompt is not None:
            return protocol_from(self.prompt, _KEPT)
        # By name alone: a stranger's run folder could name any file.
        return load_shipped(self.protocol)

    def chosen_protocol(self) -> JudgeProtocol:
        """The protocol, with the run's scenarios."""
        protocol = self.plain_protocol
        return protocol if self.scenarios is None else by_scenarios(protocol, self.library)

    def reader(self, case: Case) -> JudgeProtocol:
        """The protocol that reads the answers about a case."""
        protocol = self.plain_protocol
        if not (is_by_case(protocol) or is_by_menu(protocol)):
            return protocol
        return reader_for(self.chosen_protocol(), case)


def make_spec(
    task: Task,
    card: JudgeCard,
    *,
    protocol: str | None = None,
    critique: bool | None = None,
    critic: JudgeCard | None = None,
    max_tokens: int | None = None,
    orders: Orders = "both",
    on_conflict: OnConflict | None = None,
    on_overflow: OnOverflow = "error",
    reject_empty: bool = False,
    skip_bad_rows: bool = False,
    limit: int | None = None,
    seed: int | None = None,
    sample: int | None = None,
    samples: int | None = None,
    temperature: float | None = None,
    shard: str | None = None,
    classifier: str | None = None,
    unknown_scenario: OnUnknownScenario | None = None,
    scenarios: Path | None = None,
    second_order: str | None = None,
    always_full: float | None = None,
) -> RunSpec:
    """Makes a spec, with the card's defaults for all that is left out.

    Args:
        task: the task.
        card: the judge.
        protocol: a name, or the file of a prompt (`….md`); None takes the card's first one that
            fits the task, prompts of its own before protocols.
        critique: None follows the card where the protocol is its default, else writes none.
        critic: the judge that writes the critiques for the verdicts; None is the judge itself.
        max_tokens: the most tokens of a completion; None takes the card's.
        orders: ask a pair in "both" orders, in "one" (the case's own), or in a random one
            ("shuffled").
        on_conflict: the rule where both orders disagree; None as in `verdicts.resolve`.
        on_overflow: the treatment of a case that is too long for the judge's context.
        reject_empty: True makes an empty response a bad row.
        skip_bad_rows: True leaves out rows that cannot be read.
        limit: the most cases to judge; None judges all.
        seed: determines the orders of `shuffled`; None is 0 there.
        sample: the number of this sample of the same questions.
        samples: samples per question; the verdict is their vote, or the mean of ratings.
        temperature: of samples, 0 or more; None takes the card's.
        shard: the part of the cases to judge: `3/8` is the third of eight.
        classifier: names the scenarios of rows without one: "fast", "best", or a folder that
            `autoj train classifier` wrote; None leaves them without.
        unknown_scenario: the treatment of rows whose scenario is unknown.
        scenarios: a folder with scenarios of the user's own.
        second_order: "unsure" asks the second order of a pair only where the first one's largest
            probability is below the threshold of the card, "unsure:0.8" below one of your own;
            None asks both orders of all pairs.
        always_full: with `second_order`, the share of the pairs, 0 to 1, drawn at random, that is
            asked in both orders all the same; None is a tenth.

    Raises:
        UnknownComponent: there is no such protocol.
        DataError: the folder of scenarios or the prompt's file is invalid.
        ConfigError: the protocol does not fit the task, the settings contradict each other, or the
            judge was trained on other prompts.
    """
    wanted = _SUBJECTS[task]
    chosen = find_protocol(card, protocol) if protocol else _default_protocol(card, wanted)
    if chosen.subject != wanted:
        raise ConfigError(
            f"protocol {chosen.name!r} judges a {chosen.subject}, and autoj {task} needs one that "
            f"judges a {wanted}"
        )
    check_lock(card, chosen)
    if chosen.reads_alone and (orders != "both" or on_conflict is not None):
        flag = f"--orders {orders}" if orders != "both" else f"--on-conflict {on_conflict}"
        raise ConfigError(
            f"{flag} cannot be used with protocol {chosen.name!r}: it rates each response alone, "
            "so there are no two orders that could disagree"
        )
    if on_conflict == "probability" and not chosen.gives_probabilities:
        raise ConfigError(
            f"--on-conflict probability needs probabilities, and protocol {chosen.name!r} gives "
            "none; use tie or unresolved, or a verdict-only protocol"
        )
    decoding = card.decoding
    if max_tokens is not None:
        decoding = replace(decoding, max_tokens=max_tokens)
    if temperature is not None:
        decoding = replace(decoding, temperature=temperature)
    check_draws(card, chosen, decoding, 1 if samples is None else samples)
    check_second_order(chosen, orders, samples, second_order, always_full)
    if critic is not None:
        check_critic(critic, chosen, critique)
    part = None if shard is None else Shard.parse(shard)
    return RunSpec(
        task=task,
        judge=card,
        protocol=chosen.name,
        decoding=decoding,
        orders=orders,
        on_conflict=on_conflict,
        critique=(
            critic is not None or (card.critique and protocol is None)
            if critique is None
            else critique
        ),
        critic=critic,
        on_overflow=on_overflow,
        reject_empty=reject_empty,
        skip_bad_rows=skip_bad_rows,
        limit=limit,
        seed=(seed or 0) if orders == "shuffled" else seed,
        sample=sample,
        samples=None if samples == 1 else samples,
        shard=None if part is None else str(part),
        classifier=None if classifier is None else find_classifier(classifier),
        unknown_scenario=unknown_scenario,
        scenarios=None if scenarios is None else find_own_scenarios(scenarios),
        second_order=(
            None
            if second_order is None
            else read_second_order(second_order, card, chosen.name, always_full)
        ),
        prompt=chosen.source if isinstance(chosen, OwnProtocol) else None,
    )


def _default_protocol(card: JudgeCard, subject: str) -> JudgeProtocol:
    for protocol in protocols_of(card):
        if protocol.subject == subject:
            return protocol
    raise ConfigError(
        f"judge {card.name!r} has no protocol that judges a {subject}; choose one with --protocol"
    )
