"""Each block of the documentation runs, or says why it cannot."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from .pages import PAGES, REPOSITORY, Block, blocks_of, name_of
from .shell import Session
from .stand_ins import SERVER_OF_A_READER, write_data_sets, write_labelled_pairs

BLOCKS = [block for page in PAGES for block in blocks_of(page)]
RUN = ("sh", "python")
REAL_WEIGHTS = REPOSITORY / "docs" / "tutorial.md"
"""The page that is also run with the embedded judge itself."""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: str) -> Session:
    """A reader in a new folder that holds the examples, with the public data sets at hand."""
    folder = tmp_path / "reader"
    for name in ("examples", "recipes"):
        shutil.copytree(REPOSITORY / name, folder / name)
    # Calibration takes no fewer pairs than these.
    write_labelled_pairs(folder / "validation.jsonl", 120)
    write_labelled_pairs(folder / "labelled-pairs.jsonl", 620)
    write_data_sets(tmp_path / "data")
    for variable, value in {
        "AUTOJ_DATA": str(tmp_path / "data"),
        "OPENAI_BASE_URL": api,
        "OPENAI_API_KEY": "sk-none",
        "COLUMNS": "80",
        "NO_COLOR": "1",
    }.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.chdir(folder)
    return Session(monkeypatch, {SERVER_OF_A_READER: api})


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks_of(page)], ids=lambda page: name_of(page)
)
def test_each_block_of_a_page_runs(
    page: Path,
    session: Session,
    scripted_engines: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    for block in blocks_of(page):
        if block.reason is None:
            session.run(block)


@pytest.mark.slow
def test_the_tutorial_prints_what_it_says(session: Session) -> None:
    pytest.importorskip("openvino_genai")
    n_compared = 0
    for block in blocks_of(REAL_WEIGHTS):
        if block.reason is None:
            session.run(block)
        elif block.reason.startswith("output"):
            (printed,) = filter(None, session.printed)
            assert _shape(block.text) <= _shape(printed), block.place
            n_compared += 1
    assert n_compared


def _shape(printed: str) -> set[str]:
    """The lines of a print without numbers, which differ among machines in the last digit."""
    lines = (re.sub(r"\s+", " ", re.sub(r"[\d.,]+", "0", line)) for line in printed.splitlines())
    return {line.strip() for line in lines} - {""}


def test_blocks_that_are_not_run_say_why() -> None:
    unmarked = [
        block.place
        for block in BLOCKS
        if block.reason is None and block.title is None and block.language not in RUN
    ]
    assert not unmarked


def test_most_blocks_of_commands_run() -> None:
    commands = [block for block in BLOCKS if block.language in RUN or block.title]
    # A reason that names a test says which one runs the block.
    n_run = sum((block.reason or "tests/").startswith("tests/") for block in commands)
    assert n_run / len(commands) > 0.75, f"{n_run} of {len(commands)}"


@pytest.mark.parametrize(
    "block",
    [block for block in BLOCKS if block.title and not block.reason and not block.loader],
    ids=lambda block: block.place,
)
def test_each_file_of_a_page_is_read_further_down(block: Block) -> None:
    assert block.title is not None
    named = {block.title, *(str(folder) for folder in Path(block.title).parents)} - {"."}
    later = [
        other.text
        for other in BLOCKS
        if other.page == block.page
        and other.line > block.line
        and other.reason is None
        and other.language in RUN
    ]
    assert any(name in text for text in later for name in named)


def test_a_reason_belongs_to_the_next_block_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: needs a GPU -->\n```sh\nautoj judge\n```\n\n```python\nprint()\n```\n\n"
        '<!-- not run: stale -->\nText.\n\n```yaml title="a.yaml"\na: 1\n```\n',
        encoding="utf-8",
    )
    found = [(block.language, block.title, block.reason) for block in blocks_of(page)]
    assert found == [
        ("sh", None, "needs a GPU"),
        ("python", None, None),
        ("yaml", "a.yaml", None),
    ]


@pytest.mark.parametrize("line", ["autoj judge missing.jsonl", "make judge"])
def test_a_line_that_fails_fails_its_page(line: str, session: Session) -> None:
    block = Block(page=REPOSITORY / "README.md", line=1, language="sh", title=None, text=line)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        session.run(block)
