"""What every protocol must do, whichever file it is in."""

from __future__ import annotations

import pytest

from autoj import components
from autoj.errors import ConfigError, UnknownComponent
from autoj.protocols import load_protocol, protocol_names
from autoj.protocols._shipped import load_shipped
from autoj.protocols.base import RequestBody
from autoj.records import (
    Case,
    Completion,
    Decision,
    Rating,
    Response,
    Unreadable,
    Verdict,
)

SUBJECTS = ("pair", "response", "critiques", "query")
RELEASE_NAMES = {
    "pairwise_tie": "pairwise",
    "zh_pairwise_tie": "pairwise-zh",
    "zh_pairwise": "pairwise-zh",
    "single": "single",
    "zh_single": "single-zh",
}
CASE = Case(
    id="c",
    query="Where is Ouagadougou?",
    scenario="planning",
    cluster="c",
    reference="the reference answer",
    responses=(Response(text="the first response"), Response(text="the second response")),
    critiques=("the first critique", "the second critique"),
)
# SteamSHP's two letters, which know no tie, are tested beside the other older judges.
SCORING = [name for name in protocol_names() if "-verdict" in name or "by-rating" in name]
# A reward model's request ends with the response: there is nothing to answer.
ASKING = [name for name in protocol_names() if name != "scalar"]
every_protocol = pytest.mark.parametrize("name", protocol_names())
each_scoring_protocol = pytest.mark.parametrize("name", SCORING)


def build(name: str) -> RequestBody:
    protocol = load_protocol(name)
    if protocol.subject == "query":
        return protocol.build(CASE, ())
    return protocol.build(CASE, (1,) if protocol.reads_alone else (1, 0))


def completion(text: str, logprobs: tuple[float, ...] | None = None) -> Completion:
    return Completion(
        key="k",
        text=text,
        finish="stop",
        prompt_tokens=1,
        completion_tokens=1,
        choice_logprobs=logprobs,
    )


@every_protocol
def test_a_protocol_describes_itself(name: str) -> None:
    protocol = load_protocol(name)
    assert protocol.name == name
    assert protocol.subject in SUBJECTS
    assert protocol.language == ("zh" if name.endswith("-zh") else "en")
    assert protocol.gives_probabilities == (name in SCORING or name == "steamshp")
    assert protocol.reads_alone == (protocol.subject == "response" or "by-rating" in name)


@every_protocol
def test_a_protocol_file_exports_its_protocol_and_a_docstring_that_names_it(name: str) -> None:
    module = components.load("protocols", name)
    assert hasattr(module, "PROTOCOL")
    assert module.__doc__ is not None
    assert f"`{name}`" in module.__doc__.splitlines()[0]


def test_no_two_protocols_share_a_name_or_an_alias() -> None:
    names = [
        known
        for protocol in map(load_protocol, protocol_names())
        for known in {protocol.name, *protocol.aliases}
    ]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(("alias", "name"), RELEASE_NAMES.items())
def test_the_names_of_the_original_release_load(alias: str, name: str) -> None:
    assert load_protocol(alias) is load_protocol(name)


def test_an_unknown_protocol_is_told_the_nearest_names() -> None:
    with pytest.raises(UnknownComponent, match=r"(?s)no protocol 'pairwize'.*pairwise"):
        load_protocol("pairwize")


def test_a_protocol_of_somebody_elses_is_loaded_by_its_dotted_path_where_it_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("autoj.protocols.single", "nobody.has_this", "os.path"):
        with pytest.raises(ConfigError, match="which was not allowed to run"):
            load_protocol(name)
    monkeypatch.setenv("AUTOJ_PLUGINS", "autoj.protocols.single,nobody.has_this,os.path")
    assert load_protocol("autoj.protocols.single") is load_protocol("single")
    with pytest.raises(UnknownComponent):
        load_protocol("nobody.has_this")
    with pytest.raises(ConfigError, match=r"module 'os\.path' has no PROTOCOL"):
        load_protocol("os.path")
    load_shipped.cache_clear()


@every_protocol
def test_the_page_shows_the_texts_in_page_order(name: str) -> None:
    prompt = "\n".join(message.content for message in build(name).messages)
    protocol = load_protocol(name)
    # A translation is of one text alone.
    assert prompt.count("Where is Ouagadougou?") == (0 if name.startswith("translate") else 1)
    shown = [CASE.responses[1].text, CASE.responses[0].text]
    if protocol.reads_alone:
        assert shown[0] in prompt
        assert shown[1] not in prompt
    elif protocol.subject == "query":
        assert not [text for text in (*shown, *CASE.critiques) if text in prompt]
    elif protocol.subject == "pair":
        assert 0 < prompt.index(shown[0]) < prompt.index(shown[1])
    else:
        assert CASE.responses[0].text in prompt
        assert prompt.index("the second critique") < prompt.index("the first critique")


@pytest.mark.parametrize("name", ASKING)
def test_a_prompt_ends_with_the_users_turn_and_does_not_depend_on_the_call(name: str) -> None:
    body = build(name)
    assert body.messages[-1].role == "user"
    assert all(message.role == "system" for message in body.messages[:-1])
    assert body == build(name)


