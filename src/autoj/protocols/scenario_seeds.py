"""`scenario-seeds`: writes queries of one scenario, for a classifier to learn from (Appendix B).

The scenario's name, its description and the number of queries are the case's query, and queries
that are already there its response.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from autoj.protocols._folding import clean
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.single import Single
from autoj.records import Case, Critique, Message, Reading, Unreadable

# Some models write their reasoning before the answer; it is not part of the answer.
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_TAGGED = re.compile(r"<query\b[^<>]{0,40}>(.*?)(?=</?query\b|\Z)", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```[a-z]*[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
_NUMBERED = re.compile(
    r"^[ \t]{0,4}(?:\*\*)?(?:(?:query|request)[ \t]+)?#?(\d{1,3})[.):](?:\*\*)?[ \t]+",
    re.MULTILINE | re.IGNORECASE,
)
_BULLET = re.compile(r"^[-*•][ \t]+", re.MULTILINE)
_LABEL = re.compile(
    r"\A(?:\*\*)?(?:query|request)(?:[ \t]+\d{1,3})?:(?:\*\*)?[ \t]+", re.IGNORECASE
)
_QUOTES = {'"': '"', "“": "”", "'": "'", "`": "`", "«": "»", "「": "」"}
_FIELDS = ("query", "request", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioSeeds(Single):
    """Writes queries of one scenario.

    **Source:** paper, Appendix B, step 1, which does not give the prompt; the text is ours.
    """

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The scenario, the queries that are there, and what new ones are like."""
        (index,) = shown
        values = {"query": case.query, "response": case.responses[index].text}
        content = fill(load_text("scenario_seeds.en.txt"), values)
        return RequestBody(messages=(Message(role="user", content=content),))

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The whole text, if it holds a query; `written_queries` takes it apart."""
        return Critique(text=text) if written_queries(text) else Unreadable(reason="holds no query")


def written_queries(text: str) -> list[str]:
    r"""The queries in a model's text: in tags, else of a JSON list, else the items of a list.

    >>> written_queries("Sure!\n<query>Plan my trip.</query>\n<query>Plan a\nwedding.</query>")
    ['Plan my trip.', 'Plan a\nwedding.']
    >>> written_queries("1. Plan my trip.\n2. \"Plan a wedding.\"")
    ['Plan my trip.', 'Plan a wedding.']
    """
    answer = _THOUGHT.sub("", clean(text))
    found = _TAGGED.findall(answer) or _of_json(answer) or _of_list(answer)
    return [query for each in found if (query := _bare(each))]


def _of_json(text: str) -> list[str]:
    """The texts of a JSON list, alone or in a fence; of objects the field that names a query."""
    for candidate in (*_FENCED.findall(text), text[text.find("[") : text.rfind("]") + 1]):
        with suppress(ValueError, RecursionError):
            loaded = json.loads(candidate)
            values = loaded if isinstance(loaded, list) else []
            if found := [said for value in values if (said := _said(value)) is not None]:
                return found
    return []


def _said(value: Any) -> str | None:
    if isinstance(value, dict):
        value = next((value[name] for name in _FIELDS if name in value), None)
    return value if isinstance(value, str) else None


def _of_list(text: str) -> list[str]:
    """The items of a numbered list, else of a bulleted one; what stands around it is left out.

    Numbers must go on from 1: a list within a query has numbers of its own.
    """
    starts: list[re.Match[str]] = []
    for found in _NUMBERED.finditer(text):
        if int(found[1]) == len(starts) + 1:
            starts.append(found)
    starts = starts or list(_BULLET.finditer(text))
    if not starts:
        return []
    ends = [found.start() for found in starts[1:]]
    items = [text[found.end() : end] for found, end in zip(starts, ends, strict=False)]
    last = text[starts[-1].end() :].strip()
    if not any("\n\n" in item.strip() for item in items):
        # A remark often follows the list.
        last = last.partition("\n\n")[0]
    return [*items, last]


def _bare(text: str) -> str:
    """A query without what a model puts around it; empty where nothing of it is left."""
    bare = _LABEL.sub("", text.strip().removesuffix("</query>").strip())
    closing = _QUOTES.get(bare[:1])
    if closing is not None and len(bare) > 1 and bare.endswith(closing):
        inside = bare[1:-1]
        bare = bare if closing in inside else inside.strip()
    # A model that repeats the instruction writes "<query> and </query>".
    return "" if bare.casefold() in ("and", "…", "...") or not _has_word(bare) else bare


def _has_word(text: str) -> bool:
    return any(character.isalnum() for character in text)


PROTOCOL = ScenarioSeeds(name="scenario-seeds")
