"""Kinds of files, by their names' endings and by their first bytes."""

import orjson

ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".pq", ".txt")
"""Endings of files that are read; all but Parquet may have `.gz` after them."""

_SPREADSHEET = b"PK\x03\x04"
_MARKS = (b"\xff\xfe", b"\xfe\xff")
_MARK = b"\xef\xbb\xbf"


def ending_of(head: bytes) -> str:
    r"""The ending that a file's name would have, from its first bytes.

    Args:
        head: the beginning of the file, unpacked; the first line or more.

    >>> ending_of(b'{"query": "q"}\n'), ending_of(b'[{"query": "q"}]'), ending_of(b"query,a\n")
    ('.jsonl', '.json', '.csv')
    """
    if head.startswith(b"PAR1"):
        return ".parquet"
    if head.startswith(_SPREADSHEET):
        return ".xlsx"
    if head.startswith(_MARKS):
        # The reader of tables says what is wrong with UTF-16.
        return ".csv"
    text = head.removeprefix(_MARK).lstrip()
    if text.startswith(b"["):
        return ".json"
    first, newline, _ = text.partition(b"\n")
    if text.startswith(b"{"):
        return ".jsonl" if not newline or _is_json(first) else ".json"
    if b"," in first or b";" in first:
        return ".csv"
    return ".tsv" if b"\t" in first else ".txt"


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except ValueError:
        return False
    return True
