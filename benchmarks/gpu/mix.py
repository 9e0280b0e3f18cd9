r"""The training data of the embedded judges: votes, made pairs, and judgments written for them.

    python -m benchmarks.gpu.mix --data ../shared/data --judged judged --out mix \
        --embeddings queries.npz --embedded-queries queries.json

writes eight JSONL files, in which no query of a test or validation set occurs. The same arguments
give the same files.

`--judged` is a folder of JSONL files of written judgments of pairs (see `JudgedPair`), here
`traps.jsonl`, `arena_judged_1.jsonl` and so on. `--embeddings` holds an array `x` [n, dimensions],
a row for each text of the list `--embedded-queries`: queries of the votes, cut to 700 characters.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from autoj import critiques
from autoj.construct.borrowing import Borrowing, borrowed_pairs
from autoj.construct.damage import DAMAGES
from autoj.critiques import Factor, PairCritique
from autoj.datasets import open_cases
from autoj.datasets.overlap import find_overlap
from autoj.records import Case, Shown
from autoj.training.judge.prose import pair_factors, single_critique
from benchmarks.gpu.plain_questions import plain_questions

SEED = 11
BORROWING_SEED = 5
PLAIN_SEED = 1
N_VOTES = 4600
N_DAMAGED = 1500
N_PLAIN = 2600
N_RATED = 2600
N_COMPARED = 700
BORROWING = Borrowing(n_against_own=1700, n_ties=160)
EMBEDDED_CHARACTERS = 700

TESTS = [
    "autoj/testdata_pairwise.jsonl",
    "autoj/testdata_critique.jsonl",
    "meta_eval/llmbar.jsonl",
    "meta_eval/hhh.jsonl",
    "meta_eval/evalbiasbench.jsonl",
    "meta_eval/rmbench.jsonl.gz",
    "best_of_n/alpaca_eval_bo32.jsonl.gz",
    "train/arena55k.validation.jsonl.gz",
]
"""Sets whose queries are left out, in the folder of the data sets."""
JUDGED = [
    "traps", "facts", "code_text", "conduct", "subtle", "neighbour", "long", "plainsense",
    "arena_judged_1", "arena_judged_2", "arena_judged_3", "zh",
]  # fmt: skip
"""The files of judged pairs, in the order in which they are read."""
CHINESE = "zh"
"""The one of them that is in Chinese."""

# How often each kind of damage is made. The easy kinds are rare: one look tells them apart.
_DAMAGE_SHARES = {
    "changed_numbers": 0.16, "swapped_names": 0.06, "negated": 0.12, "cut_off": 0.2,
    "repeated": 0.16, "shuffled_words": 0.06, "gibberish": 0.07, "empty": 0.09,
    "needless_refusal": 0.08,
}  # fmt: skip
# A refusal is needless where nobody refused and nothing asks for harm.
_REFUSES = re.compile(r"(?i)\b(sorry|cannot|can't|unable|as an ai|apologi)")
_HARM = re.compile(
    r"(?i)\b(kill|bomb|weapon|sex|porn|nsfw|drug|hack|suicid|racis|nazi|rape|murder|steal|illegal"
    r"|naked|erotic|hate)"
)
_NOT_IN_NAMES = re.compile("[:：\n]")
_LABELS: dict[Shown, str] = {"1": "a", "2": "b", "tie": "tie"}
_SHOWN: dict[str, Shown] = {label: shown for shown, label in _LABELS.items()}

Row = dict[str, Any]


class JudgedPair(TypedDict):
    """A row of a file of judged pairs."""

    id: str
    kind: str
    """The deciding difference, such as "wrong_fact"."""
    query: str
    response_1: str
    response_2: str
    label: Shown
    factors: list[list[str]]
    """[name, explanation], the deciding one first."""
    rating_1: float
    rating_2: float
    critique_1: str
    critique_2: str


@dataclass(slots=True, kw_only=True)
class Mix:
    """The files and draws of a mix: one generator draws for all files, in their order."""

    data: Path
    out: Path
    unused: Sequence[str]
    """Queries of test and validation sets."""
    random: Random = field(default_factory=lambda: Random(SEED))

    def read(self, name: str) -> list[Case]:
        """Reads the cases of a data set."""
        return _read(self.data / name)

    def kept(self, queries: Sequence[str]) -> list[int]:
        """The indices of queries that are in no test or validation set."""
        overlap = find_overlap(queries, self.unused, n=8)
        shared = {one.a for one in overlap.shared}
        return [index for index in range(len(queries)) if index not in shared]

    def clean(self, cases: Sequence[Case]) -> list[Case]:
        """The cases whose queries are in no test or validation set."""
        return [cases[index] for index in self.kept([case.query for case in cases])]

    def shuffled(self, cases: Sequence[Case]) -> list[Case]:
        """The cases in a drawn order."""
        return self.random.sample(cases, len(cases))

    def write(self, name: str, rows: Iterable[Row]) -> None:
        """Writes a file and prints its labels."""
        written = list(rows)
        lines = [json.dumps(row, ensure_ascii=False) for row in written]
        (self.out / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        labels = Counter(
            row["label"] if isinstance(row["label"], str) else "rated" for row in written
        )
        counts = ", ".join(f"{label} {count:,}" for label, count in sorted(labels.items()))
        print(f"{name}: {len(written):,} rows ({counts})", flush=True)


def _read(path: Path) -> list[Case]:
    return [row.case for row in open_cases(path).read() if isinstance(row.case, Case)]


def unused_queries(data: Path, plain: Sequence[Path]) -> tuple[list[str], list[str]]:
    """Reads the queries of the test and validation sets, and of files of plain questions.

    Args:
        data: the folder of the data sets.
        plain: JSONL files with a `query` per line.
    """
    # All models of AlpacaEval answer the same queries, so that one file has them all.
    names = sorted((data / "system_level" / "alpaca_eval").glob("*.jsonl.gz"))[:1]
    paths = [*(data / name for name in TESTS), *names]
    tests = [case.query for path in paths for case in _read(path)]
    return tests, [row["query"] for path in plain for row in _read_rows(path)]


def _read_rows(path: Path) -> list[Any]:
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def read_judged(folder: Path, mix: Mix) -> list[tuple[str, JudgedPair]]:
    """Reads the judged pairs, with the file of each; a missing file is named and left out."""
    rows: list[tuple[str, JudgedPair]] = []
    for name in JUDGED:
        path = folder / f"{name}.jsonl"
        if path.is_file():
            rows += [(name, row) for row in _read_rows(path)]
        else:
            print(f"{path} is missing", flush=True)
    return [rows[index] for index in mix.kept([row["query"] for _, row in rows])]


def _row(case: Case, **changed: Any) -> Row:
    return {
        "id": case.id,
        "query": case.query,
        "responses": [response.text for response in case.responses],
        "label": case.label,
        "source": case.source or "",
        "meta": dict(case.meta),
        **changed,
    }


def _plain_slashes(row: Row) -> Row:
    r"""A row of the votes with its slashes as they were: the release escapes them as `\/`."""
    return {
        **row,
        "query": row["query"].replace("\\/", "/"),
        "responses": [text.replace("\\/", "/") for text in row["responses"]],
    }


def _longer_wins(case: Case) -> bool:
    first, second = (len(response.text) for response in case.responses)
    return (first > second) == (case.label == "a")


def votes(decided: Sequence[Case], ties: Sequence[Case], random: Random, n: int) -> list[Row]:
    """Votes in which the shorter response wins nearly as often as the longer one."""
    longer = [case for case in decided if _longer_wins(case)]
    shorter = [case for case in decided if not _longer_wins(case)]
    drawn = random.sample(longer, int(n * 0.53)) + random.sample(shorter, int(n * 0.44))
    drawn += random.sample(ties, min(len(ties), int(n * 0.05)))
    return [_plain_slashes(_row(case, meta={})) for case in drawn]


def borrowed(cases: Sequence[Case], queries: Sequence[str], embeddings: NDArray[Any]) -> list[Row]:
    """Pairs of an own response and one to a similar query."""
    places = {text: index for index, text in enumerate(queries)}
    known = [case for case in cases if case.query[:EMBEDDED_CHARACTERS] in places]
    rows = embeddings[[places[case.query[:EMBEDDED_CHARACTERS]] for case in known]]
    made = borrowed_pairs(known, rows, BORROWING, seed=BORROWING_SEED)
    return [_plain_slashes(_row(case, source="arena55k, borrowed")) for case in made]


def damaged(cases: Sequence[Case], random: Random, n: int) -> list[Row]:
    """Pairs of a preferred response and a damaged copy of it."""
    rows: list[Row] = []
    for case in cases:
        if len(rows) >= n:
            break
        kind = random.choices(list(_DAMAGE_SHARES), list(_DAMAGE_SHARES.values()))[0]
        shown = _plain_slashes(_row(case))
        own: str = shown["responses"][0 if case.label == "a" else 1]
        refuses = any(_REFUSES.search(response.text[:200]) for response in case.responses)
        if kind == "needless_refusal" and (refuses or _HARM.search(case.query)):
            continue
        if not 30 <= len(own) <= 3000:
            continue
        worse = DAMAGES[kind](own, random)
        if worse is None or worse == own:
            continue
        first = random.random() < 0.5
        rows.append(
            {
                "id": f"{case.id}+{kind}",
                "query": shown["query"],
                "responses": [own, worse] if first else [worse, own],
                "label": "a" if first else "b",
                "source": "arena55k, damaged",
                "meta": {"made": kind},
            }
        )
    return rows


def plain(n: int, unused: Sequence[str]) -> list[Row]:
    """Plain questions, without those that are asked in the files of plain questions."""
    rows = plain_questions(n, PLAIN_SEED)
    overlap = find_overlap([row["query"] for row in rows], unused, n=None)
    shared = {one.a for one in overlap.shared}
    return [row for index, row in enumerate(rows) if index not in shared]


def judged_pair(row: JudgedPair, language: str) -> Row:
    """A judged pair with its judgment in the layout of Table 18."""
    judgment = critiques.render(
        PairCritique(
            factors=tuple(_factor(name, explanation) for name, explanation in row["factors"]),
            decision=row["label"],
            language="zh" if language == CHINESE else "en",
        )
    )
    return {
        "id": row["id"],
        "query": row["query"],
        "responses": [row["response_1"], row["response_2"]],
        "label": _LABELS[row["label"]],
        "language": language,
        "source": "own judgments",
        "meta": {"judgment": judgment, "made": row["kind"]},
    }


def _factor(name: str, explanation: str) -> Factor:
    # A name ends at its colon, so it cannot have one inside.
    bare = _NOT_IN_NAMES.sub(" ", name.strip().rstrip(":：") or "point")
    return Factor(name=bare, explanation=explanation.strip())


def judged_singles(row: JudgedPair, language: str) -> list[Row]:
    """The responses of a judged pair, each with its critique and rating."""
    opening = "评分: " if language == CHINESE else "Rating: "
    parts = [
        ("1", row["response_1"], row["critique_1"].strip(), row["rating_1"]),
        ("2", row["response_2"], row["critique_2"].strip(), row["rating_2"]),
    ]
    return [
        {
            "id": f"{row['id']}-{number}",
            "query": row["query"],
            "responses": [response],
            "label": rating,
            "language": language,
            "source": "own judgments",
            "meta": {"judgment": f"{critique}\n\n{opening}[[{rating}]]"},
        }
        for number, response, critique, rating in parts
        if critique
    ]


def rated(cases: Sequence[Case], n: int) -> list[Row]:
    """GPT-4's ratings, with the part of its judgment that a judge without a reference can write."""
    rows: list[Row] = []
    for case in cases:
        critique = single_critique(_judgment(case))
        if len(critique) < 80 or "reference" in critique.lower():
            continue
        rows.append(_row(case, meta={"judgment": f"{critique}\n\nRating: [[{case.label:g}]]"}))
    return rows[:n]


