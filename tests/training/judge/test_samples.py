"""Samples: the judge's own prompts to the token, the judgment whole, responses cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autoj import critiques
from autoj.backends.base import Limits
from autoj.backends.hf.encoding import Encoder
from autoj.errors import DataError
from autoj.judges import load_card
from autoj.protocols import load_protocol
from autoj.records import Completion, Request, Verdict
from autoj.runs.plan import plan_case, plan_follow
from autoj.runs.spec import make_spec
from autoj.training.judge.plans import Planned, plan_samples, swapped
from autoj.training.judge.recipe import Objective, Recipe
from autoj.training.judge.rows import ComparedResponses, TrainingRow, read_rows
from autoj.training.judge.samples import (
    Choice,
    Compared,
    Sample,
    SampleEncoder,
    Written,
)
from tests.training import toy


class Eyes:
    """What planning a run needs of a judge, with the tokens that its engine would read."""

    def __init__(self, folder: Path) -> None:
        transformers = pytest.importorskip("transformers")
        self.card = load_card(str(folder))
        self.limits = Limits(context_tokens=1024, scores_choices=True, streams=False)
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.encoder = Encoder(self._tokenizer, self.card.wrapper)

    def count_tokens(self, text: str) -> int:
        return self.encoder.count(text)

    def decode(self, tokens: list[int]) -> str:
        return str(self._tokenizer.decode(tokens))

    def completion_of(self, request: Request, text: str) -> Completion:
        return Completion(
            key=request.key, text=text, finish="stop", prompt_tokens=1, completion_tokens=1
        )


@pytest.fixture(scope="module")
def backend(base: Path) -> Eyes:
    return Eyes(base)


def recipe_of(base: Path, *objectives: dict[str, Any], **fields: Any) -> Recipe:
    return Recipe.model_validate(toy.recipe(base, *objectives, **fields))


def encoder_of(recipe: Recipe, backend: Any) -> SampleEncoder:
    return SampleEncoder(recipe, backend.card, backend.encoder)


def rows_of(folder: Path, rows: list[dict[str, Any]]) -> list[TrainingRow]:
    return list(read_rows(toy.write_rows(folder / "rows.jsonl", rows)))


def samples_of(
    recipe: Recipe, rows: list[TrainingRow], backend: Any, augment: bool = True
) -> list[Sample]:
    encoder = encoder_of(recipe, backend)
    plan = plan_samples(rows, recipe, augment=augment, lenient=False)
    return [encoder.encode(planned) for planned in plan.samples]


def requests_of(row: TrainingRow, protocol: str, backend: Any) -> list[Request]:
    """What a run asks about the same case."""
    task = load_protocol(protocol).subject
    spec = make_spec(
        "judge" if task == "pair" else "rate", backend.card, protocol=protocol, critique=False
    )
    return [item.request for item in plan_case(row.case, spec, backend) if item.request]


WRITES = [("pairwise", toy.pair_rows), ("single", toy.rated_rows)]
DECIDES = [("pairwise-verdict", toy.pair_rows), ("single-verdict", toy.rated_rows)]


@pytest.mark.parametrize(("protocol", "make"), WRITES)
def test_tokens_at_training_are_those_at_inference_and_the_loss_is_on_the_judgment(
    base: Path, tmp_path: Path, backend: Any, protocol: str, make: Any
) -> None:
    rows = rows_of(tmp_path, make(3))
    recipe = recipe_of(base, {"kind": "judgment", "protocol": protocol})
    for row, sample in zip(rows, samples_of(recipe, rows, backend), strict=True):
        request = requests_of(row, protocol, backend)[0]
        (sequence,) = sample.sequences
        assert isinstance(sample.target, Written)
        n_prompt = sample.target.n_prompt
        assert list(sequence.root[:n_prompt]) == backend.encoder.prompt(request)
        # The loss is on what follows: the judgment and the token that ends it, and nothing else.
        learnt = list(sequence.root[n_prompt:])
        assert learnt[-1] == backend.encoder.end_token
        assert backend.decode(learnt[:-1]) == row.judgment
        assert backend.encoder.end_token not in learnt[:-1]


@pytest.mark.parametrize(("protocol", "make"), DECIDES)
def test_a_decision_is_learnt_on_the_trie_that_inference_scores(
    base: Path, tmp_path: Path, backend: Any, protocol: str, make: Any
) -> None:
    rows = rows_of(tmp_path, make(3))
    recipe = recipe_of(base, {"kind": "decision", "protocol": protocol})
    for row, sample in zip(rows, samples_of(recipe, rows, backend), strict=True):
        request = requests_of(row, protocol, backend)[0]
        assert sample.sequences == (backend.encoder.trie(request),)
        assert isinstance(sample.target, Choice)
        assert sum(sample.target.weights) == pytest.approx(1)
        best = max(range(len(sample.target.weights)), key=sample.target.weights.__getitem__)
        reading = load_protocol(protocol).parse(request.choices[best] + ".")
        stated = getattr(reading, "shown", None) or reading.value
        assert stated == {"a": "1", "b": "2"}.get(row.case.label, row.case.label)


SHARES = {"a": (1.0, 0.0, 0.0), "b": (0.0, 1.0, 0.0), "tie": (0.0, 0.0, 1.0)}


def test_a_preference_reads_each_response_alone_as_inference_does(
    base: Path, tmp_path: Path, backend: Any
) -> None:
    rows = rows_of(tmp_path, toy.pair_rows(3))
    recipe = recipe_of(base, {"kind": "preference", "protocol": "pairwise-by-rating"})
    for row, sample in zip(rows, samples_of(recipe, rows, backend), strict=True):
        requests = requests_of(row, "pairwise-by-rating", backend)
        assert list(sample.sequences) == [backend.encoder.trie(request) for request in requests]
        assert sample.target == Compared((ComparedResponses(0, 1, SHARES[row.case.label]),))


def test_responses_to_one_query_are_read_once_for_all_their_comparisons(
    base: Path, tmp_path: Path, backend: Any
) -> None:
    texts = ["Text one", "Text two", "Text three"]
    rows = rows_of(
        tmp_path,
        [
            {"id": f"{i}{j}", "query": "Why?", "responses": [texts[i], texts[j]], "label": "a"}
            for i, j in ((0, 1), (0, 2), (1, 2))
        ],
    )
    objective = {"kind": "preference", "protocol": "pairwise-by-rating"}
    recipe = recipe_of(base, objective, compare_together=3)
    (sample,) = samples_of(recipe, rows, backend)
    asked = [requests_of(row, "pairwise-by-rating", backend) for row in rows]
    assert list(sample.sequences) == [
        backend.encoder.trie(request) for request in (*asked[0], asked[1][1])
    ]
    assert isinstance(sample.target, Compared)
    assert [(one.first, one.second) for one in sample.target.comparisons] == [
        (0, 1),
        (0, 2),
        (1, 2),
    ]


@pytest.mark.parametrize("make", [toy.pair_rows, toy.rated_rows])
def test_a_critique_is_learnt_on_the_prompt_that_asks_for_it(
    base: Path, tmp_path: Path, backend: Any, make: Any
) -> None:
    rows = rows_of(tmp_path, make(3))
    paired = len(rows[0].case.responses) == 2
    protocol = "pairwise-by-rating" if paired else "single-verdict"
    recipe = recipe_of(base, {"kind": "critique", "protocol": protocol})
    spec = make_spec("judge" if paired else "rate", backend.card, protocol=protocol, critique=True)
    for row, sample in zip(rows, samples_of(recipe, rows, backend), strict=True):
        label = row.case.label
        known = {"winner": label} if paired else {"ratings": (label,)}
        verdict = Verdict(case_id=row.case.id, judge="x", **known)
        (asked,) = plan_follow(row.case, verdict, spec, backend)
        (sequence,) = sample.sequences
        prompt = backend.encoder.prompt(asked.request)
        assert list(sequence.root[: len(prompt)]) == prompt
        written = backend.decode(list(sequence.root[len(prompt) : -1]))
        assert sequence.root[-1] == backend.encoder.end_token
        # What it writes is read back as the critique, and states no decision of its own.
        completion = backend.completion_of(asked.request, written)
        reading = load_protocol(protocol).read_follow(verdict, asked.request.shown, completion)
        assert "clearer, point" in reading.text if paired else "is plain" in reading.text
        assert "final decision" not in written
        assert "Rating" not in written


def test_pairs_are_swapped_with_their_critique_and_singles_are_repeated(
    base: Path, tmp_path: Path, backend: Any
) -> None:
    rows = rows_of(tmp_path, [*toy.pair_rows(1), *toy.rated_rows(1)])
    objectives = [{"kind": "judgment", "protocol": name} for name in ("pairwise", "single")]
    recipe = recipe_of(base, *objectives, swap_pairs=True)
    first, second, single, again = samples_of(recipe, rows, backend)
    assert single == again
    texts = [
        backend.decode(list(sample.sequences[0].root[sample.target.n_prompt : -1]))
        for sample in (first, second)
    ]
    assert texts == [rows[0].judgment, critiques.swap_responses(rows[0].judgment)]
    prompts = [
        backend.decode(list(sample.sequences[0].root[: sample.target.n_prompt]))
        for sample in (first, second)
    ]
    one, other = (response.text for response in rows[0].case.responses)
    assert f"[Response 1]: {one}" in prompts[0]
    assert f"[Response 1]: {other}" in prompts[1]
    # Validation shows each case once, as it stands.
    assert samples_of(recipe, rows, backend, augment=False) == [first, single]


def test_swapping_twice_is_the_identity(tmp_path: Path) -> None:
    for row in rows_of(tmp_path, toy.pair_rows(3)):
        assert swapped(swapped(row.case)) == row.case
        assert (swapped(row.case).label == row.case.label) == (row.case.label == "tie")


def long_row() -> dict[str, Any]:
    (row,) = toy.pair_rows(1)
    middle = " ".join(f"word{index}" for index in range(600))
    row["responses"] = [f"HEAD {middle} TAIL", "Short."]
    return row


def test_a_long_response_loses_its_middle_and_the_judgment_nothing(
    base: Path, tmp_path: Path, backend: Any
) -> None:
    rows = rows_of(tmp_path, [long_row()])
    recipe = recipe_of(base, {"kind": "judgment", "protocol": "pairwise"}, max_tokens=512)
    (sample,) = samples_of(recipe, rows, backend)
    (sequence,) = sample.sequences
    assert 480 < sequence.n_tokens <= 512
    prompt = backend.decode(list(sequence.root[: sample.target.n_prompt]))
    assert "HEAD" in prompt
    assert "TAIL" in prompt
    assert " … " in prompt
    assert "Short." in prompt
    assert "word300" not in prompt
    assert backend.decode(list(sequence.root[sample.target.n_prompt : -1])) == rows[0].judgment


def test_what_no_cut_can_help_names_its_row(base: Path, tmp_path: Path, backend: Any) -> None:
    row = long_row()
    row["query"] = " ".join(f"why{index}" for index in range(600))
    rows = rows_of(tmp_path, [*toy.pair_rows(1), row])
    recipe = recipe_of(base, {"kind": "judgment", "protocol": "pairwise"}, max_tokens=512)
    encoder = encoder_of(recipe, backend)
    plan = plan_samples(rows, recipe, augment=False, lenient=False)
    with pytest.raises(DataError, match=r"rows\.jsonl:2.*its query is too long"):
        encoder.encode(plan.samples[1])


UNREADABLE = [
    ("I like both.", "cannot be read"),
    ("So, the final decision is Response 2.", r"states 'b', but the label is 'a'"),
]


@pytest.mark.parametrize(("judgment", "said"), UNREADABLE)
def test_a_judgment_that_cannot_be_used_names_its_row(
    base: Path, tmp_path: Path, judgment: str, said: str
) -> None:
    (row,) = toy.pair_rows(1)
    row["meta"]["judgment"] = judgment
    rows = rows_of(tmp_path, [*toy.pair_rows(1), {**row, "id": "bad"}])
    recipe = recipe_of(base, {"kind": "judgment", "protocol": "pairwise"})
    with pytest.raises(DataError, match=rf"rows\.jsonl:2.*'bad'.*{said}") as told:
        plan_samples(rows, recipe, augment=False, lenient=False)
    assert "--skip-bad-rows" in str(told.value)
    plan = plan_samples(rows, recipe, augment=False, lenient=True)
    assert (len(plan.samples), len(plan.bad_rows)) == (1, 1)


def test_a_rating_off_the_scale_names_its_row(base: Path, tmp_path: Path) -> None:
    rows = rows_of(tmp_path, [{**toy.rated_rows(1)[0], "label": 11}])
    recipe = recipe_of(base, {"kind": "decision", "protocol": "single-verdict"})
    with pytest.raises(DataError, match=r"rows\.jsonl:1.*from 1 to 10"):
        plan_samples(rows, recipe, augment=False, lenient=False)


def weights_of(base: Path, folder: Path, backend: Any, rating: float, smoothing: float) -> Any:
    rows = rows_of(folder, [{**toy.rated_rows(1)[0], "label": rating}])
    objective = {"kind": "decision", "protocol": "single-verdict", "label_smoothing": smoothing}
    (sample,) = samples_of(recipe_of(base, objective), rows, backend)
    return sample.target.weights


def test_a_half_point_is_shared_and_smoothing_goes_next_door(
    base: Path, tmp_path: Path, backend: Any
) -> None:
    half = weights_of(base, tmp_path, backend, 7.5, 0.0)
    assert half == pytest.approx((0, 0, 0, 0, 0, 0, 0.5, 0.5, 0, 0))
    smoothed = weights_of(base, tmp_path, backend, 10.0, 0.2)
    assert smoothed == pytest.approx((0, 0, 0, 0, 0, 0, 0, 0, 0.2, 0.8))


def test_rows_that_serve_no_objective_are_counted(base: Path, tmp_path: Path) -> None:
    rows = rows_of(tmp_path, [*toy.pair_rows(2), *toy.rated_rows(3)])
    recipe = recipe_of(base, {"kind": "judgment", "protocol": "single"})
    plan = plan_samples(rows, recipe, augment=True, lenient=False)
    assert (plan.n_rows, plan.n_unused, plan.counts()[0]) == (5, 2, 3)


def test_an_objective_says_what_it_learns_from() -> None:
    pairs = Objective(kind="decision", protocol="pairwise-verdict")
    singles = Objective(kind="critique", protocol="single-verdict")
    assert (pairs.subject, singles.subject) == ("pair", "response")


def test_a_planned_sample_keeps_its_row(base: Path, tmp_path: Path) -> None:
    rows = rows_of(tmp_path, toy.pair_rows(1))
    recipe = recipe_of(base, {"kind": "decision", "protocol": "pairwise-verdict"}, swap_pairs=True)
    first, second = plan_samples(rows, recipe, augment=True, lenient=False).samples
    assert isinstance(first, Planned)
    assert first.row is second.row
    assert second.case == swapped(first.case)
