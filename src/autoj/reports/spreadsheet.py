"""Cells of CSV files that no spreadsheet runs as formulas.

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula. Where semicolons or
tabs separate cells, as in many countries, a file with commas is cut at other places: behind a `;`,
a tab or a line end within a text, quoted or not. An apostrophe before such a character makes a text
of the cell, at the beginning and at these places.

**Source**: OWASP, "CSV Injection", for the characters and the separators.
"""

import re
from typing import Any

# The full-width forms are formulas in a spreadsheet in Japanese or Chinese. Blanks and quotes
# before a formula may be dropped when a cell is read. A match begins where such a run does, so that
# each run is looked at once.
_RUN = "[\\s\"'`\ufeff]"
_FORMULA = re.compile(rf"(?:\A|(?<!{_RUN}))(?P<run>{_RUN}*)(?=[=+\-@＝＋－＠])|\A(?=[\t\r\n])")


def guarded(value: Any) -> Any:
    """A cell that is not a formula to any spreadsheet, whatever separates its cells.

    >>> guarded("=1+1"), guarded("1 = 1"), guarded(-1.5)
    ("'=1+1", '1 = 1', -1.5)
    >>> guarded("so;=1+1")
    "so;'=1+1"
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return _FORMULA.sub(_guard, value) if isinstance(value, str) else value


def _guard(found: re.Match[str]) -> str:
    run, at = found["run"] or "", found.start()
    first = "'" if at == 0 else ""
    cuts = any(end in run for end in "\t\r\n") or (at > 0 and found.string[at - 1] == ";")
    return f"{first}{run}'" if cuts and found["run"] is not None else f"{first}{run}"
