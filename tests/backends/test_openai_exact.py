"""Choices that a server scores exactly: where it takes the fields, refuses or ignores them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")

from autoj.backends.openai.exact import joint_logprobs
from autoj.backends.openai.replies import Reply
from autoj.datasets import open_cases
from autoj.datasets.base import Cases
from autoj.errors import BackendError
from autoj.jsonl import decode, whole_lines, write_records
from autoj.records import Completion, Failure, Request, ScoredCompletion
from autoj.reports.judge import stored_view, summarise_stored
from autoj.runs import RunFolder, make_spec
from autoj.runs.plan import answer_options
from autoj.runs.reuse import LedgerAnswers
from autoj.tasks.judge import judge
from autoj.tasks.run import Run

from ..reports.pages import page
from .openai_server import Answer, MockServer, completion, error, serving
from .test_openai import CARD, answers, ask, backend_of
from .test_openai_scoring import OPENING, PAIR, RATINGS

# Next tokens after each beginning, as a model has them. A tie is not among the likeliest 20.
RARE = 1e-7
NEXT: Mapping[str, Mapping[str, float]] = {
    "": {
        **{f" word{number}": 0.01 for number in range(25)},
        " Response": 0.75 - RARE,
        " Tie": RARE,
    },
    " Response": {" 1": 0.8, " 2": 0.2},
}
EXACT = (0.8 * (0.75 - RARE), 0.2 * (0.75 - RARE), RARE)
_PIECES = re.compile(r" ?\w+|[^\w ]")


class Model:
    """A server's model of a few words: its tokens are words, numbered as they come."""

    def __init__(self, *features: str) -> None:
        self.features = features
        self.numbers: dict[str, int] = {}

    def tokens(self, text: str) -> list[int]:
        pieces = _PIECES.findall(text)
        return [self.numbers.setdefault(piece, len(self.numbers) + 5) for piece in pieces]

    def tokenize(self, text: str) -> object:
        return {"count": 1, "max_model_len": 4096, "tokens": self.tokens(text)}

    def decide(self, body: dict[str, Any], n: int) -> Answer:
        fields = {"logprob_token_ids", "prompt_logprobs"} & body.keys()
        if "refuses" in self.features and fields:
            return error(400, f"[{{'type': 'extra_forbidden', 'loc': {sorted(fields)}}}]")
        if "breaks" in self.features and fields:
            return error(500, "Internal Server Error")
        begun = body["messages"][-1]["content"].removeprefix(OPENING)
        if "prompt_logprobs" in body and "prompts" in self.features:
            return self._prompt(begun)
        named = body.get("logprob_token_ids") if "names" in self.features else None
        return self._written(begun, named, body)

    def _written(self, begun: str, named: list[int] | None, body: dict[str, Any]) -> Answer:
        # A token that the model never writes is listed all the same where it is named.
        never = {piece: 1e-12 for piece, number in self.numbers.items() if number in (named or ())}
        shares = never | dict(NEXT.get(begun, {" end": 1.0}))
        ranked = sorted(shares, key=lambda token: -shares[token])
        numbers = {token: self.tokens(token)[0] for token in ranked}
        listed = ranked[:20]
        if named is not None:
            listed = [t for t in ranked if t == ranked[0] or numbers[t] in named]
        as_numbers = body.get("return_tokens_as_token_ids") and "names" in self.features
        entries = []
        for token in listed:
            text = f"token_id:{numbers[token]}" if as_numbers else token
            entries.append(
                {"token": text, "bytes": list(text.encode()), "logprob": math.log(shares[token])}
            )
        content = [{**entries[0], "top_logprobs": entries}]
        return completion(
            ranked[0], logprobs={"content": content}, prompt_tokens=10, completion_tokens=1
        )

    def _prompt(self, begun: str) -> Answer:
        places: list[object] = [None]
        places += [{str(n): {"logprob": -0.5, "rank": 1}} for n in self.tokens(OPENING)]
        so_far = ""
        for piece in _PIECES.findall(begun):
            share = NEXT.get(so_far, {}).get(piece, 0.5)
            likelier = {"3": {"logprob": -0.1, "rank": 1}}
            own = {str(self.tokens(piece)[0]): {"logprob": math.log(share), "rank": 40}}
            places.append(own | likelier)
            so_far += piece
        value = decode(completion("x", prompt_tokens=10, completion_tokens=1).body)
        return Answer(body=_json(value | {"prompt_logprobs": places}))


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


