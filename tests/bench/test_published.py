"""Published figures: complete, inside their scales, and as their sources have them."""

from __future__ import annotations

import importlib.resources
from decimal import Decimal

import pytest

from autoj.bench.published import merged, published, read_published
from autoj.errors import DataError
from autoj.scenarios import groups

NAMES = ("eval-p", "eval-r", "system-level", "unseen")

GOOD = """
sources:
  table: {work: paper, cite: "paper, Table 0"}
rows:
  - {model: X, source: table, kind: pairwise, generative: true, figures: {agreement: "50.0"}}
"""


def rows_of(name, model, figure):
    return [row for row in published(name) if row.model == model and figure in row.figures]


@pytest.mark.parametrize("name", NAMES)
def test_every_row_has_a_source_and_figures_on_their_scale(name):
    rows = published(name)
    assert rows
    for row in rows:
        (source,) = row.sources
        assert source.cite
        figures = list(row.figures.items())
        figures += [
            item for parts in row.parts.values() for its in parts.values() for item in its.items()
        ]
        for figure, printed in figures:
            assert printed.source is source
            if figure.startswith("best of "):
                assert 1 <= printed.value <= 10
                assert printed.value == float(printed.text)
            elif figure in ("pearson", "spearman", "kendall"):
                assert -1 <= printed.value <= 1
            else:
                assert 0 <= printed.value <= 1


def test_the_four_sources_of_auto_j_stand_apart():
    found = {
        (row.sources[0].cite, row.figures["agreement"].text)
        for row in rows_of("eval-p", "Auto-J", "agreement")
    }
    assert {
        ("paper, Table 1", "55.0"),
        ("paper, section 6.4, ablation (1)", "54.8"),
        ("the release's README, pairwise leaderboard", "54.96"),
    } < found


def test_a_judge_of_single_responses_has_no_agreement():
    single = [row for row in published("eval-p") if row.kind == "single"]
    assert {row.model for row in single} == {
        "ScalarRM", "Moss-RM", "Ziya-RM", "Beaver-RM", "OASST-RM",
    }  # fmt: skip
    assert all(set(row.figures) == {"averaged accuracy"} for row in single)
    assert [row.model for row in single if not row.in_sample] == ["ScalarRM"]
    assert not any(row.generative for row in single)
    assert not any(row.in_sample for row in published("eval-p") if row.kind == "pairwise")


def test_table_1_has_all_groups_and_they_add_up_to_its_overall():
    rows = [row for row in published("eval-p") if "group" in row.parts]
    assert len(rows) == 10
    n_scenarios = {group: len(names) for group, names in groups().items()}
    for row in rows:
        parts = {name: its["agreement"].value for name, its in row.parts["group"].items()}
        assert list(parts) == [
            "Summarization", "Exam Questions", "Code", "Rewriting", "Creative Writing",
            "Functional Writing", "General Communication", "NLP Tasks",
        ]  # fmt: skip
        # Each scenario has 24 pairs, so a group weighs as much as it has scenarios.
        mean = sum(n_scenarios[name] * value for name, value in parts.items()) / 58
        assert mean == pytest.approx(row.figures["agreement"].value, abs=0.0006)


def test_readme_and_paper_agree_within_rounding_but_where_they_do_not():
    differing = set()
    for figure, cite in (("agreement", "paper, Table 1"), ("consistency", "paper, Fig. 4")):
        paper = {
            row.model: row.figures[figure]
            for row in published("eval-p")
            if row.sources[0].cite == cite
        }
        readme = {
            row.model: row.figures[figure]
            for row in published("eval-p")
            if row.sources[0].work == "readme" and figure in row.figures
        }
        assert set(paper) < set(readme)
        for model, printed in paper.items():
            # Half a step of the rounded one; both are exact in decimals.
            if abs(Decimal(readme[model].text) - Decimal(printed.text)) > Decimal("0.05"):
                differing.add((model, figure, printed.text, readme[model].text))
    # The README says that its code reads verdicts otherwise: these differ, and both are kept.
    assert differing == {
        ("PandaLM", "agreement", "38.9", "39.44"),
        ("GPT-4", "consistency", "85.9", "86.28"),
        ("PandaLM", "consistency", "66.8", "66.88"),
        ("WizardLM-13B-v1.2", "consistency", "57.9", "57.69"),
    }


def test_tables_2_and_3():
    rows = published("eval-r")
    by_base = {
        base: [row for row in rows if row.base_model == base]
        for base in {r.base_model for r in rows}
    }
    assert set(by_base) == {"LLaMA-2-Chat-7B", "Vicuna-7B-v1.5", None}
    assert all(len(its) == 9 for its in by_base.values())
    best = {
        base: max(
            (row for row in its if "best of 8" in row.figures),
            key=lambda row: row.figures["best of 32"].value,
        ).model
        for base, its in by_base.items()
        if base is not None
    }
    assert set(best.values()) == {"Auto-J"}
    doubtful = [
        (row.model, name, printed.text)
        for row in rows
        for name, printed in row.figures.items()
        if printed.remark == "p > 0.05"
    ]
    assert doubtful == [("Vicuna-13B-v1.5", "spearman", "-0.01")]
    # Where both tables have a figure of Auto-J, it is the same.
    for its in by_base.values():
        mine = [row.figures for row in its if row.model == "Auto-J"]
        for name in set(mine[0]) & set(mine[1]):
            assert mine[0][name].text == mine[1][name].text


