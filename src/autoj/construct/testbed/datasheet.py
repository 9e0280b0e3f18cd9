"""The facts of a frozen testbed: sources, annotators, agreement, and what was left out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autoj.construct.testbed.folder import Testbed
from autoj.construct.testbed.labels import Labelling
from autoj.records import WINNERS, Winner


@dataclass(frozen=True, slots=True, kw_only=True)
class Datasheet:
    """The facts of a frozen testbed."""

    title: str
    licence: str | None
    made_by: str
    """The program and its version."""
    choices: Mapping[str, Any]
    """The choices of the freeze."""
    missing: tuple[str, ...]
    """The parts that are not complete, in words; empty for a complete testbed."""
    record: Mapping[str, Any]
    """The record of the build: settings, files with digests, models."""
    counts: Mapping[str, Any]
    """The counts of the last build that read files."""
    files: Mapping[str, Mapping[str, Any]]
    """The sha256 and the rows of each file."""
    scenarios: tuple[Mapping[str, Any], ...]
    """Per scenario its pairs, by label and by origin."""
    states: Mapping[str, int]
    """Pairs by the way their label came about."""
    sources: Mapping[str, int]
    """Pairs by the source of their query."""
    responses_by: Mapping[str, int]
    """Responses of Eval-P by the model that wrote them; "unknown" where a file names none."""
    dropped: Mapping[str, int]
    """Rows that could not serve, by reason."""
    annotators: tuple[Mapping[str, int], ...]
    """The counts of each annotator; they are numbered."""
    agreement: tuple[Mapping[str, Any], ...]
    """Each two annotators on the pairs that both answered."""
    logprobs: tuple[int, int]
    """Samples of Eval-R with a log-probability, and all of them."""

    @classmethod
    def of(
        cls, testbed: Testbed, labelling: Labelling, labels: Mapping[str, Winner], **given: Any
    ) -> "Datasheet":
        """The datasheet of a testbed.

        Args:
            testbed: the testbed.
            labelling: its labels with their origins.
            labels: those that are frozen, by case id.
            given: the fields that do not follow from these.
        """
        pairs = testbed.pairs()
        frozen = [pair for pair in pairs if pair.case.id in labels]
        ids = {pair.case.id for pair in frozen}
        samples = [
            response
            for case in testbed.candidates()
            if case.meta["case_id"] in ids
            for response in case.responses
        ]
        responses = [response for pair in frozen for response in pair.case.responses]
        numbers = {one.annotator: at for at, one in enumerate(labelling.annotators, start=1)}
        counted = [
            {"number": numbers[one.annotator]}
            | {name: n for name, n in asdict(one).items() if name != "annotator"}
            for one in labelling.annotators
        ]
        return cls(
            record=_without_folders(testbed.record()),
            counts=_counts(testbed),
            scenarios=tuple(
                _scenario(name, [pair for pair in frozen if pair.case.scenario == name], labels)
                for name in testbed.settings().scenarios
            ),
            states=_counted(label.state for label in labelling.labels),
            sources=_counted(pair.case.source or "unnamed" for pair in frozen),
            responses_by=_counted(response.model or "unknown" for response in responses),
            dropped=_counted(item.reason for item in testbed.dropped()),
            annotators=tuple(counted),
            agreement=tuple(
                {
                    "annotators": [numbers[name] for name in found.annotators],
                    "kappa": asdict(found.kappa),
                    "same_answer": asdict(found.same_answer),
                }
                for found in labelling.agreement
            ),
            logprobs=(sum(one.logprob is not None for one in samples), len(samples)),
            **given,
        )

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def _without_folders(record: dict[str, Any]) -> dict[str, Any]:
    """A build's record with the names of its files alone: a folder's says who made it."""
    named = {
        kind: [{**entry, "path": Path(entry["path"]).name} for entry in record[kind]]
        for kind in ("pairs", "queries", "exclude")
    }
    return record | named


def _counts(testbed: Testbed) -> dict[str, Any]:
    """The counts of the last build; of each training file one row for pairs and queries."""
    counts = asdict(testbed.counts())
    merged: dict[str, dict[str, Any]] = {}
    for found in counts["contamination"]:
        name = Path(found["path"]).name
        row = merged.setdefault(name, {"path": name, "n_rows": found["n_rows"], "n_shared": 0})
        row["n_shared"] += found["n_shared_ours"]
    return counts | {"contamination": list(merged.values())}


def _scenario(name: str, pairs: Sequence[Any], labels: Mapping[str, Winner]) -> dict[str, Any]:
    by_label = Counter(labels[pair.case.id] for pair in pairs)
    by_origin = Counter(pair.origin for pair in pairs)
    return {
        "scenario": name,
        "n": len(pairs),
        **{label: by_label[label] for label in WINNERS},
        **{origin: by_origin[origin] for origin in ("labelled", "unlabelled", "made")},
        "eval_c": sum(pair.in_critique for pair in pairs),
        "eval_r": sum(pair.in_rating for pair in pairs),
    }


def _counted(names: Iterable[str]) -> dict[str, int]:
    counts = Counter(names)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
