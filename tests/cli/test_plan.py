"""What a run takes and costs, over a mock API with prices whose requests are counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")

from autoj.jsonl import write_records

from ..backends.openai_server import MockServer, completion, digest_of, serving

CARD = """\
title: A paid judge
backend: openai
model: mock
wrapper: none
protocols: [baseline-pairwise, baseline-single, scenario-menu]
context_tokens: 8192
decoding: {{max_tokens: 200}}
{prices}options: {{base_url: {url}}}
"""
PRICES = "usd_per_million_prompt_tokens: 30.0\nusd_per_million_completion_tokens: 60.0\n"
# 100 tokens read and 20 written, by the server's count.
EACH = (100 * 30 + 20 * 60) / 1e6


def decide(body, n_before):
    if "scenario" in body["messages"][-1]["content"]:
        return completion("planning")
    rated = "Rating: [[7]]"
    text = f"Brief. {rated if 'Rating' in json.dumps(body) else '[[A]]'}"
    return completion(text + " " + str(digest_of(body)[0]))


@pytest.fixture
def server() -> Iterator[MockServer]:
    with serving(decide) as found:
        yield found


@pytest.fixture
def card(tmp_path, server) -> Path:
    path = tmp_path / "paid.yaml"
    path.write_text(CARD.format(prices=PRICES, url=server.base_url))
    return path


@pytest.fixture
def pairs(tmp_path) -> Path:
    path = tmp_path / "pairs.jsonl"
    write_records(
        path, ({"query": f"Why {i}?", "responses": [f"So {i}.", f"No {i}."]} for i in range(200))
    )
    return path


def plan_of(run, *arguments: object) -> dict[str, object]:
    code, out, _ = run(*arguments, "--plan", "--json")
    assert code == 0
    (found,) = json.loads(out)["plan"]
    return found


def test_a_run_that_grows_asks_and_pays_for_new_rows_only(run, server, card, pairs) -> None:
    arguments = ("judge", pairs, "--judge", card)
    code, out, _ = run(*arguments, "--limit", 3)
    assert (code, server.n_requests) == (0, 6)
    assert "cost $0.03" in " ".join(out.split())
    planned = plan_of(run, *arguments)
    assert (planned["n_answered"], planned["n_left"]) == (6, 394)
    assert server.n_requests == 6, "a plan asks nothing"
    code, out, err = run(*arguments, "--json")
    assert (code, server.n_requests) == (0, 400)
    assert "grows from 3 to 200 cases" in err
    found = json.loads(out)
    assert found["cost"]["session_usd"] == pytest.approx(394 * EACH)
    assert found["cost"]["run_usd"] == pytest.approx(400 * EACH)
    assert len(list(Path("runs").iterdir())) == 1
    run(*arguments)
    assert server.n_requests == 400
    out = run("show", found["run"])[1]
    assert "cost $1.68" in " ".join(out.split())


def test_a_cap_shows_what_the_rest_would_cost(run, card, pairs) -> None:
    code, out, _ = run("judge", pairs, "--judge", card, "--max-requests", 40)
    assert code == 1
    assert "cost $0.17 of about $1.68" in " ".join(out.split())


def test_another_run_reuses_answers_and_says_so(run, server, card, pairs, answers_folder) -> None:
    run("judge", pairs, "--judge", card, "--limit", 5)
    for flag, n_more in (("--cache", 0), ("--no-cache", 6)):
        before = server.n_requests
        _, out, err = run("judge", pairs, "--judge", card, "--limit", 3, "--out", flag[2:], flag,
                             "--json")  # fmt: skip
        assert server.n_requests - before == n_more
        assert ("6 answers of earlier runs were reused and cost nothing" in err) == (n_more == 0)
        assert json.loads(out)["session"]["n_reused"] == 6 - n_more
    out = run("cache", "show", "--json")[1]
    shown = json.loads(out)
    assert shown["n_answers"] == 10
    assert shown["models"][0]["place"] == server.base_url
    assert str(answers_folder) in shown["file"]
    out = run("cache", "show")[1]
    assert " ".join(out.split()).startswith("answers 10 size")
    err = run("cache", "clear", "--model", "other")[2]
    assert "removed 0 answers" in err
    err = run("cache", "clear")[2]
    assert "removed 10 answers" in err
    assert "answers 0" in " ".join(run("cache", "show")[1].split())


def test_a_plan_needs_no_key_and_no_server(run, card, pairs) -> None:
    card.write_text(card.read_text().replace("options: {", "options: {api_key_variable: NO_KEY, "))
    planned = plan_of(run, "judge", pairs, "--judge", card)
    assert (planned["n_cases"], planned["n_left"], planned["n_reused"]) == (200, 400, 0)
    assert planned["usd"]["about"] is None
    assert planned["usd"]["least"] == pytest.approx(planned["prompt_tokens"] * 30 / 1e6, rel=1e-3)
    assert planned["usd"]["most"] == pytest.approx(
        planned["usd"]["least"] + 400 * 200 * 60 / 1e6, rel=1e-3
    )
    assert not Path("runs").exists()
    out = run("judge", pairs, "--judge", card, "--plan")[1]
    text = " ".join(out.split())
    assert "requests 400 to send" in text
    assert "(prompts alone) to" in text
    assert "minutes not known before the first answers" in text


def test_rate_limits_are_the_least_time(run, card, pairs) -> None:
    card.write_text(card.read_text().replace("options: {", "options: {requests_per_minute: 100, "))
    planned = plan_of(run, "judge", pairs, "--judge", card)
    assert planned["seconds"] == 240
    assert "at least" in planned["timed_by"]
    out = run("judge", pairs, "--judge", card, "--plan")[1]
    assert "about 4 min, by the rate limits in the card, at least" in " ".join(out.split())


def test_lengths_of_earlier_answers_make_the_estimate_narrow(run, card, pairs) -> None:
    run("judge", pairs, "--judge", card, "--limit", 2, "--out", "other", "--orders", "one")
    planned = plan_of(run, "judge", pairs, "--judge", card)
    assert planned["completion_tokens"]["about"] == 398 * 20
    assert planned["n_reused"] == 2


def test_cards_without_prices_are_said_to_have_none(run, server, card, pairs) -> None:
    card.write_text(CARD.format(prices="", url=server.base_url))
    said = "not known: the card of judge 'paid' states no prices"
    assert said in " ".join(run("judge", pairs, "--judge", card, "--plan")[1].split())
    out = run("judge", pairs, "--judge", card, "--limit", 2)[1]
    assert f"cost {said}" in " ".join(out.split())
    out = run("judge", pairs, "--judge", card, "--limit", 2, "--json")[1]
    assert json.loads(out)["cost"] is None


def test_plans_of_other_commands(run, server, card, pairs, tmp_path) -> None:
    assert plan_of(run, "rate", pairs, "--judge", card)["n_left"] == 400
    assert plan_of(run, "classify", pairs, "--judge", card)["n_left"] == 200
    many = tmp_path / "many.jsonl"
    write_records(many, ({"query": f"Why {i}?", "responses": [f"{i}", "b", "c", "d"]}
                         for i in range(10)))  # fmt: skip
    assert plan_of(run, "select", many, "--judge", card)["n_left"] == 40 - 9 * 3 + 27
    by_pairs = ("select", many, "--judge", card, "--by", "pairs")
    planned = plan_of(run, *by_pairs)
    assert planned["n_cases"] == 30, "matches"
    out = run(*by_pairs, "--json")[1]
    assert server.n_requests == planned["n_requests"] == 60
    assert json.loads(out)["cost"]["run_usd"] == pytest.approx(60 * EACH)
    assert plan_of(run, *by_pairs)["n_left"] == 0
    code, _, err = run("classify", pairs, "--plan")
    assert (code, "need --judge" in err) == (2, True)


def test_the_plan_of_a_jury_is_one_for_each_judge_and_a_sum(run, server, card, pairs) -> None:
    other = card.with_name("other.yaml")
    other.write_text(card.read_text().replace("model: mock", "model: two"))
    free = card.with_name("free.yaml")
    free.write_text(CARD.format(prices="", url=server.base_url))
    judges = ("--judge", ",".join(map(str, (card, other, free))))
    out = run("judge", pairs, *judges, "--plan")[1]
    text = " ".join(out.split())
    assert "all judges 1,200 requests to send" in text
    assert "without free: no prices" in text
    out = run("judge", pairs, *judges, "--limit", 2, "--json")[1]
    costs = json.loads(out)["costs"]
    assert costs["free"] is None
    assert costs["paid"]["run_usd"] == pytest.approx(4 * EACH)
    out = run("judge", pairs, *judges, "--limit", 2)[1]
    assert "cost $0.03, without free: no prices in the card" in " ".join(out.split())


def test_a_plan_of_a_folder_with_other_settings_is_refused(run, card, pairs) -> None:
    run("judge", pairs, "--judge", card, "--limit", 2, "--out", "r")
    code, _, err = run("judge", pairs, "--judge", card, "--orders", "one", "--out", "r", "--plan")
    assert code == 2
    assert "orders: was 'both', is now 'one'" in err


def test_a_judge_of_this_machine_is_timed_by_a_few_answers_that_are_kept(
    run, tmp_path, pairs, monkeypatch
) -> None:
    from autoj.backends import scripted

    from ..scripted import Recorder

    engines: list[Recorder] = []

    def load(card, **options):
        engines.append(Recorder(card=card))
        return engines[-1]

    monkeypatch.setattr(scripted, "load", load)
    arguments = ("judge", pairs, "--judge", "scripted:x", "--limit", 20, "--protocol", "pairwise")
    planned = plan_of(run, *arguments)
    assert len(engines[-1].asked) == 8
    assert (planned["n_answered"], planned["n_left"]) == (8, 32)
    assert planned["seconds"] > 0
    assert "8 requests, whose answers are kept in runs/" in planned["timed_by"]
    # A second plan asks nothing, and knows the time of the first.
    again = plan_of(run, *arguments)
    assert engines[-1].asked == []
    assert (again["n_answered"], again["n_left"]) == (8, 32)
    assert again["seconds"] == pytest.approx(planned["seconds"])
    assert again["timed_by"] == "the speed of this run so far"
    assert run(*arguments)[0] == 0
    assert len(engines[-1].asked) == 32
    out = run(*arguments, "--plan")[1]
    assert "0 to send of 40; 40 answered in this run" in " ".join(out.split())


def test_a_plan_of_a_stored_run_writes_nothing_into_its_local_copy(
    run, tmp_path, pairs, monkeypatch
) -> None:
    pytest.importorskip("fsspec", reason="the extra `stores` is not installed")
    from autoj.backends import scripted

    from ..scripted import Recorder

    monkeypatch.setattr(scripted, "load", lambda card, **options: Recorder(card=card))
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "disk"))
    address = f"file://{tmp_path}/bucket/whole"
    judging = ("judge", pairs, "--judge", "scripted:x", "--protocol", "pairwise", "--out", address)

    def copied() -> set[str]:
        copies = (tmp_path / "disk" / "stores").glob("*-read/whole/*")
        return {path.name for path in copies}

    planned = plan_of(run, *judging, "--limit", 20)
    assert (planned["n_left"], planned["timed_by"]) == (32, "8 requests")
    assert copied() == set()
    code, _, err = run("merge", address, "--out", "merged")
    assert code == 2
    assert "there is no run" in err
    assert run(*judging, "--limit", 4)[0] == 0
    assert plan_of(run, *judging, "--limit", 20)["n_answered"] >= 8
    assert run("merge", address, "--out", "merged")[0] == 0
    assert len((tmp_path / "merged" / "ledger.jsonl").read_bytes().splitlines()) == 8


def test_matches_that_time_a_judge_of_this_machine_are_kept_too(run, tmp_path, monkeypatch) -> None:
    from autoj.backends import scripted

    from ..scripted import Recorder

    engines: list[Recorder] = []

    def load(card, **options):
        engines.append(
            Recorder(card=card, answer=lambda _: "So, the final decision is Response 1.")
        )
        return engines[-1]

    monkeypatch.setattr(scripted, "load", load)
    many = tmp_path / "many.jsonl"
    rows = [{"query": f"Why {i}?", "responses": [f"{i}", "b", "c", "d"]} for i in range(6)]
    write_records(many, rows)
    judge = ("--judge", "scripted:x", "--by", "pairs", "--protocol", "pairwise")
    planned = plan_of(run, "select", many, *judge)
    assert len(engines[-1].asked) == 8
    assert (planned["n_answered"], planned["n_left"]) == (8, 36 - 8)
    assert "8 requests, whose answers are kept in runs/" in planned["timed_by"]
    again = plan_of(run, "select", many, *judge)
    assert engines[-1].asked == []
    assert again["timed_by"] == "the speed of this run so far"
    assert run("select", many, *judge)[0] == 0
    # All of them are of the first round, so that none was asked in vain or is asked twice.
    assert len(engines[-1].asked) == 36 - 8
    assert len({request.key for engine in engines for request in engine.asked}) == 36


@pytest.mark.parametrize("judges", ["{card}", "{card},{card2}"])
def test_a_place_that_the_run_would_refuse_is_refused(judges, card, pairs, tmp_path, run):
    second = tmp_path / "second.yaml"
    second.write_text(card.read_text().replace("model: mock", "model: other"))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("Dear")
    asked = judges.format(card=card, card2=second)
    code, _, err = run("judge", pairs, "--judge", asked, "--plan", "--out", mine)
    assert code == 2
    assert "holds other things: 'letter.txt'" in err
