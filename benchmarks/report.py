"""A report of a large run: time and memory to build it, and to open and filter it in a browser.

    python benchmarks/report.py --cases 10000

The judge is scripted, texts are as long as Eval-P's on average (query 400, response 1,200, critique
900 characters). The browser part needs Chromium and the extra `browser`.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.backends.scripted import ScriptedBackend
from autoj.datasets import open_cases
from autoj.jsonl import write_records
from autoj.records import JudgeCard, Request
from autoj.reports.html.report import write_report
from autoj.runs import judge_run, make_spec, open_run
from autoj.scenarios import scenario_names

_CARD = JudgeCard(
    name="script",
    title="A script",
    backend="scripted",
    model="script",
    protocols=("pairwise",),
    context_tokens=100_000,
)
_WORDS = "of the and to in is that it was for on with as at by this from or have an"


def _text(generator: random.Random, n_characters: int) -> str:
    words = generator.choices(_WORDS.split(), k=n_characters // 4)
    return " ".join(words)[:n_characters]


def _rows(n: int) -> Iterator[dict[str, Any]]:
    generator = random.Random(0)
    names = scenario_names()
    for at in range(n):
        yield {
            "id": f"case-{at}",
            "query": f"{at} {_text(generator, 400)}",
            "responses": [_text(generator, 1_200), _text(generator, 1_200)],
            "label": generator.choice(["a", "b", "tie"]),
            "scenario": names[at % len(names)],
        }


def _answer(request: Request) -> str:
    generator = random.Random(request.key)
    winner = generator.choice(["Response 1", "Response 2", "Tie"])
    return (
        "1. The key factors to distinguish these two responses:\n\n"
        f"- first: {_text(generator, 400)}\n\n- second: {_text(generator, 400)}\n\n"
        f"2. The final decision:\n\nSo, the final decision is {winner}."
    )


def _judged(folder: Path, n: int) -> Path:
    write_records(folder / "data.jsonl", _rows(n))
    spec = make_spec("judge", _CARD, protocol="pairwise")
    with open_run(folder / "run", spec, open_cases(folder / "data.jsonl")) as opened:
        judge_run(opened, spec, ScriptedBackend(_CARD, _answer))
    return folder / "run"


_CHOOSE = "(() => { const field = document.getElementById('%s'); %s; \
const t = performance.now(); field.dispatchEvent(new Event('change')); \
document.body.getBoundingClientRect(); return performance.now() - t; })()"
_ACTS = {
    "a filter": _CHOOSE % ("flag", "field.value = 'wrong'"),
    "a scenario": _CHOOSE % ("scenario", "field.selectedIndex = 5"),
    "an order": _CHOOSE % ("sort", "field.value = 'length'"),
}
_SEARCH = """(text) => {
history.replaceState(null, '', '#view=cases&q=' + encodeURIComponent(text));
const t = performance.now(); window.dispatchEvent(new HashChangeEvent('hashchange'));
document.body.getBoundingClientRect(); return performance.now() - t; }"""
_IDLE_SECONDS = 5.0


def _browse(path: Path, n_rounds: int) -> None:
    """Prints what the page takes in a browser of its own in each round."""
    from playwright.sync_api import sync_playwright

    found: dict[str, list[float]] = {}

    def took(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for _ in range(n_rounds):
        with sync_playwright() as started:
            chromium = shutil.which("chromium") or shutil.which("chromium-browser")
            running = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = running.new_page()
            metrics = page.context.new_cdp_session(page)
            metrics.send("Performance.enable")
            begun = time.perf_counter()
            page.goto(path.resolve().as_uri() + "#view=cases", timeout=120_000)
            page.wait_for_selector("#list li", timeout=120_000)
            took("opened with its list of cases, ms", 1e3 * (time.perf_counter() - begun))
            took("of the page's processor, ms", 1e3 * _process_seconds(metrics))
            text = "for the of"
            took("a search at once, ms", page.evaluate(_SEARCH, text))
            page.click("#reset")
            for name, act in _ACTS.items():
                took(f"{name}, ms", page.evaluate(act))
                page.click("#reset")
            # By now the page has put its texts in lower case, in the time that nobody used.
            time.sleep(_IDLE_SECONDS)
            for text in ("for the of", "case-99", "no such text"):
                took(f"a search for {text!r} later, ms", page.evaluate(_SEARCH, text))
            running.close()
    for name, values in found.items():
        print(
            f"{name}: {min(values):,.0f} at least, {statistics.median(values):,.0f} at the median"
        )


def _process_seconds(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "ProcessTime"))


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5, help="times that the page is opened")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = _judged(folder, arguments.cases)
        before = resource.getrusage(resource.RUSAGE_SELF)
        begun = time.perf_counter()
        found = write_report([run], folder / "report.html", most_cases=arguments.cases)
        took = time.perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{found.n_cases:,} cases: {took:.1f} s, {cpu:.1f} s of processor")
        print(f"{found.n_bytes / 1e6:.1f} MB; at most {after.ru_maxrss / 1e3:,.0f} MB of memory")
        _browse(folder / "report.html", arguments.rounds)


if __name__ == "__main__":
    main()
