"""Published layouts of verdicts: converts a row of each to a verdict in the case's frame."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from autoj.datasets._preferences import decode, decode_rating, first_probability, strength_of
from autoj.datasets.base import FieldError, optional_text, query_of, require, require_text
from autoj.records import Verdict, Winner, normalise_query

Strength: TypeAlias = Literal[0, 1, 2]
"""0 is a tie, 1 a preference, 2 a strong one (`A>>B`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedVerdict:
    """A verdict that another judge gave, with the query and models it is about."""

    verdict: Verdict
    query: str | None
    """The query, where the file has it."""
    question_id: str | None
    """The query's id, where the file has one."""
    models: tuple[str | None, ...]
    """Names of the models that wrote the case's responses, a first; one for a rating; None if
    unknown."""
    turn: int | None = None
    """The turn of the conversation that was judged, counted from 1."""
    strengths: tuple[Strength | None, ...] = ()
    """Strength of each order's verdict, where the judge stated it."""
    subject: Literal["a", "b"] = "a"
    """The response whose win rate the tool reports; b where a is the baseline."""

    @property
    def cluster(self) -> str:
        """The unit of resampling: the normalised query, or its id."""
        return normalise_query(self.query) if self.query is not None else str(self.question_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictFormat:
    """A published layout of verdicts."""

    fields: str
    """The fields of its rows, for messages."""
    matches: Callable[[dict[str, Any]], bool]
    read: Callable[[dict[str, Any], int], PublishedVerdict]
    """Converts a row and its line; raises `FieldError`."""


# --- MT-Bench: lm-sys/FastChat, fastchat/llm_judge (gen_judgment.py, show_result.py)


def _mt_bench_pair(row: dict[str, Any], line: int) -> PublishedVerdict:
    # Its winners name models, whatever the order: g2 is the game with model_2 shown first.
    winners = tuple(_code("mt-bench", row, field) for field in ("g1_winner", "g2_winner"))
    models = tuple(require_text(row, field) for field in ("model_1", "model_2"))
    question, turn = _question(row), _turn(row)
    return PublishedVerdict(
        verdict=_both_orders(
            f"{question}/{'/'.join(models)}/{turn}", _judge(row), winners, conflict="tie"
        ),
        query=None,
        question_id=question,
        models=models,
        turn=turn,
    )


def _mt_bench_rating(row: dict[str, Any], line: int) -> PublishedVerdict:
    if "score" not in row:
        raise FieldError("score", "is missing; expected a rating from 1 to 10, or -1 (failed)")
    rating = decode_rating("mt-bench", row["score"])
    model, question, turn = require_text(row, "model"), _question(row), _turn(row)
    return PublishedVerdict(
        verdict=Verdict(
            case_id=f"{question}/{model}/{turn}",
            judge=_judge(row),
            rule="incomplete" if rating is None else None,
            ratings=(rating,),
            n_failed=int(rating is None),
        ),
        query=None,
        question_id=question,
        models=(model,),
        turn=turn,
    )


def _mt_bench_vote(row: dict[str, Any], line: int) -> PublishedVerdict:
    models = tuple(require_text(row, field) for field in ("model_a", "model_b"))
    winner = _code("mt-bench", row, "winner")
    verdict = _one_order(f"line-{line}", _judge(row), winner)
    # GPT-4's votes cover both orders; where these disagree, the release says only that.
    if row["winner"] == "tie (inconsistent)":
        verdict = replace(verdict, winners=(), consistent=False, rule="tie")
    return PublishedVerdict(
        verdict=verdict,
        query=_first_query(row),
        question_id=_question(row),
        models=models,
        turn=_turn(row),
    )


def _first_query(row: dict[str, Any]) -> str | None:
    messages = row.get("conversation_a")
    first = messages[0] if isinstance(messages, list) and messages else None
    text = first.get("content") if isinstance(first, dict) else None
    return text if isinstance(text, str) else None


# --- Arena-Hard: lmarena/arena-hard-auto (gen_judgment.py, show_result.py)


def _arena_hard(row: dict[str, Any], line: int) -> PublishedVerdict:
    games: list[Any] = require(row, "games", list, "a list of two games")
    if len(games) != 2:
        raise FieldError("games", f"expected two games, one in each order, found {len(games)}")
    shown: list[Winner | None] = []
    strengths: list[Strength | None] = []
    for index, game in enumerate(games):
        if not isinstance(game, dict | None):
            raise FieldError(f"games[{index}]", "expected an object")
        # An unfinished game is null, or has a null for its score.
        score = None if game is None else game.get("score")
        shown.append(decode("arena-hard", score, f"games[{index}].score"))
        strengths.append(strength_of(score))
    # Codes name page positions. The first game shows the baseline first, the second last.
    first, second = shown
    flipped: dict[Winner | None, Winner | None] = {"a": "b", "b": "a", "tie": "tie", None: None}
    model = require_text(row, "model")
    question = _question(row, "uid" if "uid" in row else "question_id")
    return PublishedVerdict(
        verdict=_both_orders(
            f"{question}/{model}", _judge(row), (first, flipped[second]), conflict=None
        ),
        query=None,
        question_id=question,
        models=(optional_text(row, "baseline"), model),
        strengths=tuple(strengths),
        subject="b",
    )


# --- AlpacaEval: tatsu-lab/alpaca_eval (results/*/*/annotations.json)


def _alpaca_eval(row: dict[str, Any], line: int) -> PublishedVerdict:
    if "preference" not in row:
        raise FieldError("preference", "is missing; expected a number from 1 to 2, or null")
    preference = row["preference"]
    first = first_probability(preference)
    verdict = _one_order(
        f"line-{line}",
        optional_text(row, "annotator") or "unnamed",
        decode("alpaca-eval", preference),
        None if first is None else (first, 1 - first, 0.0),
    )
    return PublishedVerdict(
        verdict=verdict,
        query=query_of(row, "\n\n"),
        question_id=None,
        models=(optional_text(row, "generator_1"), optional_text(row, "generator_2")),
        subject="b",
    )


# --- PandaLM: WeOpenML/PandaLM (data/*-testset-v1.json)

_PANDALM_JUDGES = {"pandalm_result": "pandalm-7b", "gpt_result": "gpt-3.5-turbo"}


def _pandalm(row: dict[str, Any], line: int) -> PublishedVerdict:
    field = next((name for name in _PANDALM_JUDGES if name in row), None)
    if field is None:
        raise FieldError("pandalm_result", "is missing; expected 1, 2 or 0 (tie)")
    number = _question(row, "idx")
    return PublishedVerdict(
        verdict=_one_order(
            f"pandalm-{number}", _PANDALM_JUDGES[field], decode("pandalm", row[field], field)
        ),
        query=None,
        question_id=number,
        models=(None, None),
    )


# --- Shared parts


def _both_orders(
    case_id: str,
    judge: str,
    winners: tuple[Winner | None, ...],
    *,
    conflict: Literal["tie"] | None,
) -> Verdict:
    """The verdict of two games; `conflict` is the tool's outcome for a disagreement."""
    n_failed = sum(winner is None for winner in winners)
    known = Verdict(case_id=case_id, judge=judge, winners=winners, n_failed=n_failed)
    if n_failed:
        return replace(known, rule="incomplete")
    if winners[0] == winners[1]:
        return replace(known, winner=winners[0], consistent=True, rule="agreed")
    return replace(known, winner=conflict, consistent=False, rule=conflict or "unresolved")


def _one_order(
    case_id: str,
    judge: str,
    winner: Winner | None,
    probabilities: tuple[float, float, float] | None = None,
) -> Verdict:
    return Verdict(
        case_id=case_id,
        judge=judge,
        winner=winner,
        winners=(winner,),
        rule="incomplete" if winner is None else "one order",
        probabilities=probabilities,
        n_failed=int(winner is None),
    )


def _code(convention: str, row: dict[str, Any], field: str) -> Winner | None:
    if field not in row:
        raise FieldError(field, "is missing; expected a winner")
    return decode(convention, row[field], field)


def _question(row: dict[str, Any], field: str = "question_id") -> str:
    return str(require(row, field, (int, str), "a number or a string"))


def _turn(row: dict[str, Any]) -> int:
    turn: int = require(row, "turn", int, "a number from 1")
    if turn < 1:
        raise FieldError("turn", f"expected a number from 1, found {turn}")
    return turn


def _judge(row: dict[str, Any]) -> str:
    """A judge's name; MT-Bench writes its model and its prompt, `["gpt-4", "pair-v2"]`."""
    judge = require(row, "judge", (str, list), "a name")
    if isinstance(judge, str):
        return judge
    if not judge or not all(isinstance(part, str) for part in judge):
        raise FieldError("judge", "expected a name, or the names of a model and a prompt")
    return " ".join(judge)


def _has(*fields: str) -> Callable[[dict[str, Any]], bool]:
    return lambda row: set(fields) <= row.keys()


VERDICT_FORMATS: Mapping[str, VerdictFormat] = {
    "mt-bench-judgments": VerdictFormat(
        fields='"model_1", "model_2" with "g1_winner", "g2_winner"',
        matches=_has("model_1", "model_2", "g1_winner"),
        read=_mt_bench_pair,
    ),
    "mt-bench-ratings": VerdictFormat(
        fields='"question_id", "model", "judge", "turn" with "score"',
        matches=_has("question_id", "model", "judge", "turn", "score"),
        read=_mt_bench_rating,
    ),
    "mt-bench-votes": VerdictFormat(
        fields='"model_a", "model_b" with "winner" and "turn"',
        matches=_has("model_a", "model_b", "winner", "turn"),
        read=_mt_bench_vote,
    ),
    "arena-hard-judgments": VerdictFormat(
        fields='"model" with "games"', matches=_has("model", "games"), read=_arena_hard
    ),
    "alpaca-eval-annotations": VerdictFormat(
        fields='"instruction", "output_1", "output_2" with "preference"',
        matches=_has("instruction", "output_1", "output_2", "preference"),
        read=_alpaca_eval,
    ),
    "pandalm-results": VerdictFormat(
        fields='"idx" with "pandalm_result" or "gpt_result"',
        matches=lambda row: "idx" in row and any(name in row for name in _PANDALM_JUDGES),
        read=_pandalm,
    ),
}
"""The published layouts of verdicts, by name; no row fits two of them."""
