"""MT-Bench's `model_judgment` files: a line per pair with two games, or per rating.

Winners name models, so the second game's is not swapped: `g2` is the game with `model_2` shown
first. Failed and unreadable judgments are left out: MT-Bench's own code for it is "error" or -1.
`tstamp` is the time of the run's last answer; the run keeps no time per answer.

Where a judge's ratings were scored and not written, the score is the mean of their distribution,
and `judgment` states that number in place of the likeliest one: whoever parses it again finds the
score. It is the critique that was written for the rating, where there is one. Of several samples,
`judgment` is the first, and the score their mean.

**Source**: lm-sys/FastChat, fastchat/llm_judge/common.py (`play_a_match_pair`,
`play_a_match_single`, `load_pairwise_model_judgments`) and show_result.py.
"""

from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from autoj.datasets._preferences import encode
from autoj.errors import ConfigError
from autoj.jsonl import write_records
from autoj.records import Asked, Case, Completion, Verdict
from autoj.reports.exports.base import JudgedRun, name_of
from autoj.runs import RunSpec
from autoj.runs.ledger import LedgerReader


class _Game(NamedTuple):
    """The prompt and the completion of a judgment."""

    prompt: str | None
    """None if a response was cut to fit: the run does not keep the cut text."""
    written: str | None
    scored: bool = False
    """True where choices were scored, so that the text is not the judge's own."""

    def stating(self, rating: float | None, critique: str | None = None) -> str | None:
        """The text, with the rating that is its score."""
        if not self.scored or self.written is None or rating is None:
            return self.written
        text = critique if critique is not None and "[[" in critique else self.written
        before, _, last = text.rpartition("[[")
        return f"{before}[[{rating:.2f}]]{last.partition(']]')[2]}"


_NO_GAME = _Game(prompt=None, written=None)


def write(run: JudgedRun, path: Path) -> None:
    """A line per pair with both games, or per rated response.

    Raises:
        ConfigError: the run asked only one order, or has scores without a fixed scale.
    """
    if run.spec.task != "rate":
        run.need_pairs("MT-Bench")
    saves = run.spec.orders != "both" or run.spec.second_order is not None
    if run.spec.has_orders and saves:
        raise ConfigError(
            f"{run.folder.path} asked some or all pairs in one order, but MT-Bench's layout needs "
            "both"
        )
    if run.spec.protocol == "scalar":
        raise ConfigError(
            f"{run.folder.path} holds a reward model's scores, which have no fixed scale; "
            "MT-Bench's ratings run from 1 to 10"
        )
    write_records(path, _pairs(run) if run.spec.paired else _ratings(run))


def _pairs(run: JudgedRun) -> Iterator[dict[str, Any]]:
    has_orders = run.spec.has_orders
    pages = ((0, 1), (1, 0)) if has_orders else ((0,), (1,))
    for case, verdict, games in _with_games(run):
        # If each response was rated alone, both games have the verdict's winner, as MT-Bench
        # does it for pairs of ratings.
        winners = verdict.winners if has_orders else (verdict.winner, verdict.winner)
        if None in winners:
            run.notes["pairs have a judgment that failed or is unreadable: left out"] += 1
            continue
        first, second = (games.get(page, _NO_GAME) for page in pages)
        scores = dict(zip(("m1_score", "m2_score"), verdict.ratings, strict=False))
        rated = iter(verdict.ratings or (None, None))
        run.n_rows += 1
        yield {
            "question_id": _question(case),
            "model_1": name_of(case, 0),
            "model_2": name_of(case, 1),
            "g1_winner": encode("mt-bench", winners[0]),
            "g2_winner": encode("mt-bench", winners[1]),
            "judge": [verdict.judge, run.spec.protocol],
            "g1_user_prompt": first.prompt,
            "g1_judgment": first.stating(next(rated)),
            "g2_user_prompt": second.prompt,
            "g2_judgment": second.stating(next(rated)),
            **scores,
            "turn": case.meta.get("turn", 1),
            "tstamp": _stamp(run),
        }


def _ratings(run: JudgedRun) -> Iterator[dict[str, Any]]:
    for case, verdict, games in _with_games(run):
        critiques = verdict.critiques or (None,) * len(verdict.ratings)
        for index, (rating, critique) in enumerate(zip(verdict.ratings, critiques, strict=True)):
            if rating is None:
                run.notes["ratings failed or are unreadable: left out"] += 1
                continue
            game = games.get((index,), _NO_GAME)
            run.n_rows += 1
            yield {
                "question_id": _question(case),
                "model": name_of(case, index),
                "judge": [verdict.judge, run.spec.protocol],
                "user_prompt": game.prompt,
                "judgment": game.stating(rating, critique),
                "score": rating,
                "turn": case.meta.get("turn", 1),
                "tstamp": _stamp(run),
            }


def _question(case: Case) -> int | str:
    number = case.meta.get("question_id")
    return number if isinstance(number, int | str) else case.id


def _stamp(run: JudgedRun) -> float:
    ledger = run.folder.path / "ledger.jsonl"
    return ledger.stat().st_mtime


def _with_games(
    run: JudgedRun,
) -> Iterator[tuple[Case, Verdict, dict[tuple[int, ...], _Game]]]:
    """Each case with its verdict and its games by order; of several samples, the first."""
    asked = groupby(run.folder.plan(), key=lambda row: row.case_id)
    with closing(LedgerReader(run.folder.path)) as reader:
        for case, verdict in run.verdicts():
            # The plan has every case that has a verdict, in the same order.
            rows = next(rows for case_id, rows in asked if case_id == case.id)
            games: dict[tuple[int, ...], _Game] = {}
            for row in rows:
                completion = reader.find(row.key)
                if isinstance(completion, Completion):
                    games.setdefault(row.shown, _game(case, row, completion, run.spec))
            yield case, verdict, games


def _game(case: Case, asked: Asked, completion: Completion, spec: RunSpec) -> _Game:
    body = spec.chosen_protocol().build(case, asked.shown)
    prompt = "\n\n".join(message.content for message in body.messages)
    return _Game(
        prompt=None if asked.truncated else prompt,
        written=(body.prefix or "") + completion.text,
        scored=asked.scored,
    )