@every_protocol
def test_a_protocol_refuses_the_wrong_number_of_shown(name: str) -> None:
    protocol = load_protocol(name)
    wrong = (0, 1) if protocol.reads_alone else (0,)
    with pytest.raises(ValueError, match="unpack"):
        protocol.build(CASE, wrong)


@every_protocol
def test_only_protocols_that_give_probabilities_force_an_opening(name: str) -> None:
    body = build(name)
    assert (body.choices is not None) == load_protocol(name).gives_probabilities
    assert (body.prefix is not None) == (name in SCORING)


@each_scoring_protocol
def test_forced_openings_end_without_a_space_and_choices_can_be_told_apart(name: str) -> None:
    body = build(name)
    assert body.prefix is not None
    assert body.choices is not None
    assert body.prefix == body.prefix.rstrip()
    # No choice may open another, or the shorter one would be scored as part of the longer.
    for choice in body.choices:
        assert not any(other != choice and other.startswith(choice) for other in body.choices)


@each_scoring_protocol
def test_each_choice_after_the_opening_is_read_as_itself(name: str) -> None:
    body, protocol = build(name), load_protocol(name)
    assert body.prefix is not None
    assert body.choices is not None
    stated = [protocol.parse(body.prefix + choice) for choice in body.choices]
    if not protocol.reads_alone:
        assert [getattr(reading, "shown", None) for reading in stated] == ["1", "2", "tie"]
    else:
        assert [getattr(reading, "value", None) for reading in stated] == list(range(1, 11))
    bare = [protocol.parse(choice) for choice in body.choices]
    assert [type(reading) for reading in bare] == [type(reading) for reading in stated]


@each_scoring_protocol
@pytest.mark.parametrize("likely", range(3))
def test_scored_choices_become_probabilities_that_sum_to_one(name: str, likely: int) -> None:
    protocol = load_protocol(name)
    choices = build(name).choices
    assert choices is not None
    n_choices = len(choices)
    logprobs = tuple(-900.0 if index != likely else -800.0 for index in range(n_choices))
    reading = protocol.read(completion("ignored", logprobs))
    if isinstance(reading, Decision):
        assert reading.shown == ("1", "2", "tie")[likely]
        assert reading.probabilities is not None
        assert sum(reading.probabilities) == pytest.approx(1)
    else:
        assert isinstance(reading, Rating)
        assert reading.value == pytest.approx(likely + 1)
        assert reading.distribution is not None
        assert sum(reading.distribution) == pytest.approx(1)


@each_scoring_protocol
def test_a_uniform_distribution_is_a_tie_or_the_middle_of_the_scale(name: str) -> None:
    choices = build(name).choices
    assert choices is not None
    reading = load_protocol(name).read(completion("", (-1.0,) * len(choices)))
    if isinstance(reading, Decision):
        assert reading.shown == "tie"
    else:
        assert isinstance(reading, Rating)
        assert reading.value == pytest.approx(5.5)


@each_scoring_protocol
@pytest.mark.parametrize("logprob", [float("nan"), float("-inf")])
def test_choices_without_probabilities_are_unreadable(name: str, logprob: float) -> None:
    choices = build(name).choices
    assert choices is not None
    reading = load_protocol(name).read(completion("", (logprob,) * len(choices)))
    assert isinstance(reading, Unreadable)


@each_scoring_protocol
def test_an_impossible_choice_has_no_probability(name: str) -> None:
    choices = build(name).choices
    assert choices is not None
    impossible = (float("-inf"),) * (len(choices) - 1)
    reading = load_protocol(name).read(completion("", (-2.0, *impossible)))
    if isinstance(reading, Decision):
        assert reading.probabilities == (1.0, 0.0, 0.0)
    else:
        assert isinstance(reading, Rating)
        assert reading.value == 1.0


@each_scoring_protocol
def test_a_completion_without_scored_choices_is_read_from_its_text(name: str) -> None:
    body, protocol = build(name), load_protocol(name)
    assert body.choices is not None
    assert protocol.read(completion(body.choices[1])) == protocol.parse(body.choices[1])


@pytest.mark.parametrize("language", ["", "-zh"])
@pytest.mark.parametrize("index", [0, 1])
def test_a_pair_by_ratings_asks_the_question_of_single_verdict(language: str, index: int) -> None:
    by_rating = load_protocol(f"pairwise-by-rating{language}")
    single = load_protocol(f"single-verdict{language}")
    assert by_rating.build(CASE, (index,)) == single.build(CASE, (index,))
    done = completion("", tuple(-float(rating % 3) for rating in range(10)))
    assert by_rating.read(done) == single.read(done)
    # Its critique is that of a pair.
    verdict = Verdict(case_id="c", judge="j", winner="b", ratings=(2.0, 7.0))
    pairwise = load_protocol(f"pairwise-verdict{language}")
    assert by_rating.follow(CASE, verdict, (0, 1)) == pairwise.follow(CASE, verdict, (0, 1))
    text = completion(" tone: Colder.")
    read = by_rating.read_follow(verdict, (0, 1), text)
    assert read == pairwise.read_follow(verdict, (0, 1), text)
