"""Files that users name: opened, unpacked, limited in size; streams become files."""

from autoj.inputs.faults import cannot_read
from autoj.inputs.json_rows import checked_row, read_lines, read_rows
from autoj.inputs.limits import row_limit, too_long
from autoj.inputs.opening import is_stream, local_file, open_file, skip_line, stream_name

__all__ = [
    "cannot_read",
    "checked_row",
    "is_stream",
    "local_file",
    "open_file",
    "read_lines",
    "read_rows",
    "row_limit",
    "skip_line",
    "stream_name",
    "too_long",
]
