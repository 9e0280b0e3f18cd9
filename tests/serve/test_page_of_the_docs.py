"""The page about the service: its requests are sent, and get the answers that it shows."""

from __future__ import annotations

import json
import shlex
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from ..documentation.pages import REPOSITORY, blocks_of

PAGE = REPOSITORY / "docs" / "how-to" / "serve.md"


def test_each_request_of_the_page_gets_the_answer_that_it_shows(served) -> None:
    blocks = blocks_of(PAGE)
    sent = [
        (block.text, answer.text)
        for block, answer in pairwise(blocks)
        if block.text.startswith("curl")
    ]

    async def test(client: Any) -> None:
        for request, shown in sent:
            _, _, address, _, header, _, body = shlex.split(request)
            name, _, value = header.partition(": ")
            path = urlsplit(f"http://{address}").path
            answer = await client.post(path, content=body, headers={name: value})
            assert answer.json() == json.loads(shown), path

    served(test)
    assert len(sent) == 7
