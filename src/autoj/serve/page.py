"""The page at `/`: a query, one response or two, and the critique while it is written."""

# No postponed annotations: FastAPI reads those of endpoints, whose types are imported when needed.
from importlib.resources import files
from typing import Any

from autoj.reports.html import templates as report_templates
from autoj.serve import templates

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


def _sender(response: Any, content: bytes, media_type: str) -> Any:
    async def send() -> Any:
        return response(content, media_type=media_type, headers=_HEADERS)

    # The type is not that of a model, by which FastAPI would check what is sent.
    send.__annotations__.clear()
    return send
