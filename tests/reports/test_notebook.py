"""Values as a notebook shows them: figures as everywhere else, and hostile text dead."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from autoj.records import Estimate, MarkedVerdict, Verdict
from autoj.reports.notebook import html_of
from autoj.tasks.run import Run
from autoj.verdicts.jury import JuryVerdict

from .html.browser import browser, visit
from .html.payloads import PAYLOADS
from .html.stored import by_letters, judged, pairs

VERDICT = Verdict(
    case_id="7", judge="j", winner="a", winners=("a", "b"), rule="probability", consistent=False,
    probabilities=(0.5, 0.3, 0.2), critiques=("It is <b>short</b>.", None),
)  # fmt: skip


class Tags(HTMLParser):
    """The tags of some HTML, with the names of their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[tuple[str, tuple[str, ...]]] = set()
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.add((tag, tuple(name for name, _ in attrs)))

    def handle_data(self, data):
        self.texts.append(data)


OURS = {
    ("div", ("class",)), ("table", ()), ("thead", ()), ("tbody", ()), ("tr", ()), ("p", ()),
    ("th", ("style",)), ("td", ("style",)),
}  # fmt: skip


def test_estimate_shows_its_interval_and_its_count():
    shown = Estimate(
        name="agreement", value=0.5, low=0.4, high=0.6, n=90, n_clusters=80, n_unscored=2
    )._repr_html_()
    texts = Tags(shown).texts
    assert texts[4:] == [
        "agreement (both orders = label)", "50.0 %", "[40.0, 60.0]", "90 on 80 queries, 2 unscored",
    ]  # fmt: skip
    unknown = Estimate(name="agreement", value=None, n=0, n_clusters=0, reason="no labels")
    assert "no labels" in unknown._repr_html_()


@pytest.mark.parametrize(
    ("verdict", "says"),
    [
        (VERDICT, ["a", "a 50.0 %, b 30.0 %, tie 20.0 %", "It is <b>short</b>."]),
        (Verdict(case_id="7", judge="j", ratings=(7.25, None), rule="incomplete", n_unreadable=1),
         ["rated 7.25, -", "1 and 0"]),
        (Verdict(case_id="7", judge="j", winners=("a", None), rule="incomplete", n_failed=1,
                 scenario="planning"), ["failed"]),
        (Verdict(case_id="7", judge="j", selected=2, ratings=(1.0, 2.0, 3.0)),
         ["response 3 is picked"]),
        (Verdict(case_id="7", judge="j", scenario="planning"), ["scenario planning"]),
        (MarkedVerdict(case_id="7", judge="j", winner="b", rule="agreed", confidence=0.4,
                       unsure=True), ["b?", "its confidence is 0.400"]),
        (JuryVerdict(case_id="7", judge="jury", winner="b", rule="majority",
                     judges=(replace(VERDICT, judge="one"),)),
         ["b", "more than half of the votes are for it", "one"]),
    ],
)  # fmt: skip
def test_verdict_shows_its_outcome(verdict, says):
    found = Tags(verdict._repr_html_())
    assert found.found <= OURS
    assert [text for text in says if text not in found.texts] == []


def test_run_shows_its_figure_and_its_first_cases(tmp_path):
    run = Run.open(judged(tmp_path / "run", pairs(8), by_letters("aab")))
    texts = Tags(run._repr_html_()).texts
    assert "8 of 8" in texts
    assert "agreement (both orders = label)" in texts
    assert [f"c{at}" in texts for at in range(6)] == [True] * 5 + [False]
    assert "and 3 more: to_pandas() has all." in texts


def test_damaged_run_says_so(tmp_path):
    path = judged(tmp_path / "run", pairs(3))
    run = Run.open(path)
    (path / "run.json").write_text("{")
    assert "damaged" in Tags(run._repr_html_()).texts


def test_value_of_another_kind_is_its_plain_text():
    assert "&lt;b&gt;" in html_of(SimpleNamespace(text="<b>"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """All payloads in each text of verdicts, estimates and runs, as a notebook shows them."""
    folder = tmp_path_factory.mktemp("notebook")
    rows = [
        {"id": payload.replace("\ud800", "?"), "query": payload.replace("\ud800", "?"),
         "responses": ["x", "y"], "label": "a", "scenario": payload.replace("\ud800", "?")}
        for payload in PAYLOADS
    ]  # fmt: skip
    shown = []
    for at, row in enumerate(rows):
        path = judged(folder / str(at), [row], lambda request: "Tie.", unknown_scenario="keep")
        shown.append(Run.open(path)._repr_html_())
    for payload in PAYLOADS:
        one = Verdict(
            case_id=payload, judge=payload, rule=payload, scenario=payload, critiques=(payload,)
        )
        shown += [
            one._repr_html_(),
            JuryVerdict(case_id="1", judge="j", judges=(one,))._repr_html_(),
        ]
        for value in (0.5, None):
            shown.append(
                Estimate(name=payload, value=value, n=1, n_clusters=1, reason=payload)._repr_html_()
            )
    return folder, shown


def test_no_payload_makes_a_tag_or_stays_invisible(hostile):
    _, shown = hostile
    for text in shown:
        assert Tags(text).found <= OURS
        assert "tex2jax_ignore mathjax_ignore" in text
        assert not set(text) & set("\u202e\u2066\x00\x1b\ud800")


def test_no_payload_runs_in_a_page_without_a_policy(hostile):
    folder, shown = hostile
    page = folder / "page.html"
    page.write_text("<!doctype html><meta charset=utf-8><title>x</title>" + "\n".join(shown))
    with browser() as running:
        seen = visit(running, page)
        seen.page.wait_for_timeout(200)
        assert seen.page.locator("table").count() > 4 * len(PAYLOADS)
        seen.check()
