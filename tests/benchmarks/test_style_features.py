from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import typer
from benchmarks.style_features import (
    StyleJudge,
    calibration_of,
    comparison,
    differences,
    fit_band,
    folder_name,
    main,
    preferences,
    read_pairs,
    train_judge,
    write_run,
)
from typer.testing import CliRunner

from autoj.calibration import tie_width
from autoj.cli.bench_pairs import pairs
from autoj.datasets import open_cases
from autoj.errors import ConfigError, SpecMismatch
from autoj.jsonl import write_records
from autoj.records import Case, Response, Verdict
from benchmarks import style_features

TEXT = "# Plan\n- **First**, buy 12 eggs!"


def pair(a: str, b: str, label: str | None = None, query: str = "Boil eggs?") -> Case:
    return Case(
        id=f"{query}-{a}-{b}",
        query=query,
        responses=(Response(text=a), Response(text=b)),
        cluster=query,
        label=label,  # type: ignore[arg-type]
    )


def test_exchanged_responses_have_the_opposite_differences() -> None:
    there, back = pair(TEXT, "No."), pair("No.", TEXT)
    assert np.array_equal(differences([there]), -differences([back]))
    assert differences([]).shape == (0, 15)


# The band.


def ties_near_zero() -> tuple[np.ndarray, list[Case]]:
    gaps = [-0.5, -0.3, 0.4, 0.6, 0.8, -0.7, 0.05, -0.12]
    labels = ["b", "b", "a", "a", "a", "b", "tie", "tie"]
    return np.array(gaps), [pair("x", "y", label) for label in labels]


def test_the_band_is_the_narrowest_that_holds_the_ties() -> None:
    band = fit_band(*ties_near_zero(), "made.jsonl")
    assert (band.width, band.accuracy) == (0.12, pytest.approx(1.0))
    assert band.without == pytest.approx(1 - style_features.TIE_SHARE)
    assert "made.jsonl: 8 pairs, 2 ties" in band.fitted_on


def test_the_band_weighs_ties_to_their_share() -> None:
    # One tie of a hundred pairs is 30 %: a band that holds it may cost many decided pairs.
    gaps = np.array([0.2] + [0.1] * 40 + [0.9] * 59)
    cases = [pair("x", "y", label) for label in ["tie"] + ["a"] * 99]
    assert fit_band(gaps, cases, "made").width == 0.2
    assert fit_band(gaps, cases, "made").accuracy == pytest.approx(0.3 + 0.7 * 59 / 99)


@pytest.mark.parametrize("label", ["a", "tie"])
def test_no_band_without_ties_and_decided_pairs(label: str) -> None:
    with pytest.raises(ConfigError, match=r"made holds \d ties of 3 pairs"):
        fit_band(np.array([0.1, 0.2, 0.3]), [pair("x", "y", label)] * 3, "made")


@pytest.mark.parametrize("width", [0.0, 0.05, 0.2, 1.0, 2.0])
def test_the_calibration_names_ties_within_the_band(width: float) -> None:
    band = replace(fit_band(*ties_near_zero(), "made"), width=width)
    assert tie_width(calibration_of(band)) == pytest.approx(width, abs=1e-12)


# The table.


def verdict(case: Case, winner: str, averaged: str | None = None) -> Verdict:
    chances = {"a": (0.5, 0.2, 0.3), "b": (0.2, 0.5, 0.3), "tie": (0.3, 0.3, 0.4)}
    return Verdict(
        case_id=case.id,
        judge="made",
        winner=averaged or winner,  # type: ignore[arg-type]
        winners=(winner, winner),  # type: ignore[arg-type]
        probabilities=chances[averaged or winner],
    )