def compared(cases: Sequence[Case], n: int) -> list[Row]:
    """GPT-4's comparisons with two to five factors."""
    rows: list[Row] = []
    for case in cases:
        factors = pair_factors(_judgment(case))
        if not 2 <= len(factors) <= 5:
            continue
        critique = PairCritique(factors=factors, decision=_SHOWN[str(case.label)])
        rows.append(_row(case, meta={"judgment": critiques.render(critique)}))
    return rows[:n]


def _judgment(case: Case) -> str:
    return str(case.meta.get("judgment") or "")


def make_mix(given: argparse.Namespace) -> None:
    """Writes all files of the mix."""
    given.out.mkdir(parents=True, exist_ok=True)
    tests, asked = unused_queries(given.data, given.plain)
    print(f"{len(tests):,} queries of tests, {len(asked):,} plain ones", flush=True)
    mix = Mix(data=given.data, out=given.out, unused=[*tests, *asked])
    arena = mix.clean(mix.read("train/arena55k.train.jsonl.gz"))
    bench = mix.clean(mix.read("train/arena_bench_v1.single.jsonl.gz"))
    vicuna = mix.read("train/vicuna80_gpt4.pairwise.jsonl.gz")
    judged = read_judged(given.judged, mix)
    # Some pairs of the votes were judged anew.
    known = {row["id"] for _, row in judged}
    decided = [case for case in arena if case.label in ("a", "b") and case.id not in known]
    ties = [case for case in arena if case.label == "tie" and case.id not in known]
    mix.write("arena.jsonl", votes(decided, ties, mix.random, given.n_votes))
    queries = json.loads(given.embedded_queries.read_text(encoding="utf-8"))
    embeddings = np.load(given.embeddings)["x"]
    mix.write("borrowed.jsonl", borrowed(arena, queries, embeddings))
    mix.write("damaged.jsonl", damaged(mix.shuffled(decided), mix.random, N_DAMAGED))
    mix.write("plain.jsonl", plain(N_PLAIN, asked))
    languages = [(CHINESE if name == CHINESE else "en", row) for name, row in judged]
    mix.write("own_pairs.jsonl", [judged_pair(row, language) for language, row in languages])
    singles = [one for language, row in languages for one in judged_singles(row, language)]
    mix.write("own_singles.jsonl", singles)
    mix.write("bench_singles.jsonl", rated(mix.shuffled(bench), N_RATED))
    mix.write("vicuna.jsonl", compared(mix.shuffled(vicuna), N_COMPARED))


def main() -> None:
    """Write the mix."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    parser.add_argument("--judged", type=Path, required=True, help="a folder of judged pairs")
    parser.add_argument("--embeddings", type=Path, required=True, help=".npz with an array x")
    parser.add_argument("--embedded-queries", type=Path, required=True, help="a JSON list of texts")
    parser.add_argument(
        "--plain", type=Path, nargs="*", default=[], help="JSONL files whose queries are left out"
    )
    parser.add_argument("--n-votes", type=int, default=N_VOTES)
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    make_mix(parser.parse_args())


if __name__ == "__main__":
    main()
