"""What every data set format must do, on small files of made-up texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj import components, inputs, jsonl
from autoj.datasets import format_names, open_cases
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.records import Case, Response, normalise_query

FILES = Path(__file__).parent / "files"
SEVERAL = {"autoj-selection", "rmbench"}
"""Formats whose rows hold several cases."""
every_format = pytest.mark.parametrize("name", format_names())


def cases_of(path: Path, name: str | None = None) -> list[Case]:
    found = [row.case for row in open_cases(path, name).read()]
    wrong = [case for case in found if isinstance(case, DataError)]
    assert not wrong
    return [case for case in found if isinstance(case, Case)]


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@every_format
def test_each_format_has_a_file_here_that_is_recognised_and_read(name: str) -> None:
    path = FILES / f"{name}.jsonl"
    opened = open_cases(path)
    assert opened.format == name
    assert opened.paths == (path,)
    n_rows = len(list(inputs.read_rows(path)))
    lines = [row.line for row in opened.read()]
    assert sorted(set(lines)) == list(range(1, n_rows + 1))
    assert lines == sorted(lines)
    if name not in SEVERAL:
        assert len(lines) == n_rows
    # Reading starts from the beginning each time, and naming the format changes nothing.
    assert cases_of(path) == cases_of(path, name) == [row.case for row in opened.read()]


@every_format
def test_each_row_of_a_file_is_of_no_other_format(name: str) -> None:
    for _, row in inputs.read_rows(FILES / f"{name}.jsonl"):
        assert isinstance(row, dict)
        found = [
            other for other in format_names() if components.load("datasets", other).matches(row)
        ]
        assert found == [name]


@every_format
def test_each_case_can_be_kept_in_a_run_and_read_back(name: str) -> None:
    cases = cases_of(FILES / f"{name}.jsonl")
    assert [jsonl.decode_as(Case, jsonl.encode(case)) for case in cases] == cases
    assert len({case.id for case in cases}) == len(cases)
    assert all(case.cluster == normalise_query(case.query) for case in cases)


def test_native_rows_may_be_short_or_say_all() -> None:
    pair, single, several = cases_of(FILES / "native.jsonl")
    assert (pair.id, pair.label, pair.source) == ("tea-1", "a", "made-up")
    assert pair.scenario == "asking_how_to_question"
    assert pair.responses == (
        Response(text="Two minutes.", model="m1", reference_score=0.9),
        Response(text="An hour.", model="m2", reference_score=0.1),
    )
    assert (single.id, single.label) == ("line-2", 8.0)
    assert single.responses == (Response(text="Seven.", model="m1"),)
    assert (several.id, several.label, several.scenario) == ("3", None, "others")
    assert several.responses == (
        Response(text="Red.", model="m3", logprob=-1.5, reference_score=0.25),
        Response(text=""),
        Response(text="Blue."),
    )


def test_labels_of_the_release_become_winners() -> None:
    cases = cases_of(FILES / "autoj-pairwise.jsonl")
    assert [case.label for case in cases] == ["a", "b", "tie", None]
    assert [case.scenario for case in cases] == ["planning", "others", None, None]
    assert cases[1].responses == (Response(text="No."), Response(text="Rain on the tin roof."))


def test_a_prompt_of_the_release_tells_its_language() -> None:
    cases = cases_of(FILES / "autoj-training.jsonl")
    assert [case.language for case in cases] == ["en", "en", "zh"]
    assert [len(case.responses) for case in cases] == [2, 1, 1]


def test_critiques_keep_the_names_of_their_critics() -> None:
    first, second = cases_of(FILES / "autoj-critique.jsonl")
    assert first.critiques == ("Too short.", "Fine.")
    assert first.meta == {"critics": ["ours", "theirs"]}
    assert (second.critiques, second.meta) == ((), {})


def test_an_independent_critique_is_about_the_case_in_its_meta() -> None:
    (case,) = cases_of(FILES / "autoj-independent.jsonl")
    assert (case.query, case.responses[0].text) == ("A soup?", "Boil water.")
    assert case.critiques == ("1. It forgets the salt.",)
    assert case.scenario == "writing_cooking_recipe"


def test_training_rows_are_read_back_out_of_their_prompts() -> None:
    pair, single, chinese = cases_of(FILES / "autoj-training.jsonl")
    # Separators and an end marker inside a text belong to it.
    assert pair.query == "Which is longer?\n***\nBe exact."
    assert [response.text for response in pair.responses] == [
        "A mile.",
        "A metre.\n***\n[END DATA]",
    ]
    assert (pair.label, pair.source) == ("a", "made-up")
    assert pair.critiques == ("So, the final decision is Response 1.",)
    assert (single.query, single.label) == ("Name a river.", 8.0)
    assert single.responses == (Response(text="The Oder."),)
    assert (chinese.query, chinese.responses[0].text) == ("写一首诗。", "床前明月光。")
    assert (chinese.label, chinese.critiques) == (None, ())


def test_a_scenario_of_the_users_own_stays_as_it_is(tmp_path: Path) -> None:
    (case,) = cases_of(written(tmp_path, {"query": "q", "response": "r", "scenario": "beekeeping"}))
    assert case.scenario == "beekeeping"


def test_fields_that_fit_several_formats_name_the_candidates(tmp_path: Path) -> None:
    path = written(tmp_path, {"query": "q", "responses": ["r"], "prompt": "p", "response": "r"})
    with pytest.raises(ConfigError, match=r"fit several formats: autoj-critique, native.*--format"):
        open_cases(path)
    assert cases_of(path, "native")[0].query == "q"
    assert cases_of(path, "autoj-critique")[0].query == "p"


@pytest.mark.parametrize("row", [{"question": "q", "answer": "a"}, {}])
def test_fields_that_fit_no_format_list_what_is_known(tmp_path: Path, row: dict[str, str]) -> None:
    with pytest.raises(
        DataError, match=r"rows\.jsonl:1: the fields .* fit no known format"
    ) as told:
        open_cases(written(tmp_path, row))
    assert told.value.hint is not None
    for name in format_names():
        assert f"{name}: {components.load('datasets', name).FIELDS}" in told.value.hint


def test_a_file_without_rows_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n \n", encoding="utf-8")
    with pytest.raises(DataError, match=r"rows\.jsonl: is empty"):
        open_cases(path)


def test_a_file_without_one_row_that_can_be_read_says_what_is_wrong_with_the_first(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('\n{"query"\n[1]\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"rows\.jsonl:2: is not JSON"):
        open_cases(path)


def test_a_format_is_recognised_by_the_first_row_that_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"torn\n{"query": "q", "response": "r"}\n', encoding="utf-8")
    opened = open_cases(path)
    assert opened.format == "native"
    first, second = opened.read()
    assert isinstance(first.case, DataError)
    assert isinstance(second.case, Case)
    assert second.case.id == "line-2"


def test_an_unknown_format_is_told_the_nearest_names(tmp_path: Path) -> None:
    with pytest.raises(UnknownComponent, match=r"(?s)no data format .nativ..*native"):
        open_cases(written(tmp_path, {"query": "q", "response": "r"}), "nativ")