def test_the_table_sets_the_judge_beside_longest() -> None:
    long, short = "long " * 9, "short"
    cases = [
        *(pair(long, short, "a", f"q{n}") for n in range(3)),
        pair(long, short, "b", "q3"),
        pair("same 1", "same 22", "b", "q4"),
        pair(short, long, "tie", "q5"),
        pair(short, long, None, "q6"),
    ]
    verdicts = [verdict(case, "a") for case in cases]
    verdicts[5] = verdict(cases[5], "b", "tie")
    table = [line.split(" | ") for line in comparison(cases, verdicts)[2:]]
    cells = {
        line[0].removeprefix("| "): [cell.split(" ")[0] for cell in line[1:]] for line in table
    }
    assert cells == {
        # Right on the three long ones; longest is right on "same 22", too.
        "decided, no tie band": ["5", "60.0", "80.0", "-20.0"],
        "decided, within 10 % in length, no tie band": ["0", "none", "none", "none"],
        "all, no tie band": ["6", "50.0", "66.7", "-16.7"],
        "all, tie band": ["6", "66.7", "66.7", "+0.0"],
        "all, ties weighted to 30%, no tie band": ["6", "42.0", "56.0", "-14.0"],
        "all, ties weighted to 30%, tie band": ["6", "72.0", "56.0", "+16.0"],
    }


def test_pairs_close_in_length_are_looked_at_alone() -> None:
    cases = [pair("x" * 100, "y" * 95, "b", "q0"), pair("x" * 100, "y" * 80, "a", "q1")]
    table = comparison(cases, [verdict(case, "b") for case in cases])
    assert table[3].startswith("| decided, within 10 % in length, no tie band | 1 | 100.0 [")
    assert not any("weighted" in line for line in table)


def test_the_folder_of_a_file_keeps_its_name() -> None:
    names = ["a.b.jsonl.gz", "set.json", "set.jsonl", "plain"]
    assert [folder_name(Path("x") / name) for name in names] == ["a.b", "set", "set", "plain"]


# The judge, trained on pairs whose better response mostly has a list.


def made_rows(n: int, seed: int) -> Iterator[dict[str, object]]:
    draw = random.Random(seed)
    for number in range(n):
        listed = "- one thing\n" * draw.randint(2, 5) + "word " * draw.randint(0, 60)
        plain, other = ("word " * draw.randint(0, 60) for _ in range(2))
        a_listed = draw.random() < 0.5
        tie = draw.random() < 0.1
        texts = [plain, other] if tie else [listed, plain] if a_listed else [plain, listed]
        wins = draw.random() < 0.8
        yield {
            "id": f"case-{seed}-{number}",
            "query": f"Question {seed}-{number}?",
            "responses": texts,
            "label": "tie" if tie else "a" if a_listed == wins else "b",
        }


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("surface")
    paths = {}
    for seed, (name, n) in enumerate([("train", 700), ("validation", 200), ("test", 60)]):
        paths[name] = folder / f"{name}.jsonl"
        write_records(paths[name], made_rows(n, seed))
    return paths


@pytest.fixture(scope="module", autouse=True)
def small_grid() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style_features, "LEAVES", (4, 8))
        patch.setattr(style_features, "ITERATIONS", (10, 40))
        yield


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    # Loaded first, since only libraries that are there can be told to take one thread.
    pytest.importorskip("sklearn.ensemble", reason="the extra `bench` is not installed: no sklearn")
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def trained(files: dict[str, Path], seed: int = 0) -> StyleJudge:
    train, validation = read_pairs(files["train"]), read_pairs(files["validation"])
    return train_judge(train, validation, name="validation.jsonl", seed=seed)


@pytest.fixture(scope="module")
def judge(files: dict[str, Path], one_thread: None) -> StyleJudge:
    return trained(files)


def test_it_learns_what_people_prefer(judge: StyleJudge, files: dict[str, Path]) -> None:
    decided = [case for case in read_pairs(files["test"]) if case.label != "tie"]
    found = preferences(judge.trees, differences(decided))
    listed = [1 if "- one" in case.responses[0].text else -1 for case in decided]
    assert np.array_equal(np.sign(found), listed)
    # People take the list four times of five.
    assert 0.74 < judge.settings.accuracy < 0.86
    assert 0.9 < float(np.abs(found).mean()) < 1.8
    assert judge.band.accuracy > judge.band.without + 0.1


def test_preferences_change_their_sign_with_the_order(
    judge: StyleJudge, files: dict[str, Path]
) -> None:
    gaps = differences(read_pairs(files["test"]))
    assert np.array_equal(preferences(judge.trees, -gaps), -preferences(judge.trees, gaps))
    assert preferences(judge.trees, np.zeros((1, 15)))[0] == 0


def test_the_same_seed_gives_the_same_judge(judge: StyleJudge, files: dict[str, Path]) -> None:
    again = trained(files)
    assert (again.card, again.settings, again.band) == (judge.card, judge.settings, judge.band)


