"""OpenAI's comparisons of two summaries: `info`, `summaries` with `text` and `policy`, `choice`.

The rows hold the post and no request, so the query is the post after an instruction of ours. Posts
of Reddit are of the scenario post_summarization, and the news articles of the validation split of
text_summarization. Ratings of single summaries (the part `axis`) are not read.

**Source**: openai/summarize_from_feedback on the Hugging Face Hub, its part `comparisons` (92,858
rows to train on), and the files `comparisons/batch*.json` that it is made of (arXiv 2009.01325).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import (
    FieldError,
    ReadRow,
    make_case,
    number_of,
    optional_text,
    read_file,
    require,
    require_in,
    require_text,
)
from autoj.records import Case, Response

FIELDS = '"info" and "summaries" with "choice"'


def matches(row: dict[str, Any]) -> bool:
    """True where a row has the fields of this format."""
    return "summaries" in row and ("info" in row or "choice" in row)


def read(path: Path) -> Iterator[ReadRow]:
    """The comparisons of a file."""
    return read_file(path, to_case)


def to_case(row: dict[str, Any], line: int) -> Case:
    """The case of one comparison; several people may have compared the same summaries."""
    query, scenario = _request(require(row, "info", dict, "an object"))
    extra = row.get("extra")
    told = {name: row.get(name) for name in ("worker", "batch", "split")}
    told["confidence"] = extra.get("confidence") if isinstance(extra, dict) else None
    told["post_id"] = row["info"].get("id")
    return make_case(
        query=query,
        responses=tuple(_summaries(row)),
        line=line,
        label=number_of(row, "choice", {0: "a", 1: "b"}),
        scenario=scenario,
        source="openai-summaries",
        meta={name: value for name, value in told.items() if isinstance(value, str | int)},
    )


def _request(info: dict[str, Any]) -> tuple[str, str]:
    """The query, in our words around the text, and its scenario."""
    name = "post" if info.get("post") is not None else "article"
    if info.get(name) is None:
        # Of an absent text this tells the fields that are there.
        require_in({"info": info}, "info", "post", str, "a string")
    text: str = require_in({"info": info}, "info", name, str, "a string")
    title = optional_text(info, "title")
    headed = f"Title: {title.strip()}\n\n{text.strip()}" if title else text.strip()
    if name == "article":
        return f"Write a short summary of this news article.\n\n{headed}", "text_summarization"
    forum = optional_text(info, "subreddit")
    where = f" from r/{forum}" if forum else ""
    return f"Write a short summary of this post{where}.\n\n{headed}", "post_summarization"


def _summaries(row: dict[str, Any]) -> Iterator[Response]:
    found: list[Any] = require(row, "summaries", list, "a list of two summaries")
    if len(found) != 2:
        raise FieldError("summaries", f"expected two summaries, found {len(found)}")
    for index, summary in enumerate(found):
        field = f"summaries[{index}]"
        if not isinstance(summary, dict):
            raise FieldError(field, "expected an object with text and policy")
        try:
            yield Response(
                text=require_text(summary, "text").strip(), model=optional_text(summary, "policy")
            )
        except FieldError as error:
            raise FieldError(f"{field}.{error.field}", error.message) from None
