"""Draws the pictures of these pages from the output of commands.

python docs/pictures.py                  # judges one example pair with the embedded judge
python docs/pictures.py --run runs/mine  # takes a run that is there
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

_REPOSITORY = Path(__file__).resolve().parent.parent
_PICTURE = _REPOSITORY / "docs" / "img" / "verdict.svg"
_CASE = "capital"
_COLUMNS = 80


def main() -> None:
    """Writes the picture of a verdict."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, help="a run over examples/pairs.jsonl")
    run: Path | None = parser.parse_args().run
    with tempfile.TemporaryDirectory() as folder:
        if run is None:
            run = Path(folder) / "run"
            pairs = _REPOSITORY / "examples" / "pairs.jsonl"
            _autoj("judge", str(pairs), "--limit", "1", "--out", str(run))
        shown = _autoj("show", str(run), _CASE)
    _PICTURE.parent.mkdir(exist_ok=True)
    _PICTURE.write_text(draw(shown, f"autoj show RUN {_CASE}"), encoding="utf-8")
    print(f"wrote {_PICTURE.relative_to(_REPOSITORY)}")


def _autoj(*arguments: str) -> str:
    """The output of a command, with the escape sequences of a terminal of 80 columns."""
    terminal = {"FORCE_COLOR": "1", "COLUMNS": str(_COLUMNS), "TERM": "xterm-256color"}
    done = subprocess.run(
        [sys.executable, "-m", "autoj", *arguments],
        env={**os.environ, **terminal},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def draw(printed: str, title: str) -> str:
    """Render what a command printed as an SVG that loads nothing from elsewhere.

    Args:
        printed: text with escape sequences for colours.
        title: the title of the window.
    """
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=_COLUMNS, file=nowhere, highlight=False)
        console.print(Text.from_ansi(printed.rstrip("\n")))
        return console.export_svg(title=title, code_format=_own_fonts(), unique_id="autoj")


def _own_fonts() -> str:
    """Rich's template without the fonts that it would fetch."""
    without = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return without.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")


if __name__ == "__main__":
    main()
