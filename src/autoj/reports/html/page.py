"""The page itself: a template filled, with a policy that lets nothing run but what we wrote.

The policy allows the two scripts and the one style sheet of this page by their digests and images
that stand in the page; everything else, a request to any address above all, is forbidden. Cases are
a block of JSON, which a browser does not run, and the script puts them into the page as text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import orjson

from autoj.errors import MissingExtra
from autoj.reports.html.entries import PageCase
from autoj.reports.html.sections import Section

_TEMPLATES = "autoj.reports.html.templates"
CASE_SCRIPTS = ("diff.min.js", "case.js")
"""The scripts that draw a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """One run's part of the overview."""

    name: str
    headline: str
    """Its headline figure in words, with its interval and count."""
    facts: Sequence[tuple[str, str]]
    sections: Sequence[Section]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The content of a page."""

    title: str
    made: str
    """The version that made it."""
    banners: Sequence[str]
    """Sentences to read first: a run that is still being written, cases left out."""
    comparison: Sequence[Section]
    runs: Sequence[RunPart]
    cases: Sequence[PageCase]
    n_left: int
    left_file: str
    paired: bool


def render_page(page: Page) -> str:
    """The page as HTML, whole in one file.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    try:
        import jinja2
        import markupsafe
    except ImportError:
        raise MissingExtra("report", "reports") from None
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(page_asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["image"] = _image
    style = page_asset("report.css")
    scripts = [page_asset(name) for name in (*CASE_SCRIPTS, "report.js")]
    return environment.get_template("report.html").render(
        page=page,
        policy=page_policy(style, scripts),
        style=markupsafe.Markup(style),
        scripts=[markupsafe.Markup(script) for script in scripts],
        data=markupsafe.Markup(_json_block(_data(page))),
    )


def _data(page: Page) -> dict[str, Any]:
    return {
        "runs": [run.name for run in page.runs],
        "paired": page.paired,
        "cases": page.cases,
        "id": hashlib.sha256(
            orjson.dumps([page.title, [case.id for case in page.cases]])
        ).hexdigest()[:16],
    }


def _json_block(value: Any) -> str:
    """JSON that cannot end the block that it stands in."""
    return orjson.dumps(value).decode().replace("<", "\\u003c")


def page_policy(style: str, scripts: Sequence[str], *further: str) -> str:
    """The content security policy of a page of ours.

    Args:
        style: its style sheet.
        scripts: its scripts.
        further: directives beside those of every page.
    """
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'sha256-{_digest(style)}'; "
        + "; ".join(("img-src data:", "base-uri 'none'", "form-action 'none'", *further))
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _image(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def page_asset(name: str) -> str:
    """The text of a template, a style sheet or a script."""
    return resources.files(_TEMPLATES).joinpath(name).read_text(encoding="utf-8")
