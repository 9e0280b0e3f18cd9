"""`autoj bench system-level` as a user meets it: published tables, runs over outputs, errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from autoj.bench.system_level import evaluate as figures
from autoj.bench.system_level.model_table import ranked, read_models, reference_digest
from autoj.cli.bench_system_level import system_level
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.metrics.result import read_result
from autoj.records import Request
from autoj.tasks import engine

from ..scripted import CARD, Killed, Recorder

app = typer.Typer()
app.command()(system_level)

MODELS = ("alpha", "beta", "gamma", "delta")


@app.callback()
def several() -> None:
    """More than one command, so that the name is given."""


def by_praise(request: Request) -> str:
    text = request.messages[-1].content
    return f"Fine.\n\nRating: [[{1 + text.count('very')}]]"


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Recorder:
    recorder = Recorder(by_praise, CARD)
    monkeypatch.setattr(engine, "load_backend", lambda card: recorder)
    (tmp_path / "script.yaml").write_text(
        "{title: s, backend: scripted, model: s, wrapper: chatml, context_tokens: 4096, "
        "protocols: [baseline-single]}\n"
    )
    return recorder


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("AUTOJ_DATA", raising=False)
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))

    def command(*arguments: object) -> Result:
        return CliRunner().invoke(app, ["system-level", *map(str, arguments)])

    return command


@pytest.fixture
def files(tmp_path: Path) -> tuple[object, ...]:
    """Outputs of four models on ten queries and win rates of them; alpha is the best."""
    folder = tmp_path / "outputs"
    folder.mkdir()
    for place, name in enumerate(MODELS):
        rows = [
            {
                "instruction": f"Question {number}?",
                "output": "very " * (6 - place + (number * place) % 3) + name,
                "generator": name,
            }
            for number in range(10)
        ]
        (folder / f"{name}.json").write_text(json.dumps(rows))
    table = [{"key": name, "gpt4_winrate": 90 - 20 * place} for place, name in enumerate(MODELS)]
    write_records(tmp_path / "reference.jsonl", table)
    return ("--outputs", folder, "--reference", tmp_path / "reference.jsonl")


def test_a_published_table_is_ranked_without_a_model(run: Any, tmp_path: Path) -> None:
    rows = [
        {"key": f"m{place}", "paper": f"Model {place}", "autoj_rating": rating,
         "gpt4_winrate": 90.0 - place, "mean_len": 100 + place}
        for place, rating in enumerate((5.5, 5.6, 5.2, 5.1))
    ]  # fmt: skip
    write_records(tmp_path / "table.jsonl", rows)
    done = run("--ratings", "table.jsonl", "--save", "kept.json")
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert re.search(r"Model 0 +5\.50 +90\.00 +1 +2 +\+1", done.stdout)
    assert re.search(r"over models +0\.800", done.stdout)
    assert re.search(r"length alone +-1\.000", done.stdout)
    assert "Table 23" not in done.stdout
    assert read_result(tmp_path / "kept.json").judge == "autoj"


def test_what_was_published_is_told_from_our_arithmetic(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [{"key": f"m{n}", "rating": n, "reference": n} for n in range(4)]
    write_records(tmp_path / "table.jsonl", rows)
    models = read_models(tmp_path / "table.jsonl")
    digest = reference_digest(ranked({f"m{n}": n for n in range(4)}, models))
    monkeypatch.setattr(figures, "TABLE_23", digest)
    lines = run("--ratings", "table.jsonl").stdout.splitlines()
    assert [line for line in lines if line.startswith(("Published", "Our"))] == [
        "Published: Auto-J, paper, section 6.4 (text): spearman 0.97, pearson 0.96.",
        "Our arithmetic: Auto-J, computed from Table 23: spearman 0.980, pearson 0.981, ",
    ]
    assert "    Table 23 does not give these values." in lines


def test_ratings_in_two_fields_are_of_no_one_judge(run: Any, tmp_path: Path) -> None:
    rows = [{"key": "a", "rating": 5, "reference": 1}, {"key": "b", "autoj_rating": 6}]
    write_records(tmp_path / "table.jsonl", rows)
    error = run("--ratings", "table.jsonl").exception
    assert isinstance(error, DataError)
    assert (error.line, error.field) == (2, "autoj_rating")


def test_outputs_are_rated_once_and_the_run_alone_gives_the_figures(
    run: Any, judge: Recorder, tmp_path: Path, files: tuple[object, ...]
) -> None:
    arguments = (*files, "--judge", "script.yaml", "--limit", "6", "--out", "r")
    first = run(*arguments)
    assert first.exit_code == 0
    assert "4 models, 6 of 10 queries each" in first.stderr
    assert len(judge.asked) == 24
    assert {request.case_id.split("/")[0] for request in judge.asked} == set(MODELS)
    for text in (
        "on all queries",
        "over queries",
        "from 6 of 10 queries",
        "significantly different",
        "are approximate",
    ):
        assert text in first.stdout
    assert max(map(len, first.stdout.splitlines())) <= 80
    again = run(*arguments)
    stored = run("--run", "r", "--reference", "reference.jsonl")
    assert first.stdout == again.stdout == stored.stdout
    assert len(judge.asked) == 24
    result = read_result(tmp_path / "r" / "system-level.json")
    assert set(result.parts["model"]) == set(MODELS)


def test_a_killed_run_goes_on_and_ends_as_if_nothing_had_happened(
    run: Any,
    judge: Recorder,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    files: tuple[object, ...],
) -> None:
    arguments = (*files, "--judge", "script.yaml", "--json")
    whole = run(*arguments, "--out", "whole")
    dying = Recorder(by_praise, CARD, dies_after=13)
    monkeypatch.setattr(engine, "load_backend", lambda card: dying)
    with pytest.raises(Killed):
        run(*arguments, "--out", "killed")
    unfinished = run("--run", "killed", "--reference", "reference.jsonl")
    assert isinstance(unfinished.exception, DataError)
    assert re.search(r"is not finished: \d+ of 40 cases", str(unfinished.exception))
    after = Recorder(by_praise, CARD)
    monkeypatch.setattr(engine, "load_backend", lambda card: after)
    resumed = run(*arguments, "--out", "killed")
    assert len(dying.asked) + len(after.asked) == len(judge.asked) == 40
    one, other = json.loads(whole.stdout)["results"][0], json.loads(resumed.stdout)["results"][0]
    assert {**one, "source": ""} == {**other, "source": ""}


def test_excluded_queries_are_counted_and_named_where_unknown(
    run: Any, judge: Recorder, tmp_path: Path, files: tuple[object, ...]
) -> None:
    (tmp_path / "seen.txt").write_text("question 3\nQuestion 4?\nNobody asked this.\n")
    done = run(*files, "--judge", "script.yaml", "--exclude", "seen.txt")
    assert done.exit_code == 0
    assert "2 queries are left out" in done.stderr
    assert "1 of its queries are not among the models': 'Nobody asked this.'" in done.stderr
    assert len(judge.asked) == 32
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("system-level-script-")


def test_models_without_a_reference_are_named_and_left_out(
    run: Any, judge: Recorder, tmp_path: Path, files: tuple[object, ...]
) -> None:
    table = [
        {"key": name, "reference": score}
        for name, score in (("alpha", 3), ("beta", 2), ("lonely", 1))
    ]
    write_records(tmp_path / "reference.jsonl", table)
    done = run(*files, "--judge", "script.yaml")
    assert done.exit_code == 0
    assert "without a reference and were left out: delta, gamma" in " ".join(done.stdout.split())
    assert "a correlation needs at least 3 models" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "kind", "told"),
    [
        (("--run", "r", "--ratings", "t.jsonl"), ConfigError, "not both"),
        (("--run", "nowhere"), DataError, "not a run folder"),
        (("--limit", "11"), ConfigError, "more than the number of queries, 10"),
        (("--ratings", "reference.jsonl"), DataError, "has no ratings"),
        (("--reference", "bare.jsonl"), DataError, "has no reference"),
        (("--outputs", "nowhere.jsonl"), DataError, "no such file"),
    ],
)
def test_bad_input_is_told(
    run: Any,
    judge: Recorder,
    tmp_path: Path,
    files: tuple[object, ...],
    arguments: tuple[str, ...],
    kind: type[Exception],
    told: str,
) -> None:
    write_records(tmp_path / "bare.jsonl", [{"key": "alpha"}])
    done = run(*files, "--judge", "script.yaml", *arguments)
    assert isinstance(done.exception, kind)
    assert told in str(done.exception)


def test_the_papers_table_on_the_command_line(run: Any, data_folder: Path) -> None:
    done = run("--ratings", data_folder / "system_level" / "table23_index.jsonl")
    assert re.search(r"over models +0\.980 .* 0\.981 .* 0\.882 ", done.stdout)
    assert re.search(r"WizardLM 13B +5\.25 +75\.31 +25 +32 +\+7", done.stdout)


def test_a_cap_stops_it_without_figures_and_a_higher_one_goes_on(
    run: Any, judge: Recorder, tmp_path: Path, files: tuple[object, ...]
) -> None:
    arguments = (*files, "--judge", "script.yaml", "--out", "r")
    stopped = run(*arguments, "--max-requests", 15)
    assert (stopped.exit_code, stopped.stdout) == (1, "")
    assert "--max-requests 15 is reached" in stopped.stderr
    assert "has 15 of 40 verdicts; the same command resumes it" in " ".join(stopped.stderr.split())
    assert not (tmp_path / "r" / "system-level.json").exists()
    done = run(*arguments, "--max-requests", 40)
    assert done.exit_code == 0
    assert len(judge.asked) == 40
