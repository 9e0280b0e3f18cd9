"""Requests for critiques of responses that are proofread first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autoj.datasets import open_cases
from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.protocols.base import OpenedBody, ProofreadBody
from autoj.records import (
    Case,
    Critique,
    JudgeCard,
    Message,
    Request,
    Response,
    Unreadable,
    Verdict,
)
from autoj.runs import make_spec
from autoj.runs.plan import follow_rows_of, plan_case, plan_follow
from autoj.runs.proofreading import as_begun, as_trusted, with_proofreading
from autoj.runs.spec import RunSpec
from autoj.tasks.judge import judge
from autoj.tasks.run import Run
from autoj.verdicts.critique_faults import shown_critiques

from ..scripted import Killed, Recorder

CARD = load_card("embedded-1.5b")
PLAIN = replace(
    CARD, options={name: CARD.options[name] for name in CARD.options if name != "proofread"}
)
CASE = Case(
    id="desks",
    query='Is "46 desks" right?',
    cluster="desks",
    # It stands in the query, too, and its braces are those of a template.
    responses=(Response(text="46 desks"), Response(text="{query} {response}")),
    history=(Message(role="user", content="Hello."), Message(role="assistant", content="Hi.")),
)
VERDICT = Verdict(case_id="desks", judge=CARD.name, ratings=(7.4, 3.0))


class Roomy:
    """An engine with room for everything."""

    def __init__(self, card: JudgeCard) -> None:
        self.card = card
        self.limits = type("L", (), {"context_tokens": 10**6})()


def spec(card: JudgeCard = CARD, task: Any = "rate", **settings: Any) -> RunSpec:
    return make_spec(task, card, **{"protocol": "single-verdict", "critique": True} | settings)


def planned(asked: RunSpec, verdict: Verdict = VERDICT) -> list[Any]:
    return [
        item.request
        for item in plan_follow(CASE, verdict, asked, Roomy(asked.judge))  # type: ignore[arg-type]
    ]


def test_each_response_is_proofread_by_the_question_that_rated_it() -> None:
    asked = spec()
    rated = [item.request for item in plan_case(CASE, asked, Roomy(CARD))]  # type: ignore[arg-type]
    for index, (request, first) in enumerate(zip(planned(asked), rated, strict=True)):
        read, text = request.proofreading, CASE.responses[index].text
        assert first is not None
        assert (read.rating, read.prefix, read.choices) == (
            first.messages, first.prefix, first.choices,
        )  # fmt: skip
        assert read.response == text
        assert read.question(text) == first.messages
        assert [turn.content for turn in read.conversation] == ["Hello.", "Hi.", CASE.query]
        assert (read.values[0], read.values[-1], len(read.values)) == (1.0, 10.0, 10)
        assert (read.surprise, read.evidence) == (4.0, 0.65)


def test_the_question_about_another_response_is_the_protocols_own() -> None:
    other = replace(CASE, responses=(Response(text="64 desks"), CASE.responses[1]))
    asked = spec()
    (expected, _) = plan_case(other, asked, Roomy(CARD))  # type: ignore[arg-type]
    assert expected.request is not None
    assert planned(asked)[0].proofreading.question("64 desks") == expected.request.messages


def test_what_rules_find_is_part_of_the_question() -> None:
    listed = replace(CASE, query="Name three cats.", responses=(Response(text="- a\n- b"),))
    asked = spec()
    (item,) = plan_follow(listed, replace(VERDICT, ratings=(7.4,)), asked, Roomy(CARD))  # type: ignore[arg-type]
    assert item.request is not None
    assert item.request.proofreading is None
    assert item.request.opening == (
        "The list has only two points, which breaks the request for three."
    )
    assert [each.opening for each in planned(asked)] == ["", ""]


def test_nothing_is_counted_in_a_response_that_was_cut() -> None:
    whole = replace(CASE, query="Name three cats.", responses=(Response(text="- a\n- b\n- c"),))
    cut = replace(whole, responses=(Response(text="- a\n- b"),))
    asked = spec()
    plain = asked.chosen_protocol().follow(cut, replace(VERDICT, ratings=(7.4,)), (0,))
    assert plain is not None
    assert isinstance(with_proofreading(plain, cut, whole, (0,), asked), ProofreadBody)
    assert isinstance(with_proofreading(plain, cut, cut, (0,), asked), OpenedBody)


def test_a_response_is_compared_by_the_question_about_pairs() -> None:
    thresholds = {"surprise": 4.0, "evidence": 0.65, "preferred": 0.5}
    asked = spec(replace(CARD, options={**CARD.options, "proofread": thresholds}))
    pair = replace(CASE, responses=(Response(text="46 desks"), Response(text="64 desks")))
    first, second = [
        item.request
        for item in plan_case(pair, make_spec("judge", CARD), Roomy(CARD))  # type: ignore[arg-type]
    ]
    assert first is not None
    assert second is not None
    for request in planned(asked):
        compared = request.check
        assert compared.question("46 desks", "64 desks") == first.messages
        assert compared.question("64 desks", "46 desks") == second.messages
        assert (compared.prefix, compared.choices, compared.preferred) == (
            first.prefix, first.choices, 0.5,
        )  # fmt: skip
    bare = replace(CARD, options={**CARD.options, "proofread": {"surprise": 4.0, "evidence": 0.65}})
    assert [each.check for each in planned(spec(bare))] == [None, None]
    assert {each.key for each in planned(spec(bare))}.isdisjoint(
        each.key for each in planned(asked)
    )


def test_only_critiques_have_other_keys() -> None:
    asked, plain = spec(), spec(PLAIN)
    assert [row.asked.key for row in plan_case(CASE, asked, Roomy(CARD))] == [  # type: ignore[arg-type]
        row.asked.key
        for row in plan_case(CASE, plain, Roomy(PLAIN))  # type: ignore[arg-type]
    ]
    before, after = planned(plain), planned(asked)
    assert [each.proofreading for each in before] == [None, None]
    assert {each.key for each in before}.isdisjoint(each.key for each in after)
    assert [each.messages for each in before] == [each.messages for each in after]


def test_another_engine_with_the_same_card_does_not() -> None:
    asked = planned(spec(replace(CARD, backend="hf")))
    assert [each.proofreading for each in asked] == [None, None]


def test_a_run_goes_on_with_the_thresholds_that_it_was_begun_with() -> None:
    options = {**CARD.options, "proofread": {"surprise": 9.0, "evidence": 3.0}}
    now = spec(replace(CARD, options=options))
    assert as_begun(now, spec()) == spec()
    assert "proofread" not in as_begun(now, spec(PLAIN)).judge.options
    assert as_begun(spec(PLAIN), spec()).judge.options == CARD.options


def test_a_killed_run_asks_for_its_other_critiques_by_its_own_thresholds(
    tmp_path: Path, cases: Cases
) -> None:
    def answers(request: Request) -> str | tuple[float, ...]:
        return " Fine." if request.choices is None else (-1.0,) * len(request.choices)

    whole = Recorder(answers, CARD)
    judge(cases, spec(), tmp_path / "whole", backend=whole)
    n_ratings = sum(each.choices is not None for each in whole.asked)
    options = {**CARD.options, "proofread": {"surprise": 9.0, "evidence": 3.0}}
    first = Recorder(answers, CARD, dies_after=n_ratings + 3)
    with pytest.raises(Killed):
        judge(cases, spec(), tmp_path / "run", backend=first)
    changed = replace(CARD, options=options)
    second = Recorder(answers, changed)
    judge(cases, spec(changed), tmp_path / "run", backend=second)
    critiques = [each for each in (*first.asked, *second.asked) if each.choices is None]
    assert {each.proofreading and each.proofreading.surprise for each in critiques} == {4.0}
    assert len({each.key for each in critiques}) == len(critiques)
    assert all(each.choices is None for each in second.asked)


CLAIM = "The sum is right, but the unit is wrong."


def claiming(trusted_below: float | None) -> JudgeCard:
    """The card of a judge that is trusted so far."""
    settings = {"surprise": 4.0, "evidence": 0.7, "trusted_below": trusted_below}
    known = {name: value for name, value in settings.items() if value is not None}
    return replace(CARD, options={**CARD.options, "proofread": known})


def shown(card: JudgeCard, rating: float | None, **settings: Any) -> str:
    asked = spec(card, **settings)
    written = Critique(text=CLAIM)
    read = as_trusted(written, replace(VERDICT, ratings=(rating, 1.0)), (0,), asked.writing)
    assert isinstance(read, Critique)
    return read.text


def test_claims_that_were_not_found_are_left_out_of_good_responses_critiques() -> None:
    cut = "The sum is right. [unfounded claim not shown]"
    assert [shown(claiming(7.0), rating) for rating in (7.0, 9.5)] == [cut, cut]
    assert [shown(claiming(7.0), rating) for rating in (6.9, 1.0, None)] == [CLAIM] * 3
    assert shown(claiming(None), 9.5) == CLAIM
    # Other engines look for nothing, and another judge that writes is trusted by its own card.
    assert shown(replace(claiming(7.0), backend="hf"), 9.5) == CLAIM
    assert shown(claiming(7.0), 9.5, critic=claiming(None)) == CLAIM
    assert shown(claiming(None), 9.5, critic=claiming(7.0)) == cut
    failed = Unreadable(reason="empty")
    assert as_trusted(failed, VERDICT, (0,), spec(claiming(7.0))) == failed


def test_a_run_keeps_what_was_written_and_shows_what_is_trusted(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"query": "2 + 2?", "response": "4"}\n')

    def answers(request: Request) -> str | tuple[float, ...]:
        # All of the probability is the best rating's.
        return CLAIM if request.choices is None else (-50.0,) * 9 + (0.0,)

    card = claiming(7.0)
    run = judge(open_cases(cases), spec(card), tmp_path / "run", backend=Recorder(answers, card))
    ((case, verdict),) = run
    assert verdict.critiques == ("The sum is right. [unfounded claim not shown]\n\nRating: [[10]]",)
    assert CLAIM in (tmp_path / "run" / "ledger.jsonl").read_text()
    (critique,) = shown_critiques(case, verdict)
    assert critique is not None
    assert critique.mark == "cut: it claims what was not found"


def test_a_run_that_was_begun_without_it_is_shown_as_it_was(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    rows = [f'{{"query": "{at} + 1?", "response": "{at + 1}"}}\n' for at in range(3)]
    cases.write_text("".join(rows))

    def answers(request: Request) -> str | tuple[float, ...]:
        return CLAIM if request.choices is None else (-50.0,) * 9 + (0.0,)

    before, now = claiming(None), claiming(7.0)
    dying = Recorder(answers, before, dies_after=4)
    with pytest.raises(Killed):
        judge(open_cases(cases), spec(before), tmp_path / "run", backend=dying)
    for _ in range(2):
        done = judge(open_cases(cases), spec(now), tmp_path / "run", backend=Recorder(answers, now))
        expected = (f"{CLAIM}\n\nRating: [[10]]",)
        assert [verdict.critiques for _, verdict in done] == [expected] * 3
        reopened = Run.open(tmp_path / "run")
        assert list(reopened) == list(done)
        assert (tmp_path / "run" / "verdicts.jsonl").read_text().count(CLAIM) == 3


def test_a_critic_proofreads_as_when_the_run_was_begun() -> None:
    begun = spec(claiming(None), critic=claiming(None))
    assert as_begun(spec(claiming(7.0), critic=claiming(7.0)), begun) == begun


def test_a_card_that_is_to_compare_by_no_protocol_of_its_own_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "title: mine\nbackend: embedded\nmodel: a\nwrapper: chatml\ncontext_tokens: 4096\n"
        "protocols: [single-verdict, pairwise]\n"
        "options: {proofread: {surprise: 4.0, evidence: 0.65, preferred: 0.5}}\n"
    )
    with pytest.raises(DataError, match="needs protocol pairwise-verdict"):
        load_card(str(path))


def test_thresholds_of_a_strangers_run_are_checked() -> None:
    options = {**CARD.options, "proofread": {"evidence": "0.8"}}
    with pytest.raises(ConfigError, match="thresholds above 0"):
        planned(spec(replace(CARD, options=options)))


def test_keys_without_an_engine_are_those_of_the_plan() -> None:
    asked = spec()
    rows = follow_rows_of(CASE, VERDICT, asked, CARD)
    assert rows is not None
    assert [row.key for row in rows] == [each.key for each in planned(asked)]


def test_other_thresholds_have_other_keys() -> None:
    options = {**CARD.options, "proofread": {"surprise": 5.0, "evidence": 0.9}}
    one, other = planned(spec()), planned(spec(replace(CARD, options=options)))
    assert {each.key for each in one}.isdisjoint(each.key for each in other)


@pytest.mark.parametrize("protocol", ["single-verdict-zh", "pairwise-verdict"])
def test_pairs_and_chinese_are_not_proofread(protocol: str) -> None:
    is_pair = protocol.startswith("pair")
    verdict = replace(VERDICT, ratings=(), winner="b") if is_pair else VERDICT
    asked = planned(spec(task="judge" if is_pair else "rate", protocol=protocol), verdict)
    assert [each.proofreading for each in asked] == [None] * (1 if is_pair else 2)


@pytest.mark.parametrize(
    "proofread",
    [
        {"surprise": 5.0},
        {"surprise": -1, "evidence": 1},
        3,
        {"surprise": 5, "evidence": True},
        {"surprise": 5, "evidence": 1, "trusted_below": "x"},
        {"surprise": 5, "evidence": 1, "trusted_below": 4.9},
        {"surprise": 5, "evidence": 1, "trusted_below": 10.1},
        {"surprise": 5, "evidence": 1, "preferred": 0},
        {"surprise": 5, "evidence": 1, "a": 1},
    ],
)
def test_a_card_with_other_settings_is_refused(tmp_path: Any, proofread: object) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "title: mine\nbackend: embedded\nmodel: a\nwrapper: chatml\ncontext_tokens: 4096\n"
        f"options: {{proofread: {proofread}}}\n".replace("'", "").replace("True", "true")
    )
    with pytest.raises(DataError, match="proofread has thresholds above 0"):
        load_card(str(path))