def test_its_run_has_no_orders_and_ties_within_the_band_alone(
    judge: StyleJudge, files: dict[str, Path], tmp_path: Path
) -> None:
    cases, verdicts = write_run(judge, files["test"], tmp_path / "run")
    gaps = preferences(judge.trees, differences(cases))
    assert all(found.consistent for found in verdicts)
    for found, gap in zip(verdicts, gaps, strict=True):
        own = "a" if gap > 0 else "b" if gap < 0 else "tie"
        assert found.winners == (own, own)
        assert found.winner == ("tie" if abs(gap) <= judge.band.width else own)
    assert {found.winner for found in verdicts} == {"a", "b", "tie"}


def test_a_run_goes_on_with_the_same_trees_alone(
    judge: StyleJudge, files: dict[str, Path], tmp_path: Path
) -> None:
    first = write_run(judge, files["test"], tmp_path / "run")
    assert write_run(judge, files["test"], tmp_path / "run") == first
    other = replace(judge, card=replace(judge.card, revision="sha256:other"))
    with pytest.raises(SpecMismatch, match=r"judge\.revision"):
        write_run(other, files["test"], tmp_path / "run")


def test_autoj_compares_another_judge_with_its_run(
    judge: StyleJudge, files: dict[str, Path], tmp_path: Path
) -> None:
    cases, verdicts = write_run(judge, files["test"], tmp_path / "run")
    write_records(tmp_path / "always-a.jsonl", [{"output": 0}] * len(cases))
    app = typer.Typer()
    app.command()(pairs)
    flags = ["--predictions", str(tmp_path / "always-a.jsonl"), "--against", str(tmp_path / "run")]
    done = CliRunner().invoke(app, [str(files["test"]), *flags, "--json"])
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["differences"]
    theirs = sum(its.winners[0] == case.label for case, its in zip(cases, verdicts, strict=True))
    ours = sum(case.label == "a" for case in cases)
    assert found["figure"] == "accuracy"
    assert found["overall"]["estimate"]["value"] == pytest.approx((ours - theirs) / len(cases))


def test_the_script_prints_a_table_and_leaves_runs(
    files: dict[str, Path],
    one_thread: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ["--train", files["train"], "--validation", files["validation"], "--out", tmp_path]
    judged = ["--judge", files["test"], files["validation"]]
    monkeypatch.setattr(sys, "argv", ["surface_features.py", *map(str, [*flags, *judged])])
    main()
    out = capsys.readouterr().out
    assert "chosen by 5 folds of the training file" in out
    assert "tie band of 0." in out
    assert out.count("| decided, no tie band | ") == 2
    # The validation file's own figures are marked; the other file shares nothing.
    assert out.count("of its queries are in the") == 1
    assert "200 of its queries are in the validation file" in out
    for name in ("test", "validation"):
        assert (tmp_path / name / "verdicts.jsonl").is_file()


@pytest.mark.parametrize(
    ("judged", "message"),
    [
        (["test.jsonl", "./test.jsonl"], "two files to judge have the same name: test, test"),
        (["three.jsonl"], "three.jsonl:1:responses: has 3 responses; expected a pair"),
        (["missing.jsonl"], "missing.jsonl"),
    ],
)
def test_bad_input_ends_it_with_a_word(
    judged: list[str],
    message: str,
    files: dict[str, Path],
    one_thread: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(files["test"].parent)
    write_records(Path("three.jsonl"), [{"query": "Which?", "responses": ["1", "2", "3"]}])
    flags = ["--train", "train.jsonl", "--validation", "validation.jsonl", "--out", tmp_path]
    monkeypatch.setattr(sys, "argv", ["x", *map(str, flags), "--judge", *judged])
    with pytest.raises(SystemExit) as ended:
        main()
    assert message in str(ended.value.code)


def test_real_pairs_have_finite_differences(data_folder: Path) -> None:
    path = data_folder / "train" / "arena55k.validation.jsonl.gz"
    cases = [row.case for row in islice(open_cases(path).read(), 100)]
    gaps = differences([case for case in cases if isinstance(case, Case)])
    assert gaps.shape == (100, 15)
    assert np.isfinite(gaps).all()
    assert (np.abs(gaps).sum(axis=0) > 0).all()
