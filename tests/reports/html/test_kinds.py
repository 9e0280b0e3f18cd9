"""Each kind of run has its page: its figures, its rows, its filters, and clear refusals."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import orjson
import pytest

from autoj.construct.stages import StageFolder
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.metrics.result import read_result, save_result
from autoj.records import Case, Response
from autoj.reports.html.charts import (
    Curve,
    Dot,
    bar_chart,
    curve_chart,
    dot_chart,
    scatter_chart,
)
from autoj.reports.html.listing import apart
from autoj.reports.html.paper import read_curves
from autoj.reports.html.plot import write_figure
from autoj.reports.html.report import write_report
from autoj.runs.place import locked
from autoj.tasks.classify_file import ClassifiedRow

from .kinds import TEXTS, audited, classified, constructed, selected
from .stored import judged, pairs

pytest.importorskip("vl_convert", reason="the extra `report` is missing")


def page(path: Path, **settings) -> tuple[str, dict]:
    """The text of a page and the data of its list."""
    out = path.with_name("page.html")
    write_report([path], out, **settings)
    text = out.read_text()
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return text, json.loads(found[0]) if found else {}


def headline(text: str) -> str:
    return re.findall(r'class="headline">(.*?)<', text)[0]


def row_of(text: str, first: str) -> list[str]:
    """The cells of the first row of that name, after its first one."""
    row, *_ = re.findall(rf'<th scope="row">{re.escape(first)}</th>(.*?)</tr>', text)
    return re.findall(r"<td[^>]*>(.*?)</td>", row)


def test_classified_file_has_counts_sureness_and_its_queries(tmp_path):
    text, data = page(classified(tmp_path / "rows.jsonl"))
    assert headline(text) == ("3 queries: 3 scenarios of 3 groups; 1 (33.3 %) less sure than 50 %")
    assert row_of(text, "- chitchat") == ["1", "33.3 %", "0.20", "100.0 %"]
    assert row_of(text, "20 to 30 %") == ["1"]
    assert data["entries"][0]["query"]["text"] == "Plan a day in Rome."
    assert [entry["values"]["show"] for entry in data["entries"]] == [
        [], ["unsure", "other"], ["outside"],
    ]  # fmt: skip
    assert data["orders"] == ["unsure"]
    assert max(data["entries"], key=lambda its: its["numbers"]["unsure"])["summary"].startswith(
        "chitchat (20.0 %)"
    )


def test_classified_file_of_before_says_that_it_holds_no_queries(tmp_path):
    text, data = page(classified(tmp_path / "rows.jsonl", queries=False))
    assert "rows.jsonl holds no queries" in text
    assert [entry["query"] for entry in data["entries"]] == [None] * 3


def test_judge_that_names_scenarios_states_no_probability(tmp_path):
    run = judged(
        tmp_path / "run",
        [{"id": f"c{at}", "query": f"Query {at}?", "responses": ["r"]} for at in range(3)],
        lambda request: "It might be." if request.case_id == "c2" else "planning",
        task="classify",
        protocol="scenario",
    )
    with locked(run):
        text, data = page(run)
    assert headline(text).endswith("1 scenarios of 1 groups, 1 without one")
    assert "run was still being written" in text
    assert data["orders"] == []
    assert "How sure" not in text
    assert [entry["values"]["show"] for entry in data["entries"]] == [[], [], ["unreadable"]]


def test_selection_by_ratings_shows_the_pick_first_and_the_models(tmp_path):
    text, data = page(selected(tmp_path / "run"))
    assert headline(text) == (
        "3 of 3 queries have a pick, of 12 responses; mean rating 8.00 of the picks, 5.33 of all"
    )
    assert row_of(text, "m2")[0] == "100.0"
    assert row_of(text, "m2")[2:] == ["25.0", "3", "8.00"]
    assert row_of(text, "no other rating is as high") == ["3"]
    assert row_of(text, "unreadable judgments") == ["3"]
    first = data["entries"][0]
    assert [its["heading"] for its in first["texts"]][:2] == [
        "Response 3 (m2), picked", "Response 2 (m1)",
    ]  # fmt: skip
    assert [its["chosen"] for its in first["texts"]] == [True, False, False, False]
    assert first["tables"][0]["rows"][-1] == ["Response 4 (m3)", "-", "0.300"]
    assert dict(first["facts"])["lead over the next"] == "3.00"
    # The fourth has the highest reference score, but no rating.
    assert "beaten" in first["values"]["show"]
    assert "unreadable" in first["values"]["show"]
    assert first["values"]["picked"] == ["m2"]


def test_selection_by_pairs_shows_its_matches(tmp_path):
    text, data = page(selected(tmp_path / "run", by="pairs"))
    assert row_of(text, "it won at least one match and lost none") == ["3"]
    matches = data["entries"][0]["tables"][-1]
    assert [row[:4] for row in matches["rows"]] == [
        ["1", "response 1", "response 2", "response 2"],
        ["1", "response 3", "response 4", "response 3"],
        ["2", "response 2", "response 3", "response 3"],
    ]
    assert "mean rating" not in text
    assert "autoj select" in text
    assert "--by pairs" in text


def test_best_of_n_curves_are_those_of_the_ratings(tmp_path):
    run = selected(tmp_path / "run")
    text, _ = page(run, figures=tmp_path / "figures")
    assert "Best of N" in text
    rows = list(csv.DictReader((tmp_path / "figures" / "best_of_n.csv").read_text().splitlines()))
    found = {
        name: [round(float(row["value"]), 2) for row in rows if row["curve"] == name]
        for name in ("script", "oracle", "random", "first")
    }
    # Of 1, 2 and 4 responses with the scores 0, 0.1, 0.2, 0.3; the fourth is unreadable.
    assert found == {
        "script": [0.0, 0.1, 0.2], "oracle": [0.0, 0.1, 0.3], "random": [0.0, 0.05, 0.15],
        "first": [0.0, 0.0, 0.0],
    }  # fmt: skip
    write_figure("best_of_n", [run, run], tmp_path / "both.csv")
    both = list(csv.DictReader((tmp_path / "both.csv").read_text().splitlines()))
    curves = [row["curve"] for row in both]
    assert (curves.count("script"), curves.count("script (2)")) == (3, 3)


def test_curves_of_other_responses_are_refused(tmp_path):
    run, fewer = selected(tmp_path / "run"), selected(tmp_path / "fewer", TEXTS[:2])
    other = selected(tmp_path / "other", n=3)
    stored = _curves(tmp_path / "stored.json", run)
    its = orjson.loads(stored.read_bytes())
    for each in its["details"]["comparisons"]:
        each["figures"]["longest"]["value"] += 0.01
    stored.write_bytes(orjson.dumps(its))
    for path, says in (
        (fewer, "number of queries is 2, and not 3"),
        (other, "N is 1, 2, 3, and not 1, 2, 4"),
        (stored, r"longest of 1 is 0\.010000 \(n=3\), and not 0\.000000"),
    ):
        with pytest.raises(DataError, match=f"{path.name}.*{says}") as found:
            write_figure("best_of_n", [run, path], tmp_path / "no.svg")
        assert "Plot each by itself" in str(found.value.hint)


def _curves(path: Path, run: Path) -> Path:
    save_result(path, read_curves(run))
    return path


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda its: its["details"].update(comparisons={"a": 1}), "not a list"),
        (lambda its: [each.update(base_model="m") for each in its["details"]["comparisons"]],
         "no figures of all queries"),
        (lambda its: its["details"]["comparisons"][1]["figures"].pop("oracle"), "2 lacks oracle"),
    ],
)  # fmt: skip
def test_damaged_curves_are_told(tmp_path, damage, says):
    path = _curves(tmp_path / "eval-r.json", selected(tmp_path / "run"))
    its = orjson.loads(path.read_bytes())
    damage(its)
    path.write_bytes(orjson.dumps(its))
    with pytest.raises(DataError, match=rf"eval-r.json: is damaged \(.*{says}"):
        write_figure("best_of_n", [path], tmp_path / "f.csv")


def test_a_damaged_card_is_told(tmp_path):
    card = audited(tmp_path / "audit") / "audit.json"
    whole = card.read_bytes()
    for damage, says in (
        (lambda its: its.update(details={}), "words"),
        (lambda its: its["details"].update(reliability=[{"low": 0.5}]), "high"),
        (lambda its: its["details"].update(left_out=[1]), "left_out"),
        (lambda its: its["details"].pop("n_judgments"), "n_judgments"),
        (lambda its: its["details"]["words"]["estimates"].pop("consistency"), "consistency"),
        (lambda its: its["details"]["words"].pop("format"), "format"),
        (lambda its: its["parts"].update(injection={"x": []}), "0 figures"),
    ):
        its = orjson.loads(whole)
        damage(its)
        card.write_bytes(orjson.dumps(its))
        with pytest.raises(DataError, match=rf"audit.json: is damaged \(.*{says}"):
            page(card)
        with pytest.raises(DataError, match="is damaged"):
            write_figure("audit", [card], tmp_path / "f.svg")


def test_equal_ids_get_numbers_that_are_free():
    assert apart(["x", "x (2)", "x", "x", "y"]) == ["x", "x (2)", "x (3)", "x (4)", "y"]
    assert apart(["x", "x", "x (2)"]) == ["x", "x (3)", "x (2)"]


def test_all_responses_of_a_row_of_a_construction_are_shown(tmp_path):
    made = constructed(tmp_path / "made", n_stages=1)
    responses = tuple(Response(text=f"text {at}") for at in range(101))
    case = Case(id="many", query="q", cluster="c", responses=responses)
    StageFolder(made / "01-collect", "collect").write([case])
    _, data = page(made)
    (entry,) = (each for each in data["entries"] if each["id"].endswith(": many"))
    assert entry["texts"][-1]["heading"] == "Response 101"


def test_a_group_shows_its_invisible_characters(tmp_path):
    path = tmp_path / "rows.jsonl"
    row = ClassifiedRow(id="1", query="q", scenario="s", group="a\u202eb", probability=0.9,
                        alternatives=(), classifier="c", digest="sha256:0")  # fmt: skip
    write_records(path, [row])
    _, data = page(path)
    (entry,) = data["entries"]
    (group,) = entry["values"]["group"]
    assert dict(entry["facts"])["group"] == group
    assert "\u202e" not in group


def test_large_selection_holds_some_and_counts_all(tmp_path):
    run = selected(tmp_path / "run", [f"Query {at}?" for at in range(3)])
    whole, _ = page(run)
    part, data = page(run, most_cases=1)
    assert headline(part) == headline(whole)
    left = (tmp_path / "page.cases.jsonl").read_text().splitlines()
    assert len(data["entries"]) + len(left) == 3
    assert left
    assert f"the other {len(left)} are in page.cases.jsonl" in part


def test_construction_shows_its_stages_drops_and_samples(tmp_path):
    text, data = page(constructed(tmp_path / "made"))
    assert headline(text) == "2 of 3 stages are done: 3 rows in, 1 kept by decontaminate"
    assert "Stages that are not done: mix." in text
    assert row_of(text, "2. decontaminate") == [
        "4", "1", "3", "0", "7", "1,000", "200", "0.2500",
    ]  # fmt: skip
    assert "$0.25" in text
    assert row_of(text, "own")[:2] == ["3", "3"]
    dropped = [entry for entry in data["entries"] if entry["values"]["outcome"] == ["dropped"]]
    assert sorted(entry["values"]["reason"][0] for entry in dropped) == [
        "Sing of the sea.", "What is 2 + 2?", "bad row",
    ]  # fmt: skip
    unread = next(entry for entry in dropped if entry["values"]["reason"] == ["bad row"])
    assert unread["query"] is None
    assert ["found", "no query"] in unread["facts"]
    kept = next(entry for entry in data["entries"] if entry["values"]["outcome"] == ["kept"])
    assert [its["heading"] for its in kept["texts"]][-1] == "judgment"
    assert data["filters"][:3] == ["stage", "outcome", "reason"]


def test_each_stage_and_reason_has_its_share_of_a_small_page(tmp_path):
    text, data = page(constructed(tmp_path / "made"), most_cases=1)
    # Two stages that kept rows, and three reasons.
    assert len(data["entries"]) == 5
    assert "The page holds 5 of the 7 rows" in text


def test_audit_page_is_the_card(tmp_path):
    folder = audited(tmp_path / "audit")
    text, data = page(folder)
    of_file, _ = page(folder / "audit.json")
    assert data == {}
    card = read_result(folder / "audit.json")
    for name, value in (("consistency", card.estimate("consistency")), ("failed", None)):
        assert row_of(text, name) == row_of(of_file, name)
        assert value is None or f"{100 * value.value:.1f} %" in row_of(text, name)
    assert card.details["words"]["estimates"]["consistency"] in text
    write_figure("audit", [folder / "audit.json"], tmp_path / "audit.csv")
    rows = list(csv.DictReader((tmp_path / "audit.csv").read_text().splitlines()))
    assert {"consistency", "flip rate"} <= {row["part"] for row in rows}
    (folder / "injected" / "ledger.jsonl").unlink()
    with pytest.raises(DataError):
        page(folder)


def test_figures_of_each_kind_stand_alone(tmp_path):
    rows = classified(tmp_path / "rows.jsonl")
    write_figure("scenarios", [rows], tmp_path / "scenarios.csv")
    assert (tmp_path / "scenarios.csv").read_text().splitlines()[0] == "part,n"
    run = selected(tmp_path / "run")
    write_figure("picks", [run], tmp_path / "picks.svg")
    made = constructed(tmp_path / "made")
    write_figure("drops", [made], tmp_path / "drops.csv")
    assert "2. decontaminate: bad row,1" in (tmp_path / "drops.csv").read_text()
    with pytest.raises(DataError, match=r"nothing for the figure 'picks'") as found:
        write_figure("picks", [made], tmp_path / "no.svg")
    assert found.value.hint == "It has: stages, drops."
    with pytest.raises(DataError, match="has no figures of eval-r") as found:
        write_figure("best_of_n", [judged(tmp_path / "pairs", pairs(2))], tmp_path / "no.svg")
    assert "two or more responses" in str(found.value.hint)
    assert not (tmp_path / "no.svg").exists()
    assert not list(tmp_path.glob("*.cases.jsonl"))


def test_models_lie_by_rating_and_reference(tmp_path):
    models = [
        {"model": f"m{at}", "title": f"Model <b>{at}", "rating": 4 + at / 10, "reference": 50 + at,
         "rank": at, "reference_rank": at, "delta": (0, 3, -3)[at % 3]}
        for at in range(1, 6)
    ]  # fmt: skip
    result = {
        "bench": "system-level", "judge": "j", "source": "s", "n_cases": 5,
        "estimates": [{"name": "spearman", "value": 1.0, "n": 5, "n_clusters": 5}],
        "details": {"models": models},
    }  # fmt: skip
    path = tmp_path / "ranking.json"
    path.write_bytes(orjson.dumps(result))
    assert write_figure("system_level", [path], tmp_path / "f.svg").title == (
        "5 models, Spearman 1.000"
    )
    svg = (tmp_path / "f.svg").read_text()
    assert "Spearman 1.000" in svg
    # Misplaced models are named beside their points, the others are not.
    assert "Model &lt;b&gt;1" in svg
    assert "Model &lt;b&gt;3" not in svg
    with pytest.raises(ConfigError, match="has no page"):
        page(path)


def test_a_page_of_its_own_is_said_where_several_were_wanted(tmp_path):
    run, picks = judged(tmp_path / "run", pairs(2)), selected(tmp_path / "picks")
    with pytest.raises(ConfigError, match="picks is of autoj select, which has a page of its own"):
        write_report([run, picks], tmp_path / "report.html")
    (tmp_path / "notes.txt").write_text("not ours\n")
    with pytest.raises(DataError, match="neither a run's folder nor a file that has a page"):
        write_report([tmp_path / "notes.txt"], tmp_path / "report.html")
    assert not list(tmp_path.glob("*.html*"))


def test_rows_whose_long_names_begin_alike_stay_apart_and_keep_their_numbers():
    names = [f"a scenario with a name of many words, number {n}" for n in range(3)]
    dots = [Dot(label=name, value=0.5, low=0.4, high=0.6, n=1234) for name in names]
    chart = dot_chart("f", "t", dots, reference=None)
    assert chart.light.count("a scenario with a name of many w… (n=1,234)") >= 3
    assert [row[0] for row in chart.rows] == names
    bars = bar_chart("f", "t", [(name, 1 + at) for at, name in enumerate(names)], "n")
    assert len(re.findall(r'aria-roledescription="bar"', bars.light)) == 3


def test_labels_that_a_script_would_take_for_its_own_are_drawn(tmp_path):
    names = ["constructor", "toString", "__proto__", "a\u2028b\u2029c", "plain"]
    write_figure("scenarios", [classified(tmp_path / "rows.jsonl", names)], tmp_path / "f.svg")
    for number, name in enumerate(names):
        bars = bar_chart("f", "t", [(name, 1), ("other", 2)], "n")
        curves = [Curve(label=name, points=[(1, 0.1, 0.0, 0.2, 3), (2, 0.2, 0.1, 0.3, 3)],
                        is_judge=True)]  # fmt: skip
        drawn = curve_chart("f", "t", curves, ("N", "value"))
        points = scatter_chart("f", "t", [(name, 1, 2)], ("x", name), {name: True})
        for chart in (bars, drawn, points):
            assert chart.rows[0][0] == name
            assert name.split("\u2028")[0] in chart.light, number
