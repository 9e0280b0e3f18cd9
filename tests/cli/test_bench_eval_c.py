"""`autoj bench eval-c` as a user meets it: tables, JSON, files, errors."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
import typer
from typer.testing import CliRunner

from autoj.bench.eval_c.critics import own_protocol
from autoj.cli.bench_eval_c import eval_c
from autoj.datasets import open_cases
from autoj.errors import ConfigError, DataError, SpecMismatch
from autoj.judges import load_card
from autoj.metrics.result import read_result
from autoj.records import Failure, Request
from autoj.runs import RunFolder, judge_run, make_spec, open_run

from ..bench.critics import (
    FIRST,
    N_CASES,
    SHARP,
    compare,
    critics,
    write_critiques,
    write_set,
)
from ..scripted import CARD, Recorder

APP = typer.Typer(pretty_exceptions_enable=False)
APP.command()(eval_c)


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Runs the command in a folder of its own; gives the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")

    def command(*arguments: object) -> tuple[int, str, str]:
        done = CliRunner().invoke(APP, [str(argument) for argument in arguments])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.stdout, done.stderr

    return command


@pytest.fixture
def files(tmp_path) -> tuple[object, ...]:
    """The flags for the small set, with both critics in files."""
    set_path = write_set(tmp_path / "set.jsonl")
    other = write_critiques(tmp_path / "other.jsonl")
    return ("--data", set_path, "--critiques", set_path, "--against-critiques", other)


@pytest.fixture
def judge(tmp_path, files) -> tuple[object, ...]:
    """The flags for a judge that replays a recorded comparison."""
    compare(tmp_path / "recorded", Path(str(files[1])), orders="both")
    name = f"scripted:{tmp_path / 'recorded'}"
    return ("--judge", name, "--protocol", "critique-comparison")


def percents(result: dict) -> dict[str, float]:
    return {each["name"]: each["value"] for each in result["estimates"]}


def test_two_critics_are_compared_and_shown(call, files, judge):
    code, out, err = call(*files, *judge)
    assert code == 0
    assert "set.jsonl as autoj-critique" in err
    for text in ("of mine, against those of other", "62.5 %", "Summarization", "this result"):
        assert text in out
    assert "8 critiques of mine and 0 critiques of other" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    (folder,) = Path("runs").iterdir()
    saved = read_result(folder / "eval-c.json")
    assert saved.estimates[0].value == len(SHARP) / N_CASES
    assert RunFolder.existing(folder).spec().seed == 0


def test_a_second_start_and_the_stored_run_ask_nothing(call, files, judge):
    _, first, _ = call(*files, *judge, "--json", "--out", "run")
    _, second, err = call(*files, *judge, "--json", "--out", "run")
    assert "no new requests were needed" in err
    assert first == second
    code, third, _ = call("--run", "run", "--data", files[1], "--json")
    assert code == 0
    assert third == first


def test_both_orders_and_scenarios(call, files, judge):
    _, out, _ = call(*files, *judge, "--orders", "both", "--by", "scenario", "--out", "run")
    assert "consistency of the orders" in out
    assert "post_summarization" in out
    assert "where they disagree it counts as a tie" in " ".join(out.split())
    assert RunFolder.existing(Path("run")).spec().on_conflict == "tie"


def test_other_settings_do_not_go_on_with_a_run(call, files, judge):
    call(*files, *judge, "--out", "run")
    with pytest.raises(SpecMismatch, match="keep_ratings"):
        call(*files, *judge, "--out", "run", "--keep-ratings")


def test_votes_are_written_and_scored_without_a_model(call, files, judge):
    code, first, _ = call(*files, *judge, "--json", "--write-votes", "votes.jsonl")
    assert code == 0
    rows = [orjson.loads(line) for line in Path("votes.jsonl").read_bytes().splitlines()]
    assert len(rows) == N_CASES
    names = ("--critic-name", "mine", "--against-name", "ChatGPT")
    code, out, _ = call("--votes", "votes.jsonl", "--data", files[1], *names, "--json")
    assert code == 0
    result = orjson.loads(out)
    assert percents(result) == percents(orjson.loads(first))
    assert result["judge"] == "mine"
    human = [row for row in result["published"] if row["judged_by"] == "human"]
    assert {"against": "ChatGPT", "win": 117, "tie": 72, "lose": 43}.items() <= human[-1].items()
    _, table, _ = call("--votes", "votes.jsonl", "--data", files[1], *names)
    for text in ("people", "paper, Table 22, Fig. 3b", "README, leaderboard", "83.3/8.3/8.3"):
        assert text in table
    assert max(map(len, table.splitlines())) <= 80


def record_critic(folder: Path, set_path: Path) -> str:
    """A critic that wrote the first critiques, but for one case, at which it failed."""

    def answer(request: Request) -> str | Failure:
        n = int(request.case_id.removeprefix("line-")) - 1
        if n == 0:
            return Failure(
                key=request.key, error="Refused", message="no", retryable=False, attempts=1
            )
        return FIRST[n]

    spec = make_spec("rate", CARD, protocol="single")
    with open_run(folder, spec, open_cases(set_path)) as run:
        judge_run(run, spec, Recorder(answer))
    return f"scripted:{folder}"


def test_a_judge_as_critic_writes_critiques_first(call, tmp_path, files):
    critic = record_critic(tmp_path / "critic", Path(str(files[1])))
    pair = critics(first=(None, *FIRST[1:]))
    compare(tmp_path / "recorded", Path(str(files[1])), pair=pair, orders="both")
    arguments = (
        "--data", files[1], "--critic", critic, "--critic-name", "writer", *files[4:],
        "--judge", f"scripted:{tmp_path / 'recorded'}", "--protocol", "critique-comparison",
    )  # fmt: skip
    code, out, err = call(*arguments, "--json", "--out", "run")
    # The case that got no critique is unscored, and the command says that something failed.
    assert code == 1
    assert "writes critiques" in err
    assert "could not be written: 1" in err
    result = orjson.loads(out)
    win = result["estimates"][0]
    assert (win["n"], win["n_unscored"]) == (N_CASES - 1, 1)
    assert win["value"] == (len(SHARP) - 1) / (N_CASES - 1)
    assert "without a critique by writer: 1;" in " ".join(result["notes"])
    # What the critic wrote lies under runs/, for other comparisons.
    assert [folder.name.startswith("set-scripted") for folder in Path("runs").iterdir()] == [True]


def test_a_judge_must_be_named_and_know_how(call, files):
    with pytest.raises(ConfigError, match="name the judge that compares") as error:
        call(*files)
    assert "gpt-4" in str(error.value.hint)
    with pytest.raises(ConfigError, match="judge 'embedded' has no protocol") as error:
        call(*files, "--judge", "embedded")
    assert "--protocol critique-comparison" in str(error.value.hint)
    with pytest.raises(ConfigError, match="'single' does not compare critiques"):
        call(*files, "--judge", "gpt-4", "--protocol", "single")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give one of --critic, --critiques, --run and --votes"),
        (("--critic", "x", "--votes", "v"), "give one of --critic, --critiques, --run"),
        (("--critic", "x", "--against", "y", "--against-critiques", "z"), "one of --against and"),
        (("--votes", "v", "--against", "y"), "both critics already"),
        (("--votes", "v", "--write-votes", "w"), "one vote per case"),
        (("--critic", "x", "--orders", "both", "--write-votes", "w"), "one vote per case"),
    ],
)
def test_flags_that_contradict_each_other_are_refused(call, arguments, said):
    with pytest.raises(ConfigError, match=said):
        call(*arguments)


def test_votes_of_both_orders_do_not_fit_the_releases_format(call, files, judge):
    call(*files, *judge, "--orders", "both", "--out", "run")
    with pytest.raises(ConfigError, match="one vote per case"):
        call("--run", "run", "--data", files[1], "--write-votes", "votes.jsonl")


def test_a_run_of_another_set_is_an_error(call, tmp_path, files, judge):
    call(*files, *judge, "--out", "run")
    rows = [orjson.loads(line) for line in Path(str(files[1])).read_bytes().splitlines()]
    other = tmp_path / "short.jsonl"
    other.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows[:5]))
    with pytest.raises(DataError, match="is not a run of this set"):
        call("--run", "run", "--data", other)


def test_hostile_names_do_not_reach_the_terminal(call, files, judge):
    names = ("--critic-name", "mine", "--against-name", "\x1b[31mred[/] [bold]x")
    _, out, _ = call(*files, *judge, *names)
    assert "\x1b" not in out
    assert "[bold]x" in out


def test_the_published_votes_give_the_published_figures(call, data_folder, monkeypatch):
    monkeypatch.setenv("AUTOJ_DATA", str(data_folder))
    votes = data_folder / "autoj" / "outputs" / "gpt-4-Eval_auto-j_vs_chatgpt.jsonl"
    code, out, _ = call("--votes", votes)
    assert code == 0
    assert "73.7 %" in out
    for line in ("Exam Questions        12   83.3", "NLP Tasks             44   79.5"):
        assert line in out
    code, out, _ = call("--votes", votes, "--json")
    result = orjson.loads(out)
    assert [
        round(estimates[0]["value"] * 100, 2) for estimates in result["parts"]["group"].values()
    ] == [100.0, 83.33, 80.0, 70.0, 72.22, 55.0, 75.0, 79.55]


def test_a_cap_holds_for_critic_and_comparison(call, tmp_path, files):
    critic = record_critic(tmp_path / "critic", Path(str(files[1])))
    compare(tmp_path / "recorded", Path(str(files[1])), orders="both")
    arguments = (
        "--data", files[1], "--critic", critic, *files[4:],
        "--judge", f"scripted:{tmp_path / 'recorded'}", "--protocol", "critique-comparison",
        "--out", "run",
    )  # fmt: skip
    # The second leaves room for all critiques, and for no whole comparison beside them.
    for cap in (2, N_CASES + 2):
        code, out, err = call(*arguments, "--max-requests", cap)
        assert (code, out) == (1, "")
        assert f"--max-requests {cap} is reached" in err
        assert not (tmp_path / "run" / "eval-c.json").exists()
    assert (tmp_path / "run" / "ledger.jsonl").is_file()


def test_a_trained_critic_is_asked_in_the_way_it_was_trained_on():
    assert own_protocol(load_card("embedded-small"), "single") == "single-verdict"
    assert own_protocol(load_card("autoj-13b"), "single") == "single"
    assert own_protocol(load_card("gpt-4"), "single-zh") == "single-zh"
