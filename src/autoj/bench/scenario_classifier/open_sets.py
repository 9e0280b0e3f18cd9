"""The sets that classifiers are measured on: the release's test file, and a second one."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from autoj.bench.scenario_classifier.query_set import BENCH, QuerySet, read_set, without_seen
from autoj.datasets import catalog, open_queries
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios.seeds import known_scenarios, query_digest, seed_files

NO_SET = "none"
"""Names no second set."""
_TEST, _TRAINING, _SECOND = "scenario-classifier-test", "scenario-classifier-train", "eval-p"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetChoice:
    """The choice of sets."""

    data: Path | None = None
    """Queries with their scenarios; None takes the release's test file."""
    second: str | None = None
    """A file, `eval-p` or `none`; None takes Eval-P where it is here and there is no `data`."""
    trained_on: Sequence[Path] = ()
    """Further training data whose queries are left out of the second set."""


def open_sets(choice: SetChoice, watch: Watch = SILENT) -> Iterator[QuerySet]:
    """The test set whole, and the second without the rows whose query is in training data.

    Args:
        choice: the sets.
        watch: told what is read, and what is not there.

    Raises:
        DataError: a file cannot be read, or no row of a set is left.
    """
    training = _training_queries(choice.trained_on)
    path = choice.data or catalog.find(_TEST)
    yield without_seen(_open(path, BENCH, watch), training, keep=True)
    name = choice.second or (_SECOND if choice.data is None else NO_SET)
    if name == NO_SET:
        return
    if choice.second is None and not catalog.is_here(_SECOND):
        watch.message(
            f"{_SECOND} is not on this machine and was left out; autoj data get {_SECOND} gets it"
        )
        return
    if _TRAINING not in training:
        watch.message(
            f"the release's training file is not on this machine: rows of {name} whose query "
            f"is in it are kept (autoj data get {_TRAINING} gets it)"
        )
    path = catalog.find(_SECOND) if name == _SECOND else Path(name)
    bench = _SECOND if name == _SECOND else path.name.partition(".")[0]
    yield without_seen(_open(path, f"{BENCH}-{bench}", watch), training)


def _open(path: Path, bench: str, watch: Watch) -> QuerySet:
    data = open_queries(path)
    watch.message(f"reading {path} as {data.format}")
    return read_set(data, path.name, bench)


def _training_queries(trained_on: Sequence[Path]) -> Mapping[str, Set[str]]:
    """The digests of the queries that classifiers may have learnt from, by the data's name."""
    found: dict[str, Set[str]] = {
        "the seeds": _digests(*seed_files()),
        "the labelled queries": known_scenarios().keys(),
    }
    if catalog.is_here(_TRAINING):
        found[_TRAINING] = _digests(catalog.find(_TRAINING))
    return found | {str(path): _digests(path) for path in trained_on}


def _digests(*paths: Path) -> set[str]:
    return {query_digest(case.query) for path in paths for _, case in open_queries(path).readable()}
