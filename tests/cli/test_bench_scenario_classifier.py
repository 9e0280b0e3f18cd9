"""`autoj bench scenario-classifier` as a user meets it: tables, JSON, judges, errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from autoj.bench.scenario_classifier import measure
from autoj.cli.bench_scenario_classifier import scenario_classifier
from autoj.errors import ConfigError, DataError, MissingExtra, UnknownComponent
from autoj.jsonl import write_records
from autoj.metrics.result import read_result
from autoj.records import Failure, Request
from autoj.scenarios import seeds
from autoj.scenarios.seeds import KnownScenario, query_digest
from autoj.tasks import engine

from ..bench.scenario_sets import ROWS, FirstWord, write_set
from ..scripted import CARD, Killed, Recorder

app = typer.Typer()
app.command()(scenario_classifier)


@app.callback()
def several() -> None:
    """More than one command, so that the name is given."""


Command = Callable[..., Result]
CARD_FILE = (
    "{title: s, backend: scripted, model: s, wrapper: chatml, context_tokens: 4096, "
    "protocols: [single]}\n"
)


def load(name: str) -> FirstWord:
    """Two tiers, as shipped, and folders of one title."""
    match name:
        case "fast":
            return FirstWord()
        case "best":
            return FirstWord("best", {"Plan": "planning"})
        case folder if Path(folder).name in ("one", "two", "fast"):
            return FirstWord("mine")
    raise UnknownComponent("classifier", name, ("fast", "best"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("AUTOJ_DATA", raising=False)
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(measure, "load_classifier", load)

    def command(*arguments: object) -> Result:
        return CliRunner().invoke(app, ["scenario-classifier", *map(str, arguments)])

    return command


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_set(tmp_path / "queries.jsonl")


def answer(request: Request) -> str:
    """Names a scenario for some queries; of one it does not know what to say."""
    text = request.messages[-1].content.lower()
    if "rain" in text:
        return "I cannot say."
    return next(
        (
            name
            for word, name in (("plan", "planning"), ("loop", "Code generation"))
            if word in text
        ),
        "default",
    )


def judge(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    reply: Any = answer,
    dies_after: int | None = None,
) -> Recorder:
    """A scripted judge with a card in the folder; what it was asked is noted."""
    recorder = Recorder(reply, CARD, dies_after)
    monkeypatch.setattr(engine, "load_backend", lambda card: recorder)
    (folder / "script.yaml").write_text(CARD_FILE)
    return recorder


def test_the_figures_stand_beside_trivial_classifiers(run: Command, data: Path) -> None:
    done = run("--classifier", "fast", "--data", data)
    assert done.exit_code == 0
    assert "queries.jsonl: 8 rows, 7 queries, 6 scenarios" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if line.strip()]
    for classifier, accuracy in (("fast", "75.0"), ("majority", "37.5")):
        assert [classifier, "8", accuracy] in [row[:3] for row in rows]
    assert "random" in [row[0] for row in rows]
    assert "rejecting (1)" in done.stdout
    assert "published" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_both_tiers_are_measured_unless_one_is_not_installed(
    run: Command, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = run("--data", data)
    assert "fast less best" in both.stdout

    def without_best(name: str) -> FirstWord:
        if name == "best":
            raise MissingExtra("classifier", "classifier 'best'")
        return load(name)

    monkeypatch.setattr(measure, "load_classifier", without_best)
    one = run("--data", data)
    assert one.exit_code == 0
    assert "'best' was left out" in one.stderr
    assert "[classifier]" in one.stderr
    assert "less" not in one.stdout
    named = run("--data", data, "--classifier", "best")
    assert isinstance(named.exception, MissingExtra)


def test_json_holds_everything(run: Command, data: Path) -> None:
    done = run("--data", data, "--json")
    (found,) = json.loads(done.stdout)["sets"]
    assert (found["n_rows"], found["n_cases"], found["bench"]) == (8, 8, "scenario-classifier")
    assert [result["judge"] for result in found["results"]] == ["fast", "best"]
    assert [result["judge"] for result in found["trivial"]] == ["majority", "random"]
    assert {one["rows"] for one in found["differences"]} == {
        "all",
        "without code_generation, creative_writing, explaining_code, rejecting",
    }
    assert found["results"][0]["details"]["confusion"]["counts"]
    assert found["results"][0]["details"]["digest"].startswith("sha256:")
    assert {seen["name"]: seen["n_rows"] for seen in found["seen"]} == {
        "the seeds": 0,
        "the labelled queries": 0,
    }


def test_results_are_kept_in_a_folder(run: Command, data: Path, tmp_path: Path) -> None:
    done = run("--data", data, "--out", tmp_path / "new" / "folder")
    assert done.exit_code == 0
    kept = read_result(tmp_path / "new" / "folder" / "scenario-classifier-fast.json")
    assert kept.estimates[0].value == 0.75
    everything = json.loads((tmp_path / "new" / "folder" / "scenario-classifier.json").read_text())
    assert len(everything["sets"][0]["results"]) == 2
    refused = run("--data", data, "--out", data)
    assert isinstance(refused.exception, ConfigError)


def test_a_folder_is_called_by_as_much_of_its_path_as_tells_it_from_others(
    run: Command, data: Path
) -> None:
    folders = ("x/one", "y/one", "y/two", "fast", "old/fast")
    flags = [part for name in folders for part in ("--classifier", name)]
    (found,) = json.loads(run(*flags, "--data", data, "--json").stdout)["sets"]
    names = [result["judge"] for result in found["results"]]
    assert names == ["x/one", "y/one", "two", "fast", "old/fast"]
    assert [result["source"] for result in found["results"]] == [f"classifier {f}" for f in folders]


def test_queries_that_were_labelled_for_training_are_told_by_their_digests(
    run: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ships" / "labels").mkdir(parents=True)
    label = KnownScenario(query_sha256=query_digest("hello THERE"), scenario="chitchat")
    write_records(tmp_path / "ships" / "labels" / "some.jsonl", [label])
    monkeypatch.setattr(seeds, "_DATA", tmp_path / "ships")
    done = run("--data", data, "--classifier", "fast")
    assert "the seeds 0, the labelled queries 1; they are kept" in " ".join(done.stdout.split())


def test_all_scenarios_can_be_listed(run: Command, data: Path) -> None:
    worst = run("--data", data, "--classifier", "fast")
    assert "worst scenarios" in worst.stdout
    assert "others 1 (cannot be named)" in worst.stdout
    listed = run("--data", data, "--classifier", "fast", "--by", "scenario")
    assert "worst scenarios" not in listed.stdout
    rows = [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]
    assert rows.count("code_generation") == 1


def test_the_second_set_is_without_what_was_trained_on(
    run: Command, data: Path, tmp_path: Path
) -> None:
    second = write_set(tmp_path / "second.jsonl", [*ROWS, ("Plan a wedding.", "planning")])
    training = write_set(tmp_path / "training.jsonl", ROWS[:3])
    done = run(
        "--data",
        data,
        "--second",
        second,
        "--trained-on",
        training,
        "--classifier",
        "fast",
        "--json",
    )
    first, other = json.loads(done.stdout)["sets"]
    assert (first["n_rows"], first["n_cases"]) == (8, 8)
    assert (other["n_rows"], other["n_cases"]) == (9, 6)
    assert other["bench"] == "scenario-classifier-second"
    assert {seen["name"]: seen["n_rows"] for seen in other["seen"]} == {
        "the seeds": 0,
        "the labelled queries": 0,
        str(training): 3,
    }
    assert "training file is not on this machine" in done.stderr
    shown = run(
        "--data", data, "--second", second, "--trained-on", training, "--classifier", "fast"
    )
    assert "3 of the file's 9 rows are left out." in shown.stdout


def test_by_default_the_released_sets_are_measured(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data" / "autoj" / "scenario_classifier").mkdir(parents=True)
    write_set(tmp_path / "data" / "autoj" / "scenario_classifier" / "testdata.jsonl")
    write_set(tmp_path / "data" / "autoj" / "scenario_classifier" / "traindata.jsonl", ROWS[:2])
    monkeypatch.setenv("AUTOJ_DATA", str(tmp_path / "data"))
    alone = run("--classifier", "fast", "--json")
    assert len(json.loads(alone.stdout)["sets"]) == 1
    assert "autoj data get eval-p" in alone.stderr
    pairs = [
        {"scenario": name, "prompt": query, "response 1": "a", "response 2": "b", "label": 0}
        for query, name in ROWS
    ]
    write_records(tmp_path / "data" / "autoj" / "testdata_pairwise.jsonl", pairs)
    both = json.loads(run("--classifier", "fast", "--json").stdout)["sets"]
    # The second and the third query are one, which stands in the training file.
    assert [(each["bench"], each["n_cases"]) for each in both] == [
        ("scenario-classifier", 8),
        ("scenario-classifier-eval-p", 5),
    ]
    none = run("--classifier", "fast", "--second", "none", "--json")
    assert len(json.loads(none.stdout)["sets"]) == 1


def test_a_language_model_is_asked_once_and_its_run_is_looked_up(
    run: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = judge(monkeypatch, tmp_path)
    done = run("--judge", "script.yaml", "--data", data)
    assert done.exit_code == 0
    assert "script: 1 unreadable answers count as wrong" in done.stdout
    # Two of the eight queries differ by more than their letters, so each is asked.
    assert len(recorder.asked) == 8
    assert recorder.asked[0].messages[-1].content.startswith("Identify the scenario")
    assert "fast" not in done.stdout
    again = run("--judge", "script.yaml", "--data", data, "--classifier", "fast", "--json")
    assert len(recorder.asked) == 8
    (found,) = json.loads(again.stdout)["sets"]
    assert [result["judge"] for result in found["results"]] == ["fast", "script"]
    # planning thrice, the loop, and the greeting; the poem could not be read.
    assert found["results"][1]["estimates"][0]["value"] == 5 / 8
    (kept,) = (tmp_path / "runs").glob("*/scenario-classifier.json")
    assert read_result(kept).details["n_unreadable"] == 1


def test_a_killed_run_goes_on(
    run: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(monkeypatch, tmp_path, dies_after=3)
    arguments = ("--judge", "script.yaml", "--data", data, "--out", tmp_path / "out", "--json")
    with pytest.raises(Killed):
        run(*arguments)
    recorder = judge(monkeypatch, tmp_path)
    done = run(*arguments)
    assert done.exit_code == 0
    assert len(recorder.asked) == 5
    assert list((tmp_path / "out" / "runs").iterdir())


def test_failures_are_left_out_and_end_with_1(
    run: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(request: Request) -> str | Failure:
        if "rain" in request.messages[-1].content:
            return Failure(key=request.key, error="Refused", message="no", retryable=False,
                           attempts=1)  # fmt: skip
        return answer(request)

    judge(monkeypatch, tmp_path, fails)
    done = run("--judge", "script.yaml", "--data", data, "--json")
    assert done.exit_code == 1
    accuracy = json.loads(done.stdout)["sets"][0]["results"][0]["estimates"][0]
    assert (accuracy["n"], accuracy["n_unscored"]) == (7, 1)


def test_a_menu_can_be_shown_to_models_that_do_not_know_the_names(
    run: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = judge(monkeypatch, tmp_path)
    done = run("--judge", "script.yaml", "--data", data, "--protocol", "scenario-menu")
    assert done.exit_code == 0
    assert "code_simplification" in recorder.asked[0].messages[0].content


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        (("--data", "gone.jsonl"), DataError, "gone.jsonl"),
        (("--data", "bare.jsonl"), DataError, "bare.jsonl:1:scenario"),
        (("--data", "own.jsonl"), ConfigError, "knows none of the scenarios of own.jsonl"),
        (("--classifier", "fats", "--data", "queries.jsonl"), UnknownComponent, "fast"),
        (("--second", "gone.jsonl", "--data", "queries.jsonl"), DataError, "gone.jsonl"),
        (("--trained-on", "gone.jsonl", "--data", "queries.jsonl"), DataError, "gone.jsonl"),
        ((), DataError, "autoj data get scenario-classifier-test"),
    ],
)
def test_bad_input_is_told(
    run: Command,
    data: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    kind: type[Exception],
    said: str,
) -> None:
    write_records(tmp_path / "bare.jsonl", [{"query": "Why?"}])
    write_set(tmp_path / "own.jsonl", [("Where is my parcel?", "delivery")])
    done = run(*arguments)
    assert isinstance(done.exception, kind)
    assert said in str(done.exception)


def test_what_a_file_says_cannot_move_the_cursor(run: Command, tmp_path: Path) -> None:
    rows = [("Plan.", "\x1b[31mred[bold]"), ("Plan this.", "planning")]
    done = run("--data", write_set(tmp_path / "own.jsonl", rows), "--classifier", "fast")
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert "[bold]" in done.stdout
