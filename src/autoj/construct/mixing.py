"""Writes the training files of a construction, in our layout and in those of other trainers.

```
train.jsonl         native rows, for `autoj train`, which shows pairs in both orders by itself
validation.jsonl    a share of the queries, for `--validation`
held_out.jsonl      rows of the scenarios that are left out of training (Appendix C)
release.jsonl       the layout of the paper's release: rendered prompts and judgments
messages.jsonl      chats of a user's and an assistant's message (TRL, Axolotl, LLaMA-Factory)
preference.jsonl    prompt, chosen, rejected (TRL)
```
The last three hold what is in `train.jsonl`; where pairs are swapped, each judgment in both
orders, so that order cannot be learnt (paper, section 4).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autoj.construct.recipe import Mix
from autoj.construct.stages import native_row, replaced_files
from autoj.critiques import swap_responses
from autoj.jsonl import encode
from autoj.protocols import load_protocol
from autoj.records import WINNERS, Case, Winner, normalise_query

_FILES = ("train", "validation", "held_out", "release", "messages", "preference")
_SWAPPED: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedFiles:
    """The number of rows of each file."""

    n_train: int
    n_validation: int
    n_held_out: int
    n_release: int
    """Also of the chats."""
    n_preference: int


def write_mix(cases: Iterable[Case], stage: Mix, folder: Path, seed: int) -> MixedFiles:
    """Writes the training files, in the order of the cases.

    Args:
        cases: labelled pairs and rated responses, read lazily; judgments are in `meta.judgment`.
        stage: the held-out scenarios, the share of validation, and swapping.
        folder: the folder of the files.
        seed: the seed of the draw of queries for validation.

    Raises:
        StorageFull: the disk is full.
    """
    counts: Counter[str] = Counter()
    with replaced_files(folder, [f"{name}.jsonl" for name in _FILES]) as streams:
        files = dict(zip(_FILES, streams, strict=True))

        def write(name: str, row: dict[str, Any]) -> None:
            files[name].write(encode(row))
            counts[name] += 1

        for case in cases:
            part = _part(case, stage, seed)
            write(part, native_row(case))
            if part != "train":
                continue
            for version in _versions(case, stage.swap):
                write("release", _release_row(version))
                write("messages", _messages_row(version))
            if case.label in ("a", "b"):
                write("preference", _preference_row(case))
    return MixedFiles(
        n_train=counts["train"],
        n_validation=counts["validation"],
        n_held_out=counts["held_out"],
        n_release=counts["release"],
        n_preference=counts["preference"],
    )


def _part(case: Case, stage: Mix, seed: int) -> str:
    """The file of a row; all rows of a query are in one."""
    if case.scenario in stage.held_out:
        return "held_out"
    query = case.meta.get("original_query")
    # A translation goes where its original is: training on it would teach the validation's answers.
    cluster = normalise_query(query) if isinstance(query, str) else case.cluster
    return "validation" if _drawn(cluster, seed) < stage.validation else "train"


def _drawn(name: str, seed: int) -> float:
    """A number from 0 to 1 that follows from a name and the seed."""
    digest = hashlib.sha256(f"{seed} {name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / 2**64


def _judgment(case: Case) -> str | None:
    found = case.meta.get("judgment")
    return found if isinstance(found, str) else None


def _versions(case: Case, swap: bool) -> Iterator[Case]:
    """A judged case twice: a pair the second time with its responses swapped."""
    judgment = _judgment(case)
    if judgment is None:
        return
    yield case
    if swap and len(case.responses) == 1:
        # As often as a pair, so that pairs do not outweigh single responses (section 4).
        yield case
    elif swap:
        assert case.label in WINNERS
        yield replace(
            case,
            id=f"{case.id}+swapped",
            responses=case.responses[::-1],
            label=_SWAPPED[case.label],
            meta={**case.meta, "judgment": swap_responses(judgment)},
        )


def _prompt(case: Case) -> str:
    """The judge's prompt (Tables 16 and 17), without criteria, as the paper trains it."""
    name = "pairwise" if len(case.responses) == 2 else "single"
    protocol = load_protocol(name + "-zh" * (case.language == "zh"))
    return protocol.build(case, tuple(range(len(case.responses)))).messages[0].content


def _release_row(case: Case) -> dict[str, Any]:
    if len(case.responses) == 1:
        labels: dict[str, Any] = {"pred_score": case.label}
    else:
        assert case.label in WINNERS
        label = WINNERS.index(case.label)
        labels = {"gt_label": label, "pred_label": label}
    return {
        "usermsg": _prompt(case),
        "target_output": _judgment(case),
        **labels,
        "scenario": case.scenario,
        "source_dataset": case.source,
    }


def _messages_row(case: Case) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "user", "content": _prompt(case)},
            {"role": "assistant", "content": _judgment(case)},
        ]
    }


def _preference_row(case: Case) -> dict[str, Any]:
    """A decided pair; a tie has no rejected response."""
    better, worse = case.responses if case.label == "a" else case.responses[::-1]
    return {"prompt": case.query, "chosen": better.text, "rejected": worse.text}
