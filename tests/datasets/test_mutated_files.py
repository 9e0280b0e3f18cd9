"""Damaged files end in cases, bad rows or one error of ours: no traceback, and no row is lost."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from autoj import inputs, jsonl
from autoj.bench.eval_c.files import read_critiques
from autoj.bench.predictions import read_predictions, read_scores
from autoj.datasets import format_names, open_answers, open_cases, open_queries, parse_map
from autoj.datasets._rows import read_rows
from autoj.datasets.base import Cases
from autoj.datasets.published_verdicts import VERDICT_FORMATS, read_verdicts
from autoj.errors import AutojError, DataError
from autoj.records import Case
from autoj.runs.intake import bad_row, checked_cases
from autoj.runs.spec import RunSpec, make_spec

from ..mutations import damage_packing, mutate
from ..scripted import CARD

FILES = Path(__file__).parent / "files"
SEVERAL = {"autoj-selection", "rmbench"}
"""Formats whose rows hold several cases."""
N_QUICK, N_ALL = 400, 10_000
MAPS = [
    "query=query,responses=responses", "query=prompt,a=response 1,b=response 2,label=label:0/1/2",
    "query=instruction,response=output", "query=messages.0.content,response=messages.-1.content",
    "query=query,response=responses.0.text,label=label", "query=q,a=response.0,b=responses.1",
    f"query=query,response=responses.{'1' * 5000}", f"query=query.-{'9' * 5000},response=responses",
    f"query={'a.' * 3000}b,response=response", "query=prompt,a=chosen,b=rejected,label=id",
    "query=query,a=response_a,b=response_b,label=label,id=id,scenario=scenario",
]  # fmt: skip
ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".jsonl.gz", ".csv.gz", "")


def written(folder: Path, random_: random.Random, source: Path, number: int) -> Path:
    """A damaged file of a kind drawn at random; it holds the rows of a file of ours."""
    ending = random_.choice(ENDINGS)
    content = source.read_bytes()
    rows = [json.loads(line) for line in content.splitlines()]
    if ending.startswith((".csv", ".tsv")):
        content = as_table(rows, "\t" if ending == ".tsv" else random_.choice(",;"))
    elif ending == ".json":
        content = json.dumps(rows).encode()
    content = mutate(random_, content)
    if ending.endswith(".gz"):
        packed = random_.random() < 0.8
        content = gzip.compress(content, mtime=0) if packed else damage_packing(random_, content)
    path = folder / f"{number}{ending}"
    path.write_bytes(content)
    return path


def as_table(rows: list[dict[str, Any]], delimiter: str) -> bytes:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, columns, delimiter=delimiter)
    writer.writeheader()
    writer.writerows(
        {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in row.items()
        }
        for row in rows
    )
    return stream.getvalue().encode()


def check_sums(cases: Cases, path: Path, *, as_texts: bool = False) -> None:
    """Each row of a file is a case or a bad row, and each can be written."""
    spec = make_spec("rate", CARD, protocol="single-verdict", skip_bad_rows=True)
    rows = [line for line, _ in read_rows(path, as_texts=as_texts)]
    read = list(cases.read())
    assert sorted({row.line for row in read}) == rows
    several = cases.format in SEVERAL
    assert several or len(read) == len(rows)
    bad_rows: list[DataError] = []
    kept: list[Case] = []
    with contextlib.suppress(NoCase):
        kept = list(checked(cases, spec, bad_rows))
    assert len(kept) + len(bad_rows) == len(read)
    for case in kept:
        assert jsonl.decode_as(Case, jsonl.encode(case)) == case
    for error in bad_rows:
        assert jsonl.encode(bad_row(error))
        assert len(error.reason) < 5000


class NoCase(Exception):
    """Of a file no case is left."""


def checked(cases: Cases, spec: RunSpec, bad_rows: list[DataError]) -> Iterator[Case]:
    try:
        yield from checked_cases(cases, spec, bad_rows)
    except DataError as error:
        if re.search("no case that can be judged|is empty", error.reason) is None:
            raise
        raise NoCase from None


def told(read: Callable[[], object]) -> None:
    """Calls a reader, which may end in an error of ours."""
    try:
        read()
    except AutojError as error:
        # A message is for people: it shows a part of what is wrong.
        if not 0 < len(str(error)) < 9000:
            raise AssertionError(f"a message of {len(str(error))} characters") from error


def check_file(path: Path, format: str | None, random_: random.Random) -> None:
    chosen = random_.choice(MAPS)
    told(lambda: check_sums(open_cases(path, format), path))
    told(lambda: check_mapped(path, chosen))
    told(lambda: list(open_queries(path).read()))


def check_mapped(path: Path, chosen: str) -> None:
    check_sums(open_cases(path, columns=parse_map([chosen])), path, as_texts=True)


def sources() -> list[Path]:
    return [FILES / f"{name}.jsonl" for name in format_names()]


def fuzz(folder: Path, seed: int, n_files: int) -> None:
    random_ = random.Random(seed)
    for number in range(n_files):
        source = random_.choice(sources())
        path = written(folder, random_, source, number)
        try:
            check_file(path, random_.choice([None, source.stem]), random_)
        except BaseException:
            print(f"seed {seed}, file {number}: {path}")  # noqa: T201
            raise
        path.unlink()


def test_some_hundred_mutated_files_are_cases_bad_rows_or_one_error(tmp_path: Path) -> None:
    fuzz(tmp_path, 0, N_QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_ten_thousand_mutated_files_are_too(tmp_path: Path, seed: int) -> None:
    fuzz(tmp_path, seed, N_ALL // 10)


# --- Files beside the cases: predictions, scores, critiques, verdicts, answers

PAIRS = [
    Case(id=str(n), query="q", cluster="q", responses=(), critiques=("c", "d")) for n in range(3)
]
PREDICTIONS = b'{"output": 0}\n{"output": 2}\n{"output": -1}\n'
SCORES = b'{"scores": [1.5, -0.2]}\n{"scores": [null, 1]}\n{"scores": [0, 0]}\n'
CRITIQUES = b'{"output": "c"}\n{"output": "d"}\n{"output": "e"}\n'
QUESTIONS = b'{"question_id": 81, "category": "m", "turns": ["q", "r"], "reference": ["a", null]}\n'
ANSWERS = b'{"question_id": 81, "model_id": "m", "choices": [{"index": 0, "turns": ["x", "y"]}]}\n'
VERDICTS = [
    b'{"question_id": 81, "model_1": "m", "model_2": "n", "g1_winner": "tie", "g2_winner": '
    b'"model_1", "judge": ["gpt-4", "pair-v2"], "turn": 1}\n',
    b'{"question_id": 81, "model": "m", "judge": ["gpt-4", "s"], "turn": 1, "score": 7.5}\n',
    b'{"model_a": "m", "model_b": "n", "winner": "tie (inconsistent)", "turn": 2, "question_id": 1,'
    b' "judge": "gpt-4", "conversation_a": [{"role": "user", "content": "q"}]}\n',
    b'{"question_id": "x", "model": "m", "judge": "j", "games": [{"score": "A>>B"}, null]}\n',
    b'{"instruction": "i", "output_1": "x", "output_2": "y", "preference": 1.2, "annotator": ""}\n',
    b'{"idx": 1, "pandalm_result": 2}\n{"idx": 2, "gpt_result": "garbage"}\n',
]


def readers(folder: Path) -> Iterator[tuple[bytes, Any]]:
    """The content of each side file, and a reader of a damaged copy of it."""
    questions = folder / "question.jsonl"
    questions.write_bytes(QUESTIONS)
    answers = folder / "m.jsonl"
    answers.write_bytes(ANSWERS)
    yield PREDICTIONS, lambda path: read_predictions(path, PAIRS)
    yield PREDICTIONS, lambda path: read_predictions(path, PAIRS, path)
    yield SCORES, lambda path: read_scores(path, PAIRS)
    yield CRITIQUES, lambda path: read_critiques(path, PAIRS)
    yield QUESTIONS, lambda path: list(open_answers(path, (answers,), join="inner").read())
    yield ANSWERS, lambda path: list(open_answers(questions, (path,), turn=2).read())
    for content in VERDICTS:
        yield content, lambda path: [jsonl.encode(_written(row)) for row in read_verdicts(path)]


def _written(row: Any) -> Any:
    return str(row.item) if isinstance(row.item, DataError) else row.item.verdict


def fuzz_beside(folder: Path, seed: int, n_files: int) -> None:
    random_ = random.Random(seed)
    kinds = list(readers(folder))
    for number in range(n_files):
        content, read = random_.choice(kinds)
        path = folder / f"{number}{random_.choice(['.jsonl', '.json'])}"
        path.write_bytes(mutate(random_, content))
        try:
            told(partial(read, path))
        except BaseException:
            print(f"seed {seed}, file {number}: {path}")  # noqa: T201
            raise
        path.unlink()


def test_some_hundred_mutated_side_files_are_read_or_one_error(tmp_path: Path) -> None:
    assert len(VERDICTS) == len(VERDICT_FORMATS)
    fuzz_beside(tmp_path, 0, N_QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_thousands_of_mutated_side_files_are_too(tmp_path: Path, seed: int) -> None:
    fuzz_beside(tmp_path, seed, 1000)


# --- What the fuzzer found, or its issue names


@pytest.mark.parametrize("depth", [101, 150, 300, 900])
def test_a_row_that_is_nested_deep_is_a_bad_row(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "deep.jsonl"
    deep = "[" * depth + "]" * depth
    rows = (
        '{"query": "q", "response": "r"}',
        f'{{"query": "q", "response": "r", "meta": {{"x": {deep}}}}}',
        f'{{"query": "q", "response": "r", "label": {deep}}}',
        f'{{"query": {deep}, "response": "r"}}',
    )
    path.write_text("\n".join(rows), encoding="utf-8")
    first, *others = (row.case for row in open_cases(path).read())
    assert isinstance(first, Case)
    for error, field in zip(others, ("meta", "label", "query"), strict=True):
        assert isinstance(error, DataError)
        assert (error.reason, error.field) == ("is nested deeper than 100 levels", field)


def test_meta_of_a_hundred_levels_can_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    deep = "[" * 98 + "]" * 98
    path.write_text(f'{{"query": "q", "response": "r", "meta": {{"x": {deep}}}}}', encoding="utf-8")
    check_sums(open_cases(path), path)
    assert isinstance(next(iter(open_cases(path).read())).case, Case)


def test_numbers_of_thousands_of_digits_in_a_map_are_no_items(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"query": ["q"], "response": "r"}\n', encoding="utf-8")
    for number in ("1" * 5000, "-" + "1" * 5000, "٣"):
        with pytest.raises(DataError, match="an item's number"):
            open_cases(path, columns=parse_map([f"query=query.{number},response=response"]))


def test_a_file_of_bad_rows_alone_does_not_fill_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autoj.runs.intake._MOST_BAD_ROWS", 3)
    path = tmp_path / "rows.jsonl"
    path.write_text('{"query": "q", "response": "r"}\n' + "x\n" * 10, encoding="utf-8")
    with pytest.raises(DataError, match=r"more than 3 bad rows; the first: .*rows\.jsonl:2"):
        check_sums(open_cases(path), path)


def test_rows_are_counted_once_by_every_reader() -> None:
    assert len(list(inputs.read_rows(FILES / "native.jsonl"))) == 3
