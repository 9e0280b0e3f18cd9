"""The endpoints `/v1/compare`, `/v1/rate`, `/v1/select` and `/v1/classify`."""

# No postponed annotations: FastAPI reads those of endpoints, whose types are imported when needed.
import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson

from autoj.scenarios import shipped_library
from autoj.scenarios.classifier import load_classifier
from autoj.serve.bodies import (
    ClassifyRequest,
    CompareRequest,
    RateRequest,
    ScenarioRequest,
    SelectRequest,
)
from autoj.serve.problems import Problem, problem_of
from autoj.serve.service import Service, record_of
from autoj.serve.settings import GRACE_SECONDS

CLIENT_HEADER = "x-autoj-client"
_VERDICT = {
    "case_id": "case",
    "winner": "a",
    "consistent": True,
    "rule": "agreed",
    "probabilities": [0.91, 0.06, 0.03],
    "ratings": [],
    "selected": None,
    "critiques": [],
    "judge": "embedded",
    "n_unreadable": 0,
    "n_failed": 0,
    "state": "judged",
}
_ROWS: dict[str, dict[str, Any]] = {
    "compare": _VERDICT,
    "rate": {**_VERDICT, "winner": None, "probabilities": None, "ratings": [7.0]},
    "select": {**_VERDICT, "winner": None, "ratings": [3.0, 8.0], "selected": 1},
    "scenario": {
        "scenario": "writing_song_lyrics",
        "group": "Creative Writing",
        "probability": 0.93,
        "description": "Song lyrics.",
        "criteria": [{"name": "structure", "content": "The lyrics have verses and a chorus."}],
    },
    "classify": {"id": "case", "scenario": "writing_song_lyrics", "state": "named"},
}


def client_of(request: Any) -> str:
    """The name by which a client takes its turn: its header's, else its address."""
    named: str | None = request.headers.get(CLIENT_HEADER)
    if named is not None:
        return named[:100]
    return str(request.client.host) if request.client is not None else "?"


def add_judging(app: Any, service: Service) -> None:
    """Adds the endpoints to an application."""
    from fastapi import Request, Response
    from sse_starlette import EventSourceResponse

    async def ask(request: Request, body: Any, task: str) -> Response:
        engine = service.engine(body.judge)
        given = body.given(service.settings.most_rows)
        cases = [one.case() for one in given]
        question = service.question(task, engine, body.settings())
        found = await service.ask(
            client_of(request),
            engine,
            question,
            cases,
            deadline_seconds=body.deadline_seconds,
        )
        rows = [record_of(answer) for answer in found]
        shown = rows[0] if body.cases is None else {"judge": engine.name, "rows": rows}
        return Response(orjson.dumps(shown), media_type="application/json")

    async def streamed(request: Request, body: Any, task: str) -> Response:
        engine = service.engine(body.judge)
        given = body.given(1)
        question = service.question(task, engine, body.settings())
        parts: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def on_part(number: int, shown: tuple[int, ...], text: str) -> None:
            part = {"answer": number, "shown": shown, "text": text}
            loop.call_soon_threadsafe(parts.put_nowait, part)

        asked = asyncio.ensure_future(
            service.ask(
                client_of(request),
                engine,
                question,
                [given[0].case()],
                deadline_seconds=body.deadline_seconds,
                on_part=on_part,
            )
        )
        # What is refused at once is refused as any other request is.
        await asyncio.sleep(0)
        if asked.done():
            asked.result()
        asked.add_done_callback(lambda _: parts.put_nowait(None))
        return EventSourceResponse(_events(parts, asked), shutdown_grace_period=GRACE_SECONDS)

    @app.post("/v1/compare", responses=_answers("compare"), tags=["judge"])
    async def compare(request: Request, body: CompareRequest) -> Response:
        """Compare two responses, in both orders or by separate ratings."""
        how = streamed if body.stream else ask
        return await how(request, body, "judge")

    @app.post("/v1/rate", responses=_answers("rate"), tags=["judge"])
    async def rate(request: Request, body: RateRequest) -> Response:
        """Rate one response from 1 to 10."""
        how = streamed if body.stream else ask
        return await how(request, body, "rate")

    @app.post("/v1/select", responses=_answers("select"), tags=["judge"])
    async def select(request: Request, body: SelectRequest) -> Response:
        """Select the best of N responses."""
        n_responses = sum(len(one.responses) for one in body.given(service.settings.most_rows))
        if n_responses > service.settings.most_rows:
            raise Problem(
                status=422,
                field="responses",
                detail=f"responses: {n_responses:,}, and a request may have "
                f"{service.settings.most_rows:,}",
            )
        return await ask(request, body, body.by)

    @app.post("/v1/scenario", responses=_answers("scenario", of_several=False), tags=["judge"])
    async def scenario(body: ScenarioRequest) -> Response:
        """Name the scenario of a query by the classifier `fast`, with the scenario's criteria."""
        (guess,) = await asyncio.to_thread(lambda: load_classifier().classify([body.query]))
        found = shipped_library().find(guess.scenario)
        criteria = [{"name": its.name, "content": its.content} for its in found.criteria]
        shown = {
            "scenario": found.name, "group": found.group, "probability": guess.probability,
            "description": found.description, "criteria": criteria,
        }  # fmt: skip
        return Response(orjson.dumps(shown), media_type="application/json")

    @app.post("/v1/classify", responses=_answers("classify"), tags=["judge"])
    async def classify(request: Request, body: ClassifyRequest) -> Response:
        """Name the scenario of a query."""
        return await ask(request, body, "classify")


def _answers(name: str, *, of_several: bool = True) -> dict[int | str, dict[str, Any]]:
    examples = {"one": {"summary": "one case", "value": _ROWS[name]}}
    if of_several:
        rows = {"judge": "embedded", "rows": [_ROWS[name]]}
        examples["many"] = {"summary": "`cases`", "value": rows}
    content = {"application/json": {"examples": examples}}
    return {200: {"description": "The row of each case, as in the run's file.", "content": content}}


async def _events(
    parts: asyncio.Queue[dict[str, Any] | None], asked: asyncio.Future[list[Any]]
) -> AsyncIterator[dict[str, str]]:
    """Events `text` with parts of the judge's text, then `verdict`, or `problem`."""
    try:
        while (part := await parts.get()) is not None:
            yield {"event": "text", "data": _json(part)}
        yield {"event": "verdict", "data": _json(record_of(asked.result()[0]))}
    except Exception as error:
        # The answer has begun: what goes wrong now can only be told inside it.
        yield {"event": "problem", "data": problem_of(error).body.decode()}
    finally:
        asked.cancel()


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
