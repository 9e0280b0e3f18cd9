"""`autoj export`: what other tools read of a run, and what is never made up."""

from __future__ import annotations

import contextlib
import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autoj.datasets import open_cases
from autoj.datasets.published_verdicts import PublishedVerdict, read_verdicts
from autoj.jsonl import read_records, write_records
from autoj.records import Case, Completion, Failure, Request, Verdict
from autoj.reports.text import guarded
from autoj.runs import RunFolder, judge_run, make_spec, open_run
from autoj.runs.settings import write_settings

from ..scripted import CARD, Killed, Recorder

HOSTILE = ["=1+1", "+49", "-2", "@SUM(A1)", "\tx", "\r\nx", "＝1", 'a "b", c\n\nd;', "", "Yes."]


def pairs() -> list[dict[str, Any]]:
    rows = [
        {
            "id": f"reward-bench-{number}",
            "query": f"Question {number}?\nSay so.",
            "responses": [
                {"text": text, "model": "m1"},
                {"text": f"Other {number}.", "model": "m2"},
            ],
            "label": ("a", "b", "tie", None)[number % 4],
            "meta": {"subset": "easy" if number % 2 else "hard", "question_id": 100 + number},
        }
        for number, text in enumerate(HOSTILE)
    ]
    return [*rows, {"id": "own", "query": "Why?", "responses": ["x", "y"], "label": "a"}]


def unreadable_at_times(request: Request) -> str | tuple[float, ...]:
    """Decisions by case; one case's answer says nothing."""
    text = " ".join(message.content for message in request.messages)
    if "Question 3?" in text:
        return "I cannot say."
    first = request.shown == (0, 1)
    winner = "Tie" if "Question 2?" in text else "Response 1" if first else "Response 2"
    return f"So, the final decision is {winner}."


def by_order(first: tuple[float, ...], second: tuple[float, ...]) -> Any:
    """Scores of the choices "Response 1", "Response 2" and "Tie" for each order of a pair."""
    return lambda request: first if request.shown == (0, 1) else second


@pytest.fixture
def judged(tmp_path):
    """Makes a run of pairs with written judgments."""

    def make(
        rows: list[dict[str, Any]] | None = None,
        *,
        answer: Any = unreadable_at_times,
        task: Any = "judge",
        kind: Any = None,
        dies_after: int | None = None,
        **settings: Any,
    ) -> RunFolder:
        path = tmp_path / "input.jsonl"
        write_records(path, pairs() if rows is None else rows)
        spec = make_spec(task, CARD, **{"protocol": "pairwise", **settings})
        with (
            open_run(tmp_path / "run", spec, open_cases(path), kind) as folder,
            contextlib.suppress(Killed),
        ):
            judge_run(folder, spec, Recorder(answer, dies_after=dies_after))
        return RunFolder.existing(tmp_path / "run")

    return make


def verdicts(folder: RunFolder) -> dict[str, Verdict]:
    return {verdict.case_id: verdict for verdict in folder.verdicts()}


