"""The check that no judgment is cut: every token of a target is in its sequence."""

from collections.abc import Iterable

from autoj.errors import ConfigError
from autoj.training.judge.samples import Sample, Written


def check_whole(samples: Iterable[Sample], max_length: int | None, end_token: int) -> None:
    """Refuses samples whose judgment is cut, or would be by the trainer.

    A trainer cuts sequences at their ends, and the end of ours is the judgment: TRL's default of
    1,024 tokens would leave half a critique and no decision.

    Args:
        samples: tokenised samples.
        max_length: the length at which the trainer cuts sequences; None where it never does.
        end_token: the token that ends a judgment; one without it was cut before.

    Raises:
        ConfigError: a sample is longer than `max_length`, has no judgment, or does not end.
    """
    for sample in samples:
        longest = max(sequence.n_tokens for sequence in sample.sequences)
        if max_length is not None and longest > max_length:
            raise _cut(sample, f"has {longest:,} tokens, and the trainer cuts at {max_length:,}")
        if isinstance(sample.target, Written):
            tokens = sample.sequences[0].root
            if sample.target.n_prompt >= len(tokens):
                raise _cut(sample, "has no token of its judgment")
            if tokens[-1] != end_token:
                raise _cut(sample, "has no token that ends its judgment")


def _cut(sample: Sample, said: str) -> ConfigError:
    return ConfigError(
        f"the sample of case {sample.case_id!r} {said}: its judgment would be learnt cut",
        hint="Leave max_length of the trainer's settings None; max_tokens of the recipe shortens "
        "responses, and never judgments.",
    )
