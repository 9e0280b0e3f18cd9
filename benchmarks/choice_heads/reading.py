"""States that a judge answers a question from, kept in a file per 50 pairs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from autoj.backends import load_backend
from autoj.backends.embedded import EmbeddedBackend
from autoj.backends.embedded.beginnings import arranged, in_batches
from autoj.datasets import open_cases
from autoj.errors import ConfigError
from autoj.jsonl import sha256_of
from autoj.judges import load_card
from autoj.protocols import pairwise_verdict, single_verdict
from autoj.records import Case, JudgeCard, Request

Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Asked: TypeAlias = Literal["rating", "comparison"]

_PAIRS_A_FILE = 50
LABELS = ("a", "b", "tie")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Pairs as a judge read them, each by two requests.

    They ask for a rating of each response, or for a comparison in each order. Nothing is read as it
    is with a head: the scores are the model's own.
    """

    states: Floats
    """[n, 2, width]"""
    logprobs: Floats
    """[n, 2, n_choices]"""
    labels: npt.NDArray[np.intp]
    """[n], indices of `LABELS`"""
    n_characters: Floats
    """[n, 2], of both responses"""

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, rows: Any) -> Read:
        return Read(
            states=self.states[rows],
            logprobs=self.logprobs[rows],
            labels=self.labels[rows],
            n_characters=self.n_characters[rows],
        )


def joined(parts: Sequence[Read]) -> Read:
    """All pairs together."""
    return Read(
        states=np.concatenate([part.states for part in parts]),
        logprobs=np.concatenate([part.logprobs for part in parts]),
        labels=np.concatenate([part.labels for part in parts]),
        n_characters=np.concatenate([part.n_characters for part in parts]),
    )


def read(judge: str, asked: Asked, data: Path, out: Path) -> None:
    """Reads each pair of a file; what is there already is not read again.

    Raises:
        ConfigError: what is there is of another judge, or of another file of this name.
    """
    card = load_card(judge)
    engine = load_backend(card)
    assert isinstance(engine, EmbeddedBackend)
    # The folder of the merged weights, whose name is the same with other heads.
    made = f"{engine._folder.parent.name}/{engine._folder.name} {sha256_of(data)}"
    cases = [case for _, case in open_cases(data).readable() if case.label in LABELS]
    for start in range(0, len(cases), _PAIRS_A_FILE):
        file = out / f"{asked}.{data.stem}.{start}.npz"
        if file.exists():
            if str(np.load(file)["made"]) != made:
                raise ConfigError(f"{file} is of another judge, or of another {data.name}")
            continue
        begun = time.perf_counter()
        some = cases[start : start + _PAIRS_A_FILE]
        found, n_tokens = _asked_of(engine, asked, some)
        draft = out / "draft.npz"
        np.savez(draft, made=made, **found)
        draft.rename(file)
        seconds = time.perf_counter() - begun
        print(f"{file}: {len(some)} pairs, {n_tokens / seconds:.0f} tokens/s", flush=True)


def _asked_of(
    engine: EmbeddedBackend, asked: Asked, cases: Sequence[Case]
) -> tuple[dict[str, Any], int]:
    """The arrays of a file, and the number of tokens that were read for it."""
    requests = list(_requests(asked, cases, engine.card))
    found, n_tokens = {}, 0
    for batch in in_batches(arranged([(each, engine._trie(each)) for each in requests])):
        tries = [trie for _, trie in batch]
        n_tokens += sum(trie.n_tokens for trie in tries)
        for (request, _), scores in zip(batch, engine._scorer().read(tries), strict=True):
            found[request.key] = scores
    ordered = [found[each.key] for each in requests]
    states = np.array([each.state for each in ordered], np.float16)
    logprobs = np.array([each.logprobs for each in ordered])
    return {
        "states": states.reshape(len(cases), 2, -1),
        "logprobs": logprobs.reshape(len(cases), 2, -1),
        "labels": np.array([LABELS.index(str(case.label)) for case in cases], np.intp),
        "n_characters": [[len(response.text) for response in case.responses] for case in cases],
    }, n_tokens


def _requests(asked: Asked, cases: Sequence[Case], card: JudgeCard) -> Iterator[Request]:
    protocol = single_verdict.PROTOCOL if asked == "rating" else pairwise_verdict.PROTOCOL
    for number, case in enumerate(cases):
        for shown in ((0,), (1,)) if asked == "rating" else ((0, 1), (1, 0)):
            body = protocol.build(case, shown)
            yield Request(
                key=f"{number} {shown[0]}",
                judge=card.name,
                case_id=case.id,
                protocol=protocol.name,
                shown=shown,
                messages=body.messages,
                prefix=body.prefix,
                choices=body.choices,
                decoding=card.decoding,
            )


def load_read(states: Path, asked: Asked, name: str) -> Read:
    """The pairs of a data file that were read.

    Raises:
        FileNotFoundError: none were.
    """
    named = re.compile(rf"{asked}\.{re.escape(name)}\.(\d+)\.npz")
    found = [
        (int(match[1]), file) for file in states.iterdir() if (match := named.fullmatch(file.name))
    ]
    if not found:
        raise FileNotFoundError(f"{states}: no {asked} of {name} was read")
    return joined([_load(file) for _, file in sorted(found)])


def _load(file: Path) -> Read:
    with np.load(file) as arrays:
        return Read(
            states=arrays["states"].astype(float),
            logprobs=arrays["logprobs"],
            labels=arrays["labels"],
            n_characters=arrays["n_characters"].astype(float),
        )
