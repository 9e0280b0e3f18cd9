"""The page itself: a template filled, with a policy that lets nothing run but what we wrote.

The policy allows the two scripts and the one style sheet of this page by their digests and images
that stand in the page; everything else, a request to any address above all, is forbidden. Cases are
blocks of JSON, which a browser does not run, and the script puts them into the page as text. It
parses a case when it is looked at: at its opening the page parses only what cases are filtered by.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, assert_never

import orjson

from autoj.errors import MissingExtra
from autoj.reports.html.entries import PageCase, case_keys
from autoj.reports.html.listing import Listing
from autoj.reports.html.sections import Section
from autoj.runs.settings import versions

_TEMPLATES = "autoj.reports.html.templates"
CASE_SCRIPTS = ("diff.min.js", "case.js")
"""The scripts that draw a case."""
PANES_SCRIPT = "panes.js"
"""The script of a page with a list: its panes, its address and its keys."""
CASE_PARTS = ("cases.html", "panes.html", "notes.html")
"""The parts of the view of cases: its filters, the list beside the case, and the reader's notes."""
_BLOCK_BYTES = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """One run's part of the overview."""

    name: str
    headline: str
    """Its headline figure in words, with its interval and count."""
    facts: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    about: str = "What judged"
    """The heading of its facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCases:
    """Cases that runs have judged."""

    cases: Sequence[PageCase]
    paired: bool
    noun: str = "cases"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The content of a page."""

    title: str
    banners: Sequence[str]
    """Sentences to read first: a run that is still being written, cases left out."""
    runs: Sequence[RunPart]
    comparison: Sequence[Section] = ()
    rows: PageCases | Listing | None = None
    """None for a page of figures alone."""

    @property
    def n_rows(self) -> int:
        """The rows that it holds."""
        match self.rows:
            case PageCases(cases=rows) | Listing(entries=rows):
                return len(rows)
            case None:
                return 0
            case other:
                assert_never(other)


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
    parts, names, data = _list_of(page)
    cases = page.rows.cases if isinstance(page.rows, PageCases) else ()
    scripts = [page_asset(name) for name in names]
    return environment.get_template("report.html").render(
        page=page,
        parts=parts,
        made=f"autoj {versions()['autoj']}",
        policy=page_policy(style, scripts),
        style=markupsafe.Markup(style),
        scripts=[markupsafe.Markup(script) for script in scripts],
        data=markupsafe.Markup(_json_block(orjson.dumps(data))),
        blocks=map(markupsafe.Markup, _case_blocks(cases)),
    )


def _list_of(page: Page) -> tuple[Sequence[str], Sequence[str], Mapping[str, Any]]:
    """The templates, the scripts and the data of a page's list."""
    match page.rows:
        case PageCases(cases=cases, paired=paired):
            its = orjson.dumps([page.title, [case.id for case in cases]])
            data = {
                "runs": [run.name for run in page.runs],
                "paired": paired,
                "keys": list(map(case_keys, cases)),
                "id": hashlib.sha256(its).hexdigest()[:16],
            }
            return CASE_PARTS, (*CASE_SCRIPTS, PANES_SCRIPT, "list.js", "report.js"), data
        case Listing() as listing:
            scripts = ("case.js", PANES_SCRIPT, "list.js", "entries.js")
            return ("entries.html", "panes.html"), scripts, listing.data()
        case None:
            return (), (), {}
        case other:
            assert_never(other)


def _case_blocks(cases: Sequence[PageCase]) -> Iterator[str]:
    """The cases, one a line, in blocks: a browser takes one long block in far more slowly."""
    lines: list[bytes] = []
    n_bytes = 0
    for case in cases:
        lines.append(orjson.dumps(case))
        n_bytes += len(lines[-1])
        if n_bytes > _BLOCK_BYTES:
            yield _json_block(b"\n".join(lines))
            lines, n_bytes = [], 0
    if lines:
        yield _json_block(b"\n".join(lines))


def _json_block(encoded: bytes) -> str:
    """JSON that cannot end the block that it stands in."""
    return encoded.decode().replace("<", "\\u003c")


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
