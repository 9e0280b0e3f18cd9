"""The criteria that ship: how many, how they are spread, and that none says another again."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest

from autoj.scenarios import Criterion, check_folder, scenario_names, shipped_library
from autoj.scenarios.criteria import (
    HIGHEST_WEIGHT,
    LOWEST_WEIGHT,
    TYPES,
    count_distinct,
    normalise_content,
)
from autoj.scenarios.includes import SHIPPED

SHARED = {"basic", "writing", "coding", "exam", "mathematics", "conversation"}
# The paper's own set has 332 criteria.
FEWEST = 332
SCENARIOS = {name: shipped_library().find(name) for name in scenario_names()}

# Two criteria whose word stems, little words left out, overlap by this Jaccard index say the same.
# Of ours the nearest within a scenario come to 0.26 and of all to 0.36; the rewordings below come
# to 0.4 and more.
SAME_IN_A_SCENARIO = 0.35
SAME_ANYWHERE = 0.4
LITTLE_WORDS = """
a an and are as at be been but by for from had has have how in into is it its no nor not of on one
or other so such that the their them then there they this to under up was what when where which who
whose will with without would only than also each every any some more most does do can could
"""
LITTLE = frozenset(LITTLE_WORDS.split())
ENDINGS = ("ations", "ation", "ings", "ing", "edly", "ied", "ies", "ed", "es", "ly", "s", "e")


def stem(word: str) -> str:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def stems(content: str) -> frozenset[str]:
    words = re.findall(r"[a-z0-9]+", content.lower().replace("'s", ""))
    return frozenset(stem(word) for word in words if word not in LITTLE and len(word) > 1)


def likeness(one: str, other: str) -> float:
    a, b = stems(one), stems(other)
    return len(a & b) / len(a | b)


def too_alike(criteria: list[Criterion], limit: float) -> list[tuple[str, str, float]]:
    known = [(criterion.name, stems(criterion.content)) for criterion in criteria]
    return [
        (one, other, len(a & b) / len(a | b))
        for (one, a), (other, b) in itertools.combinations(known, 2)
        if len(a & b) / len(a | b) >= limit
    ]


def all_criteria() -> list[Criterion]:
    placed = {
        (criterion.path, criterion.line): criterion
        for scenario in SCENARIOS.values()
        for criterion in scenario.criteria
    }
    return list(placed.values())


def test_each_scenario_has_a_file_and_each_file_is_sound() -> None:
    checked = check_folder()
    assert checked.faults == ()
    assert {scenario.name for scenario in checked.scenarios} == set(scenario_names())
    assert {path.stem for path in SHIPPED.glob("*.yaml")} == set(scenario_names())
    assert {path.stem for path in (SHIPPED / "shared").glob("*.yaml")} == SHARED
    assert checked.n_files == 58 + len(SHARED)
    assert checked.aliases == {}


def test_there_are_as_many_distinct_criteria_as_the_paper_has() -> None:
    assert count_distinct(SCENARIOS.values()) >= FEWEST
    # What is shared is written once, and nothing is written twice.
    assert len(all_criteria()) == count_distinct(SCENARIOS.values())


def test_shared_sets_count_once() -> None:
    criteria = SCENARIOS["planning"].criteria
    assert count_distinct([SCENARIOS["planning"], SCENARIOS["planning"]]) == len(criteria)


def test_names_are_unique_within_a_scenario() -> None:
    for scenario in SCENARIOS.values():
        counts = Counter(criterion.name for criterion in scenario.criteria)
        assert [name for name, count in counts.items() if count > 1] == [], scenario.name
        # None of ours hides an included one by its name.
        shared = [item.name for item in scenario.criteria if item not in scenario.own]
        assert not {own.name for own in scenario.own} & set(shared), scenario.name


def test_a_scenario_has_criteria_of_its_own_and_the_basic_set() -> None:
    for name, scenario in SCENARIOS.items():
        assert len(scenario.own) >= 3, name
        assert all(item.type != "basic" for item in scenario.own), name
        assert any(item.type == "content" and item.weight >= 4 for item in scenario.own), name
        sources = {criterion.path for criterion in scenario.criteria}
        assert sources >= {scenario.path, SHIPPED / "shared" / "basic.yaml"}, name
        assert all(path.parent.name in ("criteria", "shared") for path in sources), name


def test_fields_are_in_range() -> None:
    for criterion in all_criteria():
        assert criterion.type in TYPES, criterion
        assert LOWEST_WEIGHT <= criterion.weight <= HIGHEST_WEIGHT, criterion
        assert criterion.name == criterion.name.lower() == criterion.name.strip(), criterion
        assert criterion.content[0].isupper(), criterion
        assert criterion.content.endswith("."), criterion
        # A judge reads about twenty of these before the responses.
        assert 8 <= len(criterion.content.split()) <= 50, criterion


def test_no_criterion_says_again_what_its_scenario_says_already() -> None:
    for scenario in SCENARIOS.values():
        assert too_alike(list(scenario.criteria), SAME_IN_A_SCENARIO) == [], scenario.name


def test_no_criterion_says_again_what_another_scenario_says() -> None:
    assert too_alike(all_criteria(), SAME_ANYWHERE) == []


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("rhyme without force", "A pattern of rhymes can be heard; no line is bent for a rhyme."),
        ("rhyme without force", "Rhymes follow a pattern; lines are not turned for their sake."),
        ("hook", "A refrain in a few words that stick means more each time it comes back."),
    ],
)
def test_a_rewording_would_be_noticed(name: str, again: str) -> None:
    lyrics = SCENARIOS["writing_song_lyrics"]
    known = next(item for item in lyrics.criteria if item.name == name)
    assert likeness(known.content, again) >= SAME_ANYWHERE > SAME_IN_A_SCENARIO


def test_weights_tell_criteria_apart() -> None:
    weights = Counter(criterion.weight for criterion in all_criteria())
    assert all(weights[weight] > 20 for weight in (2, 3, 4, 5))
    assert max(weights.values()) < len(all_criteria()) / 2


def test_a_description_says_what_the_user_wants() -> None:
    for scenario in SCENARIOS.values():
        assert scenario.description.startswith("The user"), scenario.name
        assert scenario.description.endswith("."), scenario.name
        assert 6 <= len(scenario.description.split()) <= 40, scenario.name


def test_no_two_descriptions_are_alike() -> None:
    described = [
        (scenario.name, stems(scenario.description) - {"user", "want"})
        for scenario in SCENARIOS.values()
    ]
    for (one, a), (other, b) in itertools.combinations(described, 2):
        assert len(a & b) / len(a | b) < 0.5, (one, other)


def test_contents_count_as_the_same_whatever_their_commas() -> None:
    assert normalise_content("It's right; all of it.") == normalise_content("its RIGHT all of it")