@contextmanager
def model_server(*features: str) -> Iterator[MockServer]:
    model = Model(*features)
    with serving(model.decide) as server:
        if "tokenizes" in features:
            server.tokenize = model.tokenize
        yield server


def pair(number: int = 0) -> Request:
    return ask(number, prefix=OPENING, choices=PAIR)


def got(server: MockServer, *requests: Request, **options: Any) -> list[ScoredCompletion]:
    found = answers(server, *requests, **{"scoring": "prefill", "concurrency": 1, **options})
    assert all(isinstance(each, ScoredCompletion) for each in found), found
    return found  # type: ignore[return-value]


def shares(found: Completion) -> tuple[float, ...]:
    assert found.choice_logprobs is not None
    return tuple(map(math.exp, found.choice_logprobs))


def test_a_server_that_takes_numbers_of_tokens_scores_exactly() -> None:
    with model_server("tokenizes", "names") as server:
        found = got(server, *map(pair, range(3)))
    for each in found:
        assert shares(each) == pytest.approx(EXACT)
        assert each.scored_by == "token ids"
    # One plain and one trial at the start; then, for each, the choice and what follows " Response".
    assert len(server.bodies) == 2 + 2 * 3
    trial = server.bodies[1]
    assert trial["return_tokens_as_token_ids"] is True
    names = [body["logprob_token_ids"] for body in server.bodies[1:]]
    assert {tuple(each) for each in names} == {tuple(names[0])}
    assert len(names[0]) == 4, "Response, 1, 2 and Tie"
    assert not any("return_tokens_as_token_ids" in body for body in server.bodies[2:])


@pytest.mark.parametrize("other", [("tokenizes",), ()], ids=["ignores", "no tokenizer"])
def test_a_server_that_scores_prompts_scores_exactly(other: tuple[str, ...]) -> None:
    with model_server("prompts", *other) as server:
        found = got(server, *map(pair, range(3)))
    for each in found:
        assert shares(each) == pytest.approx(EXACT)
        assert each.scored_by == "prompt"
        assert each.text == " Response 1"
    ends = [body["messages"][-1]["content"] for body in server.bodies if "prompt_logprobs" in body]
    assert ends[-3:] == [OPENING + choice for choice in PAIR]
    assert {body["max_tokens"] for body in server.bodies if "prompt_logprobs" in body} == {1}
    assert found[1].prompt_tokens == 30, "three prompts are read"


@pytest.mark.parametrize(
    "features",
    [("tokenizes", "refuses"), ("tokenizes",), (), ("refuses",), ("tokenizes", "breaks")],
    ids=["refuses", "ignores", "neither", "refuses prompts", "breaks"],
)
def test_else_the_likeliest_tokens_are_read_as_before(features: tuple[str, ...]) -> None:
    with model_server(*features) as server:
        found = got(server, *map(pair, range(3)), attempts=2)
    for each in found:
        one, two, tie = shares(each)
        assert (one, two) == pytest.approx(EXACT[:2])
        # A tie is not listed: the bound that the listed ones leave is far above its probability.
        assert tie > 1000 * RARE
        assert each.scored_by == "likeliest"
    # Each way is tried once, with the first request.
    for field in ("logprob_token_ids", "prompt_logprobs"):
        tried = [body for body in server.bodies if field in body]
        # Twice two attempts, if each fails and the plain request is answered.
        assert len(tried) <= (4 if "breaks" in features else 1)
    assert not any(
        {"logprob_token_ids", "prompt_logprobs"} & body.keys() for body in server.bodies[-4:]
    )


