"""What included files bring: replaced, left out, brought twice, missing, or going round."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.errors import DataError
from autoj.scenarios import shipped_library
from autoj.scenarios.includes import SHIPPED, CriteriaReader

from .folders import criterion, write

BASIC = criterion("short") + criterion("kind")


def resolve(folder: Path, name: str = "a.yaml") -> tuple[list[str], tuple[DataError, ...]]:
    reader = CriteriaReader()
    found = reader.resolve(folder / name)
    return [item.content for item in found], reader.faults


def only(faults: tuple[DataError, ...]) -> DataError:
    (fault,) = faults
    return fault


def test_an_include_brings_its_criteria_to_its_place(tmp_path: Path) -> None:
    text = criterion("one") + "basic: !include shared/basic.yaml\n" + criterion("two")
    write(tmp_path, {"a.yaml": text, "shared/basic.yaml": BASIC})
    contents, faults = resolve(tmp_path)
    assert faults == ()
    assert contents == ["It is one.", "It is short.", "It is kind.", "It is two."]


def test_a_path_begins_at_the_including_file(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.yaml": "x: !include deep/b.yaml\n",
            "deep/b.yaml": "x: !include more/c.yaml\n",
            "deep/more/c.yaml": "x: !include ../d.yaml\n",
            "deep/d.yaml": BASIC,
            "more/c.yaml": criterion("wrong"),
            "d.yaml": criterion("wrong"),
        },
    )
    assert resolve(tmp_path) == (["It is short.", "It is kind."], ())


def test_the_release_writes_paths_from_its_root(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "root/criteria/specials/a.yaml": 'x:\n  !include "./criteria/basics/b.yaml"\n',
            "root/criteria/basics/b.yaml": BASIC,
        },
    )
    folder = tmp_path / "root" / "criteria" / "specials"
    assert resolve(folder) == (["It is short.", "It is kind."], ())


def test_a_bare_path_is_not_looked_for_further_up(tmp_path: Path) -> None:
    write(tmp_path, {"deep/a.yaml": "x: !include basic.yaml\n", "basic.yaml": BASIC})
    _, faults = resolve(tmp_path / "deep")
    assert "there is no file 'basic.yaml'" in only(faults).reason


@pytest.mark.parametrize("target", ["autoj:shared/basic", "autoj:shared/basic.yaml"])
def test_ours_are_included_by_a_prefix(tmp_path: Path, target: str) -> None:
    write(tmp_path, {"a.yaml": f"x: !include {target}\n"})
    contents, faults = resolve(tmp_path)
    assert faults == ()
    reader = CriteriaReader()
    ours = reader.resolve(SHIPPED / "shared" / "basic.yaml")
    assert contents == [item.content for item in ours]


def test_a_scenario_of_ours_is_included_whole_with_what_it_includes(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "x: !include autoj:planning\n"})
    contents, faults = resolve(tmp_path)
    assert faults == ()
    assert contents == [item.content for item in shipped_library().find("planning").criteria]


@pytest.mark.parametrize("target", ["autoj:../taxonomy.yaml", "autoj:/etc/hosts", "autoj:nothing"])
def test_the_prefix_leads_nowhere_else(tmp_path: Path, target: str) -> None:
    write(tmp_path, {"a.yaml": f"x: !include {target}\n"})
    contents, faults = resolve(tmp_path)
    assert contents == []
    assert f"autoj ships no criteria {target!r}" in only(faults).reason


@pytest.mark.parametrize("order", [("own", "include"), ("include", "own")])
def test_a_criterion_of_the_file_replaces_an_included_one(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    parts = {"own": criterion("short", "It is two lines."), "include": "x: !include b.yaml\n"}
    write(tmp_path, {"a.yaml": "".join(parts[part] for part in order), "b.yaml": BASIC})
    contents, faults = resolve(tmp_path)
    assert faults == ()
    assert sorted(contents) == ["It is kind.", "It is two lines."]


def test_a_name_with_nothing_under_it_leaves_an_included_one_out(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "x: !include b.yaml\nshort: ~\n", "b.yaml": BASIC})
    assert resolve(tmp_path) == (["It is kind."], ())


def test_a_long_chain_of_files_is_a_fault(tmp_path: Path) -> None:
    chain = {f"f{n}.yaml": f"x: !include f{n + 1}.yaml\n" for n in range(2000)}
    write(tmp_path, chain | {"f2000.yaml": BASIC})
    _, faults = resolve(tmp_path, "f0.yaml")
    assert "nested deeper than 20 files" in only(faults).reason


def test_a_path_that_no_system_takes_is_a_file_that_is_not_there(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": f"x: !include {'long' * 200}\n"})
    _, faults = resolve(tmp_path)
    assert "there is no file" in only(faults).reason


def test_leaving_out_what_is_not_there_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "x: !include b.yaml\nshrt:\n", "b.yaml": BASIC})
    contents, faults = resolve(tmp_path)
    assert len(contents) == 2
    fault = only(faults)
    assert (fault.path.name, fault.line) == ("a.yaml", 2)
    assert "'shrt' is to be left out, but no include has it" in fault.reason


def test_two_ways_to_one_file_bring_its_criteria_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.yaml": "x: !include b.yaml\ny: !include c.yaml\nz: !include d.yaml\n",
            "b.yaml": "x: !include d.yaml\n" + criterion("b"),
            "c.yaml": "x: !include d.yaml\n" + criterion("c"),
            "d.yaml": BASIC,
        },
    )
    contents, faults = resolve(tmp_path)
    assert faults == ()
    assert contents == ["It is short.", "It is kind.", "It is b.", "It is c."]


def test_two_includes_with_one_name_are_a_fault_that_a_criterion_of_ones_own_mends(
    tmp_path: Path,
) -> None:
    includes = "x: !include b.yaml\ny: !include c.yaml\n"
    write(
        tmp_path,
        {"a.yaml": includes, "b.yaml": BASIC, "c.yaml": criterion("short", "It fits a line.")},
    )
    _, faults = resolve(tmp_path)
    fault = only(faults)
    assert (fault.path.name, fault.line) == ("a.yaml", 2)
    assert "b.yaml:1" in fault.reason
    assert "c.yaml:1" in fault.reason
    for mended in (criterion("short", "It is as short as a line."), "short: ~\n"):
        write(tmp_path, {"a.yaml": includes + mended})
        assert resolve(tmp_path)[1] == ()


def test_one_content_under_two_names_is_a_fault(tmp_path: Path) -> None:
    text = "x: !include b.yaml\n" + criterion("brief", "IT IS, short!")
    write(tmp_path, {"a.yaml": text, "b.yaml": BASIC})
    fault = only(resolve(tmp_path)[1])
    assert (fault.path.name, fault.line, fault.field) == ("a.yaml", 2, "brief")
    assert "repeats 'short' of" in fault.reason
    assert "b.yaml:1" in fault.reason


@pytest.mark.parametrize(
    ("files", "steps", "place"),
    [
        ({"a.yaml": "x: !include a.yaml\n"}, "a.yaml -> a.yaml", ("a.yaml", 1)),
        (
            {"a.yaml": "\nx: !include b.yaml\n", "b.yaml": "\n\nx: !include a.yaml\n"},
            "a.yaml -> b.yaml -> a.yaml",
            ("b.yaml", 3),
        ),
        (
            {
                "a.yaml": "x: !include b.yaml\n",
                "b.yaml": "x: !include sub/c.yaml\n",
                "sub/c.yaml": BASIC + "x: !include ../sub/../b.yaml\n",
            },
            "b.yaml -> c.yaml -> b.yaml",
            ("c.yaml", 9),
        ),
    ],
)
def test_a_circle_is_told_where_it_closes(
    tmp_path: Path, files: dict[str, str], steps: str, place: tuple[str, int]
) -> None:
    write(tmp_path, files)
    _, faults = resolve(tmp_path)
    fault = only(faults)
    assert f"includes itself: {steps}" in fault.reason
    assert (fault.path.name, fault.line) == place


def test_a_circle_is_told_once_wherever_one_begins(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a.yaml": "x: !include b.yaml\n", "b.yaml": "x: !include a.yaml\n" + criterion("b")},
    )
    reader = CriteriaReader()
    for name in ("a.yaml", "b.yaml", "a.yaml"):
        reader.resolve(tmp_path / name)
    assert len(reader.faults) == 1


def test_a_missing_file_is_told_with_the_nearest_names(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.yaml": criterion("one")
            + "x: !include shared/bsic.yaml\ny: !include autoj:shred/basic\n",
            "shared/basic.yaml": BASIC,
        },
    )
    contents, (own, ours) = resolve(tmp_path)
    assert contents == ["It is one."]
    assert (own.line, ours.line) == (5, 6)
    assert own.hint == "Did you mean shared/basic.yaml?"
    assert ours.hint is not None
    assert "autoj:shared/basic" in ours.hint


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "x: !include shared\n", "shared/basic.yaml": BASIC})
    assert "there is no file 'shared'" in only(resolve(tmp_path)[1]).reason


def test_faults_of_an_included_file_are_told_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.yaml": "x: !include c.yaml\n",
            "b.yaml": "x: !include c.yaml\n",
            "c.yaml": criterion("short", weight=9),
        },
    )
    reader = CriteriaReader()
    reader.resolve(tmp_path / "a.yaml")
    reader.resolve(tmp_path / "b.yaml")
    assert [(fault.path.name, fault.line) for fault in reader.faults] == [("c.yaml", 3)]
    assert reader.n_files == 3
