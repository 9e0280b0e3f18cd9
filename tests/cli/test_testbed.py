"""`autoj testbed` as a user meets it, from pairs to a frozen set that `autoj bench` reads."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autoj.jsonl import read_records, write_records

from ..backends import openai_server
from ..backends.openai_server import MockServer
from ..construct.testbed.scripted_policies import pair_row

_CARD = """
title: Writes and judges by a script
backend: tests.frozen.script
model: {name}
wrapper: none
protocols: [pairwise, single, critique-comparison]
context_tokens: 100000
"""

Run = Callable[..., tuple[int, str, str]]
SIZE = ("--per-scenario", 4, "--critique-cases", 2, "--rating-cases", 1, "--samples", 4)
SCENARIOS = ("--scenario", "planning", "--scenario", "writing_email")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Pairs, queries, and cards of three models, in the folder of the commands."""
    pairs = [pair_row(number, "planning") for number in range(6)]
    pairs += [pair_row(number, "writing_email") for number in range(6, 8)]
    write_records(tmp_path / "pairs.jsonl", pairs)
    (tmp_path / "asked.txt").write_text(
        "Write an email to my landlord about the broken heating.\n"
        "Please write an email that invites the team to a picnic.\n"
        "Write a short email to cancel my gym membership.\n"
    )
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.yaml").write_text(_CARD.format(name=name))
    return tmp_path


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Types keys at the next command, one a line, without a terminal."""

    def typed(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(text.split()) + "\n"))

    return typed


BUILD = (
    "testbed", "build", "pairs.jsonl", "--out", "bed", *SCENARIOS, *SIZE, "--queries", "asked.txt",
    "--policy", "one.yaml", "--policy", "two.yaml", "--policy", "three.yaml",
    "--base-model", "one.yaml",
)  # fmt: skip


def test_a_testbed_is_built_annotated_by_two_frozen_and_read_by_bench(
    run: Run, files: Path, keys: Callable[[str], None]
) -> None:
    code, out, _ = run(*BUILD)
    assert code == 0, out
    assert "writing_email" in out
    assert "pairs that wait for annotators: 2" in out

    keys("1 x t")
    code, out, err = run("testbed", "annotate", "bed", "--annotator", "anna")
    assert code == 0
    assert out.count("Response 1") == out.count("Response 2") == 2
    assert "'x' is no key" in err
    assert "2 of 2 pairs are answered" in err
    keys("1")
    code, _, err = run("testbed", "annotate", "bed", "--annotator", "ben")
    assert code == 0
    assert "1 of 2 pairs are answered; the same command goes on" in err
    keys("2")
    assert run("testbed", "annotate", "bed", "--annotator", "ben")[0] == 0
    # Whatever was disputed, a third one decides.
    keys("b t t")
    run("testbed", "annotate", "bed", "--annotator", "cleo", "--undecided")
    code, out, _ = run("testbed", "show", "bed")
    assert "anna and ben" in out
    assert "kappa" in out

    code, out, err = run(
        "testbed", "freeze", "bed", "--out", "frozen", "--licence", "CC0", "--undecided", "tie"
    )
    assert code == 0, err
    assert "autoj bench eval-p --data frozen/eval_p.jsonl" in out
    shown = run("testbed", "show", "frozen")
    assert shown[0] == 0
    assert "eval_r.jsonl" in shown[1]

    code, out, err = run("bench", "eval-p", "--data", "frozen/eval_p.jsonl", "--judge", "two.yaml")
    assert code == 0, err
    assert "agreement" in out
    code, out, err = run(
        "bench", "eval-c", "--data", "frozen/eval_c.jsonl", "--critic", "one.yaml",
        "--against", "two.yaml", "--judge", "three.yaml",
    )  # fmt: skip
    assert code == 0, err
    code, out, err = run(
        "bench", "eval-r", "--data", "frozen/eval_r.jsonl", "--judge", "two.yaml",
        "--grader", "three.yaml", "--n", "2,4",
    )  # fmt: skip
    assert code == 0, err
    assert "best of 4" in out or "4" in out


def test_a_dry_run_shows_what_would_be_asked(run: Run, files: Path) -> None:
    code, out, _ = run(*BUILD, "--dry-run")
    assert code == 0
    assert "base model" in out
    assert not Path("bed").exists()
    code, out, _ = run(*BUILD, "--dry-run", "--json")
    assert code == 0
    found = json.loads(out)
    assert [row["n_queries"] for row in found["scenarios"]] == [0, 2]
    assert [model["n_requests"] for model in found["models"]] == [1, 1, 1, 8]


def test_too_few_pairs_are_said_with_their_number_and_end_with_1(run: Run, files: Path) -> None:
    arguments = ("testbed", "build", "pairs.jsonl", "--out", "bed", *SCENARIOS, *SIZE)
    code, out, _ = run(*arguments)
    assert code == 1
    assert "pairs that are short: 2 in 1 scenarios (writing_email 2)" in " ".join(out.split())
    code, out, _ = run(*arguments, "--json")
    assert code == 1
    assert [row["n_short"] for row in json.loads(out)["scenarios"]] == [0, 2]
    code, _, err = run("testbed", "freeze", "bed", "--out", "frozen")
    assert code == 2
    assert "pairs that are lacking: 2" in err


def test_a_cap_ends_with_1_and_a_way_on(run: Run, files: Path) -> None:
    code, _, err = run(*BUILD, "--max-requests", 3)
    assert code == 1
    assert "higher --max-requests" in err
    assert run(*BUILD)[0] == 0


def test_hostile_texts_do_not_reach_the_terminal(
    run: Run, files: Path, keys: Callable[[str], None]
) -> None:
    row = {**pair_row(0, "planning"), "label": None}
    row["responses"] = ["\x1b[2J[bold]gone[/bold]", "\u202egnp.exe"]
    write_records(files / "pairs.jsonl", [row])
    assert run("testbed", "build", "pairs.jsonl", "--out", "bed", "--per-scenario", 4)[0] == 1
    keys("q")
    code, out, _ = run("testbed", "annotate", "bed", "--annotator", "anna")
    assert code == 0
    assert "\x1b[2J" not in out
    assert "\u202e" not in out
    assert "[bold]gone" in out


def test_in_a_terminal_one_key_is_enough(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*BUILD)
    typed = iter("1Tb")

    def getchar() -> str:
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("autoj.cli.testbed_annotate.sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("autoj.cli.testbed_annotate.typer.getchar", getchar)
    code, out, err = run("testbed", "annotate", "bed", "--annotator", "anna")
    assert code == 0
    assert "2 of 2 pairs are answered" in err
    assert err.count("1 or 2: this response is better") == 2
    assert "answered before" not in out


def test_label_studio_out_and_in(run: Run, files: Path) -> None:
    run(*BUILD)
    code, _, err = run("testbed", "annotate", "bed", "--to-label-studio", "tasks.json")
    assert code == 0
    assert "2 tasks are in tasks.json, and tasks.xml" in err
    tasks = json.loads(Path("tasks.json").read_text())
    answers = {"from_name": "better", "to_name": "query", "type": "choices"}
    export = [
        {
            **task,
            "id": number,
            "annotations": [
                {
                    "completed_by": user,
                    "was_cancelled": False,
                    "result": [{**answers, "value": {"choices": ["Response 1"]}}],
                }
                for user in (4, 5)
            ],
        }
        for number, task in enumerate(tasks)
    ]
    Path("export.json").write_text(json.dumps(export))
    code, _, err = run("testbed", "annotate", "bed", "--from-label-studio", "export.json")
    assert code == 0
    assert "2 by label-studio-4, 2 by label-studio-5" in err
    code, out, _ = run("testbed", "show", "bed", "--json")
    assert code == 0
    assert {one["state"] for one in json.loads(out)["labels"]} == {"source", "agreed"}
    export[0]["data"]["case_id"] = "other"
    Path("export.json").write_text(json.dumps(export))
    code, _, err = run("testbed", "annotate", "bed", "--from-label-studio", "export.json")
    assert code == 2
    assert "export of another project" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("build", "pairs.jsonl", "--out", "bed", "--scenario", "plannin"),
            "Did you mean planning",
        ),
        (("build", "--out", "bed"), "name a file of pairs"),
        (("build", "missing.jsonl", "--out", "bed"), "missing.jsonl"),
        (("build", "pairs.jsonl", "--out", "bed", "--exclude", "no.jsonl"), "no.jsonl"),
        (("build", "pairs.jsonl", "--out", "bed", "--seeds"), "two of the policies"),
        (("annotate", "nowhere", "--annotator", "anna"), "is not a testbed"),
        (("annotate", "nowhere"), "give one of --annotator"),
        (("show", "."), "is not a testbed"),
        (("freeze", "."), "--out"),
    ],
)
def test_a_mistake_is_a_user_error(
    arguments: tuple[str, ...], said: str, run: Run, files: Path
) -> None:
    code, _, err = run("testbed", *arguments)
    assert code == 2
    assert said in err


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockServer]:
    """A server that that answers by model and question, and has faults."""
    pytest.importorskip("openai", reason="the extra `openai` is not installed")
    pytest.importorskip("aiohttp", reason="the extra `openai` is not installed")

    def decide(body: dict[str, Any], n_before: int) -> openai_server.Answer:
        question = body["messages"][0]["content"]
        if "picnic" in question and body["model"] == "m-two":
            return openai_server.completion("", finish="content_filter")
        if n_before == 0 and "gym" in question:
            return openai_server.FAULTS["503"]()
        words = [f"{body['model']} ", "says ", f"{body.get('seed')} ", question[:20]]
        if not body.get("logprobs"):
            return openai_server.completion("".join(words))
        return openai_server.scored([{word: -0.5} for word in words])

    with openai_server.serving(decide) as server:
        yield server


_SERVED = """
title: Behind a server
backend: openai
model: m-{name}
wrapper: none
protocols: [pairwise]
context_tokens: 8000
options:
  base_url: {url}
  first_wait_seconds: 0.01
  text_logprobs: {states}
"""


def test_policies_behind_a_server_with_faults(run: Run, files: Path, served: MockServer) -> None:
    for name in ("one", "two", "three"):
        states = str(name == "one").lower()
        card = _SERVED.format(name=name, url=served.base_url, states=states)
        (files / f"{name}.yaml").write_text(card)
    code, _, err = run(*BUILD)
    assert code == 0, err
    pairs = list(read_records(Path("bed/pairs.jsonl"), dict))
    made = [pair["case"] for pair in pairs if pair["origin"] == "made"]
    assert len(made) == 2
    assert all("says" in response["text"] for case in made for response in case["responses"])
    candidates = list(read_records(Path("bed/candidates.jsonl"), dict))
    assert len(candidates) == 2
    for case in candidates:
        assert [one["logprob"] for one in case["responses"]] == [-2.0] * 4
        # Each sample has a seed of its own.
        assert len({one["text"] for one in case["responses"]}) == 4
    temperatures = {body["temperature"] for body in served.bodies if body["model"] == "m-one"}
    assert 1.0 in temperatures
    n_before = len(served.bodies)
    assert run(*BUILD)[0] == 0
    assert len(served.bodies) == n_before
