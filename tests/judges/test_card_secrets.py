"""A key in a card is refused where the card is read, and never shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autoj.errors import DataError
from autoj.judges import card_text, load_card

from .test_cards import GOOD, written

SECRET = "sk-live-1234567890abcdef"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"api_key": SECRET}, "options.api_key"),
        ({"api_key": "anything"}, "options.api_key"),
        ({"base_url": f"https://{SECRET}@host/v1"}, "options.base_url"),
        ({"base_url": f"https://me:{SECRET[8:]}@host/v1"}, "options.base_url"),
        ({"base_url": "https://host/v1?api_key=abcdef"}, "options.base_url"),
        ({"base_url": "https://me:pass@[::1/v1"}, "options.base_url"),
        ({"url": "https://host/file?X-Signature=abcdef"}, "options.url"),
        ({"extra_body": {"headers": {"Authorization": "Bearer abcdefgh"}}},
         "options.extra_body.headers.Authorization"),
        ({"extra_body": {"provider": [{"token": "abc"}]}}, "options.extra_body.provider.token"),
        ({"api_key_variable": SECRET}, "options.api_key_variable"),
        ({"parts": ["a", "hf_abcdefghijkl"]}, "options.parts"),
    ],
)  # fmt: skip
def test_a_key_in_a_card_is_refused_and_not_shown(
    tmp_path: Path, options: dict[str, Any], field: str
) -> None:
    path = written(tmp_path, {**GOOD, "options": options})
    for read in (load_card, card_text):
        with pytest.raises(DataError) as told:
            read(path)
        assert told.value.field == field
        assert "environment variable" in str(told.value.hint)
        said = str(told.value)
        assert SECRET not in said
        assert SECRET[8:] not in said
        assert "abcdef" not in said


@pytest.mark.parametrize(
    "options",
    [
        {"api_key_variable": "MY_API_KEY", "base_url": "https://host:8443/v1"},
        {"max_tokens_parameter": "max_completion_tokens", "extra_body": {"stop_token_ids": [1]}},
        {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}, "note": "a? b@c"}},
        {"template": "Question: {query}? http://x?y z {response}"},
    ],
)
def test_what_is_no_key_is_left_alone(tmp_path: Path, options: dict[str, Any]) -> None:
    assert load_card(written(tmp_path, {**GOOD, "options": options})).options == options
