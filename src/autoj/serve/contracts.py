"""Endpoints with the contracts of trainers and routers.

A response is rated by the judge, from 1 to 10, and the rating is the reward; `?by=` asks for
another kind. A judgment that failed or cannot be read is an error of HTTP, or what the contract has
for it; it is never a number.
"""

# No postponed annotations: FastAPI reads those of endpoints, whose types are imported when needed.
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from autoj.records import Case, Completion, Decoding, Failure, Message, normalise_query
from autoj.records import Response as Judged
from autoj.rewards.scoring import RewardBy, Scored, check_by, reward_of, settings_for
from autoj.serve.contract_bodies import (
    ChatCase,
    ChatMessage,
    ChatPart,
    ChatRequest,
    GymItem,
    OpenRlhfRequest,
    PoolingRequest,
    RerankRequest,
    ScoreRequest,
    SlimeRequest,
    VerifyRequest,
    chat_completion,
    pooled,
)
from autoj.serve.dialogue import cut_response
from autoj.serve.engine import Engine
from autoj.serve.judging import client_of
from autoj.serve.problems import Problem
from autoj.serve.questions import Judging, Writing
from autoj.serve.service import Service, is_known, unscored

JUDGE_FAILED = "judge_failed"
"""NeMo Gym's class of a row whose judge failed; such a row is asked again when a run resumes."""


def add_contracts(app: Any, service: Service) -> None:
    """Adds the endpoints to an application."""
    from fastapi import Request, Response

    def as_json(value: Any) -> Response:
        return Response(orjson.dumps(value), media_type="application/json")

    async def scored(
        request: Request,
        pairs: Sequence[tuple[str, str]],
        model: str | None = None,
        labels: Sequence[Any] | None = None,
    ) -> list[Scored]:
        """The rewards of some responses, each with its query, by the kind that the address asks."""
        most = service.settings.most_rows
        if len(pairs) > most:
            raise Problem(
                status=422, detail=f"{len(pairs):,} rows, and a request may have {most:,}"
            )
        asked = request.query_params
        engine = service.engine(asked.get("judge") or model)
        by = _kind(asked.get("by", "rating"), engine)
        compares = by == "reference"
        stated = {"protocol": asked["protocol"]} if "protocol" in asked else {}
        settings = settings_for(by, {"critique": False, **stated})
        question = service.question("judge" if compares else "rate", engine, settings)
        shows_label = isinstance(question, Judging) and question.spec.needs_reference
        given: Sequence[Any] = labels if labels is not None else [None] * len(pairs)
        cases = [
            _case(
                query,
                [text, _compared(label)] if compares else [text],
                reference=str(label) if shows_label and label is not None else None,
            )
            for (query, text), label in zip(pairs, given, strict=True)
        ]
        verdicts = await service.ask(client_of(request), engine, question, cases)
        return [
            Scored(reward=reward_of(engine.card, case, verdict, by), verdict=verdict)
            for case, verdict in zip(cases, verdicts, strict=True)
        ]

    @app.post("/reward/openrlhf", tags=["rewards"])
    async def openrlhf(request: Request, body: OpenRlhfRequest) -> Response:
        """Reward responses for OpenRLHF."""
        n_texts = len(body.query)
        prompts = body.prompts or [None] * n_texts
        labels = body.labels or [None] * n_texts
        for name, values in (("prompts", prompts), ("labels", labels)):
            if len(values) != n_texts:
                raise Problem(
                    status=422, field=name, detail=f"{name}: {len(values)}, for {n_texts} texts"
                )
        pairs = [
            cut_response(text, prompt, f"query.{number}")
            for number, (text, prompt) in enumerate(zip(body.query, prompts, strict=True))
        ]
        found = numbers_of(await scored(request, pairs, labels=labels))
        return as_json({"rewards": found, "scores": found, "extra_logs": {"rating": found}})

    @app.post("/reward/slime", tags=["rewards"])
    async def slime(request: Request, body: SlimeRequest) -> Response:
        """Reward a response for slime: a bare number."""
        query = body.prompt if isinstance(body.prompt, str) else _last_user(body.prompt)
        pair = (query, body.response)
        (reward,) = numbers_of(await scored(request, [pair], labels=[body.label]))
        return as_json(reward)

    @app.post("/verify", tags=["rewards"])
    async def verify(request: Request, body: VerifyRequest) -> Response:
        """Verify a response for NeMo Gym."""
        sent = orjson.loads(await request.body())
        # What an earlier judgment left in the row is not this one's.
        for own in ("reward", "_ng_failure_class", "_ng_failure_reason"):
            sent.pop(own, None)
        given = body.responses_create_params.input
        query = given if isinstance(given, str) else _last_text(given, "user")
        text = _last_text(body.response.output, "assistant")
        (found,) = await scored(request, [(query, text)])
        if found.reward is None:
            failed = {"_ng_failure_class": JUDGE_FAILED, "_ng_failure_reason": found.lacking}
            return as_json({**sent, **failed})
        return as_json({**sent, "reward": found.reward})

    @app.post("/score", tags=["rewards"])
    async def score(request: Request, body: ScoreRequest) -> Response:
        """Score documents for a query, as vLLM does."""
        pairs = body.pairs()
        found = await scored(request, pairs, body.model)
        data = [
            {"index": number, "object": "score", "score": reward}
            for number, reward in enumerate(numbers_of(found))
        ]
        return as_json(pooled("score", found[0].verdict.judge, data))

    @app.post("/rerank", tags=["rewards"])
    async def rerank(request: Request, body: RerankRequest) -> Response:
        """Rank documents for a query, as vLLM does."""
        pairs = [(body.query, text) for text in body.documents]
        found = await scored(request, pairs, body.model)
        results: list[dict[str, Any]] = [
            {"index": number, "document": {"text": text}, "relevance_score": reward}
            for number, (text, reward) in enumerate(
                zip(body.documents, numbers_of(found), strict=True)
            )
        ]
        results.sort(key=lambda its: its["relevance_score"], reverse=True)
        return as_json(
            {
                "id": f"rerank-{uuid.uuid4().hex}",
                "model": found[0].verdict.judge,
                "results": results[: body.top_n or None],
            }
        )

    @app.post("/classify", tags=["rewards"])
    async def classify(request: Request, body: PoolingRequest) -> Response:
        """Reward responses for verl's client of vLLM."""
        texts = [body.input] if isinstance(body.input, str) else body.input
        pairs = [cut_response(text, None, f"input.{n}") for n, text in enumerate(texts)]
        found = await scored(request, pairs, body.model)
        data = [
            {"index": number, "label": "rating", "probs": [reward], "num_classes": 1}
            for number, reward in enumerate(numbers_of(found))
        ]
        return as_json(pooled("classify", found[0].verdict.judge, data))

    @app.post("/v1/chat/completions", tags=["judge"])
    async def chat(request: Request, body: ChatRequest) -> Response:
        """Judge the case in `autoj`, or send the messages to the judge's model."""
        engine = service.engine(body.model)
        if body.autoj is not None:
            written = await judged(request, engine, body.autoj, body.deadline_seconds)
            return as_json(chat_completion(engine.name, written, "stop", (0, 0)))
        question = Writing(_decoding(body, engine))
        messages = tuple(
            Message(role=message.role, content=_text(message.content)) for message in body.messages
        )
        if messages[-1].role != "user":
            raise Problem(
                status=422, field="messages", detail="messages: the last one must be the user's"
            )
        (answer,) = await service.ask(
            client_of(request),
            engine,
            question,
            [messages],
            deadline_seconds=body.deadline_seconds,
        )
        match answer:
            case Failure(error="TooLong", message=message):
                raise Problem(status=422, field="messages", detail=message)
            case Failure(message=message):
                raise Problem(status=502, detail=message)
            case Completion():
                counts = (answer.prompt_tokens, answer.completion_tokens)
                return as_json(chat_completion(engine.name, answer.text, answer.finish, counts))
        raise AssertionError("an engine answers by a completion or a failure")

    async def judged(
        request: Request, engine: Engine, case: ChatCase, deadline: float | None
    ) -> str:
        pair = [text for text in (case.a, case.b) if text is not None]
        texts = pair or [text for text in (case.response,) if text is not None]
        if len(pair) == 1 or not texts or (pair and case.response is not None):
            raise Problem(
                status=422, field="autoj", detail="autoj: give `a` and `b`, or `response`"
            )
        settings = {} if case.protocol is None else {"protocol": case.protocol}
        question = service.question("judge" if pair else "rate", engine, settings)
        (verdict,) = await service.ask(
            client_of(request),
            engine,
            question,
            [_case(case.query, texts, reference=case.reference, scenario=case.scenario)],
            deadline_seconds=deadline,
        )
        if verdict.n_failed + verdict.n_unreadable and not is_known(verdict):
            raise Problem(status=502, detail=unscored(verdict))
        critiques = [critique for critique in verdict.critiques if critique is not None]
        decided = verdict.winner or "no winner" if pair else f"[[{verdict.ratings[0]:g}]]"
        last = f"Verdict: {decided}" if pair else f"Rating: {decided}"
        return "\n\n".join([*critiques[:1], last])


