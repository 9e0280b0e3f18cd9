"""The application: endpoints, problems and the gate before them."""

# No postponed annotations: FastAPI reads those of endpoints, whose types are imported when needed.
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from pydantic import ValidationError

from autoj.errors import AutojError, MissingExtra
from autoj.serve.contracts import add_contracts
from autoj.serve.gate import App, Gate
from autoj.serve.judging import add_judging
from autoj.serve.page import add_page
from autoj.serve.problems import MEDIA_TYPE, TITLES, Problem, invalid_fields, problem_of
from autoj.serve.service import Service
from autoj.serve.status import add_status

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": title,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, title in TITLES.items()
    if status != 500
}


def make_app(service: Service) -> App:
    """The ASGI application of a service; its lifespan starts and closes the judges.

    Args:
        service: the judges and their limits.

    Raises:
        MissingExtra: the packages of the extra `serve` are not installed.
    """
    try:
        from fastapi import FastAPI, Request, Response
        from fastapi.exceptions import RequestValidationError
        from starlette.exceptions import HTTPException
    except ImportError:
        raise MissingExtra("serve", "autoj serve") from None

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        service.start()
        yield
        await asyncio.to_thread(service.close)

    app = FastAPI(
        title="autoj",
        version=version("autoj"),
        summary="Generative judges of language models, over HTTP.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses=_PROBLEMS,
    )

    def answer(problem: Problem) -> Response:
        return Response(problem.body, problem.status, dict(problem.headers), media_type=MEDIA_TYPE)

    async def invalid(request: Request, error: Any) -> Response:
        return answer(invalid_fields(error.errors()))

    async def foreign(request: Request, error: Any) -> Response:
        return answer(
            Problem(status=error.status_code, detail=str(error.detail), headers=error.headers or {})
        )

    async def told(request: Request, error: Exception) -> Response:
        return answer(problem_of(error))

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(ValidationError, invalid)
    app.add_exception_handler(HTTPException, foreign)
    for kind in (Problem, AutojError, TimeoutError, Exception):
        app.add_exception_handler(kind, told)
    add_judging(app, service)
    add_contracts(app, service)
    add_status(app, service)
    add_page(app)
    return Gate(app, service.settings, service.metrics.on_request)