@contextmanager
def interrupted(fault: Answer, *features: str, n_faults: int, field: str) -> Iterator[MockServer]:
    """A server that gives some faults from the first request with a field on."""
    model, n_given = Model(*features), 0

    def decide(body: dict[str, Any], n: int) -> Answer:
        nonlocal n_given
        begun = n_given > 0 or field in body
        if begun and n_given < n_faults:
            n_given += 1
            return fault
        return model.decide(body, n)

    with serving(decide) as server:
        if "tokenizes" in features:
            server.tokenize = model.tokenize
        yield server


PASSING = [error(429, "slow down"), error(503, "overloaded")]


@pytest.mark.parametrize("fault", PASSING, ids=["rate limit", "overloaded"])
@pytest.mark.parametrize(
    ("features", "field", "way"),
    [(("tokenizes", "names"), "logprob_token_ids", "token ids"),
     (("prompts",), "prompt_logprobs", "prompt")],
)  # fmt: skip
def test_a_fault_that_passes_does_not_decide(
    fault: Answer, features: tuple[str, ...], field: str, way: str
) -> None:
    # Longer than all attempts of the trial and of the request that tells whether the server is up.
    with interrupted(fault, *features, n_faults=4, field=field) as server:
        found = answers(server, *map(pair, range(4)), scoring="prefill", concurrency=1, attempts=2)
    failed = [each for each in found if isinstance(each, Failure)]
    assert failed
    assert all(each.retryable for each in failed)
    known = [each for each in found if isinstance(each, ScoredCompletion)]
    assert known
    assert {each.scored_by for each in known} == {way}


def test_a_short_fault_is_waited_for() -> None:
    with interrupted(PASSING[0], "prompts", n_faults=1, field="prompt_logprobs") as server:
        found = got(server, *map(pair, range(3)), attempts=2)
    assert {each.scored_by for each in found} == {"prompt"}


@pytest.mark.parametrize(
    ("features", "field", "way"),
    [(("tokenizes", "names"), "logprob_token_ids", "token ids"),
     (("prompts",), "prompt_logprobs", "prompt")],
)  # fmt: skip
def test_an_overload_that_ends_before_the_plain_request_does_not_decide(
    features: tuple[str, ...], field: str, way: str
) -> None:
    with interrupted(PASSING[1], *features, n_faults=2, field=field) as server:
        found = got(server, *map(pair, range(3)), attempts=2)
    assert {each.scored_by for each in found} == {way}


def test_an_account_that_ends_decides_nothing() -> None:
    ends = error(402, "pay first")
    with (
        interrupted(ends, "prompts", n_faults=1, field="prompt_logprobs") as server,
        pytest.raises(BackendError, match="no credit left"),
    ):
        got(server, pair())


def test_a_tokenizer_that_is_busy_is_asked_again() -> None:
    model, n_asked = Model("names"), 0

    def busy(text: str) -> object:
        nonlocal n_asked
        n_asked += 1
        return error(429, "slow down") if n_asked < 3 else model.tokenize(text)

    with serving(model.decide) as server:
        server.tokenize = busy
        found = got(server, *map(pair, range(2)), attempts=4)
    assert {each.scored_by for each in found} == {"token ids"}


