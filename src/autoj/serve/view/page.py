"""The page: the report's filters, style and drawing of a case, with a script that asks a server."""

from dataclasses import dataclass
from importlib import resources

from autoj.reports.html.page import CASE_PARTS, CASE_SCRIPTS, PANES_SCRIPT, page_asset, page_policy

_TEMPLATES = "autoj.serve.view.templates"


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
