"""Two selections from the same responses: figures by hand, and what cannot be compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoj.errors import ConfigError, DataError
from autoj.runs.settings import read_settings, write_settings
from autoj.tasks.diff import RunDiff
from autoj.tasks.diff_selections import SelectionDiff, diff_stored

from ..reports.html.kinds import selected
from ..reports.html.stored import judged, pairs

TEXTS = ["tides", "winds", "clouds"]


def test_picks_that_differ_are_listed_with_their_models_and_scores(tmp_path: Path) -> None:
    # The first picks the third of four responses, worth 8, and the second the first, worth 3.
    one = selected(tmp_path / "one", TEXTS)
    other = selected(tmp_path / "other", TEXTS, second=True)
    found = diff_stored(one, other)
    assert isinstance(found, SelectionDiff)
    assert (found.n_both, found.n_alone, found.n_changed, found.n_differing) == (3, (0, 0), 0, 3)
    pick = found.differing[0]
    assert (pick.case_id, pick.one, pick.other) == ("0 tides", 2, 0)
    assert pick.models == ("m2", "m0")
    assert pick.reference_scores == pytest.approx((0.2, 0.0))
    assert found.same.value == 0
    assert found.by_chance == pytest.approx(1 / 4)
    assert found.reference is not None
    assert found.reference.estimate.value == pytest.approx(0.2)
    assert diff_stored(one, one).n_differing == 0


def test_pairs_and_ratings_are_compared_on_what_both_have(tmp_path: Path) -> None:
    one = selected(tmp_path / "one", TEXTS)
    other = selected(tmp_path / "other", TEXTS[:2], by="pairs")
    found = diff_stored(one, other)
    assert isinstance(found, SelectionDiff)
    assert (found.n_both, found.n_alone, found.same.value) == (2, (1, 0), 1)
    assert {name for name, _, _ in found.settings}
    assert found.differing == ()


def test_selections_of_other_queries_are_refused(tmp_path: Path) -> None:
    one, other = selected(tmp_path / "one", ["tides"]), selected(tmp_path / "other", ["winds"])
    with pytest.raises(DataError, match="has no query in common"):
        diff_stored(one, other)


def test_a_selection_and_a_run_of_verdicts_are_refused(tmp_path: Path) -> None:
    run = judged(tmp_path / "run", pairs(3))
    with pytest.raises(ConfigError, match="one has picks of autoj select, the other none"):
        diff_stored(selected(tmp_path / "one", TEXTS), run)
    assert isinstance(diff_stored(run, run), RunDiff)


@pytest.mark.parametrize("by", ["ratings", "pairs"])
@pytest.mark.parametrize(("dies_after", "max_requests"), [(8, None), (None, 8)])
def test_a_selection_that_is_not_finished_is_refused(
    tmp_path: Path, by: str, dies_after: int | None, max_requests: int | None
) -> None:
    one = selected(tmp_path / "one", TEXTS, by=by)
    other = selected(
        tmp_path / "other", TEXTS, by=by, dies_after=dies_after, max_requests=max_requests
    )
    for two in ((one, other), (other, one)):
        with pytest.raises(DataError, match=r"other: is not finished: it has \d verdicts") as error:
            diff_stored(*two)
        assert "The command that began it goes on." in str(error.value)
    again = selected(tmp_path / "other", TEXTS, by=by)
    found = diff_stored(one, again)
    assert isinstance(found, SelectionDiff)
    assert (found.n_both, found.same.value) == (3, 1)


def test_ratings_whose_picks_are_not_written_yet_are_not_finished(tmp_path: Path) -> None:
    one, other = selected(tmp_path / "one", TEXTS), selected(tmp_path / "other", TEXTS)
    (other / "picks.jsonl").unlink()
    settings = read_settings(other)
    del settings["files"]["picks.jsonl"]
    write_settings(other, settings)
    with pytest.raises(DataError, match="is not finished"):
        diff_stored(one, other)


def test_a_finished_selection_that_was_cut_is_damaged(tmp_path: Path) -> None:
    one, other = selected(tmp_path / "one", TEXTS), selected(tmp_path / "other", TEXTS)
    path = other / "verdicts.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(DataError, match="damaged"):
        diff_stored(one, other)


def test_selections_without_a_pick_are_refused(tmp_path: Path) -> None:
    one = selected(tmp_path / "one", TEXTS)
    other = selected(tmp_path / "other", TEXTS, answers=False)
    with pytest.raises(DataError, match="other: has no pick"):
        diff_stored(one, other)
