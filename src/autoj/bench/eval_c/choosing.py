"""The comparison of two critics that a caller names: a new one, a stored one, or votes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from autoj.bench.eval_c.critics import CritiqueFile, CritiqueSource, WritingJudge
from autoj.bench.eval_c.measure import (
    ONE_VOTE,
    ComparisonSource,
    Votes,
    comparing_protocol,
    new_comparison,
)
from autoj.bench.sources import StoredRun
from autoj.errors import ConfigError
from autoj.runs.spec_checks import check_one


@dataclass(frozen=True, slots=True)
class NamedCritic:
    """A critic as a caller names it, of which nothing may be given."""

    judge: str | None = None
    """The judge that writes the critiques."""
    file: Path | None = None
    """A file of them."""
    name: str | None = None
    """The critic's name; None takes the judge's, or the file's."""

    @property
    def source(self) -> CritiqueSource | None:
        """The origin of the critiques; None where nothing says it."""
        if self.judge is not None:
            return WritingJudge(judge=self.judge, name=self.name)
        return None if self.file is None else CritiqueFile(path=self.file, name=self.name)


def chosen_comparison(
    critic: NamedCritic,
    against: NamedCritic = NamedCritic(),
    judge: str | None = None,
    *,
    run: Path | None = None,
    votes: Path | None = None,
    language: Literal["en", "zh"] = "en",
    protocol: str | None = None,
    orders: Literal["shuffled", "both"] = "shuffled",
    one_vote: bool = False,
    **settings: Any,
) -> ComparisonSource:
    """The one comparison that is given: of a critic, of a stored run, or of votes.

    Args:
        critic: the critic that wins or loses, of a new comparison.
        against: the other one; without a source the release's reference.
        judge: the one that compares, or that voted.
        run: the folder of a finished comparison.
        votes: a file of votes.
        language: the set's.
        protocol: of the comparison; None takes the one of the set's language.
        orders: as in `comparison_spec`.
        one_vote: whether each case must have one vote, as the release's format wants it.
        settings: further ones of `new_comparison`.

    Raises:
        ConfigError: none is given, or several, or settings exclude each other.
        UnknownComponent: there is no such judge.
    """
    ours, theirs = critic.source, against.source
    check_one(
        {"--critic": critic.judge, "--critiques": critic.file, "--run": run, "--votes": votes},
        reason=": critiques to compare, or an existing comparison",
    )
    check_one({"--against": against.judge, "--against-critiques": against.file}, least=0)
    if ours is None and theirs is not None:
        raise ConfigError(
            "--against cannot be used with --run or --votes, which have both critics already"
        )
    if one_vote and (votes is not None or orders == "both"):
        raise ConfigError(ONE_VOTE)
    compare_by = comparing_protocol(protocol, language)
    if votes is not None:
        return Votes(path=votes, protocol=compare_by, judge=judge)
    if run is not None:
        return StoredRun(run)
    assert ours is not None
    return new_comparison(
        ours,
        theirs,
        judge,
        language=language,
        against=against.name,
        protocol=protocol,
        orders=orders,
        **settings,
    )
