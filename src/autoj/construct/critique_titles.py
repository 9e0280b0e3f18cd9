"""Takes the titles off a teacher's critique of one response: the judge is to write it bare."""

import re

_MARK = r"[ \t]{0,3}(?:#{1,6}[ \t]{0,3}|\*\*)?"
_AFTER = r"(?:\*\*)?[ \t]{0,3}[:：]?(?:\*\*)?[ \t]{0,3}"
# "### Meta-Critique" above it: Table 12 asks for one, and small models announce it.
_OPENING = re.compile(
    rf"\A{_MARK}(?:(?:meta|merged|combined|final|overall)[- ]?)?"
    rf"(?:critique|evaluation|assessment|review){_AFTER}(?:\n|\Z)",
    re.IGNORECASE,
)
# "### Final Rating" below it, once the rating itself is taken off.
_CLOSING = re.compile(
    rf"(?:\n|\A){_MARK}(?:(?:final|overall)[ \t])?(?:rating|score){_AFTER}\Z", re.IGNORECASE
)


def without_titles(critique: str) -> str:
    r"""A critique without a title above it and without one that announces the rating.

    Args:
        critique: the text before the rating.

    >>> without_titles("### Meta-Critique\n\nIt names no source.\n\n### Final Rating")
    'It names no source.'
    """
    bare = _OPENING.sub("", critique.strip())
    return _CLOSING.sub("", bare.rstrip()).strip()