@pytest.mark.parametrize("fault", [error(503, "overloaded"), Answer(act="drop")])
def test_a_tokenizer_that_is_down_for_long_does_not_decide(fault: Answer) -> None:
    model, n_asked = Model("names", "prompts"), 0

    def down(text: str) -> object:
        nonlocal n_asked
        n_asked += 1
        return fault if n_asked <= 2 else model.tokenize(text)

    with serving(model.decide) as server:
        server.tokenize = down
        first, *others = answers(
            server, *map(pair, range(3)), scoring="prefill", concurrency=1, attempts=2
        )
    assert isinstance(first, Failure)
    assert first.retryable
    assert "at /tokenize; where the server has none, put tokenize: false" in first.message
    assert {getattr(each, "scored_by", None) for each in others} == {"token ids"}


@pytest.mark.parametrize(("features", "way"), [(("prompts",), "prompt"), ((), "likeliest")])
def test_a_card_may_say_that_there_is_no_tokenizer(features: tuple[str, ...], way: str) -> None:
    with model_server("names", *features) as server:
        asked: list[str] = []
        server.tokenize = asked.append
        found = got(server, *map(pair, range(3)), tokenize=False)
    assert {each.scored_by for each in found} == {way}
    assert asked == []


def test_runs_with_and_without_the_tokenizer_have_other_keys() -> None:
    assert answer_options({"tokenize": False, "concurrency": 3}) == {"tokenize": False}


@pytest.mark.parametrize("status", [400, 404, 405, 501])
def test_a_server_that_refuses_to_tokenize_is_asked_once(status: int) -> None:
    model, n_asked = Model("names", "prompts"), 0

    def refused(text: str) -> object:
        nonlocal n_asked
        n_asked += 1
        return error(status, "no")

    with serving(model.decide) as server:
        server.tokenize = refused
        found = got(server, *map(pair, range(3)))
    assert {each.scored_by for each in found} == {"prompt"}
    assert n_asked == 1


def test_a_tokenizer_that_asks_to_wait_for_a_day_ends_the_run() -> None:
    model, busy = Model("names"), error(429, "slow down")
    with serving(model.decide) as server:
        server.tokenize = lambda text: replace(busy, headers={"retry-after": "86400"})
        with pytest.raises(BackendError, match="longest_wait_seconds") as raised:
            answers(server, pair(), scoring="prefill", concurrency=1)
    assert raised.value.retryable
    assert "/tokenize" in raised.value.message


@pytest.mark.parametrize(
    "features", [("tokenizes", "names"), ("prompts",), ("tokenizes", "breaks"), ("last refused",)]
)
def test_what_the_first_question_may_take_is_set_aside(features: tuple[str, ...]) -> None:
    model = Model("prompts" if features == ("last refused",) else "", *features)

    def decide(body: dict[str, Any], n: int) -> Answer:
        last = body["messages"][-1]["content"].endswith(PAIR[-1])
        if features == ("last refused",) and "prompt_logprobs" in body and last:
            return error(400, "no")
        return model.decide(body, n)

    with serving(decide) as server:
        server.tokenize = model.tokenize if "tokenizes" in features else None
        backend = backend_of(server, scoring="prefill", concurrency=1, attempts=2)
        try:
            for request in map(pair, range(2)):
                limits, n_before = backend.limits, len(server.bodies)
                (found,) = backend.complete([request])
                assert isinstance(found, ScoredCompletion)
                n_read = len(server.bodies) - n_before
                failed = 2 if "breaks" in features and n_before == 0 else 0
                assert n_read - 2 * failed <= limits.readings_per_score + limits.readings_beyond
        finally:
            backend.close()


def test_a_server_whose_way_is_known_is_not_set_aside_more_for() -> None:
    with model_server("tokenizes", "names") as server:
        backend = backend_of(server, scoring="prefill")
        try:
            before = backend.limits
            list(backend.complete([pair()]))
            after = backend.limits
        finally:
            backend.close()
    assert (before.readings_beyond, after.readings_beyond) == (12, 0)
    assert before.readings_per_score == after.readings_per_score == 5


def test_many_at_once_wait_for_one_trial() -> None:
    with model_server("tokenizes", "names") as server:
        found = got(server, *map(pair, range(20)), concurrency=20)
    assert {each.scored_by for each in found} == {"token ids"}
    assert sum("return_tokens_as_token_ids" in body for body in server.bodies) == 1


