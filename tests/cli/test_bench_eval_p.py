"""`autoj bench eval-p` and `autoj bench pairs` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.jsonl import write_records
from autoj.runs import judge_run, open_run

from ..scripted import Recorder

PAIRS = [
    {
        "prompt": f"Question {number}?",
        "response 1": f"First answer {number}.",
        "response 2": f"The second answer {number}, which is longer.",
        "label": number % 3,
        "scenario": ("planning", "ranking")[number % 2],
    }
    for number in range(12)
]


@pytest.fixture
def run(run, monkeypatch, tmp_path):
    monkeypatch.delenv("AUTOJ_DATA", raising=False)
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    return run


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    write_records(tmp_path / "pairs.jsonl", PAIRS)
    return tmp_path / "pairs.jsonl"


@pytest.fixture
def labels(tmp_path: Path) -> tuple[Path, Path]:
    """Right in the first order; in the second, every fourth names what stands first."""
    own = [{"output": row["label"]} for row in PAIRS]
    page = {0: 1, 1: 0, 2: 2}
    swapped = [
        {"output": 0 if number % 4 == 0 else page[row["label"]]}  # type: ignore[index]
        for number, row in enumerate(PAIRS)
    ]
    write_records(tmp_path / "own.jsonl", own)
    write_records(tmp_path / "swapped.jsonl", swapped)
    return tmp_path / "own.jsonl", tmp_path / "swapped.jsonl"


def test_predictions_give_every_figure_beside_the_trivial_judges(run, pairs, labels):
    own, swapped = labels
    code, out, err = run(
        "bench", "eval-p", "--data", pairs, "--predictions", own, "--swapped", swapped,
        "--name", "Mine",
    )  # fmt: skip
    assert code == 0
    for text in ("Mine", "accuracy", "100.0 %", "agreement", "consistency", "General Commun"):
        assert text in out
    for name in ("longest", "first", "random", "majority"):
        assert name in out
    assert max(map(len, out.splitlines())) <= 80
    assert "autoj-pairwise" in err


def test_json_holds_every_part_and_is_saved_where_told(run, pairs, labels, tmp_path):
    own, swapped = labels
    place = tmp_path / "result.json"
    code, out, _ = run(
        "bench", "eval-p", "--data", pairs, "--predictions", own, "--swapped", swapped,
        "--json", "--save", place,
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    figures = {estimate["name"]: estimate["value"] for estimate in found["estimates"]}
    assert figures["accuracy"] == 1.0
    assert figures["agreement"] == pytest.approx(10 / 12)
    assert set(found["parts"]) == {"group", "scenario"}
    assert [trivial["judge"] for trivial in found["trivial"]] == [
        "longest", "first", "random", "majority",
    ]  # fmt: skip
    assert json.loads(place.read_bytes())["estimates"] == found["estimates"]


def test_a_result_that_cannot_be_kept_is_an_error_and_no_traceback(run, pairs, labels, tmp_path):
    arguments = ("bench", "eval-p", "--data", pairs, "--predictions", labels[0], "--save")
    for place in (tmp_path / "no" / "where.json", tmp_path):
        code, _, err = run(*arguments, place)
        assert code == 2
        assert "cannot be " in err


def test_one_order_has_nothing_averaged(run, pairs, tmp_path, pair_spec):
    spec = pair_spec(orders="one")
    with open_run(tmp_path / "old", spec, open_cases(pairs)) as folder:
        judge_run(folder, spec, Recorder())
    code, out, _ = run("bench", "eval-p", "--data", pairs, "--run", "old")
    assert code == 0
    assert "averaged accuracy Not applicable" in " ".join(out.split())


def test_scores_are_compared_with_the_tie_band_that_is_shown(run, pairs, tmp_path):
    mine = [{"scores": [0.4, 0.1]} if row["label"] == 2 else {"scores": [3, 1]} for row in PAIRS]
    write_records(tmp_path / "mine.jsonl", mine)
    write_records(tmp_path / "other.jsonl", [{"scores": [0.0, 5.0]}] * 12)
    code, out, _ = run(
        "bench", "eval-p", "--data", pairs, "--scores", "mine.jsonl", "--validation", pairs,
        "--validation-scores", "mine.jsonl", "--against-scores", "other.jsonl", "--json",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    figures = {estimate["name"]: estimate["value"] for estimate in found["estimates"]}
    difference, decided = found["differences"]
    assert decided["figure"] == "averaged accuracy, decided"
    # The band makes four ties right: 8 of 12 against the 4 that always saying b gets.
    assert figures["averaged accuracy"] == pytest.approx(8 / 12)
    assert difference["overall"]["estimate"]["value"] == pytest.approx(8 / 12 - 4 / 12)


def test_a_stored_run_needs_no_model(run, pairs, tmp_path, pair_spec):
    with open_run(tmp_path / "old", pair_spec(), open_cases(pairs)) as folder:
        judge_run(folder, pair_spec(), Recorder())
    code, out, _ = run("bench", "eval-p", "--data", pairs, "--run", tmp_path / "old")
    assert code == 0
    assert "averaged accuracy" in out
    assert (tmp_path / "old" / "eval-p.json").is_file()
    _, again, _ = run("bench", "eval-p", "--data", pairs, "--run", tmp_path / "old")
    assert again == out
    replay = f"scripted:{tmp_path / 'old'}"
    code, judged, _ = run(
        "bench", "eval-p", "--data", pairs, "--judge", replay, "--protocol", "pairwise-verdict",
        "--out", "new",
    )  # fmt: skip
    assert code == 0
    assert (tmp_path / "new" / "eval-p.json").is_file()
    assert _percentages(judged) == _percentages(out)


def _percentages(text: str) -> list[str]:
    return [line for line in text.splitlines() if "%" in line]


def test_scores_show_the_in_sample_band_apart_from_the_honest_one(run, pairs, tmp_path):
    scores = [{"scores": [number % 3 * 0.1, 0.1]} for number in range(12)]
    write_records(tmp_path / "scores.jsonl", scores)
    code, out, _ = run(
        "bench", "eval-p", "--data", pairs, "--scores", "scores.jsonl", "--validation", pairs,
        "--validation-scores", "scores.jsonl",
    )  # fmt: skip
    assert code == 0
    assert "tie band chosen in-sample" in out
    assert "in-sample). It is optimistic." in " ".join(out.split())
    # The validation set is the set itself here, and the note says so.
    assert "in-sample: 12 of its queries are in the set" in " ".join(out.split())
    assert "Not applicable: each response is rated alone." in " ".join(out.split())


def test_differences_from_another_judge_are_paired(run, pairs, labels):
    own, swapped = labels
    code, out, _ = run(
        "bench", "eval-p", "--data", pairs, "--predictions", own, "--swapped", swapped,
        "--against", swapped,
    )  # fmt: skip
    assert code == 0
    assert "p (Holm)" in out
    assert "accuracy" in out.split("p (Holm)")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give one of --judge, --run, --predictions and --scores"),
        (("--run", "x", "--scores", "y"), "give one of --judge"),
        (
            ("--predictions", "own.jsonl", "--against-swapped", "own.jsonl"),
            "--against-swapped needs",
        ),
        (("--predictions", "own.jsonl", "--validation-scores", "x"), "needs --validation"),
        (("--scores", "own.jsonl", "--swapped", "own.jsonl"), "--swapped needs --predictions"),
        (("--predictions", "own.jsonl", "--limit", "4"), "--limit needs --judge"),
        (("--predictions", "own.jsonl", "--validation", "pairs.jsonl"), "chooses a tie band"),
        (("--run", "nowhere"), "is not a run folder"),
        (("--predictions", "nowhere.jsonl"), "there is no such file"),
    ],
)
def test_flags_that_make_no_sense_are_refused(run, pairs, labels, arguments, message):
    code, out, err = run("bench", "eval-p", "--data", pairs, *arguments)
    assert code == 2
    assert message in err
    assert out == ""


def test_without_the_set_it_says_how_to_get_it(run):
    code, _, err = run("bench", "eval-p", "--judge", "embedded")
    assert code == 2
    assert "autoj data get eval-p" in err


def test_unlabelled_pairs_cannot_measure_a_judge(run, tmp_path):
    write_records(tmp_path / "bare.jsonl", [{"query": "Q?", "responses": ["x", "y"]}])
    write_records(tmp_path / "own.jsonl", [{"output": 0}])
    code, _, err = run("bench", "pairs", "bare.jsonl", "--predictions", "own.jsonl")
    assert code == 2
    assert "bare.jsonl:1" in err
    assert "expected a pair with the label" in err


def test_pairs_are_broken_down_by_subset_and_style(run, tmp_path):
    rows = [
        {
            "query": f"Q{number}?",
            "responses": ["x", "y"],
            "label": "a",
            "meta": {"domain": "chat", "style_chosen": number, "style_rejected": 1},
        }
        for number in range(3)
    ]
    write_records(tmp_path / "rm.jsonl", rows)
    write_records(tmp_path / "own.jsonl", [{"output": 0}] * 3)
    code, out, _ = run("bench", "pairs", "rm.jsonl", "--predictions", "own.jsonl", "--by", "style")
    assert code == 0
    for style in ("easy", "normal", "hard"):
        assert style in out
    _, out, _ = run("bench", "pairs", "rm.jsonl", "--predictions", "own.jsonl", "--json")
    assert set(json.loads(out)["parts"]) == {"subset", "style"}


@pytest.mark.parametrize("name", ["all", "mt-bench"])
def test_win_rates_of_other_tools_stand_side_by_side(run, tmp_path, cases, pair_spec, name):
    with open_run(tmp_path / "old", pair_spec(), cases) as folder:
        judge_run(folder, pair_spec(), Recorder())
    code, out, _ = run("show", "old", "--convention", name)
    assert code == 0
    assert "mt-bench" in out
    assert ("arena-hard" in out) == (name == "all")
    assert max(map(len, out.splitlines())) <= 80


def test_win_rates_of_another_tools_verdicts_are_shown_by_pair_of_models(run, tmp_path):
    games = [("A>>B", "B>A"), ("A=B", "A=B"), ("B>A", None)]
    rows = [
        {
            "question_id": f"q{number}",
            "model": "mine",
            "judge": "gpt-4",
            "games": [{"score": first}, {"score": second}],
        }
        for number, (first, second) in enumerate(games)
    ]
    write_records(tmp_path / "arena.jsonl", rows)
    code, out, _ = run("show", "arena.jsonl", "--convention", "all")
    assert code == 0
    assert "a is mine" in out
    assert "arena-hard" in out
    code, out, _ = run("show", "arena.jsonl", "--convention", "arena-hard", "--json")
    (pair,) = json.loads(out)["pairs"]
    # The baseline stands first, then second: it wins clearly, wins, ties twice and loses. The tool
    # reports on the model.
    assert pair["a"] == "mine"
    assert pair["win_rates"][0]["value"] == pytest.approx(1 - (3 + 1 + 0.5 + 0.5 + 0) / 7)


def test_a_sample_is_the_same_cases_each_time_and_says_so(run, pairs, tmp_path, pair_spec):
    with open_run(tmp_path / "old", pair_spec(), open_cases(pairs)) as folder:
        judge_run(folder, pair_spec(), Recorder())
    asked = (
        "bench", "eval-p", "--data", pairs, "--judge", f"scripted:{tmp_path / 'old'}",
        "--protocol", "pairwise-verdict", "--limit", "6", "--out", "part",
    )  # fmt: skip
    code, out, _ = run(*asked)
    assert code == 0
    assert "a sample of 6 of 12 cases, seed 0" in " ".join(out.split())
    code, again, err = run(*asked)
    assert (code, again) == (0, out)
    assert "no new requests were needed" in err
    code, _, err = run(*asked, "--seed", "1")
    assert code == 2
    assert "derivation" in err


def test_labels_of_some_cases_correct_the_win_rate(run, tmp_path, pair_spec):
    rows = [
        {"id": f"c{n}", "query": f"Q{n}?", "responses": [f"x{n}", f"y{n}"]}
        | ({"label": "ab"[n % 2]} if n < 20 else {})
        for n in range(60)
    ]
    write_records(tmp_path / "some.jsonl", rows)
    with open_run(tmp_path / "old", pair_spec(), open_cases(tmp_path / "some.jsonl")) as folder:
        judge_run(folder, pair_spec(), Recorder())
    code, out, _ = run("show", "old", "--first", "0")
    assert code == 0
    assert "the same, corrected by labels" in out
    code, out, _ = run("show", "old", "--json")
    names = [found["name"] for found in json.loads(out)["summary"]["estimates"]]
    assert "win rate, corrected by the labels" in names


def test_a_cap_stops_the_judging_without_figures(run, pairs, tmp_path, pair_spec):
    with open_run(tmp_path / "old", pair_spec(), open_cases(pairs)) as folder:
        judge_run(folder, pair_spec(), Recorder())
    asked = (
        "bench", "pairs", pairs, "--judge", f"scripted:{tmp_path / 'old'}", "--protocol",
        "pairwise-verdict", "--out", "capped",
    )  # fmt: skip
    code, out, err = run(*asked, "--max-requests", "7")
    assert (code, out) == (1, "")
    assert "--max-requests 7 is reached" in err
    assert not (tmp_path / "capped" / "pairs-pairs.json").exists()
    code, out, _ = run(*asked)
    assert code == 0
    assert "averaged accuracy" in out


def test_a_scenario_that_is_not_known_is_taken_for_others_where_a_flag_says_so(
    run, tmp_path, pair_spec
):
    rows = [{**row, "scenario": "sea shanties"} for row in PAIRS]
    write_records(tmp_path / "sea.jsonl", rows)
    plain = [{**row, "scenario": "planning"} for row in PAIRS]
    write_records(tmp_path / "plain.jsonl", plain)
    with open_run(tmp_path / "old", pair_spec(), open_cases(tmp_path / "plain.jsonl")) as folder:
        judge_run(folder, pair_spec(), Recorder())
    asked = (
        "bench", "pairs", "sea.jsonl", "--judge", f"scripted:{tmp_path / 'old'}",
        "--protocol", "pairwise-verdict", "--out", "r",
    )  # fmt: skip
    code, _, err = run(*asked)
    assert code == 2
    assert "--unknown-scenario others" in err
    code, out, _ = run(*asked, "--unknown-scenario", "others")
    assert code == 0
    assert "averaged accuracy" in out
