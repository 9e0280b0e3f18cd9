"""The server's answers: the page, its state, pages of the list, single cases, and events.

No request names a file: cases are named by their row. A request that a browser sends for another
site's page names another host or says that it comes from elsewhere; both are refused.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any

import orjson

from autoj.errors import AutojError, MissingExtra
from autoj.reports.html.page import CASE_PARTS, CASE_SCRIPTS, PANES_SCRIPT, page_asset, page_policy
from autoj.reports.text import page_text
from autoj.serve.view.reported import ReportedRuns
from autoj.serve.view.runs import ViewedRuns
from autoj.serve.view.selection import CaseFilter

HOSTS = ("127.0.0.1", "localhost")
"""The names under which the server answers."""
_EVENT_SECONDS = 0.5
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
_FIELDS = tuple(field.name for field in fields(CaseFilter))
_MOST_DIGITS = 7
_TEMPLATES = "autoj.serve.view.templates"


def make_report_app(reported: ReportedRuns) -> Any:
    """The ASGI application over a page that is made whole.

    Args:
        reported: its runs.

    Raises:
        MissingExtra: the extra `serve` is not installed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.responses import Response
        from starlette.routing import Route
    except ImportError:
        raise MissingExtra("serve", "autoj view") from None

    def index(request: Any) -> Any:
        # The page states its own policy, which cannot say who may frame it.
        headers = {"Content-Security-Policy": "frame-ancestors 'none'"}
        return Response(reported.html(), media_type="text/html", headers=headers)

    async def failed(request: Any, error: Exception) -> Any:
        return Response(page_text(str(error)).text, status_code=500, media_type="text/plain")

    app = Starlette(routes=[Route("/", index)], exception_handlers={AutojError: failed})
    return _Guard(app, Response)


def make_app(viewed: ViewedRuns, stopping: Callable[[], bool] = lambda: False) -> Any:
    """The ASGI application over some runs.

    Args:
        viewed: the runs, which another thread may be indexing.
        stopping: returns True where the server is ending; the event streams then end, too.

    Raises:
        MissingExtra: the extra `serve` is not installed.
    """
    try:
        from sse_starlette import EventSourceResponse
        from starlette.applications import Starlette
        from starlette.responses import Response
        from starlette.routing import Route
    except ImportError:
        raise MissingExtra("serve", "autoj view") from None
    page = view_page()

    def as_json(value: Any, status: int = 200) -> Any:
        return Response(orjson.dumps(value), status_code=status, media_type="application/json")

    def index(request: Any) -> Any:
        headers = {"Content-Security-Policy": page.policy}
        return Response(page.html, media_type="text/html", headers=headers)

    def state(request: Any) -> Any:
        return as_json(viewed.state())

    def cases(request: Any) -> Any:
        given = request.query_params
        wanted = CaseFilter(**{name: given.get(name, "") for name in _FIELDS})
        number = given.get("page", "0")
        if (field := wanted.refusal()) is not None:
            return as_json({"error": f"{field} has no such value"}, 422)
        if not (number.isascii() and number.isdigit() and len(number) < _MOST_DIGITS):
            return as_json({"error": "page is a number from 0"}, 422)
        return as_json(viewed.page(wanted, int(number)))

    def case(request: Any) -> Any:
        found = viewed.case(request.path_params["row"])
        if found is None:
            return as_json({"error": "there is no such case"}, 404)
        return as_json(found)

    async def events(request: Any) -> Any:
        return EventSourceResponse(versions(viewed, stopping))

    async def failed(request: Any, error: Exception) -> Any:
        return as_json({"error": page_text(str(error)).text}, 500)

    routes = [
        Route("/", index),
        Route("/api/state", state),
        Route("/api/cases", cases),
        Route("/api/cases/{row:int}", case),
        Route("/api/events", events),
    ]
    return _Guard(Starlette(routes=routes, exception_handlers={AutojError: failed}), Response)


class _Guard:
    """Refuses what another site asks for, and adds the headers that every answer has.

    Args:
        app: the application behind it.
        respond: makes an answer of its own.
    """

    def __init__(self, app: Any, respond: Callable[..., Any]) -> None:
        self._app, self._respond = app, respond

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        reason = refusal(given.get("host", ""), given.get("sec-fetch-site"), scope["path"])

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        app = self._app
        if reason is not None:
            app = self._respond(reason, status_code=403, media_type="text/plain")
        await app(scope, receive, send_with_headers)


def refusal(host: str, site: str | None, path: str) -> str | None:
    """The reason to refuse a request; None for one of the page's own.

    Args:
        host: its header Host: a site whose name was made to point here names itself.
        site: its header Sec-Fetch-Site, which browsers send and pages cannot change.
        path: what it asks for; the page itself may be opened by a link from anywhere.

    >>> refusal("evil.example:8000", None, "/")
    'This server answers to 127.0.0.1 and localhost alone.'
    >>> refusal("127.0.0.1:8000", "cross-site", "/api/state")
    'This server answers its own page alone.'
    """
    if host.rsplit(":", 1)[0] not in HOSTS:
        return f"This server answers to {' and '.join(HOSTS)} alone."
    if site not in (None, "same-origin", "none") and path != "/":
        return "This server answers its own page alone."
    return None


async def versions(
    viewed: ViewedRuns, stopping: Callable[[], bool], seconds: float = _EVENT_SECONDS
) -> AsyncIterator[dict[str, str]]:
    """An event for each version of the runs that the page has not seen, the present one first.

    Args:
        viewed: the runs.
        stopping: returns True where the stream should end.
        seconds: the time between two looks.
    """
    last = None
    while not stopping():
        if viewed.version != last:
            last = viewed.version
            yield {"data": str(last)}
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class ViewPage:
    """The page, which is the same for all runs, and its policy, which the server sends with it."""

    html: str
    policy: str


def view_page() -> ViewPage:
    """Builds the page; nothing of a run stands in it.

    The policy lets its own scripts run, and lets them ask its own server alone.
    """
    style = page_asset("report.css")
    own = resources.files(_TEMPLATES)
    scripts = [page_asset(name) for name in (*CASE_SCRIPTS, PANES_SCRIPT)]
    scripts.append(own.joinpath("view.js").read_text(encoding="utf-8"))
    html = own.joinpath("view.html").read_text(encoding="utf-8")
    for mark, content in (
        ("<!-- style -->", f"<style>{style}</style>"),
        ("<!-- cases -->", "".join(map(page_asset, CASE_PARTS))),
        ("<!-- keys -->", page_asset("keys.html")),
        ("<!-- scripts -->", "\n".join(f"<script>{script}</script>" for script in scripts)),
    ):
        html = html.replace(mark, content)
    policy = page_policy(style, scripts, "connect-src 'self'", "frame-ancestors 'none'")
    return ViewPage(html, policy)