def test_ten_ratings_are_not_sent_as_ten_prompts() -> None:
    request = ask(prefix=OPENING, choices=RATINGS)
    with model_server("prompts") as server:
        backend = backend_of(server, scoring="prefill", concurrency=1)
        try:
            list(backend.complete([request]))
        finally:
            backend.close()
    assert not any("prompt_logprobs" in body for body in server.bodies)


def test_without_a_forced_opening_nothing_is_tried() -> None:
    with model_server("tokenizes", "names", "prompts") as server:
        (found,) = answers(server, pair(), scoring="logprobs")
    assert isinstance(found, ScoredCompletion | Failure)
    (body,) = server.bodies
    assert not {"logprob_token_ids", "prompt_logprobs"} & body.keys()


@pytest.mark.parametrize(
    "prompts",
    [
        "none",
        [None, 7],
        [None, {}],
        [None, {"a": {"logprob": -1.0}}],
        [None, {"1": {"logprob": 9000.0}}],
        [None, {"1": {}}],
    ],
)
def test_prompts_that_cannot_be_read_leave_the_likeliest(prompts: object) -> None:
    plain = Model()

    def decide(body: dict[str, Any], n: int) -> Answer:
        found = plain.decide(body, n)
        if "prompt_logprobs" not in body:
            return found
        return Answer(body=_json(decode(found.body) | {"prompt_logprobs": prompts}))

    with serving(decide) as server:
        (each,) = got(server, pair())
    assert each.scored_by == "likeliest"


def test_choices_that_prompts_do_not_tell_apart_have_no_scores() -> None:
    def reply(*prompt: tuple[int, float]) -> Reply:
        return Reply(
            text="", finish="stop", prompt_tokens=1, completion_tokens=1, positions=None,
            prompt=prompt,
        )  # fmt: skip

    same = reply((1, -1.0), (2, -2.0))
    assert joint_logprobs([same, same]) is None
    assert joint_logprobs([same, reply((1, -1.0), (3, -0.5), (4, -0.25))]) == (-2.0, -0.75)


@pytest.fixture
def data(tmp_path: Path) -> Cases:
    rows = [{"query": f"Q {n}?", "responses": [f"A {n}.", f"B {n}."]} for n in range(3)]
    write_records(tmp_path / "pairs.jsonl", rows)
    return open_cases(tmp_path / "pairs.jsonl")


@pytest.mark.parametrize(
    ("features", "way", "said"),
    [
        (("tokenizes", "names"), "token ids", "exactly, by the numbers of their tokens 6"),
        (("prompts",), "prompt", "exactly, each as the end of a prompt 6"),
        ((), "likeliest", "among the likeliest tokens 6"),
    ],
)
def test_a_run_says_how_its_choices_were_scored(
    tmp_path: Path, data: Cases, features: tuple[str, ...], way: str, said: str
) -> None:
    spec = make_spec("judge", CARD, protocol="pairwise-verdict", critique=False)
    with model_server(*features) as server:
        backend = backend_of(server, scoring="prefill")
        try:
            run = judge(data, spec, tmp_path / "run", backend=backend)
        finally:
            backend.close()
    assert RunFolder(run.path).settings()["scored_by"] == {way: 6}
    lines = [decode(line) for line in whole_lines(run.path / "ledger.jsonl")]
    assert [line["scored_by"] for line in lines] == [way] * 6
    with closing(LedgerAnswers([run.path])) as known:
        again = judge(data, spec, tmp_path / "again", backend=backend, known=known)
    assert RunFolder(again.path).settings()["scored_by"] == {way: 6}
    stored = Run.open(run.path)
    text = page(stored_view(stored, *summarise_stored(stored, None, 3)))
    assert said in " ".join(text.split())
