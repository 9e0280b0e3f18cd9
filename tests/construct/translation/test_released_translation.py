"""The checks beside a real translation: the release's own, which GPT-3.5 wrote."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.construct.languages import load_identifier
from autoj.construct.translation.checks import has_words, kept_fault, reply_fault
from autoj.construct.translation.judgments import rendered, verdict_of
from autoj.datasets import open_cases
from autoj.records import Case

_EVERY = 4


@pytest.fixture(scope="module")
def translated(data_folder: Path) -> list[tuple[Case, Case]]:
    """Rows of the release's training data with their Chinese translation."""
    pytest.importorskip("py3langid")
    both = [
        [case for _, case in open_cases(data_folder / "autoj" / name).read()]
        for name in ("single_traindata.jsonl", "zh_single_traindata.jsonl")
    ]
    pairs = list(zip(*both, strict=True))[::_EVERY]
    return [
        (replace(one, meta={"judgment": one.critiques[0]}), other)
        for one, other in pairs
        if isinstance(one, Case) and isinstance(other, Case)
    ]


def test_queries_and_responses_of_a_real_translation_pass(
    translated: list[tuple[Case, Case]],
) -> None:
    identify = load_identifier()
    found: Counter[str | None] = Counter()
    for one, other in translated:
        for text, made in (
            (one.query, other.query),
            (one.responses[0].text, other.responses[0].text),
        ):
            if has_words(text, "zh"):
                fault = reply_fault(text, made, "zh", identify) or kept_fault(text, made)
                found[fault and fault[0]] += 1
    assert found[None] > 0.93 * found.total()
    # Of what it drops, the most is code that was translated.
    assert found["code changed"] > 0
    assert found["refused"] == 0


def test_judgments_of_a_real_translation_keep_their_rating_or_have_none(
    translated: list[tuple[Case, Case]],
) -> None:
    identify = load_identifier()
    n_without = 0
    for one, other in translated:
        judgment, verdict = one.critiques[0], verdict_of(one)
        assert verdict == one.label
        assert reply_fault(judgment, other.critiques[0], "zh", identify) is None
        made = rendered(judgment, other.critiques[0], verdict, other)
        if not isinstance(made, str):
            assert made == ("no readable verdict", None)
            n_without += 1
        else:
            assert verdict_of(replace(other, meta={"judgment": made})) == verdict
    assert n_without < 0.03 * len(translated)
