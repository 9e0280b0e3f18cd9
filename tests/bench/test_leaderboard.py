"""Leaderboards: which results are found, what stands in which section, in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoj.bench.eval_p.evaluate import evaluate
from autoj.bench.eval_r.evaluate import evaluate as evaluate_selection
from autoj.bench.eval_r.selection import RatedCandidates
from autoj.bench.leaderboard.board import Measured
from autoj.bench.leaderboard.boards import board, find_results
from autoj.bench.system_level.evaluate import evaluate_table
from autoj.bench.system_level.model_table import read_models
from autoj.datasets import catalog
from autoj.datasets.catalog import load_entry
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.jsonl import write_records
from autoj.metrics.result import save_result
from autoj.records import Case, Estimate, Response
from autoj.scenarios import groups

from .boards import (
    a_result,
    agreement,
    by_judge,
    cases_of,
    nowhere,
    place_eval_p,
    said,
    set_of,
    values,
)


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch, tmp_path):
    nowhere(monkeypatch, tmp_path)


@pytest.fixture
def eval_p_file(monkeypatch, tmp_path):
    return place_eval_p(monkeypatch, tmp_path)


def test_singles_are_never_ranked_by_agreement():
    rows = board("eval-p").sections[0].rows
    without = [row.judge for row in rows if "agreement" not in row.figures]
    assert [row.judge for row in rows][-len(without) :] == without
    assert set(without) == {"ScalarRM", "Moss-RM", "Ziya-RM", "Beaver-RM", "OASST-RM"}
    agreements = [row.figures["agreement"].value for row in rows if "agreement" in row.figures]
    assert agreements == sorted(agreements, reverse=True)


def test_sorted_by_averaged_accuracy_the_singles_come_first():
    rows = board("eval-p", sort="averaged accuracy").sections[0].rows
    assert [row.judge for row in rows[:5]] == [
        "ScalarRM", "Moss-RM", "Ziya-RM", "Beaver-RM", "OASST-RM",
    ]  # fmt: skip
    assert [row.in_sample for row in rows[:5]] == [False, True, True, True, True]


def test_an_unknown_figure_is_named_with_the_known():
    with pytest.raises(UnknownComponent, match="averaged accuracy"):
        board("eval-p", sort="averagd accuracy")


def test_by_group_shows_those_that_have_groups(eval_p_file):
    measured = Measured(
        path=eval_p_file.with_name("eval-p.json"),
        result=evaluate(
            cases_of(eval_p_file),
            [said(case, "b", "b") for case in cases_of(eval_p_file)],
            judge="always b",
            source="files",
        ),
    )
    rows = by_judge(board("eval-p", [measured], breakdown="group"))
    assert len([row for row in rows.values() if row.status == "published"]) == 10
    parts = rows["always b"].parts["group"]
    # Groups come in the paper's order, whatever the order of the cases.
    assert list(parts) == [group for group in groups() if group in parts]
    assert len(parts) > 1
    assert parts["Code"]["agreement"].value == 1.0
    assert parts["Code"]["agreement"].low is not None


def test_results_of_other_data_are_never_among_the_published(eval_p_file, tmp_path):
    """The whole set is ranked; a sample of it, and what names no set, stand by themselves."""
    cases = cases_of(eval_p_file)
    verdicts = [said(case, case.label, case.label) for case in cases]
    results = [
        evaluate(cases, verdicts, judge="whole", source="files"),
        evaluate(cases[:6], verdicts[:6], judge="sample", source="files"),
        evaluate(cases[:6], verdicts[:6], judge="same sample", source="files"),
        a_result(judge="nobody knows", estimates=(agreement(0.9, 0.8, 1.0),)),
    ]
    measured = [Measured(path=tmp_path / f"{one.judge}.json", result=one) for one in results]
    for breakdown in (None, "group"):
        ranked, sample, *unknown = board("eval-p", measured, breakdown=breakdown).sections
        status = {row.judge: row.status for row in ranked.rows}
        assert status["whole"] == "measured"
        assert {"published", "trivial"} < set(status.values())
        assert [row.judge for row in sample.rows] == ["sample", "same sample"]
        assert "(other data, 6 cases, digest " in sample.title
        assert "not comparable" in sample.title
        # By group there is nothing to show of it.
        assert [row.judge for one in unknown for row in one.rows] == (
            [] if breakdown else ["nobody knows"]
        )
        assert all("digest unknown" in one.title for one in unknown)


@pytest.mark.parametrize("bench", ["eval-p", "eval-c"])
def test_without_the_set_no_result_is_ranked_and_it_says_so(bench, tmp_path):
    names = ("agreement", "win")
    result = a_result(
        bench,
        estimates=tuple(replace(agreement(0.9, 0.8, 1.0), name=name) for name in names),
        details={"set": "0123456789abcdef", "against": "ChatGPT", "judged_by": "GPT-4"},
    )
    found = board(bench, [Measured(path=tmp_path / "x.json", result=result)])
    (section,) = [one for one in found.sections if any(r.status == "measured" for r in one.rows)]
    assert [row.judge for row in section.rows] == ["x"]
    assert "data that cannot be verified, 60 cases, digest 0123456789abcdef" in section.title
    assert any("no result can be verified" in line for line in found.messages)
    assert not any("no result can be verified" in line for line in board(bench).messages)


def test_each_choice_of_unseen_scenarios_has_its_section(eval_p_file):
    cases = cases_of(eval_p_file)
    chosen = {"nlp": frozenset(groups()["NLP Tasks"]), "own": frozenset({"ranking", "planning"})}
    measured = [
        Measured(
            path=eval_p_file.with_name(f"{name}.json"),
            result=evaluate(
                cases,
                [said(case, "b", "b") for case in cases],
                judge=name,
                source="files",
                unseen=unseen,
            ),
        )
        for name, unseen in chosen.items()
    ]
    one, two, own = board("eval-p", measured, breakdown="seen and unseen").sections
    assert "setting 1" in one.title
    assert {row.judge for row in one.rows} == {"Auto-J", "Auto-J, without the unseen of setting 1"}
    assert "setting 2" in two.title
    assert {row.judge for row in two.rows} == {
        "Auto-J",
        "Auto-J, without the unseen of setting 2",
        "nlp",
    }
    assert own.title.endswith("unseen: planning, ranking")
    assert [row.judge for row in own.rows] == ["own"]
    assert len(board("eval-c", breakdown="seen and unseen").sections) == 2


def test_seen_and_unseen_show_both_settings_and_say_what_a_result_lacks(eval_p_file):
    measured = [
        Measured(
            path=eval_p_file.with_name(f"{name}.json"),
            result=evaluate(
                cases_of(eval_p_file),
                [said(case, "b", "b") for case in cases_of(eval_p_file)],
                judge=name,
                source="files",
                unseen=unseen,
            ),
        )
        for name, unseen in (("with", frozenset({"ranking"})), ("without", None))
    ]
    found = board("eval-p", measured, breakdown="seen and unseen")
    rows = by_judge(found)
    assert rows["with"].parts["seen and unseen"]["unseen"]["agreement"].value == 1.0
    assert "without" not in rows
    assert any("without is not shown" in line and "--unseen" in line for line in found.messages)
    settings = {source.cite for row in rows.values() for source in row.sources}
    assert any("setting 1" in cite for cite in settings)
    assert any("setting 2" in cite for cite in settings)


def test_results_are_found_under_runs_and_by_name(tmp_path):
    for name in ("one", "two"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        save_result(tmp_path / "runs" / name / "eval-p.json", a_result(judge=name))
    save_result(tmp_path / "runs" / "two" / "eval-r.json", a_result("eval-r"))
    save_result(tmp_path / "own.json", a_result(judge="three"))
    found = find_results("eval-p", [tmp_path / "own.json"], tmp_path / "runs")
    assert [item.result.judge for item in found] == ["three", "one", "two"]
    # Named twice, shown once.
    twice = find_results("eval-p", [tmp_path / "runs" / "one" / "eval-p.json"], tmp_path / "runs")
    assert [item.result.judge for item in twice] == ["one", "two"]


def test_a_malformed_result_is_named(tmp_path):
    (tmp_path / "runs" / "one").mkdir(parents=True)
    path = tmp_path / "runs" / "one" / "eval-p.json"
    path.write_text('{"bench": "eval-p"}\n')
    with pytest.raises(DataError, match="is not a meta-evaluation's result") as caught:
        find_results("eval-p", runs=tmp_path / "runs")
    assert caught.value.path == path


def test_a_result_of_another_bench_is_named(tmp_path):
    path = tmp_path / "eval-p.json"
    save_result(path, a_result("eval-c"))
    with pytest.raises(DataError, match="result of 'eval-c'") as caught:
        find_results("eval-p", [path])
    assert caught.value.path == path


def test_eval_c_keeps_opponents_judges_and_data_apart(monkeypatch, tmp_path):
    path = tmp_path / "data" / load_entry("eval-c").path
    path.parent.mkdir(parents=True)
    write_records(
        path,
        [
            {"prompt": f"q{n}", "response": "r", "scenario": "planning", "output": "c"}
            for n in range(9)
        ],
    )
    monkeypatch.setenv("AUTOJ_DATA", str(tmp_path / "data"))
    win = Estimate(name="win", value=0.5, low=0.4, high=0.6, n=232, n_clusters=232)
    result = a_result(
        "eval-c",
        judge="my critic",
        estimates=(win,),
        details={"against": "chatgpt", "judged_by": "GPT-4", **set_of(path)},
    )
    other = replace(result, details={**result.details, "judged_by": "embedded"})
    sample = replace(result, judge="sampled", details={**result.details, "set": "0" * 16})
    found = board(
        "eval-c",
        [
            Measured(path=tmp_path / f"{n}.json", result=each)
            for n, each in enumerate((result, other, sample))
        ],
    )
    titles = [section.title for section in found.sections]
    beside = {section.title: {row.judge for row in section.rows} for section in found.sections}
    assert {"my critic", "SelFee", "Auto-J"} < beside[titles[0]]
    assert beside["Critiques against those of chatgpt, judged by embedded, in %"] == {"my critic"}
    (title,) = [title for title, judges in beside.items() if "sampled" in judges]
    assert beside[title] == {"sampled"}
    assert "other data, 60 cases" in title
    gpt4, people = (section for section in found.sections if "of Auto-J" in section.title)
    assert "judged by people" in people.title
    assert [row.figures["win"].text for row in gpt4.rows] == [
        "218/232", "196/232", "187/232", "180/232", "171/232", "126/232",
    ]  # fmt: skip
    assert len(people.rows) == 6


def test_eval_r_keeps_reference_scores_apart(tmp_path):
    cases = [
        Case(
            id=f"c{n}",
            query=f"q{n}",
            cluster=f"q{n}",
            responses=tuple(
                Response(text="x" * (1 + k), reference_score=(k + n) % 4 / 4) for k in range(4)
            ),
        )
        for n in range(12)
    ]
    ratings = [tuple(r.reference_score for r in case.responses) for case in cases]
    judge = RatedCandidates(judge="knows all", source="files", ratings=ratings)
    (result,) = evaluate_selection(cases, [judge], (2, 4), "of mine.jsonl")
    path = tmp_path / "eval-r.json"
    save_result(path, result)
    found = board("eval-r", find_results("eval-r", [path]), sort="best of 4")
    (section,) = [one for one in found.sections if "mine.jsonl, 12 cases" in one.title][:1]
    assert section.figures == ("best of 2", "best of 4")
    rows = {row.judge: row for row in section.rows}
    assert set(rows) == {"knows all", "oracle", "random", "longest", "first"}
    assert values(rows["knows all"], "best of 4") == values(rows["oracle"], "best of 4") == (0.75,)
    assert values(rows["random"], "best of 4") == (pytest.approx(0.375),)
    assert {
        (one.baseline, one.beats) for one in found.against_baselines if one.figure == "best of 4"
    } == {
        # The same difference on each case has no interval, and what has none beats nothing.
        ("random", False),
        ("longest", True),
        ("first", True),
    }
    published = [section for section in found.sections if "GPT-4" in section.title]
    assert len(published) == 3
    assert all(row.status == "published" for section in published for row in section.rows)


def test_eval_r_without_its_comparisons_is_named(tmp_path):
    path = tmp_path / "eval-r.json"
    save_result(path, a_result("eval-r"))
    with pytest.raises(DataError) as caught:
        board("eval-r", find_results("eval-r", [path]))
    assert (caught.value.path, caught.value.field) == (path, "details.comparisons")


def test_best_of_n_itself(monkeypatch, data_folder):
    monkeypatch.setenv("AUTOJ_DATA", str(data_folder))
    baseline = by_judge(board("eval-r"), "trivial")
    found = {name: round(values(row, "best of 32")[0], 3) for name, row in baseline.items()}
    assert found == {"oracle": 0.869, "longest": 0.396, "random": 0.13, "first": 0.123}


def test_the_system_level_shows_the_text_and_the_table(tmp_path):
    (section,) = board("system-level").sections
    assert [(row.status, row.figures["spearman"].value) for row in section.rows] == [
        ("computed", 0.98),
        ("published", 0.97),
    ]
    assert section.rows[0].sources[0].cite == "computed from Table 23"


def test_table_23_itself_gives_what_is_printed_as_computed(monkeypatch, data_folder):
    without = by_judge(board("system-level"), "computed")["Auto-J"]
    monkeypatch.setenv("AUTOJ_DATA", str(data_folder))
    assert catalog.is_here("system-level-index")
    found = board("system-level")
    (rows,) = (section.rows for section in found.sections)
    computed = next(row for row in rows if row.status == "computed")
    for name, printed in without.figures.items():
        figure = computed.figures[name]
        assert isinstance(figure, Estimate)
        assert round(figure.value, 3) == printed.value
        assert figure.low < figure.value < figure.high
    length = next(row for row in rows if row.status == "trivial")
    assert length.judge == "mean length"
    assert 0.3 < length.figures["spearman"].value < 0.9


def test_the_system_level_compares_on_the_same_models_and_reference_alone(monkeypatch, tmp_path):
    path = tmp_path / "data" / "system_level" / "table23_index.jsonl"
    path.parent.mkdir(parents=True)
    table = [
        {"key": f"m{n}", "rating": n, "win_rate": n, "mean_len": (7 * n) % 11} for n in range(1, 11)
    ]
    write_records(path, table)
    monkeypatch.setenv("AUTOJ_DATA", str(tmp_path / "data"))
    write_records(tmp_path / "few.jsonl", table[:3])
    models, few = read_models(path), read_models(tmp_path / "few.jsonl")
    good = evaluate_table(models, models, judge="good", source=path)
    high = replace(good.estimates[0], value=0.99, low=0.97, high=1.0)
    good = replace(good, estimates=(high,))
    poor = replace(good, judge="poor", estimates=(replace(high, value=0.5, low=0.1, high=0.8),))
    measured = [
        Measured(path=tmp_path / f"{n}.json", result=one)
        for n, one in enumerate(
            (
                good,
                poor,
                evaluate_table(few, few, judge="few", source=path),
                replace(good, judge="old", details={}),
            )
        )
    ]
    found = board("system-level", measured)
    assert [(one.judge, one.baseline, one.beats) for one in found.against_baselines] == [
        ("good", "mean length", True),
        ("poor", "mean length", False),
    ]
    table_23, ten, three, unknown = found.sections
    assert {row.status for row in table_23.rows} == {"published", "computed"}
    assert "Table 23" in table_23.title
    assert {row.judge for row in ten.rows} == {"mean length", "good", "poor"}
    assert "another reference (10 models, digest " in ten.title
    assert ([row.judge for row in three.rows], "3 models" in three.title) == (["few"], True)
    assert ([row.judge for row in unknown.rows], "unknown" in unknown.title) == (["old"], True)
    untold = [line.split()[0] for line in found.messages]
    assert untold == ["few", "old"]


@pytest.mark.parametrize("bench", ["eval-r", "system-level"])
def test_boards_without_groups_say_so(bench):
    with pytest.raises(ConfigError, match="eval-p and eval-c have"):
        board(bench, breakdown="group")
