"""The digest of a judge's prompts, which locks a trained judge to them."""

import hashlib
from collections.abc import Iterable
from typing import Any

import orjson

from autoj.chat import describe
from autoj.protocols.base import JudgeProtocol
from autoj.records import Case, Response, Verdict

_PAIR = Case(
    id="", query="{query}", responses=(Response(text="{first}"), Response(text="{second}")),
    cluster="", scenario="others", reference="{reference}",
)  # fmt: skip
_SINGLE = Case(
    id="", query="{query}", responses=(Response(text="{first}"),), cluster="",
    scenario="others", reference="{reference}",
)  # fmt: skip
_CRITIQUES = Case(
    id="", query="{query}", responses=(Response(text="{first}"),), cluster="",
    scenario="others", reference="{reference}", critiques=("{one}", "{other}"),
)  # fmt: skip


def digest_prompts(wrapper: str, protocols: Iterable[JudgeProtocol]) -> str:
    """The sha256 (hex) of a wrapper and of the protocols' requests about a fixed case.

    Args:
        wrapper: a name in `chat.WRAPPER_NAMES`.
        protocols: in any order.
    """
    marks = describe(wrapper)
    asked = {protocol.name: _questions(protocol) for protocol in protocols}
    content = orjson.dumps([marks, asked], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(content).hexdigest()


def _questions(protocol: JudgeProtocol) -> list[Any]:
    match protocol.subject:
        case "response":
            rated = Verdict(case_id="", judge="", ratings=(5.0,))
            return [protocol.build(_SINGLE, (0,)), protocol.follow(_SINGLE, rated, (0,))]
        case "pair":
            page = (0,) if protocol.reads_alone else (0, 1)
            won = Verdict(case_id="", judge="", winner="a")
            return [protocol.build(_PAIR, page), protocol.follow(_PAIR, won, (0, 1))]
        case "critiques":
            return [protocol.build(_CRITIQUES, (0, 1))]
        case "query":
            return [protocol.build(_SINGLE, ())]
