"""Critiques without the titles that a teacher puts above and below them."""

from __future__ import annotations

import pytest

from autoj.construct.critique_titles import without_titles


@pytest.mark.parametrize(
    ("critique", "wanted"),
    [
        ("Meta-Critique:\n\nIt names no source.", "It names no source."),
        ("**Meta-critique**\nIt names no source.", "It names no source."),
        ("### Final Evaluation:\nIt names no source.", "It names no source."),
        ("It names no source.\n\n### Final Rating", "It names no source."),
        ("It names no source.\n\n**Rating:**", "It names no source."),
        ("### Critique\n\n### Rating", ""),
        # No titles
        ("It names no source.", "It names no source."),
        ("Review of sources: none is named.", "Review of sources: none is named."),
        ("It names no source.\n\nThe rating", "It names no source.\n\nThe rating"),
        ("### Critique 1\n\nShort.\n\n### Critique 2\n\nDull.",
         "### Critique 1\n\nShort.\n\n### Critique 2\n\nDull."),
    ],
)  # fmt: skip
def test_titles_are_taken_off(critique: str, wanted: str) -> None:
    assert without_titles(critique) == wanted
    assert without_titles(wanted) == wanted


def test_a_long_gap_takes_no_time() -> None:
    assert without_titles(f"#{' ' * 50_000}x{chr(10) * 50_000}# Rating{' ' * 50_000}y")
