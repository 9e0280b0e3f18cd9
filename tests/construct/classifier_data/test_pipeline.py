"""A classifier's data end to end with a scripted teacher, also when it is killed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from autoj.construct.classifier_data.estimate import estimate_classifier_data
from autoj.construct.classifier_data.pipeline import ClassifierData, construct_classifier_data
from autoj.construct.classifier_data.recipe import (
    ClassifierDataRecipe,
    read_classifier_data_recipe,
)
from autoj.construct.folder import Construction
from autoj.construct.review.answers import read_reviews
from autoj.construct.review.opening import open_review
from autoj.errors import BackendError, DataError, SpecMismatch, Unfinished, UnknownComponent
from autoj.records import normalise_query
from autoj.runs.budget import Budget
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios.classifier import load_classifier
from autoj.training.classifier.job import SHIPPED_RECIPE, ClassifierTrainer

from ...scripted import Killed
from .scripted_writer import NAMES, Writer, query_of

pytest.importorskip("sklearn", reason="the extra `train` is missing")

TRAINER = ClassifierTrainer(recipe=SHIPPED_RECIPE, title="ours")


def make(
    recipe: ClassifierDataRecipe,
    out: Path,
    *,
    budget: Budget | None = None,
    as_reviewed: bool = False,
    watch: Watch = SILENT,
) -> ClassifierData:
    return construct_classifier_data(
        recipe, out, TRAINER, budget=budget, as_reviewed=as_reviewed, watch=watch
    )


def right_name(query: str) -> str:
    """The scenario that a scripted query was made for."""
    plain = {normalise_query(query_of(name, n)): name for name in NAMES for n in range(1_000)}
    return plain[normalise_query(query)]


def review(out: Path, n: int | None = None) -> None:
    """A person who knows: names each row rightly, and drops the first one."""
    with open_review(out).session() as session:
        while (row := session.current) is not None and n != 0:
            session.answer("x" if session.number == 1 else right_name(row.query))
            n = None if n is None else n - 1


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _made(out: Path) -> dict[str, bytes]:
    """What a construction is made for; ledgers of one round may differ in order."""
    names = ("kept.jsonl", "dropped.jsonl", "summary.json", "weights.npz")
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*.*"))
        if path.name in names or path.parent.name == "data"
    }


def test_it_stops_for_the_review_and_ends_with_a_classifier(
    recipe: ClassifierDataRecipe, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(Unfinished, match="guessed scenarios are to be checked by a person"):
        make(recipe, out)
    found = open_review(out)
    # Six of each guess, as the recipe says.
    assert max(Counter(row.scenario for row in found.rows).values()) == 6
    review(out)
    done = make(recipe, out)
    by_name = {summary.name: summary for summary in done.construction.summaries}
    assert by_name["seeds"].dropped == {
        "same query": 2, "placeholder": 2, "no query is written": 1, "more than asked for": 1,
    }  # fmt: skip
    assert by_name["seeds"].n_requests == Writer.asked.total()
    assert by_name["seeds"].usd is not None
    assert by_name["queries"].dropped == {
        "same query": 2, "too long": 1, "cannot be read": 1, "in a test set": 1,
    }  # fmt: skip
    assert by_name["queries"].notes["contamination"][0]["n_same_text"] == 1
    reviews = read_reviews(out / "03-classify")
    split = by_name["split"]
    assert split.dropped["dropped in the review"] == 1
    assert split.n_kept == by_name["seeds"].n_kept + len(reviews) - 1
    assert split.n_in == by_name["seeds"].n_kept + by_name["classify"].n_kept
    train, test = _rows(done.train), _rows(done.test)
    assert by_name["train"].n_kept == len(train) == split.notes["rows"]["train.jsonl"]
    # 8:2 of each scenario, and no query in both parts.
    assert len(train) + len(test) == split.n_kept
    for name in NAMES:
        n_test = sum(row["scenario"] == name for row in test)
        n_train = sum(row["scenario"] == name for row in train)
        assert n_test == round(0.2 * (n_test + n_train))
    learnt = {normalise_query(str(row["query"])) for row in train}
    assert learnt.isdisjoint(normalise_query(str(row["query"])) for row in test)
    assert {row["source"] for row in _rows(done.test_reviewed)} == {"real"}
    for row in (*train, *test):
        assert row["scenario"] == right_name(str(row["query"]))
    classifier = load_classifier(str(done.classifier))
    assert classifier.name == "ours"
    assert classifier.labels == tuple(sorted(NAMES))
    guesses = classifier.classify([str(row["query"]) for row in test])
    n_right = sum(
        guess.scenario == row["scenario"] for guess, row in zip(guesses, test, strict=True)
    )
    assert n_right > 0.7 * len(test)


def test_each_scenario_gets_its_seeds_and_none_is_an_example_of_ours(
    recipe: ClassifierDataRecipe, tmp_path: Path
) -> None:
    with pytest.raises(Unfinished):
        make(recipe, tmp_path / "out")
    seeds = list(Construction.open(tmp_path / "out").stage("seeds").kept())
    assert Counter(case.scenario for case in seeds) == dict.fromkeys(NAMES, 12)
    assert all(case.meta["written_by"] == "writer" for case in seeds)
    assert len({case.cluster for case in seeds}) == len(seeds)
    # The one that refused is asked a third time; no scenario is asked once it has its twelve.
    assert Writer.asked.total() == 3 + 3 + 1


def test_killed_anywhere_it_ends_as_an_uninterrupted_one(
    recipe: ClassifierDataRecipe, tmp_path: Path
) -> None:
    def whole(out: Path) -> None:
        with pytest.raises(Unfinished):
            make(recipe, out)
        review(out)
        make(recipe, out)

    whole(tmp_path / "whole")
    wanted, n_asked = _made(tmp_path / "whole"), Writer.asked.total()
    for dies_after in (0, 4, n_asked - 1):
        out = tmp_path / f"killed-{dies_after}"
        Writer.asked, Writer.dies_after = Counter(), dies_after
        with pytest.raises(Killed):
            make(recipe, out)
        Writer.dies_after = None
        whole(out)
        assert _made(out) == wanted
        assert set(Writer.asked.values()) == {1}
        assert Writer.asked.total() == n_asked


def test_killed_between_stages_it_goes_on(
    recipe: ClassifierDataRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, out = ClassifierTrainer.train, tmp_path / "out"

    def dies(self, data, folder, watch):
        real(self, data, folder, watch)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(ClassifierTrainer, "train", dies)
        with pytest.raises(Killed):
            make(recipe, out)
    with pytest.raises(Unfinished):
        make(recipe, out)
    review(out)
    with monkeypatch.context() as patched:
        patched.setattr(ClassifierTrainer, "train", dies)
        with pytest.raises(Killed):
            make(recipe, out)
    assert make(recipe, out).classifier.is_dir()
    assert set(Writer.asked.values()) == {1}


def test_caps_hold_and_a_teacher_that_is_down_drops_nothing(
    recipe: ClassifierDataRecipe, tmp_path: Path
) -> None:
    with pytest.raises(Unfinished, match="--max-requests 2"):
        make(recipe, tmp_path / "out", budget=Budget(max_requests=2))
    Writer.down = True
    with pytest.raises(BackendError, match="the teacher failed on"):
        make(recipe, tmp_path / "out")
    Writer.down = False
    with pytest.raises(Unfinished, match="to be checked"):
        make(recipe, tmp_path / "out")
    assert Construction.open(tmp_path / "out").stage("seeds").n_kept() == 36


def test_it_goes_on_with_what_is_reviewed_and_again_after_more_of_it(
    recipe: ClassifierDataRecipe, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    # Nothing is reviewed yet, so there is nothing to go on with.
    with pytest.raises(Unfinished):
        make(recipe, out, as_reviewed=True)
    review(out, 5)
    with pytest.raises(Unfinished):
        make(recipe, out)
    first = make(recipe, out, as_reviewed=True)
    n_first = len(_rows(first.train)) + len(_rows(first.test))
    review(out)
    assert Construction.open(out).stale == ("split", "train")
    told: list[str] = []

    class Told(Watch):
        def message(self, text: str) -> None:
            told.append(text)

    again = make(recipe, out, watch=Told())
    assert "stage split was made before the last review: it is made again" in told
    assert len(_rows(again.train)) + len(_rows(again.test)) > n_first
    assert again.construction.stale == ()


def test_rows_that_state_their_scenario_are_taken_without_a_review(
    recipe: ClassifierDataRecipe, tmp_path: Path
) -> None:
    lines = (tmp_path / "queries.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows[:30]:
        row["scenario"] = "Planning"
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(Unfinished):
        make(recipe, tmp_path / "out")
    review(tmp_path / "out")
    done = make(recipe, tmp_path / "out")
    stated = [row for row in (*_rows(done.train), *_rows(done.test)) if row["id"] == "real/0"]
    assert [row["scenario"] for row in stated] == ["planning"]


def test_seeds_may_come_from_files_or_another_model_may_be_first(
    recipe: ClassifierDataRecipe, tmp_path: Path
) -> None:
    rows = [
        {"query": query_of(name, n), "scenario": name.replace("_", " ")}
        for name in NAMES
        for n in range(8)
    ]
    path = tmp_path / "seeds.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = (tmp_path / "names.yaml").read_text()
    asking = text[text.index("seeds:") : text.index("queries:")]
    (tmp_path / "files.yaml").write_text(text.replace(asking, f"seeds: {{data: [{path}]}}\n"))
    with pytest.raises(Unfinished):
        make(read_classifier_data_recipe(tmp_path / "files.yaml"), tmp_path / "files")
    assert not Writer.asked
    assert Construction.open(tmp_path / "files").stage("seeds").n_kept() == 24
    (tmp_path / "fast.yaml").write_text(text.replace(asking, "first: fast\n"))
    with pytest.raises(Unfinished):
        make(read_classifier_data_recipe(tmp_path / "fast.yaml"), tmp_path / "fast")
    found = Construction.open(tmp_path / "fast")
    assert found.names == ("queries", "classify", "split", "train")
    guessed = {case.meta["scenario_by"] for case in found.stage("classify").kept()}
    assert guessed == {"fast"}
    path.write_text('{"query": "Why?", "scenario": "open_question"}\n')
    with pytest.raises(DataError, match=r"seeds\.jsonl:1:scenario: there is no scenario"):
        make(read_classifier_data_recipe(tmp_path / "files.yaml"), tmp_path / "other")


def test_a_dry_run_holds_what_is_asked_then(recipe: ClassifierDataRecipe, tmp_path: Path) -> None:
    (teacher,) = estimate_classifier_data(recipe).teachers
    assert not Writer.asked
    with pytest.raises(Unfinished):
        make(recipe, tmp_path / "out")
    assert teacher.n_requests == (6, 9)
    assert teacher.n_requests[0] <= Writer.asked.total() <= teacher.n_requests[1]
    assert teacher.usd is not None
    assert teacher.n_kept_most == 36


def test_another_recipe_or_changed_data_is_refused(
    recipe: ClassifierDataRecipe, tmp_path: Path
) -> None:
    with pytest.raises(Unfinished):
        make(recipe, tmp_path / "out")
    with pytest.raises(SpecMismatch, match=r"recipe\.seed: was 5, is now 6"):
        make(recipe.model_copy(update={"seed": 6}), tmp_path / "out")
    with (tmp_path / "tested.jsonl").open("a") as stream:
        stream.write('{"query": "x", "responses": ["a", "b"]}\n')
    with pytest.raises(SpecMismatch, match=r"files\."):
        make(recipe, tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("per_scenario: 12", "per_scenario: 31"), "31 need more than 3 rounds"),
        (("kind: classifier-data", "kind: classifier"), "kind"),
        (("name: real", "name: seeds"), "no file may be called 'seeds'"),
        (("seed: 5", "seed: 5\nsed: 6"), "sed: unknown field; did you mean seed"),
        (("teacher: ", "data: []\n#"), "name a teacher that writes queries, or data"),
    ],
)
def test_a_bad_recipe_names_what_is_wrong(
    recipe: ClassifierDataRecipe, tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    text = (tmp_path / "names.yaml").read_text()
    if change[0] == "teacher: ":
        seeds = text[text.index("seeds:") : text.index("queries:")]
        text = text.replace(seeds, "seeds: {per_scenario: 4}\n")
    (tmp_path / "bad.yaml").write_text(text.replace(*change))
    with pytest.raises(DataError, match=said):
        read_classifier_data_recipe(tmp_path / "bad.yaml")


def test_names_and_files_are_checked_before_anything_is_asked(
    recipe: ClassifierDataRecipe, tmp_path: Path
) -> None:
    for change, error in (
        ({"names": ("plannning",)}, UnknownComponent),
        ({"first": "fastest"}, UnknownComponent),
        ({"against": (str(tmp_path / "missing.jsonl"),)}, DataError),
        ({"training": str(tmp_path / "missing.yaml")}, DataError),
    ):
        changed = recipe.model_copy(update=change)
        trainer = ClassifierTrainer(recipe=Path(changed.training), title="ours")
        with pytest.raises(error):
            construct_classifier_data(changed, tmp_path / "out", trainer)
    assert not Writer.asked
    assert not (tmp_path / "out").exists()
