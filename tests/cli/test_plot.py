"""`autoj plot`: one figure as a file, or an error that helps."""

from __future__ import annotations

import csv
import json
import math
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from autoj.cli.app import app
from autoj.errors import UserError

from ..reports.html.stored import by_letters, judged, pairs

pytest.importorskip("vl_convert", reason="the extra `report` is missing")


def plot(*words: object):
    return CliRunner().invoke(app, ["plot", *map(str, words)])


def test_one_figure_in_three_formats(tmp_path):
    run = judged(tmp_path / "run", pairs(8), by_letters("ab"))
    found = plot("scenario", run, "--out", tmp_path / "new" / "f.csv", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["n_rows"] == 2
    rows = list(csv.DictReader((tmp_path / "new" / "f.csv").read_text().splitlines()))
    assert [(row["n"], row["value"]) for row in rows] == [("4", "1.0"), ("4", "1.0")]
    assert plot("scenario", run, "--out", tmp_path / "f.png").exit_code == 0
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    assert plot("scenario", run, "--out", tmp_path / "f.svg").exit_code == 0
    ElementTree.fromstring((tmp_path / "f.svg").read_text())


def test_consistency_of_two_judges(tmp_path):
    one = judged(tmp_path / "one", pairs(6), by_letters("ab"))
    first = "So, the final decision is Response 1."
    other = judged(tmp_path / "other", pairs(6), lambda request: first)
    out = tmp_path / "f.csv"
    found = plot("consistency", one, other, "--out", out)
    assert found.exit_code == 0, found.output
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [(row["part"], row["value"]) for row in rows] == [
        ("script in one", "1.0"), ("script in other", "0.0"),
    ]  # fmt: skip


def surer_where_right(request):
    """Names a in each even case and is right there; it is surer of these by far."""
    number = int(request.case_id[1:])
    sure = 0.9 - number / 1000 if number % 2 == 0 else 0.6
    a, b = (sure, 0.95 - sure) if request.shown[0] == 0 else (0.95 - sure, sure)
    return tuple(math.log(each) for each in (a, b, 0.05))


def test_accuracy_where_the_surest_are_kept(tmp_path):
    run = judged(tmp_path / "run", pairs(20), surer_where_right, protocol="pairwise-verdict")
    out = tmp_path / "f.csv"
    found = plot("coverage", run, "--out", out)
    assert found.exit_code == 0, found.output
    lines = out.read_text().splitlines()
    rows = [{name: float(its) for name, its in row.items()} for row in csv.DictReader(lines)]
    assert [(row["kept"], row["n"], row["accuracy"]) for row in rows] == [
        (0.1, 2, 1.0), (0.2, 4, 1.0), (0.3, 6, 1.0), (0.4, 8, 1.0), (0.5, 10, 1.0), (1.0, 20, 0.5),
    ]  # fmt: skip
    assert [round(row["confidence"], 3) for row in rows[:2]] == [0.898, 0.894]
    assert all(row["low"] < row["accuracy"] < row["high"] + 1e-9 for row in rows)


def test_a_judge_that_is_as_sure_of_all_has_no_curve(tmp_path):
    sure = tuple(math.log(each) for each in (0.8, 0.1, 0.1))
    run = judged(tmp_path / "run", pairs(8), lambda _: sure, protocol="pairwise-verdict")
    found = plot("coverage", run, "--out", tmp_path / "f.svg")
    assert isinstance(found.exception, UserError)
    assert "nothing for the figure 'coverage'" in str(found.exception)


def test_mistakes_say_what_to_do(tmp_path):
    run = judged(tmp_path / "run", pairs(2))
    out = tmp_path / "f.svg"
    for words, says in (
        (["colours", run, "--out", out], "Figures: group, scenario"),
        (["scenario", run, "--out", tmp_path / "f.gif"], ".svg, .png or .csv"),
        (["scenario", run, run, "--out", out], "one run"),
        (["scenario", tmp_path, "--out", out], "not a run folder"),
    ):
        found = plot(*words)
        # `main` makes exit code 2 of each of these.
        assert isinstance(found.exception, UserError)
        assert says in f"{found.exception} {found.exception.hint}"
    assert not out.exists()
