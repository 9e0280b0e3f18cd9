"""Texts by transformers' continuous batching: a GPU whose places are filled again as texts end.

It writes greedily and knows no penalty of repetition, no stop strings and no seed per request
(transformers 5.23), so it takes the requests that need none, and the others are written in batches.
Whatever it cannot do it leaves, to be written so, too.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from typing import Any

from autoj.backends._loading import in_short
from autoj.backends.hf.writing import Writer, Writing

__all__ = ["can_continue", "has_continuous", "write_continuously"]

_log = logging.getLogger(__name__)

_POLL_SECONDS = 1.0


def has_continuous(model: Any) -> bool:
    """Whether a model writes faster so: on one GPU, with a transformers that offers it."""
    places = set((getattr(model, "hf_device_map", None) or {}).values())
    return (
        model.device.type == "cuda"
        and len(places) <= 1
        and hasattr(model, "init_continuous_batching")
    )


def can_continue(writing: Writing) -> bool:
    """Whether a text is of the kind that can be written so."""
    decoding = writing.decoding
    return decoding.temperature == 0 and decoding.repetition_penalty == 1 and not writing.stop


def write_continuously(model: Any, writer: Writer, rows: Sequence[Writing]) -> Iterator[Writing]:
    """Write texts, in place.

    Args:
        model: a causal language model of transformers, or PEFT's wrapping of one.
        writer: knows how texts end.
        rows: of the kind that can be written so.

    Yields:
        Each row that has ended, as soon as it has; where it fails, not all of them.
    """
    manager: Any = None
    try:
        manager = _started(model, writer, rows)
        for at, row in enumerate(rows):
            manager.add_request(
                row.prompt,
                request_id=str(at),
                max_new_tokens=row.most_tokens,
                eos_token_id=list(writer.ends),
            )
        n_left = len(rows)
        while n_left and (manager.is_running() or not manager.output_router.output_queue.empty()):
            result = manager.get_result(timeout=_POLL_SECONDS)
            if result is None or not result.is_finished():
                continue
            n_left -= 1
            if result.error is not None:
                _log.warning("continuous batching left a text: %s", result.error)
                continue
            row = rows[int(result.request_id)]
            _take(row, writer, result)
            yield row
    except (AttributeError, ImportError, RuntimeError, TypeError, ValueError) as error:
        # Its interface still moves from release to release.
        _log.warning("continuous batching gave up: %s", in_short(error))
    finally:
        if manager is not None:
            # All are done, or the rest is not wanted any more.
            manager.stop(block=True, hard_stop=True)
            manager.destroy()


def _started(model: Any, writer: Writer, rows: Sequence[Writing]) -> Any:
    import transformers
    from transformers.generation.configuration_utils import ContinuousBatchingConfig

    # All that is not said here is what transformers does without a model's own settings.
    model.generation_config = transformers.GenerationConfig()
    manager = model.init_continuous_batching(
        generation_config=transformers.GenerationConfig(
            max_new_tokens=max(row.most_tokens for row in rows),
            do_sample=False,
            pad_token_id=writer.ends[0],
            eos_token_id=list(writer.ends),
        ),
        # Without these nothing would tell that a model's logits are not finite.
        continuous_batching_config=ContinuousBatchingConfig(return_logprobs=True),
    )
    if model.device.type == "cuda":
        manager.warmup()
    manager.start()
    return manager


def _take(row: Writing, writer: Writer, result: Any) -> None:
    row.tokens = list(result.generated_tokens)
    if not all(map(math.isfinite, result.logprobs)):
        row.finish = "broken"
    else:
        row.finish = (writer.end_of(row) if row.tokens else None) or "length"
    row.text = writer.text_of(row)
