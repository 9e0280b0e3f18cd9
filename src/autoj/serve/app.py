"""The application: its page, endpoints about the service, problems and the gate before them."""

# No postponed annotations: FastAPI reads those of endpoints, whose types are imported when needed.
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

# No postponed annotations: FastAPI reads those of endpoints, whose types are imported when needed.
from importlib.resources import files

# No postponed annotations: FastAPI reads those of endpoints, whose types are imported when needed.
from typing import Any

from pydantic import ValidationError

from autoj.errors import AutojError, MissingExtra
from autoj.protocols import protocols_of
from autoj.reports.html import templates as report_templates
from autoj.serve import templates
from autoj.serve.contracts import add_contracts
from autoj.serve.engine import Engine
from autoj.serve.gate import App, Gate
from autoj.serve.judging import add_judging
from autoj.serve.problems import MEDIA_TYPE, TITLES, Problem, invalid_fields, problem_of
from autoj.serve.service import Service

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": title,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, title in TITLES.items()
    if status != 500
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {"Content-Security-Policy": _POLICY, "Referrer-Policy": "no-referrer"}
_FILES = {
    "/": ("text/html", [(templates, "page.html")]),
    "/page.js": ("text/javascript", [(templates, "page.js")]),
    # The report's own style comes first: both show the same things.
    "/page.css": ("text/css", [(report_templates, "report.css"), (templates, "page.css")]),
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


def add_page(app: Any) -> None:
    """Adds the page and its files to an application."""
    from fastapi import Response

    for path, (media_type, parts) in _FILES.items():
        content = b"".join(files(package).joinpath(name).read_bytes() for package, name in parts)
        app.add_api_route(
            path,
            _sender(Response, content, media_type),
            include_in_schema=False,
            name=path,
        )


def add_status(app: Any, service: Service) -> None:
    """Adds the endpoints to an application."""
    from fastapi import Response

    @app.get("/healthz", tags=["service"])
    async def healthz() -> dict[str, str]:
        """Tell that the process answers."""
        return {"status": "ok"}

    @app.get("/readyz", tags=["service"], responses={503: {"description": "Not all are ready."}})
    async def readyz(response: Response) -> dict[str, Any]:
        """Tell whether all judges are ready."""
        states = {name: engine.state for name, engine in service.engines.items()}
        ready = all(state == "ready" for state in states.values())
        response.status_code = 200 if ready else 503
        return {"status": "ready" if ready else "not ready", "judges": states}

    @app.get("/v1/judges", tags=["judge"])
    async def judges() -> dict[str, list[dict[str, Any]]]:
        """List the judges of this service."""
        return {"judges": [_described(engine) for engine in service.engines.values()]}

    @app.get("/metrics", tags=["service"], response_class=Response)
    async def metrics() -> Response:
        """Give figures in the format of Prometheus."""
        return Response(service.metrics.text(), media_type=service.metrics.content_type)


def _sender(response: Any, content: bytes, media_type: str) -> Any:
    async def send() -> Any:
        return response(content, media_type=media_type, headers=_HEADERS)

    # The type is not that of a model, by which FastAPI would check what is sent.
    send.__annotations__.clear()
    return send


def _described(engine: Engine) -> dict[str, Any]:
    card = engine.card
    return {
        "name": engine.name,
        "title": card.title,
        "backend": card.backend,
        "state": engine.state,
        "waiting": engine.n_waiting,
        "protocols": [
            {"name": protocol.name, "judges": protocol.subject} for protocol in protocols_of(card)
        ],
        "languages": list(card.languages),
        "licence": card.licence,
    }
