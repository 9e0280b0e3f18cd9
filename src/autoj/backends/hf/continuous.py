"""Generation by transformers' continuous batching: on a GPU, ended texts are replaced at once.

It decodes greedily, without repetition penalty, stop strings or a seed per request (transformers
5.23), so it takes the requests that need none of these; the others are generated in batches. Any
text that it fails on is also left to those.
"""

import logging
import math
from collections.abc import Iterator, Sequence
from typing import Any

from autoj.backends._loading import in_short
from autoj.backends.hf.writing import Writer, Writing

_log = logging.getLogger(__name__)

_POLL_SECONDS = 1.0


def has_continuous(model: Any) -> bool:
    """True where a model generates faster this way: on one GPU, if transformers offers it."""
    places = set((getattr(model, "hf_device_map", None) or {}).values())
    return (
        model.device.type == "cuda"
        and len(places) <= 1
        and hasattr(model, "init_continuous_batching")
    )


def can_continue(writing: Writing) -> bool:
    """True where a text can be generated this way."""
    decoding = writing.decoding
    return decoding.temperature == 0 and decoding.repetition_penalty == 1 and not writing.stop


def write_continuously(model: Any, writer: Writer, rows: Sequence[Writing]) -> Iterator[Writing]:
    """Generates texts, in place.

    Args:
        model: a causal language model of transformers, or PEFT's wrapping of one.
        writer: knows the ends of texts.
        rows: texts for which `can_continue` holds.

    Yields:
        Each row that has ended, as soon as it has; after a failure, not all of them.
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
                _log.warning("continuous batching failed on a text: %s", result.error)
                continue
            row = rows[int(result.request_id)]
            _take(row, writer, result)
            yield row
    except (AttributeError, ImportError, RuntimeError, TypeError, ValueError) as error:
        # Its interface still changes from release to release.
        _log.warning("continuous batching failed: %s", in_short(error))
    finally:
        if manager is not None:
            # All are done, or the caller does not want the rest.
            manager.stop(block=True, hard_stop=True)
            manager.destroy()


def _started(model: Any, writer: Writer, rows: Sequence[Writing]) -> Any:
    import transformers
    from transformers.generation.configuration_utils import ContinuousBatchingConfig

    # Unspecified settings are transformers' defaults, not the model's own.
    model.generation_config = transformers.GenerationConfig()
    manager = model.init_continuous_batching(
        generation_config=transformers.GenerationConfig(
            max_new_tokens=max(row.most_tokens for row in rows),
            do_sample=False,
            pad_token_id=writer.ends[0],
            eos_token_id=list(writer.ends),
        ),
        # Without these, logits that are not finite would go unnoticed.
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
