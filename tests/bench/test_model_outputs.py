"""Tables of models, and outputs of many models as one set: sampled, excluded, in any layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj.bench.system_level.model_outputs import open_outputs, output_files, read_queries
from autoj.bench.system_level.model_table import ModelRow, read_models
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.records import Case, Response, normalise_query


def test_a_table_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"

    def table(*rows: object) -> list[ModelRow]:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return read_models(path)

    assert table({"model": "m", "win_rate": 3, "rating": None})[0] == ModelRow(
        key="m", title="m", rating=None, reference=3.0, mean_length=None, rated_by=None
    )
    with pytest.raises(DataError, match=r"table\.jsonl:2: the model 'm' is already"):
        table({"key": "m"}, {"key": "m"})
    with pytest.raises(DataError, match=r"table\.jsonl:1:rating: expected a number, found 'high'"):
        table({"key": "m", "rating": "high"})
    for huge in (1e200, -1e101):
        with pytest.raises(DataError, match=r"table\.jsonl:1:rating: .* at most 1e\+100"):
            table({"key": "m", "rating": huge})
    with pytest.raises(DataError, match=r"table\.jsonl:2:reference: .* at most 1e\+100"):
        table({"key": "m"}, {"key": "n", "reference": 10**101})
    assert table({"key": "m", "rating": 1e100})[0].rating == 1e100
    for first, second in (("rating", "autoj_rating"), ("win_rate", "reference")):
        with pytest.raises(DataError, match=rf"table\.jsonl:3:{second}: .* have '{first}'"):
            table({"key": "l"}, {"key": "m", first: 1, second: None}, {"key": "n", second: 2})
    with pytest.raises(DataError, match=r"table\.jsonl:1: names no model; .*'score'"):
        table({"score": 1})
    with pytest.raises(DataError, match=r"table\.jsonl:1:key: expected a model's name, found 3"):
        table({"key": 3})
    with pytest.raises(DataError, match="has no models"):
        table()


def outputs(folder: Path, *names: str, n_queries: int = 12) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        rows = [
            {
                "pid": number,
                "instruction": f"Question {number}?",
                "output": f"{name} says {number}.",
                "generator": name,
            }
            for number in range(n_queries)
        ]
        write_records(folder / f"{name}.jsonl", rows)
    return folder


def cases_of(found: Any) -> list[Case]:
    return [row.case for row in found.cases.read()]


def test_one_run_holds_each_models_response_to_each_query(tmp_path: Path) -> None:
    found = open_outputs(output_files([outputs(tmp_path / "o", "m1", "m2")]))
    cases = cases_of(found)
    assert [one.id for one in cases[:2]] == ["m1/0", "m1/1"]
    assert len({one.id for one in cases}) == 24
    assert cases[12].responses == (Response(text="m2 says 0.", model="m2"),)
    assert found.models == ("m1", "m2")
    assert (found.n_queries, found.n_set_queries, found.n_excluded) == (12, 12, 0)
    assert all(one.meta["n_set_queries"] == 12 for one in cases)


def test_the_public_layout_and_files_of_several_models_are_read(tmp_path: Path) -> None:
    public = tmp_path / "results" / "m3"
    public.mkdir(parents=True)
    rows = [{"instruction": "Question 0?", "output": "x", "generator": "m3-display-name"}]
    (public / "model_outputs.json").write_text(json.dumps(rows))
    both = tmp_path / "both.jsonl"
    write_records(
        both,
        [
            {"pid": 0, "instruction": "Question 0?", "output": "x", "generator": name}
            for name in ("m4", "m5")
        ],
    )
    found = open_outputs(output_files([tmp_path / "results", both]))
    assert [one.id for one in cases_of(found)] == ["m3/0", "m4/0", "m5/0"]


def test_a_sample_holds_the_same_queries_for_all_models_and_grows(tmp_path: Path) -> None:
    files = output_files([outputs(tmp_path / "o", "m1", "m2")])

    def sampled(n: int, seed: int = 0) -> dict[str, set[str]]:
        chosen: dict[str, set[str]] = {}
        for one in cases_of(open_outputs(files, sample=n, seed=seed)):
            chosen.setdefault(str(one.responses[0].model), set()).add(one.query)
        return chosen

    four, six = sampled(4), sampled(6)
    assert four["m1"] == four["m2"]
    assert len(four["m1"]) == 4
    assert four["m1"] < six["m1"]
    assert sampled(4) == four
    assert sampled(4, seed=1) != four
    derivations = {
        open_outputs(files, sample=n, seed=seed).cases.derivation
        for n, seed in ((4, 0), (4, 1), (6, 0))
    }
    assert len(derivations) == 3
    with pytest.raises(ConfigError, match=r"--limit 13 .*, 12"):
        open_outputs(files, sample=13)


@pytest.mark.parametrize("kind", ["jsonl", "lines"])
def test_excluded_queries_are_left_out_and_those_not_found_are_named(
    tmp_path: Path, kind: str
) -> None:
    queries = ["question 3", "QUESTION 4 ?", "Never asked?"]
    path = tmp_path / "exclude"
    if kind == "jsonl":
        fields = ("query", "instruction", "prompt")
        write_records(path, [{field: text} for field, text in zip(fields, queries, strict=True)])
    else:
        path.write_text("\n".join(queries) + "\n")
    files = output_files([outputs(tmp_path / "o", "m1", "m2")])
    found = open_outputs(files, exclude=read_queries(path))
    assert (found.n_set_queries, found.n_excluded) == (10, 2)
    assert found.not_found == ("Never asked?",)
    assert not {"Question 3?", "Question 4?"} & {one.query for one in cases_of(found)}
    everything = {normalise_query(f"Question {number}?"): "" for number in range(12)}
    with pytest.raises(DataError, match="all are excluded"):
        open_outputs(files, exclude=everything)


def test_bad_outputs_and_exclusions_say_where(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no outputs"):
        output_files([tmp_path])
    pair = tmp_path / "pair.jsonl"
    write_records(pair, [{"query": "q", "responses": ["x", "y"]}])
    with pytest.raises(DataError, match=r"pair\.jsonl:1: has 2 responses; expected one"):
        open_outputs([pair])
    write_records(tmp_path / "wrong.jsonl", [{"text": "q"}])
    with pytest.raises(DataError, match=r"wrong\.jsonl:1: has no query: expected query"):
        read_queries(tmp_path / "wrong.jsonl")


def test_the_real_outputs_are_those_of_the_papers_models(data_folder: Path) -> None:
    folder = data_folder / "system_level" / "alpaca_eval"
    names = {row.key for row in read_models(folder.parent / "table23_index.jsonl")}
    files = output_files([folder])
    assert {path.name.removesuffix(".jsonl.gz") for path in files} == names
    found = open_outputs(files[:2], sample=20)
    assert (found.n_queries, found.n_set_queries) == (20, 805)
    assert found.models == ("airoboros-33b", "airoboros-65b")
    assert len({one.id for one in cases_of(found)}) == 40
