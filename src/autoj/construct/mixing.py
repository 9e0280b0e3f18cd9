"""Writes the training files of a construction, in our layout and in those of other trainers.

```
train.jsonl                native rows, for `autoj train`, which shows both orders by itself
validation.jsonl           a share of the queries, for `--validation`
held_out.jsonl             rows of the scenarios that are left out of training (Appendix C)
release.jsonl              the layout of the paper's release: rendered prompts and judgments
messages.jsonl             chats of a user's and an assistant's message
preference.jsonl           prompt, chosen, rejected, as texts
preference_messages.jsonl  the same as messages, for trainers that apply a chat template
```
The last four hold what is in `train.jsonl`: those with prompts its rows that have a judgment, and
those with preferences its decided pairs. Where pairs are swapped, each judgment is in both orders,
so that order cannot be learnt (paper, section 4). Rows are read and written one by one.
"""

import hashlib
from collections import Counter, defaultdict
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

_FILES = (
    "train", "validation", "held_out", "release", "messages", "preference", "preference_messages",
)  # fmt: skip
_SWAPPED: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedFiles:
    """The number of rows of each file, and statistics of the rows to train on."""

    n_train: int
    n_validation: int
    n_held_out: int
    n_release: int
    """Also of the chats."""
    n_preference: int
    """Of each of the two files."""
    pairs: dict[str, dict[str, int]]
    """Table 20 of the rows in `train.jsonl`, each once: of pairs the numbers by `label`, `source`,
    `scenario`, and `judgment`, which says who wrote it or how the pair was made."""
    singles: dict[str, dict[str, int]]
    """Table 21, likewise: of single responses the numbers by `rating` and `scenario`."""


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
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    singles: dict[str, Counter[str]] = defaultdict(Counter)
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
            table = pairs if len(case.responses) == 2 else singles
            for column, value in _statistics(case):
                table[column][value] += 1
            for version in _versions(case, stage.swap):
                prompt = _prompt(version)
                write("release", _release_row(version, prompt))
                write("messages", _messages_row(version, prompt))
            if case.label in ("a", "b"):
                write("preference", _preference_row(case))
                write("preference_messages", _preference_messages_row(case))
    return MixedFiles(
        n_train=counts["train"],
        n_validation=counts["validation"],
        n_held_out=counts["held_out"],
        n_release=counts["release"],
        n_preference=counts["preference"],
        pairs={column: dict(counted.most_common()) for column, counted in pairs.items()},
        singles={column: dict(counted.most_common()) for column, counted in singles.items()},
    )


def _statistics(case: Case) -> Iterator[tuple[str, str]]:
    """The columns of Table 20 or 21 with the values of one row."""
    yield "scenario", case.scenario or "none"
    if len(case.responses) == 1:
        yield "rating", f"{case.label:g}" if isinstance(case.label, float) else "none"
        return
    yield "label", str(case.label)
    yield "source", case.source or "none"
    teacher, made = case.meta.get("teacher"), case.meta.get("made")
    if made is not None:
        yield "judgment", f"made: {made}"
    elif _judgment(case) is None:
        yield "judgment", "none"
    else:
        yield "judgment", f"by {teacher}" if teacher is not None else "of the source"


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


def _release_row(case: Case, prompt: str) -> dict[str, Any]:
    if len(case.responses) == 1:
        labels: dict[str, Any] = {"pred_score": case.label}
    else:
        assert case.label in WINNERS
        label = WINNERS.index(case.label)
        labels = {"gt_label": label, "pred_label": label}
    return {
        "usermsg": prompt,
        "target_output": _judgment(case),
        **labels,
        "scenario": case.scenario,
        "source_dataset": case.source,
    }


def _messages_row(case: Case, prompt: str) -> dict[str, Any]:
    return {"messages": [_message("user", prompt), _message("assistant", _judgment(case))]}


def _message(role: str, content: str | None) -> dict[str, str | None]:
    return {"role": role, "content": content}


def _preference_row(case: Case) -> dict[str, Any]:
    """A decided pair; a tie has no rejected response."""
    better, worse = case.responses if case.label == "a" else case.responses[::-1]
    return {"prompt": case.query, "chosen": better.text, "rejected": worse.text}


def _preference_messages_row(case: Case) -> dict[str, Any]:
    texts = _preference_row(case)
    return {
        "prompt": [_message("user", texts["prompt"])],
        "chosen": [_message("assistant", texts["chosen"])],
        "rejected": [_message("assistant", texts["rejected"])],
    }