def test_every_text_of_a_csv_comes_back_and_none_of_it_is_a_formula(run, judged):
    folder = judged()
    code, _, err = run("export", folder.path, "--format", "csv", "--out", "out.csv")
    assert code == 0
    assert "11 rows written to out.csv" in err
    assert "1 pairs have no winner" in err
    with open("out.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["response_a"] for row in rows] == [*map(guarded, HOSTILE), "x"]
    assert [row["response_a"].removeprefix("'") for row in rows] == [*HOSTILE, "x"]
    for row in rows:
        assert not [cell for cell in row.values() if cell.startswith(tuple("=+-@\t\r\n＝"))]
    by_id = verdicts(folder)
    assert [row["winner"] for row in rows] == [by_id[row["id"]].winner or "" for row in rows]
    open_row = rows[3]
    empty = ("winner", "consistent", "order_1_winner", "p_a", "rating_a")
    assert [open_row[name] for name in empty] == [""] * 5
    assert (open_row["rule"], open_row["n_unreadable"]) == ("incomplete", "2")
    assert rows[0]["consistent"] == "true"


def test_the_csv_is_read_as_cases_again(run, judged):
    folder = judged([row for row in pairs() if row["id"] in ("reward-bench-7", "own")])
    run("export", folder.path, "--format", "csv", "--out", "out.csv")
    again = [row.case for row in open_cases(Path("out.csv")).read()]
    for case, found in zip(folder.cases(), again, strict=True):
        assert isinstance(found, Case)
        assert (found.id, found.query, found.label) == (case.id, case.query, case.label)
        assert found.responses == case.responses


def test_parquet_holds_the_same_rows_with_their_types(run, judged):
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = judged(protocol="pairwise-verdict", answer=lambda request: (-1.0, -2.0, -3.0))
    code, _, _ = run("export", folder.path, "--format", "parquet", "--out", "out.parquet")
    assert code == 0
    rows = parquet.read_table("out.parquet").to_pylist()
    assert [row["response_a"] for row in rows] == [*HOSTILE, "x"]
    by_id = verdicts(folder)
    for row in rows:
        verdict = by_id[row["id"]]
        assert (row["p_a"], row["p_b"], row["p_tie"]) == verdict.probabilities
        assert row["consistent"] is verdict.consistent
        assert row["n_failed"] == 0
    assert rows[-1]["model_a"] is None


def test_jsonl_is_native_with_the_whole_verdict(run, judged):
    folder = judged()
    assert run("export", folder.path, "--format", "jsonl", "--out", "out.jsonl")[0] == 0
    again = [row.case for row in open_cases(Path("out.jsonl")).read()]
    assert again == list(folder.cases())
    rows = [json.loads(line) for line in Path("out.jsonl").read_bytes().splitlines()]
    by_id = verdicts(folder)
    for row in rows:
        verdict = by_id[row["id"]]
        assert (row["winner"], row["consistent"], row["rule"]) == (
            verdict.winner, verdict.consistent, verdict.rule,
        )  # fmt: skip
        assert tuple(row["winners"]) == verdict.winners


def test_alpaca_eval_reads_a_preference_or_null(run, judged):
    folder = judged()
    code, _, err = run("export", folder.path, "--format", "alpaca_eval", "--out", "out.json")
    assert code == 0
    assert "1 pairs have no winner (failed, unreadable or undecided): preference is null" in err
    rows = json.loads(Path("out.json").read_bytes())
    assert list(rows[0]) == [
        "instruction", "output_1", "generator_1", "output_2", "generator_2", "annotator",
        "preference",
    ]  # fmt: skip
    assert [row["preference"] for row in rows] == [1.0, 1.0, 1.5, None, *[1.0] * 7]
    assert (rows[0]["generator_1"], rows[-1]["generator_1"]) == ("m1", "a")
    # As the tool's files are read here, the same winners come out.
    items = [found.item for found in read_verdicts(Path("out.json"))]
    for item, verdict in zip(items, folder.verdicts(), strict=True):
        assert isinstance(item, PublishedVerdict)
        assert item.verdict.winner == verdict.winner


def test_alpaca_eval_gets_graded_preferences_of_probabilities(run, judged):
    folder = judged(
        pairs()[:1],
        protocol="pairwise-verdict",
        answer=by_order((-9.0, -1.0, -9.0), (-1.0, -9.0, -9.0)),
    )
    run("export", folder.path, "--format", "alpaca_eval", "--out", "out.json")
    (row,) = json.loads(Path("out.json").read_bytes())
    (verdict,) = folder.verdicts()
    assert verdict.winner == "b"
    assert verdict.probabilities is not None
    assert row["preference"] == pytest.approx(
        1 + verdict.probabilities[1] + verdict.probabilities[2] / 2
    )
    assert 1.99 < row["preference"] <= 2


@pytest.mark.parametrize(("rule", "expected"), [("tie", 1.5), ("unresolved", None)])
def test_alpaca_eval_gets_what_decided_a_conflict_and_not_its_probabilities(
    run, judged, rule, expected
):
    folder = judged(
        pairs()[:1],
        protocol="pairwise-verdict",
        on_conflict=rule,
        answer=by_order((-1.0, -2.0, -9.0), (-1.0, -1.5, -9.0)),
    )
    (verdict,) = folder.verdicts()
    assert verdict.consistent is False
    run("export", folder.path, "--format", "alpaca_eval", "--out", "out.json")
    (row,) = json.loads(Path("out.json").read_bytes())
    assert row["preference"] == expected


def test_mt_bench_gets_both_games_and_nothing_of_what_failed(run, judged):
    folder = judged()
    code, _, err = run("export", folder.path, "--format", "mt_bench", "--out", "out.jsonl")
    assert code == 0
    assert "10 rows" in err
    assert "1 pairs have a judgment that failed or is unreadable: left out" in err
    rows = [json.loads(line) for line in Path("out.jsonl").read_bytes().splitlines()]
    assert list(rows[0]) == [
        "question_id", "model_1", "model_2", "g1_winner", "g2_winner", "judge", "g1_user_prompt",
        "g1_judgment", "g2_user_prompt", "g2_judgment", "turn", "tstamp",
    ]  # fmt: skip
    assert [row["question_id"] for row in rows] == [100, 101, 102, *range(104, 110), "own"]
    assert (rows[0]["g1_winner"], rows[0]["g2_winner"]) == ("model_1", "model_1")
    assert rows[0]["judge"] == ["script", "pairwise"]
    assert rows[0]["g1_judgment"] == "So, the final decision is Response 1."
    assert rows[0]["g2_judgment"] == "So, the final decision is Response 2."
    assert HOSTILE[7] in rows[6]["g1_user_prompt"]
    items = [found.item for found in read_verdicts(Path("out.jsonl"))]
    known = [verdict for verdict in folder.verdicts() if None not in verdict.winners]
    for item, verdict in zip(items, known, strict=True):
        assert isinstance(item, PublishedVerdict)
        assert item.verdict.winners == verdict.winners


def test_mt_bench_gets_ratings_and_none_for_what_could_not_be_read(run, judged):
    def answer(request: Request) -> str:
        text = " ".join(message.content for message in request.messages)
        return "No idea." if "Question 1?" in text else "Good. Rating: [[7]]"

    rows = [
        {"id": str(n), "query": f"Question {n}?", "response": "x", "model": "m1"} for n in range(3)
    ]
    folder = judged(rows, task="rate", protocol="single", answer=answer)
    code, _, err = run("export", folder.path, "--format", "mt_bench", "--out", "out.jsonl")
    assert code == 0
    assert "1 ratings failed or are unreadable: left out" in err
    found = [json.loads(line) for line in Path("out.jsonl").read_bytes().splitlines()]
    assert [(row["question_id"], row["model"], row["score"], row["turn"]) for row in found] == [
        ("0", "m1", 7.0, 1), ("2", "m1", 7.0, 1),
    ]  # fmt: skip
    assert [found.item.verdict.ratings for found in read_verdicts(Path("out.jsonl"))] == [
        (7.0,), (7.0,),
    ]  # fmt: skip
    # A table has a row per response, and an empty cell where there is no rating.
    run("export", folder.path, "--format", "csv", "--out", "out.csv")
    with open("out.csv", encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    assert [row["rating"] for row in table] == ["7.0", "", "7.0"]
    code, _, err = run("export", folder.path, "--format", "alpaca_eval", "--out", "out.json")
    assert code == 2
    assert "is a run of autoj rate, and AlpacaEval's layout is for pairs" in err
    assert not Path("out.json").exists()


@pytest.mark.parametrize("critique", [False, True])
def test_mt_bench_reads_the_score_from_the_text_of_a_scored_rating(run, judged, critique):
    def answer(request: Request) -> str | tuple[float, ...]:
        if request.choices is None:
            return "It cites [[3]] sources and is clear.\n\n"
        # Between 3 and 5: the likeliest whole number is not the mean.
        return tuple(
            0.0 if rating == 3 else -1.0 if rating == 5 else -99.0 for rating in range(1, 11)
        )

    rows = [{"id": "0", "query": "Question?", "response": "x", "model": "m1"}]
    folder = judged(rows, task="rate", protocol="single-verdict", answer=answer, critique=critique)
    code, _, _ = run("export", folder.path, "--format", "mt_bench", "--out", "out.jsonl")
    assert code == 0
    (row,) = [json.loads(line) for line in Path("out.jsonl").read_bytes().splitlines()]
    assert 3 < row["score"] < 5
    # As MT-Bench parses it, but for the last one, which is the judge's.
    stated = re.findall(r"\[\[(\d+\.?\d*)\]\]", row["judgment"])
    assert float(stated[-1]) == pytest.approx(row["score"], abs=0.005)
    assert ("is clear" in row["judgment"]) == critique
    assert stated[:-1] == (["3"] if critique else [])


def test_reward_bench_gets_columns_of_labelled_pairs(run, judged):
    folder = judged()
    code, _, err = run("export", folder.path, "--format", "reward_bench", "--out", "out.json")
    assert code == 0
    assert "4 pairs have no label that names one response: left out" in err
    record = json.loads(Path("out.json").read_bytes())
    assert (record["model"], record["model_type"]) == ("script", "Generative RM")
    assert record["id"] == [0, 1, 4, 5, 8, 9, "own"]
    assert record["results"] == [1, 0, 1, 0, 1, 0, 1]
    assert record["subset"] == ["hard", "easy", "hard", "easy", "hard", "easy", "unnamed"]
    assert record["text_chosen"][1] == [
        {"role": "user", "content": "Question 1?\nSay so."},
        {"role": "assistant", "content": "Other 1."},
    ]
    columns = ("text_chosen", "text_rejected", "results", "subset", "id")
    assert {len(record[name]) for name in columns} == {7}


def test_reward_bench_gets_scores_where_each_response_was_rated(run, judged):
    def answer(request: Request) -> tuple[float, ...]:
        """2 for the first response of each pair, 4 for the second."""
        return tuple(-abs(rating - 2 - 2 * request.shown[0]) * 9.0 for rating in range(1, 11))

    folder = judged(protocol="pairwise-by-rating", answer=answer)
    run("export", folder.path, "--format", "reward_bench", "--out", "out.json")
    record = json.loads(Path("out.json").read_bytes())
    assert [
        (chosen > rejected) == bool(result)
        for chosen, rejected, result in zip(
            record["scores_chosen"], record["scores_rejected"], record["results"], strict=True
        )
    ] == [True] * len(record["id"])
    run("export", folder.path, "--format", "mt_bench", "--out", "out.jsonl")
    row = json.loads(Path("out.jsonl").read_bytes().splitlines()[0])
    assert row["g1_winner"] == row["g2_winner"] == "model_2"
    assert row["m1_score"] < row["m2_score"]
    assert row["g1_user_prompt"] != row["g2_user_prompt"]


def test_one_order_is_not_two_games(run, judged):
    folder = judged(orders="one")
    code, _, err = run("export", folder.path, "--format", "mt_bench", "--out", "out.jsonl")
    assert code == 2
    assert "asked some or all pairs in one order" in err
    assert run("export", folder.path, "--format", "csv", "--out", "out.csv")[0] == 0


def test_a_run_that_was_killed_is_exported_as_far_as_it_is(run, judged):
    folder = judged(dies_after=9)
    code, out, err = run("export", folder.path, "--format", "jsonl", "--out", "o.jsonl", "--json")
    assert code == 0
    assert "7 of 11 cases are not judged yet and left out: the run is not finished" in err
    told = json.loads(out)
    assert (told["n_judged"], told["n_rows"]) == (4, 4)
    assert len(Path("o.jsonl").read_bytes().splitlines()) == 4


def test_failures_are_no_scores_in_any_format(run, judged):
    class Failing(Recorder):
        def _pairs(self, requests):
            for request in requests:
                yield (
                    request,
                    Failure(
                        key=request.key, error="Refused", message="no", retryable=False, attempts=1
                    ),
                )

    folder = judged(pairs()[:2], dies_after=0)
    with open_run(folder.path, folder.spec(), open_cases(Path("input.jsonl"))) as opened:
        judge_run(opened, folder.spec(), Failing())
    run("export", folder.path, "--format", "alpaca_eval", "--out", "out.json")
    assert [row["preference"] for row in json.loads(Path("out.json").read_bytes())] == [None] * 2
    for layout in ("mt_bench", "reward_bench"):
        code, _, err = run("export", folder.path, "--format", layout, "--out", "none")
        assert code == 2
        assert f"has nothing to write as {layout}: 2 pairs have" in err
        assert not Path("none").exists()
    assert list(read_records(folder.path / "ledger.jsonl", Completion)) == []


def test_a_file_that_is_there_stays_without_a_word(run, judged):
    folder = judged()
    Path("out.csv").write_text("mine", encoding="utf-8")
    arguments = ("export", folder.path, "--format", "csv", "--out", "out.csv")
    code, _, err = run(*arguments)
    assert code == 2
    assert "out.csv exists; add --overwrite to replace it" in err
    assert Path("out.csv").read_text(encoding="utf-8") == "mine"
    assert run(*arguments, "--overwrite")[0] == 0
    assert Path("out.csv").read_text(encoding="utf-8").startswith("id,query,")


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("nowhere/out.csv", "cannot be written"),
        ("taken/out.csv", "cannot be written"),
        (".", "is a folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_told(run, judged, out, said):
    folder = judged()
    Path("taken").touch()
    code, _, err = run("export", folder.path, "--format", "csv", "--out", out)
    assert code == 2
    assert said in err


def test_picks_of_n_are_exported_as_they_were_made(run, judged):
    rows = [{"id": "n", "query": "Why?", "responses": ["x", "y", "z"]}]
    folder = judged(
        rows, task="rate", protocol="single", kind="select", answer=lambda _: "Rating: [[7]]"
    )
    (verdict,) = folder.verdicts()
    folder.write_verdicts([replace(verdict, selected=1)])
    write_records(folder.path / "picks.jsonl", [{"id": "n"}])
    write_settings(folder.path, {**folder.settings(), "kind": "select"})
    run("export", folder.path, "--format", "csv", "--out", "out.csv")
    with open("out.csv", encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    assert [(row["response"], row["rating"], row["selected"]) for row in table] == [
        ("x", "7.0", "false"), ("y", "7.0", "true"), ("z", "7.0", "false"),
    ]  # fmt: skip


def test_a_jurys_folder_is_told(run, tmp_path):
    write_records(tmp_path / "jury.json", [{}])
    code, _, err = run("export", tmp_path, "--format", "csv", "--out", "out.csv")
    assert code == 2
    assert "is a jury's folder; export the run of one of its judges" in err


def test_a_folder_that_is_no_run_is_told(run, tmp_path):
    code, _, err = run("export", tmp_path, "--format", "csv", "--out", "out.csv")
    assert code == 2
    assert "is not a run folder" in err


def test_an_export_can_be_made_again_with_the_same_bytes(run, judged):
    folder = judged()
    for layout in ("csv", "jsonl", "alpaca_eval", "mt_bench", "reward_bench"):
        for name in ("one", "two"):
            run("export", folder.path, "--format", layout, "--out", f"{layout}.{name}")
        assert Path(f"{layout}.one").read_bytes() == Path(f"{layout}.two").read_bytes()