def test_the_system_level_of_the_text_and_of_the_table():
    text, table = published("system-level")
    assert {name: printed.text for name, printed in text.figures.items()} == {
        "spearman": "0.97",
        "pearson": "0.96",
    }
    assert not text.is_computed
    assert table.is_computed
    assert table.sources[0].cite == "computed from Table 23"


def test_seen_and_unseen_add_up():
    rows = published("unseen")
    assert len(rows) == 8
    shares = {"1": 50 / 58, "2": 47 / 58}
    for row in rows:
        setting = row.sources[0].cite.partition("setting ")[2][0]
        ((figure, complete),) = row.figures.items()
        seen, unseen = (row.parts["seen and unseen"][part][figure] for part in ("seen", "unseen"))
        if figure == "win":
            n_won = [int(printed.text.split("/")[0]) for printed in (seen, unseen, complete)]
            n_all = [int(printed.text.split("/")[1]) for printed in (seen, unseen, complete)]
            assert n_won[0] + n_won[1] == n_won[2]
            assert n_all[0] + n_all[1] == n_all[2] == 232
            assert n_all[0] == round(232 * shares[setting])
        else:
            mean = shares[setting] * seen.value + (1 - shares[setting]) * unseen.value
            assert mean == pytest.approx(complete.value, abs=0.001)


def test_rows_of_one_publication_merge_unless_they_contradict_each_other():
    rows = [row for row in merged(published("eval-p")) if row.model == "Auto-J"]
    found = [{name: printed.text for name, printed in row.figures.items()} for row in rows]
    assert found == [
        {"agreement": "55.0", "consistency": "83.4"},
        {"agreement": "54.8"},
        {"agreement": "54.96", "consistency": "83.41"},
        {"agreement": "54.8"},
    ]
    first = rows[0]
    assert [source.cite for source in first.sources] == ["paper, Table 1", "paper, Fig. 4"]
    assert first.figures["consistency"].source.cite == "paper, Fig. 4"
    assert first.parts["group"]["Code"]["agreement"].text == "47.5"


def test_digits_are_exact(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(GOOD.replace('"50.0"', '"85.9"'))
    (row,) = read_published(path)
    assert row.figures["agreement"].value == 0.859
    assert row.figures["agreement"].text == "85.9"


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        (("agreement: ", "agrement: "), "rows.0.figures.agrement", "unknown figure 'agrement'"),
        (('"50.0"', '"150"'), "rows.0.figures.agreement", "outside 0 to 100"),
        (('"50.0"', '"fifty"'), "rows.0.figures.agreement", "expected a number"),
        (('"50.0"', '"nan"'), "rows.0.figures.agreement", "expected a number"),
        (('"50.0"', '"1/0"'), "rows.0.figures.agreement", "expected a number"),
        (('"50.0"', "50.0"), "rows.0.figures.agreement", "valid string"),
        (("source: table", "source: tabel"), "rows.0.source", "'tabel' is not a source"),
        (("kind: pairwise", "kind: both"), "rows.0.kind", "'pairwise' or 'single'"),
        (("generative: true", "generative: true, n: 3"), "rows.0.n", "Extra inputs"),
        (("generative: true, ", ""), "rows.0.generative", "required"),
        (('figures: {agreement: "50.0"}', "figures: {}"), "rows.0.figures", "at least 1 item"),
        (("work: paper", "work: hearsay"), "sources.table.work", "'paper'"),
        (
            ('figures: {agreement: "50.0"}', 'figures: {agreement: "50"}, remarks: {kappa: "?"}'),
            "rows.0.remarks",
            "which are not figures of this row",
        ),
        (
            (
                'figures: {agreement: "50.0"}',
                'figures: {agreement: "50", accuracy: "60"}, parts: {group: {Code: "1"}}',
            ),
            "rows.0.parts",
            "one figure",
        ),
    ],
)
def test_a_wrong_file_is_named_with_the_field(tmp_path, change, field, said):
    path = tmp_path / "own.yaml"
    assert change[0] in GOOD
    path.write_text(GOOD.replace(*change))
    with pytest.raises(DataError) as caught:
        read_published(path)
    assert caught.value.path == path
    assert caught.value.field == field
    assert said in str(caught.value)


def test_a_missing_file_and_one_that_is_no_yaml(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        read_published(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("rows: [")
    with pytest.raises(DataError, match="is not YAML"):
        read_published(tmp_path / "bad.yaml")


def test_the_files_lie_in_the_package():
    folder = importlib.resources.files("autoj.bench") / "data"
    found = {item.name for item in folder.iterdir()}
    assert {f"published_{name.replace('-', '_')}.yaml" for name in NAMES} <= found
