"""What an embedded judge's last states are, and the scores that follow from them, read once."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from autoj.backends import load_backend
from autoj.backends.embedded import EmbeddedBackend
from autoj.backends.embedded.beginnings import arranged, in_batches
from autoj.datasets import open_cases
from autoj.errors import ConfigError
from autoj.jsonl import sha256_of
from autoj.protocols import load_protocol
from autoj.records import Case, JudgeCard, Request

Floats: TypeAlias = npt.NDArray[np.floating[Any]]

LABELS = ("a", "b", "tie")
QUESTIONS = {
    "ratings": ("single-verdict", ((0,), (1,)), LABELS[:2]),
    "comparisons": ("pairwise-verdict", ((0, 1), (1, 0)), LABELS),
}
"""What a judge is asked twice about each pair: the protocol, the responses that are shown, and the
labels of the pairs that are read."""
_PAIRS_A_FILE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Pairs of responses as a judge reads them: each response, or both in either order."""

    states: Floats
    """[n, 2, width]"""
    logprobs: Floats
    """Of the choices, [n, 2, n_choices]."""
    n_characters: Floats
    """Of each response, [n, 2]."""
    labels: npt.NDArray[np.integer[Any]]
    """Indices into `LABELS`, [n]."""

    def __len__(self) -> int:
        return len(self.states)

    def winners_first(self) -> Pairs:
        """The decided pairs, the winner's reading before the loser's."""
        rows = np.flatnonzero(self.labels < LABELS.index("tie"))[:, None]
        order = np.stack([self.labels, 1 - self.labels], axis=1)[rows[:, 0]]
        return replace(
            self,
            states=self.states[rows, order],
            logprobs=self.logprobs[rows, order],
            n_characters=self.n_characters[rows, order],
            labels=np.zeros(len(rows), int),
        )


def read(card: JudgeCard, question: str, data: Path, out: Path) -> Iterator[str]:
    """Reads each pair of a file twice; what is there already is not read again.

    Args:
        card: an embedded judge.
        question: one of `QUESTIONS`.
        data: native rows; ties are read for comparisons alone, pairs without a label never.
        out: the folder of the states.

    Yields:
        A line for each file that was written.

    Raises:
        ConfigError: what is there is of another judge, or of another file of this name.
    """
    engine = load_backend(card)
    assert isinstance(engine, EmbeddedBackend)
    # The folder of the merged weights, whose name is the same with another head.
    made = f"{engine._folder.parent.name}/{engine._folder.name} {sha256_of(data)}"
    protocol, orders, labels = QUESTIONS[question]
    cases = [case for _, case in open_cases(data).readable() if case.label in labels]
    for start in range(0, len(cases), _PAIRS_A_FILE):
        file = out / f"{data.stem}.{question}.{start:05}.npz"
        if file.exists():
            if str(np.load(file)["made"]) != made:
                raise ConfigError(f"{file} is of another judge, or of another {data.name}")
            continue
        begun = time.perf_counter()
        part = cases[start : start + _PAIRS_A_FILE]
        requests = [
            _request(case, number, shown, protocol, card)
            for number, case in enumerate(part)
            for shown in orders
        ]
        found, n_tokens = {}, 0
        for batch in in_batches(arranged([(each, engine._trie(each)) for each in requests])):
            tries = [trie for _, trie in batch]
            n_tokens += sum(trie.n_tokens for trie in tries)
            for (request, _), scores in zip(batch, engine._scorer().read(tries), strict=True):
                found[request.key] = scores
        ordered = [found[each.key] for each in requests]
        draft = out / "draft.npz"
        np.savez(
            draft,
            made=made,
            states=np.array([each.state for each in ordered], np.float16),
            logprobs=np.array([each.logprobs for each in ordered]),
            n_characters=[[len(one.text) for one in case.responses] for case in part],
            labels=[LABELS.index(str(case.label)) for case in part],
        )
        draft.rename(file)
        seconds = time.perf_counter() - begun
        yield f"{file}: {len(part)} pairs, {n_tokens / seconds:.0f} tokens/s"


def _request(
    case: Case, number: int, shown: tuple[int, ...], protocol: str, card: JudgeCard
) -> Request:
    body = load_protocol(protocol).build(case, shown)
    return Request(
        key=f"{number} {shown[0]}",
        judge=card.name,
        case_id=case.id,
        protocol=protocol,
        shown=shown,
        messages=body.messages,
        prefix=body.prefix,
        choices=body.choices,
        decoding=card.decoding,
    )


def load_pairs(states: Path, question: str, *names: str) -> Pairs:
    """The pairs of data files that were read.

    Raises:
        FileNotFoundError: of one, none were.
    """
    files: list[Path] = []
    for name in names:
        named = re.compile(rf"{re.escape(name)}\.{question}\.\d+\.npz")
        found = sorted(file for file in states.iterdir() if named.fullmatch(file.name))
        if not found:
            raise FileNotFoundError(f"{states}: no {question} of {name} were read")
        files += found
    parts = [np.load(file) for file in files]

    def joined(field: str) -> Any:
        return np.concatenate([part[field] for part in parts])

    def by_pair(field: str) -> Floats:
        values = joined(field).astype(float)
        found: Floats = values.reshape(-1, 2, *values.shape[1:])
        return found

    return Pairs(
        states=by_pair("states"),
        logprobs=by_pair("logprobs"),
        n_characters=joined("n_characters").astype(float),
        labels=joined("labels"),
    )
