"""The engine on transformers, with tiny models: against transformers' own one-at-a-time results."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from autoj import Judge
from autoj.backends.base import Outcome
from autoj.datasets import open_cases
from autoj.errors import BackendError, ConfigError
from autoj.jsonl import write_records
from autoj.records import Completion, Decoding, Failure, JudgeCard, Message, Request
from autoj.runs import judge_run, make_spec, open_run
from tests.tiny_llama import CHATML, LLAMA2, make_model, make_tokenizer

torch = pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")
transformers = pytest.importorskip(
    "transformers", reason="the extra `hf` is not installed: no transformers"
)

from autoj.backends.hf.caching import cache_argument, growing_cache, read_one_by_one  # noqa: E402
from autoj.backends.hf.engine import HfBackend  # noqa: E402
from autoj.backends.hf.scoring import read_choices  # noqa: E402
from autoj.backends.hf.writing import Writing, _Decoder  # noqa: E402

QUERIES = [
    "Is it four?", "Which response is better, and why? Rivers flow to the seas.", "说:不。",
    "1 12 123", "Émile — yes", "a",
    "You are assessing two submitted responses on a given user's query. " * 3,
]  # fmt: skip
CHOICES = ("Response 1", "Response 2", "Tie", "1", "12")


def card_of(**settings: Any) -> JudgeCard:
    return JudgeCard(
        **{
            "name": "tiny",
            "title": "Two layers of noise",
            "backend": "hf",
            "model": "./tiny",
            "wrapper": "chatml",
            "protocols": ("pairwise-verdict", "single-verdict", "pairwise", "single"),
            "context_tokens": 600,
            **settings,
        }
    )


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return make_tokenizer(CHATML, begins=True)


@pytest.fixture(scope="module")
def model() -> Any:
    # Seed 3 writes texts of many lengths: some end by themselves.
    return make_model(seed=3)


@pytest.fixture
def backend(tokenizer: Any, model: Any) -> HfBackend:
    return HfBackend(card_of(), tokenizer, model)


def ask(query: str, key: str = "k", **settings: Any) -> Request:
    return Request(
        **{
            "key": key,
            "judge": "tiny",
            "case_id": key,
            "protocol": "pairwise",
            "shown": (0, 1),
            "messages": (Message(role="user", content=query),),
            "decoding": Decoding(max_tokens=16),
            **settings,
        }
    )


def answers(backend: HfBackend, requests: list[Request]) -> dict[str, Outcome]:
    outcomes = list(backend.complete(requests))
    found = {outcome.key: outcome for outcome in outcomes}
    assert sorted(found) == sorted(request.key for request in requests)
    assert len(outcomes) == len(requests)
    return found


def completed(backend: HfBackend, requests: list[Request]) -> list[Completion]:
    found = answers(backend, requests)
    completions = [found[request.key] for request in requests]
    assert all(isinstance(outcome, Completion) for outcome in completions), completions
    return completions  # type: ignore[return-value]


# --- Choices --------------------------------------------------------------------------------------


def scored(query: str, key: str = "k", **settings: Any) -> Request:
    return ask(query, key, **{"prefix": "It is ", "choices": CHOICES, **settings})


def test_choices_are_scored_as_whole_strings(
    backend: HfBackend, tokenizer: Any, model: Any
) -> None:
    requests = [scored(query, str(at)) for at, query in enumerate(QUERIES)]
    for query, completion in zip(QUERIES, completed(backend, requests), strict=True):
        text = f"<|im_start|>user\n{query}<|im_end|>\n<|im_start|>assistant\nIt is "
        wholes: list[list[int]] = [
            tokenizer(text + choice, add_special_tokens=False)["input_ids"] for choice in CHOICES
        ]
        # The space before a choice belongs to some of its first tokens.
        n_prompt = len([*takewhile(lambda tokens: len({*tokens}) == 1, zip(*wholes, strict=False))])
        expected = []
        for ids in wholes:
            with torch.inference_mode():
                logprobs = model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
            steps = range(n_prompt, len(ids))
            expected.append(sum(float(logprobs[at - 1, ids[at]]) for at in steps))
        assert completion.choice_logprobs == pytest.approx(expected, abs=1e-5)
        assert completion.text == CHOICES[expected.index(max(expected))]
        assert (completion.finish, completion.prompt_tokens) == ("stop", n_prompt)
        assert completion.completion_tokens == 0


def test_scores_do_not_depend_on_the_order_or_size_of_batches(
    tokenizer: Any, model: Any, backend: HfBackend
) -> None:
    requests = [scored(query, str(at)) for at, query in enumerate(QUERIES * 3)]
    whole = completed(backend, requests)
    small = HfBackend(card_of(options={"batch_tokens": 40}), tokenizer, model)
    for other in (completed(backend, requests[::-1])[::-1], completed(small, requests)):
        for one, two in zip(whole, other, strict=True):
            assert one.choice_logprobs == pytest.approx(two.choice_logprobs, abs=1e-5)


# --- Texts ----------------------------------------------------------------------------------------


def one_by_one(tokenizer: Any, model: Any, query: str, **settings: Any) -> list[int]:
    text = f"<|im_start|>user\n{query}<|im_end|>\n<|im_start|>assistant\n"
    ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    config = transformers.GenerationConfig(
        max_new_tokens=16, do_sample=False, eos_token_id=2, pad_token_id=2, **settings
    )
    with torch.inference_mode():
        written = model.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), generation_config=config
        )
    return [int(token) for token in written[0, ids.shape[1] :]]


@pytest.mark.parametrize("penalty", [1.0, 1.3])
def test_greedy_texts_are_those_of_one_at_a_time(
    backend: HfBackend, tokenizer: Any, model: Any, penalty: float
) -> None:
    decoding = Decoding(max_tokens=16, repetition_penalty=penalty)
    requests = [ask(query, str(at), decoding=decoding) for at, query in enumerate(QUERIES)]
    finishes = set()
    for query, completion in zip(QUERIES, completed(backend, requests), strict=True):
        tokens = one_by_one(tokenizer, model, query, repetition_penalty=penalty)
        assert completion.completion_tokens == len(tokens)
        assert completion.finish == ("stop" if tokens[-1] == 2 else "length")
        expected = tokenizer.decode(tokens, skip_special_tokens=True)
        assert completion.text == expected
        finishes.add(completion.finish)
    assert len({completion.text for completion in completed(backend, requests)}) > 3


def test_rows_of_any_decoding_share_a_batch(backend: HfBackend) -> None:
    decodings = [
        Decoding(max_tokens=16),
        Decoding(max_tokens=7, repetition_penalty=1.4),
        Decoding(max_tokens=16, temperature=0.7, top_p=0.9, seed=4),
        Decoding(max_tokens=12, temperature=1.5),
    ]
    requests = [
        ask(query, f"{at}-{row}", decoding=decoding)
        for at, query in enumerate(QUERIES)
        for row, decoding in enumerate(decodings)
    ]
    together = completed(backend, requests)
    alone = [completed(backend, [request])[0] for request in requests]
    assert together == alone
    assert all(
        completion.completion_tokens <= request.decoding.max_tokens
        for completion, request in zip(together, requests, strict=True)
    )


def test_draws_follow_from_the_seed_and_the_sample_alone(backend: HfBackend) -> None:
    decoding = Decoding(max_tokens=20, temperature=1.0)

    def text(seed: int = 0, sample: int = 0) -> str:
        drawn = replace(decoding, seed=seed)
        torch.manual_seed(len(QUERIES) + seed + sample)
        return completed(backend, [ask("Is it?", decoding=drawn, sample=sample)])[0].text

    assert text() == text()
    assert len({text(), text(seed=1), text(sample=1)}) == 3


def next_tokens(tokenizer: Any, model: Any, temperature: float) -> torch.Tensor:
    text = "<|im_start|>user\nIs it?<|im_end|>\n<|im_start|>assistant\n"
    ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        logits: torch.Tensor = model(input_ids=ids).logits[0, -1]
    return (logits / temperature).softmax(-1)


def draws(logits: list[float], n: int, **decoding: float) -> Counter[int]:
    """What rows that differ in their seeds alone take from the same logits."""
    rows = [
        Writing(prompt=[0], decoding=Decoding(**decoding), most_tokens=1, stop=(), seed=f"0:0:{at}")
        for at in range(n)
    ]
    scores = _Decoder(rows)(torch.zeros((n, 1), dtype=torch.long), torch.tensor([logits] * n))
    return Counter(scores.argmax(dim=-1).tolist())


def test_draws_have_the_models_probabilities() -> None:
    n, logits = 4000, [0.5, 3.0, -1.0, 2.5, -math.inf, 1.0]
    for temperature in (0.7, 1.0, 2.0):
        drawn = draws(logits, n, temperature=temperature)
        shares = (torch.tensor(logits) / temperature).softmax(-1).tolist()
        for token, share in enumerate(shares):
            assert drawn[token] == pytest.approx(n * share, abs=4 * math.sqrt(n * share))
        assert drawn[4] == 0


def test_top_p_rules_out_what_is_unlikely() -> None:
    logits = torch.tensor([0.1, 0.5, 0.15, 0.25]).log().tolist()
    for top_p, kept in [
        (1e-9, {1}),
        (0.49, {1}),
        (0.51, {1, 3}),
        (0.76, {1, 2, 3}),
        (1, {*range(4)}),
    ]:
        drawn = draws(logits, 500, temperature=1.0, top_p=top_p)
        assert set(drawn) == kept
        share = 0.5 / sum([0.1, 0.5, 0.15, 0.25][token] for token in kept)
        assert drawn[1] == pytest.approx(500 * share, abs=50)


def test_a_text_ends_before_the_first_stop_string(backend: HfBackend) -> None:
    decoding = Decoding(max_tokens=16, temperature=3.0)
    requests = [ask(query, str(at), decoding=decoding) for at, query in enumerate(QUERIES)]
    whole = completed(backend, requests)
    stops = [completion.text[6:9] for completion in whole]
    assert any(stops)
    stopped = completed(
        backend,
        [replace(row, stop=("~none~", stop)) if stop else row
         for row, stop in zip(requests, stops, strict=True)],
    )  # fmt: skip
    for before, after, stop in zip(whole, stopped, stops, strict=True):
        if stop:
            assert after.text == before.text[: before.text.index(stop)]
            assert (after.finish, stop in after.text) == ("stop", False)
            assert after.completion_tokens < before.completion_tokens


def test_few_long_texts_do_not_hold_a_batch(tokenizer: Any, model: Any) -> None:
    decoding = Decoding(temperature=1.0, repetition_penalty=1.2)
    requests = [
        ask(query, str(at), decoding=replace(decoding, max_tokens=40 if at == 2 else 5 + at))
        for at, query in enumerate(QUERIES)
    ]
    alone = HfBackend(card_of(options={"batch_tokens": 1}), tokenizer, model)
    expected = completed(alone, requests)
    assert expected[2].completion_tokens == 40, "this text must be the long one"
    with Cramped(model, 100) as steps:
        assert completed(HfBackend(card_of(), tokenizer, model), requests) == expected
    # Read one by one, then written all together; the long one alone in the end.
    n = len(QUERIES)
    assert steps.sizes[: n + 1] == [1] * n + [n]
    assert steps.sizes[-20:] == [1] * 20
    assert sum(steps.sizes) < n * 40 / 2
    # Each of its tokens took one step, and nothing was read twice.
    assert len(steps.sizes) == n + 40


def test_rows_that_are_left_are_read_again_where_reading_costs_little(
    tokenizer: Any, model: Any
) -> None:
    decoding = Decoding(temperature=1.0, repetition_penalty=1.2)
    requests = [
        ask(query, str(at), decoding=replace(decoding, max_tokens=40 if at == 2 else 5 + at))
        for at, query in enumerate(QUERIES)
    ]
    expected = completed(HfBackend(card_of(), tokenizer, model), requests)
    backend = HfBackend(card_of(), tokenizer, model)
    backend._writer._on_gpu, backend._writer.few = True, 0.25
    with Cramped(model, 100) as steps:
        assert completed(backend, requests) == expected
    assert steps.sizes[0] == len(QUERIES), "a batch is read together"
    assert steps.sizes[-20:] == [1] * 20
    assert sum(steps.sizes) < len(QUERIES) * 40 / 2


@torch.inference_mode()
def test_what_a_batch_keeps_is_what_transformers_own_cache_keeps(
    tokenizer: Any, model: Any
) -> None:
    rows = [tokenizer(query, add_special_tokens=False)["input_ids"] for query in QUERIES]
    cache = growing_cache(model, 2)
    read_one_by_one(model, cache, rows)
    width = max(map(len, rows)) - 1
    for at, ids in enumerate(rows):
        n = len(ids) - 1
        plain = transformers.DynamicCache(config=model.config)
        if n:
            model(input_ids=torch.tensor([ids[:-1]]), **{cache_argument(model): plain})
        for ours, theirs in zip(cache.layers, plain.layers, strict=True):
            assert ours.keys.shape[-2] == width
            assert not ours.keys[at, :, : width - n].any(), "padding is finite"
            if n:
                torch.testing.assert_close(ours.keys[at, :, width - n :], theirs.keys[0])
                torch.testing.assert_close(ours.values[at, :, width - n :], theirs.values[0])
    # It takes what comes in place while there is room, and grows where there is none.
    layer, before = cache.layers[0], cache.layers[0].keys.clone()
    news = [torch.full((len(rows), 2, 1, 8), float(step)) for step in range(6)]
    places = {layer.update(new, new)[0].data_ptr() for new in news}
    assert len(places) < 4
    torch.testing.assert_close(layer.keys, torch.cat([before, *news], dim=-2))
    torch.testing.assert_close(layer.values[..., width:, :], torch.cat(news, dim=-2))
    cache.batch_select_indices(torch.tensor([2, 0]))
    assert layer.update(news[0][:2], news[0][:2])[0].shape[:1] == (2,)
    torch.testing.assert_close(layer.keys[1, :, :width], before[0])


def test_models_that_keep_something_else_are_written_as_transformers_does(tokenizer: Any) -> None:
    model = make_model("Mistral", sliding_window=8, seed=3)
    assert growing_cache(model, 8) is None
    requests = [ask(query, str(at)) for at, query in enumerate(QUERIES)]
    for query, completion in zip(
        QUERIES, completed(HfBackend(card_of(), tokenizer, model), requests), strict=True
    ):
        tokens = one_by_one(tokenizer, model, query)
        assert completion.text == tokenizer.decode(tokens, skip_special_tokens=True)


def test_a_models_own_settings_and_ends_are_known(tokenizer: Any) -> None:
    model = make_model(seed=3)
    plain = HfBackend(card_of(), tokenizer, model)
    first = plain._writer._decode([int(next_tokens(tokenizer, model, 1.0).argmax())])
    (whole,) = completed(plain, [ask("Is it?")])
    assert whole.text.startswith(first)
    # A model's own temperature and penalty are not the judge's, but its other ends are.
    model.generation_config = transformers.GenerationConfig(
        do_sample=True, temperature=9.0, repetition_penalty=5.0, max_length=3, top_k=1
    )
    assert completed(HfBackend(card_of(), tokenizer, model), [ask("Is it?")]) == [whole]
    token = int(next_tokens(tokenizer, model, 1.0).argmax())
    model.generation_config = transformers.GenerationConfig(eos_token_id=[2, token])
    (ended,) = completed(HfBackend(card_of(), tokenizer, model), [ask("Is it?")])
    assert (ended.text, ended.finish, ended.completion_tokens) == ("", "stop", 1)


def test_a_space_between_the_prompt_and_the_text_is_kept(model: Any) -> None:
    """Tokenizers that mark the beginning of a word drop the mark where a text begins."""
    from tokenizers import decoders, pre_tokenizers

    tokenizer = make_tokenizer(LLAMA2)
    tokenizer.backend_tokenizer.decoder = decoders.Sequence(
        [decoders.ByteLevel(), decoders.Strip(" ", 1, 0)]
    )
    assert isinstance(tokenizer.backend_tokenizer.pre_tokenizer, pre_tokenizers.ByteLevel)
    writer = HfBackend(card_of(wrapper="llama2"), tokenizer, model)._writer
    encode = tokenizer.backend_tokenizer.encode
    writing = _writing(encode("Rating:").ids, encode(" four").ids)
    assert tokenizer.decode(writing.tokens) == "four"
    assert writer.text_of(writing) == " four"
    # A token that is half a character has no text to stand before another.
    half = encode("说").ids
    assert writer.text_of(_writing(half[:1], half[1:])) == writer._decode(half[1:])


def _writing(prompt: list[int], tokens: list[int]) -> Any:
    return Writing(
        prompt=prompt, decoding=Decoding(), most_tokens=9, stop=(), seed="", tokens=tokens
    )


# --- What goes wrong ------------------------------------------------------------------------------


def test_what_is_longer_than_the_context_fails_and_is_not_cut(tokenizer: Any, model: Any) -> None:
    backend = HfBackend(card_of(context_tokens=60), tokenizer, model)
    requests = [ask("x" * 300, "a"), scored("x" * 300, "b"), ask("Is it?", "c"), scored("No", "d")]
    found = answers(backend, requests)
    for key in "ab":
        failure = found[key]
        assert isinstance(failure, Failure)
        assert (failure.error, failure.retryable) == ("ContextOverflow", False)
        assert "60" in failure.message
    assert all(isinstance(found[key], Completion) for key in "cd")


def test_a_text_ends_where_the_context_does(tokenizer: Any, model: Any) -> None:
    decoding = Decoding(max_tokens=160, temperature=9.0)
    request = ask("Is it?", decoding=decoding, stop=())
    n_prompt = completed(HfBackend(card_of(), tokenizer, model), [request])[0].prompt_tokens
    card = card_of(context_tokens=n_prompt + 5)
    (completion,) = completed(HfBackend(card, tokenizer, model), [request])
    assert completion.completion_tokens <= 5
    full = HfBackend(replace(card, context_tokens=n_prompt), tokenizer, model)
    assert isinstance(answers(full, [request])["k"], Failure)


def test_the_context_is_never_longer_than_the_models_own(tokenizer: Any, model: Any) -> None:
    assert HfBackend(card_of(context_tokens=4096), tokenizer, model).limits.context_tokens == 700
    limits = HfBackend(card_of(context_tokens=400), tokenizer, model).limits
    assert (limits.context_tokens, limits.scores_choices, limits.streams) == (400, True, False)


def test_numbers_that_are_not_finite_are_failures(tokenizer: Any) -> None:
    model = make_model()
    backend = HfBackend(card_of(), tokenizer, model)
    completed(backend, [ask("a", "0"), scored("a", "1")])
    # One token is poison: what reads it breaks, and what does not is whole.
    (poison,) = tokenizer("É", add_special_tokens=False)["input_ids"][:1]
    model.get_input_embeddings().weight.data[poison] = math.nan
    found = answers(backend, [ask("É", "a"), scored("É", "b"), ask("a", "c"), scored("a", "d")])
    for key in "ab":
        failure = found[key]
        assert isinstance(failure, Failure)
        assert (failure.error, failure.retryable) == ("NotFinite", False)
    assert all(isinstance(found[key], Completion) for key in "cd")


class Cramped:
    """A model that has memory for so many rows at once."""

    def __init__(self, model: Any, most_rows: int) -> None:
        self.refused, self.sizes = 0, []
        self._hook = model.get_decoder().register_forward_pre_hook(self._check, with_kwargs=True)
        self._most_rows = most_rows

    def _check(self, _: Any, args: Any, kwargs: Any) -> None:
        n_rows = len(kwargs["input_ids"] if "input_ids" in kwargs else args[0])
        if n_rows > self._most_rows:
            self.refused += 1
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        self.sizes.append(n_rows)

    def __enter__(self) -> Cramped:
        return self

    def __exit__(self, *_: Any) -> None:
        self._hook.remove()


@pytest.mark.parametrize("kind", [ask, scored])
def test_a_batch_that_memory_does_not_do_for_is_halved(
    backend: HfBackend, model: Any, kind: Any
) -> None:
    requests = [kind(query, str(at)) for at, query in enumerate(QUERIES * 2)]
    expected = completed(backend, requests)
    with Cramped(model, 3) as cramped:
        found = completed(backend, requests)
        n_refused = cramped.refused
        completed(backend, requests)
    for one, other in zip(expected, found, strict=True):
        assert (one.text, one.finish) == (other.text, other.finish)
        assert one.choice_logprobs == pytest.approx(other.choice_logprobs, abs=1e-5)
    assert max(cramped.sizes) > 1
    assert 0 < cramped.refused == n_refused, "what was learnt of the memory is kept"


@pytest.mark.parametrize("kind", [ask, scored])
def test_memory_that_does_not_do_for_one_is_told_with_what_to_lower(
    backend: HfBackend, model: Any, kind: Any
) -> None:
    # A setting of the user's has to change, so that commands end with exit code 2.
    with Cramped(model, 0), pytest.raises(ConfigError, match="no memory for one request") as told:
        list(backend.complete([kind("Is it?", "the-key")]))
    assert "Lower context_tokens or decoding.max_tokens" in str(told.value.hint)


def test_what_was_answered_before_memory_ran_out_is_kept(tokenizer: Any) -> None:
    model = make_model()
    backend = HfBackend(card_of(), tokenizer, model)
    short, long = scored("Is it?", "short"), scored("Is it four? " * 20, "long")
    found: list[str] = []
    longest = 60

    def check(_: Any, args: Any, kwargs: Any) -> None:
        if kwargs["input_ids"].shape[1] > longest:
            raise RuntimeError("[enforce fail at alloc_cpu.cpp:117] . can't allocate memory")

    model.get_decoder().register_forward_pre_hook(check, with_kwargs=True)
    with pytest.raises(ConfigError, match="no memory for one request"):
        found.extend(outcome.key for outcome in backend.complete([long, short]))
    assert found == ["short"]


def test_a_model_that_breaks_down_is_an_engine_error(tokenizer: Any) -> None:
    model = make_model()
    backend = HfBackend(card_of(), tokenizer, model)
    model.get_input_embeddings().weight.data = torch.zeros(3, 32)
    with pytest.raises(BackendError, match=r"\./tiny failed"):
        list(backend.complete([scored("Is it?")]))


def test_requests_are_read_a_window_ahead_and_no_further(backend: HfBackend) -> None:
    n_read = 0

    def many() -> Iterator[Request]:
        nonlocal n_read
        for at in range(300):
            n_read += 1
            yield scored("Is it?", str(at))

    outcomes = backend.complete(many())
    next(outcomes)
    assert n_read <= 128
    assert len(list(outcomes)) == 299


# --- As a judge -----------------------------------------------------------------------------------


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    write_records(
        path,
        [
            {
                "id": f"case-{at}",
                "query": query,
                "responses": [f"No. {query}", "Yes."],
                "label": "a",
            }
            for at, query in enumerate(QUERIES[:-1])
        ],
    )
    return path


def test_a_run_of_verdicts_is_whole_and_its_probabilities_are_the_models(
    backend: HfBackend, pairs: Path, tmp_path: Path, model: Any
) -> None:
    spec = make_spec("judge", backend.card, critique=False)
    with open_run(tmp_path / "run", spec, open_cases(pairs)) as folder:
        counts = judge_run(folder, spec, backend)
        verdicts = list(folder.verdicts())
        # Both orders of each pair.
        assert (counts.n_answered, counts.n_failed) == (2 * len(QUERIES) - 2, 0)
    for verdict in verdicts:
        assert verdict.probabilities is not None
        assert sum(verdict.probabilities) == pytest.approx(1)
        assert verdict.winner in ("a", "b", "tie")
    assert len({verdict.probabilities for verdict in verdicts}) > 3


def test_one_response_is_rated_and_one_pair_compared_from_python(backend: HfBackend) -> None:
    judge = Judge(backend)
    rating = judge.rate("Is it four?", "Yes.").ratings[0]
    assert rating is not None
    assert 1 <= rating <= 10
    assert judge.compare("Is it four?", "Yes.", "No.").probabilities is not None


def test_scores_of_the_engine_are_those_that_training_computes(
    backend: HfBackend, model: Any
) -> None:
    request = scored(QUERIES[1])
    with torch.inference_mode():
        ((scores, _),) = read_choices(model, [backend._encoder.trie(request)])
    (completion,) = completed(backend, [request])
    assert completion.choice_logprobs == pytest.approx(scores.tolist(), abs=1e-6)