def numbers_of(scored: Sequence[Scored]) -> list[float]:
    """The reward of each response.

    Raises:
        Problem: one has none; a reward that is made up would be worse than none.
    """
    found: list[float] = []
    for number, its in enumerate(scored):
        if its.reward is None:
            raise Problem(status=502, detail=f"response {number}: {its.lacking}")
        found.append(its.reward)
    return found


def _kind(by: str, engine: Engine) -> RewardBy:
    if by == "group":
        raise Problem(
            status=422, field="by", detail="by: a request has no group; use reference or a rating"
        )
    return check_by(by, engine.card)


def _compared(label: Any) -> str:
    if not isinstance(label, str):
        raise Problem(status=422, field="label", detail="label: a text is needed for by=reference")
    return label


def _case(
    query: str, texts: Sequence[str], *, reference: str | None = None, scenario: str | None = None
) -> Case:
    if not query.strip():
        raise Problem(status=422, detail="the query is empty", field="query")
    return Case(
        id="case",
        query=query,
        responses=tuple(Judged(text=text) for text in texts),
        cluster=normalise_query(query),
        reference=reference,
        scenario=scenario,
    )


def _text(content: str | list[ChatPart]) -> str:
    return content if isinstance(content, str) else "".join(part.text for part in content)


def _last_user(messages: Sequence[ChatMessage]) -> str:
    said = [_text(message.content) for message in messages if message.role == "user"]
    if not said:
        raise Problem(status=422, field="prompt", detail="prompt: no message is the user's")
    return said[-1]


def _last_text(items: Sequence[GymItem], role: str) -> str:
    """The text of the last message of a role."""
    for item in reversed(items):
        if item.role == role and item.content is not None:
            parts = item.content
            return parts if isinstance(parts, str) else "".join(part.text for part in parts)
    raise Problem(status=422, detail=f"there is no message of the {role}")


def _decoding(body: ChatRequest, engine: Engine) -> Decoding:
    stated: dict[str, Any] = {
        "temperature": body.temperature,
        "top_p": body.top_p,
        "seed": body.seed,
        "max_tokens": body.max_completion_tokens or body.max_tokens,
    }
    known = {name: value for name, value in stated.items() if value is not None}
    return replace(engine.card.decoding, **known)
