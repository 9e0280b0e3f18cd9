"""A teacher's replies to requests for seed queries, taken apart."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from autoj.construct.teacher import fault_of
from autoj.protocols.scenario_seeds import written_queries
from autoj.records import Case, Failure, Judgment

_LONGEST_REPLY = 40_000
# "[Paste the article here]", "<your code>", "[text]", "【在此粘贴】": not complete in itself.
_PLACEHOLDER = re.compile(
    r"[\[<{]\s*(?:insert|paste|enter|your)\b[^\]>}\n]{0,60}[\]>}]"
    r"|[\[<{][^\]>}\n]{0,60}\bhere\s*[\]>}]"
    r"|(?<![\w.)\]])\[(?:the )?(?:text|article|passage|paragraph|link|url|topic|code|document)\]"
    r"|[\[【{<][^\]】}>\n]{0,20}(?:此处|在此|你的|插入|粘贴)[^\]】}>\n]{0,20}[\]】}>]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundQuery:
    """A query in a reply, or the reason for which there is none."""

    query: str | None = None
    reason: str | None = None
    """None for a query that may be kept."""
    detail: str | None = None


def queries_in(outcome: Judgment | Failure | None, case: Case) -> Iterator[FoundQuery]:
    """Takes a reply apart.

    Args:
        outcome: the teacher's reply.
        case: the request that it replies to.

    Yields:
        Its queries, those that are not complete in themselves with the reason; or the reason for
        which it has none.
    """
    fault = fault_of(outcome, case, _LONGEST_REPLY)
    queries: list[str] = []
    if isinstance(outcome, Judgment):
        queries = written_queries(outcome.completion.text)
    if fault is not None and fault[0] == "cut off":
        # All but the last one are whole.
        queries = queries[:-1]
    elif fault is not None:
        reason = "no query is written" if fault[0] == "no readable verdict" else fault[0]
        yield FoundQuery(reason=reason, detail=fault[1])
        return
    if not queries:
        yield FoundQuery(reason="cut off", detail=None if fault is None else fault[1])
    for query in queries:
        if (found := _PLACEHOLDER.search(query)) is not None:
            yield FoundQuery(query=query, reason="placeholder", detail=found[0])
        else:
            yield FoundQuery(query=query)
