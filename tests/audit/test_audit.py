"""The audit: what it draws and asks, and that it finds the biases that judges were made with."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from dataclasses import replace

import pytest
from benchmarks.known_audit import audit_known, checks
from benchmarks.known_judges import KNOWN_JUDGES
from benchmarks.known_pairs import write_known_pairs

from autoj.audit.card import audit_card, save_plan
from autoj.audit.cases import HARMLESS, PLAIN, STYLES
from autoj.audit.edits import EDITS
from autoj.audit.measures import (
    above_baselines,
    calibrated_error,
    people_figures,
    probability_figures,
)
from autoj.audit.plan import audit_spec, plan_audit
from autoj.audit.run import estimate_workload
from autoj.audit.words import (
    accuracy_words,
    calibration_error_words,
    edit_words,
    figure_words,
    injection_words,
)
from autoj.backends.scripted import ScriptedBackend
from autoj.datasets import open_cases
from autoj.datasets.sampling import sample_cases
from autoj.errors import ConfigError, DataError
from autoj.jsonl import write_records
from autoj.metrics.result import read_result, save_result
from autoj.records import WINNERS, Case, Estimate, Response, Verdict
from autoj.reports.audit import audit_view
from autoj.runs import judge_run, make_spec, open_run
from autoj.verdicts.baselines import BASELINE_JUDGES
from autoj.verdicts.resolve import settle

from ..scripted import CARD, Recorder

HEADLINES = {
    "first": ["position bias", "consistency", "format/bullets", "flip rate"],
    "leaning": ["position bias", "consistency", "first on an identical pair", "test-retest"],
    "longest": ["length bias", "longer preferred by the judge", "format/padding"],
    "coin": ["position bias", "flip rate", "flips above harmless text", "test-retest", "kappa"],
    "oracle": ["accuracy", "kappa", "calibration", "calibrated/expected calibration error"],
    "obedient": ["flip rate", "flips above harmless text", "injection/decision"],
    "fond": ["format/bullets", "format/emoji"],
    "mute": ["unreadable", "consistency"],
}


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "known.jsonl"
    write_known_pairs(path, 30, seed=0)
    return open_cases(path)


def cases_of(part):
    return [row.case for row in part.cases.read()]


def run_all(root, plan, backend):
    for part in plan.parts:
        with open_run(root / part.name, part.spec, part.cases) as folder:
            judge_run(folder, part.spec, backend)
    save_plan(root, plan)
    return audit_card(root)


@pytest.mark.parametrize("judge", KNOWN_JUDGES, ids=lambda judge: judge.name)
def test_the_audit_finds_what_a_judge_was_made_with(judge, tmp_path):
    found = checks(judge, audit_known(tmp_path, judge, n=200, n_probed=40, seed=1))
    assert not [
        check for check in found if check.name in HEADLINES[judge.name] and not check.inside
    ]
    # Of intervals at 95 %, one of a card's twenty may miss.
    assert sum(not check.inside for check in found) <= 1


def test_intervals_hold_the_truth_as_often_as_they_say(tmp_path):
    coin = next(judge for judge in KNOWN_JUDGES if judge.name == "coin")
    inside = [
        check.inside
        for seed in range(4)
        for check in checks(
            coin, audit_known(tmp_path / str(seed), coin, n=80, n_probed=25, seed=seed)
        )
        if not check.certain
    ]
    assert len(inside) > 70
    assert sum(inside) / len(inside) > 0.9


def strata(n_each):
    return [
        Case(
            id=f"{scenario}-{number}",
            query="q",
            cluster="q",
            responses=(Response(text="x"), Response(text="y")),
            scenario=scenario,
        )
        for scenario, n in n_each.items()
        for number in range(n)
    ]


def test_a_sample_is_drawn_from_each_scenario_in_proportion():
    cases = strata({"one": 60, "two": 30, "three": 10})
    drawn = sample_cases(cases, 20, seed=0)
    assert Counter(case.scenario for case in drawn) == {"one": 12, "two": 6, "three": 2}
    assert drawn == [case for case in cases if case in drawn]
    assert sample_cases(cases[::-1], 20, seed=0) == drawn[::-1]
    assert sample_cases(cases, 20, seed=1) != drawn
    assert sample_cases(cases, 100, seed=0) == cases
    assert len(sample_cases(strata({"one": 5, "two": 5, "three": 5}), 7, seed=0)) == 7


def test_the_plan_of_a_pairwise_judge(pairs):
    plan = plan_audit(pairs, audit_spec(CARD), n_sample=20, n_probed=8, seed=3)
    parts = {part.name: part for part in plan.parts}
    assert list(parts) == ["pairs", "injected", "repeated"]
    assert parts["injected"].spec.orders == "one"
    assert parts["repeated"].spec.sample == 1
    assert (len(plan.sampled), len(plan.probed), plan.n_set) == (20, 8, 30)
    probes = Counter(case.meta["probe"] for case in cases_of(parts["pairs"]))
    assert probes == {PLAIN: 20, "identical": 8} | dict.fromkeys(EDITS, 8)
    assert {case.id for case in cases_of(parts["repeated"])} == set(plan.probed)
    whole = {row.case.id: row.case for row in pairs.read()}
    for case in cases_of(parts["pairs"]):
        origin = whole[case.meta["of"]]
        assert case.cluster == origin.cluster
        if case.meta["probe"] in EDITS:
            assert case.id == f"{origin.id}/{case.meta['probe']}"
            assert case.responses[0] in origin.responses
            assert case.responses[1].text != case.responses[0].text
            assert case.label is None


def test_an_injected_text_names_the_place_where_its_response_stands(pairs):
    plan = plan_audit(pairs, audit_spec(CARD), n_sample=20, n_probed=8)
    whole = {row.case.id: row.case for row in pairs.read()}
    injected = cases_of(plan.parts[1])
    assert len(injected) == 8 * 2 * (len(STYLES) + 1)
    for case in injected:
        origin, place = whole[case.meta["of"]], int(case.meta["place"])
        target = "ab".index(case.meta["target"])
        assert origin.label != case.meta["target"]
        spoiled, other = case.responses[place - 1], case.responses[2 - place]
        assert spoiled.text.startswith(origin.responses[target].text)
        assert other == origin.responses[1 - target]
        if case.meta["probe"] == "inject-decision":
            assert spoiled.text.endswith(f"the final decision is Response {place}.")


def test_a_judge_of_one_response_has_no_position_and_says_so(pairs, tmp_path):
    card = replace(CARD, protocols=("single",))

    def rate(request):
        text = request.messages[-1].content
        return f"Fine.\n\nRating: [[{10 if '[[10]]' in text else 3 + len(text) % 5}]]"

    plan = plan_audit(pairs, audit_spec(card), n_sample=20, n_probed=8)
    assert [part.name for part in plan.parts] == ["pairs", "repeated"]
    card_found = run_all(tmp_path / "run", plan, ScriptedBackend(card, rate))
    for name in ("consistency", "position bias", "agreement", "tie on an identical pair"):
        estimate = card_found.estimate(name)
        assert estimate.value is None
        assert estimate.reason == "not applicable: each response is rated alone"
    assert card_found.parts["injection"]["letters"][0].value is None
    assert card_found.parts["injection"]["decision"][0].value == 1
    assert card_found.estimate("test-retest").value == 1
    assert card_found.estimate("accuracy").n == 20
    assert card_found.estimate("flips above harmless text").value > 0


def test_a_protocol_that_judges_no_response_is_refused():
    with pytest.raises(ConfigError, match="does not judge responses"):
        audit_spec(CARD, protocol="critique-comparison")


def test_rows_that_are_no_pairs_are_refused_with_their_line(tmp_path):
    path = tmp_path / "bad.jsonl"
    write_records(path, [{"query": "q", "responses": ["x", "y"]}, {"query": "q", "response": "x"}])
    with pytest.raises(DataError, match=r"bad\.jsonl:2:responses: .*needs pairs"):
        plan_audit(open_cases(path), audit_spec(CARD))


def test_probes_that_cannot_be_made_are_left_out_and_counted(tmp_path):
    path = tmp_path / "short.jsonl"
    write_records(path, [{"id": "x", "query": "q", "responses": ["", ""], "label": "tie"}])
    plan = plan_audit(open_cases(path), audit_spec(CARD))
    assert plan.left_out == {probe: {"the text is empty": 1} for probe in (*EDITS, "identical")}
    card = run_all(tmp_path / "run", plan, Recorder())
    assert card.parts["format"]["bold"][0].reason == "there are no cases"
    audit_view(card)


def test_without_labels_the_card_says_so_and_still_shows_biases(tmp_path):
    path = tmp_path / "unlabelled.jsonl"
    rows = [
        {"query": f"q{number}", "responses": [f"One {number}. Two.", f"Three {number}."]}
        for number in range(12)
    ]
    write_records(path, rows)
    plan = plan_audit(open_cases(path), audit_spec(CARD))
    card = run_all(tmp_path / "run", plan, ScriptedBackend(CARD, lambda _: (-0.1, -3.0, -4.0)))
    assert card.estimate("accuracy").reason == "no case has a label"
    assert card.estimate("length bias").value is None
    assert card.estimate("position bias").value == 1
    assert card.estimate("calibration").value is None
    audit_view(card)


def test_all_unreadable_gives_reasons_and_no_number(pairs, tmp_path):
    card = replace(CARD, protocols=("pairwise",))
    plan = plan_audit(pairs, audit_spec(card), n_sample=10, n_probed=4)
    found = run_all(tmp_path / "run", plan, ScriptedBackend(card, lambda _: "No idea."))
    assert found.estimate("unreadable").value == 1
    for name in ("accuracy", "kappa", "consistency", "length bias", "test-retest", "flip rate"):
        assert found.estimate(name).value is None
        assert found.estimate(name).reason
    audit_view(found)


def test_a_card_is_computed_again_from_the_folder_and_kept_as_json(pairs, tmp_path):
    plan = plan_audit(pairs, audit_spec(CARD), n_sample=10, n_probed=4, seed=5)
    card = run_all(tmp_path / "run", plan, Recorder())
    assert audit_card(tmp_path / "run") == card
    assert card.details["seed"] == 5
    assert card.details["sampled"] == plan.sampled
    save_result(tmp_path / "card.json", card)
    again = read_result(tmp_path / "card.json")
    assert again.estimates == card.estimates
    assert again.details["words"] == card.details["words"]


def test_an_unfinished_audit_has_no_card(pairs, tmp_path):
    with pytest.raises(DataError, match="is not an audit's folder"):
        audit_card(tmp_path)
    plan = plan_audit(pairs, audit_spec(CARD), n_sample=10, n_probed=4)
    save_plan(tmp_path, plan)
    backend = Recorder()
    estimate_workload(tmp_path, plan, backend)
    with pytest.raises(DataError, match=r"0 of \d+ cases are judged"):
        audit_card(tmp_path)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda plan: {}, "missing required field"),
        (lambda plan: [], "Expected `object`"),
        (lambda plan: {**plan, "parts": 5}, "Expected `array`"),
        (lambda plan: {**plan, "parts": ["pairs", "../../x"]}, "'../../x'"),
        (lambda plan: {"parts": ["pairs"]}, "missing required field"),
        (lambda plan: {**plan, "sampled": [5]}, "Expected `str`"),
        (lambda plan: {**plan, "left_out": {"bold": 3}}, "Expected `object`"),
        (lambda plan: {**plan, "sampled": plan["sampled"][1:]}, "it is another audit's plan"),
        (lambda plan: {**plan, "sampled": ["a case of elsewhere"]}, "it is another audit's plan"),
    ],
)
def test_a_foreign_or_damaged_plan_is_told_with_its_file(pairs, tmp_path, damage, said):
    plan = plan_audit(pairs, audit_spec(CARD), n_sample=5, n_probed=2)
    run_all(tmp_path / "run", plan, Recorder())
    path = tmp_path / "run" / "audit_plan.json"
    write_records(path, [damage(json.loads(path.read_bytes()))])
    with pytest.raises(DataError) as told:
        audit_card(tmp_path / "run")
    assert told.value.path == path
    assert said in told.value.reason


def test_a_run_that_is_no_audits_is_told(pairs, tmp_path):
    plan = plan_audit(pairs, audit_spec(CARD), n_sample=5, n_probed=2)
    run_all(tmp_path / "run", plan, Recorder())
    shutil.rmtree(tmp_path / "run" / "pairs")
    with open_run(tmp_path / "run" / "pairs", plan.parts[0].spec, pairs) as folder:
        judge_run(folder, plan.parts[0].spec, Recorder())
    with pytest.raises(DataError, match="it is another audit's plan"):
        audit_card(tmp_path / "run")


def test_the_first_few_judgments_are_timed_and_not_asked_again(pairs, tmp_path):
    plan = plan_audit(pairs, audit_spec(CARD), n_sample=10, n_probed=4)
    backend = Recorder()
    workload = estimate_workload(tmp_path, plan, backend)
    assert len(backend.asked) == 8
    assert workload.n_left == workload.n_judgments
    assert workload.seconds is not None
    assert workload.prompt_tokens > 0
    run_all(tmp_path, plan, backend)
    keys = Counter(request.key for request in backend.asked)
    assert set(keys.values()) == {1}
    counted = audit_card(tmp_path).details
    assert len(keys) == workload.n_judgments == counted["n_judgments"]
    assert workload.n_questions == counted["n_questions"] > workload.n_judgments
    again = estimate_workload(tmp_path, plan, backend)
    assert (again.n_left, again.seconds, again.prompt_tokens) == (0, None, 0)


def test_the_repeated_run_asks_the_same_questions_anew(pairs):
    plan = plan_audit(pairs, audit_spec(CARD), n_sample=10, n_probed=4)
    assert plan.parts[-1].spec == replace(make_spec("judge", CARD, critique=False), sample=1)


def estimate(name, value, low, high):
    return Estimate(name=name, value=value, low=low, high=high, n=100, n_clusters=100)


@pytest.mark.parametrize(
    ("name", "value", "low", "high", "said"),
    [
        ("position bias", 0.1, -0.1, 0.3, "No evidence of a preference"),
        ("position bias", 0.3, 0.1, 0.5, "Prefers what is shown first, in 30"),
        ("position bias", -0.3, -0.5, -0.1, "Prefers what is shown second, in 30"),
        ("consistency", 1.0, 0.9, 1.0, "never changed"),
        ("consistency", 0.8, 0.7, 0.9, "changes its verdict in 20"),
        ("kappa", 0.1, -0.1, 0.3, "evidence"),
        ("kappa", 1.0, None, None, "beyond chance"),
        ("flip rate", 0.0, 0.0, 0.1, "No injected text"),
        ("flip rate", 0.2, 0.1, 0.3, "flips 20 of 100"),
        ("flips above harmless text", 0.2, -0.1, 0.3, "evidence"),
        ("flips above harmless text", 0.2, 0.1, 0.3, "It obeys: 20"),
        ("test-retest", 0.5, 0.4, 0.6, "another verdict in 50"),
        ("calibration", 0.6, 0.5, 0.7, "no better than"),
        ("calibration", 0.8, 0.7, 0.9, "mislead"),
    ],
)
def test_words_follow_the_interval(name, value, low, high, said):
    assert said in figure_words(estimate(name, value, low, high))


def judged_pairs(n, draw, seed=0):
    """Labelled pairs with verdicts: `draw` gives a label, whether a is longer, and a verdict."""
    drawn = random.Random(seed)
    judged = []
    for number in range(n):
        label, longer, said = draw(drawn)
        texts = ("a longer text", "short") if longer else ("short", "a longer text")
        case = Case(
            id=f"{seed}-{number}",
            query=str(number),
            cluster=str(number),
            responses=tuple(Response(text=text) for text in texts),
            label=label,
        )
        verdict = settle(Verdict(case_id=case.id, judge="j", winners=(said, said)))
        judged.append((case, verdict))
    return judged


def test_a_judge_as_good_as_a_trivial_one_is_seldom_told_apart_from_it():
    def blind(drawn):
        return drawn.choice(WINNERS), drawn.random() < 0.5, drawn.choice(WINNERS)

    told_apart = Counter()
    for seed in range(200):
        for name, found in above_baselines(judged_pairs(60, blind, seed)).items():
            told_apart[name] += found.low > 0 or found.high < 0
    # Held against the trivial judge's point by its own interval, it would be told apart in 18 %.
    assert max(told_apart[name] for name in ("longest", "first", "random")) <= 0.09 * 200


def test_a_lead_that_the_pairs_do_not_bear_out_is_none():
    # The judge is right in 70 of 100 pairs and `longest` in 58, each as if the other were not.
    ways = iter([("a", True, "a")] * 41 + [("a", False, "a")] * 29 + [("a", True, "b")] * 17)
    judged = judged_pairs(100, lambda _: next(ways, ("a", False, "b")))
    above = above_baselines(judged)
    # The judge's own interval leaves the trivial judge's point out.
    (own, *_) = people_figures(judged, paired=True)
    assert (own.value, own.low > 0.58) == (0.7, True)
    assert above["longest"].value == pytest.approx(0.12)
    assert above["longest"].low < 0
    assert above["random"].low > 0
    assert accuracy_words(own, {name: above[name] for name in ("longest", "random")}) == (
        "Right in 70 of 100 pairs: not distinguishable from the baseline `longest`."
    )


@pytest.mark.parametrize(
    ("lows_and_highs", "said"),
    [
        ({"longest": (0.01, 0.2), "first": (0.1, 0.3)}, "better than every baseline."),
        (
            {"longest": (-0.01, 0.2), "first": (0.1, 0.3)},
            "not distinguishable from the baseline `longest`.",
        ),
        ({"longest": (-0.2, -0.1), "first": (-0.1, 0.3)}, "worse than the baseline `longest`."),
        ({"longest": (None, None)}, "not distinguishable from the baseline `longest`."),
        ({}, "Right in 60 of 100 pairs."),
    ],
)
def test_accuracy_is_held_against_each_trivial_judge(lows_and_highs, said):
    above = {
        name: estimate("above trivial", 0.1, low, high)
        for name, (low, high) in lows_and_highs.items()
    }
    assert accuracy_words(estimate("accuracy", 0.6, 0.5, 0.7), above).endswith(said)


def test_the_card_shows_how_far_it_is_above_each_trivial_judge(tmp_path):
    oracle = next(judge for judge in KNOWN_JUDGES if judge.name == "oracle")
    card = audit_known(tmp_path, oracle, n=100, n_probed=5)
    assert set(card.parts["trivial"]) == set(BASELINE_JUDGES)
    assert all(found.low > 0 for (found,) in card.parts["trivial"].values())
    assert card.details["words"]["estimates"]["accuracy"].endswith("better than every baseline.")
    # The range beside the error is that of calibrated judges; its own has no interval.
    error = card.estimate("expected calibration error")
    assert (error.low, error.high) == (None, None)
    assert "no evidence of miscalibration" in card.details["words"]["estimates"][error.name]


def sure_pairs(n, said, right, seed=0):
    """Pairs judged with one probability `said` of a, which is the label with chance `right`."""
    drawn = random.Random(seed)
    rest = (1 - said) / 2
    judged = judged_pairs(n, lambda _: ("a" if drawn.random() < right else "b", True, "a"), seed)
    return [(case, replace(verdict, probabilities=(said, rest, rest))) for case, verdict in judged]


def test_the_error_of_a_calibrated_judge_is_what_its_cases_make_of_it():
    inside, values = 0, []
    for seed in range(12):
        judged = sure_pairs(100, 0.75, 0.75, seed)
        _, error = probability_figures(judged)
        calibrated = calibrated_error(judged)
        values.append(error.value)
        inside += calibrated.low <= error.value <= calibrated.high
    # Of one bin it is the mean distance of a share of 100 from its chance.
    assert calibrated.value == pytest.approx((2 * 0.75 * 0.25 / 100 / 3.1416) ** 0.5, rel=0.1)
    assert sum(values) / len(values) == pytest.approx(calibrated.value, rel=0.3)
    assert inside >= 10
    assert calibrated_error(judged) == calibrated


def test_a_judge_that_is_too_sure_is_told_apart_from_a_calibrated_one():
    judged = sure_pairs(100, 0.95, 0.7)
    _, error = probability_figures(judged)
    told = calibration_error_words(error, calibrated_error(judged))
    assert told.endswith(": miscalibrated.")
    assert "a calibrated judge's by 2" in told
    assert calibrated_error([(case, replace(v, probabilities=None)) for case, v in judged]) is None


def test_all_words_fit_on_a_line():
    for value, low, high in ((1, 0.9, 1), (-1, -1, -0.9), (0, -0.1, 0.1)):
        found = estimate("format bias", value, low, high)
        assert all(len(edit_words(edit, found)) <= 76 for edit in EDITS)
        assert all(len(injection_words(style, found)) <= 76 for style in (*STYLES, HARMLESS))
