"""A testbed for a reader: its scenarios, its labels and disputes, its cost before it is asked."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from autoj.construct.estimate import CHARACTERS_PER_TOKEN, WRITTEN_TOKENS
from autoj.construct.testbed.annotating import Page, PairAnswer
from autoj.construct.testbed.drawing import shortages
from autoj.construct.testbed.estimate import BuildEstimate
from autoj.construct.testbed.folder import Testbed
from autoj.construct.testbed.freezing import SUMS, Frozen
from autoj.construct.testbed.label_studio import Imported
from autoj.construct.testbed.labels import RULE, Labelling, PairLabel
from autoj.reports import render
from autoj.reports.text import excerpt, visible_text

_QUERY_CHARACTERS = 44
_SAYS = {"source": "label of the source", "agreed": "all agree", "majority": "majority"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRow:
    """The pairs of one scenario."""

    scenario: str
    n_pairs: int
    n_labelled: int
    n_open: int
    """Pairs without a label."""
    n_short: int
    """Pairs that are lacking."""
    n_critique: int
    n_rating: int


def scenario_rows(testbed: Testbed, labelling: Labelling) -> list[ScenarioRow]:
    """The counts of each scenario of a testbed."""
    pairs, settings = testbed.pairs(), testbed.settings()
    missing = {label.case.id for label in labelling.missing}
    lacking = shortages(pairs, settings)
    rows: list[ScenarioRow] = []
    for name in settings.scenarios:
        its = [pair for pair in pairs if pair.case.scenario == name]
        n_open = sum(pair.case.id in missing for pair in its)
        rows.append(
            ScenarioRow(
                scenario=name,
                n_pairs=len(its),
                n_labelled=len(its) - n_open,
                n_open=n_open,
                n_short=lacking.get(name, 0),
                n_critique=sum(pair.in_critique for pair in its),
                n_rating=sum(pair.in_rating for pair in its),
            )
        )
    return rows


def labelling_view(testbed: Testbed, labelling: Labelling, n_shown: int) -> RenderableType:
    """A testbed: its scenarios, its annotators, their agreement and what is open.

    Args:
        testbed: the testbed.
        labelling: its labels.
        n_shown: disputes and undecided pairs to list.
    """
    rows = scenario_rows(testbed, labelling)
    parts: list[RenderableType] = [_scenarios(rows)]
    if dropped := Counter(item.reason for item in testbed.dropped()):
        parts += [Text(), _dropped(dropped)]
    if labelling.annotators:
        parts += [Text(), _annotators(labelling)]
    if labelling.agreement:
        parts += [Text(), _agreement(labelling)]
    disputed = [label for label in labelling.labels if label.is_disputed]
    if disputed:
        parts += [Text(), *_disputes(disputed, n_shown)]
    return Group(*parts, Text(), *_next(testbed, rows, labelling))


def _scenarios(rows: Sequence[ScenarioRow]) -> render.Listing:
    heads = ("pairs", "labelled", "open", "short", "Eval-C", "Eval-R")
    listing = render.Listing(render.Column.text("scenario"), *map(render.Column.number, heads))
    for row in rows:
        # Of 58 scenarios most may have nothing yet: one line says so.
        if row.n_pairs:
            _add(listing, row.scenario, [row])
    if empty := [row for row in rows if not row.n_pairs]:
        _add(listing, f"{len(empty):,} without a pair", empty)
    if len(rows) > 1:
        _add(listing, "all", rows, style="bold")
    return listing


def _add(listing: render.Listing, name: str, rows: Sequence[ScenarioRow], style: str = "") -> None:
    names = ("n_pairs", "n_labelled", "n_open", "n_short", "n_critique", "n_rating")
    counts = [sum(getattr(row, field) for row in rows) for field in names]
    listing.add(name, *counts, style=style)


def _dropped(reasons: Counter[str]) -> render.Listing:
    listing = render.Listing(render.Column.text("left out because"), render.Column.number("rows"))
    for reason, n in reasons.most_common():
        listing.add(reason, n)
    return listing


def _annotators(labelling: Labelling) -> render.Listing:
    heads = ("answers", "skips", "answered again", "of other pairs")
    listing = render.Listing(render.Column.text("annotator"), *map(render.Column.number, heads))
    for one in labelling.annotators:
        listing.add(
            one.annotator,
            one.n_answered,
            one.n_skipped,
            one.n_answered_again,
            one.n_of_other_pairs,
        )
    return listing


def _agreement(labelling: Labelling) -> render.Listing:
    listing = render.Listing(
        render.Column.text("annotators"),
        render.Column.number("pairs"),
        render.Column.number("same answer, %"),
        render.Column.number("kappa"),
    )
    for found in labelling.agreement:
        cells = map(render.estimate_cell, (found.same_answer, found.kappa))
        listing.add(" and ".join(found.annotators), found.kappa.n, *cells)
    return listing


def _disputes(disputed: Sequence[PairLabel], n_shown: int) -> list[RenderableType]:
    listing = render.Listing(
        render.Column.text("disputed", 24),
        render.Column.text("query", _QUERY_CHARACTERS, grows=True),
        render.Column.prose("answers"),
        render.Column.word("label"),
    )
    for label in disputed[:n_shown]:
        answers = ", ".join(f"{name} {winner or 'skip'}" for name, winner in label.answers.items())
        listing.add(
            label.case.id,
            excerpt(label.case.query, _QUERY_CHARACTERS),
            answers,
            label.label or label.state,
        )
    n_more = len(disputed) - n_shown
    more = [f"{n_more:,} more are disputed; --limit shows them."] if n_more > 0 else []
    return [listing, *render.notes([*more, f"A label is {RULE}."])]


def _next(
    testbed: Testbed, rows: Sequence[ScenarioRow], labelling: Labelling
) -> list[RenderableType]:
    """The way on: what is lacking, and the command that goes on."""
    said: list[str] = []
    if short := [row for row in rows if row.n_short]:
        first = ", ".join(f"{row.scenario} {row.n_short:,}" for row in short[:3])
        more = ", …" if len(short) > 3 else ""
        said.append(
            f"pairs that are short: {sum(row.n_short for row in short):,} in {len(short):,} "
            f"scenarios ({first}{more}); repeat the build with more pairs, or with --queries and "
            "two --policy; --scenario builds some scenarios alone"
        )
    undecided = sum(label.state == "undecided" for label in labelling.labels)
    if undecided:
        said.append(
            f"undecided pairs: {undecided:,}; one more annotator decides them with autoj testbed "
            f"annotate {testbed.path} --annotator NAME --undecided"
        )
    if n_open := len(labelling.missing) - undecided:
        said.append(
            f"pairs that wait for annotators: {n_open:,}; autoj testbed annotate {testbed.path} "
            "--annotator NAME"
        )
    if not said:
        said.append(f"complete: autoj testbed freeze {testbed.path} --out FOLDER")
    return [visible_text(line) for line in said]


def estimate_view(found: BuildEstimate) -> RenderableType:
    """A testbed before a model is asked."""
    heads = ("labelled", "to label", "of queries", "short")
    listing = render.Listing(render.Column.text("scenario"), *map(render.Column.number, heads))
    for row in found.scenarios:
        if row.n_labelled or row.n_unlabelled or row.n_queries:
            counts = (row.n_labelled, row.n_unlabelled, row.n_queries, row.n_short)
            listing.add(row.scenario, *counts)
    if empty := [row for row in found.scenarios if not (row.n_labelled or row.n_unlabelled)]:
        empty = [row for row in empty if not row.n_queries]
        if empty:
            n_short = sum(row.n_short for row in empty)
            listing.add(f"{len(empty):,} without a pair", 0, 0, 0, n_short)
    parts: list[RenderableType] = [listing]
    if found.dropped:
        parts += [Text(), _dropped(Counter(found.dropped))]
    if not found.models:
        return Group(*parts, Text(), Text("no model is asked: this costs nothing"))
    asked = render.Listing(
        render.Column.text("model"),
        render.Column.word("as"),
        *map(render.Column.number, ("requests", "prompt tokens", "written", "USD")),
    )
    for model in found.models:
        tokens = (model.prompt_tokens, model.completion_tokens)
        usd = render.number(model.usd, 2)
        asked.add(model.model, model.role, model.n_requests, *tokens, usd)
    return Group(
        *parts,
        Text(),
        asked,
        *render.notes(
            [
                f"Assumed: {CHARACTERS_PER_TOKEN} characters a token, {WRITTEN_TOKENS} tokens a "
                "response; a query that fails is replaced by another one."
            ]
        ),
    )


def page_view(page: Page, number: int, n_pages: int, earlier: PairAnswer | None) -> RenderableType:
    """A pair as an annotator sees it; control characters in it are spelled out.

    Args:
        page: the pair.
        number: its number, from 1.
        n_pages: pairs that the annotator is asked about.
        earlier: the answer that the annotator has given to it; None where there is none.
    """
    title = visible_text(f"Pair {number:,} of {n_pages:,}", style="bold")
    if page.scenario is not None:
        title.append_text(visible_text(f"  {page.scenario}", style="dim"))
    parts: list[RenderableType] = [title]
    texts = (("Query", page.query), *zip(("Response 1", "Response 2"), page.responses, strict=True))
    for name, text in texts:
        body = text.strip() or "(empty)"
        parts += [Rule(Text(name), align="left", style="dim")]
        parts += [Padding(visible_text(body), (0, 0, 0, 2))]
    if earlier is not None:
        parts.append(Text(f"answered before: {_on_page(earlier, page)}", style="dim"))
    return Group(*parts, Text())


def _on_page(answer: PairAnswer, page: Page) -> str:
    if answer.winner in ("a", "b"):
        return f"Response {page.shown.index('ab'.index(answer.winner)) + 1}"
    return "a tie" if answer.winner == "tie" else "skipped"


def imported_text(found: Imported) -> str:
    """The answers of an export of Label Studio, by what became of them."""
    added = ", ".join(f"{n:,} by {name}" for name, n in sorted(found.n_new.items())) or "none"
    said = [f"answers that were added: {added}"]
    if found.n_known:
        said.append(f"{found.n_known:,} were there already")
    if found.n_again:
        said.append(f"{found.n_again:,} were given again by the same person; the last one counts")
    if found.n_unanswered:
        said.append(f"{found.n_unanswered:,} tasks have no annotation yet")
    return "; ".join(said)


def frozen_view(frozen: Frozen) -> RenderableType:
    """A frozen testbed: its files and the commands that read them."""
    manifest = frozen.manifest
    listing = render.Listing(
        render.Column.word("file"), render.Column.number("rows"), render.Column.text("sha256", 16)
    )
    for name, found in manifest["files"].items():
        listing.add(name, found["n_rows"], found["sha256"])
    licence = manifest["licence"] or "not stated (--licence)"
    parts: list[RenderableType] = [
        render.facts([("title", manifest["title"]), ("licence", licence)]),
        Text(),
        listing,
        Text(),
    ]
    if manifest["missing"]:
        said = f"not complete: {'; '.join(manifest['missing'])}"
        parts += [visible_text(said, style="yellow"), Text()]
    place = frozen.path
    parts += [
        visible_text(f"the datasheet is {place / 'README.md'}, the checksums {place / SUMS}"),
        visible_text(f"autoj bench eval-p --data {place / 'eval_p.jsonl'} --judge NAME"),
    ]
    return Group(*parts)
